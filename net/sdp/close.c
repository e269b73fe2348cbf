// SPDX-License-Identifier: GPL-2.0
/*
 * How a stream ends. States are TCP's, DisConn is the FIN:
 *
 *   ESTABLISHED --send DisConn--> FIN_WAIT1 --delivered--> FIN_WAIT2
 *   ESTABLISHED --recv DisConn--> CLOSE_WAIT --send--> LAST_ACK
 *   FIN_WAIT1 --recv--> CLOSING --delivered--> TIME_WAIT
 *   FIN_WAIT2 --recv--> TIME_WAIT
 *
 * Who comes to TIME_WAIT has sent his DisConn before he received the peer's,
 * and ends the connection with the CM's DREQ (reference gen1); LAST_ACK waits
 * for that DREQ. The transport's own timewait is conn.c's business.
 *
 * An end that is no proper one is AbortConn, then DREQ; the peer's program
 * gets ECONNRESET.
 */
#include "fallback.h"
#include "sdp.h"
#include "trace.h"

/* How long AbortConn may take to be delivered */
#define SDP_ABORT_DELAY		(HZ / 5)

/*
 * How long the peer is waited for: an orphan's DisConn to be answered, its
 * data to move on at all, or a DREQ to follow both DisConns
 */
static void sdp_start_fin_timer(struct sock *sk)
{
	int timeout = READ_ONCE(sdp_pernet(sock_net(sk))->fin_timeout);
	int linger2 = READ_ONCE(sdp_sk(sk)->opt.linger2);

	/* All has arrived, and it is the peer's turn */
	if (linger2 && sk->sk_state == TCP_FIN_WAIT2)
		timeout = max(linger2, 0);
	sk_reset_timer(sk, &sdp_sk(sk)->fin_timer, jiffies + timeout * HZ);
}

/**
 * sdp_send_fin() - send DisConn behind all data
 * @sk:	socket
 *
 * Context: process, sdp->lock held.
 */
void sdp_send_fin(struct sock *sk)
{
	struct sdp_conn *conn = sdp_sk(sk)->conn;

	lockdep_assert_held(&sdp_sk(sk)->lock);
	if (!conn)
		return;
	switch (sk->sk_state) {
	case TCP_ESTABLISHED:
	case TCP_SYN_RECV:
		sdp_set_state(sk, TCP_FIN_WAIT1);
		break;
	case TCP_CLOSE_WAIT:
		sdp_set_state(sk, TCP_LAST_ACK);
		break;
	default:
		return;
	}
	sdp_tx_set(conn, SDP_TX_DISCONN);
	sdp_tx_push(conn);
}

/**
 * sdp_rcv_fin() - the peer's DisConn has come
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_rcv_fin(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;

	conn->rx.fin = true;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	sdp_sk(sk)->rcv_done = true;
	switch (sk->sk_state) {
	case TCP_ESTABLISHED:
		sdp_set_state(sk, TCP_CLOSE_WAIT);
		break;
	case TCP_FIN_WAIT1:
		sdp_set_state(sk, TCP_CLOSING);
		break;
	case TCP_FIN_WAIT2:
		sdp_set_state(sk, TCP_TIME_WAIT);
		sdp_conn_end(conn, 0);
		break;
	default:
		break;	/* handshake not over: sdp_conn_established() looks at @fin */
	}
	if (sock_flag(sk, SOCK_DEAD))
		return;
	sk->sk_state_change(sk);
	if (sk->sk_shutdown == SHUTDOWN_MASK || sk->sk_state == TCP_CLOSE)
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_HUP);
	else
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * sdp_fin_delivered() - our DisConn, and so all data, has reached the peer
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_fin_delivered(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;

	conn->tx.fin_done = true;
	switch (sk->sk_state) {
	case TCP_FIN_WAIT1:
		sdp_set_state(sk, TCP_FIN_WAIT2);
		if (sock_flag(sk, SOCK_DEAD))
			sdp_start_fin_timer(sk);
		break;
	case TCP_CLOSING:
		sdp_set_state(sk, TCP_TIME_WAIT);
		sdp_conn_end(conn, 0);
		break;
	case TCP_LAST_ACK:
		sdp_start_fin_timer(sk);
		break;
	default:
		return;
	}
	/* close() with SO_LINGER may be waiting */
	sk->sk_state_change(sk);
}

/**
 * sdp_abort() - end a connection improperly
 * @conn:	connection
 * @err:	positive errno for our own program
 *
 * The peer is told by AbortConn if it has a credit left for that, and by the
 * CM anyway.
 * Context: any, sdp->lock held.
 */
void sdp_abort(struct sdp_conn *conn, int err)
{
	conn->again = false;
	if (conn->ending || conn->aborted)
		return;
	conn->err = conn->err ?: err;
	conn->aborted = true;
	if (!conn->up) {
		sdp_conn_end(conn, 0);
		return;
	}
	sdp_conn_end(conn, SDP_ABORT_DELAY);
	sdp_tx_set(conn, SDP_TX_ABORT);
	sdp_tx_push(conn);
}

/* As tcp_check_oom() */
static bool sdp_orphan_ok(struct sock *sk)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));

	return atomic_read(&sn->orphans) <= READ_ONCE(sn->max_orphans) &&
	       (sk->sk_wmem_queued <= SOCK_MIN_SNDBUF ||
		sk_memory_allocated(sk) <= sk_prot_mem_limits(sk, 2));
}

