// SPDX-License-Identifier: GPL-2.0
/*
 * Sending messages: send slots, credits, Nagle, send completions.
 *
 * Everything here runs under sdp->lock, from the sender, the reader (whose
 * reading frees credits) or a completion. A message goes out when three
 * things are there: a slot, a credit, and a reason.
 *
 * Credits (IBA A4, and reference OFED): payload leaves the last two alone, so
 * that control messages and credit updates always find one. The very last
 * one may only carry a message without payload that grants credits itself
 * (CA4-82); as we always have receives posted beyond what the peer was told
 * (SDP_RX_SPARE), every control message of ours can be such a message. Hence
 * both sides can't run dry at once: the last credit of one is paid back by
 * what it carries.
 */
#include "cm.h"
#include "conn.h"
#include "read.h"
#include "sdp.h"
#include "sink.h"
#include "src.h"
#include "trace.h"

/* Ask for larger buffers at the peer after so many messages that filled theirs */
#define SDP_GROW_AFTER		4
/* How long TCP_CORK and MSG_MORE hold back what is no full message, as TCP */
#define SDP_CORK_TIME		(HZ / 5)

static struct sdp_tx_slot *sdp_tx_slot(struct sdp_tx *tx, u32 mseq)
{
	return &tx->slots[mseq & (SDP_TX_RING - 1)];
}

static u32 sdp_tx_hdr_off(u32 mseq)
{
	return (mseq & (SDP_TX_RING - 1)) * SDP_TX_HDR_SIZE;
}

/* Where payload that goes in the header area of the next slot belongs */
static void *sdp_tx_payload(struct sdp_tx *tx, u8 mid)
{
	return tx->hdrs + sdp_tx_hdr_off(tx->sent + 1) + SDP_BSDH_SIZE + sdp_ext_len(mid);
}

static bool sdp_tx_has_data_credit(const struct sdp_tx *tx)
{
	return tx->credits > SDP_CREDITS_RESERVED;
}

static bool sdp_tx_has_control_credit(const struct sdp_conn *conn)
{
	u32 posted = conn->rx.head - conn->rx.tail;

	return conn->tx.credits > 1 || (conn->tx.credits == 1 && posted > conn->rx.granted);
}

static void sdp_tx_count(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct sock *sk = conn->sk;

	if (m->mid != SDP_MID_DATA)
		SDP_INC_STATS(sock_net(sk), SDP_MIB_SEND_CTRL);
	else if (sdp_msg_is_update(m))
		SDP_INC_STATS(sock_net(sk), SDP_MIB_SEND_CREDITS);
	else
		SDP_COUNT(sk, SEND_DATA, snd_data, 1);
	SDP_COUNT(sk, SEND_BYTES, snd_bcopy, m->payload_len);
}

/*
 * A send has failed. Behind both DisConns there are none but of credits, to a
 * peer that may have gone already, and the stream is complete without them.
 */
static void sdp_tx_failed(struct sdp_conn *conn, int err)
{
	if (!conn->rx.fin || !conn->tx.fin_done)
		__sdp_conn_fail(conn, err);
}

/**
 * sdp_tx_post_wr() - post one message
 * @conn:	connection with a credit and a send slot
 * @m:		the message
 * @payload:	where its payload is; NULL when it lies in the slot's header area already, behind
 *		where the headers go, or there is none
 * @first:	work request to go before it, or NULL
 * @mr:		region to be registered before all, or NULL; sdp_tx_has_reg_slot(), then
 *
 * Context: any, sdp->lock held.
 * Return: true if it did.
 */
bool sdp_tx_post_wr(struct sdp_conn *conn, struct sdp_msg *m, const struct ib_sge *payload,
		    struct ib_send_wr *first, struct sdp_mr *mr)
{
	struct sdp_tx *tx = &conn->tx;
	u32 mseq = tx->sent + 1, off = sdp_tx_hdr_off(mseq);
	struct sdp_tx_slot *slot = sdp_tx_slot(tx, mseq);
	struct ib_device *ib = conn->qp->device;
	struct ib_sge sge[2];
	struct ib_send_wr wr = {
		.wr_cqe		= &slot->cqe,
		.sg_list	= sge,
		.num_sge	= 1,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};

