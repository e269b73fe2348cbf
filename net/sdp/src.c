// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: stretches of the stream that stay in the sender's memory until the
 * peer has read them (SrcAvail).
 *
 *	queued --SrcAvail--> advertised --RdmaRdCompl of all--> retired --> over
 *	   |  ^                  |
 *	   |  +----- SendSm -----+
 *	   +--as Data--> sent --delivered--> retired
 *
 * A source has its place in the transmit queue, so the order of bytes is that
 * of send(). While any is advertised no data goes; hence, when the peer says
 * SendSm, all that are return to the front of the queue and go as Data
 * messages, straight from the same memory. A source is over when its key has
 * been invalidated: only then may its pages change hands.
 *
 * In Combined mode one is advertised at a time and a first byte goes with the
 * message, as the annex wants it; with a peer that takes several (MaxAdverts
 * in its Hello) we change to Pipelined mode before the first.
 *
 * A sender that doesn't want to wait any longer takes its sources back. One
 * that is advertised needs SrcAvailCancel for that and the peer's answer:
 * SendSm, or RdmaRdCompl of everything if that was faster.
 *
 * When the peer has advertised memory of its own (sink.c), what is queued is
 * written there instead. The source is over when that has arrived; if the peer
 * was never told a key, without an invalidation.
 *
 * All under sdp->lock unless a comment says otherwise.
 */
#include <linux/highmem.h>

#include "az.h"
#include "cm.h"
#include "conn.h"
#include "device.h"
#include "sdp.h"
#include "sink.h"
#include "src.h"
#include "trace.h"

/* What goes with a SrcAvail in Combined mode */
#define SDP_SRC_INLINE	1

static struct kmem_cache *sdp_src_slab;

static void sdp_src_inv_done(struct ib_cq *cq, struct ib_wc *wc);

/* Can the peer read? sdp->lock held */
static bool sdp_src_possible(const struct sdp_conn *conn)
{
	return conn && conn->up && !conn->ending && conn->cm->reads;
}

/**
 * sdp_src_adverts() - how many sources does the peer take at a time?
 * @sk:		socket
 * @gentle:	none, if the device's memory regions are better left to others
 *
 * Takes sdp->lock.
 * Context: process.
 * Return: 0 when the transport has no reads, or there is no connection.
 */
u32 sdp_src_adverts(struct sock *sk, bool gentle)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 n = 0;

	spin_lock_bh(&sdp->lock);
	if (sdp_src_possible(sdp->conn) && (!gentle || sdp_mr_plenty(sdp->conn->pd->dev)))
		n = sdp->conn->peer_max_adverts;
	spin_unlock_bh(&sdp->lock);
	return n;
}

/* The domain of the socket's connection, with a reference, if the peer can read at all */
static struct sdp_pd *sdp_src_pd(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_pd *pd = NULL;

	spin_lock_bh(&sdp->lock);
	if (sdp_src_possible(sdp->conn)) {
		pd = sdp->conn->pd;
		sdp_pd_hold(pd);
	}
	spin_unlock_bh(&sdp->lock);
	return pd;
}

static struct sdp_src *sdp_src_alloc(struct sock *sk)
{
	struct sdp_pd *pd = sdp_src_pd(sk);
	struct sdp_src *src;

	if (!pd)
		return NULL;
	src = kmem_cache_zalloc(sdp_src_slab, GFP_KERNEL);
	if (!src) {
		sdp_pd_put(pd);
		return NULL;
	}
	src->mr = sdp_mr_get(pd);
	if (!src->mr) {
		kmem_cache_free(sdp_src_slab, src);
		return NULL;
	}
	INIT_LIST_HEAD(&src->buf.list);
	INIT_LIST_HEAD(&src->own);
	init_completion(&src->over);
	src->inv_cqe.done = sdp_src_inv_done;
	return src;
}

