#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# zcopy.sh: what zero copy is worth, as a job in one guest: SDP copying (BCopy) and not (ZCopy)
# beside verbs (perftest), rsockets and TCP over the same soft-RoCE device in one run.
# bench.sh starts it under QEMU's -icount, where guest time counts instructions and all there is
# runs on one CPU: throughput is then the inverse of what a byte costs both ends and the device
# together. What the device costs by itself is what ib_send_bw and ib_read_bw pay.
# Prints tables, writes bench.json to /run/lab.
# shellcheck disable=SC2086,SC2153	# lists are split on purpose
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

SIZES=${SIZES:-4096 16384 65536 262144 1048576 4194304}
CONNS=${CONNS:-1 8}
COLS="bcopy zcopy send read rsockets tcp"
declare -A bw cost

# sdp MODE SIZE CONNECTIONS, tcp SIZE CONNECTIONS: MB/s
sdpbench_bw() {
	"$B/sdpbench" -f "$1" --self "$LAB_IP" -j -T bw -S "$2" -n $(($(count "$2") / $3 + 1)) -P "$3" \
		>"$TMP/out" 2>"$TMP/err" && field mb_per_s "$TMP/out"
}
sdp() { sysctl -qw net.sdp.mode="$1" && sdpbench_bw sdp "$2" "$3"; }

# ns_per_kb MB/S
ns_per_kb() { awk -v b="${1:-}" 'BEGIN { if (b > 0) printf "%.0f", 1.024e6 / b; else printf "-" }'; }

# beyond A B: what A costs more than B, ns per KB
beyond() { awk -v a="${1:-}" -v b="${2:-}" 'BEGIN { if (a > 0 && b > 0) printf "%.0f", 1.024e6 / a - 1.024e6 / b }'; }

lab_rxe_dummy && lab_sdp || exit 1
for s in $SIZES; do
	bw[send,$s]=$(perftest_bw "$s" ib_send_bw)
	bw[read,$s]=$(perftest_bw "$s" ib_read_bw)
	bw[rsockets,$s]=$(rsockets_bw "$s")
	bw[tcp,$s]=$(sdpbench_bw tcp "$s" 1)
	bw[bcopy,$s]=$(sdp 1 "$s" 1)
	bw[zcopy,$s]=$(sdp 2 "$s" 1)
done

echo
printf '%-14s' "MB/s: bytes"
for c in $COLS; do printf '%10s' "$c"; done
printf '%12s%12s\n' zcopy/read zcopy/bcopy
for s in $SIZES; do
	printf '%-14s' "$s"
	for c in $COLS; do printf '%10s' "${bw[$c,$s]:--}"; done
	printf '%12s%12s\n' "$(ratio "${bw[zcopy,$s]:-}" "${bw[read,$s]:-}")" \
		"$(ratio "${bw[zcopy,$s]:-}" "${bw[bcopy,$s]:-}")"
done

echo
printf '%-14s%12s%12s%12s%12s%12s\n' "ns/KB: bytes" bcopy "-send" zcopy "-read" "own ratio"
for s in $SIZES; do
	cost[bcopy,$s]=$(beyond "${bw[bcopy,$s]:-}" "${bw[send,$s]:-}")
	cost[zcopy,$s]=$(beyond "${bw[zcopy,$s]:-}" "${bw[read,$s]:-}")
	printf '%-14s%12s%12s%12s%12s%12s\n' "$s" "$(ns_per_kb "${bw[bcopy,$s]:-}")" \
		"${cost[bcopy,$s]:--}" "$(ns_per_kb "${bw[zcopy,$s]:-}")" "${cost[zcopy,$s]:--}" \
		"$(ratio "${cost[bcopy,$s]:-}" "${cost[zcopy,$s]:-}")"
done
note "-send and -read: what is left beside ib_send_bw's and ib_read_bw's cost per byte, the device's"

echo
printf '%-14s%12s%12s%12s\n' "1 MB, by" bcopy zcopy ratio
for n in $CONNS; do
	bw[bcopy-$n,1048576]=$(sdp 1 1048576 "$n")
	bw[zcopy-$n,1048576]=$(sdp 2 1048576 "$n")
	printf '%-14s%12s%12s%12s\n' "$n connections" "${bw[bcopy-$n,1048576]:--}" \
		"${bw[zcopy-$n,1048576]:--}" "$(ratio "${bw[zcopy-$n,1048576]:-}" "${bw[bcopy-$n,1048576]:-}")"
done
echo
target "1 MB ZCopy >= 0.95 x ib_read_bw" "${bw[zcopy,1048576]:-}" "${bw[read,1048576]:-}" ">=" 0.95
target "64 KB ZCopy >= rsockets" "${bw[zcopy,65536]:-}" "${bw[rsockets,65536]:-}" ">=" 1
target "8 connections, ZCopy >= BCopy" "${bw[zcopy-8,1048576]:-}" "${bw[bcopy-8,1048576]:-}" ">=" 1
printf '{"kernel":"%s","accel":"%s",\n"mb_per_s":[%s]}\n' "$(uname -r)" "${LAB_ACCEL:-}" \
	"$(json_values bw)" >"$OUT"
rm -rf "$TMP"
