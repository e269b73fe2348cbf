#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# programs.sh: redis-benchmark, pgbench and iperf3 by TCP, by SDP (sdp_run) and by rsockets' preload
# library, as a job in one guest, all on one address. rspreload knows no epoll, so what waits by
# that doesn't work with it. TCP goes by the loopback device here, SDP and rsockets by soft-RoCE,
# which makes packets in software: compare those two.
# bench.sh starts it under QEMU's -icount, where guest time counts instructions.
# Prints a table, writes bench.json to /run/lab.
# shellcheck disable=SC2317,SC2086,SC2012,SC2206	# tests are called by name; lists are split on purpose
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

RSPRELOAD=$(ls /usr/lib/*/rsocket/librspreload.so 2>/dev/null | head -n 1)
declare -A by=(
	[tcp]="env"
	[sdp]="$B/sdp_run -p sdp"
	[rsockets]="env LD_PRELOAD=$B/cq_yield.so:$RSPRELOAD"
)
declare -A got
port=20000

# by TCP, by SDP, or by rsockets
listening() {
	ss -Htln "sport = :$port" | grep -q . || rdma resource show cm_id | grep -q "LISTEN.*:$port " ||
		grep -q ":$(printf %04X $port) 0*:0000 .* A *$" /proc/net/sdp
}

# serve COMMAND...: in the background, as $serving
serve() {
	"$@" >"$TMP/server" 2>&1 &
	serving=$!
	lab_wait 60 listening
}
stop() { kill -"${1:-TERM}" "$serving" 2>/dev/null; wait "$serving" 2>/dev/null; }

# redis WRAPPER SIZE: GETs a second
redis() {
	local rc=0
	serve $1 redis-server --bind "$LAB_IP" --port $port --save '' --protected-mode no --dir "$TMP"
	timeout 30 $1 redis-benchmark -h "$LAB_IP" -p $port -c 4 -n 500 -d "$2" -t set,get --csv >"$TMP/client" 2>&1 || rc=$?
	stop
	[ $rc = 0 ] && awk -F'","' '/^"GET/ { print $2 }' "$TMP/client"
}
redis_64() { redis "$1" 64; }
redis_64k() { redis "$1" 65536; }

PG=$(dirname "$(ls /usr/lib/postgresql/*/bin/postgres 2>/dev/null | head -n 1)")
# pgbench OPTIONS WRAPPER: transactions a second, reading only
pgbench() {
	local rc=0 at=(-h "$LAB_IP" -p $port -U postgres postgres)
	serve $2 setpriv --reuid=postgres --regid=postgres --init-groups "$PG/postgres" -D "$TMP/pg" -p $port \
		-c listen_addresses="$LAB_IP" -c fsync=off
	timeout 20 $2 "$PG/psql" -At "${at[@]}" -c 'select 1' >"$TMP/client" 2>&1 &&
		timeout 40 $2 "$PG/pgbench" -q -i -s 1 "${at[@]}" >"$TMP/client" 2>&1 &&
		timeout 40 $2 "$PG/pgbench" -n -S $1 "${at[@]}" >"$TMP/client" 2>&1 || rc=$?
	stop INT
	[ $rc = 0 ] && sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$TMP/client"
}
pgbench_kept() { pgbench "-c 4 -t 200" "$1"; }
pgbench_new() { pgbench "-C -c 4 -t 20" "$1"; }

# iperf3 WRAPPER: MB/s
iperf() {
	serve $1 iperf3 -s -1 -p $port -B "$LAB_IP"
	timeout 60 $1 iperf3 -c "$LAB_IP" -p $port -n 32M -l 64K -J >"$TMP/client" 2>&1 || { stop; return; }
	stop
	awk '/"sum_received"/ { s = 1 } s && /bits_per_second/ { gsub(/[^0-9.e+]/, "", $2); printf "%.1f", $2 / 8e6; exit }' \
		"$TMP/client"
}

lab_rxe_dummy && lab_sdp || exit 1
chmod 755 "$TMP"
mkdir -p "$TMP/pg" /run/postgresql && chown postgres "$TMP/pg" /run/postgresql
setpriv --reuid=postgres --regid=postgres --init-groups "$PG/initdb" -A trust -D "$TMP/pg" --no-sync >"$TMP/initdb" 2>&1
echo "host all all 0.0.0.0/0 trust" >>"$TMP/pg/pg_hba.conf"

printf '%-34s%12s%12s%12s%10s%14s\n' "" TCP SDP rsockets sdp/tcp sdp/rsockets
for test in redis_64:"redis GET, 64 B, requests/s" redis_64k:"redis GET, 64 KB, requests/s" \
	pgbench_kept:"pgbench -S, transactions/s" pgbench_new:"pgbench -S -C, transactions/s" \
	iperf:"iperf3, 64 KB, MB/s"; do
	for column in tcp sdp rsockets; do
		port=$((port + 1))
		[ $column != rsockets ] || [ -n "$RSPRELOAD" ] || continue
		got[$column,\"${test%%:*}\"]=$(${test%%:*} "${by[$column]}")
	done
	k=\"${test%%:*}\"
	printf '%-34s%12s%12s%12s%10s%14s\n' "${test#*:}" "${got[tcp,$k]:--}" "${got[sdp,$k]:--}" \
		"${got[rsockets,$k]:--}" "$(ratio "${got[sdp,$k]:-}" "${got[tcp,$k]:-}")" \
		"$(ratio "${got[sdp,$k]:-}" "${got[rsockets,$k]:-}")"
done
printf '{"per_second":[%s]}\n' "$(json_values got)" >"$OUT"