	if (tx->n_oob)
		m->flags |= SDP_FLAG_OOB_PEND;
	/* The peer's program is to know at once, if its device tells of such messages only */
	if (m->flags & SDP_FLAG_OOB_PRES)
		wr.send_flags |= IB_SEND_SOLICITED;
	tx->pure = sdp_msg_is_update(m);
	m->mseq = mseq;
	m->mseq_ack = conn->rx.mseq;
	m->bufs = sdp_rx_grant(conn);
	if (tx->credits == 1)
		m->bufs = max_t(u32, m->bufs, conn->rx.granted + 1);

	sge[0].addr = tx->hdrs_dma + off;
	sge[0].length = sdp_encode(tx->hdrs + off, m);
	sge[0].lkey = conn->lkey;
	if (payload) {
		sge[1] = *payload;
		wr.num_sge = 2;
	} else {
		sge[0].length += m->payload_len;
	}
	ib_dma_sync_single_for_device(ib, sge[0].addr, sge[0].length, DMA_TO_DEVICE);

	if (first)
		first->next = &wr;
	else
		first = &wr;
	if (sdp_post_send(conn, mr ? sdp_mr_link(mr, first) : first)) {
		sdp_tx_failed(conn, ECONNRESET);
		return false;
	}

	slot->bytes = m->payload_len;
	slot->written = 0;
	slot->mid = m->mid;
	slot->late = mr && sdp_mr_is_late(mr);
	tx->n_late += slot->late;
	tx->sent = mseq;
	tx->credits--;
	tx->unacked += m->payload_len;
	conn->rx.granted = m->bufs;
	conn->rx.payload = false;
	if (m->payload_len)
		sdp_sink_passed(conn);
	sdp_tx_count(conn, m);
	trace_sdp_tx(conn, m);
	return true;
}

/* A message whose payload, if any, is in the slot's header area */
static bool sdp_tx_post(struct sdp_conn *conn, struct sdp_msg *m)
{
	return sdp_tx_post_wr(conn, m, NULL, NULL, NULL);
}

/* Data out of a buffer, which the send slot keeps until it is delivered */
static bool sdp_tx_post_buf(struct sdp_conn *conn, struct sdp_buf *buf)
{
	struct sdp_msg m = { .mid = SDP_MID_DATA, .payload_len = buf->len };
	struct ib_sge payload = {
		.addr	= buf->dma,
		.length	= buf->len,
		.lkey	= conn->lkey,
	};

	if (buf->oob)
		m.flags = SDP_FLAG_OOB_PRES;
	ib_dma_sync_single_for_device(conn->qp->device, buf->dma, buf->len, DMA_TO_DEVICE);
	if (!sdp_tx_post_wr(conn, &m, &payload, NULL, NULL))
		return false;
	if (buf->oob) {
		if (!--conn->tx.n_oob)
			__clear_bit(SDP_TX_OOB, &conn->tx.pending);
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_OOB_SENT);
	}
	sdp_tx_slot(&conn->tx, conn->tx.sent)->buf = buf;
	return true;
}

/* The peer's buffers are small for what we have to send: ask it for larger ones, once */
static void sdp_tx_consider_growing(struct sdp_conn *conn, u32 len)
{
	struct sdp_tx *tx = &conn->tx;

	if (tx->grow_tried || tx->size >= SDP_PAYLOAD_MAX)
		return;
	tx->full = len >= tx->size ? tx->full + 1 : 0;
	if (tx->full >= SDP_GROW_AFTER) {
		tx->grow_tried = true;
		__set_bit(SDP_TX_CH_RCV_BUF, &tx->pending);
	}
}

