#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: the benchmark, as a job in one guest: SDP beside verbs (perftest), rsockets, SMC-R and
# TCP, all over the same soft-RoCE device in one run, so that the ratios mean something.
# bench.sh starts it under QEMU's -icount, where guest time counts instructions.
#
# What polls a completion queue runs with cq_yield.so: on one CPU an empty poll must give it to
# the other side. Even so ib_send_bw does better when it sleeps (-e); the better of both counts.
# Prints tables, writes bench.json to /run/lab.
# shellcheck disable=SC2317,SC2086	# run_COLUMN are called by name; lists are split on purpose
set -u

LAT_SIZES=${LAT_SIZES:-1 64 1024 4096}
BW_SIZES=${BW_SIZES:-64 4096 65536 1048576}
LAT_N=${LAT_N:-500}
BW_BYTES=${BW_BYTES:-$((32 << 20))}
BW_MAX_N=${BW_MAX_N:-5000}
OUT=${OUT:-/run/lab/bench.json}
B=$LAB_TREE/build
Y="env LD_PRELOAD=$B/cq_yield.so"
TMP=$(mktemp -d)
STUCK=300	# seconds after which a program hangs
COLUMNS_ALL="sdp verbs rsockets smc tcp"

declare -A lat bw missing

note() { echo "# $*"; }

# count SIZE: messages of a throughput point
count() {
	local n=$((BW_BYTES / $1))
	[ $n -le "$BW_MAX_N" ] || n=$BW_MAX_N
	[ $n -ge 16 ] || n=16
	echo $n
}

# both SERVER-COMMAND -- CLIENT-COMMAND: the client's output is left in $TMP/client
both() {
	local server=(timeout "$STUCK") pid rc=0
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	"${server[@]}" >"$TMP/server" 2>&1 &
	pid=$!
	sleep 0.5
	timeout "$STUCK" "$@" >"$TMP/client" 2>&1 || rc=$?
	wait "$pid"
	return $rc
}

# field NAME FILE: a number out of a line "NAME: 1.5," or "NAME":1.5
field() { sed -nE "s/.*\"?$1\"?: *([0-9.]+).*/\1/p" "$2" | tail -n1; }

# ---- one function for each column: fills lat[COLUMN,SIZE] in us, bw[COLUMN,SIZE] in MB/s ----

# sdpbench NAME FAMILY: one process pair, all points
run_sdpbench() {
	local s
	for s in $LAT_SIZES; do
		"$B/sdpbench" -f "$2" --self "$LAB_IP" -j -T lat -S "$s" -n "$LAT_N" >"$TMP/out" 2>"$TMP/err" || {
			missing[$1]=$(tail -n1 "$TMP/err")
			return 1
		}
		lat[$1,$s]=$(field lat_us "$TMP/out")
	done
	for s in $BW_SIZES; do
		"$B/sdpbench" -f "$2" --self "$LAB_IP" -j -T bw -S "$s" -n "$(count "$s")" >"$TMP/out" 2>"$TMP/err" || {
			missing[$1]=$(tail -n1 "$TMP/err")
			return 1
		}
		bw[$1,$s]=$(field mb_per_s "$TMP/out")
	done
}

run_sdp() { run_sdpbench sdp sdp; }
run_tcp() { run_sdpbench tcp tcp; }

# perftest FIELD PROGRAM-AND-OPTIONS: prints that field of the client's report
perftest() {
	local f=$1 j=$TMP/perftest.json
	shift
	rm -f "$j"
	both "$@" -d rxe0 -F -- "$@" -d rxe0 -F --out_json --out_json_file="$j" "$LAB_IP" || return 1
	field "$f" "$j"
}

run_verbs() {
	local s n polling events
	command -v ib_send_lat >/dev/null || { missing[verbs]="perftest is not installed"; return; }
	for s in $LAT_SIZES; do
		lat[verbs,$s]=$(perftest t_avg $Y ib_send_lat -n "$LAT_N" -s "$s") || {
			missing[verbs]="ib_send_lat: $(tail -n1 "$TMP/client")"
			return
		}
	done
	for s in $BW_SIZES; do
		n=$(count "$s")
		polling=$(perftest BW_average $Y ib_send_bw -n "$n" -s "$s") || note "ib_send_bw failed, $s bytes"
		events=$(perftest BW_average ib_send_bw -e -n "$n" -s "$s") || note "ib_send_bw -e failed, $s bytes"
		note "ib_send_bw, $s bytes: ${polling:--} polling, ${events:--} with events (MiB/s)"
		bw[verbs,$s]=$(awk -v p="$polling" -v e="$events" 'BEGIN {
			m = p + 0 > e + 0 ? p : e
			if (m > 0) printf "%.3f", m * 1.048576 }')
	done
}

# rstream's last column is microseconds for one transfer, one way
rstream_us() {
	both $Y rstream "${@:2}" -S "$1" -- $Y rstream -s "$LAB_IP" "${@:2}" -S "$1" || return 1
	awk 'END { print $NF }' "$TMP/client"
}

