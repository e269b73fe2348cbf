// SPDX-License-Identifier: GPL-2.0
/*
 * sock_diag: what there is to know of each socket, and resetting its
 * connection. What is asked and answered is told in uapi/linux/sdp_diag.h.
 *
 * A dump goes from cookie to cookie (sdp_sock_at()), so it can rest between
 * any two sockets. It holds no lock but to find the next one, and that one's own
 * to look at it.
 *
 * A socket that TCP has taken over is told of until it is closed: @at is the TCP
 * socket then, with whatever of it is TCP's by now, and the SDP socket otherwise.
 */
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/sdp_diag.h>
#include <net/netlink.h>
#include <net/tcp.h>

#include "companion.h"
#include "device.h"

/**
 * struct sdp_diag_ctx - where a dump is, netlink_callback.ctx
 * @next:	lowest cookie of those not told of yet
 */
struct sdp_diag_ctx {
	u64			next;
};

/* The device of a socket's connection, an empty name if there is none yet */
static u32 sdp_diag_device(struct sock *sk, char *name)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	const struct sdp_dev *dev = NULL;
	u32 port_num = 0;

	*name = 0;
	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		dev = READ_ONCE(sdp->conn->dev);
	if (dev) {
		/* Not dev_name(), which is freed when the device is renamed */
		strscpy(name, dev->ib->name, IB_DEVICE_NAME_MAX);
		port_num = sdp->conn->port_num;
	}
	spin_unlock_bh(&sdp->lock);
	return port_num;
}

static bool sdp_diag_timer_at(struct inet_diag_msg *msg, const struct timer_list *timer, u8 what)
{
	long left = READ_ONCE(timer->expires) - jiffies;

	if (!timer_pending(timer))
		return false;
	msg->idiag_timer = what;
	msg->idiag_expires = jiffies_to_msecs(max(left, 0L));
	return true;
}

static void sdp_diag_timer(struct sock *sk, struct inet_diag_msg *msg)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	if (!sdp_diag_timer_at(msg, &sdp->fin_timer, SDP_DIAG_TIMER_FIN) && conn &&
	    !sdp_diag_timer_at(msg, &conn->cm_work.timer, SDP_DIAG_TIMER_CONNECT))
		sdp_diag_timer_at(msg, &conn->rx.ahead_timer, SDP_DIAG_TIMER_AHEAD);
	spin_unlock_bh(&sdp->lock);
}

static void sdp_diag_addr(struct sock *sk, struct inet_diag_sockid *id)
{
	const struct inet_sock *inet = inet_sk(sk);

	id->idiag_sport = inet->inet_sport;
	id->idiag_dport = inet->inet_dport;
	id->idiag_if = READ_ONCE(sk->sk_bound_dev_if);
	sock_diag_save_cookie(sk, id->idiag_cookie);
	if (sdp_is_v6(sk)) {
		memcpy(id->idiag_src, &sk->sk_v6_rcv_saddr, sizeof(id->idiag_src));
		memcpy(id->idiag_dst, &sk->sk_v6_daddr, sizeof(id->idiag_dst));
	} else {
		id->idiag_src[0] = inet->inet_rcv_saddr;
		id->idiag_dst[0] = inet->inet_daddr;
	}
}

static void sdp_diag_tcp_queues(const struct sock *at, struct inet_diag_msg *msg)
{
	const struct tcp_sock *tp = tcp_sk(at);
	int unread = READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq);

	msg->idiag_rqueue = max(unread, 0);
	msg->idiag_wqueue = READ_ONCE(tp->write_seq) - tp->snd_una;
}

static void sdp_diag_msg(struct sock *sk, struct sock *at, struct inet_diag_msg *msg,
			 const struct sdp_info *info, struct user_namespace *user_ns)
{
	memset(msg, 0, sizeof(*msg));
	msg->idiag_family = sk->sk_family;
	msg->idiag_state = info->sdpi_state;
	msg->idiag_uid = from_kuid_munged(user_ns, sock_i_uid(at));
	msg->idiag_inode = sock_i_ino(at);
	sdp_diag_addr(at, &msg->id);
	if (msg->idiag_state == TCP_LISTEN) {
		msg->idiag_rqueue = READ_ONCE(at->sk_ack_backlog);
		msg->idiag_wqueue = READ_ONCE(at->sk_max_ack_backlog);
		return;
	}
	if (at != sk) {
		sdp_diag_tcp_queues(at, msg);
		return;
	}
	msg->idiag_rqueue = info->sdpi_unread + info->sdpi_rcv_advertised;
	msg->idiag_wqueue = info->sdpi_unsent + info->sdpi_unacked + info->sdpi_snd_advertised;
	sdp_diag_timer(sk, msg);
}

static bool sdp_diag_wants(const struct inet_diag_req_v2 *req, enum sdp_diag_attr attr)
{
	return req->idiag_ext & (1 << (attr - 1));
}

