// SPDX-License-Identifier: GPL-2.0
/*
 * The companion: a TCP socket beside an SDP socket whose policy is not just
 * SDP. Options go to both, bind() takes the port for both, a listener listens
 * by both.
 *
 * When TCP is to carry the connection, the companion's struct sock is put into
 * the struct socket in the place of ours (sdp_companion_graft()), and nothing
 * of ours is in its way from then on. The struct socket stays, and with it the
 * file, the descriptors, the inode, and the wait queue with all that wait in
 * it.
 *
 * What makes that safe while others use the socket:
 *
 *  - sock->sk is changed once, under lock_sock() of the SDP socket, and never
 *    back. Each of our operations either takes that lock and looks again
 *    (sdp_lock()), or finds out afterwards by @fallen, and goes over to TCP's.
 *  - sock->ops is changed after sock->sk. Who finds our operations may have
 *    either sock, and looks; who finds TCP's must have TCP's, which takes more
 *    than the order of writing where loads may be reordered (sdp_order_ops()).
 *  - Whoever still has the old struct sock, the core in setsockopt() for
 *    example, has a reference to the file as well: the old one is kept until
 *    the struct socket is released.
 *
 * For that release the operations of a socket that has been switched are a
 * copy of TCP's with some of ours. An upper layer protocol (TCP_ULP) or
 * IPV6_ADDRFORM would replace them, and is refused therefore. Sockets that
 * accept() returns have never been ours and have TCP's own.
 */
#include <linux/hash.h>
#include <net/tcp.h>

#include "companion.h"
#include "dest.h"
#include "fallback.h"

/* The copies, for IPv4 and IPv6, and what they are copies of; written once, then read only */
static struct proto_ops sdp_grafted_ops[2];
static const struct proto_ops *sdp_inet_ops[2];
static DEFINE_MUTEX(sdp_ops_mutex);

/* SDP sockets by their companion; looked at when a socket is made, switched or closed */
#define SDP_COMPANION_BITS	12
static struct hlist_head sdp_companions[1 << SDP_COMPANION_BITS];
static DEFINE_SPINLOCK(sdp_companions_lock);

/**
 * sdp_lock() - lock_sock() of the SDP socket a struct socket has
 * @sock:	socket
 *
 * Context: process.
 * Return: the SDP socket, or NULL with nothing locked when
 * the socket is TCP's by now.
 */
struct sock *sdp_lock(struct socket *sock)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (!sdp_is_sdp(sk))
		return NULL;
	lock_sock(sk);
	if (!sdp_sk(sk)->fallen)
		return sk;
	release_sock(sk);
	return NULL;
}

static struct hlist_head *sdp_companion_head(const struct sock *tsk)
{
	return &sdp_companions[hash_ptr(tsk, SDP_COMPANION_BITS)];
}

static void sdp_companion_hash(struct sdp_sock *sdp)
{
	spin_lock(&sdp_companions_lock);
	hlist_add_head(&sdp->tcp_node, sdp_companion_head(sdp->tcp_sk));
	spin_unlock(&sdp_companions_lock);
}

static void sdp_companion_unhash(struct sdp_sock *sdp)
{
	spin_lock(&sdp_companions_lock);
	hlist_del_init(&sdp->tcp_node);
	spin_unlock(&sdp_companions_lock);
}

/* The SDP socket a TCP socket has taken the place of, or NULL; it stays till that is released */
static struct sock *sdp_of_tcp(const struct sock *tsk)
{
	struct sdp_sock *sdp;

	spin_lock(&sdp_companions_lock);
	hlist_for_each_entry(sdp, sdp_companion_head(tsk), tcp_node)
		if (sdp->tcp_sk == tsk)
			break;
	spin_unlock(&sdp_companions_lock);
	return (struct sock *)sdp;
}

