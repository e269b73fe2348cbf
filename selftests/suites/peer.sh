# SPDX-License-Identifier: GPL-2.0
# sdp.ko against hostile peers (malformed Hello, HelloAck and messages) and against
# one that does as OFED did, both played by sdp_peer.ko.
# topology: one
# time: 240
# needs: python3
# allow: rxe0: qp#[0-9]+ make_send_cqe
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load && peer_load || exit
rm -rf "$TMP"
exec python3 -B "$LAB_TREE/selftests/peer/test_sdp.py"
