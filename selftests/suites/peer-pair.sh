# SPDX-License-Identifier: GPL-2.0
# sdp.ko (node a) and a test peer on another host (node b) that lies about addresses.
# topology: pair
# time: 90
# needs: python3
# allow: rxe0: qp#[0-9]+ make_send_cqe
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

py=$LAB_TREE/selftests/peer/test_pair.py
if [ "$LAB_NODE" = a ]; then
	sdp_load || exit
	bg server python3 -B "$py" server "$LAB_IP"
	bg_ready server serving
	lab_barrier serving
	check "the server lives to its end" bg_wait server 80
	tail -n 5 "$TMP/server.log" | sed 's/^/# /'
else
	peer_load && lab_barrier serving || exit
	rm -rf "$TMP"
	exec python3 -B "$py" peer "$LAB_PEER" "$LAB_IP"
fi
