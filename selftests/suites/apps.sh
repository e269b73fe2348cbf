# SPDX-License-Identifier: GPL-2.0
# Programs nobody here wrote, unmodified, over SDP by libsdp.so: the few that fit. The rest is
# in suites apps-*, for make check-apps.
# topology: one
# time: 300
# needs: redis-server redis-benchmark iperf3 nginx ab curl socat
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

app_redis ""
app_iperf3 "" 2 1000000 -P 2
app_iperf3 "" 2 1000000 -Z -R
app_nginx ""
check "... and ends" nginx_stop
native_socat ""
set_mode 3
app_socat ", by AZ-SDP" -b 65536
at_least "... really" "$(stat_delta AzBytes)" $((4 << 20))
set_mode 0