/**
 * sdp_transport() - the socket that has the connection, or would have it
 * @sk:	SDP socket, perhaps one TCP has taken the place of
 *
 * Context: process.
 * Return: @sk or the TCP socket, with a reference; NULL when
 * that is being closed.
 */
struct sock *sdp_transport(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sock *at = sk;

	spin_lock(&sdp_companions_lock);
	/* Pairs with the release in sdp_companion_graft(): the TCP socket has all that was ours */
	if (smp_load_acquire(&sdp->fallen))
		at = hlist_unhashed(&sdp->tcp_node) ? NULL : sdp->tcp_sk;
	if (at)
		sock_hold(at);
	spin_unlock(&sdp_companions_lock);
	return at;
}

/* ---- what a switched socket has of its own ---- */

static int sdp_tcp_release(struct socket *sock)
{
	struct sock *tsk = sock->sk, *sk;
	int err;

	/* An accept() that has failed leaves a struct socket without a socket */
	if (!tsk)
		return 0;
	sk = sdp_of_tcp(tsk);
	if (sk) {
		/* A work that makes the switch may not be through with the struct socket */
		lock_sock(sk);
		release_sock(sk);
		/* Never connected: not one byte, nor a SYN, has been acknowledged */
		if (tsk->sk_state == TCP_CLOSE && !tcp_sk(tsk)->bytes_acked)
			sdp_dest_forget(sk);
		sdp_companion_unhash(sdp_sk(sk));
	}
	err = sdp_inet_ops[sdp_is_v6(tsk)]->release(sock);
	if (sk) {
		sdp_set_state(sk, TCP_CLOSE);
		sock_orphan(sk);
		sock_put(sk);
	}
	return err;
}

static int sdp_tcp_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sock *tsk = sock->sk, *sk = sdp_of_tcp(tsk);
	union sdp_addr addr;

	if (sk) {
		int err = sdp_canonical_addr(sk, uaddr, len, &addr, &len);

		if (err)
			return err;
		uaddr = &addr.sa;
	}
	return sdp_inet_ops[sdp_is_v6(tsk)]->bind(sock, uaddr, len);
}

static int sdp_tcp_connect(struct socket *sock, struct sockaddr *uaddr, int len, int flags)
{
	struct sock *tsk = sock->sk, *sk = sdp_of_tcp(tsk);
	union sdp_addr addr;

	if (sk && len >= (int)sizeof(uaddr->sa_family)) {
		int err = sdp_canonical_addr(sk, uaddr, len, &addr, &len);

		if (err)
			return err;
		uaddr = &addr.sa;
	}
	return sdp_inet_ops[sdp_is_v6(tsk)]->connect(sock, uaddr, len, flags);
}

/* A socket from accept() is TCP's own; kernel_accept() gives it the listener's operations later */
static void sdp_tcp_own_ops(struct socket *sock)
{
	const struct proto_ops *ops = sdp_inet_ops[sdp_is_v6(sock->sk)];

	if (!sock->ops)
		return;
	__module_get(ops->owner);
	module_put(sock->ops->owner);	/* not the last: the listener has one */
	sock->ops = ops;
}

static int sdp_tcp_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	int err = sdp_inet_ops[sdp_is_v6(sock->sk)]->accept(sock, newsock, SDP_ACCEPT_PASS);

	if (!err)
		sdp_tcp_own_ops(newsock);
	return err;
}

/**
 * sdp_companion_refuses() - an option that would take the operations from a TCP socket?
 * @level:	its level
 * @optname:	option
 *
 * Context: any.
 * Return: true if so.
 */
bool sdp_companion_refuses(int level, int optname)
{
	return (level == SOL_TCP && optname == TCP_ULP) ||
	       (level == SOL_IPV6 && optname == IPV6_ADDRFORM);
}