/* One that has no memory, or no more */
static void sdp_src_discard(struct sdp_src *src)
{
	sdp_mr_put(src->mr);
	kmem_cache_free(sdp_src_slab, src);
}

/**
 * sdp_src_new() - make a source of what comes next in a program's buffer
 * @sk:		socket
 * @iter:	the buffer; not advanced
 * @max:	bytes at most
 * @account:	count its pages against RLIMIT_MEMLOCK
 *
 * Context: process, tx_mutex held.
 * Return: the source, which may be shorter,
 * or NULL when the memory or the device doesn't allow it.
 */
struct sdp_src *sdp_src_new(struct sock *sk, const struct iov_iter *iter, u32 max, bool account)
{
	struct sdp_src *src = sdp_src_alloc(sk);
	int len;

	if (!src)
		return NULL;
	len = sdp_mr_pin(src->mr, iter, max, DMA_TO_DEVICE, account);
	if (len < 0) {
		sdp_src_discard(src);
		return NULL;
	}
	src->len = len;
	src->buf.len = len;
	return src;
}

/**
 * sdp_src_new_az() - make a source of memory that is protected
 * @sk:		socket
 * @az:		the memory, of which it takes a reference
 * @pos:	where in that it begins, bytes
 * @len:	bytes, at most SDP_MR_BYTES
 *
 * Context: process, tx_mutex held.
 * Return: the source, or NULL when the device
 * doesn't allow it.
 */
struct sdp_src *sdp_src_new_az(struct sock *sk, struct sdp_az *az, u32 pos, u32 len)
{
	struct sdp_src *src = sdp_src_alloc(sk);

	if (!src)
		return NULL;
	pos += az->off;
	if (sdp_mr_borrow(src->mr, az->pages + pos / PAGE_SIZE, offset_in_page(pos), len,
			  DMA_TO_DEVICE)) {
		sdp_src_discard(src);
		return NULL;
	}
	refcount_inc(&az->users);
	src->az = az;
	src->len = len;
	src->buf.len = len;
	return src;
}

/**
 * sdp_src_free() - let the memory go
 * @src:	source that is over, or was never queued
 *
 * Context: process, no spinlock.
 */
void sdp_src_free(struct sdp_src *src)
{
	sdp_mr_unpin(src->mr);
	if (src->az)
		sdp_az_put(src->az);
	sdp_src_discard(src);
}

/**
 * sdp_src_queue() - put a source behind all that is to be sent
 * @sk:		socket
 * @src:	new source
 *
 * Context: process, tx_mutex held; takes sdp->lock.
 * Return: 0, or -EPIPE when
 * the connection isn't what it was.
 */
int sdp_src_queue(struct sock *sk, struct sdp_src *src)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	int err = -EPIPE;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	if (conn && !conn->ending && !conn->aborted && conn->pd == src->mr->pd &&
	    !(sk->sk_shutdown & SEND_SHUTDOWN)) {
		sdp_tx_queue_buf(conn, &src->buf, src->len);
		sdp_tx_push(conn);
		err = 0;
	}
	spin_unlock_bh(&sdp->lock);
	return err;
}

/* What an asynchronous source takes of the send buffer */
static int sdp_src_truesize(const struct sdp_src *src)
{
	return src->mr->npages << PAGE_SHIFT;
}

/* A program's pages, which it has whoever sends them, are no socket memory; as TCP has it */
static bool sdp_src_is_programs(const struct sdp_src *src)
{
	return src->az || src->uarg;
}

static bool sdp_src_charge(struct sock *sk, const struct sdp_src *src, int size)
{
	if (!sdp_src_is_programs(src) && !sdp_mem_charge(sk, size, SK_MEM_SEND))
		return false;
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + size);
	return true;
}

static void sdp_src_uncharge(struct sock *sk, const struct sdp_src *src, int size)
{
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued - size);
	if (!sdp_src_is_programs(src))
		sk_mem_uncharge(sk, size);
}

