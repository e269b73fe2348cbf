# SPDX-License-Identifier: GPL-2.0
# A thousand connections made, used and ended in all ways leave nothing behind.
# topology: one
# time: 200
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

n=$((SLOW > 1 ? 250 : 1000))

# Objects of a slab cache really in use: those a processor keeps at hand don't count
objects() {
	echo 1 >"/sys/kernel/slab/$1/shrink"
	slab "$1"
}

sockets() { awk -v n="$1" '$1 == n { print $3 }' /proc/net/protocols; }

# What connections are made of
state() {
	echo "qp=$(rdma_count qp) mr=$(rdma_count mr) cm_id=$(rdma_count cm_id) pd=$(rdma_count pd)" \
		"sockets=$(sockets SDP)+$(sockets SDPv6) objects=$(objects SDP)+$(objects SDPv6)"
}
state_is() { [ "$(state)" = "$1" ]; }

# Free pages, those on the processors' lists included, which are tens of megabytes.
# Without a device: spare buffers and shared completion queues, kept for the next, go with it
free_kb() {
	unplug
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk '$1 == "MemFree:" { n += $2 } $1 == "count:" { n += $2 * 4 } END { print n }' \
		/proc/meminfo /proc/zoneinfo
	spare=$(objects sdp_buf)
	plug
}

cycles() { within 60 sdp_cycle --self -n "$1" -j 4 -w $((30 * SLOW)) "${@:2}"; }

empty=$(state)
note "at the start: $empty"
equal "nothing is there at the start" "$(sockets SDP)+$(sockets SDPv6)" 0+0
check "warming up" cycles $((n / 4)) "$LAB_IP"
check "warming up, IPv6" cycles 50 "$LAB_IP6"
until_true 60 state_is "$empty"
free_kb >"$TMP/before"

check "$n cycles" cycles $n "$LAB_IP" --json
note "$(cat "$TMP/check")"
check "$((n / 4)) cycles, IPv6" cycles $((n / 4)) "$LAB_IP6" --seed 2
check "$((n / 4)) cycles, loopback, IPPROTO_SDP" cycles $((n / 4)) 127.0.0.1 -f ipproto --seed 3
for ending in client server both client-reset server-reset; do
	check "cycles that end by $ending" cycles 50 "$LAB_IP" -e $ending
done

until_true 60 state_is "$empty"
equal "sockets, queue pairs, CM handles, memory regions and domains are gone" "$(state)" "$empty"
free_kb >"$TMP/after"
equal "no buffer outlives the device" "$spare" 0
lost=$(($(cat "$TMP/before") - $(cat "$TMP/after")))
note "free memory fell by $lost kB over $((n * 3 / 2 + 250)) cycles"
name="pages are as many as after warming up, but for 1 MB"
if [ "$SLOW" = 1 ]; then at_most "$name" "$lost" 1024; else
	skip "$name" "KASAN keeps what was freed; kmemleak looks for leaks here"
fi
