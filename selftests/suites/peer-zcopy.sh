# SPDX-License-Identifier: GPL-2.0
# Zero copy: sdp.ko's adverts and those of its peers, against peers that are hostile, as
# OFED was, or take several at a time, all played by sdp_peer.ko.
# topology: one
# time: 180
# needs: python3
# allow: rxe0: qp#[0-9]+ (make_send_cqe|moved to error state)
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load && peer_load || exit
# send() is to wait
sysctl -qw net.sdp.az_thresh=0
rm -rf "$TMP"
exec python3 -B "$LAB_TREE/selftests/peer/test_zcopy.py"
