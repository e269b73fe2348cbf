// SPDX-License-Identifier: GPL-2.0
/*
 * When TCP takes over: SDP_POLICY, and a connect() that tries SDP first.
 *
 * An attempt by SDP (@trying) that fails does not become the socket's error.
 * The connection parts from the socket as always (conn.c), but leaves it in
 * TCP_SYN_SENT: it is falling (sdp_falling()). Then whoever has lock_sock(),
 * connect() itself if it is still there, else try_work, has the companion
 * connect and puts it in the socket's place (companion.c). Nobody sees a state
 * in between: a program that waits for a connection finds one, or finds TCP's
 * error.
 *
 * try_work also ends an attempt that takes too long, and the companion of a
 * socket whose attempt succeeded. It waits for lock_sock(), whose holder may
 * wait for the works that end connections, hence the workqueue of its own.
 */
#include "companion.h"
#include "dest.h"
#include "fallback.h"
#include "trace.h"

/* A peer known to speak SDP is waited for so many times longer */
#define SDP_KNOWN_PATIENCE	4

static struct workqueue_struct *sdp_try_wq;

/**
 * sdp_policy() - what a socket may be
 * @sk:	SDP socket
 *
 * A user in the kernel that has hung something on the struct sock would lose
 * it if that were changed.
 * Context: any.
 * Return: SDP_POLICY_SDP, SDP_POLICY_TCP or SDP_POLICY_BOTH.
 */
int sdp_policy(const struct sock *sk)
{
	if (sk->sk_user_data)
		return SDP_POLICY_SDP;
	return sdp_choice(READ_ONCE(sdp_sk(sk)->policy),
			  READ_ONCE(sdp_pernet(sock_net(sk))->policy));
}

static int sdp_set_policy_locked(struct sock *sk, int policy)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int old = sdp->policy, err = 0;

	if (sdp->fallen)
		return policy == SDP_POLICY_SDP ? -EISCONN : 0;
	if (sk->sk_state != TCP_CLOSE)
		return policy == old ? 0 : -EISCONN;
	WRITE_ONCE(sdp->policy, policy);
	if (sdp_policy(sk) == SDP_POLICY_SDP)
		sdp_companion_drop(sk);
	else
		err = sdp_companion_make(sk);
	if (err)
		WRITE_ONCE(sdp->policy, old);
	return err;
}

/**
 * sdp_set_policy() - setsockopt(SDP_POLICY)
 * @sk:		SDP socket, perhaps one TCP has taken the place of
 * @policy:	SDP_POLICY_*, or -1 for the namespace's
 *
 * Context: process.
 * Return: 0; -EISCONN when it is too late; -EADDRINUSE when
 * the port the socket is bound to is taken in TCP; or another -errno.
 */
int sdp_set_policy(struct sock *sk, int policy)
{
	int err;

	if (policy < -1 || policy > SDP_POLICY_BOTH)
		return -EINVAL;
	lock_sock(sk);
	err = sdp_set_policy_locked(sk, policy);
	release_sock(sk);
	return err;
}

/**
 * sdp_fallback_take_over() - TCP takes a socket over
 * @sk:		SDP socket with a companion, not connected nor listening
 * @reason:	why, SDP_FALLBACK_*
 *
 * Context: process, lock_sock.
 */
void sdp_fallback_take_over(struct sock *sk, int reason)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	sdp->trying = false;
	sdp->reason = reason;
	spin_unlock_bh(&sdp->lock);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_FALLBACK(reason));
	trace_sdp_fallback(sk, reason);
	sdp_leave_port(sk);
	sdp_companion_graft(sk);
}

/**
 * sdp_fallback_turn() - make a socket TCP's, as its policy wants it
 * @sk:	SDP socket, unconnected, perhaps bound
 *
 * Context: process, lock_sock.
 * Return: 0 when it is TCP's, or -errno.
 */
int sdp_fallback_turn(struct sock *sk)
{
	int err = sdp_companion_make(sk);

	if (!err)
		sdp_fallback_take_over(sk, SDP_FALLBACK_POLICY);
	return err;
}

static bool __sdp_falling(const struct sock *sk)
{
	const struct sdp_sock *sdp = sdp_sk(sk);

	return sdp->trying && !sdp->conn && sk->sk_state == TCP_SYN_SENT;
}

/**
 * sdp_falling() - has SDP failed, and TCP not been tried yet?
 * @sk:	SDP socket
 *
 * Context: any.
 * Return: true if so; that stays so as long as lock_sock() is held.
 */
