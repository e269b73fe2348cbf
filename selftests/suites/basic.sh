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

# together PREFIX "FAMILY ADDRESS"...
together() {
	local run prefix=${1:+$1 }; shift
	# shellcheck disable=SC2086
	for run; do start $run; done
	for run; do pass_on "${run/ /-}" 100 "$prefix$run"; done
}

# What the two ways in share is nearly everything, so each address has one, but for the device's
together "" "sdp $LAB_IP" "ipproto 127.0.0.1" "ipproto $LAB_IP6" "sdp ::1"
[ "$SLOW" != 1 ] || together "" "ipproto $LAB_IP" "sdp $LAB_IP6"
set_mode 2
stat_mark
together zcopy "sdp $LAB_IP" "sdp ::1"
at_least "which has really been zero copy" "$(stat_delta SendZcopy)" 1000000
set_mode 3
stat_mark
together az "ipproto $LAB_IP" "sdp ::1"
at_least "which has really been asynchronous zero copy" "$(stat_delta AzBytes)" 1000000
set_mode 0
readme_program >"$TMP/echo.c"
check "README's first program" "${CC:-cc}" -I"$LAB_TREE/include/uapi" -o "$TMP/echo" "$TMP/echo.c"
bg echo "$TMP/echo"
until_true 20 listening 5001
equal "... gets back what it sends" "$(within 20 "$TMP/echo" "$LAB_IP")" "hello, world"
equal "no message was found malformed" "$(grep -c '^Bad.* [1-9]' /proc/net/sdpstats)" 0
