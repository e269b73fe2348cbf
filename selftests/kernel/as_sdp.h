/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included by force into selftests of the kernel's own: their TCP sockets are
 * SDP sockets then.
 */
#ifndef AS_SDP_H
#define AS_SDP_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <linux/sdp.h>

static inline int as_sdp_socket(int domain, int type, int protocol)
{
	if ((type & 0xf) == SOCK_STREAM && (domain == AF_INET || domain == AF_INET6))
		protocol = IPPROTO_SDP;
	return socket(domain, type, protocol);
}

/* SO_ZEROCOPY is refused by kernels before 6.4 for what they don't know */
static inline int as_sdp_setsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	if (level == SOL_SOCKET && name == SO_ZEROCOPY) {
		level = SOL_SDP;
		name = SDP_ZEROCOPY;
	}
	return setsockopt(fd, level, name, val, len);
}

#define socket		as_sdp_socket
#define setsockopt	as_sdp_setsockopt

#endif /* AS_SDP_H */