static int sdp_tcp_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			      unsigned int optlen)
{
	struct sock *sk = level == SOL_SDP ? sdp_of_tcp(sock->sk) : NULL;

	if (sk)
		return sdp_setsockopt(sk, level, optname, optval, optlen);
	if (sdp_companion_refuses(level, optname))
		return -ENOENT;		/* as where the kernel has no such protocol */
	/* The core may have looked whose SOL_SOCKET is before the switch */
	if (level == SOL_SOCKET)
		return sock_setsockopt(sock, level, optname, optval, optlen);
	return sock_common_setsockopt(sock, level, optname, optval, optlen);
}

static int sdp_tcp_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
			      int __user *optlen)
{
	struct sock *sk = level == SOL_SDP ? sdp_of_tcp(sock->sk) : NULL;

	if (sk)
		return sdp_getsockopt(sk, level, optname, optval, optlen);
	return sock_common_getsockopt(sock, level, optname, optval, optlen);
}

static void sdp_tcp_show_fdinfo(struct seq_file *m, struct socket *sock)
{
	struct sock *tsk = READ_ONCE(sock->sk), *sk = tsk ? sdp_of_tcp(tsk) : NULL;

	if (sk)
		sdp_info_show(m, sk);
}

/* The core looks whose socket it is before it waits for its lock, and for the operations behind */
static int sdp_tcp_set_rcvlowat(struct sock *sk, int val)
{
	const bool old = sdp_is_sdp(sk);
	struct sock *tsk = old ? sdp_sk(sk)->tcp_sk : sk;
	int err;

	if (old)
		lock_sock(tsk);
	err = sdp_inet_ops[sdp_is_v6(tsk)]->set_rcvlowat(tsk, val);
	if (old)
		release_sock(tsk);
	return err;
}

/**
 * sdp_tcp_ops() - the operations of a TCP socket that has taken our place
 * @sk:	the TCP socket
 *
 * Context: any.
 * Return: them; never NULL, as there is such a socket.
 */
const struct proto_ops *sdp_tcp_ops(const struct sock *sk)
{
	return &sdp_grafted_ops[sdp_is_v6(sk)];
}

/* IPv6's operations are not exported, but every socket has them */
static void sdp_copy_ops(const struct proto_ops *from, bool v6)
{
	struct proto_ops *to = &sdp_grafted_ops[v6];

	/* Pairs with the release below: who finds it set finds the copy made */
	if (smp_load_acquire(&sdp_inet_ops[v6]))
		return;
	mutex_lock(&sdp_ops_mutex);
	if (!sdp_inet_ops[v6]) {
		*to = *from;
		to->owner = THIS_MODULE;
		to->release = sdp_tcp_release;
		to->bind = sdp_tcp_bind;
		to->connect = sdp_tcp_connect;
		to->accept = sdp_tcp_accept;
		to->setsockopt = sdp_tcp_setsockopt;
		to->getsockopt = sdp_tcp_getsockopt;
		to->set_rcvlowat = sdp_tcp_set_rcvlowat;
		to->show_fdinfo = sdp_tcp_show_fdinfo;
		/* The copy first, then that there is one */
		smp_store_release(&sdp_inet_ops[v6], from);
	}
	mutex_unlock(&sdp_ops_mutex);
}

/* ---- options ---- */

/* Flags of SOL_SOCKET's options that need nothing beside them */
#define SDP_TCP_FLAGS	(BIT(SOCK_URGINLINE) | BIT(SOCK_KEEPOPEN) | BIT(SOCK_LINGER) |		\
			 BIT(SOCK_BROADCAST) | BIT(SOCK_DBG) | BIT(SOCK_LOCALROUTE) |		\
			 BIT(SOCK_RXQ_OVFL) | BIT(SOCK_ZEROCOPY) | BIT(SOCK_RCVMARK) |		\
			 BIT(SOCK_SELECT_ERR_QUEUE))