bool sdp_falling(struct sock *sk)
{
	bool falling;

	spin_lock_bh(&sdp_sk(sk)->lock);
	falling = __sdp_falling(sk);
	spin_unlock_bh(&sdp_sk(sk)->lock);
	return falling;
}

/* The end of an attempt that has no connection, neither SDP's nor TCP's */
static void sdp_fallback_end(struct sock *sk, int err)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	sdp->trying = false;
	sdp->reason = SDP_FALLBACK_NONE;
	if (err)
		WRITE_ONCE(sk->sk_err, err);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	sdp_set_state(sk, TCP_CLOSE);
	spin_unlock_bh(&sdp->lock);
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sdp_put_port(sk);
}

/**
 * sdp_fallback_now() - let TCP connect instead
 * @sk:		SDP socket, with a companion and the peer's address, falling or in TCP_CLOSE
 * @reason:	why, SDP_FALLBACK_*
 *
 * What TCP knows at once is connect()'s result and leaves an unconnected SDP
 * socket.
 * Context: process, lock_sock; connect().
 * Return: -EINPROGRESS or 0 when the
 * socket is TCP's, or the -errno with which TCP has failed.
 */
int sdp_fallback_now(struct sock *sk, int reason)
{
	int err = sdp_companion_connect(sk);

	if (!err || err == -EINPROGRESS) {
		sdp_fallback_take_over(sk, reason);
		return err;
	}
	SDP_INC_STATS(sock_net(sk), SDP_MIB_FALLBACK_FAILED);
	sdp_fallback_end(sk, 0);
	/* TCP alone would not even have chosen a port */
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		inet_sk(sk)->inet_sport = 0;
	WRITE_ONCE(sk->sk_shutdown, 0);
	sdp_reset_saddr(sk);
	sk->sk_socket->state = SS_UNCONNECTED;
	return err;
}

/* The same when connect() doesn't wait for it any more */
static void sdp_fallback_later(struct sock *sk)
{
	int err = sdp_companion_connect(sk);

	if (!err || err == -EINPROGRESS) {
		sdp_fallback_take_over(sk, sdp_sk(sk)->reason);
		return;
	}
	SDP_INC_STATS(sock_net(sk), SDP_MIB_FALLBACK_FAILED);
	sdp_fallback_end(sk, -err);
	sk_error_report(sk);
	sk->sk_state_change(sk);
}

