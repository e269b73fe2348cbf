# SPDX-License-Identifier: GPL-2.0
# Connects that can't succeed fail as TCP's do, at the time TCP's do; those that are too
# many for a listener wait.
# topology: one
# time: 150
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

for addr in "$LAB_IP" 127.0.0.1 "$LAB_IP6" ::1; do
	outcome_in "a closed port refuses at once, $addr" ECONNREFUSED 0 1000 "$addr" 999
done
outcome_in "an address of no use" "ENETUNREACH EHOSTUNREACH" 0 1000 192.0.2.1 999

# Nobody answers: the device doesn't ask who has an address, so the request itself goes unanswered
echo 17 >/proc/sys/net/sdp/cm_timeout
echo 1 >/proc/sys/net/sdp/connect_retries
outcome_in "nobody answers the request" ETIMEDOUT 1000 12000 "${LAB_IP%.*}.77" 999
echo 0 >/proc/sys/net/sdp/connect_retries
outcome_in "... sooner with fewer retries" ETIMEDOUT 500 6000 "${LAB_IP%.*}.77" 999
echo 15 >/proc/sys/net/sdp/connect_retries

# Nobody answers ARP or neighbour discovery
ip link set "$LAB_DEV" arp on
outcome_in "a dead host is unreachable" EHOSTUNREACH 500 4500 "${LAB_IP%.*}.78" 999
outcome_in "a dead host is unreachable, IPv6" EHOSTUNREACH 500 4500 "${LAB_IP6%::*}::78" 999
ip link set "$LAB_DEV" arp off

equal "all of those are counted" "$(stat AttemptFails)" "$(stat ActiveOpens)"

full_backlog() { within 60 python3 -B "$LAB_TREE/selftests/backlog.py" "$LAB_IP" 12; }
stat_mark
check "connects beyond the backlog wait for accept(), all get their turn" full_backlog
at_least "counted: the full queue" "$(stat_delta RejBacklog)" 1