static void sdp_sync_timestamps(struct sock *sk, struct socket *tcp)
{
	int flags = READ_ONCE(sk->sk_tsflags) & ~SOF_TIMESTAMPING_OPT_ID;
	bool ns = sock_flag(sk, SOCK_RCVTSTAMPNS), y2038 = sock_flag(sk, SOCK_TSTAMP_NEW);
	int on = sock_flag(sk, SOCK_RCVTSTAMP), opt;

	/* The core counts who wants them */
	if (on || sock_flag(tcp->sk, SOCK_RCVTSTAMP)) {
		if (y2038)
			opt = ns ? SO_TIMESTAMPNS_NEW : SO_TIMESTAMP_NEW;
		else
			opt = ns ? SO_TIMESTAMPNS_OLD : SO_TIMESTAMP_OLD;
		sock_setsockopt(tcp, SOL_SOCKET, opt, KERNEL_SOCKPTR(&on), sizeof(on));
	}
	if (flags != READ_ONCE(tcp->sk->sk_tsflags)) {
		opt = y2038 ? SO_TIMESTAMPING_NEW : SO_TIMESTAMPING_OLD;
		sock_setsockopt(tcp, SOL_SOCKET, opt, KERNEL_SOCKPTR(&flags), sizeof(flags));
	}
}

