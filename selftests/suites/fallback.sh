# SPDX-License-Identifier: GPL-2.0
# SDP_POLICY and TCP taking over: ports in both worlds, connects that fall back for each
# reason, listeners for both, the cache of destinations; without a device; and what a socket
# costs that has become TCP's.
# topology: one
# time: 240
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# Two networks to a namespace where there is no RDMA: one from an RDMA device, one from none.
far=(ip netns exec sdp-far)
ip netns add sdp-far
ip -n sdp-far link set lo up
for n in 1 2; do
	ip link add "near$n" type veth peer name "far$n" netns sdp-far
	ip addr add "10.9.$((60 + n)).1/24" dev "near$n"
	ip link set "near$n" up
	ip -n sdp-far addr add "10.9.$((60 + n)).2/24" dev "far$n"
	ip -n sdp-far link set "far$n" up
done
plug rxe1 rxe near1
silent=10.9.61.2 plain=10.9.62.2
# Packets to this one vanish
dark=10.9.0.99

for a in $silent $plain; do
	# An answer to ARP as quick as here, rdma_cm misses, and then waits for 3 s
	ping -qc 1 "$a" >/dev/null
	bg "echo-$a" "${far[@]}" python3 -B "$LAB_TREE/selftests/fallback.py" serve "$a"
	bg_ready "echo-$a" ready || exit
done

bg cases python3 -B "$LAB_TREE/selftests/fallback.py" "$LAB_IP" "$LAB_IP6" $silent $plain $dark
pass_on cases 200

# ---- everything at once ----

check "io_uring: requests in flight go on by TCP" within 30 sdp_uring_fall $silent 1100
check "io_uring: accept of both kinds" within 30 sdp_uring_accept "$LAB_IP"
check "what other threads do meanwhile is answered" within $((15 + 30)) \
	sdp_fall "$LAB_IP" $((SLOW > 1 ? 30 : 15))
note "$(cat "$TMP/check")"

# ---- another namespace, and no device at all ----

# connect_to ADDRESS [COMMAND...]: what a connect says, by COMMAND elsewhere
connect_to() { within 30 "${@:2}" sdp_try -f ipproto connect "$1" 1100 | cut -d' ' -f1; }
far_counter() { "${far[@]}" grep "^$1 " /proc/net/sdpstats | tr -s ' ' | cut -d' ' -f2; }

equal "the policy is the namespace's" "$("${far[@]}" cat /proc/sys/net/sdp/policy)" 0
"${far[@]}" sysctl -qw net.sdp.policy=2
equal "... this one's is untouched" "$(cat /proc/sys/net/sdp/policy)" 0
equal "from a namespace without RDMA, TCP it is" "$(connect_to $silent "${far[@]}")" ok
at_least "... counted there" "$(far_counter FallbackNoDevice)" 1
# known [COMMAND...]: lines about $silent in the cache of destinations, by COMMAND elsewhere
known() { "$@" grep -c "^$silent " /proc/net/sdp_cache; }
sysctl -qw net.sdp.cache_flush=1 net.sdp.policy=2
equal "one namespace learns of a host without SDP" "$(connect_to $silent) $(known)" "ok 1"
equal "... another doesn't hear of it" "$(known "${far[@]}")" 0
"${far[@]}" sysctl -qw net.sdp.cache_flush=1
equal "... nor makes it forget" "$(known)" 1

unplug
unplug rxe1
sysctl -qw net.sdp.cache_flush=1 net.sdp.policy=2
stat_mark
ping -qc 1 "$plain" >/dev/null
for a in $silent $plain; do
	equal "no device: connect to $a" "$(connect_to "$a")" ok
done
equal "... for that reason" "$(stat_delta FallbackNoDevice)" 2
bg plain sdp_try -f ipproto server 127.0.0.1 1101
bg_ready plain ready
works() { within 30 sdp_try -f "$1" client 127.0.0.1 1101 both 100000; }
check "no device: a listener takes TCP" works tcp
check "... also of its like" works ipproto
bg_stop plain
plug

# ---- what it costs ----

# Not judged: the machine's noise is larger than the difference. The same program, by turns.
bench() { sdpbench -f "$1" --self "$LAB_IP" -S 1,64K -n 2000 | tail -n 2 | tr -s ' '; }
sysctl -qw net.sdp.policy=1
stat_mark
for round in 1 2; do
	note "TCP $round:" "$(bench tcp)"
	note "a socket TCP has taken over $round:" "$(bench ipproto)"
done
at_least "the figures are of sockets that TCP took over" "$(stat_delta FallbackPolicy)" 4
sysctl -qw net.sdp.policy=0
ip netns delete sdp-far
