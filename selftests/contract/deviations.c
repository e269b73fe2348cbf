// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: where an SDP socket answers otherwise than a TCP socket, and why.
 */
#include "contract.h"

const struct deviation deviations[] = {
	{ "EFAULT", "send() of 8*", "8192", "bytes before the fault count" },
	{ "EFAULT", "received*", "8192", "bytes before the fault count" },
	{ "EFAULT", "writev(), second*", "3", "bytes before the fault count" },
	{ "EFAULT", "received of it", "3", "bytes before the fault count" },
	{ "EFAULT", "readv(), second*", "2", "bytes before the fault count" },
	{ "EFAULT", "the rest", "3 cde", "bytes before the fault count" },
	{ "EFAULT", "recv() of 40000*", "1", "bytes before the fault count" },
	{ "connect to oneself", "connect*", "ECONNREFUSED", "one has to listen" },
	{ "connect to oneself", "send()", "EPIPE", "one has to listen" },
	{ "connect to oneself", "recv()", "ENOTCONN", "one has to listen" },
	{ "woken by the end", "*: connect(AF_UNSPEC) here", "ECONNRESET",
	  "TCP has this before 6.9" },
	{ "woken by the end", "*: connect(AF_UNSPEC) here", "IN ERR HUP",
	  "the connection ends before the socket is as new" },
	{ "other calls", "mmap()", "ENODEV", "no TCP_ZEROCOPY_RECEIVE" },
	{ "SOL_SOCKET", "SO_SNDBUF", "*", "net.sdp.wmem_default" },
	{ "SOL_SOCKET", "SO_RCVBUF", "*", "net.sdp.rmem_default" },
	{ "SOL_SOCKET", "SO_PROTOCOL", "*", "what the program asked for" },
	{ "SOL_SOCKET", "SO_DOMAIN", "*", "what the program asked for" },
	{ "IPPROTO_IP", "IP_OPTIONS", "*", "can't be set: no IP packet is the socket's own" },
	{ "IPPROTO_IPV6", "IPV6_RTHDR", "*", "can't be set: no IP packet is the socket's own" },
	{ "IPPROTO_IPV6", "IPV6_ADDRFORM", "*", "an SDP socket keeps its family" },
	{ "options of a connection", "IP_MTU", "ENOTCONN*", "no IP route is the socket's own" },
	{ "BPF", "into a BPF sockmap", "EOPNOTSUPP", "a sockmap is for TCP and UDP" },
	{ "IPPROTO_TCP", "TCP_REPAIR", "*", "an SDP connection can't be moved" },
	{ }
};
