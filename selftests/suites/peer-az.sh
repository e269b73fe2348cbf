# SPDX-License-Identifier: GPL-2.0
# AZ-SDP: what peers do with data that is in flight while the program writes to its memory,
# hostile ones, dying ones and such as OFED was, all played by sdp_peer.ko.
# topology: one
# time: 180
# needs: python3
# allow: rxe0: qp#[0-9]+ (make_send_cqe|moved to error state)
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load && peer_load || exit
rm -rf "$TMP"
exec python3 -B "$LAB_TREE/selftests/peer/test_az.py"