/**
 * sdp_tx_post_src() - post a message that advertises a source, or carries data of it
 * @conn:	connection with a credit for data and a send slot
 * @m:		SrcAvail or Data, with the length of its payload
 * @src:	source; registered on the way when it wasn't
 *
 * Context: any, sdp->lock held.
 * Return: true if it did.
 */
bool sdp_tx_post_src(struct sdp_conn *conn, struct sdp_msg *m, struct sdp_src *src)
{
	struct sdp_mr *mr = src->mr, *reg = src->registered ? NULL : mr;
	struct sdp_tx *tx = &conn->tx;
	struct ib_sge payload;
	bool ok;

	if (reg) {
		sdp_mr_renew(mr, IB_ACCESS_REMOTE_READ);
		src->exposed = true;
		sdp_src_registered(conn, src);
	}
	if (m->mid == SDP_MID_SRC_AVAIL) {
		m->avail.len = src->buf.len;
		m->avail.rkey = mr->mr->rkey;
		m->avail.va = sdp_mr_addr(mr) + src->posted;
		if (m->payload_len)
			sdp_mr_copy(mr, sdp_tx_payload(tx, m->mid), m->payload_len);
		ok = sdp_tx_post_wr(conn, m, NULL, NULL, reg);
	} else {
		payload.addr = sdp_mr_addr(mr) + src->posted;
		payload.length = m->payload_len;
		payload.lkey = mr->mr->lkey;
		ok = sdp_tx_post_wr(conn, m, &payload, NULL, reg);
		if (ok) {
			sdp_tx_posted_src(conn, src, 0);
			sdp_tx_consider_growing(conn, m->payload_len);
		}
	}
	return ok;
}

/**
 * sdp_tx_posted_src() - the message just posted delivers bytes of a source
 * @conn:	connection
 * @src:	source
 * @written:	how many that isn't its own payload, but was written before it
 *
 * Context: any, sdp->lock held.
 */
void sdp_tx_posted_src(struct sdp_conn *conn, struct sdp_src *src, u32 written)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_tx_slot *slot = sdp_tx_slot(tx, tx->sent);
	u32 n = slot->bytes + written;

	slot->buf = &src->buf;
	slot->bytes = n;
	slot->written = written;
	tx->unacked += written;
	tx->unsent -= n;
	src->posted += n;
	src->inflight++;
	src->buf.len -= n;
	if (!src->buf.len) {
		list_del_init(&src->buf.list);
		src->state = SDP_SRC_SENT;
	}
}

static bool sdp_tx_post_control(struct sdp_conn *conn, u8 mid)
{
	struct sdp_msg m = { .mid = mid };

	switch (mid) {
	case SDP_MID_CH_RCV_BUF:
		m.num = SDP_BSDH_SIZE + SDP_PAYLOAD_MAX;
		break;
	case SDP_MID_CH_RCV_BUF_ACK:
		m.num = SDP_BSDH_SIZE + (PAGE_SIZE << conn->rx.order);
		break;
	case SDP_MID_RDMA_RD_COMPL:
		m.num = sdp_read_report(conn);
		break;
	case SDP_MID_MODE_CHANGE:
		m.mode.half = SDP_HALF_RECV;
		m.mode.mode = SDP_MODE_PIPELINED;
		break;
	}
	return sdp_tx_post(conn, &m);
}

