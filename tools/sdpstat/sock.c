// SPDX-License-Identifier: GPL-2.0
/* sock_diag: asking the kernel for sockets, and for their end. */
#include <err.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sock.h"

/* A dump comes in pieces of up to 32 KiB when there is room for them */
static char buf[64 << 10];

/**
 * struct dump - a dump under way
 * @list:	what has come so far
 * @filter:	what is wanted
 */
struct dump {
	struct sock_list *list;
	const struct filter *filter;
};

bool sock_is_v6(const struct sock_info *s)
{
	return s->msg.idiag_family == AF_INET6_SDP || s->msg.idiag_family == AF_INET6;
}

uint64_t sock_cookie(const struct sock_info *s)
{
	return s->msg.id.idiag_cookie[0] | (uint64_t)s->msg.id.idiag_cookie[1] << 32;
}

static struct mnl_socket *diag_open(void)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_SOCK_DIAG);

	if (!nl)
		err(EXIT_FAILURE, "can't ask the kernel for sockets (NETLINK_SOCK_DIAG)");
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		err(EXIT_FAILURE, "bind of a netlink socket");
	return nl;
}

static struct inet_diag_req_v2 *request(struct nlmsghdr **nlh, uint16_t type, uint16_t flags,
					int family)
{
	static unsigned int seq;
	struct inet_diag_req_v2 *req;

	*nlh = mnl_nlmsg_put_header(buf);
	(*nlh)->nlmsg_type = type;
	(*nlh)->nlmsg_flags = NLM_F_REQUEST | flags;
	(*nlh)->nlmsg_seq = ++seq;
	req = mnl_nlmsg_put_extra_header(*nlh, sizeof(*req));
	req->sdiag_family = family;
	return req;
}

static void copy_attr(void *to, size_t room, const struct nlattr *attr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	memcpy(to, mnl_attr_get_payload(attr), len < room ? len : room);
}

static int parse_attr(const struct nlattr *attr, void *data)
{
	struct sock_info *s = data;

	switch (mnl_attr_get_type(attr)) {
	case SDP_DIAG_SHUTDOWN:
		copy_attr(&s->shutdown, sizeof(s->shutdown), attr);
		break;
	case SDP_DIAG_MARK:
		copy_attr(&s->mark, sizeof(s->mark), attr);
		s->has_mark = true;
		break;
	case SDP_DIAG_CGROUP_ID:
		copy_attr(&s->cgroup, sizeof(s->cgroup), attr);
		s->has_cgroup = true;
		break;
	case SDP_DIAG_MEMINFO:
		copy_attr(s->mem, sizeof(s->mem), attr);
		s->has_mem = true;
		break;
	case SDP_DIAG_INFO:
		copy_attr(&s->info, sizeof(s->info), attr);
		s->has_info = true;
		break;
	case SDP_DIAG_DEVICE:
		copy_attr(s->device, sizeof(s->device) - 1, attr);
		break;
	case SDP_DIAG_DEVICE_PORT:
		copy_attr(&s->device_port, sizeof(s->device_port), attr);
		break;
	}
	return MNL_CB_OK;
}

static struct filter_end end_of(const struct sock_info *s, const __be32 *addr, __be16 port)
{
	struct filter_end end = { .port = ntohs(port) };

	if (sock_is_v6(s)) {
		memcpy(&end.addr, addr, sizeof(end.addr));
	} else {
		end.addr.s6_addr[10] = 0xff;
		end.addr.s6_addr[11] = 0xff;
		memcpy(end.addr.s6_addr + 12, addr, 4);
	}
	return end;
}

static bool wanted(const struct filter *filter, const struct sock_info *s)
{
	const struct inet_diag_sockid *id = &s->msg.id;
	struct filter_sock fs = {
		.local = end_of(s, id->idiag_src, id->idiag_sport),
		.peer = end_of(s, id->idiag_dst, id->idiag_dport),
		.device = s->device,
	};

	return filter_match(filter, &fs);
}

static void append(struct sock_list *list, const struct sock_info *s)
{
	if (list->n == list->room) {
		list->room = list->room * 2 ?: 64;
		list->v = realloc(list->v, list->room * sizeof(*list->v));
		if (!list->v)
			err(EXIT_FAILURE, "%zu sockets", list->n);
	}
	list->v[list->n++] = *s;
}

static int dump_msg(const struct nlmsghdr *nlh, void *data)
{
	struct dump *d = data;
	struct sock_info s = { .shutdown = 0 };

	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    mnl_nlmsg_get_payload_len(nlh) < sizeof(s.msg))
		return MNL_CB_OK;
	memcpy(&s.msg, mnl_nlmsg_get_payload(nlh), sizeof(s.msg));
	mnl_attr_parse(nlh, sizeof(s.msg), parse_attr, &s);
	if (wanted(d->filter, &s))
		append(d->list, &s);
	return MNL_CB_OK;
}

static void no_answer(void)
{
	if (errno == ENOENT && access("/proc/net/sdpstats", F_OK))
		errx(EXIT_FAILURE, "sdp.ko isn't loaded, so there are no SDP sockets: modprobe sdp");
	if (errno == ENOENT)
		errx(EXIT_FAILURE, "the sdp.ko loaded is too old to tell of its sockets (no sock_diag)");
	err(EXIT_FAILURE, "asking the kernel for SDP sockets");
}

void sock_get(struct sock_list *list, int family, const struct filter *filter, uint8_t ext)
{
	struct mnl_socket *nl = diag_open();
	struct dump d = { list, filter };
	struct inet_diag_req_v2 *req;
	struct nlmsghdr *nlh;
	unsigned int seq;
	ssize_t n;
	int rc = MNL_CB_OK;

	req = request(&nlh, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, family);
	req->idiag_states = filter->states;
	req->idiag_ext = ext;
	req->id.idiag_sport = htons(filter->sport);
	req->id.idiag_dport = htons(filter->dport);
	seq = nlh->nlmsg_seq;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		no_answer();
	while (rc > MNL_CB_STOP) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		rc = n < 0 ? -1 : mnl_cb_run(buf, n, seq, mnl_socket_get_portid(nl), dump_msg, &d);
	}
	if (rc < 0)
		no_answer();
	mnl_socket_close(nl);
}

int sock_kill(const struct sock_info *s)
{
	struct mnl_socket *nl = diag_open();
	struct inet_diag_req_v2 *req;
	struct nlmsghdr *nlh;
	unsigned int seq;
	ssize_t n;
	int rc = -1;

	req = request(&nlh, SOCK_DESTROY, NLM_F_ACK, sock_is_v6(s) ? AF_INET6_SDP : AF_INET_SDP);
	req->id = s->msg.id;
	seq = nlh->nlmsg_seq;
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) >= 0) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		rc = n < 0 ? -1 : mnl_cb_run(buf, n, seq, mnl_socket_get_portid(nl), NULL, NULL);
	}
	rc = rc < 0 ? errno : 0;
	mnl_socket_close(nl);
	return rc;
}
