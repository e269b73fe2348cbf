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
# 6.1's CM has once waited for most of a minute for a message of an id that was idle. When it does
# so again, here is what went over QP1.
trace=/sys/kernel/tracing
echo 1 | tee $trace/events/ib_mad/enable >$trace/events/ib_cma/enable
python3 -B "$LAB_TREE/selftests/peer/test_sdp.py"
rc=$?
echo 0 | tee $trace/events/ib_mad/enable >$trace/events/ib_cma/enable
if dmesg | grep -q cm_destroy_id_wait_timeout; then
	cat $trace/trace >/run/lab/peer.trace
	echo "# peer.trace has what the CM sent and received"
fi
# The plan has been told
trap - EXIT
exit $rc
