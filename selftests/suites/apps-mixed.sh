# SPDX-License-Identifier: GPL-2.0
# Programs that may fall back to TCP, with peers that have SDP and that haven't.
# topology: one
# set: apps
# time: 1200
# needs: redis-server iperf3 nginx ab curl sshd ssh rsync /usr/lib/postgresql/15/bin/postgres
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

mixed app_redis
iperf3_pair() {
	app_iperf3 "$1" 2 1000000 -P 4
	app_iperf3 "$1" 2 1000000 --bidir
}
mixed iperf3_pair
web() {
	app_nginx "$1"
	check "... ends$1" nginx_stop
}
mixed web
mixed app_postgres
mixed app_ssh
