# SPDX-License-Identifier: GPL-2.0
# OpenJDK over SDP: by libsdp.so, and by its own means, com.sun.sdp.conf.
# topology: one
# set: apps
# time: 400
# needs: java javac
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

app_java ", by libsdp.so" ""
SERVER=() CLIENT=()
printf '%s\n' "bind $LAB_IP *" "connect $LAB_IP *" >"$TMP/sdp.conf"
app_java ", by com.sun.sdp.conf" blocking-connect -Dcom.sun.sdp.conf="$TMP/sdp.conf" -Djava.net.preferIPv4Stack=true