static void sdp_tx_control_sent(struct sdp_conn *conn, enum sdp_tx_pending what)
{
	struct sock *sk = conn->sk;
	struct sdp_tx *tx = &conn->tx;

	if (what == SDP_TX_RD_COMPL && sdp_read_reported(conn))
		return;		/* there is another */
	if (what == SDP_TX_SINK_CANCEL_ACK && --tx->sink_acks)
		return;
	__clear_bit(what, &tx->pending);
	switch (what) {
	case SDP_TX_ABORT:
		SDP_INC_STATS(sock_net(sk), SDP_MIB_ABORTS_SENT);
		break;
	case SDP_TX_SENDSM:
		tx->sendsm = tx->sent;
		SDP_COUNT(sk, SENDSM_SENT, sendsm_sent, 1);
		break;
	case SDP_TX_SRC_CANCEL:
		SDP_COUNT(sk, SRC_CANCEL_SENT, src_cancel_sent, 1);
		break;
	case SDP_TX_SINK_CANCEL:
		sdp_sink_cancel_sent(conn);
		break;
	case SDP_TX_MODE_CHANGE:
		tx->mode = SDP_MODE_PIPELINED;
		break;
	case SDP_TX_CH_RCV_BUF:
		tx->grow_asked = true;
		break;
	case SDP_TX_DISCONN:
		tx->fin_sent = true;
		tx->sink_first = tx->sink_last;		/* nothing will be written */
		break;
	default:
		break;
	}
}

/* Posts one pending control message; true if it did and there may be more */
static bool sdp_tx_control(struct sdp_conn *conn)
{
	static const u8 mids[] = {
		[SDP_TX_ABORT]		= SDP_MID_ABORT,
		[SDP_TX_FIRST]		= SDP_MID_DATA,
		[SDP_TX_OOB]		= SDP_MID_DATA,
		[SDP_TX_RD_COMPL]	= SDP_MID_RDMA_RD_COMPL,
		[SDP_TX_SENDSM]		= SDP_MID_SENDSM,
		[SDP_TX_SINK_CANCEL_ACK] = SDP_MID_SINK_CANCEL_ACK,
		[SDP_TX_SRC_CANCEL]	= SDP_MID_SRC_AVAIL_CANCEL,
		[SDP_TX_SINK_CANCEL]	= SDP_MID_SINK_AVAIL_CANCEL,
		[SDP_TX_MODE_CHANGE]	= SDP_MID_MODE_CHANGE,
		[SDP_TX_CH_RCV_BUF_ACK]	= SDP_MID_CH_RCV_BUF_ACK,
		[SDP_TX_CH_RCV_BUF]	= SDP_MID_CH_RCV_BUF,
		[SDP_TX_DISCONN]	= SDP_MID_DISCONN,
	};
	struct sdp_tx *tx = &conn->tx;
	int what = ffs(tx->pending) - 1;

	if (what < 0 || !sdp_tx_has_control_credit(conn))
		return false;
	/* Behind AbortConn goes nothing at all */
	if (conn->aborted && what != SDP_TX_ABORT)
		return false;
	if (what == SDP_TX_DISCONN && (tx->unsent || tx->filling || tx->n_adverts))
		return false;
	if (!sdp_tx_post_control(conn, mids[what]))
		return false;
	sdp_tx_control_sent(conn, what);
	return what != SDP_TX_ABORT;
}

/* Data waits for more to come, until a timer ends that */
static void sdp_tx_hold(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	if (!conn->tx.held)
		conn->tx.held_since = jiffies;
	conn->tx.held = true;
	if (!timer_pending(&sdp->cork_timer))
		sk_reset_timer(conn->sk, &sdp->cork_timer, jiffies + SDP_CORK_TIME);
}

/* May this buffer or source, the first of the queue, wait for more to come behind it? */
static bool sdp_tx_may_wait(const struct sdp_tx *tx, const struct sdp_buf *buf)
{
	return list_is_last(&buf->list, &tx->queue) && !test_bit(SDP_TX_DISCONN, &tx->pending) &&
	       !buf->oob && !tx->flush;
}

/* Is it time for this buffer, which is the first of the queue? */
static bool sdp_tx_ready(struct sdp_conn *conn, const struct sdp_buf *buf)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	if (buf->len >= min_t(u32, tx->size, sdp_buf_size(buf)) || !sdp_tx_may_wait(tx, buf))
		return true;
	/* One with more to come waits for that, whatever TCP_NODELAY says, but not for ever */
	if (buf->more || READ_ONCE(sdp->cork)) {
		sdp_tx_hold(conn);
		return false;
	}
	/* RFC 896: a small one waits while data is in flight */
	return !tx->unacked || READ_ONCE(sdp->nonagle);
}

