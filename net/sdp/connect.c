// SPDX-License-Identifier: GPL-2.0
/*
 * A socket's addresses: bind, connect, and back to an unconnected socket.
 *
 * connect() begins an attempt (sdp_connect_try()), by SDP alone or with a TCP
 * socket beside it, and waits for what becomes of it; resolve.c and cm.c do
 * the rest. What TCP takes over is fallback.c's.
 *
 * All under lock_sock(), but for waiting.
 */
#include <net/inet_common.h>
#include <net/transp_v6.h>

#include "cm.h"
#include "companion.h"
#include "dest.h"
#include "fallback.h"
#include "sdp.h"

/* An IPv4 address for an IPv6 socket */
static int sdp_map_addr(union sdp_addr *addr, int *len)
{
	struct sockaddr_in6 v6 = {
		.sin6_family	= AF_INET6,
		.sin6_port	= addr->v4.sin_port,
	};

	if (*len < (int)sizeof(addr->v4))
		return -EINVAL;
	ipv6_addr_set_v4mapped(addr->v4.sin_addr.s_addr, &v6.sin6_addr);
	addr->v6 = v6;
	*len = sizeof(v6);
	return 0;
}

/**
 * sdp_canonical_addr() - bring an address into the form the socket's family wants
 * @sk:		SDP socket
 * @uaddr:	what bind() or connect() was given
 * @len:	bytes of it
 * @to:		where to put it
 * @to_len:	its length there
 *
 * Families 27 and 28 become AF_INET and AF_INET6 (rdma_cm would take 27 for
 * AF_IB), and an IPv4 socket of family 27 understands the IPv6 addresses that
 * mean an IPv4 one, because qperf binds it to "::". One of family 28 takes
 * IPv4 addresses as well.
 * Context: any.
 * Return: 0 or -errno.
 */
int sdp_canonical_addr(struct sock *sk, const struct sockaddr *uaddr, int len,
		       union sdp_addr *to, int *to_len)
{
	int family;

	if (len < (int)offsetofend(struct sockaddr, sa_family))
		return -EINVAL;
	memset(to, 0, sizeof(*to));
	memcpy(to, uaddr, min_t(size_t, len, sizeof(*to)));
	*to_len = len;

	family = to->sa.sa_family;
	if (family == AF_INET_SDP)
		to->sa.sa_family = AF_INET;
	else if (family == AF_INET6_SDP)
		to->sa.sa_family = AF_INET6;

	if (sk->sk_family == AF_INET6_SDP && to->sa.sa_family == AF_INET)
		return sdp_map_addr(to, to_len);
	if (sdp_is_v6(sk) || to->sa.sa_family != AF_INET6)
		return 0;
	if (sk->sk_family != AF_INET_SDP)
		return -EAFNOSUPPORT;
	if (len < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (ipv6_addr_any(&to->v6.sin6_addr) || ipv6_addr_v4mapped(&to->v6.sin6_addr)) {
		struct sockaddr_in v4 = {
			.sin_family		= AF_INET,
			.sin_port		= to->v6.sin6_port,
			.sin_addr.s_addr	= to->v6.sin6_addr.s6_addr32[3],
		};

		memset(to, 0, sizeof(*to));
		to->v4 = v4;
		*to_len = sizeof(v4);
		return 0;
	}
	return -EAFNOSUPPORT;
}

/**
 * sdp_turn_by_policy() - a socket that its policy makes TCP's becomes so now
 * @sock:	socket
 * @sk:		its SDP socket
 * @turned:	whether it has; then the lock is released
 *
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_turn_by_policy(struct socket *sock, struct sock *sk, bool *turned)
{
	int err = 0;

	*turned = sock->state == SS_UNCONNECTED && sk->sk_state == TCP_CLOSE &&
		  sdp_policy(sk) == SDP_POLICY_TCP;
	if (!*turned)
		return 0;
	sdp_wait_conn_gone(sk);
	err = sdp_fallback_turn(sk);
	release_sock(sk);
	return err;
}

/**
 * sdp_bind() - proto_ops.bind
 * @sock:	socket
 * @uaddr:	address
 * @len:	bytes of it
 *
 * Context: process.
 * Return: 0 or -errno as TCP's.
 */
int sdp_bind(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sock *sk = sdp_lock(sock);
	union sdp_addr addr;
	bool turned;
	int err;

	if (!sk)
		return sdp_tcp_ops(sock->sk)->bind(sock, uaddr, len);
	err = sdp_turn_by_policy(sock, sk, &turned);
	if (turned)
		return err ?: sdp_tcp_ops(sock->sk)->bind(sock, uaddr, len);
	release_sock(sk);
	err = sdp_canonical_addr(sk, uaddr, len, &addr, &len);
	if (err)
		return err;
	if (sdp_is_v6(sk))
		return inet6_bind(sock, &addr.sa, len);
	return inet_bind(sock, &addr.sa, len);
}

/**
 * sdp_getname() - proto_ops.getname
 * @sock:	socket
 * @uaddr:	where to
 * @peer:	the peer's instead of our own
 *
 * Context: process.
 * Return: bytes, or -errno.
 */
int sdp_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	if (sdp_is_v6(sock->sk))
		return inet6_getname(sock, uaddr, peer);
	return inet_getname(sock, uaddr, peer);
}

