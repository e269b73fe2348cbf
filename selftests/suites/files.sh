# SPDX-License-Identifier: GPL-2.0
# Files of random sizes both ways, by poll, mmap, sendfile, splice and MSG_PEEK, with data
# copied and not; every byte compared.
# topology: one
# time: 100
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

mb=$((SLOW > 1 ? 1 : 3))

# files NAME ADDRESS [options]
files() { check "$1" within 40 sdp_file --self -w $((30 * SLOW)) "${@:3}" "$2"; }

for mode in 0 1 2 3; do
	sysctl -qw net.sdp.mode=$mode
	stat_mark
	files "mode $mode, large" "$LAB_IP" -b ${mb}M --seed $mode
	[ $mode != 1 ] || equal "... all of it copied" "$(stat_delta SendZcopy)" 0
	[ $mode != 2 ] || at_least "... really without a copy" "$(stat_delta SendZcopy)" 1000000
	[ $mode != 3 ] || at_least "... really by AZ-SDP" "$(stat_delta AzBytes)" 100000
done
sysctl -qw net.sdp.mode=0
files "small, IPv6, IPPROTO_SDP" "$LAB_IP6" -f ipproto -n 25 -b 10000
files "middling, loopback" ::1 -n 10 -b 300K
equal "no connection was reset" "$(stat Resets) $(stat AbortsSent)" "0 0"
equal "a buffer was there for every message" "$(stat Rnr)" 0
