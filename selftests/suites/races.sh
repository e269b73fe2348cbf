# SPDX-License-Identifier: GPL-2.0
# What goes wrong once in a thousand runs, when others get in between: here the kernel's
# functions that this is about are made slow, and it would go wrong in the first ones.
# topology: one
# time: 300
# needs: python3 rdma
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# slowly CASE FUNCTIONS MILLISECONDS NAME: see races.py
slowly() {
	if ! insmod "$BUILD/$LAB_KV/sdp_delay.ko" function="$2" ms="$3" after="${after:-0}"; then
		note "sdp_delay.ko can't make $2 slow"; not_ok "$4"; return
	fi
	check "$4" within 200 python3 -B "$LAB_TREE/selftests/races.py" "$LAB_IP" "$1"
	rmmod sdp_delay
}
slowly timeouts sdp_mr_destroy 5 "timeouts while the connection ends, and memory regions go slowly"
slowly growing sdp_mr_map,sdp_sink_purge 150 "a file's source grows while the connection ends"
slowly old ib_dereg_mr_user 1000 "unused memory regions go while their user does"
slowly room sdp_send_has_room 300 "another sender takes the room one has been woken for"
slowly again sdp_put_port 200 "a socket whose connect() has failed listens at once"
slowly starting __rdma_create_kernel_id,rdma_resolve_addr 200 "a connection is ended while it is made"
dropped="an option is set while the TCP socket beside is dropped"
if modprobe -q tcp_bbr && grep -q '^tcp_bbr ' /proc/modules; then
	sysctl -qw net.ipv4.tcp_congestion_control=bbr
	slowly dropped tcp_setsockopt 200 "$dropped"
	sysctl -qw net.ipv4.tcp_congestion_control=cubic
else
	skip "$dropped" "no module tcp_bbr to count the users of"
fi
slowly lowat sdp_companion_graft 200 "an option waits for the lock while TCP takes the socket over"
slowly groups tcp_setsockopt 100 "a multicast group is asked for, and of another thread looked at"
slowly late cm_acquire_id 20 "a connection ends before the CM has heard that it was one"
slowly unplugged rdma_destroy_id,rdma_resolve_ip 150 "a device goes while connect() asks for the way"
peer_load
after=1 slowly vain sdp_conn_fail 50 "the CM's handler has ended a connection, and goes on"
rmmod sdp_peer
