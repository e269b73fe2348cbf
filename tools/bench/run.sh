#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: the benchmark, as a job in one guest: SDP beside verbs (perftest), rsockets, SMC-R and
# TCP, all over the same soft-RoCE device in one run, so that the ratios mean something.
# bench.sh starts it under QEMU's -icount, where guest time counts instructions.
# Prints tables, writes bench.json to /run/lab.
# shellcheck disable=SC2317,SC2086	# run_COLUMN are called by name; lists are split on purpose
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

LAT_SIZES=${LAT_SIZES:-1 64 1024 4096}
BW_SIZES=${BW_SIZES:-64 4096 65536 1048576}
LAT_N=${LAT_N:-500}
COLUMNS_ALL="sdp verbs rsockets smc tcp"

declare -A lat bw missing

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

# Busy polling. One CPU has nothing to gain by it, for who polls gives way to whoever can run;
# this is to see that it doesn't lose.
run_polling() {
	sysctl -qw net.sdp.recv_poll=50
	"$B/sdpbench" -f sdp --self "$LAB_IP" -j -T lat -S 64 -n "$LAT_N" >"$TMP/out" 2>"$TMP/err" &&
		lat[sdp-polling,64]=$(field lat_us "$TMP/out")
	sysctl -qw net.sdp.recv_poll=0
}

run_tcp() { run_sdpbench tcp tcp; }

run_verbs() {
	local s
	command -v ib_send_lat >/dev/null || { missing[verbs]="perftest is not installed"; return; }
	for s in $LAT_SIZES; do
		lat[verbs,$s]=$(perftest t_avg $Y ib_send_lat -n "$LAT_N" -s "$s") || {
			missing[verbs]="ib_send_lat: $(tail -n1 "$TMP/client")"
			return
		}
	done
	for s in $BW_SIZES; do bw[verbs,$s]=$(perftest_bw "$s" ib_send_bw); done
}

run_rsockets() {
	local s us
	command -v rstream >/dev/null || { missing[rsockets]="rdmacm-utils is not installed"; return; }
	for s in $LAT_SIZES; do
		us=$(rstream_us "$s" -I "$LAT_N" -C 1) || { missing[rsockets]=$(tail -n1 "$TMP/client"); return; }
		lat[rsockets,$s]=$us
	done
	for s in $BW_SIZES; do
		bw[rsockets,$s]=$(rsockets_bw "$s") || { missing[rsockets]=$(tail -n1 "$TMP/client"); return; }
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

lab_rxe_dummy || exit 1
rc=0
lab_sdp || missing[sdp]="sdp.ko could not be loaded"
for c in $COLUMNS_ALL; do
	[ -n "${missing[$c]:-}" ] || "run_$c"
	[ -z "${missing[$c]:-}" ] || note "no $c: ${missing[$c]}"
done
[ -n "${missing[sdp]:-}" ] || run_polling
table "one way, us: bytes" lat $LAT_SIZES
table "stream, MB/s: bytes" bw $BW_SIZES
echo
note "verbs is ib_send_lat and ib_send_bw; latency is half a round trip; MB are 10^6 bytes"
target "64 KB stream >= 0.8 x ib_send_bw" "${bw[sdp,65536]:-}" "${bw[verbs,65536]:-}" ">=" 0.8
target "64 B latency <= 1.5 x ib_send_lat" "${lat[sdp,64]:-}" "${lat[verbs,64]:-}" "<=" 1.5
target "64 B latency <= rsockets" "${lat[sdp,64]:-}" "${lat[rsockets,64]:-}" "<=" 1
target "64 B latency with net.sdp.recv_poll <= without" "${lat[sdp-polling,64]:-}" "${lat[sdp,64]:-}" "<=" 1.02
json >"$OUT"
rm -rf "$TMP"
[ -z "${missing[sdp]:-}" ] || rc=1
exit $rc
