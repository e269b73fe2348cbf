#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench-az.sh: run az.sh in two guests joined by a slow link, and plot what it measures.  Figures
# land in build/bench/KERNEL-az.json and KERNEL-az-*.png.  K= chooses the kernel, RATE= the link's
# Mbit/s.
# shellcheck source=selftests/vm/lib.sh
set -euo pipefail
. "$(dirname "$0")/../../selftests/vm/lib.sh"

kv=$(lab_kv "${K:-$(lab_series | head -n1)}")
out=$lab_tree/build/bench
name=$(lab_name "$kv")-az
mkdir -p "$out"
rm -f "$out"/*.dat
${MAKE:-make} -C "$lab_tree" modules tools "KVER=$kv" >"$out/build.log" 2>&1 || {
	tail -n 30 "$out/build.log"
	lab_die "building failed; all of it is in build/bench/build.log"
}
job=$out/job-az
{
	for v in RATE SIZES OVERLAP_SIZES COMPUTE WINDOW_SIZES WINDOWS CLIENTS BW_BYTES READ_AHEAD; do
		[ -z "${!v:-}" ] || echo "$v=${!v@Q}"
	done
	# shellcheck disable=SC2016
	echo '. "$LAB_TREE/tools/bench/az.sh"'
} >"$job"
rc=0
"$lab_dir/run-pair.sh" -q -k "$kv" -c 2 -t "${BENCH_TIME:-3600}" -o "$out" "$job" "$job" || rc=$?
grep -v '^LAB-' "$out/a.out" || :
[ $rc = 0 ] || lab_die "the benchmark failed ($rc); the guests' consoles are build/bench/[ab].console"
mv "$out/bench.json" "$out/$name.json"

lines="TCP BSDP ZSDP AZ-SDP"
# plot TABLE TITLE X-LABEL Y-LABEL: one of $lines for each mode
plot() {
	local n
	n=$(wc -w <<<"$lines")
	[ -s "$out/$1.dat" ] || return 0
	gnuplot <<-END
		set terminal png size 800,600
		set output "$out/$name-$1.png"
		set title "$2"; set xlabel "$3"; set ylabel "$4"
		set key top left; set grid; set yrange [0:*]
		${5:-}
		plot for [i=2:$((n + 1))] "$out/$1.dat" using 1:i with linespoints title word("$lines", i - 1)
	END
}
plot latency "Latency" "message, bytes" "half a round trip, us" "set logscale x 2"
plot oneway "One-way throughput" "message, bytes" "MB/s" "set logscale x 2"
for s in "$out"/overlap-*.dat; do
	s=${s##*overlap-} s=${s%.dat}
	plot "overlap-$s" "Computing between sends of $s bytes" "% of the transfer time" "MB/s"
done
for s in "$out"/window-*.dat; do
	s=${s##*window-} s=${s%.dat}
	plot "window-$s" "A buffer of $s bytes written to after every W sends" "W" "MB/s" "set logscale x 2"
done
plot clients "Throughput of several connections, 64 KiB" "connections" "MB/s"
plot hotspot "Latency of several connections, 64 KiB" "connections" "half a round trip, us"
lines="AZ-SDP region,copy region,wait"
plot policy "64 KiB written to after every W sends" "W" "MB/s" "set logscale x 2"
lines="read-ahead recv() az_recv"
for s in "$out"/receive-*.dat; do
	s=${s##*receive-} s=${s%.dat}
	plot "receive-$s" "A receiver that computes, $s bytes" "% of the transfer time" "MB/s"
done
rm -f "$out"/*.dat