/**
 * sdp_src_queue_async() - the same for a sender that doesn't wait
 * @sk:		socket
 * @src:	new source, no longer the caller's on success
 * @uarg:	whom to tell when the peer has it, or NULL
 *
 * Context: process, tx_mutex held; takes sdp->lock.
 * Return: 0, -EPIPE as
 * above, or -ENOBUFS when memory limits forbid it.
 */
int sdp_src_queue_async(struct sock *sk, struct sdp_src *src, struct ubuf_info *uarg)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	bool charged;
	int err;

	src->uarg = uarg;
	spin_lock_bh(&sdp->lock);
	charged = sdp_src_charge(sk, src, sdp_src_truesize(src));
	spin_unlock_bh(&sdp->lock);
	if (!charged)
		return -ENOBUFS;
	src->async = true;
	if (uarg)
		net_zcopy_get(uarg);
	err = sdp_src_queue(sk, src);
	if (!err)
		return 0;
	spin_lock_bh(&sdp->lock);
	sdp_src_uncharge(sk, src, sdp_src_truesize(src));
	spin_unlock_bh(&sdp->lock);
	if (uarg)
		net_zcopy_put(uarg);
	return err;
}

/* A source that nobody waits for is the caller's to finish once sdp->lock is released */
static void sdp_src_end(struct sock *sk, struct sdp_src *src)
{
	src->state = SDP_SRC_OVER;
	if (src->async)
		sdp_src_uncharge(sk, src, sdp_src_truesize(src));
	else
		complete(&src->over);		/* it may be gone now */
}

/* The end of one that nobody waits for; no lock held */
static void sdp_src_finish(struct sdp_src *src)
{
	struct ubuf_info *uarg = src->uarg;

	sdp_src_free(src);
	if (uarg)
		net_zcopy_put(uarg);
}

/* Pages nobody is told of, the last of the queue, nothing of which has gone: out of it; or NULL */
static struct sdp_src *sdp_src_take_last(struct sdp_sock *sdp)
{
	struct sdp_conn *conn = sdp->conn;
	struct sdp_src *src;

	if (!conn || conn->ending || list_empty(&conn->tx.queue))
		return NULL;
	src = sdp_buf_src(list_last_entry(&conn->tx.queue, struct sdp_buf, list));
	if (!src || src->registered || !src->async || src->uarg || src->mr->kind != SDP_MR_HELD)
		return NULL;
	list_del_init(&src->buf.list);
	conn->tx.filling = &src->buf;
	return src;
}

/* Back to the queue with it, @len bytes longer; false if it isn't wanted any more */
static bool sdp_src_put_last(struct sock *sk, struct sdp_src *src, int len, bool more)
{
	struct sdp_conn *conn = sdp_sk(sk)->conn;

	if (!conn || conn->tx.filling != &src->buf)
		return false;
	conn->tx.filling = NULL;
	/* On its way down it may have purged its sources already */
	if (len < 0 || conn->ending) {
		conn->tx.unsent -= src->buf.len;
		if (!conn->ending)
			__sdp_conn_fail(conn, ENOBUFS);
		return false;
	}
	src->len += len;
	src->buf.len += len;
	src->buf.more = len && more;
	src->by_send = src->len < sdp_zcopy_thresh(sk);
	sdp_tx_queue_buf(conn, &src->buf, len);
	sdp_tx_push(conn);
	return true;
}

/**
 * sdp_src_extend() - let the source queued last have more pages, if there is such a one
 * @sk:		socket
 * @iter:	pages nobody is to be told of; not advanced
 * @max:	bytes a source has at most
 * @more:	yet more are about to come
 *
 * Context: process, tx_mutex held; takes sdp->lock.
 * Return: bytes, 0 if they have to be a source
 * of their own, or -EPIPE when the connection is over.
 */
