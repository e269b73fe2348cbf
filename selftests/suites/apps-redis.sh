# SPDX-License-Identifier: GPL-2.0
# redis over SDP, by each way of moving data.
# topology: one
# set: apps
# time: 600
# needs: redis-server redis-benchmark
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

by_modes app_redis
