// SPDX-License-Identifier: GPL-2.0
/*
 * Sinks: a recv() that waits advertises its memory (SinkAvail), and the peer
 * writes there by RDMA WRITE and says how much (RdmaWrCompl).
 *
 *	wanted --SinkAvail--> posted --RdmaWrCompl, or Data instead--> void --> over
 *	                         |                                      ^
 *	                         +--SinkAvailCancel, SinkCancelAck------+
 *
 * In SDP_ZCOPY_W every recv() that is large enough does so. In SDP_AUTO one does
 * that waits for net.sdp.sink_thresh bytes at least, or one with that much room
 * when those before it have waited and got as much; and the next ones don't
 * after one whose advert nobody wrote to, twice as many each time.
 *
 * One at a time, and for one recv(): what the peer has not filled of one would
 * be a gap in front of the next. It is over when its key has been invalidated,
 * which recv() waits for, whatever else happens.
 *
 * What is on its way when a SinkAvail is sent decides about it, and both ends
 * come to the same result:
 *
 *	a message with payload	discards the oldest SinkAvail, as its bytes are
 *		those that would have been written. The sink counts the messages
 *		that found none to discard, and tells (NonDiscards); a source
 *		whose own count is another has sent one that the sink has not
 *		seen, and drops the advert, which that message discards.
 *	a SrcAvail		is discarded by the sink. The source gets a
 *		SinkAvail while it has adverts out and takes these back.
 *	DisConn			ends all.
 *
 * As a source we write what is in a sender's memory (src.c), a piece for each
 * advert, as long as the peer has advertised; else it goes as always. What is
 * in buffers goes as Data.
 *
 * SinkAvail is legal in Pipelined mode only, so no peer gets one that takes a
 * single advert, as OFED's did.
 *
 * All under sdp->lock unless a comment says otherwise.
 */
#include "cm.h"
#include "conn.h"
#include "device.h"
#include "read.h"
#include "sdp.h"
#include "sink.h"
#include "trace.h"

/* The peer hasn't answered SinkAvailCancel for this long: it breaks the protocol */
#define SDP_SINK_CANCEL_TIME	(10 * HZ)
/* recv()s in a row that waited and got much: the next one will */
#define SDP_SINK_HITS		4
/* recv()s that don't advertise after one whose advert wasn't used, at most */
#define SDP_SINK_SKIP_MAX	64

/* ---- we are the sink ---- */

/* The peer can't use it any more by the rules: see to it that it can't at all */
static void sdp_sink_void(struct sdp_conn *conn, u32 done)
{
	struct sdp_sink *sink = conn->rx.sink;
	struct ib_send_wr inv = {
		.wr_cqe			= &sink->inv_cqe,
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.ex.invalidate_rkey	= sink->mr->key,
	};

	sink->done = done;
	sink->state = SDP_SINK_VOID;
	__clear_bit(SDP_TX_SINK_CANCEL, &conn->tx.pending);
	trace_sdp_advert_over(conn, SDP_MID_SINK_AVAIL, true, sink->len, done);
	/* Else it is over when the connection is */
	if (!conn->ending && sdp_post_send(conn, &inv))
		__sdp_conn_fail(conn, ECONNRESET);
}

static void sdp_sink_end(struct sdp_conn *conn)
{
	struct sdp_sink *sink = conn->rx.sink;

	conn->rx.sink = NULL;
	sink->state = SDP_SINK_OVER;
	complete(&sink->over);		/* it may be gone now */
}

static void sdp_sink_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = wc->qp->qp_context;
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	bool over = wc->status == IB_WC_SUCCESS;

	spin_lock_bh(&sdp->lock);
	if (over) {
		conn->rx.sink->mr->valid = false;
		sdp_sink_end(conn);
	} else if (wc->status != IB_WC_WR_FLUSH_ERR) {
		__sdp_conn_fail(conn, sdp_wc_errno(wc->status));
	}
	spin_unlock_bh(&sdp->lock);
	if (over)
		sk->sk_data_ready(sk);
}

static u32 sdp_sink_thresh(const struct sock *sk)
{
	return sdp_thresh(-1, READ_ONCE(sdp_pernet(sock_net(sk))->sink_thresh));
}

