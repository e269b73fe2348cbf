/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Sockets Direct Protocol: what programs see.
 *
 *	fd = socket(AF_INET_SDP, SOCK_STREAM, 0);
 * or	fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SDP);
 *
 * Addresses are ordinary sockaddr_in and sockaddr_in6. The family field may
 * also be AF_INET_SDP or AF_INET6_SDP in bind() and connect(); getsockname()
 * and getpeername() always return AF_INET or AF_INET6.
 */
#ifndef _UAPI_LINUX_SDP_H
#define _UAPI_LINUX_SDP_H

#include <linux/types.h>

/* Address families, the numbers OFED's SDP has always had */
#define AF_INET_SDP	27
#define AF_INET6_SDP	28
#define PF_INET_SDP	AF_INET_SDP
#define PF_INET6_SDP	AF_INET6_SDP

/* Protocol number of the second entry, with AF_INET and AF_INET6 */
#define IPPROTO_SDP	257

/* Level of the options that follow; SDP_ZCOPY_THRESH is taken at SOL_TCP as well, as OFED had it */
#define SOL_SDP		1025

/*
 * SDP_ZCOPY_THRESH	int, bytes: send() of at least so many waits until the peer has read
 *			them out of the program's memory, instead of copying them. 0: never;
 *			-1: as net.sdp.zcopy_thresh says; else 4096 to 1048576.
 * SDP_ZEROCOPY		int: as SO_ZEROCOPY, which kernels before 6.4 refuse here: MSG_ZEROCOPY is
 *			heeded
 * SDP_MODE		int: SDP_AUTO, or one way of moving data for all there is, for tests
 * SDP_AZ_THRESH	int, bytes: send() of at least so many returns at once, and the memory keeps
 *			what it contains until the peer has read it, whatever the program writes
 *			there (AZ-SDP). 0: never; -1: as net.sdp.az_thresh says; else 4096 to
 *			1048576.
 * SDP_AZ_POLICY	int: what becomes of a program that writes to a region (memory from mmap()
 *			on a socket) while such a send() is under way: SDP_AZ_COW, it gets a copy;
 *			SDP_AZ_BLOCK, it waits, a second at most. -1: as net.sdp.az_policy says.
 *			Other memory is copied.
 * SDP_AZ_RECV		int: 1: recv() into a region may return before the bytes it counts are
 *			there; whoever touches them waits, and gets SIGBUS if the connection ends
 *			first. 0: not; -1: as net.sdp.az_recv says.
 * SDP_POLICY		int: what the socket is to be, SDP's, TCP's, or whichever of them the peer
 *			has; -1: as net.sdp.policy says. Before connect() and listen(); a socket
 *			that has become TCP's stays so.
 * SDP_INFO		struct sdp_info, to be read: as much of it as the program has room for
 */
#define SDP_ZCOPY_THRESH	80
#define SDP_MODE		82
#define SDP_ZEROCOPY		83
#define SDP_POLICY		84
#define SDP_INFO		85
#define SDP_AZ_THRESH		86
#define SDP_AZ_POLICY		87
#define SDP_AZ_RECV		88

/* Values of SDP_AZ_POLICY */
#define SDP_AZ_COW	0
#define SDP_AZ_BLOCK	1

/* Values of SDP_MODE */
#define SDP_AUTO	0	/* by size, and by what the peer does */
#define SDP_BCOPY	1	/* through buffers */
#define SDP_ZCOPY	2	/* from and to the program's memory, where send() may wait */
#define SDP_AZ		3	/* ... where it doesn't, as pages are tracked */
#define SDP_ZCOPY_W	4	/* as SDP_ZCOPY, and where recv() waits, the sender writes there */

/* Values of sdpi_transport */
#define SDP_INFO_SDP	0	/* SDP messages, by RDMA */
#define SDP_INFO_TCP	1	/* TCP in their place: see sdpi_fallback */

/* Values of sdpi_snd_flow and sdpi_rcv_flow, as on the wire: how data may be advertised */
#define SDP_FLOW_BUFFERED	0	/* not at all */
#define SDP_FLOW_COMBINED	1	/* by its sender, once at a time */
#define SDP_FLOW_PIPELINED	2	/* several times, and by its receiver */

