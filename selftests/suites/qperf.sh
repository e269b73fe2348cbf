# SPDX-License-Identifier: GPL-2.0
# qperf, which nobody here wrote, measures SDP as it is.
# topology: one
# time: 150
# needs: qperf
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

serves() { ss -tln | grep -q ':19765 '; }
bg qperf qperf
until_true 10 serves

# measures HOST ARGUMENTS...: each test has a number, and it was SDP that moved the bytes
measures() {
	local before tests=0 a
	for a; do case $a in sdp_*) tests=$((tests + 1)) ;; esac; done
	before=$(stat SendBytes)
	within 30 qperf "$1" -t 1 "${@:2}" >"$TMP/qperf" 2>&1 || { cat "$TMP/qperf"; return 1; }
	cat "$TMP/qperf"
	[ "$(grep -cE '(bw|latency) += +[0-9.]+ (KB/sec|MB/sec|GB/sec|ns|us|ms)' "$TMP/qperf")" -ge $tests ] &&
		[ "$(stat SendBytes)" -gt "$before" ]
}
figures() { note "$(tr -s ' \n' ' ' <"$TMP/qperf")"; }

check "sdp_bw and sdp_lat" measures "$LAB_IP" sdp_bw sdp_lat
figures
check "sdp_bw and sdp_lat over loopback" measures 127.0.0.1 sdp_bw sdp_lat
figures
check "messages of 1 byte to 1 MB" measures "$LAB_IP" -oo msg_size:1:1M:*1024 sdp_bw sdp_lat
figures
check "IPv4 in an IPv6 address" measures "::ffff:$LAB_IP" sdp_bw sdp_lat
figures
sysctl -qw net.sdp.mode=3
stat_mark
check "messages of 1 MB by AZ-SDP" measures "$LAB_IP" -oo msg_size:1M sdp_bw sdp_lat
figures
at_least "... really" "$(stat_delta AzBytes)" $(($(stat_delta SendBytes) * 9 / 10))
sysctl -qw net.sdp.mode=0
# Whatever the address is, its client makes a socket of family 27, which can't speak IPv6
ipv6() {
	measures "$LAB_IP6" sdp_lat && return
	grep -q 'could not make SDP' "$TMP/qperf" || return 1
	echo "qperf makes an IPv4 socket for it"
	return 4
}
check "IPv6" ipv6