static int sdp_diag_put_cgroup(struct sock *sk, struct sk_buff *skb)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	return nla_put_u64_64bit(skb, SDP_DIAG_CGROUP_ID,
				 cgroup_id(sock_cgroup_ptr(&sk->sk_cgrp_data)), SDP_DIAG_PAD);
#else
	return 0;
#endif
}

static int sdp_diag_put_device(struct sock *sk, struct sk_buff *skb)
{
	char name[IB_DEVICE_NAME_MAX];
	u32 port_num = sdp_diag_device(sk, name);

	if (!*name)
		return 0;
	return nla_put_string(skb, SDP_DIAG_DEVICE, name) ?:
	       nla_put_u32(skb, SDP_DIAG_DEVICE_PORT, port_num);
}

static int sdp_diag_put_attrs(struct sock *sk, struct sock *at, struct sk_buff *skb,
			      const struct inet_diag_req_v2 *req, const struct sdp_info *info,
			      bool net_admin)
{
	if (nla_put_u8(skb, SDP_DIAG_SHUTDOWN, READ_ONCE(at->sk_shutdown)) ||
	    (net_admin && nla_put_u32(skb, SDP_DIAG_MARK, READ_ONCE(at->sk_mark))) ||
	    sdp_diag_put_cgroup(at, skb))
		return -EMSGSIZE;
	if (sdp_diag_wants(req, SDP_DIAG_MEMINFO) &&
	    sock_diag_put_meminfo(at, skb, SDP_DIAG_MEMINFO))
		return -EMSGSIZE;
	if (sdp_diag_wants(req, SDP_DIAG_INFO) &&
	    nla_put_64bit(skb, SDP_DIAG_INFO, sizeof(*info), info, SDP_DIAG_PAD))
		return -EMSGSIZE;
	if (sdp_diag_wants(req, SDP_DIAG_DEVICE) && sdp_diag_put_device(sk, skb))
		return -EMSGSIZE;
	return 0;
}

/* Room that one socket takes at most */
static size_t sdp_diag_size(void)
{
	return NLMSG_ALIGN(sizeof(struct inet_diag_msg)) +
	       nla_total_size(SK_MEMINFO_VARS * sizeof(u32)) +
	       nla_total_size_64bit(sizeof(struct sdp_info)) +
	       nla_total_size(IB_DEVICE_NAME_MAX) +
	       nla_total_size(sizeof(u8)) +
	       2 * nla_total_size(sizeof(u32)) +
	       nla_total_size_64bit(sizeof(u64));
}

/* Tells @skb of @sk; @in is the request @req is in. Process context. */
static int sdp_diag_fill(struct sock *sk, struct sock *at, struct sk_buff *skb, struct sk_buff *in,
			 const struct nlmsghdr *nlh, const struct inet_diag_req_v2 *req, int flags)
{
	struct sdp_info info = { };
	struct nlmsghdr *out;

	out = nlmsg_put(skb, NETLINK_CB(in).portid, nlh->nlmsg_seq, nlh->nlmsg_type,
			sizeof(struct inet_diag_msg), flags);
	if (!out)
		return -EMSGSIZE;
	sdp_info_fill(sk, at, &info);
	sdp_diag_msg(sk, at, nlmsg_data(out), &info, sk_user_ns(NETLINK_CB(in).sk));
	if (sdp_diag_put_attrs(sk, at, skb, req, &info, netlink_net_capable(in, CAP_NET_ADMIN))) {
		nlmsg_cancel(skb, out);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, out);
	return 0;
}

/* The first socket from @cookie on, with a reference, or NULL */
static struct sock *sdp_diag_next(struct net *net, u64 cookie)
{
	struct sdp_net *sn = sdp_pernet(net);
	struct sock *sk;

	spin_lock_bh(&sn->lock);
	for (;;) {
		sk = sdp_sock_at(net, cookie);
		if (!sk || refcount_inc_not_zero(&sk->sk_refcnt))
			break;
		cookie = atomic64_read(&sk->sk_cookie) + 1;
	}
	spin_unlock_bh(&sn->lock);
	return sk;
}

static bool sdp_diag_family(const struct sock *sk, const struct inet_diag_req_v2 *req)
{
	return sdp_is_v6(sk) == (req->sdiag_family == AF_INET6_SDP);
}

static bool sdp_diag_match(const struct sock *sk, const struct sock *at,
			   const struct inet_diag_req_v2 *req)
{
	const struct inet_sock *inet = inet_sk(at);

	return sdp_diag_family(sk, req) && (req->idiag_states & (1 << READ_ONCE(at->sk_state))) &&
	       (!req->id.idiag_sport || req->id.idiag_sport == inet->inet_sport) &&
	       (!req->id.idiag_dport || req->id.idiag_dport == inet->inet_dport);
}