/**
 * sdp_sink_wanted() - should a recv() that is going to wait advertise its memory?
 * @sk:		socket
 * @room:	bytes it still takes
 * @need:	bytes it doesn't return without
 *
 * By itself only one that is sure to take much, or whose likes have waited and got much lately.
 * Context: process, rx_mutex held.
 * Return: true if so.
 */
bool sdp_sink_wanted(struct sock *sk, size_t room, size_t need)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 thresh = sdp_sink_thresh(sk);

	if (READ_ONCE(sdp->mode) == SDP_ZCOPY_W)
		return true;
	if (READ_ONCE(sdp->mode) != SDP_AUTO || room < thresh ||
	    (need < thresh && sdp->sink_hits < SDP_SINK_HITS))
		return false;
	return !sdp_backoff_skips(&sdp->sink_off);
}

/**
 * sdp_sink_learn() - a recv() has taken adverts of the peer's: what that means for sinks
 * @sk:		socket
 * @waited:	it was there first
 * @len:	bytes it took
 *
 * Context: process, rx_mutex held.
 */
void sdp_sink_learn(struct sock *sk, bool waited, u32 len)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (!waited || len < sdp_sink_thresh(sk))
		sdp->sink_hits = 0;
	else if (sdp->sink_hits < SDP_SINK_HITS)
		sdp->sink_hits++;
}

/* May there be a sink now? */
static bool sdp_sink_possible(const struct sdp_conn *conn)
{
	const struct sdp_rx *rx = &conn->rx;

	return conn->up && !conn->ending && !conn->aborted && conn->cm->reads && !rx->fin &&
	       rx->mode == SDP_MODE_PIPELINED && conn->peer_max_adverts > 1 &&
	       !sdp_sk(conn->sk)->rx_bytes && !sdp_read_open(conn) && !rx->ahead_busy;
}

/* The domain to make one of @want bytes in, with a reference */
static struct sdp_pd *sdp_sink_pd(struct sock *sk, size_t want)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	struct sdp_pd *pd = NULL;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	/* The annex wants it no smaller than a receive buffer, which one message may fill */
	if (conn && sdp_sink_possible(conn) && !conn->rx.sink &&
	    want >= (PAGE_SIZE << conn->rx.order)) {
		pd = conn->pd;
		sdp_pd_hold(pd);
	}
	spin_unlock_bh(&sdp->lock);
	return pd;
}

static bool sdp_sink_submit(struct sock *sk, struct sdp_sink *sink)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	bool ok = false;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	if (conn && conn->pd == sink->mr->pd && !conn->rx.sink && sdp_sink_possible(conn) &&
	    sink->len >= (PAGE_SIZE << conn->rx.order)) {
		conn->rx.sink = sink;
		sdp_tx_push(conn);
		ok = true;
	}
	spin_unlock_bh(&sdp->lock);
	return ok;
}

/* Makes a sink of what comes next of the program's memory */
static bool sdp_sink_start(struct sock *sk, struct sdp_sink *sink, const struct iov_iter *iter,
			   size_t want)
{
	struct sdp_pd *pd;
	int pinned;

	want = min(want, sdp_mr_segment(iter, NULL));
	if (want < SDP_SINK_MIN)
		return false;
	pd = sdp_sink_pd(sk, want);
	if (!pd)
		return false;
	sink->mr = sdp_mr_get(pd);
	if (!sink->mr)
		return false;
	pinned = sdp_mr_pin(sink->mr, iter, min_t(size_t, want, SDP_MR_BYTES), DMA_FROM_DEVICE,
			    true);
	if (pinned > 0) {
		sink->len = pinned;
		sink->done = 0;
		sink->state = SDP_SINK_WANTED;
		sink->cancelled = false;
		sink->inv_cqe.done = sdp_sink_inv_done;
		init_completion(&sink->over);
		if (sdp_sink_submit(sk, sink))
			return true;
		sdp_mr_unpin(sink->mr);
	}
	sdp_mr_put(sink->mr);
	return false;
}

static bool sdp_sink_ready(struct sock *sk, unsigned long arg)
{
	struct sdp_sink *sink = (struct sdp_sink *)arg;

	return completion_done(&sink->over) || sdp_recv_ready_direct(sk, 0);
}

