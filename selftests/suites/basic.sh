# SPDX-License-Identifier: GPL-2.0
# The contract of a stream socket, by both ways to an SDP socket and over all kinds of
# addresses of this host.
# topology: one
# time: 200
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# Most of a run is waiting, so some go on at the same time
start() { bg "$1-$2" sdp_basic -f "$1" -a "$2" --slow $((SLOW * 3)); }

# pass_on FAMILY ADDRESS: sdp_basic's TAP as ours
pass_on() {
	local run=$1-$2 line name rc=0
	bg_wait "$run" 100 || rc=$?
	while IFS= read -r line; do
		name=${line#*ok } name="$1 $2: ${name#* - }"
		case $line in
		"ok "*" # SKIP "*) skip "${name% # SKIP*}" "${line#* # SKIP }" ;;
		"ok "*) ok "$name" ;;
		"not ok "*) not_ok "$name" ;;
		"# "*" passed, "*) note "$1 $2: ${line#\# }" ;;
		"# "*) note "${line#\# }" ;;
		esac
	done <"$TMP/$run.log"
	[ "$rc" -le 1 ] && grep -q ' passed, ' "$TMP/$run.log" && return
	not_ok "$1 $2: sdp_basic runs to its end (exit status $rc)"
}

for fam in sdp ipproto; do
	for addr in "$LAB_IP" 127.0.0.1 "$LAB_IP6" ::1; do start $fam "$addr"; done
	for addr in "$LAB_IP" 127.0.0.1 "$LAB_IP6" ::1; do pass_on $fam "$addr"; done
done
equal "no message was found malformed" "$(grep -c '^Bad.* [1-9]' /proc/net/sdpstats)" 0