/**
 * sdp_tx_flush() - what is held back is to go now
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 */
void sdp_tx_flush(struct sdp_conn *conn)
{
	conn->tx.flush = !list_empty(&conn->tx.queue);
	sdp_tx_push(conn);
}

/**
 * sdp_cork_timeout() - data has been held back long enough
 * @t:	cork_timer
 *
 * Context: softirq.
 */
void sdp_cork_timeout(struct timer_list *t)
{
	struct sdp_sock *sdp = from_timer(sdp, t, cork_timer);
	struct sock *sk = (struct sock *)sdp;
	struct sdp_conn *conn;
	unsigned long end;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	if (conn && conn->tx.held && !conn->ending) {
		end = conn->tx.held_since + SDP_CORK_TIME;
		/* What the timer was for has gone, and this has come after it */
		if (time_after(end, jiffies))
			sk_reset_timer(sk, &sdp->cork_timer, end);
		else
			sdp_tx_flush(conn);
	}
	spin_unlock_bh(&sdp->lock);
	sock_put(sk);
}

/* One step on with a source, the first of the queue, unless it is about to grow */
static bool sdp_tx_src(struct sdp_conn *conn, struct sdp_src *src)
{
	struct sdp_tx *tx = &conn->tx;

	if (src->buf.more) {
		if (sdp_tx_may_wait(tx, &src->buf)) {
			sdp_tx_hold(conn);
			return false;
		}
		src->buf.more = false;
		tx->held = false;
		tx->flush = false;
	}
	return sdp_src_post(conn, src);
}

/* Posts what is first in the queue, or the next of it; true if it did */
static bool sdp_tx_data(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_buf *buf = list_first_entry_or_null(&tx->queue, struct sdp_buf, list);
	struct sdp_src *src;

	if (!buf)
		return false;
	if (!sdp_tx_has_data_credit(tx)) {
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_CREDIT_WAIT);
		return false;
	}
	src = sdp_buf_src(buf);
	if (src)
		return sdp_tx_src(conn, src);
	if (tx->n_adverts)
		return false;
	if (!sdp_tx_ready(conn, buf)) {
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_NAGLE_WAIT);
		return false;
	}
	if (!sdp_tx_post_buf(conn, buf))
		return false;
	list_del_init(&buf->list);
	tx->held = false;
	tx->flush = false;
	tx->unsent -= buf->len;
	sdp_tx_consider_growing(conn, buf->len);
	return true;
}

static void sdp_tx_credit_update(struct sdp_conn *conn)
{
	struct sdp_msg m = { .mid = SDP_MID_DATA };

	if (conn->tx.credits && sdp_tx_has_slot(&conn->tx) && sdp_rx_owes_credits(conn))
		sdp_tx_post(conn, &m);
}

/* Nothing in flight would tell of the peer's end, or somebody wants to know it sooner */
static void sdp_tx_watch(struct sdp_conn *conn)
{
	const struct sdp_tx *tx = &conn->tx;

	if (((tx->unsent || tx->n_adverts) && tx->done == tx->sent) ||
	    (READ_ONCE(sdp_sk(conn->sk)->opt.user_timeout) &&
	     (tx->unsent || tx->unacked || tx->n_adverts)))
		sdp_probe_arm(conn);
}

/**
 * sdp_tx_push() - send what can be sent
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 */
void sdp_tx_push(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;

	lockdep_assert_held(&sdp_sk(conn->sk)->lock);
	if (!conn->up || conn->ending)
		return;
	while (sdp_tx_has_slot(tx)) {
		if (sdp_tx_control(conn))
			continue;
		if (conn->aborted)
			break;
		if (sdp_tx_has_data_credit(tx) && sdp_sink_post(conn))
			continue;
		if (!sdp_tx_data(conn))
			break;
	}
	if (!list_empty(&tx->queue) && !sdp_tx_has_slot(tx))
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_RING_WAIT);
	if (!conn->ending && !conn->aborted)
		sdp_tx_credit_update(conn);
	sdp_tx_watch(conn);
}