static void sdp_sync_bufs(const struct sock *sk, struct sock *tsk)
{
	/* Defaults are each protocol's own */
	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		WRITE_ONCE(tsk->sk_sndbuf, READ_ONCE(sk->sk_sndbuf));
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		WRITE_ONCE(tsk->sk_rcvbuf, READ_ONCE(sk->sk_rcvbuf));
	tsk->sk_userlocks |= sk->sk_userlocks & SOCK_BUF_LOCK_MASK;
	if (sk->sk_max_pacing_rate != ~0UL) {
		cmpxchg(&tsk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
		WRITE_ONCE(tsk->sk_max_pacing_rate, sk->sk_max_pacing_rate);
		WRITE_ONCE(tsk->sk_pacing_rate,
			   min(READ_ONCE(tsk->sk_pacing_rate), sk->sk_max_pacing_rate));
	}
}

/**
 * sdp_companion_sync() - bring the companion's SOL_SOCKET options up to date
 * @sk:	SDP socket
 *
 * They are the core's business, which knows of the SDP socket only. All others
 * reach the companion when they are set.
 * Context: process, lock_sock.
 */
void sdp_companion_sync(struct sock *sk)
{
	struct socket *tcp = sdp_sk(sk)->tcp;
	struct sock *tsk;
	int lowat;

	if (!tcp)
		return;
	tsk = tcp->sk;
	sdp_sync_timestamps(sk, tcp);
	lowat = READ_ONCE(sk->sk_rcvlowat);
	if (lowat != READ_ONCE(tsk->sk_rcvlowat))
		tcp->ops->set_rcvlowat(tsk, lowat);

	lock_sock(tsk);
	tsk->sk_flags = (tsk->sk_flags & ~SDP_TCP_FLAGS) | (sk->sk_flags & SDP_TCP_FLAGS);
	tsk->sk_reuse = sk->sk_reuse;
	tsk->sk_reuseport = sk->sk_reuseport;
	tsk->sk_lingertime = sk->sk_lingertime;
	WRITE_ONCE(tsk->sk_rcvtimeo, READ_ONCE(sk->sk_rcvtimeo));
	WRITE_ONCE(tsk->sk_sndtimeo, READ_ONCE(sk->sk_sndtimeo));
	WRITE_ONCE(tsk->sk_priority, READ_ONCE(sk->sk_priority));
	WRITE_ONCE(tsk->sk_mark, READ_ONCE(sk->sk_mark));
	WRITE_ONCE(tsk->sk_bound_dev_if, READ_ONCE(sk->sk_bound_dev_if));
	WRITE_ONCE(tsk->sk_incoming_cpu, READ_ONCE(sk->sk_incoming_cpu));
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(tsk->sk_ll_usec, READ_ONCE(sk->sk_ll_usec));
	WRITE_ONCE(tsk->sk_prefer_busy_poll, READ_ONCE(sk->sk_prefer_busy_poll));
	WRITE_ONCE(tsk->sk_busy_poll_budget, READ_ONCE(sk->sk_busy_poll_budget));
#endif
	WRITE_ONCE(tsk->sk_txrehash, READ_ONCE(sk->sk_txrehash));
	if (tcp->ops->set_peek_off)
		WRITE_ONCE(tsk->sk_peek_off, READ_ONCE(sk->sk_peek_off));
	tsk->sk_ipv6only = sk->sk_ipv6only;
	sdp_sync_bufs(sk, tsk);
	release_sock(tsk);
}

static void sdp_replay(struct socket *tcp, int level, int optname, int val)
{
	tcp->ops->setsockopt(tcp, level, optname, KERNEL_SOCKPTR(&val), sizeof(val));
}

/* Options of other levels that were set before there was a companion */
static void sdp_companion_replay(struct sock *sk)
{
	static const int tcp_options[] = {
		TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
		TCP_USER_TIMEOUT, TCP_DEFER_ACCEPT, TCP_NOTSENT_LOWAT, TCP_INQ, TCP_SYNCNT,
	};
	struct socket *tcp = sdp_sk(sk)->tcp;
	struct inet_sock *inet = inet_sk(sk);
	int i, val;

	for (i = 0; i < ARRAY_SIZE(tcp_options); i++)
		if (!sdp_get_tcp_int(sk, tcp_options[i], &val) && val)
			sdp_replay(tcp, SOL_TCP, tcp_options[i], val);
	if (inet->tos)
		sdp_replay(tcp, SOL_IP, IP_TOS, inet->tos);
	if (inet->uc_ttl >= 0)
		sdp_replay(tcp, SOL_IP, IP_TTL, inet->uc_ttl);
	if (sdp_inet_bit(sk, FREEBIND, freebind))
		sdp_replay(tcp, SOL_IP, IP_FREEBIND, 1);
	if (sdp_inet_bit(sk, TRANSPARENT, transparent))
		sdp_replay(tcp, SOL_IP, IP_TRANSPARENT, 1);
	if (sdp_inet_bit(sk, RECVERR, recverr))
		sdp_replay(tcp, SOL_IP, IP_RECVERR, 1);
	if (inet->min_ttl)
		sdp_replay(tcp, SOL_IP, IP_MINTTL, inet->min_ttl);
	if (sdp_inet_bit(sk, BIND_ADDRESS_NO_PORT, bind_address_no_port))
		sdp_replay(tcp, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);
#if IS_ENABLED(CONFIG_IPV6)
	if (!sdp_is_v6(sk))
		return;
	if (inet6_sk(sk)->tclass)
		sdp_replay(tcp, SOL_IPV6, IPV6_TCLASS, inet6_sk(sk)->tclass);
	if (inet6_sk(sk)->hop_limit >= 0)
		sdp_replay(tcp, SOL_IPV6, IPV6_UNICAST_HOPS, inet6_sk(sk)->hop_limit);
#endif
}

/* ---- life ---- */

static int sdp_companion_create(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct socket *tcp;
	int err;

	err = __sock_create(sock_net(sk), sdp_is_v6(sk) ? PF_INET6 : PF_INET, SOCK_STREAM,
			    IPPROTO_TCP, &tcp, !sk->sk_net_refcnt);
	if (err)
		return err;
	sdp_copy_ops(tcp->ops, sdp_is_v6(sk));
	sdp->tcp_sk = tcp->sk;
	sdp_companion_hash(sdp);
	/* Whether there is anybody to be sent SIGIO, the struct socket knows */
	sock_set_flag(tcp->sk, SOCK_FASYNC);
	WRITE_ONCE(sdp->tcp, tcp);
	sdp_companion_replay(sk);
	return 0;
}

static bool sdp_companion_bound(const struct socket *tcp)
{
	return tcp->sk->sk_userlocks & (SOCK_BINDADDR_LOCK | SOCK_BINDPORT_LOCK);
}

/**
 * sdp_companion_make() - have a companion that is as the SDP socket is
 * @sk:	SDP socket, neither connected nor listening
 *
 * Context: process whose socket it is, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_companion_make(struct sock *sk)
{
	int err = 0;

	if (!sdp_sk(sk)->tcp)
		err = sdp_companion_create(sk);
	if (err)
		return err;
	if (inet_sk(sk)->inet_num || (sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		return sdp_companion_bind(sk);
	sdp_companion_sync(sk);
	return 0;
}

/* A socket's own or its peer's address, as bind() and connect() take it */
static int sdp_sock_addr(const struct sock *sk, bool peer, union sdp_addr *addr)
{
	const struct inet_sock *inet = inet_sk(sk);
	__be16 port = peer ? inet->inet_dport : htons(inet->inet_num);

	memset(addr, 0, sizeof(*addr));
	if (!sdp_is_v6(sk)) {
		addr->v4.sin_family = AF_INET;
		addr->v4.sin_port = port;
		addr->v4.sin_addr.s_addr = peer ? inet->inet_daddr : inet->inet_rcv_saddr;
		return sizeof(addr->v4);
	}
	addr->v6.sin6_family = AF_INET6;
	addr->v6.sin6_port = port;
	addr->v6.sin6_addr = peer ? sk->sk_v6_daddr : sk->sk_v6_rcv_saddr;
	if (ipv6_addr_type(&addr->v6.sin6_addr) & IPV6_ADDR_LINKLOCAL)
		addr->v6.sin6_scope_id = sk->sk_bound_dev_if;
	return sizeof(addr->v6);
}

/**
 * sdp_companion_bind() - bind the companion where the SDP socket is bound
 * @sk:	SDP socket with a companion and an address
 *
 * Context: process, lock_sock.
 * Return: 0, also if that has been done before, or -errno.
 */
int sdp_companion_bind(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u16 port = inet_sk(sk)->inet_num;
	union sdp_addr addr;
	int len, err;

	if (port && sdp_companion_bound(sdp->tcp) && inet_sk(sdp->tcp_sk)->inet_num != port) {
		/* Bound before the SDP socket had its port; what is bound once stays so */
		sdp_companion_drop(sk);
		err = sdp_companion_create(sk);
		if (err)
			return err;
	}
	sdp_companion_sync(sk);
	if (sdp_companion_bound(sdp->tcp))
		return 0;
	len = sdp_sock_addr(sk, false, &addr);
	return kernel_bind(sdp->tcp, &addr.sa, len);
}

/*
 * Whose packets they are, firewall rules ask the struct socket, and diagnostics which inode it
 * is: the one the program has.
 */
static void sdp_companion_owner(struct sock *tsk, struct socket *sock)
{
	write_lock_bh(&tsk->sk_callback_lock);
	sk_set_socket(tsk, sock);
	write_unlock_bh(&tsk->sk_callback_lock);
}

/**
 * sdp_companion_connect() - have the companion connect, without waiting
 * @sk:	SDP socket with a companion, and the peer's address
 *
 * Context: process, lock_sock.
 * Return: -EINPROGRESS, 0 or another -errno, as TCP's.
 */
int sdp_companion_connect(struct sock *sk)
{
	struct socket *tcp = sdp_sk(sk)->tcp;
	union sdp_addr addr;
	int len = sdp_sock_addr(sk, true, &addr), err;

	sdp_companion_sync(sk);
	sdp_companion_owner(tcp->sk, sk->sk_socket);
	err = kernel_connect(tcp, &addr.sa, len, O_NONBLOCK);
	if (err && err != -EINPROGRESS)
		sdp_companion_owner(tcp->sk, tcp);
	return err;
}

/**
 * sdp_companion_get() - the TCP socket options are to go to as well
 * @sk:	SDP socket, perhaps one TCP has taken the place of
 *
 * Context: process.
 * Return: it with a reference, NULL when there is none, or ERR_PTR.
 */
struct sock *sdp_companion_get(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sock *tsk;
	int err = 0;

	lock_sock(sk);
	if (!sdp->tcp_sk && sk->sk_state == TCP_CLOSE && sdp_policy(sk) != SDP_POLICY_SDP)
		err = sdp_companion_make(sk);
	tsk = err ? ERR_PTR(err) : sdp->tcp_sk;
	/* Once SDP carries the connection, all it does is to keep the port */
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_SYN_SENT | TCPF_LISTEN)))
		tsk = NULL;
	if (!IS_ERR_OR_NULL(tsk))
		sock_hold(tsk);
	release_sock(sk);
	return tsk;
}