/* The attempt has taken too long, or has succeeded; lock_sock held */
static void sdp_try_over(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	bool connected;

	spin_lock_bh(&sdp->lock);
	/* The work may have been meant for an attempt before this one */
	if (sdp->trying && sdp->conn && sk->sk_state == TCP_SYN_SENT &&
	    !time_before(jiffies, sdp->try_end))
		__sdp_conn_fail(sdp->conn, ETIMEDOUT);
	connected = !((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_SYN_SENT | TCPF_LISTEN));
	spin_unlock_bh(&sdp->lock);
	/* A port the program has asked for stays taken */
	if (connected && !(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sdp_companion_drop(sk);
}

static void sdp_try_work(struct work_struct *work)
{
	struct sdp_sock *sdp = container_of(to_delayed_work(work), struct sdp_sock, try_work);
	struct sock *sk = (struct sock *)sdp;

	lock_sock(sk);
	if (sdp_falling(sk))
		sdp_fallback_later(sk);
	else if (!sdp->fallen)
		sdp_try_over(sk);
	release_sock(sk);
	sock_put(sk);
}

/* The work has a reference to the socket as long as it is to run */
static void sdp_try_schedule(struct sock *sk, unsigned long delay)
{
	sock_hold(sk);
	if (mod_delayed_work(sdp_try_wq, &sdp_sk(sk)->try_work, delay))
		sock_put(sk);
}

static void sdp_try_cancel(struct sock *sk)
{
	if (cancel_delayed_work(&sdp_sk(sk)->try_work))
		sock_put(sk);
}

/**
 * sdp_fallback_setup() - initialise a socket, new or cloned
 * @sk:	socket, known to nobody else
 *
 * Context: any. The policy is set by who makes it or inherited.
 */
void sdp_fallback_setup(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	sdp->reason = SDP_FALLBACK_NONE;
	sdp->trying = false;
	sdp->fallen = false;
	sdp->tcp_turn = false;
	sdp->tcp = NULL;
	sdp->tcp_sk = NULL;
	INIT_HLIST_NODE(&sdp->tcp_node);
	INIT_DELAYED_WORK(&sdp->try_work, sdp_try_work);
}

/**
 * sdp_fallback_watch() - an attempt by SDP has begun: give it its time
 * @sk:		SDP socket
 * @known:	the peer is known to speak SDP
 *
 * Context: process, lock_sock.
 */
void sdp_fallback_watch(struct sock *sk, bool known)
{
	unsigned int ms = READ_ONCE(sdp_pernet(sock_net(sk))->try_timeout);

	if (known)
		ms *= SDP_KNOWN_PATIENCE;
	sdp_sk(sk)->try_end = jiffies + msecs_to_jiffies(ms);
	sdp_try_schedule(sk, msecs_to_jiffies(ms));
}

static int sdp_fallback_reason(int err, bool busy)
{
	switch (err) {
	case ECONNREFUSED:
		return SDP_FALLBACK_REFUSED;
	case ETIMEDOUT:
		return busy ? SDP_FALLBACK_BUSY : SDP_FALLBACK_TIMEOUT;
	case EHOSTUNREACH:
		return SDP_FALLBACK_NO_ROUTE;
	case ENETUNREACH:
	case ENETDOWN:
	case EADDRNOTAVAIL:
		return SDP_FALLBACK_NO_DEVICE;
	case ENOMEM:
	case ENOBUFS:
	case EAGAIN:
		return SDP_FALLBACK_LOCAL;
	default:
		return SDP_FALLBACK_PROTOCOL;
	}
}

/**
 * sdp_fallback_take() - does the failure of an attempt go to TCP instead of the program?
 * @sk:		SDP socket whose connection ends
 * @err:	positive errno it ends with
 * @busy:	the peer had asked for patience
 *
 * Context: process, sdp->lock held.
 * Return: true if so: the socket is to stay
 * in TCP_SYN_SENT, and sdp_fallback_start() to follow. The peer is remembered by that, while its
 * address is still the one that was tried.
 */
bool sdp_fallback_take(struct sock *sk, int err, bool busy)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (!sdp->trying || !err || sk->sk_state != TCP_SYN_SENT || sock_flag(sk, SOCK_DEAD))
		return false;
	sdp->reason = sdp_fallback_reason(err, busy);
	sdp_dest_store(sk, sdp->reason);
	return true;
}

/**
 * sdp_fallback_start() - the connection is gone: go on to TCP
 * @sk:	SDP socket, falling
 *
 * Context: process, no lock held.
 */
void sdp_fallback_start(struct sock *sk)
{
	sdp_try_schedule(sk, 0);
}

/**
 * sdp_fallback_won() - an attempt has succeeded
 * @sk:	SDP socket
 *
 * Context: process, CM handler, no lock held.
 */
void sdp_fallback_won(struct sock *sk)
{
	sdp_dest_store(sk, SDP_FALLBACK_NONE);
	sdp_try_schedule(sk, 0);
}

/**
 * sdp_fallback_cancel() - the program doesn't want to be connected any more
 * @sk:		SDP socket
 * @err:	positive errno of an attempt that ends here
 *
 * Context: process, lock_sock.
 * Return: true if SDP had failed, and the socket has
 * come to its end by this.
 */
bool sdp_fallback_cancel(struct sock *sk, int err)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	bool falling;

	spin_lock_bh(&sdp->lock);
	falling = __sdp_falling(sk);
	sdp->trying = false;
	spin_unlock_bh(&sdp->lock);
	if (falling)
		sdp_fallback_end(sk, err);
	return falling;
}

/**
 * sdp_fallback_release() - the struct socket goes
 * @sk:	SDP socket that is still in it, no longer listening
 *
 * Context: process, lock_sock.
 */
void sdp_fallback_release(struct sock *sk)
{
	sdp_fallback_cancel(sk, 0);
	sdp_try_cancel(sk);
	sdp_companion_drop(sk);
}

/**
 * sdp_fallback_init() - prepare for fallbacks
 *
 * Context: module load.
 * Return: 0 or -errno.
 */
int sdp_fallback_init(void)
{
	sdp_try_wq = alloc_workqueue("sdp_try", WQ_UNBOUND, 0);
	return sdp_try_wq ? 0 : -ENOMEM;
}

/**
 * sdp_fallback_exit() - undo sdp_fallback_init()
 *
 * Context: module unload, no socket is left.
 */
void sdp_fallback_exit(void)
{
	destroy_workqueue(sdp_try_wq);
}
