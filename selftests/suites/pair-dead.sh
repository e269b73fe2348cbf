# SPDX-License-Identifier: GPL-2.0
# Another host that refuses, that speaks no RDMA, that isn't there, and that dies.
# topology: pair
# time: 200
# needs: tc
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# fate NAME PROGRAM ERE: how its connection ended
fate() {
	until_true 60 grep -q '^fate' "$TMP/$2.log"
	note "$(grep '^fate' "$TMP/$2.log")"
	check "$1" grep -qE "^fate$3\$" "$TMP/$2.log"
}

# ---- b has no listener, no module, no RDMA device ----

lab_barrier dead-start
if [ "$LAB_NODE" = a ]; then
	ping -c 1 -W 10 "$LAB_PEER" >/dev/null
	ping -c 1 -W 10 "$LAB_PEER6" >/dev/null
	outcome_in "a closed port refuses at once" ECONNREFUSED 0 3000 "$LAB_PEER" 1005
	outcome_in "a closed port refuses at once, IPv6" ECONNREFUSED 0 3000 "$LAB_PEER6" 1005
	outcome_in "a dead host is unreachable" EHOSTUNREACH 500 5000 "${LAB_PEER%.*}.77" 1005
	outcome_in "a dead host is unreachable, IPv6" EHOSTUNREACH 500 5000 "${LAB_PEER6%::*}::77" 1005
fi
lab_barrier dead-module
[ "$LAB_NODE" = a ] || sdp_unload
lab_barrier dead-no-module
[ "$LAB_NODE" = b ] ||
	outcome_in "a host without the module refuses at once" ECONNREFUSED 0 3000 "$LAB_PEER" 1005
lab_barrier dead-device
[ "$LAB_NODE" = a ] || unplug
lab_barrier dead-no-device
if [ "$LAB_NODE" = a ]; then
	echo 17 >/proc/sys/net/sdp/cm_timeout
	echo 1 >/proc/sys/net/sdp/connect_retries
	outcome_in "a host without an RDMA device times out" ETIMEDOUT 1000 12000 "$LAB_PEER" 1005
	outcome_in "... so it does in IPv6" ETIMEDOUT 1000 12000 "$LAB_PEER6" 1005
	echo 20 >/proc/sys/net/sdp/cm_timeout
	echo 15 >/proc/sys/net/sdp/connect_retries
fi
lab_barrier dead-device-back
if [ "$LAB_NODE" = b ]; then
	plug
	sdp_load
fi

# ---- b falls silent under traffic, a serves ----

echo 3 >/proc/sys/net/sdp/retry_count
# A sender whose every message has arrived, and who waits for credits, is noticed to be
# cut off some seconds later only (keepalive.c); one that takes its time has credits.
if [ "$LAB_NODE" = a ]; then
	bg server sdp_try -w $((60 * SLOW)) --pace 50 server "$LAB_IP" 1005
	bg_ready server ready
	lab_barrier dead-serving
	lab_barrier dead-going
	start=$SECONDS
	ended() { [ "$(grep -c '^fate' "$TMP/server.log")" = 2 ]; }
	until_true 60 ended
	note "after $((SECONDS - start)) s: $(grep '^fate' "$TMP/server.log")"
	check "who receives from a dead host learns ETIMEDOUT" grep -q '^fate recv:ETIMEDOUT$' "$TMP/server.log"
	check "who sends to a dead host learns ETIMEDOUT" grep -q '^fate send:ETIMEDOUT$' "$TMP/server.log"
	at_most "... in the time of the RC retries" $((SECONDS - start)) $((30 * SLOW))
	check "the listener goes on" listening 1005
else
	lab_barrier dead-serving
	for part in send recv; do bg $part sdp_try -w $((60 * SLOW)) client "$LAB_PEER" 1005 $part; done
	for part in send recv; do check "traffic, $part" bg_ready $part going 40; done
	# Not "ip link set down": the skbs a stopped virtio-net holds keep their queue pairs
	tc qdisc replace dev "$LAB_DEV" root netem loss 100%
	lab_barrier dead-going
	start=$SECONDS
	fate "who is cut off and sends learns of it" send ' send:(ETIMEDOUT|ECONNRESET)'
	fate "who is cut off and receives learns of it" recv ' recv:(ETIMEDOUT|ECONNRESET)'
	at_most "... in the time of the RC retries" $((SECONDS - start)) $((30 * SLOW))
fi
lab_barrier dead-over

# ---- and is back ----

if [ "$LAB_NODE" = b ]; then
	tc qdisc del dev "$LAB_DEV" root
	pings() { ping -c 1 -W 1 "$LAB_PEER" >/dev/null; }
	until_true 10 pings
	check "a new connection works when the host is back" \
		within 60 sdp_try client "$LAB_PEER" 1005 both 1M
fi
lab_barrier dead-back
bg_stop server
