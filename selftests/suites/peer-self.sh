# SPDX-License-Identifier: GPL-2.0
# The test peer against itself, without sdp.ko: what the other peer suites rest on.
# topology: one
# time: 150
# needs: python3
# allow: rxe0: qp#[0-9]+ make_send_cqe
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
peer_load || exit
rm -rf "$TMP"
exec python3 -B "$LAB_TREE/selftests/peer/test_self.py" "$LAB_IP" "$LAB_IP6"