/* Sets the peer's address, which is as long as one must be; lock_sock held */
static int sdp_set_daddr(struct sock *sk, const union sdp_addr *addr, int len)
{
	struct inet_sock *inet = inet_sk(sk);
	struct in6_addr daddr;

	if (!sdp_is_v6(sk)) {
		if (addr->sa.sa_family != AF_INET)
			return -EAFNOSUPPORT;
		inet->inet_daddr = addr->v4.sin_addr.s_addr ?: htonl(INADDR_LOOPBACK);
		inet->inet_dport = addr->v4.sin_port;
		return 0;
	}

	if (addr->sa.sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	daddr = addr->v6.sin6_addr;
	if (ipv6_addr_v4mapped(&daddr) && !daddr.s6_addr32[3])
		daddr.s6_addr32[3] = htonl(INADDR_LOOPBACK);
	if (ipv6_addr_any(&daddr))
		ipv6_addr_set(&daddr, 0, 0, 0, htonl(1));
	if (ipv6_addr_is_multicast(&daddr))
		return -ENETUNREACH;
	if (ipv6_addr_v4mapped(&daddr)) {
		if (ipv6_only_sock(sk))
			return -ENETUNREACH;
		inet->inet_daddr = daddr.s6_addr32[3];
	} else {
		inet->inet_daddr = LOOPBACK4_IPV6;
		if ((ipv6_addr_type(&daddr) & IPV6_ADDR_LINKLOCAL) &&
		    len >= (int)sizeof(addr->v6) && addr->v6.sin6_scope_id) {
			if (sk->sk_bound_dev_if && sk->sk_bound_dev_if != addr->v6.sin6_scope_id)
				return -EINVAL;
			sk->sk_bound_dev_if = addr->v6.sin6_scope_id;
		}
		if ((ipv6_addr_type(&daddr) & IPV6_ADDR_LINKLOCAL) && !sk->sk_bound_dev_if)
			return -EINVAL;
	}
	sk->sk_v6_daddr = daddr;
	inet->inet_dport = addr->v6.sin6_port;
	return 0;
}

/**
 * sdp_autobind() - a port for a socket that has none
 * @sk:		socket
 * @get_port:	connect() wants a port of SDP's, listen() one in both worlds if it may be both
 *
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_autobind(struct sock *sk, int (*get_port)(struct sock *sk, unsigned short num))
{
	int err = 0;

	if (!inet_sk(sk)->inet_num) {
		err = get_port(sk, 0) ? -EADDRNOTAVAIL : 0;
		inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
	}
	return err;
}

/**
 * sdp_wait_conn_gone() - wait until a connection that ends has parted from its socket
 * @sk:	socket
 *
 * Before that it can't have another.
 * Context: process.
 */
void sdp_wait_conn_gone(struct sock *sk)
{
	wait_var_event(&sdp_sk(sk)->conn, !READ_ONCE(sdp_sk(sk)->conn));
}

/* Begins to connect by SDP. Return: -EINPROGRESS, or 0 when it has failed or is falling already */
static int sdp_connect_try(struct socket *sock, bool both, bool known)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	int err;

	err = sdp_autobind(sk, sdp_get_port);
	if (err)
		return err;
	conn = sdp_conn_alloc(sk);
	if (!conn)
		return -ENOBUFS;

	spin_lock_bh(&sdp->lock);
	sk->sk_err = 0;
	WRITE_ONCE(sk->sk_shutdown, 0);
	sdp->rcv_done = false;
	conn->resolving = true;
	WRITE_ONCE(sdp->conn, conn);
	sdp->trying = both;
	sdp_set_state(sk, TCP_SYN_SENT);
	spin_unlock_bh(&sdp->lock);
	sock->state = SS_CONNECTING;
	SDP_INC_STATS(sock_net(sk), SDP_MIB_ACTIVE_OPENS);

	if (both)
		sdp_fallback_watch(sk, known);
	err = sdp_resolve(conn);
	if (err) {
		/* Known at once, so told at once, to non-blocking sockets as well */
		sdp_wait_conn_gone(sk);
		return 0;
	}
	return -EINPROGRESS;
}

