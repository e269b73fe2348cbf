#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fallback.sh: what a socket costs that TCP has taken over from SDP, beside one that was TCP's from
# the beginning, as a job in one guest: the same programs by turns, over the loopback device.
# bench.sh starts it under QEMU's -icount, where guest time counts instructions.
# Prints a table, writes bench.json to /run/lab.
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

LAT_SIZES=${LAT_SIZES:-1 64 4096}
BW_SIZES=${BW_SIZES:-64 4096 65536 1048576}
declare -A lat bw

# measure COLUMN FAMILY
measure() {
	local s
	for s in $LAT_SIZES; do
		"$B/sdpbench" -f "$2" --self "$LAB_IP" -j -T lat -S "$s" -n 2000 >"$TMP/out" || return
		lat[$1,$s]=$(field lat_us "$TMP/out")
	done
	for s in $BW_SIZES; do
		"$B/sdpbench" -f "$2" --self "$LAB_IP" -j -T bw -S "$s" -n "$(count "$s")" >"$TMP/out" || return
		bw[$1,$s]=$(field mb_per_s "$TMP/out")
	done
}

# iperf3 of a client that runs behind COMMAND..., with a server that is plain TCP
iperf() {
	both iperf3 -s -1 -p 5301 -- "$@" iperf3 -c "$LAB_IP" -p 5301 -n 64M -l 64K -J || return
	awk '/"sum_received"/ { s = 1 } s && /bits_per_second/ { gsub(/[^0-9.e+]/, "", $2); printf "%.3f", $2 / 8e6; exit }' \
		"$TMP/client"
}

taken_over() { awk '/^Fallback/ { n += $2 } END { print n + 0 }' /proc/net/sdpstats; }

lab_rxe_dummy && lab_sdp || exit 1
before=$(taken_over)
sysctl -qw net.sdp.policy=1
rc=0
measure tcp tcp && measure fallen ipproto || rc=1
sysctl -qw net.sdp.policy=0
bw[tcp,iperf3]=$(iperf env)
bw[fallen,iperf3]=$(iperf "$B/sdp_run" -p both)

printf '%-28s%12s%12s%10s\n' "" TCP "taken over" ratio
for s in $LAT_SIZES; do
	printf '%-28s%12s%12s%10s\n' "latency, us, $s B" "${lat[tcp,$s]:--}" "${lat[fallen,$s]:--}" \
		"$(ratio "${lat[fallen,$s]:-}" "${lat[tcp,$s]:-}")"
done
for s in $BW_SIZES iperf3; do
	printf '%-28s%12s%12s%10s\n' "throughput, MB/s, $s" "${bw[tcp,$s]:--}" "${bw[fallen,$s]:--}" \
		"$(ratio "${bw[fallen,$s]:-}" "${bw[tcp,$s]:-}")"
done
echo
note "sockets taken over: $(($(taken_over) - before))"
[ "$(($(taken_over) - before))" -ge 10 ] || { note "not what was to be measured"; rc=1; }
target "64 B latency / TCP" "${lat[fallen,64]:-}" "${lat[tcp,64]:-}" "<=" 1.05
target "64 KB stream / TCP" "${bw[fallen,65536]:-}" "${bw[tcp,65536]:-}" ">=" 0.95
target "iperf3 through libsdp / TCP" "${bw[fallen,iperf3]:-}" "${bw[tcp,iperf3]:-}" ">=" 0.95
printf '{"lat_us":[%s],"mb_per_s":[%s]}\n' "$(json_values lat)" "$(json_values bw | sed 's/"size":iperf3/"size":"iperf3"/g')" >"$OUT"
exit $rc
