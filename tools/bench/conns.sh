#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# conns.sh: connections as a job in one guest, over one soft-RoCE device: how many a second,
# beside TCP, rsockets and rdma_cm alone (cmtime), and how many at once.
# Prints tables, writes bench.json to /run/lab.
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

N=${N:-200}
OPEN=${OPEN:-5000}		# connections, with two ends each
RSOCKET=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so
C=$B/sdp_conns
declare -A rate

sockets() { "$C" -f "$1" --self -n "$N" "$LAB_IP" >"$TMP/out" && field per_second "$TMP/out"; }

# The same program, its sockets replaced
rsockets() {
	local -a p=(env "LD_PRELOAD=$RSOCKET:$B/cq_yield.so" "$C" -f tcp -n "$N")
	both "${p[@]}" -s "$LAB_IP" -- "${p[@]}" "$LAB_IP" || return 1
	field per_second "$TMP/client"
}

# rdma_cm does each step for all connections before the next; the times of all steps together
rdma_cm() {
	both cmtime -b "$LAB_IP" -c "$N" -- cmtime -b "$LAB_IP" -s "$LAB_IP" -c "$N" || return 1
	awk -v n="$N" '/:/ { sub(/.*:/, ""); ms += $1 } END { if (ms > 0) printf "%.1f", n * 1000 / ms }' \
		"$TMP/client"
}

kernel_kb() { awk '{ v[$1] = $2 } END { print v["MemTotal:"] - v["MemFree:"] - v["Buffers:"] - v["Cached:"] }' /proc/meminfo; }

lab_rxe_dummy && lab_sdp || exit 1
ulimit -n $((2 * OPEN + 1000))
rate[sdp]=$(sockets sdp) || exit 1
rate[tcp]=$(sockets tcp)
rate[rsockets]=$(rsockets) || note "no rsockets: $(tail -n 1 "$TMP/client")"
rate[rdma_cm]=$(rdma_cm) || note "no rdma_cm: $(tail -n 1 "$TMP/client")"
printf '\n%-26s' "connections a second"
for c in sdp rsockets rdma_cm tcp; do printf '%11s' "$c"; done
printf '\n%-26s' "one after the other"
for c in sdp rsockets rdma_cm tcp; do printf '%11s' "${rate[$c]:--}"; done
echo; echo
target "connection rate >= 0.8 x rsockets" "${rate[sdp]:-}" "${rate[rsockets]:-}" ">=" 0.8
target "connection rate >= 0.8 x rdma_cm" "${rate[sdp]:-}" "${rate[rdma_cm]:-}" ">=" 0.8

# The default is for a machine that has something else to do as well
pages=$(($(awk '/MemFree/ { print $2 }' /proc/meminfo) / 8))
sysctl -qw net.sdp.mem="$pages $pages $((2 * pages))"
kb=$(kernel_kb) most=0
"$C" -f sdp --self -o "$OPEN" -i 10 "$LAB_IP" >"$TMP/open" &
pid=$!
while kill -0 $pid 2>/dev/null; do
	sleep 2
	now=$(kernel_kb)
	[ "$now" -le "$most" ] || most=$now
done
wait $pid || exit 1
n=$(($(field open "$TMP/open") * 2))
note "$n ends open at once in one epoll set, $(((most - kb) / n)) KB of the machine's memory each;" \
	"stopped by: $(sed -nE 's/.*"stopped_by":"([A-Z]*)".*/\1/p' "$TMP/open")"
note "idle for $(field idle_seconds "$TMP/open") s: $(field idle_events "$TMP/open") events," \
	"$(field idle_busy "$TMP/open") s of CPU; $(field woken "$TMP/open") woken by a byte afterwards"
target "10,000 ends open at once" "$n" 10000 ">=" 1
printf '{"kernel":"%s","per_second":{"sdp":"%s","rsockets":"%s","rdma_cm":"%s","tcp":"%s"},"open":%s}\n' \
	"$(uname -r)" "${rate[sdp]:-}" "${rate[rsockets]:-}" "${rate[rdma_cm]:-}" "${rate[tcp]:-}" \
	"$(cat "$TMP/open")" >"$OUT"
rm -rf "$TMP"
