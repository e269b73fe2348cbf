# SPDX-License-Identifier: GPL-2.0
# nginx over SDP: sendfile(), load, a reload under load; by each way of moving data.
# topology: one
# set: apps
# time: 700
# needs: nginx ab wrk curl
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

all() {
	app_nginx "$1"
	check "... ends$1" nginx_stop
}
by_modes all

# reload: old workers go when their connections do, new ones come; nobody notices
reload_under_load() {
	bg load "${CLIENT[@]}" wrk -t2 -c10 -d8s --timeout 20s "http://$LAB_IP:$PORT/hello"
	for _ in 1 2 3; do sleep 2; kill -HUP "$(cat "$TMP/nginx.pid")"; done
	bg_wait load 40
	cat "$TMP/load.log"
	grep -q 'Requests/sec' "$TMP/load.log" && ! grep -E 'Non-2xx' "$TMP/load.log"
}
app_nginx ", reuseport" reuseport
check "... is reloaded under load" reload_under_load
check "... and ends" nginx_stop
