#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# zcopy.sh: what zero copy is worth, as a job in one guest: SDP copying (BCopy), read by the
# receiver (ZCopy) and written by the sender (ZCopy-W) beside verbs (perftest), rsockets, SMC-R,
# TCP and TCP with MSG_ZEROCOPY (tcpz) over the same soft-RoCE device in one run.
# bench.sh starts it under QEMU's -icount, where guest time counts instructions and all there is
# runs on one CPU: throughput is then the inverse of what a byte costs both ends and the device
# together. What the device costs by itself is what ib_send_bw and ib_read_bw pay.
# Prints tables, writes bench.json to /run/lab; zcopy-plot.sh makes a picture of that.
# shellcheck disable=SC2086,SC2153	# lists are split on purpose
set -u
# So many that the first messages, for which regions are made and windows grow, hardly count
BW_BYTES=${BW_BYTES:-$((96 << 20))}
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

SIZES=${SIZES:-1024 4096 16384 65536 262144 1048576 4194304}
CONNS=${CONNS:-1 2 4 8 16}
LAT_SIZES=${LAT_SIZES:-4096 16384 65536 262144 1048576}
LAT_N=${LAT_N:-60}
COLS="bcopy zcopy zcopyw send read write rsockets smc tcp tcpz"
LAT_COLS="bcopy zcopy zcopyw smc tcp"
declare -A bw lat cost mem

# SDP_MODE of a column
declare -A mode=([bcopy]=1 [zcopy]=2 [zcopyw]=4)

# bench FIELD FAMILY OPTIONS...: that field of sdpbench's report
bench() {
	local f=$1 family=$2
	shift 2
	timeout "$STUCK" "$B/sdpbench" -f $family --self "$LAB_IP" -j "$@" >"$TMP/out" 2>"$TMP/err" &&
		field "$f" "$TMP/out"
}

# stream COLUMN SIZE CONNECTIONS [OPTIONS]: MB/s; latency COLUMN SIZE: us one way
family() {
	case $1 in
	smc | tcp) echo "$1" ;;
	tcpz) echo "tcp -z" ;;
	*) sysctl -qw net.sdp.mode="${mode[$1]}" && echo sdp ;;
	esac
}
stream() {
	bench mb_per_s "$(family "$1")" -T bw -S "$2" -n $(($(count "$2") / $3 + 1)) -P "$3" "${@:4}"
}
latency() { bench lat_us "$(family "$1")" -T lat -S "$2" -n "$LAT_N"; }

# SMC goes on as TCP when it finds no RDMA device for the route; its queue pairs tell.
smc_works() {
	modprobe smc 2>/dev/null || { note "no smc: this kernel has no such module"; return 1; }
	bench lat_us smc -T lat -S 64 -n 10 >/dev/null
	rdma resource show qp | grep -q smc || { note "no smc: it fell back to TCP"; return 1; }
}

# ns_per_kb MB/S
ns_per_kb() { awk -v b="${1:-}" 'BEGIN { if (b > 0) printf "%.0f", 1.024e6 / b; else printf "-" }'; }

# beyond A B: what A costs more than B, ns per KB
beyond() { awk -v a="${1:-}" -v b="${2:-}" 'BEGIN { if (a > 0 && b > 0) printf "%.0f", 1.024e6 / a - 1.024e6 / b }'; }

# row ARRAY SIZE COLUMNS...
row() {
	local -n from=$1
	local s=$2 c
	shift 2
	printf '%-16s' "$s"
	for c; do printf '%10s' "${from[$c,$s]:--}"; done
}
head_of() { local c; printf '%-16s' "$1"; shift; for c; do printf '%10s' "$c"; done; }

lab_rxe_dummy && lab_sdp || exit 1
smc_works || { COLS=${COLS/smc /} LAT_COLS=${LAT_COLS/smc /}; }
for s in $SIZES; do
	for c in $COLS; do
		case $c in
		send | read | write) bw[$c,$s]=$(perftest_bw "$s" ib_${c}_bw) ;;
		rsockets) bw[$c,$s]=$(rsockets_bw "$s") ;;
		*) bw[$c,$s]=$(stream "$c" "$s" 1) ;;
		esac
	done
done

echo
head_of "MB/s: bytes" $COLS; printf '%13s%14s%13s\n' zcopy/read zcopyw/write zcopy/bcopy
for s in $SIZES; do
	row bw "$s" $COLS
	printf '%13s%14s%13s\n' "$(ratio "${bw[zcopy,$s]:-}" "${bw[read,$s]:-}")" \
		"$(ratio "${bw[zcopyw,$s]:-}" "${bw[write,$s]:-}")" \
		"$(ratio "${bw[zcopy,$s]:-}" "${bw[bcopy,$s]:-}")"
done

echo
head_of "ns/KB: bytes" bcopy -send zcopy -read zcopyw -send; printf '%12s\n' "own ratio"
for s in $SIZES; do
	printf '%-16s' "$s"
	for c in "bcopy send" "zcopy read" "zcopyw send"; do
		set -- $c
		cost[$1,$s]=$(beyond "${bw[$1,$s]:-}" "${bw[$2,$s]:-}")
		printf '%10s%10s' "$(ns_per_kb "${bw[$1,$s]:-}")" "${cost[$1,$s]:--}"
	done
	printf '%12s\n' "$(ratio "${cost[bcopy,$s]:-}" "${cost[zcopy,$s]:-}")"