int sdp_src_extend(struct sock *sk, const struct iov_iter *iter, u32 max, bool more)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_src *src;
	int len = 0, had, size;
	bool charged, ok;

	spin_lock_bh(&sdp->lock);
	src = sdp_src_take_last(sdp);
	size = PAGE_ALIGN(min_t(size_t, iov_iter_count(iter), max)) + PAGE_SIZE;
	charged = src && sdp_src_charge(sk, src, size);
	spin_unlock_bh(&sdp->lock);
	if (!src)
		return 0;

	had = sdp_src_truesize(src);
	if (charged && src->len < max)
		len = sdp_mr_extend(src->mr, iter, max - src->len);

	spin_lock_bh(&sdp->lock);
	if (charged)
		sdp_src_uncharge(sk, src, had + size - sdp_src_truesize(src));
	ok = sdp_src_put_last(sk, src, len, more);
	if (!ok)
		sdp_src_end(sk, src);
	spin_unlock_bh(&sdp->lock);
	if (ok)
		return len;
	sdp_src_finish(src);
	return -EPIPE;
}

/* Nothing of it is to be delivered any more: take its key away */
static void sdp_src_retire(struct sdp_conn *conn, struct sdp_src *src)
{
	struct ib_send_wr inv = {
		.wr_cqe			= &src->inv_cqe,
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= IB_SEND_SIGNALED,
		.ex.invalidate_rkey	= src->mr->key,
	};

	if (!src->exposed) {
		conn->tx.n_srcs -= src->registered;
		sdp_src_end(conn->sk, src);
		return;
	}
	src->state = SDP_SRC_RETIRED;
	list_add_tail(&src->buf.list, &conn->tx.retired);
	/* Else it is over when the connection is */
	if (!conn->ending && sdp_post_send(conn, &inv))
		__sdp_conn_fail(conn, ECONNRESET);
}

static void sdp_src_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_src *src = container_of(wc->wr_cqe, struct sdp_src, inv_cqe);
	struct sdp_conn *conn = wc->qp->qp_context;
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	bool finish = false;

	spin_lock_bh(&sdp->lock);
	if (wc->status == IB_WC_SUCCESS) {
		src->mr->valid = false;
		list_del_init(&src->buf.list);
		conn->tx.n_srcs--;
		finish = src->async;
		sdp_src_end(sk, src);
		sdp_tx_push(conn);
	} else if (wc->status != IB_WC_WR_FLUSH_ERR) {
		__sdp_conn_fail(conn, sdp_wc_errno(wc->status));
	}
	spin_unlock_bh(&sdp->lock);
	if (finish) {
		sdp_src_finish(src);
		sdp_write_space(sk);
	}
}

/* With a peer that can, several at a time; true when that is still to be told */
static bool sdp_src_go_pipelined(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;

	if (tx->mode != SDP_MODE_COMBINED || conn->peer_max_adverts < 2)
		return false;
	sdp_tx_set(conn, SDP_TX_MODE_CHANGE);
	return true;
}

static bool sdp_src_may_advertise(const struct sdp_conn *conn)
{
	const struct sdp_tx *tx = &conn->tx;
	u32 max = tx->mode == SDP_MODE_PIPELINED ?
		  min_t(u32, conn->peer_max_adverts, SDP_SRC_MAX) : 1;

	return tx->n_adverts < max && !tx->cancelling &&
	       !test_bit(SDP_TX_MODE_CHANGE, &tx->pending);
}