run_rsockets() {
	local s us
	command -v rstream >/dev/null || { missing[rsockets]="rdmacm-utils is not installed"; return; }
	for s in $LAT_SIZES; do
		us=$(rstream_us "$s" -I "$LAT_N" -C 1) || { missing[rsockets]=$(tail -n1 "$TMP/client"); return; }
		lat[rsockets,$s]=$us
	done
	for s in $BW_SIZES; do
		us=$(rstream_us "$s" -I 1 -C "$(count "$s")") || { missing[rsockets]=$(tail -n1 "$TMP/client"); return; }
		bw[rsockets,$s]=$(awk -v s="$s" -v u="$us" 'BEGIN { if (u > 0) printf "%.3f", s / u }')
	done
}

# SMC goes on as TCP when it finds no RDMA device for the route; its queue pairs tell.
run_smc() {
	modprobe smc 2>/dev/null || { missing[smc]="this kernel has no smc module"; return; }
	"$B/sdpbench" -f smc --self "$LAB_IP" -j -T lat -S 64 -n 10 >/dev/null 2>"$TMP/err" || {
		missing[smc]=$(tail -n1 "$TMP/err")
		return
	}
	rdma resource show qp | grep -q smc || {
		missing[smc]="it fell back to TCP: no SMC queue pair on the device"
		return
	}
	run_sdpbench smc smc
}

# ---- output ----

# ratio A B: A / B with two digits, - without both
ratio() { awk -v a="${1:-}" -v b="${2:-}" 'BEGIN { if (a > 0 && b > 0) printf "%.2f", a / b; else printf "-" }'; }

table() {	# TITLE ARRAY SIZES...
	local -n values=$2
	local title=$1 c s
	shift 2
	echo
	printf '%-22s' "$title"
	for c in $COLUMNS_ALL; do printf '%11s' "$c"; done
	printf '%11s%13s\n' sdp/verbs sdp/rsockets
	for s; do
		printf '%-22s' "$s"
		for c in $COLUMNS_ALL; do printf '%11s' "${values[$c,$s]:--}"; done
		printf '%11s%13s\n' "$(ratio "${values[sdp,$s]:-}" "${values[verbs,$s]:-}")" \
			"$(ratio "${values[sdp,$s]:-}" "${values[rsockets,$s]:-}")"
	done
}

json_values() {	# ARRAY
	local -n values=$1
	local k sep=
	for k in "${!values[@]}"; do
		[ -n "${values[$k]}" ] || continue
		printf '%s{"column":"%s","size":%s,"value":%s}' "$sep" "${k%,*}" "${k#*,}" "${values[$k]}"
		sep=,
	done
}

json() {
	local c sep=
	printf '{"kernel":"%s","accel":"%s",\n"lat_us":[%s],\n"mb_per_s":[%s],\n"missing":{' \
		"$(uname -r)" "${LAB_ACCEL:-}" "$(json_values lat)" "$(json_values bw)"
	for c in "${!missing[@]}"; do
		printf '%s"%s":"%s"' "$sep" "$c" "${missing[$c]//[\"\\]/}"
		sep=,
	done
	printf '}}\n'
}

# target TEXT A B OP FACTOR: whether A OP FACTOR * B
target() {
	awk -v t="$1" -v a="${2:-}" -v b="${3:-}" -v op="$4" -v f="$5" 'BEGIN {
		if (!(a > 0 && b > 0)) { print "# target " t ": not measured"; exit }
		r = a / b
		print "# target " t ": " sprintf("%.2f", r) ((op == ">=" ? r >= f : r <= f) ? ", met" : ", MISSED")
	}'
}

lab_rxe_dummy || exit 1
rc=0
lab_sdp || missing[sdp]="sdp.ko could not be loaded"
for c in $COLUMNS_ALL; do
	[ -n "${missing[$c]:-}" ] || "run_$c"
	[ -z "${missing[$c]:-}" ] || note "no $c: ${missing[$c]}"
done
table "one way, us: bytes" lat $LAT_SIZES
table "stream, MB/s: bytes" bw $BW_SIZES
echo
note "verbs is ib_send_lat and ib_send_bw; latency is half a round trip; MB are 10^6 bytes"
target "64 KB stream >= 0.8 x ib_send_bw" "${bw[sdp,65536]:-}" "${bw[verbs,65536]:-}" ">=" 0.8
target "64 B latency <= 1.5 x ib_send_lat" "${lat[sdp,64]:-}" "${lat[verbs,64]:-}" "<=" 1.5
target "64 B latency <= rsockets" "${lat[sdp,64]:-}" "${lat[rsockets,64]:-}" "<=" 1
json >"$OUT"
rm -rf "$TMP"
[ -z "${missing[sdp]:-}" ] || rc=1
exit $rc