/* Its receiver doesn't wait any longer; takes sdp->lock */
static void sdp_sink_take_back(struct sock *sk, struct sdp_sink *sink)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	if (sink->state == SDP_SINK_WANTED) {
		sdp_sink_end(sdp->conn);
	} else if (sink->state == SDP_SINK_POSTED) {
		trace_sdp_cancel(sdp->conn, SDP_MID_SINK_AVAIL, true);
		sdp_tx_set(sdp->conn, SDP_TX_SINK_CANCEL);
		sdp_tx_push(sdp->conn);
	}
	spin_unlock_bh(&sdp->lock);
	if (wait_for_completion_timeout(&sink->over, SDP_SINK_CANCEL_TIME))
		return;
	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		sdp_abort(sdp->conn, ETIMEDOUT);
	spin_unlock_bh(&sdp->lock);
	wait_for_completion(&sink->over);
}

/**
 * sdp_sink_recv() - advertise what comes next of the program's memory, and wait
 * @sk:		socket
 * @iter:	where to; advanced by what was written
 * @want:	bytes at most
 * @timeo:	how long it may wait, jiffies; reduced by what it did
 *
 * Waits for anything that ends a recv()'s waiting. Takes sdp->lock.
 * Context: process, rx_mutex held, but not while waiting.
 * Return: bytes; 0 when
 * nothing came this way.
 */
int sdp_sink_recv(struct sock *sk, struct iov_iter *iter, size_t want, long *timeo)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_sink sink;
	long left;

	if (!sdp_sink_start(sk, &sink, iter, want))
		return 0;
	/* Another receiver may go on while we wait */
	mutex_unlock(&sdp->rx_mutex);
	left = sdp_wait(sk, *timeo, sdp_sink_ready, (unsigned long)&sink);
	if (left >= 0 || left == -EAGAIN)
		*timeo = max(left, 0L);
	sdp_sink_take_back(sk, &sink);
	mutex_lock(&sdp->rx_mutex);
	if (sink.done)
		sdp->sink_off.misses = 0;
	else
		sdp_backoff_miss(&sdp->sink_off, SDP_SINK_SKIP_MAX);
	sdp_mr_unpin(sink.mr);
	sdp_mr_put(sink.mr);
	iov_iter_advance(iter, sink.done);
	return sink.done;
}

/**
 * sdp_sink_post() - send SinkAvail if there is a sink to be advertised
 * @conn:	connection with a credit for data and a send slot
 *
 * Context: any, sdp->lock held.
 * Return: true if it did.
 */