static bool sdp_src_advertise(struct sdp_conn *conn, struct sdp_src *src)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_msg m = { .mid = SDP_MID_SRC_AVAIL };

	if (!sdp_src_may_advertise(conn))
		return false;
	if (sdp_src_go_pipelined(conn))
		return true;
	if (src->hold && tx->mode == SDP_MODE_PIPELINED)
		return false;
	if (tx->mode == SDP_MODE_COMBINED)
		m.payload_len = SDP_SRC_INLINE;
	if (!sdp_tx_post_src(conn, &m, src))
		return false;
	src->mseq = tx->sent;
	src->done = src->posted + m.payload_len;
	src->state = SDP_SRC_ADVERTISED;
	list_move_tail(&src->buf.list, &tx->adverts);
	tx->n_adverts++;
	tx->has_advertised = true;
	tx->unsent -= src->buf.len;
	tx->advertised += src->len - src->done;
	SDP_COUNT(conn->sk, SRC_AVAIL_SENT, src_avail_sent, 1);
	SDP_ADD_STATS(sock_net(conn->sk), SDP_MIB_SEND_COPIED, m.payload_len);
	trace_sdp_advert_sent(conn, SDP_MID_SRC_AVAIL, m.avail.va, m.avail.rkey, m.avail.len,
			      m.payload_len);
	return true;
}

static bool sdp_src_post_data(struct sdp_conn *conn, struct sdp_src *src)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_msg m = {
		.mid		= SDP_MID_DATA,
		.payload_len	= min(src->buf.len, tx->size),
	};

	if (!list_empty(&tx->adverts) || !sdp_tx_post_src(conn, &m, src))
		return false;
	SDP_COUNT(conn->sk, SRC_BY_SEND, snd_direct, m.payload_len);
	sdp_sk(conn->sk)->counts.snd_bcopy -= m.payload_len;
	return true;
}

/**
 * sdp_src_post() - the first of the transmit queue is a source: one step on
 * @conn:	connection with a credit for data and a send slot
 * @src:	source
 *
 * Context: any, sdp->lock held.
 * Return: false when it has to wait.
 */
bool sdp_src_post(struct sdp_conn *conn, struct sdp_src *src)
{
	struct sdp_tx *tx = &conn->tx;

	if (!src->registered && (tx->n_srcs >= SDP_SRC_MAX || !sdp_tx_has_reg_slot(tx)))
		return false;
	if (sdp_sink_has_avail(conn))
		return sdp_sink_write(conn, src);
	if (src->by_send || src->len <= SDP_SRC_INLINE)
		return sdp_src_post_data(conn, src);
	return sdp_src_advertise(conn, src);
}

/**
 * sdp_src_delivered() - a Data message with bytes of a source has arrived
 * @conn:	connection
 * @src:	source
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_src_delivered(struct sdp_conn *conn, struct sdp_src *src)
{
	src->inflight--;
	if (src->inflight || src->state != SDP_SRC_SENT)
		return;
	src->done = src->len;
	sdp_src_retire(conn, src);
}

/* It is not with the peer any more */
static void sdp_src_unadvertise(struct sdp_conn *conn, struct sdp_src *src)
{
	struct sdp_tx *tx = &conn->tx;

	list_del_init(&src->buf.list);
	tx->n_adverts--;
	tx->advertised -= src->len - src->done;
	trace_sdp_advert_over(conn, SDP_MID_SRC_AVAIL, true, src->len, src->done);
	if (!tx->n_adverts) {
		tx->cancelling = false;
		__clear_bit(SDP_TX_SRC_CANCEL, &tx->pending);
	}
}

/**
 * sdp_src_read() - RdmaRdCompl: the peer has read so much of the oldest source
 * @conn:	connection
 * @m:		the message
 *
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, or what is wrong.
 */
enum sdp_bad sdp_src_read(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct sdp_src *src = list_first_entry_or_null(&conn->tx.adverts, struct sdp_src,
						       buf.list);

	if (!src || (s32)(m->mseq_ack - src->mseq) < 0)
		return SDP_BAD_STATE;
	if (m->num > src->len - src->done)
		return SDP_BAD_ADVERT;
	src->done += m->num;
	conn->tx.advertised -= m->num;
	SDP_ADD_STATS(sock_net(conn->sk), SDP_MIB_SEND_BYTES, m->num);
	SDP_COUNT(conn->sk, SEND_ZCOPY, snd_zcopy, m->num);
	if (src->done == src->len) {
		sdp_src_unadvertise(conn, src);
		sdp_src_retire(conn, src);
	}
	return SDP_GOOD;
}

