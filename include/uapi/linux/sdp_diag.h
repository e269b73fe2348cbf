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
 * @SDP_DIAG_MEMINFO:	__u32[], as INET_DIAG_SKMEMINFO
 * @SDP_DIAG_CONN:	struct sdp_diag_conn; of a socket that has a connection
 * @SDP_DIAG_DEVICE:	string, the RDMA device's name, and SDP_DIAG_DEVICE_PORT; of a socket
 *			whose connection has come so far
 * @SDP_DIAG_MODE:	__u8, the socket's SDP_MODE; asked for or not, as what follows
 * @SDP_DIAG_SHUTDOWN:	__u8, RCV_SHUTDOWN 1, SEND_SHUTDOWN 2
 * @SDP_DIAG_MARK:	__u32, SO_MARK; for CAP_NET_ADMIN
 * @SDP_DIAG_CGROUP_ID:	__u64; where the kernel has cgroups for sockets
 * @SDP_DIAG_DEVICE_PORT: __u32, port of the device
 * @SDP_DIAG_PAD:	for alignment
 */
enum sdp_diag_attr {
	SDP_DIAG_UNSPEC,
	SDP_DIAG_MEMINFO,
	SDP_DIAG_CONN,
	SDP_DIAG_DEVICE,
	SDP_DIAG_MODE,
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

/**
 * struct sdp_diag_conn - the state of a connection, all taken at one moment
 * @tx_unsent:		bytes of the stream not posted yet
 * @tx_unacked:		bytes posted and not acknowledged
 * @tx_advertised:	bytes advertised to the peer and not read by it
 * @tx_adverts:		adverts the peer has of us
 * @tx_credits:		buffers the peer has for us
 * @tx_size:		bytes of payload those take
 * @tx_max_adverts:	adverts the peer takes at a time
 * @rx_queued:		bytes received and not read
 * @rx_advertised:	bytes the peer has advertised and nobody reads yet
 * @rx_adverts:		adverts we have of the peer
 * @rx_reads:		RDMA READs under way
 * @rx_granted:		buffers the peer knows of and hasn't used
 * @rx_posted:		buffers posted
 * @rx_size:		bytes of payload those take
 * @idle_ms:		ms since data was received, or since the connection was begun
 * @tx_mode:		flow control mode of what we send, 0 to 3 as on the wire
 * @rx_mode:		... of what the peer sends
 * @peer_caps:		capabilities of the peer, as in Hello
 * @pad:		0
 *
 * It may grow at its end.
 */
struct sdp_diag_conn {
	__u32	tx_unsent;
	__u32	tx_unacked;
	__u32	tx_advertised;
	__u32	tx_adverts;
	__u32	tx_credits;
	__u32	tx_size;
	__u32	tx_max_adverts;
	__u32	rx_queued;
	__u32	rx_advertised;
	__u32	rx_adverts;
	__u32	rx_reads;
	__u32	rx_granted;
	__u32	rx_posted;
	__u32	rx_size;
	__u32	idle_ms;
	__u8	tx_mode;
	__u8	rx_mode;
	__u8	peer_caps;
	__u8	pad;
};

#endif /* _UAPI_LINUX_SDP_DIAG_H */
