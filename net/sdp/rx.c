// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving messages: the receive ring, what is granted to the peer, and what
 * each kind of message does.
 *
 * How much is posted and how much of that the peer is told ("granted", the
 * Bufs field) are two things. Posted is granted plus SDP_RX_SPARE. Granted is
 *
 *	2				for control messages, always, and
 *	at least 2 more			for data, while there is room in sk_rcvbuf,
 *	up to @target			which grows when the peer was held up;
 *					but for those 4 not under memory pressure
 *
 * A grant can't be taken back; so when the reader stops, the peer can fill
 * what it was granted, then has two credits left and sends control messages
 * only. Buffers in the ring and unread ones count with their full size.
 *
 * All under sdp->lock.
 */
#include "cm.h"
#include "read.h"
#include "sdp.h"
#include "sink.h"
#include "src.h"
#include "trace.h"

/* A stream that has paused this long has ended, as far as the number of buffers goes */
#define SDP_RX_PAUSE	HZ

/* Messages up to this many bytes share a buffer */
#define SDP_RX_COLLECT	256

/* When there may be memory again for a peer that has no credit for data */
#define SDP_RX_RETRY	(HZ / 10)

static u32 sdp_rx_posted(const struct sdp_rx *rx)
{
	return rx->head - rx->tail;
}

static u32 sdp_rx_target(const struct sdp_conn *conn)
{
	return sk_under_memory_pressure(conn->sk) ? SDP_RX_CREDITS_MIN : conn->rx.target;
}

/* How many the peer should have, were they only posted */
static u32 sdp_rx_window(const struct sdp_conn *conn)
{
	const struct sock *sk = conn->sk;
	int room = READ_ONCE(sk->sk_rcvbuf) - (int)sdp_sk(sk)->rx_truesize;
	u32 data = 0;

	if (room > 0)
		data = max_t(u32, room >> (PAGE_SHIFT + conn->rx.order), 2);
	return min(data + 2, sdp_rx_target(conn));
}

/**
 * sdp_rx_grant() - what the next message should say in Bufs
 * @conn:	connection
 *
 * Context: sdp->lock.
 * Return: buffers the peer may count on.
 */
u32 sdp_rx_grant(const struct sdp_conn *conn)
{
	const struct sdp_rx *rx = &conn->rx;

	return max(rx->granted, min(sdp_rx_window(conn), sdp_rx_posted(rx)));
}

/**
 * sdp_rx_owes_credits() - is it time to tell the peer of buffers it doesn't know?
 * @conn:	connection
 *
 * When half of them are news, so that a stream costs one update for half a
 * window. Not if only messages without payload have used them and there are
 * enough for payload: those of adverts and RDMA are answered by such, and that
 * tells, too. Or when the peer may be unable to say something: OFED wants two
 * credits for all that isn't an update. That is not a reason to answer an update
 * that may have been an answer to ours. As a window has four or more, or two
 * when it is closed, two idle ends never play ball with updates.
 *
 * Context: sdp->lock.
 * Return: true if an update should be sent.
 */
bool sdp_rx_owes_credits(struct sdp_conn *conn)
{
	u32 grant = sdp_rx_grant(conn), granted = conn->rx.granted;

	if (grant - granted >= max(2U, grant / 2) &&
	    (conn->rx.payload || granted <= SDP_CREDITS_RESERVED))
		return true;
	return grant > granted && granted <= !(conn->rx.pure && conn->tx.pure);
}

static bool sdp_rx_post(struct sdp_conn *conn, struct sdp_buf *buf)
{
	struct sdp_rx *rx = &conn->rx;
	u32 i = rx->head & (SDP_RX_RING - 1);
	struct ib_sge sge[2] = {
		{
			.addr	= rx->hdrs_dma + i * sizeof(*rx->hdrs),
			.length	= sizeof(*rx->hdrs),
			.lkey	= conn->lkey,
		}, {
			.addr	= buf->dma,
			.length	= sdp_buf_size(buf),
			.lkey	= conn->lkey,
		},
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &rx->cqe,
		.sg_list	= sge,
		.num_sge	= 2,
	};

	ib_dma_sync_single_for_device(conn->qp->device, buf->dma, sdp_buf_size(buf),
				      DMA_FROM_DEVICE);
	if (ib_post_recv(conn->qp, &wr, NULL))
		return false;
	buf->off = 0;
	buf->len = 0;
	rx->bufs[i] = buf;
	rx->head++;
	return true;
}

