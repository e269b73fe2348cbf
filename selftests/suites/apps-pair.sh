# SPDX-License-Identifier: GPL-2.0
# Servers on one host and their load on another: redis, PostgreSQL, nginx, iperf3.
# topology: pair
# set: apps
# time: 1200
# needs: redis-server redis-benchmark nginx curl ab iperf3 /usr/lib/postgresql/15/bin/postgres
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

# app NAME BYTES WHAT: NAME_serve and NAME_end are a's part, NAME_use is b's
app() {
	port
	if [ "$LAB_NODE" = a ]; then
		"$1_serve" "$3"
		lab_barrier "up-$PORT" || { not_ok "$1$3: the clients' host"; return; }
		lab_barrier "done-$PORT" $((300 * SLOW)) || { not_ok "$1$3: the clients"; return; }
		"$1_end" "$3"
		return
	fi
	lab_barrier "up-$PORT" || { not_ok "$1$3: the server"; return; }
	stat_mark
	"$1_use" "$3"
	at_least "... by SDP$3" $(($(stat_delta SendBytes) + $(stat_delta RecvBytes))) "$2"
	lab_barrier "done-$PORT"
}
[ "$LAB_NODE" = a ] || LAB_IP=$LAB_PEER

nginx_end() { nginx_content "$1"; check "... and ends$1" nginx_stop; }
iperf3_serve() { check "iperf3 -s$1" serve iperf3 iperf3 -s -B "$LAB_IP" -p "$PORT"; }
iperf3_use() {
	local how
	for how in "" -R "-P 4" -Z; do
		# shellcheck disable=SC2086
		check "... iperf3 $how$1" client 60 iperf3 -c "$LAB_IP" -p "$PORT" -t 3 $how
		grep -hE 'receiver' "$TMP/check" | tail -n 1 | sed 's/^/# /'
	done
}
iperf3_end() { bg_stop iperf3; }

by_modes app iperf3 $((4 << 20))
by_modes app redis $((redis_n * 100))
by_modes app nginx $((4 << 20))
app postgres $((6 << 20)) ""