static int sdp_diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct inet_diag_req_v2 *req = nlmsg_data(cb->nlh);
	struct sdp_diag_ctx *ctx = (struct sdp_diag_ctx *)cb->ctx;
	struct sock *sk, *at;
	int err = 0;

	BUILD_BUG_ON(sizeof(*ctx) > sizeof(cb->ctx));
	while (!err && (sk = sdp_diag_next(sock_net(skb->sk), ctx->next))) {
		at = sdp_transport(sk);
		if (at && sdp_diag_match(sk, at, req))
			err = sdp_diag_fill(sk, at, skb, cb->skb, cb->nlh, req, NLM_F_MULTI);
		if (!err)
			ctx->next = atomic64_read(&sk->sk_cookie) + 1;
		if (at)
			sock_put(at);
		sock_put(sk);
		cond_resched();
	}
	return skb->len;
}

/*
 * The socket a request names, with a reference, or an ERR_PTR; the same of *@at, which has none
 * after an error
 */
static struct sock *sdp_diag_find(struct net *net, const struct inet_diag_req_v2 *req,
				  struct sock **at)
{
	const u32 *half = req->id.idiag_cookie;
	u64 cookie = half[0] | (u64)half[1] << 32;
	struct sock *sk;

	if (!cookie || (half[0] == INET_DIAG_NOCOOKIE && half[1] == INET_DIAG_NOCOOKIE))
		return ERR_PTR(-EINVAL);
	sk = sdp_diag_next(net, cookie);
	if (sk && atomic64_read(&sk->sk_cookie) == cookie && sdp_diag_family(sk, req)) {
		*at = sdp_transport(sk);
		if (*at)
			return sk;
	}
	if (sk)
		sock_put(sk);
	return ERR_PTR(-ENOENT);
}

static int sdp_diag_get_one(struct sk_buff *in, const struct nlmsghdr *nlh,
			    const struct inet_diag_req_v2 *req)
{
	struct net *net = sock_net(in->sk);
	struct sock *at, *sk = sdp_diag_find(net, req, &at);
	struct sk_buff *out;
	int err = -ENOMEM;

	if (IS_ERR(sk))
		return PTR_ERR(sk);
	out = nlmsg_new(sdp_diag_size(), GFP_KERNEL);
	if (out)
		err = sdp_diag_fill(sk, at, out, in, nlh, req, 0);
	sock_put(at);
	sock_put(sk);
	if (!err)
		return nlmsg_unicast(net->diag_nlsk, out, NETLINK_CB(in).portid);
	kfree_skb(out);
	return err;
}

/* The request in a message, NULL if that is none of ours */
static const struct inet_diag_req_v2 *sdp_diag_req(const struct nlmsghdr *nlh)
{
	const struct inet_diag_req_v2 *req = nlmsg_data(nlh);

	if (nlmsg_len(nlh) < (int)sizeof(*req) || req->sdiag_protocol)
		return NULL;
	return req;
}

static int sdp_diag_get(struct sk_buff *in, struct nlmsghdr *nlh)
{
	const struct inet_diag_req_v2 *req = sdp_diag_req(nlh);
	struct netlink_dump_control c = {
		.dump		= sdp_diag_dump,
		.min_dump_alloc	= nlmsg_total_size(sdp_diag_size()),
	};

	if (!req)
		return -EINVAL;
	if (nlh->nlmsg_flags & NLM_F_DUMP)
		return netlink_dump_start(sock_net(in->sk)->diag_nlsk, in, nlh, &c);
	return sdp_diag_get_one(in, nlh, req);
}

static int sdp_diag_destroy(struct sk_buff *in, struct nlmsghdr *nlh)
{
	const struct inet_diag_req_v2 *req = sdp_diag_req(nlh);
	struct sock *sk, *at;
	int err;

	if (!req)
		return -EINVAL;
	sk = sdp_diag_find(sock_net(in->sk), req, &at);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	/* Looks for CAP_NET_ADMIN, then calls sdp_destroy(), or TCP's */
	err = sock_diag_destroy(at, ECONNABORTED);
	sock_put(at);
	sock_put(sk);
	return err;
}

static const struct sock_diag_handler sdp_diag_handlers[] = {
	{
		.owner		= THIS_MODULE,
		.family		= AF_INET_SDP,
		.dump		= sdp_diag_get,
		.destroy	= sdp_diag_destroy,
	},
	{
		.owner		= THIS_MODULE,
		.family		= AF_INET6_SDP,
		.dump		= sdp_diag_get,
		.destroy	= sdp_diag_destroy,
	},
};

/**
 * sdp_diag_init() - answer sock_diag's questions from now on
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_diag_init(void)
{
	int err;

	err = sock_diag_register(&sdp_diag_handlers[0]);
	if (err)
		return err;
	err = sock_diag_register(&sdp_diag_handlers[1]);
	if (err)
		sock_diag_unregister(&sdp_diag_handlers[0]);
	return err;
}

/**
 * sdp_diag_exit() - undo sdp_diag_init()
 *
 * Context: process.
 */
void sdp_diag_exit(void)
{
	sock_diag_unregister(&sdp_diag_handlers[1]);
	sock_diag_unregister(&sdp_diag_handlers[0]);
}