/**
 * sdp_rx_free_buf() - free a receive buffer and its charge
 * @sk:		socket it is charged to
 * @buf:	buffer on no list
 *
 * Context: any, sdp->lock held, or nobody has the socket any more.
 */
void sdp_rx_free_buf(struct sock *sk, struct sdp_buf *buf)
{
	int size = sdp_buf_size(buf);

	atomic_sub(size, &sk->sk_rmem_alloc);
	sk_mem_uncharge(sk, size);
	sdp_buf_put(buf);
}

/**
 * sdp_rx_new_buf() - a buffer to receive into, charged to the socket
 * @conn:	connection
 * @order:	its size
 *
 * Context: any, sdp->lock held.
 * Return: the buffer, or NULL.
 */
struct sdp_buf *sdp_rx_new_buf(struct sdp_conn *conn, u8 order)
{
	int size = PAGE_SIZE << order;
	struct sock *sk = conn->sk;
	struct sdp_buf *buf;

	if (!sdp_mem_charge(sk, size, SK_MEM_RECV))
		return NULL;
	buf = sdp_buf_get(conn->dev, order, GFP_ATOMIC);
	if (!buf) {
		sk_mem_uncharge(sk, size);
		return NULL;
	}
	atomic_add(size, &sk->sk_rmem_alloc);
	return buf;
}

/*
 * What is granted can't be taken back, and stays when the stream has ended. So it
 * grows only where all that is in use stays below what pressure ends at: else idle
 * connections would have the memory that others' data needs.
 */
static bool sdp_rx_may_grow(const struct sock *sk, u32 bufs, u8 order)
{
	return !sk_under_memory_pressure(sk) &&
	       sk_memory_allocated(sk) + ((long)bufs << order) <= sk_prot_mem_limits(sk, 0);
}

static bool sdp_rx_wants(const struct sdp_conn *conn)
{
	return !conn->ending && sdp_rx_posted(&conn->rx) < sdp_rx_window(conn) + SDP_RX_SPARE;
}

/* Larger buffers can't be had: stay with the size the peer knows */
static void sdp_rx_resize_undo(struct sdp_conn *conn)
{
	if (!conn->rx.old_posted)
		return;
	conn->rx.order = conn->rx.old_order;
	conn->rx.old_posted = 0;
	sdp_tx_set(conn, SDP_TX_CH_RCV_BUF_ACK);
}

/**
 * sdp_rx_fill() - post receives
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 */
void sdp_rx_fill(struct sdp_conn *conn)
{
	struct sdp_buf *buf;

	while (sdp_rx_wants(conn)) {
		buf = sdp_rx_new_buf(conn, conn->rx.order);
		if (!buf) {
			sdp_rx_resize_undo(conn);
			/* Nothing the peer does would bring us here again */
			if (conn->rx.granted <= 2 && !timer_pending(&conn->rx.fill_timer))
				mod_timer(&conn->rx.fill_timer, jiffies + SDP_RX_RETRY);
			break;
		}
		if (!sdp_rx_post(conn, buf)) {
			sdp_rx_free_buf(conn->sk, buf);
			break;
		}
	}
}

static void sdp_rx_fill_timeout(struct timer_list *t)
{
	struct sdp_conn *conn = from_timer(conn, t, rx.fill_timer);
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	spin_lock(&sdp->lock);
	if (!conn->ending) {
		sdp_rx_fill(conn);
		sdp_tx_push(conn);
	}
	spin_unlock(&sdp->lock);
}