/**
 * struct sdp_info - what SDP_INFO tells of a socket
 * @sdpi_transport:	SDP_INFO_SDP or SDP_INFO_TCP
 * @sdpi_fallback:	why it is TCP, SDP_FALLBACK_*
 * @sdpi_mode:		SDP_MODE
 * @sdpi_state:		TCP_ESTABLISHED and so on
 * @sdpi_snd_flow:	SDP_FLOW_* of what is sent
 * @sdpi_rcv_flow:	... of what is received
 * @sdpi_peer_caps:	capabilities of the peer's Hello: 1 takes Send with Invalidate, 2 has told
 *			MaxAdverts in 16 bits
 * @sdpi_reserved:	0
 * @sdpi_max_adverts:	adverts the peer may have outstanding with us
 * @sdpi_peer_max_adverts: ... we with the peer
 * @sdpi_snd_size:	payload of the largest message sent, bytes
 * @sdpi_rcv_size:	... received
 * @sdpi_snd_credits:	messages we may send now
 * @sdpi_rcv_credits:	... the peer may
 * @sdpi_rcv_posted:	buffers there are for those
 * @sdpi_zcopy_thresh:	smallest send() that isn't copied, bytes; 0 for none
 * @sdpi_zcopy_skip:	sends that will be copied all the same, as the peer had not read for long
 * @sdpi_unsent:	bytes queued, not sent nor advertised
 * @sdpi_unacked:	bytes sent, not acknowledged
 * @sdpi_snd_advertised: bytes of ours the peer may read and has not
 * @sdpi_unread:	bytes received, not read; of a listener, connections not accepted
 * @sdpi_rcv_advertised: bytes of the peer's nobody reads yet
 * @sdpi_src_adverts:	SrcAvails of ours outstanding
 * @sdpi_peer_src_adverts: ... of the peer's
 * @sdpi_rdma_reads:	RDMA READs under way
 * @sdpi_snd_bcopy:	bytes sent out of buffers. This and all that follow count from the
 *			making of the socket
 * @sdpi_snd_direct:	... sent as messages, out of the program's memory
 * @sdpi_snd_zcopy:	... the peer has read out of the program's memory
 * @sdpi_rcv_bcopy:	bytes received as messages
 * @sdpi_rcv_zcopy:	... read into the program's memory
 * @sdpi_rcv_ahead:	... read into buffers
 * @sdpi_snd_data:	messages with payload sent
 * @sdpi_rcv_data:	... received
 * @sdpi_src_avail_sent: SrcAvails sent
 * @sdpi_src_avail_rcvd: ... received
 * @sdpi_src_cancel_sent: SrcAvailCancels sent
 * @sdpi_src_cancel_rcvd: ... received
 * @sdpi_sendsm_sent:	SendSms sent: adverts refused
 * @sdpi_sendsm_rcvd:	... received
 * @sdpi_reads:		RDMA READs posted
 * @sdpi_snd_zcopy_w:	bytes written from the program's memory to that of the peer's
 * @sdpi_rcv_zcopy_w:	... by the peer
 * @sdpi_sink_avail_sent: SinkAvails sent
 * @sdpi_sink_avail_rcvd: ... received
 * @sdpi_sink_discarded: ... sent, and data came instead
 * @sdpi_sink_cancel_sent: SinkAvailCancels sent
 * @sdpi_sink_cancel_rcvd: ... received
 * @sdpi_writes:	RDMA WRITEs posted
 * @sdpi_sink_adverts:	SinkAvails of ours outstanding
 * @sdpi_peer_sink_adverts: ... of the peer's
 * @sdpi_az_sends:	stretches of memory sent while the program went on
 * @sdpi_az_bytes:	... bytes
 * @sdpi_az_protected:	... pages made copy-on-write for that
 * @sdpi_az_written:	... pages the program wrote to in flight
 * @sdpi_az_restored:	... pages made writable again
 * @sdpi_az_usec:	... time all of them were in flight, microseconds
 * @sdpi_az_rcv:	bytes read into regions that recv() didn't wait for
 *
 * New fields come at the end: a program looks at the length it was given.
 */