/**
 * sdp_tx_queue_buf() - put a buffer behind all others
 * @conn:	connection
 * @buf:	buffer, memory charged to the socket
 * @added:	bytes of it that are new to the queue
 *
 * Context: process, sdp->lock held; the caller pushes.
 */
void sdp_tx_queue_buf(struct sdp_conn *conn, struct sdp_buf *buf, u32 added)
{
	list_add_tail(&buf->list, &conn->tx.queue);
	conn->tx.unsent += added;
}

/**
 * sdp_tx_tiny() - send a few bytes at once, without a buffer
 * @conn:	connection
 * @data:	bytes
 * @len:	how many, at most SDP_TINY_MAX
 *
 * Only when nothing is queued and nothing holds the message back.
 * Context: process, sdp->lock held.
 * Return: true if they are on their way.
 */
bool sdp_tx_tiny(struct sdp_conn *conn, const void *data, u32 len)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_msg m = { .mid = SDP_MID_DATA, .payload_len = len };

	if (!conn->up || conn->ending || conn->aborted || tx->pending || tx->unsent ||
	    tx->n_adverts || len > tx->size)
		return false;
	if (!sdp_tx_has_slot(tx) || !sdp_tx_has_data_credit(tx))
		return false;
	if (tx->unacked && !READ_ONCE(sdp_sk(conn->sk)->nonagle))
		return false;
	memcpy(sdp_tx_payload(tx, SDP_MID_DATA), data, len);
	if (!sdp_tx_post(conn, &m))
		return false;
	sdp_tx_watch(conn);
	SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_SEND_TINY);
	return true;
}

/**
 * sdp_tx_set() - want a control message sent
 * @conn:	connection
 * @what:	which
 *
 * Context: any, sdp->lock held; the caller pushes.
 */
void sdp_tx_set(struct sdp_conn *conn, enum sdp_tx_pending what)
{
	__set_bit(what, &conn->tx.pending);
}

static void sdp_tx_bytes_acked(struct sdp_tx *tx, struct sdp_tx_slot *slot)
{
	tx->unacked -= slot->bytes;
	slot->bytes = 0;
}

/**
 * sdp_tx_acked() - take over what a message said of our sending
 * @conn:	connection
 * @ack:	its MSeqAck, checked
 * @credits:	buffers the peer has left for us
 *
 * Context: any, sdp->lock held.
 */
void sdp_tx_acked(struct sdp_conn *conn, u32 ack, u32 credits)
{
	struct sdp_tx *tx = &conn->tx;

	/* The answer to a message may be seen before its send completion is */
	while (tx->una != ack) {
		tx->una++;
		if ((s32)(tx->una - tx->done) > 0)
			sdp_tx_bytes_acked(tx, sdp_tx_slot(tx, tx->una));
	}
	tx->credits = credits;
}

/**
 * sdp_tx_free_buf() - free a send buffer and its charge
 * @sk:		socket it is charged to
 * @buf:	buffer on no list
 *
 * Context: any, sdp->lock held.
 */
void sdp_tx_free_buf(struct sock *sk, struct sdp_buf *buf)
{
	int size = sdp_buf_size(buf);

	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued - size);
	sk_mem_uncharge(sk, size);
	sdp_buf_put(buf);
}

/* The oldest message has been delivered */
static void sdp_tx_complete(struct sdp_conn *conn, struct sdp_tx_slot *slot)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_buf *buf = slot->buf;

	tx->done++;
	tx->n_late -= slot->late;
	sdp_tx_bytes_acked(tx, slot);
	slot->buf = NULL;
	if (slot->written)
		sdp_sink_write_done(conn, slot->written);
	if (buf && sdp_buf_src(buf))
		sdp_src_delivered(conn, sdp_buf_src(buf));
	else if (buf)
		sdp_tx_free_buf(conn->sk, buf);
	if (slot->mid == SDP_MID_DISCONN)
		sdp_fin_delivered(conn);
	else if (slot->mid == SDP_MID_ABORT)
		sdp_conn_end(conn, 0);
}

