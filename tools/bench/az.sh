#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# az.sh: the figures of Balaji et al. (CAC 2006) for AZ-SDP, as a job of two guests: a sends to b
# over a link so slow that it, and not the emulated processors, is what everything waits for.
# TCP, BSDP (copying), ZSDP (zero copy, waiting) and AZ-SDP side by side in one run.
# Then what a sender's writes cost by policy, and a receiver that computes before it looks at what
# it got. Prints tables; node a writes bench.json and, for plot.sh, *.dat to /run/lab.
# shellcheck disable=SC2086,SC2153,SC2154	# lists are split on purpose
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

RATE=${RATE:-100}		# Mbit/s
SIZES=${SIZES:-4096 16384 65536 262144 1048576}
OVERLAP_SIZES=${OVERLAP_SIZES:-65536 1048576}
COMPUTE=${COMPUTE:-0 50 100 150 200}	# percent of the transfer time
WINDOW_SIZES=${WINDOW_SIZES:-65536 1048576}
WINDOWS=${WINDOWS:-1 2 4 8 16 64}
CLIENTS=${CLIENTS:-1 2 4 6}
MODES="tcp bsdp zsdp az"
RATIOS="az/zsdp az/bsdp az/tcp"
BW_BYTES=${BW_BYTES:-$((8 << 20))}
READ_AHEAD=${READ_AHEAD:-2}
declare -A v
export LAB_SUITE=bench

lab_rxe_nic && lab_sdp || exit 1
ulimit -l unlimited
sysctl -qw net.sdp.read_ahead="$READ_AHEAD"
tc qdisc replace dev "$LAB_DEV" root netem rate "${RATE}mbit" limit 10000
if [ "$LAB_NODE" = b ]; then
	"$B/sdpbench" -s -f tcp -p 7474 "$LAB_IP" & tcp=$!
	"$B/sdpbench" -s "$LAB_IP" & sdp=$!
	"$B/sdpbench" -s -M region -p 7475 "$LAB_IP" & region=$!
	sleep 1
	lab_barrier az-serving
	lab_barrier az-receiving 3600
	sysctl -qw net.sdp.read_ahead=0 net.sdp.az_recv=1
	lab_barrier az-ahead
	lab_barrier az-done 3600
	kill $tcp $sdp $region
	exit 0
fi
lab_barrier az-serving

# bench MODE FIELD [sdpbench options]
bench() {
	local mode=$1 f=$2; shift 2
	case $mode in
	tcp) set -- -f tcp -p 7474 "$@" ;;
	bsdp) sysctl -qw net.sdp.mode=1 ;;
	zsdp) sysctl -qw net.sdp.mode=2 ;;
	# AZ-SDP, not forced to, so that it may fall back
	*) sysctl -qw net.sdp.mode=0 net.sdp.az_thresh=4096 net.sdp.az_policy=0 ;;
	esac
	case $mode in
	region) set -- -M region "$@" ;;
	block) sysctl -qw net.sdp.az_policy=1; set -- -M region "$@" ;;
	away) set -- -p 7475 "$@" ;;
	esac
	timeout $STUCK "$B/sdpbench" -j -w 4 "$@" "$LAB_PEER" >"$TMP/out" 2>"$TMP/err" || {
		note "$mode $*: $(tail -n1 "$TMP/err")"
		return 1
	}
	field "$f" "$TMP/out"
}
n_of() { local n=$((BW_BYTES / $1)); [ $n -ge 12 ] || n=12; [ $n -le 400 ] || n=400; echo $n; }

# table NAME TITLE UNIT X...: what v[NAME,MODE,X] holds, and a .dat of it
table() {
	local name=$1 title=$2 x m; shift 2
	echo
	printf '%-26s' "$title"
	for m in $MODES; do printf '%10s' $m; done
	printf ' %12s' $RATIOS
	echo
	for x; do
		printf '%-26s' "$x"
		printf '%s' "$x" >>/run/lab/$name.dat
		for m in $MODES; do
			printf '%10s' "${v[$name,$m,$x]:--}"
			printf ' %s' "${v[$name,$m,$x]:-nan}" >>/run/lab/$name.dat
		done
		echo >>/run/lab/$name.dat
		for m in $RATIOS; do
			printf ' %12s' "$(ratio "${v[$name,${m%/*},$x]:-}" "${v[$name,${m#*/},$x]:-}")"
		done
		echo
	done
}

note "$(uname -r), link $RATE Mbit/s each way"
for s in $SIZES; do for m in $MODES; do
	v[latency,$m,$s]=$(bench $m lat_us -T lat -S $s -n 30)