/*
 * What is advertised goes back to the front of the queue, to be sent as Data if
 * @by_send. Last first, each in front of the one before: the order stays.
 */
static void sdp_src_requeue(struct sdp_conn *conn, bool by_send)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_src *src, *prev;

	list_for_each_entry_safe_reverse(src, prev, &tx->adverts, buf.list) {
		sdp_src_unadvertise(conn, src);
		if (src->drop) {
			sdp_src_retire(conn, src);
			continue;
		}
		src->by_send |= by_send;
		src->posted = src->done;
		src->buf.len = src->len - src->done;
		src->state = SDP_SRC_QUEUED;
		list_add(&src->buf.list, &tx->queue);
		tx->unsent += src->buf.len;
	}
}

/**
 * sdp_src_recall() - SinkAvail: the peer has taken our adverts for void
 * @conn:	connection
 * @mseq_ack:	what the peer had seen when it sent that
 *
 * Context: softirq, sdp->lock held.
 * Return: false if it had seen an advert, which
 * then isn't void.
 */
bool sdp_src_recall(struct sdp_conn *conn, u32 mseq_ack)
{
	struct sdp_src *src = list_first_entry_or_null(&conn->tx.adverts, struct sdp_src,
						       buf.list);

	if (src && (s32)(mseq_ack - src->mseq) >= 0)
		return false;
	sdp_src_requeue(conn, false);
	return true;
}

/**
 * sdp_src_refused() - SendSm: the peer wants as Data what it has not read
 * @conn:	connection
 * @m:		the message
 *
 * That is everything advertised: what it has not seen yet when it says so
 * would come too early, as the Data has to go first, so it takes that for void.
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, or what is wrong.
 */
enum sdp_bad sdp_src_refused(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_src *src;

	if (!tx->has_advertised)
		return SDP_BAD_STATE;
	SDP_COUNT(conn->sk, SENDSM_RCVD, sendsm_rcvd, 1);
	trace_sdp_sendsm(conn, false, SDP_REFUSE_PEER);
	src = list_first_entry_or_null(&tx->adverts, struct sdp_src, buf.list);
	/* A peer may say it once for each, and the first was enough */
	if (!src || (s32)(m->mseq_ack - src->mseq) < 0)
		return SDP_GOOD;
	if (src->az)
		atomic_inc(&sdp_sk(conn->sk)->az_missed);
	sdp_src_requeue(conn, true);
	return SDP_GOOD;
}

/* Everything advertised is to come back: a SrcAvailCancel takes all there is */
static void sdp_src_ask_back(struct sdp_conn *conn)
{
	if (conn->tx.cancelling)
		return;
	conn->tx.cancelling = true;
	sdp_tx_set(conn, SDP_TX_SRC_CANCEL);
	trace_sdp_cancel(conn, SDP_MID_SRC_AVAIL, true);
}

/**
 * sdp_src_cancel() - its sender wants back what the peer has not read
 * @sk:		socket
 * @src:	source that was queued
 *
 * Takes sdp->lock. When it is over, @done says how much was delivered.
 * Context: process.
 */
void sdp_src_cancel(struct sock *sk, struct sdp_src *src)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	if (src->state == SDP_SRC_QUEUED) {
		list_del_init(&src->buf.list);
		conn->tx.unsent -= src->buf.len;
		src->buf.len = 0;
		src->len = src->posted;
		src->state = SDP_SRC_SENT;
		if (!src->inflight) {
			src->done = src->len;
			sdp_src_retire(conn, src);
		}
	} else if (src->state == SDP_SRC_ADVERTISED) {
		src->drop = true;
		sdp_src_ask_back(conn);
	}
	if (conn)
		sdp_tx_push(conn);
	spin_unlock_bh(&sdp->lock);
}

/**
 * __sdp_src_take_back() - what nobody waits for can't wait for the peer to read it
 * @conn:	connection that isn't about to end
 *
 * It goes as Data, from the same memory, as far as the peer has room.
 * Context: any, sdp->lock held.
 */