/* Posts a buffer that has done its work again if it still fits, else frees it */
static void sdp_rx_recycle(struct sdp_conn *conn, struct sdp_buf *buf)
{
	if (buf->order == conn->rx.order && sdp_rx_wants(conn) && sdp_rx_post(conn, buf))
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_RX_RECYCLE);
	else
		sdp_rx_free_buf(conn->sk, buf);
}

/**
 * sdp_rx_consumed() - the reader has finished with a buffer
 * @sk:		socket
 * @buf:	buffer, off the receive queue
 *
 * Posts it again or frees it, and tells the peer if that is due.
 * Context: process, sdp->lock held.
 */
void sdp_rx_consumed(struct sock *sk, struct sdp_buf *buf)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn = sdp->conn;

	WRITE_ONCE(sdp->rx_truesize, sdp->rx_truesize - sdp_buf_size(buf));
	if (!conn || !buf->dev) {
		sdp_rx_free_buf(sk, buf);
		return;
	}
	sdp_rx_recycle(conn, buf);
	sdp_rx_fill(conn);
	sdp_read_ahead(conn);
	sdp_tx_push(conn);
}

/* The peer broke a rule: that ends this connection and nothing else */
static void sdp_rx_bad(struct sdp_conn *conn, enum sdp_bad bad)
{
	SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_BAD(bad));
	trace_sdp_bad(conn, bad);
	net_dbg_ratelimited("sdp: connection aborted: %s\n", sdp_bad_str(bad));
	sdp_abort(conn, EPROTO);
}

/*
 * How many buffers this stream is worth: twice as many when the peer was held
 * up while it kept sending, half after a pause. A connection that exchanges a
 * message now and then stays with the few it began with.
 */
static void sdp_rx_adapt(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;

	if (time_after(jiffies, rx->last + SDP_RX_PAUSE)) {
		rx->target = max_t(u32, rx->target / 2, SDP_RX_CREDITS_MIN);
		rx->streak = 0;
	}
	rx->last = jiffies;
	if (++rx->streak < 2 * rx->target || rx->granted > 2 ||
	    !sdp_rx_may_grow(conn->sk, rx->target, rx->order))
		return;
	rx->target = min_t(u32, rx->target * 2, SDP_RX_MAX - SDP_RX_SPARE);
	rx->streak = 0;
}

/**
 * sdp_rx_queue_buf() - give a buffer of data to the reader
 * @sk:		socket
 * @buf:	buffer, charged to it
 *
 * Context: any, sdp->lock held; the caller wakes the reader.
 */
void sdp_rx_queue_buf(struct sock *sk, struct sdp_buf *buf)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	buf->stamp = sdp_stamp(sk);
	list_add_tail(&buf->list, &sdp->rx_queue);
	WRITE_ONCE(sdp->rx_truesize, sdp->rx_truesize + sdp_buf_size(buf));
	WRITE_ONCE(sdp->rx_bytes, sdp->rx_bytes + buf->len - buf->off);
}

/*
 * A small message goes into the buffer before it, as far as there is room: a
 * copy of a few bytes, cheap even under the lock, where otherwise a program that
 * sends byte by byte would fill the receive buffer with empty pages.
 */
static bool sdp_rx_collect(struct sock *sk, const struct sdp_buf *buf, const struct sdp_msg *m)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_buf *last;

	if (m->mid != SDP_MID_DATA || m->payload_len > SDP_RX_COLLECT ||
	    (m->flags & SDP_FLAG_OOB_PRES) || list_empty(&sdp->rx_queue))
		return false;
	last = list_last_entry(&sdp->rx_queue, struct sdp_buf, list);
	/* The urgent byte stays the last of its buffer */
	if (last == sdp->urg_buf || last->len + m->payload_len > sdp_buf_size(last))
		return false;
	/* A reader at work has bytes before these, and looks at the length under the lock */
	memcpy(page_address(last->page) + last->len, page_address(buf->page), m->payload_len);
	last->len += m->payload_len;
	last->stamp = sdp_stamp(sk);
	WRITE_ONCE(sdp->rx_bytes, sdp->rx_bytes + m->payload_len);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_RX_COLLECT);
	return true;
}