struct sdp_info {
	__u8	sdpi_transport;
	__u8	sdpi_fallback;
	__u8	sdpi_mode;
	__u8	sdpi_state;
	__u8	sdpi_snd_flow;
	__u8	sdpi_rcv_flow;
	__u8	sdpi_peer_caps;
	__u8	sdpi_reserved;
	__u16	sdpi_max_adverts;
	__u16	sdpi_peer_max_adverts;
	__u32	sdpi_snd_size;
	__u32	sdpi_rcv_size;
	__u32	sdpi_snd_credits;
	__u32	sdpi_rcv_credits;
	__u32	sdpi_rcv_posted;
	__u32	sdpi_zcopy_thresh;
	__u32	sdpi_zcopy_skip;
	__u32	sdpi_unsent;
	__u32	sdpi_unacked;
	__u32	sdpi_snd_advertised;
	__u32	sdpi_unread;
	__u32	sdpi_rcv_advertised;
	__u32	sdpi_src_adverts;
	__u32	sdpi_peer_src_adverts;
	__u32	sdpi_rdma_reads;
	__u64	sdpi_snd_bcopy;
	__u64	sdpi_snd_direct;
	__u64	sdpi_snd_zcopy;
	__u64	sdpi_rcv_bcopy;
	__u64	sdpi_rcv_zcopy;
	__u64	sdpi_rcv_ahead;
	__u64	sdpi_snd_data;
	__u64	sdpi_rcv_data;
	__u64	sdpi_src_avail_sent;
	__u64	sdpi_src_avail_rcvd;
	__u64	sdpi_src_cancel_sent;
	__u64	sdpi_src_cancel_rcvd;
	__u64	sdpi_sendsm_sent;
	__u64	sdpi_sendsm_rcvd;
	__u64	sdpi_reads;
	__u64	sdpi_snd_zcopy_w;
	__u64	sdpi_rcv_zcopy_w;
	__u64	sdpi_sink_avail_sent;
	__u64	sdpi_sink_avail_rcvd;
	__u64	sdpi_sink_discarded;
	__u64	sdpi_sink_cancel_sent;
	__u64	sdpi_sink_cancel_rcvd;
	__u64	sdpi_writes;
	__u32	sdpi_sink_adverts;
	__u32	sdpi_peer_sink_adverts;
	__u64	sdpi_az_sends;
	__u64	sdpi_az_bytes;
	__u64	sdpi_az_protected;
	__u64	sdpi_az_written;
	__u64	sdpi_az_restored;
	__u64	sdpi_az_usec;
	__u64	sdpi_az_rcv;
};

/* Values of SDP_POLICY */
#define SDP_POLICY_SDP	0	/* SDP or nothing */
#define SDP_POLICY_TCP	1	/* a TCP socket from bind(), connect() or listen() on */
#define SDP_POLICY_BOTH	2	/* listen by both; connect by SDP or else by TCP */

/* Why a socket is TCP's */
#define SDP_FALLBACK_NONE	0	/* it isn't */
#define SDP_FALLBACK_POLICY	1	/* SDP_POLICY_TCP */
#define SDP_FALLBACK_CACHED	2	/* an attempt had failed shortly before */
#define SDP_FALLBACK_NO_DEVICE	3	/* no RDMA device leads there */
#define SDP_FALLBACK_NO_ROUTE	4	/* the RDMA device knows no way there */
#define SDP_FALLBACK_REFUSED	5	/* no SDP listener there */
#define SDP_FALLBACK_TIMEOUT	6	/* no answer in time */
#define SDP_FALLBACK_BUSY	7	/* listener there, its queue full for too long */
#define SDP_FALLBACK_PROTOCOL	8	/* the answer couldn't be used */
#define SDP_FALLBACK_LOCAL	9	/* no memory here, or SDP can't have the port */

#endif /* _UAPI_LINUX_SDP_H */