done; done
table latency "half round trip, us: bytes" $SIZES

for s in $SIZES; do for m in $MODES; do
	v[oneway,$m,$s]=$(bench $m mb_per_s -T bw -S $s -n "$(n_of $s)")
done; done
table oneway "one way, MB/s: bytes" $SIZES

# The program computes so long after each send(), in percent of what the wire takes for it
for s in $OVERLAP_SIZES; do
	us=$((s * 8 / RATE))
	for c in $COMPUTE; do for m in $MODES; do
		v[overlap-$s,$m,$c]=$(bench $m mb_per_s -T bw -S $s -n "$(n_of $s)" -C $((us * c / 100)))
	done; done
	table overlap-$s "MB/s, $s B: % computing" $COMPUTE
done

# ... and writes to its buffer after every W of them
for s in $WINDOW_SIZES; do
	for w in $WINDOWS; do for m in $MODES; do
		v[window-$s,$m,$w]=$(bench $m mb_per_s -T bw -S $s -n "$(n_of $s)" -W $w)
	done; done
	table window-$s "MB/s, $s B: write each" $WINDOWS
done

for n in $CLIENTS; do for m in $MODES; do
	v[clients,$m,$n]=$(bench $m mb_per_s -T bw -S 65536 -P $n -n $(($(n_of 65536) / n + 1)))
	v[hotspot,$m,$n]=$(bench $m lat_us -T lat -S 65536 -P $n -n 15)
done; done
table clients "MB/s, 65536 B: connections" $CLIENTS
table hotspot "half rtt, us: connections" $CLIENTS

# Who writes to what is in flight gets a copy of the page, or waits
MODES="az region block" RATIOS="region/az block/az"
for w in $WINDOWS; do for m in $MODES; do
	v[policy,$m,$w]=$(bench $m mb_per_s -T bw -S 65536 -n "$(n_of 65536)" -W $w)
done; done
table policy "MB/s, 65536 B: write each" $WINDOWS

# The receiver computes so long after each recv(), and looks at its data then: what was read ahead
# into buffers, what recv() waits for, or what arrives meanwhile (az_recv)
received() {
	for s in $OVERLAP_SIZES; do
		us=$((s * 8 / RATE))
		for c in $COMPUTE; do for m in "$@"; do
			v[receive-$s,$m,$c]=$(bench $m mb_per_s -T bw -S $s -n "$(n_of $s)" \
				-R $((us * c / 100 + 1)))
		done; done
	done
}
received ahead
lab_barrier az-receiving
lab_barrier az-ahead
received plain away
MODES="ahead plain away" RATIOS="away/plain away/ahead"
for s in $OVERLAP_SIZES; do
	table receive-$s "MB/s, $s B: % computing" $COMPUTE
done

lab_barrier az-done
echo
target "64 KB one way, AZ >= 1.35 x ZCopy" "${v[oneway,az,65536]:-}" "${v[oneway,zsdp,65536]:-}" ">=" 1.35
target "64 KB, computing = transfer, AZ >= 1.9 x ZCopy" "${v[overlap-65536,az,100]:-}" "${v[overlap-65536,zsdp,100]:-}" ">=" 1.9
target "1 MB, computing = transfer, AZ >= 0.95 x without" "${v[overlap-1048576,az,100]:-}" "${v[overlap-1048576,az,0]:-}" ">=" 0.95
for s in $WINDOW_SIZES; do for w in $WINDOWS; do
	n=window-$s
	best=$(printf '%s\n' "${v[$n,bsdp,$w]:-0}" "${v[$n,zsdp,$w]:-0}" | sort -g | tail -n1)
	target "$s B, write each $w, AZ >= 0.95 x the best other mode" "${v[$n,az,$w]:-}" "$best" ">=" 0.95
done; done
target "6 connections, AZ >= 2 x ZCopy" "${v[clients,az,6]:-}" "${v[clients,zsdp,6]:-}" ">=" 2
target "hot spot, 6 connections, ZCopy >= 2 x AZ (latency)" "${v[hotspot,zsdp,6]:-}" "${v[hotspot,az,6]:-}" ">=" 2
{
	printf '{"kernel":"%s","mbit_per_s":%s,"values":[' "$(uname -r)" "$RATE"
	sep=
	for k in "${!v[@]}"; do
		[ -n "${v[$k]}" ] || continue
		IFS=, read -r name m x <<<"$k"
		printf '%s{"table":"%s","mode":"%s","x":%s,"value":%s}' "$sep" "$name" "$m" "$x" "${v[$k]}"
		sep=,
	done
	printf ']}\n'
} >"$OUT"
rm -rf "$TMP"
