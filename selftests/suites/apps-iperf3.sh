# SPDX-License-Identifier: GPL-2.0
# iperf3 over SDP: streams in all directions, by each way of moving data.
# topology: one
# set: apps
# time: 600
# needs: iperf3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

all() {
	app_iperf3 "$1" 3 1000000
	app_iperf3 "$1" 3 1000000 -R
	app_iperf3 "$1" 3 1000000 --bidir
	app_iperf3 "$1" 3 1000000 -P 4
	app_iperf3 "$1" 3 1000000 -Z
	app_iperf3 "$1" 3 1000000 -Z -R -l 1M
	app_iperf3 "$1" 3 1000000 -N -l 1000
}
by_modes all