/**
 * sdp_companion_drop() - SDP it is: no companion any more
 * @sk:	SDP socket
 *
 * Context: process, lock_sock.
 */
void sdp_companion_drop(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct socket *tcp = sdp->tcp;

	if (!tcp)
		return;
	sdp_companion_unhash(sdp);
	WRITE_ONCE(sdp->tcp, NULL);
	sdp->tcp_sk = NULL;
	sock_release(tcp);	/* sdp_companion_pending() may still look: RCU frees it */
}

/*
 * sock->sk has been written; no CPU may go on to find the operations written
 * next and yet have loaded sock->sk before. Readers have no barrier, so this
 * has to be one on every CPU, except where loads aren't reordered.
 */
static void sdp_order_ops(void)
{
	if (!IS_ENABLED(CONFIG_X86))
		kick_all_cpus_sync();
}

/**
 * sdp_companion_graft() - TCP takes the SDP socket's place
 * @sk:	SDP socket without a connection, with a companion and a struct socket
 *
 * Context: process, lock_sock, which the caller releases still. The companion
 * may be connecting; what it tells by its wait queue before, is told again.
 */
void sdp_companion_graft(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct socket *sock = sk->sk_socket, *tcp = sdp->tcp;
	struct sock *tsk = tcp->sk;

	sdp_companion_sync(sk);
	/* As sock_graft(), and SO_COOKIE stays as well */
	write_lock_bh(&tsk->sk_callback_lock);
	rcu_assign_pointer(tsk->sk_wq, &sock->wq);
	sk_set_socket(tsk, sock);
	tsk->sk_uid = sk->sk_uid;
	atomic64_set(&tsk->sk_cookie, atomic64_read(&sk->sk_cookie));
	security_sock_graft(tsk, sock);
	write_unlock_bh(&tsk->sk_callback_lock);
	WRITE_ONCE(tcp->sk, NULL);
	WRITE_ONCE(sdp->tcp, NULL);

	sock->state = tcp->state;
	/* Who finds TCP's sock, and who finds by @fallen that it is there, finds the above done */
	smp_store_release(&sock->sk, tsk);
	/* ... in this order */
	smp_store_release(&sdp->fallen, true);
	sdp_order_ops();
	WRITE_ONCE(sock->ops, sdp_tcp_ops(tsk));
	sdp_disown_sockopts(sock);

	/* An operation that still runs on the old one finds a socket that can't be bound */
	spin_lock_bh(&sdp->lock);
	sdp_set_state(sk, TCP_SYN_SENT);
	spin_unlock_bh(&sdp->lock);
	/* Who waits for SDP waits for TCP from now on */
	tsk->sk_state_change(tsk);
	if (tsk->sk_state != TCP_SYN_SENT)
		sk_wake_async(tsk, SOCK_WAKE_IO, POLL_OUT);
	sock_release(tcp);
}

