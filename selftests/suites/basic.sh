# SPDX-License-Identifier: GPL-2.0
# The contract of a stream socket, by both ways to an SDP socket and over all kinds of
# addresses of this host; and again with nothing copied that need not be, waiting for
# the peer or not.
# topology: one
# time: 330
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# Most of a run is waiting, so some go on at the same time
start() { bg "$1-$2" sdp_basic -f "$1" -a "$2" --slow $((SLOW * 3)); }

# pass_on FAMILY ADDRESS [PREFIX]: sdp_basic's TAP as ours
pass_on() {
	local run=$1-$2 line name rc=0 as=${3:+$3 }
	bg_wait "$run" 100 || rc=$?
	while IFS= read -r line; do
		name=${line#*ok } name="$as$1 $2: ${name#* - }"
		case $line in
		"ok "*" # SKIP "*) skip "${name% # SKIP*}" "${line#* # SKIP }" ;;
		"ok "*) ok "$name" ;;
		"not ok "*) not_ok "$name" ;;
		"# "*" passed, "*) note "$1 $2: ${line#\# }" ;;
		"# "*) note "${line#\# }" ;;
		esac
	done <"$TMP/$run.log"
	[ "$rc" -le 1 ] && grep -q ' passed, ' "$TMP/$run.log" && return
	not_ok "$as$1 $2: sdp_basic runs to its end (exit status $rc)"
}

# together PREFIX "FAMILY ADDRESS"...
together() {
	local run prefix=$1; shift
	# shellcheck disable=SC2086
	for run; do start $run; done
	# shellcheck disable=SC2086
	for run; do pass_on $run "$prefix"; done
}

# What the two ways in share is nearly everything, so each address has one, but for the device's
together "" "sdp $LAB_IP" "ipproto 127.0.0.1" "ipproto $LAB_IP6" "sdp ::1"
[ "$SLOW" != 1 ] || together "" "ipproto $LAB_IP" "sdp $LAB_IP6"
sysctl -qw net.sdp.mode=2
stat_mark
together zcopy "sdp $LAB_IP" "sdp ::1"
at_least "which has really been zero copy" "$(stat_delta SendZcopy)" 1000000
sysctl -qw net.sdp.mode=3
stat_mark
together az "ipproto $LAB_IP" "sdp ::1"
at_least "which has really been asynchronous zero copy" "$(stat_delta AzBytes)" 1000000
equal "no message was found malformed" "$(grep -c '^Bad.* [1-9]' /proc/net/sdpstats)" 0