/* Payload for the reader; true if the buffer has become his, false if it is free again */
static bool sdp_rx_queue(struct sdp_conn *conn, struct sdp_buf *buf, const struct sdp_msg *m)
{
	struct sock *sk = conn->sk;
	bool taken = !sdp_rx_collect(sk, buf, m);

	if (taken) {
		buf->off = m->ext_len;
		buf->len = m->ext_len + m->payload_len;
		sdp_rx_queue_buf(sk, buf);
	}
	if (m->flags & SDP_FLAG_OOB_PRES)
		sdp_oob_arrived(sk, buf);
	if (m->mid == SDP_MID_DATA)
		SDP_COUNT(sk, RECV_DATA, rcv_data, 1);
	SDP_COUNT(sk, RECV_BYTES, rcv_bcopy, m->payload_len);
	return taken;
}

/*
 * ChRcvBuf: the peer has much to send and would like larger buffers here. They
 * are made from now on; the answer waits until no smaller one is posted, since
 * the peer may use the new size as soon as it has that.
 */
static void sdp_rx_resize(struct sdp_conn *conn, u32 size)
{
	struct sdp_rx *rx = &conn->rx;
	u8 order = min_t(u8, get_order(size - SDP_BSDH_SIZE), SDP_BUF_ORDER_MAX);

	if (rx->old_posted)
		return;		/* an answer is under way already */
	if (order <= rx->order || (PAGE_SIZE << order) > READ_ONCE(conn->sk->sk_rcvbuf) ||
	    !sdp_rx_may_grow(conn->sk, SDP_RX_CREDITS_MIN + SDP_RX_SPARE, order)) {
		sdp_tx_set(conn, SDP_TX_CH_RCV_BUF_ACK);
		return;
	}
	rx->old_order = rx->order;
	rx->order = order;
	rx->old_posted = sdp_rx_posted(rx);
	SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_RX_RESIZE);
	if (!rx->old_posted)
		sdp_tx_set(conn, SDP_TX_CH_RCV_BUF_ACK);
}

static enum sdp_bad sdp_rx_resize_ack(struct sdp_conn *conn, u32 size)
{
	if (!conn->tx.grow_asked)
		return SDP_BAD_STATE;
	conn->tx.grow_asked = false;
	size = min_t(u32, size - SDP_BSDH_SIZE, SDP_PAYLOAD_MAX);
	if (size > conn->tx.size)
		conn->tx.size = size;
	return SDP_GOOD;
}

/*
 * ModeChange. We are Combined as a sink, and follow the source's wishes; a
 * change of our own sending is only the sink's to ask for when that is
 * Buffered, which it never is (IBA A4, and reference gen1 for who may what).
 */
static enum sdp_bad sdp_rx_mode_change(struct sdp_conn *conn, u8 half, u8 mode)
{
	bool from_combined = conn->rx.mode == SDP_MODE_COMBINED && mode != SDP_MODE_COMBINED;
	bool from_pipelined = conn->rx.mode == SDP_MODE_PIPELINED && mode == SDP_MODE_COMBINED;

	if (half != SDP_HALF_RECV || !(from_combined || from_pipelined) || sdp_sink_posted(conn))
		return SDP_BAD_STATE;
	/* One advert more may follow the first at any time, but none less */
	if (mode != SDP_MODE_PIPELINED && sdp_read_open(conn))
		return SDP_BAD_STATE;
	conn->rx.mode = mode;
	return SDP_GOOD;
}

