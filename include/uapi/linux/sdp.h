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
 * SDP_ZEROCOPY		int: as SO_ZEROCOPY, which kernels before 6.4 refuse here: MSG_ZEROCOPY is heeded
 * SDP_MODE		int: SDP_AUTO, or one way of moving data for all there is, for tests
 * SDP_AZ_THRESH	int, bytes: send() of at least so many returns at once, and the memory keeps
 *			what it contains until the peer has read it, whatever the program writes there
 *			(AZ-SDP). 0: never; -1: as net.sdp.az_thresh says; else 4096 to 1048576.
 * SDP_POLICY		int: what the socket is to be, SDP's, TCP's, or whichever of them the peer
 *			has; -1: as net.sdp.policy says. Before connect() and listen(); a socket
 *			that has become TCP's stays so.
 */
#define SDP_ZCOPY_THRESH	80
#define SDP_MODE		82
#define SDP_ZEROCOPY		83
#define SDP_POLICY		84
#define SDP_AZ_THRESH		86

/* Values of SDP_MODE */
#define SDP_AUTO	0	/* by size, and by what the peer does */
#define SDP_BCOPY	1	/* through buffers */
#define SDP_ZCOPY	2	/* from and to the program's memory, where send() may wait */
#define SDP_AZ		3	/* ... where it doesn't, as pages are tracked */

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
