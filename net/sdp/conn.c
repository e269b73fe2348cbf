// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a connection: its queue pair and how it ends.
 *
 * A connection is made by connect() or by a connection request, gets its
 * device and queue pair in sdp_conn_setup(), carries messages from
 * sdp_conn_established() on, and is ended by sdp_conn_end() or
 * sdp_conn_fail(), which may be called from any context and any number of
 * times: they make @end_work run, and only that takes things apart.
 *
 *   1. no more posting (@ending); no more handlers of the resolver and, unless
 *	timewait follows, of the CM
 *   2. drain the queue pair: every message that had arrived is delivered to
 *	the socket by the usual completions
 *   3. part from the socket: it becomes TCP_CLOSE, with an error if the end
 *	wasn't a proper one; or, for a request to be tried again, gets the next
 *	connection
 *   4. timewait, if the CM wants it, in which only the queue pair (lest its
 *	number be used again) and the CM's handle remain
 */
#include <linux/error-injection.h>

#include "cm.h"
#include "conn.h"
#include "device.h"
#include "fallback.h"
#include "read.h"
#include "sdp.h"
#include "sink.h"
#include "src.h"
#include "trace.h"

/* Work requests of the send queue: messages, RDMA, ib_drain_qp()'s */
#define SDP_SQ_WRS	(SDP_TX_MAX + SDP_RDMA_WRS + 1)
static_assert(SDP_SQ_WRS < 64, "providers would make the queue of every idle connection larger");
/* Connections in timewait per device; beyond, they are cut short */
#define SDP_TW_MAX	1024
/* Until a request that met a full queue is repeated; doubles each time */
#define SDP_RETRY_DELAY	(HZ / 20)

static void sdp_conn_end_work(struct work_struct *work);

/**
 * sdp_conn_alloc() - a connection without a device yet
 * @sk:	its socket, of which it takes a reference
 *
 * Context: process.
 * Return: the connection or NULL.
 */
struct sdp_conn *sdp_conn_alloc(struct sock *sk)
{
	struct sdp_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	sock_hold(sk);
	conn->sk = sk;
	INIT_LIST_HEAD(&conn->dev_list);
	INIT_LIST_HEAD(&conn->tx.queue);
	INIT_LIST_HEAD(&conn->tx.adverts);
	INIT_LIST_HEAD(&conn->tx.retired);
	conn->tx.mode = SDP_MODE_COMBINED;
	conn->rx.mode = SDP_MODE_COMBINED;
	sdp_rx_init(conn);
	sdp_read_init(conn);
	mutex_init(&conn->cm_mutex);
	init_completion(&conn->cm_told);
	INIT_DELAYED_WORK(&conn->end_work, sdp_conn_end_work);
	INIT_DELAYED_WORK(&conn->cm_work, sdp_cm_work);
	conn->retry_delay = SDP_RETRY_DELAY;
	conn->started = jiffies;
	return conn;
}

static void sdp_qp_event(struct ib_event *event, void *context)
{
	struct sdp_conn *conn = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		sdp_conn_kick(conn);
		break;
	default:
		/* IB_EVENT_COMM_EST: the first message itself tells, see rx.c */
		break;
	}
}

