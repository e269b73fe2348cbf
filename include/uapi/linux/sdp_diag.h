/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sockets Direct Protocol: sockets one by one, over NETLINK_SOCK_DIAG.
 *
 * Request: SOCK_DIAG_BY_FAMILY or SOCK_DESTROY with a struct inet_diag_req_v2 in
 * which
 *
 *	sdiag_family	AF_INET_SDP: IPv4 sockets; AF_INET6_SDP: IPv6 sockets. Those
 *			of AF_INET and AF_INET6 with IPPROTO_SDP are among them.
 *	sdiag_protocol	0
 *	idiag_ext	attributes wanted, bits 1 << (SDP_DIAG_* - 1)
 *	idiag_states	with NLM_F_DUMP: states wanted, bits 1 << TCP_*
 *	id.idiag_sport	with NLM_F_DUMP: sockets on this port only, unless 0
 *	id.idiag_dport	... connected to this port only, unless 0
 *	id.idiag_cookie	else: which socket, SO_COOKIE's value with its lower half first
 *
 * Reply, one for each socket: SOCK_DIAG_BY_FAMILY with a struct inet_diag_msg,
 * then attributes. In it
 *
 *	idiag_family	what the program asked for: AF_INET_SDP, AF_INET ...
 *	idiag_state	TCP_*
 *	idiag_timer	enum sdp_diag_timer
 *	idiag_retrans	0
 *	idiag_expires	ms until it acts
 *	idiag_rqueue	bytes not read yet, here or advertised by the peer;
 *			of a listener: connections to accept
 *	idiag_wqueue	bytes not acknowledged yet; of a listener: the backlog
 *
 * A socket that TCP has taken over is told of until it is closed, with TCP's state,
 * queues and addresses; its SDP_DIAG_INFO says so and why.
 *
 * In a dump each socket that stays from its beginning to its end is told of
 * exactly once. SOCK_DESTROY needs CAP_NET_ADMIN in the network namespace: the
 * connection is reset, the program gets ECONNABORTED, a listener stops.
 *
 * ENOENT: there is no such socket, or, of a dump, the module isn't loaded;
 * EINVAL: the request is malformed, or lacks the cookie.
 */
#ifndef _UAPI_LINUX_SDP_DIAG_H
#define _UAPI_LINUX_SDP_DIAG_H

#include <linux/types.h>

/**
 * enum sdp_diag_attr - attributes of a socket; unknown ones are to be skipped
 * @SDP_DIAG_UNSPEC:	none
 * @SDP_DIAG_MEMINFO:	__u32[], as INET_DIAG_SKMEMINFO
 * @SDP_DIAG_INFO:	struct sdp_info, as SDP_INFO; all of it is taken at one moment
 * @SDP_DIAG_DEVICE:	string, the RDMA device's name, and SDP_DIAG_DEVICE_PORT; of a socket
 *			whose connection has come so far
 * @SDP_DIAG_SHUTDOWN:	__u8, RCV_SHUTDOWN 1, SEND_SHUTDOWN 2; asked for or not, as what follows
 * @SDP_DIAG_MARK:	__u32, SO_MARK; for CAP_NET_ADMIN
 * @SDP_DIAG_CGROUP_ID:	__u64; where the kernel has cgroups for sockets
 * @SDP_DIAG_DEVICE_PORT: __u32, port of the device
 * @SDP_DIAG_PAD:	for alignment
 * @__SDP_DIAG_MAX:	number of these
 */
enum sdp_diag_attr {
	SDP_DIAG_UNSPEC,
	SDP_DIAG_MEMINFO,
	SDP_DIAG_INFO,
	SDP_DIAG_DEVICE,
	SDP_DIAG_SHUTDOWN,
	SDP_DIAG_MARK,
	SDP_DIAG_CGROUP_ID,
	SDP_DIAG_DEVICE_PORT,
	SDP_DIAG_PAD,
	__SDP_DIAG_MAX
};
#define SDP_DIAG_MAX	(__SDP_DIAG_MAX - 1)

/**
 * enum sdp_diag_timer - what is due next, inet_diag_msg.idiag_timer
 * @SDP_DIAG_TIMER_NONE:	nothing
 * @SDP_DIAG_TIMER_CONNECT:	a connection request is sent again
 * @SDP_DIAG_TIMER_FIN:		the peer's end of stream is waited for no longer
 * @SDP_DIAG_TIMER_AHEAD:	what the peer has advertised is read into buffers
 */
enum sdp_diag_timer {
	SDP_DIAG_TIMER_NONE,
	SDP_DIAG_TIMER_CONNECT,
	SDP_DIAG_TIMER_FIN,
	SDP_DIAG_TIMER_AHEAD,
};

#endif /* _UAPI_LINUX_SDP_DIAG_H */