/* ---- listening ---- */

/**
 * sdp_companion_listen() - have the companion listen, too
 * @sk:		SDP socket with a companion, listening
 * @backlog:	as for listen()
 *
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_companion_listen(struct sock *sk, int backlog)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sock *tsk = sdp->tcp->sk;
	int err;

	sdp_companion_sync(sk);
	write_lock_bh(&tsk->sk_callback_lock);
	rcu_assign_pointer(tsk->sk_wq, &sk->sk_socket->wq);
	sk_set_socket(tsk, sk->sk_socket);
	write_unlock_bh(&tsk->sk_callback_lock);
	err = kernel_listen(sdp->tcp, backlog);
	if (err) {
		sdp_companion_owner(tsk, sdp->tcp);
		return err;
	}
	spin_lock_bh(&sdp->lock);
	sdp_companion_limit(sk);
	spin_unlock_bh(&sdp->lock);
	return 0;
}

/**
 * sdp_companion_unlisten() - TCP's listening ends with SDP's
 * @sk:	SDP socket, no longer listening
 *
 * The companion keeps its port.
 * Context: process, lock_sock.
 */
void sdp_companion_unlisten(struct sock *sk)
{
	struct socket *tcp = sdp_sk(sk)->tcp;

	if (tcp && READ_ONCE(tcp->sk->sk_state) == TCP_LISTEN)
		kernel_sock_shutdown(tcp, SHUT_RD);
}