void __sdp_src_take_back(struct sdp_conn *conn)
{
	struct sdp_buf *buf;
	struct sdp_src *src;

	/* Else they would be advertised as soon as the others are back */
	list_for_each_entry(buf, &conn->tx.queue, list) {
		src = sdp_buf_src(buf);
		if (src && src->async)
			src->by_send = true;
	}
	if (conn->tx.n_adverts)
		sdp_src_ask_back(conn);
	sdp_tx_push(conn);
}

/**
 * sdp_src_take_back() - __sdp_src_take_back() for who has but the socket
 * @sk:		socket
 *
 * Takes sdp->lock.
 * Context: process.
 */
void sdp_src_take_back(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	if (sdp->conn && !sdp->conn->ending && !sdp->conn->aborted)
		__sdp_src_take_back(sdp->conn);
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_src_release() - its sender has waited long enough for the peer to advertise
 * @sk:		socket
 * @own:	the sender's list of sources
 *
 * Takes sdp->lock.
 * Context: process.
 */
void sdp_src_release(struct sock *sk, struct list_head *own)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_src *src;

	spin_lock_bh(&sdp->lock);
	list_for_each_entry(src, own, own)
		src->hold = false;
	if (sdp->conn)
		sdp_tx_push(sdp->conn);
	spin_unlock_bh(&sdp->lock);
}

/* They are the purger's alone now: who cancels one waits for its end like that of others */
static void sdp_src_gather(struct sdp_conn *conn, struct list_head *gone)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_buf *buf, *next;
	struct sdp_src *src;
	int i;

	list_splice_init(&tx->retired, gone);
	list_splice_tail_init(&tx->adverts, gone);
	list_for_each_entry_safe(buf, next, &tx->queue, list)
		if (sdp_buf_src(buf))
			list_move_tail(&buf->list, gone);
	for (i = 0; tx->slots && i < SDP_TX_RING; i++) {
		buf = tx->slots[i].buf;
		if (!buf || !sdp_buf_src(buf))
			continue;
		/* Gone as Data entirely, so on no list; more than one slot may have it */
		if (list_empty(&buf->list))
			list_add_tail(&buf->list, gone);
		tx->slots[i].buf = NULL;
	}
	list_for_each_entry(src, gone, buf.list)
		src->state = SDP_SRC_RETIRED;
	tx->n_adverts = 0;
	tx->n_srcs = 0;
	tx->advertised = 0;
}

/**
 * sdp_src_purge() - end all sources, as their connection ends
 * @conn:	connection whose queue pair is drained
 *
 * Nobody knows which keys are still good, so the regions themselves go.
 * Context: process.
 */
void sdp_src_purge(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_src *src, *next;
	LIST_HEAD(gone);

	spin_lock_bh(&sdp->lock);
	sdp_src_gather(conn, &gone);
	spin_unlock_bh(&sdp->lock);
	list_for_each_entry(src, &gone, buf.list)
		if (src->registered)
			sdp_mr_destroy(src->mr);

	spin_lock_bh(&sdp->lock);
	list_for_each_entry_safe(src, next, &gone, buf.list) {
		if (!src->async)
			list_del_init(&src->buf.list);
		sdp_src_end(sk, src);
	}
	spin_unlock_bh(&sdp->lock);
	list_for_each_entry_safe(src, next, &gone, buf.list)
		sdp_src_finish(src);
}

/**
 * sdp_src_init() - make what sources are made of
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int sdp_src_init(void)
{
	sdp_src_slab = KMEM_CACHE(sdp_src, 0);
	return sdp_src_slab ? 0 : -ENOMEM;
}

/**
 * sdp_src_exit() - undo sdp_src_init()
 *
 * Context: module unload.
 */
void sdp_src_exit(void)
{
	kmem_cache_destroy(sdp_src_slab);
}
