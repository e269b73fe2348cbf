# SPDX-License-Identifier: GPL-2.0
# ssh, scp and rsync over SDP, sshd with all its processes; by each way of moving data.
# topology: one
# set: apps
# time: 900
# needs: sshd ssh rsync ssh-keygen
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

by_modes app_ssh
by_modes app_rsyncd