done
note "-send, -read: what is left beside the perftest program's cost per byte, the device's; a WRITE"
note "costs as much as a SEND, but ib_write_bw can only poll"

echo
head_of "us one way: bytes" $LAT_COLS; printf '%14s%14s\n' zcopyw/zcopy zcopyw/bcopy
for s in $LAT_SIZES; do
	for c in $LAT_COLS; do lat[$c,$s]=$(latency "$c" "$s"); done
	row lat "$s" $LAT_COLS
	printf '%14s%14s\n' "$(ratio "${lat[zcopyw,$s]:-}" "${lat[zcopy,$s]:-}")" \
		"$(ratio "${lat[zcopyw,$s]:-}" "${lat[bcopy,$s]:-}")"
done

echo
head_of "MB/s of 1 MB, by" bcopy zcopy zcopyw; printf '%12s\n' zcopy/bcopy
for n in $CONNS; do
	printf '%-16s' "$n connections"
	for c in bcopy zcopy zcopyw; do
		bw[$c-$n,1048576]=$(stream $c 1048576 "$n")
		printf '%10s' "${bw[$c-$n,1048576]:--}"
	done
	printf '%12s\n' "$(ratio "${bw[zcopy-$n,1048576]:-}" "${bw[bcopy-$n,1048576]:-}")"
done

# What a page costs, zero copy pays for each message, and perftest once for all: larger ones are
# fewer, and so are those of a buffer that begins with one
echo
head_of "MB/s of 1 MB" bcopy zcopy zcopyw; printf '%13s%12s%12s\n' zcopy/read zcopyw/read zcopy/bcopy
for n in 1 8; do
	for k in malloc page huge; do
		for c in bcopy zcopy zcopyw; do
			mem[$c-$k-$n,1048576]=$(stream $c 1048576 $n -M $k)
		done
		printf '%-16s%10s%10s%10s%13s%12s%12s\n' "$k x $n" "${mem[bcopy-$k-$n,1048576]:--}" \
			"${mem[zcopy-$k-$n,1048576]:--}" "${mem[zcopyw-$k-$n,1048576]:--}" \
			"$(ratio "${mem[zcopy-$k-$n,1048576]:-}" "${bw[read,1048576]:-}")" \
			"$(ratio "${mem[zcopyw-$k-$n,1048576]:-}" "${bw[read,1048576]:-}")" \
			"$(ratio "${mem[zcopy-$k-$n,1048576]:-}" "${mem[bcopy-$k-$n,1048576]:-}")"
	done
done

# own_cost CONNECTIONS MEMORY: what zero copy costs beyond the device, of what copying does
own_cost() {
	ratio "$(beyond "${mem[zcopy-$2-$1,1048576]:-}" "${bw[read,1048576]:-}")" \
		"$(beyond "${mem[bcopy-$2-$1,1048576]:-}" "${bw[send,1048576]:-}")"
}
note "beyond the device's cost, zero copy costs of what copying does: 1 connection, pages $(own_cost 1 page)," \
	"huge $(own_cost 1 huge); 8 connections, pages $(own_cost 8 page), huge $(own_cost 8 huge)"

echo
target "1 MB ZCopy >= 0.95 x ib_read_bw" "${bw[zcopy,1048576]:-}" "${bw[read,1048576]:-}" ">=" 0.95
target "... ZCopy-W" "${bw[zcopyw,1048576]:-}" "${bw[read,1048576]:-}" ">=" 0.95
target "... ZCopy, huge pages" "${mem[zcopy-huge-1,1048576]:-}" "${bw[read,1048576]:-}" ">=" 0.95
target "64 KB ZCopy >= rsockets" "${bw[zcopy,65536]:-}" "${bw[rsockets,65536]:-}" ">=" 1
target "8 connections, ZCopy >= BCopy" "${bw[zcopy-8,1048576]:-}" "${bw[bcopy-8,1048576]:-}" ">=" 1
# A byte costs the inverse of throughput, as all there is runs on one CPU
target "8 connections, ZCopy's cost of a byte <= 1/2 of BCopy's" \
	"${bw[bcopy-8,1048576]:-}" "${bw[zcopy-8,1048576]:-}" "<=" 0.5
target "... the device's own subtracted" \
	"$(beyond "${bw[zcopy-8,1048576]:-}" "${bw[read,1048576]:-}")" \
	"$(beyond "${bw[bcopy-8,1048576]:-}" "${bw[send,1048576]:-}")" "<=" 0.5
target "... in huge pages" "$(beyond "${mem[zcopy-huge-8,1048576]:-}" "${bw[read,1048576]:-}")" \
	"$(beyond "${mem[bcopy-huge-8,1048576]:-}" "${bw[send,1048576]:-}")" "<=" 0.5
printf '{"kernel":"%s","accel":"%s",\n"mb_per_s":[%s],\n"lat_us":[%s],\n"mb_per_s_by_memory":[%s]}\n' \
	"$(uname -r)" "${LAB_ACCEL:-}" "$(json_values bw)" "$(json_values lat)" "$(json_values mem)" >"$OUT"
rm -rf "$TMP"