bool sdp_sink_post(struct sdp_conn *conn)
{
	struct sdp_sink *sink = conn->rx.sink;
	struct sdp_msg m = { .mid = SDP_MID_SINK_AVAIL };

	if (!sink || sink->state != SDP_SINK_WANTED || !sdp_sink_possible(conn) ||
	    !sdp_tx_has_reg_slot(&conn->tx))
		return false;
	sdp_mr_renew(sink->mr, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	m.avail.len = sink->len;
	m.avail.rkey = sink->mr->mr->rkey;
	m.avail.va = sdp_mr_addr(sink->mr);
	m.avail.non_discards = conn->rx.nond;
	/* If that fails its key may be good all the same */
	sink->state = SDP_SINK_POSTED;
	if (!sdp_tx_post_wr(conn, &m, NULL, NULL, sink->mr))
		return false;
	sink->mseq = conn->tx.sent;
	SDP_COUNT(conn->sk, SINK_AVAIL_SENT, sink_avail_sent, 1);
	trace_sdp_advert_sent(conn, SDP_MID_SINK_AVAIL, m.avail.va, m.avail.rkey, sink->len, 0);
	return true;
}

/**
 * sdp_sink_data() - a message with payload has come
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_sink_data(struct sdp_conn *conn)
{
	if (!sdp_sink_posted(conn)) {
		conn->rx.nond++;
		return;
	}
	SDP_COUNT(conn->sk, SINK_DISCARDED, sink_discarded, 1);
	sdp_sink_void(conn, 0);
}

/**
 * sdp_sink_fin() - the peer's DisConn has come: it won't write
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_sink_fin(struct sdp_conn *conn)
{
	if (sdp_sink_posted(conn))
		sdp_sink_void(conn, 0);
}

/**
 * sdp_sink_crossed() - a SrcAvail has come while the peer has a sink to write to
 * @conn:	connection
 * @m:		the SrcAvail
 *
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, and it is void; or what is
 * wrong with a peer that had seen the SinkAvail.
 */
enum sdp_bad sdp_sink_crossed(struct sdp_conn *conn, const struct sdp_msg *m)
{
	return (s32)(m->mseq_ack - conn->rx.sink->mseq) < 0 ? SDP_GOOD : SDP_BAD_STATE;
}

/**
 * sdp_sink_written() - RdmaWrCompl: the peer has written so much
 * @conn:	connection
 * @m:		the message
 *
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, or what is wrong.
 */
enum sdp_bad sdp_sink_written(struct sdp_conn *conn, const struct sdp_msg *m)
{
	if (!sdp_sink_posted(conn) || (s32)(m->mseq_ack - conn->rx.sink->mseq) < 0)
		return SDP_BAD_STATE;
	if (m->num > conn->rx.sink->len)
		return SDP_BAD_ADVERT;
	SDP_ADD_STATS(sock_net(conn->sk), SDP_MIB_RECV_BYTES, m->num);
	SDP_COUNT(conn->sk, RECV_ZCOPY_W, rcv_zcopy_w, m->num);
	sdp_sink_void(conn, m->num);
	return SDP_GOOD;
}

/**
 * sdp_sink_cancel_sent() - SinkAvailCancel has been sent
 * @conn:	connection, whose sink is posted
 *
 * Context: any, sdp->lock held.
 */
void sdp_sink_cancel_sent(struct sdp_conn *conn)
{
	conn->rx.sink->cancelled = true;
	SDP_COUNT(conn->sk, SINK_CANCEL_SENT, sink_cancel_sent, 1);
}

/**
 * sdp_sink_cancel_acked() - SinkCancelAck: the peer has dropped our advert
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, or what is wrong.
 */
enum sdp_bad sdp_sink_cancel_acked(struct sdp_conn *conn)
{
	if (!sdp_sink_posted(conn) || !conn->rx.sink->cancelled)
		return SDP_BAD_STATE;
	sdp_sink_void(conn, 0);
	return SDP_GOOD;
}

/**
 * sdp_sink_purge() - end the sink, as its connection ends
 * @conn:	connection whose queue pair is drained
 *
 * Nobody knows whether its key is still good, so the region itself goes.
 * Context: process.
 */
void sdp_sink_purge(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	struct sdp_sink *sink;

	spin_lock_bh(&sdp->lock);
	sink = conn->rx.sink;
	if (sink && sink->state == SDP_SINK_WANTED) {
		sdp_sink_end(conn);
		sink = NULL;
	}
	spin_unlock_bh(&sdp->lock);
	if (!sink)
		return;
	/* Its receiver waits for this */
	sdp_mr_destroy(sink->mr);
	spin_lock_bh(&sdp->lock);
	sdp_sink_end(conn);
	spin_unlock_bh(&sdp->lock);
}

/* ---- we are the source ---- */

static struct sdp_sink_avail *sdp_sink_first(struct sdp_tx *tx)
{
	return &tx->sinks[tx->sink_first % SDP_MAX_ADVERTS];
}

/**
 * sdp_sink_avail() - SinkAvail: the peer has advertised where to write
 * @conn:	connection
 * @m:		the message; its payload goes the way of data
 *
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, or what is wrong.
 */
enum sdp_bad sdp_sink_avail(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct sdp_tx *tx = &conn->tx;

	if (tx->mode != SDP_MODE_PIPELINED || !conn->cm->reads)
		return SDP_BAD_STATE;
	SDP_COUNT(conn->sk, SINK_AVAIL_RCVD, sink_avail_rcvd, 1);
	trace_sdp_advert_rcvd(conn, SDP_MID_SINK_AVAIL, m->avail.va, m->avail.rkey, m->avail.len,
			      0);
	if (tx->fin_sent)
		return SDP_GOOD;	/* it has crossed our DisConn */
	if (m->avail.non_discards != tx->nond) {
		/* It has crossed data of ours, unless the peer has counted what wasn't sent */
		if ((s32)(m->avail.non_discards - tx->nond) > 0)
			return SDP_BAD_ADVERT;
		tx->nond--;
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_SINK_STALE);
		return SDP_GOOD;
	}
	if (tx->sink_last - tx->sink_first == SDP_MAX_ADVERTS || !sdp_src_recall(conn, m->mseq_ack))
		return SDP_BAD_STATE;
	tx->sinks[tx->sink_last++ % SDP_MAX_ADVERTS] = (struct sdp_sink_avail) {
		.va	= m->avail.va,
		.rkey	= m->avail.rkey,
		.len	= m->avail.len,
	};
	return SDP_GOOD;
}