/* The same, and TCP where it is known or found out at once that SDP is of no use */
static int sdp_connect_both(struct socket *sock)
{
	struct sock *sk = sock->sk;
	enum sdp_dest_verdict known = sdp_dest_find(sk);
	int err;

	if (known == SDP_DEST_TCP)
		return sdp_fallback_now(sk, SDP_FALLBACK_CACHED);
	err = sdp_connect_try(sock, true, known == SDP_DEST_SDP);
	if (err && err != -EINPROGRESS)
		return sdp_fallback_now(sk, SDP_FALLBACK_LOCAL);
	if (sdp_falling(sk))
		return sdp_fallback_now(sk, sdp_sk(sk)->reason);
	return err;
}

/*
 * BPF programs of the cgroup may refuse or change where to connect to, as tcp_v4_pre_connect()
 * lets them. They are not run for families 27 and 28, which they don't know.
 */
static int sdp_pre_connect(struct sock *sk, union sdp_addr *addr, int *len)
{
	if (sdp_is_v6(sk))
		return *len < SIN6_LEN_RFC2133 ? -EINVAL : sdp_bpf_connect6(sk, &addr->sa, len);
	return *len < (int)sizeof(addr->v4) ? -EINVAL : sdp_bpf_connect4(sk, &addr->sa, len);
}

/* -EINPROGRESS, or 0 when it is over, or another -errno when it has not begun */
static int sdp_connect_start(struct socket *sock, struct sockaddr *uaddr, int len)
{
	struct sock *sk = sock->sk;
	bool both = sdp_policy(sk) == SDP_POLICY_BOTH;
	union sdp_addr addr;
	int err;

	err = sdp_canonical_addr(sk, uaddr, len, &addr, &len);
	if (err)
		return err;
	if (sk->sk_state != TCP_CLOSE)
		return -EISCONN;
	err = sdp_pre_connect(sk, &addr, &len);
	if (err)
		return err;
	sdp_wait_conn_gone(sk);
	err = both ? sdp_companion_make(sk) : 0;
	if (err)
		return err;
	err = sdp_set_daddr(sk, &addr, len);
	if (err)
		return err;
	if (both)
		return sdp_connect_both(sock);
	return sdp_connect_try(sock, false, false);
}

static bool sdp_connect_over(struct sock *sk, unsigned long unused)
{
	return READ_ONCE(sk->sk_state) != TCP_SYN_SENT || READ_ONCE(sdp_sk(sk)->fallen);
}

/**
 * sdp_reset_saddr() - forget the addresses of a connection that there isn't
 * @sk:	socket
 *
 * The address connect() chose is not the next attempt's; one that bind() set is.
 * Context: process, lock_sock.
 */
void sdp_reset_saddr(struct sock *sk)
{
	struct inet_sock *inet = inet_sk(sk);

	inet->inet_dport = 0;
	if (sk->sk_userlocks & SOCK_BINDADDR_LOCK)
		return;
	inet->inet_saddr = 0;
	inet->inet_rcv_saddr = 0;
#if IS_ENABLED(CONFIG_IPV6)
	if (sdp_is_v6(sk)) {
		memset(&inet6_sk(sk)->saddr, 0, sizeof(inet6_sk(sk)->saddr));
		memset(&sk->sk_v6_rcv_saddr, 0, sizeof(sk->sk_v6_rcv_saddr));
	}
#endif
}

/* The outcome of a connection attempt that is over */
static int sdp_connect_result(struct socket *sock)
{
	struct sock *sk = sock->sk;
	int err;

	if (sk->sk_state == TCP_CLOSE) {
		err = sock_error(sk) ?: -ECONNABORTED;
		sock->state = SS_UNCONNECTED;
		WRITE_ONCE(sk->sk_shutdown, 0);
		sdp_reset_saddr(sk);
		return err;
	}
	sock->state = SS_CONNECTED;
	return 0;
}

/* Waits for *@timeo jiffies at most. Where TCP takes over, the result is still to come. */
static int sdp_connect_locked(struct socket *sock, struct sockaddr *uaddr, int len, long *timeo)
{
	struct sock *sk = sock->sk;
	int err;

	switch (sock->state) {
	case SS_CONNECTED:
		return -EISCONN;
	case SS_CONNECTING:
		err = -EALREADY;
		break;
	case SS_UNCONNECTED:
		err = sdp_connect_start(sock, uaddr, len);
		if (sdp_sk(sk)->fallen || (err && err != -EINPROGRESS))
			return err;
		/* However fast the peer, this call has not waited for it */
		if (err && !*timeo)
			return err;
		break;
	default:
		return -EINVAL;
	}

	if (!sdp_connect_over(sk, 0)) {
		if (!*timeo)
			return err;
		release_sock(sk);
		*timeo = sdp_wait(sk, *timeo, sdp_connect_over, 0);
		lock_sock(sk);
		if (*timeo == -EAGAIN)
			return err;
		if (*timeo < 0)
			return *timeo;
	}
	if (sdp_sk(sk)->fallen)
		return err;
	/* Somebody else may have taken the result meanwhile */
	return sock->state == SS_CONNECTING ? sdp_connect_result(sock) :
	       sock->state == SS_CONNECTED ? 0 : sock_error(sk) ?: -ECONNABORTED;
}

