# SPDX-License-Identifier: GPL-2.0
# From one host to another: data and files both ways, verified, over IPv4 and IPv6, over a
# cable that loses a packet in a hundred; many connections; SO_BINDTODEVICE; qperf.
# topology: pair
# time: 240
# needs: qperf tc python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

a4=$LAB_IP a6=$LAB_IP6
[ "$LAB_NODE" = a ] || { a4=$LAB_PEER a6=$LAB_PEER6; }
step=0

# both NAME PORT SERVER... -- CLIENT...: one program on a, one on b, both must do well
both() {
	local name=$1 port=$2 server=(); shift 2
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	step=$((step + 1))
	if [ "$LAB_NODE" = a ]; then
		bg "server$step" "${server[@]}"
		until_true 10 listening "$port"
		lab_barrier "stream-$step" || { not_ok "$name"; return; }
		check "$name" bg_wait "server$step" 90
		[ $tap_bad = 0 ] || note "$(tail -n 5 "$TMP/server$step.log")"
	else
		lab_barrier "stream-$step" || { not_ok "$name"; return; }
		check "$name" within 90 "$@"
		note "$(tail -n 3 "$TMP/check")"
	fi
}

# xfer NAME ADDRESS MEGABYTES CONNECTIONS [options]
xfer() {
	local mb=$((SLOW > 1 ? ($3 + 7) / 8 : $3))
	both "$1" 7471 sdp_xfer -s "$2" -q -w $((60 * SLOW)) -- \
		sdp_xfer "$2" -w $((60 * SLOW)) -b $((mb * 1048576 / 2 / $4)) -P "$4" "${@:5}"
}

rnr=$(rnr)

xfer "IPv4, blocking" "$a4" 64 4
xfer "IPv6, edge-triggered epoll" "$a6" 32 4 -m edge --seed 2
xfer "smallest socket buffers" "$a4" 8 2 --sndbuf 1 --rcvbuf 1 --seed 3
both "files, by poll, mmap, sendfile, splice and peeking" 7473 \
	sdp_file -s "$a4" -w $((60 * SLOW)) -- sdp_file -b 1M -w $((60 * SLOW)) "$a4"
both "200 connections, ended in all ways" 7472 sdp_cycle -s "$a4" -w $((30 * SLOW)) -- \
	sdp_cycle -n 200 -j 4 -w $((30 * SLOW)) "$a4"
both "100 connections at once" 7472 sdp_cycle -s "$a6" -w $((30 * SLOW)) -- \
	sdp_cycle -o 100 -w $((30 * SLOW)) "$a6"

bound=(python3 -B "$LAB_TREE/selftests/bound.py")
for fam in tcp sdp; do
	if [ "$LAB_NODE" = a ]; then
		bg "bound-$fam" "${bound[@]}" $fam -s "$a4" "$LAB_DEV"
		bg_ready "bound-$fam" ready
		lab_barrier "bound-$fam"
		check "$fam: what a bound listener accepts" bg_wait "bound-$fam" 90
		equal "... is bound as it is" "$(tail -n 1 "$TMP/bound-$fam.log")" \
			"accepted: bound to $LAB_DEV"
	else
		lab_barrier "bound-$fam"
		equal "$fam: SO_BINDTODEVICE here and there" \
			"$("${bound[@]}" $fam "$a4" "$LAB_DEV" 2>&1 | tr '\n' ';')" \
			"to a listener at lo: ECONNREFUSED;to one at the device: ok;from the device: ok;from lo: no way;unbound: ok;"
	fi
done

if [ "$LAB_NODE" = a ]; then
	bg qperf qperf
	lab_barrier qperf
	lab_barrier qperf-done $((60 * SLOW))
	bg_stop qperf
else
	serves() { timeout 1 bash -c ": </dev/tcp/$a4/19765" 2>/dev/null; }
	lab_barrier qperf
	until_true 10 serves
	check "qperf sdp_bw sdp_lat" within 30 qperf "$a4" -t 2 sdp_bw sdp_lat
	note "$(tr -s ' \n' ' ' <"$TMP/check")"
	lab_barrier qperf-done
fi

step=10
check "a packet in a hundred is lost from here on" \
	tc qdisc replace dev "$LAB_DEV" root netem loss 1% limit 10000
lab_barrier lossy
resent=$(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_seq_err)
xfer "1 % loss, IPv4" "$a4" 8 4 --seed 4
xfer "1 % loss, IPv6" "$a6" 4 2 --seed 5 -m edge
both "1 % loss, files" 7473 sdp_file -s "$a6" -w $((60 * SLOW)) -- \
	sdp_file -b 300K -w $((60 * SLOW)) "$a6"
both "1 % loss, 40 connections, ended in all ways" 7472 sdp_cycle -s "$a4" -w $((60 * SLOW)) -- \
	sdp_cycle -n 40 -j 4 -w $((60 * SLOW)) "$a4"
note "$(tc -s qdisc show dev "$LAB_DEV" | grep Sent)," \
	"$(($(cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_seq_err) - resent)) sequence errors"
lab_barrier lossless
tc qdisc del dev "$LAB_DEV" root
equal "a buffer was there for every message" "$(stat Rnr) $(rnr)" "0 $rnr"
