# SPDX-License-Identifier: GPL-2.0
# What bounds sockets that nobody looks after: backlogs, orphans, peers that don't read; and
# what doesn't, the data that comes back when one half is closed.
# topology: one
# time: 60
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit
cgroup2_mount
rm -rf "$TMP"
exec python3 -B "$LAB_TREE/selftests/limits.py" "$LAB_IP"