/* TCP_FASTOPEN_CONNECT: it is the first write() that connects */
static bool sdp_tcp_deferred(const struct sock *sk)
{
	return sdp_inet_bit(sk, DEFER_CONNECT, defer_connect);
}

static bool sdp_tcp_connect_over(struct sock *sk, unsigned long unused)
{
	return sdp_tcp_deferred(sk) ||
	       !((1 << READ_ONCE(sk->sk_state)) & (TCPF_SYN_SENT | TCPF_SYN_RECV));
}

/* The rest of a connect() that TCP has taken over; @err is what it says when it can't wait */
static int sdp_connect_rest(struct socket *sock, struct sockaddr *uaddr, int len, long timeo,
			    int err)
{
	struct sock *sk = sock->sk;

	if (timeo <= 0)
		return err;
	timeo = sdp_wait(sk, timeo, sdp_tcp_connect_over, 0);
	if (timeo < 0)
		return timeo == -EAGAIN ? err : timeo;
	lock_sock(sk);
	/* Somebody else may have taken the result meanwhile */
	if (sdp_tcp_deferred(sk))
		err = 0;
	else if (sock->state == SS_CONNECTING)
		err = __inet_stream_connect(sock, uaddr, len, O_NONBLOCK, 0);
	else
		err = sock->state == SS_CONNECTED ? 0 : -ECONNABORTED;
	release_sock(sk);
	return err;
}

/* The states that TCP ends with a reset */
static bool sdp_is_reset(const struct sock *sk)
{
	return sdp_state_is(sk, TCPF_SYN_SENT | TCPF_ESTABLISHED | TCPF_CLOSE_WAIT |
				TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2);
}

/**
 * sdp_disconnect() - back to an unconnected socket, at the price of a reset
 * @sock:	socket
 *
 * connect(AF_UNSPEC), and shutdown() of what doesn't transfer data yet.
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_disconnect(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	bool reset = sdp_is_reset(sk);

	if (sk->sk_state == TCP_LISTEN) {
		sdp_listen_stop(sk);
		/* A port nobody asked for is another one the next time; but TCP's stays bound */
		if (!sdp->tcp && !(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
			sdp_put_port(sk);
		sock->state = SS_UNCONNECTED;
		return 0;
	}
	/* A receiver may be in a page fault */
	if (mutex_lock_interruptible(&sdp->rx_mutex))
		return -ERESTARTSYS;
	sdp_fallback_cancel(sk, 0);
	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		sdp_abort(sdp->conn, 0);
	spin_unlock_bh(&sdp->lock);
	sdp_wait_conn_gone(sk);

	spin_lock_bh(&sdp->lock);
	sdp_sock_purge(sk);
	sdp->rx_bytes = 0;
	sdp->rx_truesize = 0;
	sdp_oob_forget(sdp);
	WRITE_ONCE(sk->sk_err, reset ? ECONNRESET : 0);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sdp->rcv_done = false;
	spin_unlock_bh(&sdp->lock);
	mutex_unlock(&sdp->rx_mutex);
	sdp_reset_saddr(sk);
	sock->state = SS_UNCONNECTED;
	sk_error_report(sk);
	return 0;
}

/**
 * sdp_connect() - proto_ops.connect
 * @sock:	socket
 * @uaddr:	address
 * @len:	bytes of it
 * @flags:	O_NONBLOCK
 *
 * Context: process.
 * Return: 0 or -errno as TCP's.
 */
int sdp_connect(struct socket *sock, struct sockaddr *uaddr, int len, int flags)
{
	struct sock *sk;
	bool turned, fallen;
	long timeo;
	int err;

	if (len < (int)sizeof(uaddr->sa_family))
		return -EINVAL;
	sk = sdp_lock(sock);
	if (!sk)
		return sdp_tcp_ops(sock->sk)->connect(sock, uaddr, len, flags);
	if (uaddr->sa_family == AF_UNSPEC) {
		err = sdp_disconnect(sock);
		release_sock(sk);
		return err;
	}
	err = sdp_turn_by_policy(sock, sk, &turned);
	if (turned)
		return err ?: sdp_tcp_ops(sock->sk)->connect(sock, uaddr, len, flags);
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	err = sdp_connect_locked(sock, uaddr, len, &timeo);
	fallen = sdp_sk(sk)->fallen;
	release_sock(sk);
	if (fallen && (err == -EINPROGRESS || err == -EALREADY))
		return sdp_connect_rest(sock, uaddr, len, timeo, err);
	return err;
}