/**
 * sdp_companion_limit() - leave TCP as much of the backlog as SDP has not taken
 * @sk:	listener
 *
 * Context: any, sdp->lock held, which holds off the end of a listener.
 */
void sdp_companion_limit(struct sock *sk)
{
	struct socket *tcp = sdp_sk(sk)->tcp;
	u32 max = sk->sk_max_ack_backlog;

	if (tcp)
		WRITE_ONCE(tcp->sk->sk_max_ack_backlog, max - min(max, sk->sk_ack_backlog));
}

/*
 * The companion as those may look at it who don't have lock_sock; under
 * rcu_read_lock(): memory of both is freed by RCU, and of the sock stays a TCP
 * socket's.
 */
static const struct sock *sdp_companion_peek(const struct sock *sk)
{
	const struct socket *tcp = READ_ONCE(sdp_sk(sk)->tcp);

	return tcp ? READ_ONCE(tcp->sk) : NULL;
}

/**
 * sdp_companion_backlog() - connections TCP has for accept()
 * @sk:	listener
 *
 * Context: any.
 * Return: how many.
 */
u32 sdp_companion_backlog(const struct sock *sk)
{
	const struct sock *tsk;
	u32 n;

	rcu_read_lock();
	tsk = sdp_companion_peek(sk);
	n = tsk ? READ_ONCE(tsk->sk_ack_backlog) : 0;
	rcu_read_unlock();
	return n;
}

/**
 * sdp_companion_pending() - has TCP a connection for accept()?
 * @sk:	listener
 *
 * Context: any.
 * Return: true if so.
 */
bool sdp_companion_pending(const struct sock *sk)
{
	const struct sock *tsk;
	bool pending;

	rcu_read_lock();
	tsk = sdp_companion_peek(sk);
	pending = tsk && !reqsk_queue_empty(&inet_csk(tsk)->icsk_accept_queue);
	rcu_read_unlock();
	return pending;
}

/**
 * sdp_companion_accept() - take a connection from TCP
 * @sk:		listener
 * @newsock:	struct socket it is for
 * @flags:	as accept()'s
 * @kern:	as accept()'s
 *
 * Context: process.
 * Return: 0; -EAGAIN when there is none; or -errno.
 */
int sdp_companion_accept(struct sock *sk, struct socket *newsock, int flags, bool kern)
{
	struct socket *tcp;
	int err = -EAGAIN;

	lock_sock(sk);
	tcp = sdp_sk(sk)->tcp;
	if (tcp && sk->sk_state == TCP_LISTEN)
		err = sdp_ops_accept(tcp->ops, tcp, newsock, flags | O_NONBLOCK, kern);
	release_sock(sk);
	if (err)
		return err;
	sdp_tcp_own_ops(newsock);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_TCP_ACCEPTS);
	return 0;
}