/* A connection that isn't over, and no program has it any more; sdp->lock held */
static void sdp_orphaned(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	sdp->orphan = true;
	atomic_inc(&sdp_pernet(sock_net(sk))->orphans);
	sdp_start_fin_timer(sk);
	if (sdp_orphan_ok(sk))
		return;
	SDP_INC_STATS(sock_net(sk), SDP_MIB_ABORT_ORPHANS);
	sdp_abort(sdp->conn, ECONNRESET);
}

static bool sdp_fin_acked(struct sock *sk, unsigned long unused)
{
	return !((1 << READ_ONCE(sk->sk_state)) & (TCPF_FIN_WAIT1 | TCPF_CLOSING | TCPF_LAST_ACK));
}

/**
 * sdp_close() - the last descriptor is gone
 * @sk:	socket, not listening
 *
 * What has been sent still arrives; unread data or SO_LINGER with zero reset
 * the connection (RFC 2525, 2.17). Waits as SO_LINGER says.
 * Context: process, lock_sock, released while it waits.
 */
void sdp_close(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	long timeo = 0;

	if (sock_flag(sk, SOCK_LINGER) && !(current->flags & PF_EXITING))
		timeo = sk->sk_lingertime;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	if (conn && !conn->up)
		sdp_conn_end(conn, 0);
	else if (conn && (sdp_rx_unread(sk) || (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime)))
		sdp_abort(conn, ECONNRESET);
	else
		sdp_send_fin(sk);
	spin_unlock_bh(&sdp->lock);

	/* Nothing is left that could change under it, and others need not wait as long */
	if (timeo && !sdp_fin_acked(sk, 0)) {
		release_sock(sk);
		sdp_wait(sk, timeo, sdp_fin_acked, 0);
		lock_sock(sk);
	}
	sock_orphan(sk);

	spin_lock_bh(&sdp->lock);
	if (sdp->conn && ((1 << sk->sk_state) & (TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 |
						 TCPF_CLOSING | TCPF_LAST_ACK)))
		sdp_orphaned(sk);
	/* Data that came between the two looks nobody will read either */
	if (sdp->conn && sdp_rx_unread(sk))
		sdp_abort(sdp->conn, ECONNRESET);
	spin_unlock_bh(&sdp->lock);
}

static int sdp_destroy_conn(struct sock *sk, int err)
{
	struct sdp_conn *conn = sdp_sk(sk)->conn;

	if (!conn)
		return -ENOENT;
	sdp_abort(conn, err);
	return 0;
}

/**
 * sdp_destroy() - end what a socket does, for an administrator
 * @sk:		socket
 * @err:	positive errno for its program
 *
 * A listener stops, a connection is reset whatever its state.
 * Context: process.
 * Return: 0, or -ENOENT when there is nothing to end.
 */
int sdp_destroy(struct sock *sk, int err)
{
	const int locked = TCPF_LISTEN | TCPF_SYN_SENT;
	struct sdp_sock *sdp = sdp_sk(sk);
	int ret = -ENOENT;

	/*
	 * Not under lock_sock(), which a program that waits in a system call
	 * may hold for long; but nobody ends a connection that connect() is
	 * just making, and there nobody waits with it
	 */
	spin_lock_bh(&sdp->lock);
	if (!((1 << sk->sk_state) & locked))
		ret = sdp_destroy_conn(sk, err);
	spin_unlock_bh(&sdp->lock);
	if (!ret || !((1 << READ_ONCE(sk->sk_state)) & locked))
		return ret;
	lock_sock(sk);
	if (sk->sk_state == TCP_LISTEN) {
		WRITE_ONCE(sk->sk_err, err);
		sdp_listen_stop(sk);
		ret = 0;
	} else if (sdp_fallback_cancel(sk, err)) {
		/* SDP had failed already: no connection is there to tell of it */
		sk_error_report(sk);
		sk->sk_state_change(sk);
		ret = 0;
	} else {
		spin_lock_bh(&sdp->lock);
		ret = sdp_destroy_conn(sk, err);
		spin_unlock_bh(&sdp->lock);
	}
	release_sock(sk);
	return ret;
}

/* Something else than before if the peer has taken anything */
static u32 sdp_progress(const struct sdp_conn *conn)
{
	return conn->tx.done - conn->tx.advertised;
}

/**
 * sdp_fin_timeout() - the peer has not done its part in time
 * @t:	fin_timer
 *
 * Context: softirq.
 */
void sdp_fin_timeout(struct timer_list *t)
{
	struct sdp_sock *sdp = from_timer(sdp, t, fin_timer);
	struct sock *sk = (struct sock *)sdp;
	struct sdp_conn *conn;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	if (conn && conn->tx.fin_done && conn->rx.fin) {
		sdp_conn_end(conn, 0);
	} else if (conn && !conn->tx.fin_done && sdp_progress(conn) != sdp->fin_seen) {
		/* A slow reader is a reader */
		sdp->fin_seen = sdp_progress(conn);
		sdp_start_fin_timer(sk);
	} else if (conn) {
		sdp_abort(conn, ETIMEDOUT);
	}
	spin_unlock_bh(&sdp->lock);
	sock_put(sk);
}
