/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets as the kernel tells of them over sock_diag; see sock.c. */
#ifndef SDPSTAT_SOCK_H
#define SDPSTAT_SOCK_H

#include <linux/types.h>
#include <linux/inet_diag.h>
#include <linux/sdp.h>
#include <linux/sdp_diag.h>
#include <linux/sock_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter.h"

/**
 * struct sock_info - a socket
 * @msg:	addresses, state, queues, owner
 * @shutdown:	RCV_SHUTDOWN 1, SEND_SHUTDOWN 2
 * @device:	RDMA device, "" if there is none
 * @device_port: its port
 * @info:	the connection's state, and what has moved; fields an older sdp.ko lacks are 0
 * @mem:	memory, by SK_MEMINFO_*
 * @mark:	SO_MARK
 * @cgroup:	id of its cgroup
 * @has_info:	@info is valid
 * @has_mem:	@mem is
 * @has_mark:	@mark is
 * @has_cgroup:	@cgroup is
 */
struct sock_info {
	struct inet_diag_msg msg;
	uint8_t shutdown;
	char device[64];
	uint32_t device_port;
	struct sdp_info info;
	uint32_t mem[SK_MEMINFO_VARS];
	uint32_t mark;
	uint64_t cgroup;
	bool has_info, has_mem, has_mark, has_cgroup;
};

/**
 * struct sock_list - sockets, in the order of their cookies for each IP version
 * @n:		how many
 * @room:	how many @v has room for
 * @v:		they
 */
struct sock_list {
	size_t n, room;
	struct sock_info *v;
};

/**
 * sock_get() - ask the kernel for sockets
 * @list:	where to put them, behind those there are
 * @family:	AF_INET_SDP or AF_INET6_SDP
 * @filter:	which
 * @ext:	attributes, bits 1 << (SDP_DIAG_* - 1)
 *
 * Ends the program with a message when the kernel can't be asked.
 */
void sock_get(struct sock_list *list, int family, const struct filter *filter, uint8_t ext);

/**
 * sock_kill() - have the kernel reset a socket's connection
 * @s:	socket
 *
 * Return: 0 or an errno: ENOENT when it is over already, EPERM.
 */
int sock_kill(const struct sock_info *s);

bool sock_is_v6(const struct sock_info *s);
uint64_t sock_cookie(const struct sock_info *s);

#endif
