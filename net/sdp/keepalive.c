// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that says nothing: SO_KEEPALIVE, TCP_USER_TIMEOUT, and data it has no
 * room for or doesn't read.
 *
 * The device repeats what isn't acknowledged and reports in the end that the
 * peer is gone. This is about the times when nothing is in flight, so that
 * nobody would notice. A probe is an RDMA WRITE of no bytes (as OFED's): the
 * peer's device acknowledges it, its program and its SDP see nothing, and it
 * costs no credit. It has a place among the send slots.
 *
 * One timer does it all. While data waits for the peer it looks whether any
 * has been taken; otherwise, with SO_KEEPALIVE, whether the peer was heard of.
 *
 * A peer that reads none of what it was advertised takes nothing, though it may
 * have room: TCP's would have taken that much into its receive buffer. So what
 * no send() waits for is taken back after a while, and goes as Data. What then
 * isn't taken, TCP's peer would not have taken either.
 */
#include "conn.h"
#include "sdp.h"
#include "src.h"
#include "trace.h"

/*
 * Data waits for credits or to be read, and nothing is in flight: how often to
 * ask if the peer lives, and how long it may leave adverts unread
 */
#define SDP_PERSIST_TIME	(5 * HZ)

/* Bytes of ours the peer has taken */
static u32 sdp_probe_taken(const struct sdp_sock *sdp)
{
	return sdp_bytes_sent(sdp) - sdp->conn->tx.unacked;
}

static bool sdp_probe_waiting(const struct sdp_conn *conn)
{
	return conn->tx.unsent || conn->tx.unacked || conn->tx.n_adverts;
}

static unsigned long sdp_user_timeout(const struct sdp_sock *sdp)
{
	return msecs_to_jiffies(READ_ONCE(sdp->opt.user_timeout));
}

/*
 * While data waits: from one look to the next. Half of a short TCP_USER_TIMEOUT,
 * so that what is taken back has the other half to arrive as Data
 */
static unsigned long sdp_probe_interval(const struct sdp_sock *sdp)
{
	unsigned long limit = sdp_user_timeout(sdp);

	return limit ? clamp(limit / 2, 1UL, SDP_PERSIST_TIME) : SDP_PERSIST_TIME;
}

static void sdp_probe_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = wc->qp->qp_context;
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	spin_lock_bh(&sdp->lock);
	conn->tx.probing = false;
	if (wc->status == IB_WC_SUCCESS) {
		sdp->probes = 0;
		conn->heard = jiffies;
		sdp_tx_push(conn);
	} else if (wc->status != IB_WC_WR_FLUSH_ERR) {
		__sdp_conn_fail(conn, sdp_wc_errno(wc->status));
	}
	spin_unlock_bh(&sdp->lock);
}

static void sdp_probe_post(struct sdp_conn *conn)
{
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &conn->probe_cqe,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
	};

	if (conn->tx.probing || !sdp_tx_has_slot(&conn->tx))
		return;
	conn->probe_cqe.done = sdp_probe_done;
	if (sdp_post_send(conn, &wr.wr)) {
		__sdp_conn_fail(conn, ECONNRESET);
		return;
	}
	conn->tx.probing = true;
	SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_PROBES);
}

/* Data waits; jiffies until the next look, 0 for the end */
static unsigned long sdp_probe_stalled(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	unsigned long limit = sdp_user_timeout(sdp), interval = sdp_probe_interval(sdp), stalled;

	if (sdp_probe_taken(sdp) != sdp->probe_taken) {
		sdp->probe_taken = sdp_probe_taken(sdp);
		sdp->probe_since = jiffies;
	}
	stalled = jiffies - sdp->probe_since;
	if (limit && stalled >= limit)
		return 0;
	if (stalled >= interval && conn->tx.done == conn->tx.sent)
		sdp_probe_post(conn);
	return limit ? min(limit - stalled, interval) : interval;
}

/* The same, once the timer runs again: pushing begins anew where it doesn't */
static void sdp_probe_unread(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	if (conn->tx.n_adverts && !conn->ending &&
	    jiffies - sdp->probe_since >= sdp_probe_interval(sdp))
		__sdp_src_take_back(conn);
}

/* Nothing waits; jiffies until the next look, 0 for the end */
static unsigned long sdp_probe_idle(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	unsigned long limit = sdp_user_timeout(sdp), idle = jiffies - conn->heard;
	unsigned long wait = sdp_keepidle(conn->sk) * HZ;

	if (idle < wait) {
		sdp->probes = 0;
		return wait - idle;
	}
	if (sdp->probes && (limit ? idle >= limit : sdp->probes >= sdp_keepcnt(conn->sk)))
		return 0;
	sdp->probes++;
	sdp_probe_post(conn);
	return sdp_keepintvl(conn->sk) * HZ;
}

/**
 * sdp_probe_timeout() - look after the peer
 * @t:	probe_timer
 *
 * Context: softirq.
 */
void sdp_probe_timeout(struct timer_list *t)
{
	struct sdp_sock *sdp = from_timer(sdp, t, probe_timer);
	struct sock *sk = (struct sock *)sdp;
	struct sdp_conn *conn;
	unsigned long wait;
	bool deferred;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	deferred = sdp->deferred;
	if (!conn || !conn->up || conn->ending || conn->aborted || deferred)
		goto out;
	if (sdp_probe_waiting(conn))
		wait = sdp_probe_stalled(conn);
	else if (sock_flag(sk, SOCK_KEEPOPEN))
		wait = sdp_probe_idle(conn);
	else
		goto out;
	if (wait) {
		sk_reset_timer(sk, &sdp->probe_timer, jiffies + wait);
		sdp_probe_unread(conn);
	} else {
		sdp_abort(conn, ETIMEDOUT);
	}
out:
	spin_unlock_bh(&sdp->lock);
	if (deferred)
		sdp_child_undefer(sk);
	sock_put(sk);
}

/**
 * sdp_probe_arm() - an option or the state of the connection has changed
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 */
void sdp_probe_arm(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	unsigned long when;

	if (!conn->up || conn->ending || sdp->deferred)
		return;
	if (sdp_probe_waiting(conn))
		when = jiffies + sdp_probe_interval(sdp);
	else if (sock_flag(sk, SOCK_KEEPOPEN))
		when = conn->heard + sdp_keepidle(sk) * HZ;
	else
		return;
	if (timer_pending(&sdp->probe_timer) && !time_after(sdp->probe_timer.expires, when))
		return;
	sdp->probe_taken = sdp_probe_taken(sdp);
	sdp->probe_since = jiffies;
	sk_reset_timer(sk, &sdp->probe_timer, when);
}

/**
 * sdp_keepalive() - proto.keepalive: SO_KEEPALIVE is being set
 * @sk:		socket
 * @on:		to what
 *
 * Context: process, lock_sock; before the flag changes.
 */
void sdp_keepalive(struct sock *sk, int on)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	sock_valbool_flag(sk, SOCK_KEEPOPEN, on);
	if (sdp->conn)
		sdp_probe_arm(sdp->conn);
	spin_unlock_bh(&sdp->lock);
}