static enum sdp_bad sdp_rx_control(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct net *net = sock_net(conn->sk);

	switch (m->mid) {
	case SDP_MID_DISCONN:
		sdp_sink_fin(conn);
		sdp_rcv_fin(conn);
		return SDP_GOOD;
	case SDP_MID_ABORT:
		SDP_INC_STATS(net, SDP_MIB_ABORTS_RCVD);
		__sdp_conn_fail(conn, conn->rx.fin ? EPIPE : ECONNRESET);
		return SDP_GOOD;
	case SDP_MID_CH_RCV_BUF:
		sdp_rx_resize(conn, m->num);
		return SDP_GOOD;
	case SDP_MID_CH_RCV_BUF_ACK:
		return sdp_rx_resize_ack(conn, m->num);
	case SDP_MID_MODE_CHANGE:
		return sdp_rx_mode_change(conn, m->mode.half, m->mode.mode);
	case SDP_MID_SRC_AVAIL:
		return sdp_read_advert(conn, m);
	case SDP_MID_SRC_AVAIL_CANCEL:
		sdp_read_cancel(conn);
		return SDP_GOOD;
	case SDP_MID_RDMA_RD_COMPL:
		return sdp_src_read(conn, m);
	case SDP_MID_SENDSM:
		return sdp_src_refused(conn, m);
	case SDP_MID_SINK_AVAIL:
		return sdp_sink_avail(conn, m);
	case SDP_MID_SINK_AVAIL_CANCEL:
		sdp_sink_avail_cancel(conn);
		return SDP_GOOD;
	case SDP_MID_RDMA_WR_COMPL:
		return sdp_sink_written(conn, m);
	case SDP_MID_SINK_CANCEL_ACK:
		return sdp_sink_cancel_acked(conn);
	default:
		return SDP_BAD_STATE;	/* modes we never are in, answers to what we never sent */
	}
}

/* Takes over the header's news, which are the same for every message */
static enum sdp_bad sdp_rx_header(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct sdp_rx *rx = &conn->rx;
	enum sdp_bad bad;
	u32 credits;

	if (m->mseq != rx->mseq + 1)
		return SDP_BAD_SEQ;
	if (!rx->granted)
		return SDP_BAD_CREDIT;
	bad = sdp_credits(conn->tx.sent, conn->tx.una, m->mseq_ack, m->bufs, &credits);
	if (bad)
		return bad;
	rx->mseq = m->mseq;
	rx->granted--;
	rx->pure = sdp_msg_is_update(m);
	sdp_tx_acked(conn, m->mseq_ack, credits);
	return SDP_GOOD;
}

/* Is it one of those a stream consists of? */
static bool sdp_rx_streams(const struct sdp_msg *m)
{
	return m->payload_len || m->mid == SDP_MID_SRC_AVAIL ||
	       m->mid == SDP_MID_RDMA_RD_COMPL || m->mid == SDP_MID_RDMA_WR_COMPL;
}

/* One message; *@taken when its buffer went to the reader */
static enum sdp_bad sdp_rx_message(struct sdp_conn *conn, const struct sdp_msg *m,
				   struct sdp_buf *buf, bool *taken)
{
	struct net *net = sock_net(conn->sk);
	enum sdp_bad bad = sdp_rx_header(conn, m);

	if (bad)
		return bad;
	trace_sdp_rx(conn, m);
	/* The stream has ended; what keeps ours going may still come */
	if (conn->rx.fin && (m->payload_len || m->mid == SDP_MID_DISCONN ||
			     m->mid == SDP_MID_SRC_AVAIL))
		return SDP_BAD_STATE;
	sdp_read_acked(conn, m->mseq_ack);
	/* What is advertised comes first */
	if (sdp_read_open(conn) && (m->payload_len || m->mid == SDP_MID_DISCONN) &&
	    m->mid != SDP_MID_SRC_AVAIL)
		return SDP_BAD_STATE;
	if (m->payload_len)
		sdp_sink_data(conn);
	if (m->mid != SDP_MID_DATA) {
		SDP_INC_STATS(net, SDP_MIB_RECV_CTRL);
		bad = sdp_rx_control(conn, m);
		if (bad)
			return bad;
	} else if (!m->payload_len) {
		SDP_INC_STATS(net, SDP_MIB_RECV_CREDITS);
	}
	if ((m->flags & (SDP_FLAG_OOB_PEND | SDP_FLAG_OOB_PRES)) == SDP_FLAG_OOB_PEND)
		sdp_oob_pending(conn->sk);
	if (sdp_rx_streams(m))
		sdp_rx_adapt(conn);
	if (!m->payload_len && m->mid != SDP_MID_SRC_AVAIL)
		return SDP_GOOD;
	conn->rx.payload |= m->payload_len;
	if (sock_flag(conn->sk, SOCK_DEAD) && conn->sk->sk_state != TCP_SYN_RECV) {
		/* Nobody is left to read it: say so, as TCP's RST does (RFC 1122, 4.2.2.13) */
		sdp_abort(conn, ECONNRESET);
		return SDP_GOOD;
	}
	if (m->payload_len)
		*taken = sdp_rx_queue(conn, buf, m);
	return SDP_GOOD;
}

