# SPDX-License-Identifier: GPL-2.0
# haproxy, sockperf, netcat and the like over SDP.
# topology: one
# set: apps
# time: 900
# needs: haproxy curl sockperf ncat NPtcp socat
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

by_modes app_haproxy
app_sockperf ""
by_modes app_ncat
by_modes app_socat
by_modes app_netpipe