/**
 * sdp_sink_avail_cancel() - SinkAvailCancel: the peer wants its adverts back
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_sink_avail_cancel(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;

	SDP_COUNT(conn->sk, SINK_CANCEL_RCVD, sink_cancel_rcvd, 1);
	trace_sdp_cancel(conn, SDP_MID_SINK_AVAIL, false);
	/* Without an advert it has crossed what used that, which is the answer */
	if (!sdp_sink_has_avail(conn))
		return;
	tx->sink_first = tx->sink_last;
	tx->sink_acks++;
	sdp_tx_set(conn, SDP_TX_SINK_CANCEL_ACK);
}

/**
 * sdp_sink_passed() - a message with payload has been sent
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 */
void sdp_sink_passed(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;

	if (!sdp_sink_has_avail(conn)) {
		tx->nond++;
		return;
	}
	trace_sdp_advert_over(conn, SDP_MID_SINK_AVAIL, false, sdp_sink_first(tx)->len, 0);
	tx->sink_first++;
}

/* Only a failure completes a write by itself: else what follows it tells */
static void sdp_sink_write_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = wc->qp->qp_context;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	pr_debug("sdp: RDMA WRITE failed: %s\n", ib_wc_status_msg(wc->status));
	sdp_conn_fail(conn, sdp_wc_errno(wc->status));
}

static struct ib_cqe sdp_sink_write_cqe = { .done = sdp_sink_write_failed };

/**
 * sdp_sink_write() - write what comes next of a source to the peer's oldest advert
 * @conn:	connection with an advert, a credit for data and a send slot
 * @src:	source, the first of the transmit queue
 *
 * Its memory is registered on the way when it wasn't; for the peer to read only
 * if it may have to.
 * Context: any, sdp->lock held.
 * Return: false when it has to wait.
 */
bool sdp_sink_write(struct sdp_conn *conn, struct sdp_src *src)
{
	struct sdp_tx *tx = &conn->tx;
	const struct sdp_sink_avail *a = sdp_sink_first(tx);
	struct sdp_mr *mr = src->mr, *reg = src->registered ? NULL : mr;
	u32 n = min(src->buf.len, a->len);
	struct ib_sge sge = {
		.addr	= sdp_mr_addr(mr) + src->posted,
		.length	= n,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &sdp_sink_write_cqe,
		.wr.sg_list	= &sge,
		.wr.num_sge	= 1,
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.remote_addr	= a->va,
		.rkey		= a->rkey,
	};
	struct sdp_msg m = { .mid = SDP_MID_RDMA_WR_COMPL, .num = n };

	if (tx->n_writes == SDP_WRITE_MAX)
		return false;
	if (reg) {
		src->exposed = src->async || n < src->buf.len;
		sdp_mr_renew(mr, src->exposed ? IB_ACCESS_REMOTE_READ : 0);
	}
	sge.lkey = mr->mr->lkey;
	if (reg)
		sdp_src_registered(conn, src);
	if (!sdp_tx_post_wr(conn, &m, NULL, &wr.wr, reg)) {
		src->exposed = true;	/* nobody knows, so it has to wait for the end */
		return false;
	}
	trace_sdp_rdma_begin(conn, IB_WR_RDMA_WRITE, a->va, a->rkey, n);
	trace_sdp_advert_over(conn, SDP_MID_SINK_AVAIL, false, a->len, n);
	tx->sink_first++;
	tx->n_writes++;
	sdp_tx_posted_src(conn, src, n);
	SDP_COUNT(conn->sk, RDMA_WRITES, writes, 1);
	SDP_ADD_STATS(sock_net(conn->sk), SDP_MIB_SEND_BYTES, n);
	SDP_COUNT(conn->sk, SEND_ZCOPY_W, snd_zcopy_w, n);
	return true;
}

/**
 * sdp_sink_write_done() - a write, and the message behind it, have arrived
 * @conn:	connection
 * @len:	bytes written
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_sink_write_done(struct sdp_conn *conn, u32 len)
{
	conn->tx.n_writes--;
	trace_sdp_rdma_end(conn, IB_WR_RDMA_WRITE, len, IB_WC_SUCCESS);
}
