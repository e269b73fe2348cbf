// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: where an SDP socket answers otherwise than a TCP socket, and why.
 */
#include "contract.h"

/* On all kernels, or on some only */
#define ALL(case, item, ours, reason)		{ case, item, ours, reason, NULL }
#define ON(kernel, case, item, ours, reason)	{ case, item, ours, reason, kernel }

/* The CM knows peer to peer connects, SDP doesn't: nobody would send HelloAck */
#define ONE_LISTENS	"a Hello is answered by who listens; SDP has no simultaneous open"

const struct deviation deviations[] = {
	ALL("time stamps beside*", "of sent data*", "0", "time stamps of sent data are not taken"),
	ALL("EFAULT", "send() of 8*", "8192", "bytes before the fault count"),
	ALL("EFAULT", "received*", "8192", "bytes before the fault count"),
	ALL("EFAULT", "writev(), second*", "3", "bytes before the fault count"),
	ALL("EFAULT", "received of it", "3", "bytes before the fault count"),
	ALL("EFAULT", "readv(), second*", "2", "bytes before the fault count"),
	ALL("EFAULT", "the rest", "3 cde", "bytes before the fault count"),
	ALL("EFAULT", "recv() of 40000*", "1", "bytes before the fault count"),
	ALL("connect to oneself", "connect*", "ECONNREFUSED", ONE_LISTENS),
	ALL("connect to oneself", "send()", "EPIPE", ONE_LISTENS),
	ALL("connect to oneself", "recv()", "ENOTCONN", ONE_LISTENS),
	ALL("woken by the end", "*: connect(AF_UNSPEC) here", "ECONNRESET",
	    "TCP has this before 6.9"),
	ALL("woken by the end", "*: connect(AF_UNSPEC) here", "IN ERR HUP",
	    "the connection ends before the socket is as new"),
	ALL("SOL_SOCKET", "SO_SNDBUF", "*", "net.sdp.wmem_default"),
	ALL("SOL_SOCKET", "SO_RCVBUF", "*", "net.sdp.rmem_default"),
	ALL("SOL_SOCKET", "SO_PROTOCOL", "*", "what the program asked for"),
	ALL("SOL_SOCKET", "SO_DOMAIN", "*", "what the program asked for"),
	ALL("IPPROTO_IP", "IP_OPTIONS", "*", "can't be set: no IP packet is the socket's own"),
	ALL("IPPROTO_IPV6", "IPV6_RTHDR", "*", "can't be set: no IP packet is the socket's own"),
	ALL("IPPROTO_IPV6", "IPV6_ADDRFORM", "*", "an SDP socket keeps its family"),
	ALL("options of a connection", "IP_MTU", "ENOTCONN*", "no IP route is the socket's own"),
	ALL("BPF", "into a BPF sockmap", "EOPNOTSUPP", "a sockmap is for TCP and UDP"),
	ALL("IPPROTO_TCP", "TCP_REPAIR", "*", "an SDP connection can't be moved"),
	ON("6.1.*", "SO_REUSEPORT", "*", "*", "the kernel has this for TCP only before 6.4"),
	ON("6.1.*", "*", "SO_REUSEPORT", "*", "the kernel has this for TCP only before 6.4"),
	ON("6.1.*", "*", "SO_ZEROCOPY", "*", "the kernel has this for TCP only before 6.4; SDP_ZEROCOPY"),
	ON("6.1.*", "IPPROTO_IPV6", "*", "*ENOPROTOOPT*",
	   "the kernel has most of these for family 10 only"),
	ON("6.1.*", "SO_PEEK_OFF", "*", "*", "TCP has this from 6.9 on"),
	ON("6.1.*", "SOL_SOCKET", "SO_PEEK_OFF", "*", "TCP has this from 6.9 on"),
	ON("6.1.*", "IPPROTO_TCP", "TCP_IS_MPTCP", "*", "TCP has this from 6.6 on"),
	{ }
};