static void sdp_rx_process(struct sdp_conn *conn, const struct sdp_bsdh *bsdh, struct sdp_buf *buf,
			   u32 bytes)
{
	struct sock *sk = conn->sk;
	enum sdp_bad bad = SDP_BAD_SHORT;
	bool taken = false;
	struct sdp_msg m;

	if (conn->aborted) {
		sdp_rx_free_buf(sk, buf);
		return;
	}
	if (bytes >= SDP_BSDH_SIZE)
		bad = sdp_decode(bsdh, page_address(buf->page), bytes - SDP_BSDH_SIZE, &m);
	if (!bad)
		bad = sdp_rx_message(conn, &m, buf, &taken);
	if (!taken)
		sdp_rx_recycle(conn, buf);
	if (bad) {
		sdp_rx_bad(conn, bad);
		return;
	}
	if (!conn->up && !conn->ending)
		sdp_cm_early(conn);
	sdp_rx_fill(conn);
	sdp_tx_push(conn);
}

/* Receive completion */
static void sdp_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = wc->qp->qp_context;
	struct ib_device *ib = wc->qp->device;
	struct sdp_rx *rx = &conn->rx;
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_buf *buf;
	bool news;
	u32 bytes, i;

	spin_lock_bh(&sdp->lock);
	i = rx->tail++ & (SDP_RX_RING - 1);
	buf = rx->bufs[i];
	rx->bufs[i] = NULL;
	bytes = sdp->rx_bytes + sdp->adv_bytes;
	if (likely(wc->status == IB_WC_SUCCESS)) {
		conn->heard = jiffies;
		if (rx->old_posted && !--rx->old_posted)
			sdp_tx_set(conn, SDP_TX_CH_RCV_BUF_ACK);
		ib_dma_sync_single_for_cpu(ib, rx->hdrs_dma + i * sizeof(*rx->hdrs),
					   sizeof(*rx->hdrs), DMA_FROM_DEVICE);
		/* Behind the header, which has a place of its own */
		ib_dma_sync_single_for_cpu(ib, buf->dma,
					   wc->byte_len - min_t(u32, wc->byte_len, SDP_BSDH_SIZE),
					   DMA_FROM_DEVICE);
		sdp_rx_process(conn, &rx->hdrs[i], buf, wc->byte_len);
	} else {
		sdp_rx_free_buf(sk, buf);
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			__sdp_conn_fail(conn, ECONNRESET);
	}
	bytes = sdp->rx_bytes + sdp->adv_bytes - bytes;
	news = sdp->deferred && (bytes || rx->fin);
	spin_unlock_bh(&sdp->lock);

	/* A reader that can take adverts is told of them whatever other threads are like */
	if ((s32)bytes > 0 && (sdp_rx_readable(sk) || READ_ONCE(sdp->rx_wait) == SDP_RX_DIRECT))
		sk->sk_data_ready(sk);
	if (news)
		sdp_child_undefer(sk);
	sdp_oob_tell(sk);
	sdp_write_space(sk);
}

/**
 * sdp_rx_readable() - is there as much to read as the program wants to be told of?
 * @sk:	socket
 *
 * SO_RCVLOWAT, unless no more can come before some is read.
 * Context: any.
 * Return: true if so.
 */
