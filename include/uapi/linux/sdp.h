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

#endif /* _UAPI_LINUX_SDP_H */