/* Send completion. Every send is signalled, so they come in the order of slots. */
static void sdp_tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_tx_slot *slot = container_of(wc->wr_cqe, struct sdp_tx_slot, cqe);
	struct sdp_conn *conn = wc->qp->qp_context;
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	if (likely(wc->status == IB_WC_SUCCESS)) {
		conn->heard = jiffies;
		sdp_tx_complete(conn, slot);
		sdp_tx_push(conn);
	} else if (wc->status != IB_WC_WR_FLUSH_ERR) {
		if (wc->status == IB_WC_RNR_RETRY_EXC_ERR)
			SDP_INC_STATS(sock_net(sk), SDP_MIB_RNR);
		pr_debug("sdp: send failed: %s\n", ib_wc_status_msg(wc->status));
		sdp_tx_failed(conn, sdp_wc_errno(wc->status));
	}
	spin_unlock_bh(&sdp->lock);
	sdp_write_space(sk);
}

/**
 * sdp_tx_purge() - free all buffers, sent or not; sources have gone already
 * @conn:	connection whose queue pair is drained
 *
 * Context: process, sdp->lock held.
 */
void sdp_tx_purge(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_buf *buf, *next;
	int i;

	list_for_each_entry_safe(buf, next, &tx->queue, list) {
		list_del(&buf->list);
		sdp_tx_free_buf(conn->sk, buf);
	}
	for (i = 0; tx->slots && i < SDP_TX_RING; i++) {
		if (tx->slots[i].buf)
			sdp_tx_free_buf(conn->sk, tx->slots[i].buf);
		tx->slots[i].buf = NULL;
	}
	/* Its sender still copies into this one, and will free it */
	if (tx->filling)
		sdp_buf_unmap(tx->filling);
	tx->filling = NULL;
	tx->unsent = 0;
	tx->unacked = 0;
	tx->pending = 0;
}

/**
 * sdp_tx_alloc() - make the send slots
 * @conn:	connection with a queue pair
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sdp_tx_alloc(struct sdp_conn *conn)
{
	struct ib_device *ib = conn->qp->device;
	struct sdp_tx *tx = &conn->tx;
	int i;

	tx->slots = kcalloc(SDP_TX_RING, sizeof(*tx->slots), GFP_KERNEL);
	tx->hdrs = kzalloc(SDP_TX_RING * SDP_TX_HDR_SIZE, GFP_KERNEL);
	if (!tx->slots || !tx->hdrs)
		goto fail;
	for (i = 0; i < SDP_TX_RING; i++)
		tx->slots[i].cqe.done = sdp_tx_done;
	tx->hdrs_dma = ib_dma_map_single(ib, tx->hdrs, SDP_TX_RING * SDP_TX_HDR_SIZE,
					 DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ib, tx->hdrs_dma))
		goto fail;
	return 0;

fail:
	kfree(tx->hdrs);
	kfree(tx->slots);
	tx->hdrs = NULL;
	tx->slots = NULL;
	return -ENOMEM;
}

/**
 * sdp_tx_free() - undo sdp_tx_alloc()
 * @conn:	connection, purged
 *
 * Context: process.
 */
void sdp_tx_free(struct sdp_conn *conn)
{
	struct sdp_tx *tx = &conn->tx;

	if (!tx->hdrs)
		return;
	ib_dma_unmap_single(conn->qp->device, tx->hdrs_dma, SDP_TX_RING * SDP_TX_HDR_SIZE,
			    DMA_TO_DEVICE);
	kfree(tx->hdrs);
	kfree(tx->slots);
	tx->hdrs = NULL;
	tx->slots = NULL;
}