bool sdp_rx_readable(const struct sock *sk)
{
	u32 bytes = READ_ONCE(sdp_sk(sk)->rx_bytes);

	/* The urgent byte isn't for recv() */
	if (bytes && READ_ONCE(sdp_sk(sk)->urg_mark) && !sock_flag(sk, SOCK_URGINLINE))
		bytes--;
	/* A recv() that waits gets adverts too; one that won't has them read ahead first */
	if (READ_ONCE(sdp_sk(sk)->adv_bytes) && !READ_ONCE(sdp_sk(sk)->eager))
		return true;
	return bytes && (bytes >= READ_ONCE(sk->sk_rcvlowat) ||
			 READ_ONCE(sdp_sk(sk)->rx_truesize) >= READ_ONCE(sk->sk_rcvbuf));
}

/**
 * sdp_rx_unread() - has the peer sent or advertised what was not read?
 * @sk:	socket
 *
 * Context: any, sdp->lock held.
 * Return: true if so.
 */
bool sdp_rx_unread(const struct sock *sk)
{
	const struct sdp_sock *sdp = sdp_sk(sk);

	return sdp->rx_bytes || sdp->adv_bytes || (sdp->conn && sdp->conn->rx.ahead_busy);
}

/**
 * sdp_rx_init() - nothing to receive into yet
 * @conn:	new connection
 *
 * Context: process.
 */
void sdp_rx_init(struct sdp_conn *conn)
{
	timer_setup(&conn->rx.fill_timer, sdp_rx_fill_timeout, 0);
}

/**
 * sdp_rx_stop() - no more receives are posted
 * @conn:	connection that is ending
 *
 * Context: process.
 */
void sdp_rx_stop(struct sdp_conn *conn)
{
	timer_shutdown_sync(&conn->rx.fill_timer);
}

/**
 * sdp_rx_purge() - free receives still posted, part unread data from the device
 * @conn:	connection whose queue pair is drained, or was never used
 *
 * Unread data stays on the socket. Context: process, sdp->lock held.
 */
void sdp_rx_purge(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	struct sdp_buf *buf;
	int i;

	for (i = 0; conn->rx.bufs && i < SDP_RX_RING; i++) {
		if (conn->rx.bufs[i])
			sdp_rx_free_buf(conn->sk, conn->rx.bufs[i]);
		conn->rx.bufs[i] = NULL;
	}
	list_for_each_entry(buf, &sdp->rx_queue, list)
		sdp_buf_unmap(buf);
}

/**
 * sdp_rx_alloc() - make the receive ring
 * @conn:	connection with a queue pair; @rx.order says which buffers
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sdp_rx_alloc(struct sdp_conn *conn)
{
	struct ib_device *ib = conn->qp->device;
	struct sdp_rx *rx = &conn->rx;

	rx->target = SDP_RX_CREDITS_MIN;
	rx->cqe.done = sdp_rx_done;
	rx->bufs = kcalloc(SDP_RX_RING, sizeof(*rx->bufs), GFP_KERNEL);
	rx->hdrs = kcalloc(SDP_RX_RING, sizeof(*rx->hdrs), GFP_KERNEL);
	if (!rx->bufs || !rx->hdrs)
		goto fail;
	rx->hdrs_dma = ib_dma_map_single(ib, rx->hdrs, SDP_RX_RING * sizeof(*rx->hdrs),
					 DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ib, rx->hdrs_dma))
		goto fail;
	return 0;

fail:
	kfree(rx->hdrs);
	kfree(rx->bufs);
	rx->hdrs = NULL;
	rx->bufs = NULL;
	return -ENOMEM;
}

/**
 * sdp_rx_free() - undo sdp_rx_alloc()
 * @conn:	connection, purged
 *
 * Context: process.
 */
void sdp_rx_free(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;

	if (!rx->hdrs)
		return;
	ib_dma_unmap_single(conn->qp->device, rx->hdrs_dma, SDP_RX_RING * sizeof(*rx->hdrs),
			    DMA_FROM_DEVICE);
	kfree(rx->hdrs);
	kfree(rx->bufs);
	rx->hdrs = NULL;
	rx->bufs = NULL;
}
