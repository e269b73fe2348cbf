# SPDX-License-Identifier: GPL-2.0
# OpenJDK opens SDP sockets by itself where its -Dcom.sun.sdp.conf says so: a program, unchanged,
# does with them what it does with TCP's.
# topology: one
# time: 300
# debug: no
# needs: java
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit
java --list-modules | grep -q '^jdk.compiler@' || skip_all "not installed: a JDK"

printf 'bind * *\nconnect * *\n' >"$TMP/sdp.conf"
run() {
	within 140 java -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true "$@" \
		"$LAB_TREE/selftests/java/SdpTest.java" "$LAB_IP"
}
run >"$TMP/tcp" 2>&1
stat_mark
run "-Dcom.sun.sdp.conf=$TMP/sdp.conf" >"$TMP/sdp" 2>&1
check "streams, channels, selectors, closing: as TCP" diff "$TMP/tcp" "$TMP/sdp"
at_least "enough has been asked" "$(wc -l <"$TMP/tcp")" 19
at_least "it went over SDP" "$(stat_delta RecvBytes)" 800000
set_mode 3
stat_mark
run "-Dcom.sun.sdp.conf=$TMP/sdp.conf" >"$TMP/az" 2>&1
check "the same by AZ-SDP" diff "$TMP/tcp" "$TMP/az"
at_least "... really" "$(stat_delta AzBytes)" 400000
set_mode 0