static int sdp_conn_create_qp(struct sdp_conn *conn)
{
	struct ib_qp_init_attr attr = {
		.event_handler	= sdp_qp_event,
		.qp_context	= conn,
		.send_cq	= conn->cq,
		.recv_cq	= conn->cq,
		.cap		= {
			.max_send_wr	= SDP_SQ_WRS,
			.max_recv_wr	= SDP_RX_MAX + 1,
			.max_send_sge	= 2,
			.max_recv_sge	= 2,
		},
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(conn->pd->pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	conn->qp = qp;
	return 0;
}

/**
 * sdp_conn_setup() - give a connection what it needs of its device
 * @conn:	connection
 * @dev:	device, to which the caller has a reference
 *
 * On error what was made stays with the connection, for its end to free.
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_conn_setup(struct sdp_conn *conn, struct sdp_dev *dev)
{
	struct sdp_pd *pd;
	struct ib_cq *cq;
	int err;

	err = sdp_dev_add_conn(dev, conn);
	if (err)
		return err;
	conn->cm = dev->cm;

	pd = sdp_pd_get(dev, conn->sk->sk_uid);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->pd = pd;
	conn->lkey = pd->pd->local_dma_lkey;

	conn->cq_used = SDP_SQ_WRS + SDP_RX_MAX + 1;
	cq = ib_cq_pool_get(dev->ib, conn->cq_used, -1, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->cq = cq;

	err = sdp_conn_create_qp(conn);
	if (err)
		return err;
	err = sdp_tx_alloc(conn);
	if (err)
		return err;
	err = sdp_rx_alloc(conn);
	if (err)
		return err;
	conn->rq_psn = get_random_u32_below(1 << 24);
	return 0;
}

/**
 * sdp_conn_init_qp() - bring a queue pair to INIT and post its first receives
 * @conn:	connection, set up
 * @port_num:	device port
 * @pkey_index:	partition on it
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_conn_init_qp(struct sdp_conn *conn, u32 port_num, u16 pkey_index)
{
	struct ib_qp_attr attr = {
		.qp_state		= IB_QPS_INIT,
		.pkey_index		= pkey_index,
		.port_num		= port_num,
		.qp_access_flags	= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	bool ok;
	int err;

	conn->port_num = port_num;
	err = ib_modify_qp(conn->qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (err)
		return err;

	spin_lock_bh(&sdp->lock);
	sdp_rx_fill(conn);
	ok = sdp_rx_grant(conn) >= SDP_MIN_BUFS;
	spin_unlock_bh(&sdp->lock);
	return ok ? 0 : -ENOMEM;
}

/**
 * sdp_conn_rtr_rts() - make a queue pair ready to receive and to send
 * @conn:	connection whose queue pair is in INIT
 * @rtr:	attributes for the first step
 * @rtr_mask:	which of them are set
 * @rts:	attributes for the second
 * @rts_mask:	which of them are set
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_conn_rtr_rts(struct sdp_conn *conn, struct ib_qp_attr *rtr, int rtr_mask,
		     struct ib_qp_attr *rts, int rts_mask)
{
	int err;

	conn->rx.max_reads = rts->max_rd_atomic;
	/* 0.64 ms; zero would mean 655 ms. Credits make RNR impossible anyway. */
	rtr->min_rnr_timer = 12;
	err = ib_modify_qp(conn->qp, rtr, rtr_mask | IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	conn->rtr = true;
	return ib_modify_qp(conn->qp, rts, rts_mask);
}

/**
 * sdp_post_send() - put work requests into the send queue, in which there is room
 * @conn:	connection
 * @wr:		the first of them
 *
 * In one place for fault injection.
 * Context: any, sdp->lock held.
 * Return: 0; or -errno, when nobody knows which of
 * them were taken, so the connection has to end.
 */
noinline int sdp_post_send(struct sdp_conn *conn, struct ib_send_wr *wr)
{
	return ib_post_send(conn->qp, wr, NULL);
}
ALLOW_ERROR_INJECTION(sdp_post_send, ERRNO);

/* The resolver's handle has done its work. Waits for its handler. */
static void sdp_conn_drop_route(struct sdp_conn *conn)
{
	struct rdma_cm_id *id = xchg(&conn->rdma_id, NULL);

	if (!id)
		return;
	/*
	 * When a device is removed while rdma_resolve_addr() has the handle on it but hasn't
	 * asked yet, nobody takes the question back: not the removal, for which it comes too
	 * late, nor rdma_destroy_id(), which leaves that to the removal.
	 */
	rdma_addr_cancel(&id->route.addr.dev_addr);
	rdma_destroy_id(id);
}

/**
 * sdp_conn_established() - the handshake is over, data may flow
 * @conn:	connection whose queue pair is ready to send
 *
 * Context: process, CM handler. May be called again for the same connection.
 */
void sdp_conn_established(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	bool passive = false, was = true, won;

	spin_lock_bh(&sdp->lock);
	if (!conn->up && !conn->ending) {
		was = false;
		conn->up = true;
		conn->heard = jiffies;
		cancel_delayed_work(&conn->cm_work);	/* the handshake's time limit */
		passive = sk->sk_state == TCP_SYN_RECV;
		if (passive || sk->sk_state == TCP_SYN_SENT) {
			sdp_set_state(sk, TCP_ESTABLISHED);
			SDP_INC_STATS(sock_net(sk), SDP_MIB_ESTABLISHED);
		}
		/* What came in before the handshake was over */
		if (conn->rx.fin && sk->sk_state == TCP_ESTABLISHED)
			sdp_set_state(sk, TCP_CLOSE_WAIT);
		sdp_tx_push(conn);
		sdp_probe_arm(conn);
	}
	won = !was && sdp->trying;
	if (won)
		sdp->trying = false;
	spin_unlock_bh(&sdp->lock);
	if (was)
		return;
	if (won)
		sdp_fallback_won(sk);

	sdp_conn_drop_route(conn);
	if (passive) {
		if (!sdp_child_defer(sk))
			sdp_child_ready(sk);
	} else if (!sock_flag(sk, SOCK_DEAD)) {
		sk->sk_state_change(sk);
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	}
}

/**
 * sdp_conn_end() - end a connection
 * @conn:	connection
 * @delay:	jiffies to give a last message
 *
 * Context: any, sdp->lock held.
 */
void sdp_conn_end(struct sdp_conn *conn, unsigned long delay)
{
	lockdep_assert_held(&sdp_sk(conn->sk)->lock);
	conn->again = false;
	if (!delay)
		conn->ending = true;
	mod_delayed_work(sdp_wq, &conn->end_work, delay);
}

/**
 * sdp_conn_retry() - end a refused connection, to try again with a new one
 * @conn:	connection of a connecting socket, which won't notice
 *
 * Context: any, sdp->lock held.
 */
void sdp_conn_retry(struct sdp_conn *conn)
{
	sdp_conn_end(conn, 0);
	conn->again = true;
}

/**
 * __sdp_conn_fail() - end a connection because of an error
 * @conn:	connection
 * @err:	positive errno for the socket; the first one counts
 *
 * Context: any, sdp->lock held.
 */
void __sdp_conn_fail(struct sdp_conn *conn, int err)
{
	if (!conn->err)
		conn->err = err;
	sdp_conn_end(conn, 0);
}

/**
 * sdp_conn_fail() - end a connection because of an error
 * @conn:	connection that can't have parted from its socket yet
 * @err:	positive errno for the socket; the first one counts
 *
 * Context: any, sdp->lock not held.
 */
void sdp_conn_fail(struct sdp_conn *conn, int err)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	spin_lock_bh(&sdp->lock);
	__sdp_conn_fail(conn, err);
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_wc_errno() - what a failed work request means for the socket
 * @status:	of its completion, not a flush
 *
 * Context: any.
 * Return: positive errno.
 */
int sdp_wc_errno(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return ETIMEDOUT;
	default:
		return ECONNRESET;
	}
}

/**
 * sdp_conn_kick() - end a connection that may have parted from its socket already
 * @conn:	connection whose CM handle or queue pair still exists
 *
 * Context: any; for handlers that can't know whether there is a sdp->lock to take.
 */
void sdp_conn_kick(struct sdp_conn *conn)
{
	mod_delayed_work(sdp_wq, &conn->end_work, 0);
}

/**
 * sdp_conn_dev_gone() - end a connection because its device is being removed
 * @conn:	connection, perhaps in timewait
 *
 * Context: process, dev->lock held (so sdp->lock can't be taken).
 */
void sdp_conn_dev_gone(struct sdp_conn *conn)
{
	set_bit(SDP_CONN_DEV_GONE, &conn->flags);
	sdp_conn_kick(conn);
}

/**
 * sdp_conn_timewait_over() - the CM has seen the end of timewait
 * @conn:	connection for which disconnect() had announced one
 *
 * Context: process, CM handler.
 */
void sdp_conn_timewait_over(struct sdp_conn *conn)
{
	set_bit(SDP_CONN_TW_OVER, &conn->flags);
	sdp_conn_kick(conn);
}

/* Which error, if any, the socket gets */
static int sdp_conn_verdict(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;

	if (test_bit(SDP_CONN_DEV_GONE, &conn->flags) && !conn->err)
		return ENETDOWN;
	if (conn->err || !conn->up)
		return conn->err;
	if (conn->rx.fin && conn->tx.fin_sent)
		return 0;
	SDP_INC_STATS(sock_net(sk), SDP_MIB_RESETS);
	return conn->rx.fin ? EPIPE : ECONNRESET;
}

static void sdp_conn_part(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	bool failed_open, fall, spoke;
	int err;

	spin_lock_bh(&sdp->lock);
	err = sdp_conn_verdict(conn);
	failed_open = sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV;
	/* A peer that has sent messages is connected, though the CM has not told us yet */
	spoke = sk->sk_state == TCP_SYN_RECV && conn->heard && !sdp->opt.defer;
	sdp_tx_purge(conn);
	sdp_rx_purge(conn);
	sdp_read_purge(conn);
	fall = sdp_fallback_take(sk, err, conn->retry_delay > SDP_RETRY_DELAY);
	if (!fall) {
		if (err)
			WRITE_ONCE(sk->sk_err, err);
		WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
		/* As TCP: a port nobody asked for goes with the connection, others don't */
		if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
			sdp_put_port(sk);
		sk_stop_timer(sk, &sdp->fin_timer);
		sk_stop_timer(sk, &sdp->cork_timer);
		sk_stop_timer(sk, &sdp->probe_timer);
		sdp_set_state(sk, TCP_CLOSE);
	}
	/* From here on the program may bind, listen and connect again */
	WRITE_ONCE(sdp->conn, NULL);
	sk_mem_reclaim(sk);
	spin_unlock_bh(&sdp->lock);

	if (failed_open && !spoke)
		SDP_INC_STATS(sock_net(sk), SDP_MIB_ATTEMPT_FAILS);
	if (fall) {
		sdp_fallback_start(sk);
		wake_up_var(&sdp->conn);
		return;
	}
	if (err && !sock_flag(sk, SOCK_DEAD))
		sk_error_report(sk);
	sk->sk_state_change(sk);
	wake_up_var(&sdp->conn);
	if (spoke)
		sdp_child_ready(sk);
	sdp_child_unlink(sk);
}

/* A new connection for the socket, if this one is to be tried again */
static bool sdp_conn_replace(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *next = sdp_conn_alloc(sk);
	bool ok;

	if (!next)
		return false;
	next->started = conn->started;
	next->retry_delay = conn->retry_delay;
	next->unanswered = conn->unanswered;
	spin_lock_bh(&sdp->lock);
	ok = conn->again && !test_bit(SDP_CONN_DEV_GONE, &conn->flags);
	if (ok) {
		sdp_tx_purge(conn);
		sdp_rx_purge(conn);
		WRITE_ONCE(sdp->conn, next);
		queue_delayed_work(sdp_wq, &next->cm_work, next->retry_delay);
	}
	spin_unlock_bh(&sdp->lock);
	if (!ok) {
		kfree(next);
		sock_put(sk);
	}
	return ok;
}

/*
 * Gives back the share of the completion queue. The queue itself is the
 * pool's, and lives as long as the device; a drained queue pair, which may
 * stay for its timewait, puts nothing there any more.
 */
static void sdp_conn_put_cq(struct sdp_conn *conn)
{
	if (conn->cq)
		ib_cq_pool_put(conn->cq, conn->cq_used);
	conn->cq = NULL;
}

static void sdp_conn_free(struct sdp_conn *conn)
{
	if (conn->cm_id)
		conn->cm->destroy(conn);
	if (conn->qp)
		ib_destroy_qp(conn->qp);
	if (conn->pd)
		sdp_pd_put(conn->pd);
	sdp_dev_del_conn(conn);
	/* Handlers are gone, and so is the way to us from socket and device */
	cancel_delayed_work(&conn->end_work);
	kfree(conn);
}

/* May this connection keep its queue pair for the time the CM wants? */
static bool sdp_conn_timewait(struct sdp_conn *conn)
{
	struct sdp_dev *dev = conn->dev;
	bool ok;

	spin_lock_bh(&dev->lock);
	ok = !dev->removed && dev->tw_count < SDP_TW_MAX;
	if (ok)
		dev->tw_count++;
	spin_unlock_bh(&dev->lock);
	return ok;
}

static void sdp_conn_timewait_end(struct sdp_conn *conn)
{
	struct sdp_dev *dev = conn->dev;

	if (!test_bit(SDP_CONN_TW_OVER, &conn->flags) &&
	    !test_bit(SDP_CONN_DEV_GONE, &conn->flags))
		return;
	spin_lock_bh(&dev->lock);
	dev->tw_count--;
	spin_unlock_bh(&dev->lock);
	sdp_conn_free(conn);
}

static void sdp_conn_end_work(struct work_struct *work)
{
	struct sdp_conn *conn = container_of(to_delayed_work(work), struct sdp_conn, end_work);
	struct sock *sk = conn->sk;
	bool timewait = false;

	if (!sk) {
		sdp_conn_timewait_end(conn);
		return;
	}

	spin_lock_bh(&sdp_sk(sk)->lock);
	conn->ending = true;
	spin_unlock_bh(&sdp_sk(sk)->lock);

	cancel_delayed_work_sync(&conn->cm_work);
	wait_var_event(&conn->resolving, !READ_ONCE(conn->resolving));
	sdp_conn_drop_route(conn);
	if (conn->cm_id) {
		if (conn->cm_up)
			timewait = conn->cm->disconnect(conn) && sdp_conn_timewait(conn);
		if (!timewait)
			conn->cm->destroy(conn);
	}
	if (conn->qp && conn->rtr) {
		ib_drain_qp(conn->qp);
		if (conn->cm->drained)
			conn->cm->drained(conn);
	}
	sdp_rx_stop(conn);
	sdp_read_stop(conn);
	sdp_src_purge(conn);
	sdp_sink_purge(conn);
	sdp_conn_put_cq(conn);
	if (!READ_ONCE(conn->again) || !sdp_conn_replace(conn))
		sdp_conn_part(conn);
	sdp_rx_free(conn);
	sdp_tx_free(conn);
	conn->sk = NULL;
	sock_put(sk);

	if (timewait)
		sdp_conn_timewait_end(conn);	/* it may have been short */
	else
		sdp_conn_free(conn);
}
