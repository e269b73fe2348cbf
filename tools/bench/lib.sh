# SPDX-License-Identifier: GPL-2.0
# For the benchmarks, jobs in one guest: programs to measure with, and printing.
#
# What polls a completion queue runs with cq_yield.so: on one CPU an empty poll must give it to
# the other side. Even so perftest does better when it sleeps (-e); the better of both counts.
# shellcheck shell=bash disable=SC2034,SC2086

BW_BYTES=${BW_BYTES:-$((32 << 20))}
BW_MAX_N=${BW_MAX_N:-5000}
OUT=${OUT:-/run/lab/bench.json}
B=$LAB_TREE/build
Y="env LD_PRELOAD=$B/cq_yield.so"
TMP=$(mktemp -d)
STUCK=300	# seconds after which a program hangs

note() { echo "# $*"; }

# count SIZE: messages of a throughput point
count() {
	local n=$((BW_BYTES / $1))
	[ $n -le "$BW_MAX_N" ] || n=$BW_MAX_N
	[ "$n" -ge 16 ] || n=16
	echo "$n"
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

# perftest FIELD PROGRAM-AND-OPTIONS: prints that field of the client's report
perftest() {
	local f=$1 j=$TMP/perftest.json
	shift
	rm -f "$j"
	both "$@" -d rxe0 -F -- "$@" -d rxe0 -F --out_json --out_json_file="$j" "$LAB_IP" || return 1
	field "$f" "$j"
}

# rstream's last column is microseconds for one transfer, one way
rstream_us() {
	both $Y rstream "${@:2}" -S "$1" -- $Y rstream -s "$LAB_IP" "${@:2}" -S "$1" || return 1
	awk 'END { print $NF }' "$TMP/client"
}

# perftest_bw SIZE PROGRAM [OPTIONS]: MB/s, the better of polling and sleeping, which ib_write_bw can't
perftest_bw() {
	local s=$1 polling events=''; shift
	polling=$(perftest BW_average $Y "$@" -n "$(count "$s")" -s "$s") || note "$1 failed, $s bytes" >&2
	[ "$1" = ib_write_bw ] || events=$(perftest BW_average "$@" -e -n "$(count "$s")" -s "$s") ||
		note "$1 -e failed, $s bytes" >&2
	awk -v p="$polling" -v e="$events" 'BEGIN {
		m = p + 0 > e + 0 ? p : e
		if (m > 0) printf "%.3f", m * 1.048576 }'
}

# rsockets_bw SIZE: MB/s
rsockets_bw() {
	local us
	us=$(rstream_us "$1" -I 1 -C "$(count "$1")") || return 1
	awk -v s="$1" -v u="$us" 'BEGIN { if (u > 0) printf "%.3f", s / u }'
}

# ratio A B: A / B with two digits, - without both
ratio() { awk -v a="${1:-}" -v b="${2:-}" 'BEGIN { if (a > 0 && b > 0) printf "%.2f", a / b; else printf "-" }'; }

json_values() {	# ARRAY
	local -n values=$1
	local k sep=
	for k in "${!values[@]}"; do
		[ -n "${values[$k]}" ] || continue
		printf '%s{"column":"%s","size":%s,"value":%s}' "$sep" "${k%,*}" "${k#*,}" "${values[$k]}"
		sep=,
	done
}

# target TEXT A B OP FACTOR: whether A OP FACTOR * B
target() {
	awk -v t="$1" -v a="${2:-}" -v b="${3:-}" -v op="$4" -v f="$5" 'BEGIN {
		if (!(a > 0 && b > 0)) { print "# target " t ": not measured"; exit }
		r = a / b
		print "# target " t ": " sprintf("%.2f", r) ((op == ">=" ? r >= f : r <= f) ? ", met" : ", MISSED")
	}'
}
