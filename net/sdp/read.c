// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's adverts (SrcAvail) and what becomes of them.
 *
 * An advert waits in a ring of as many as our Hello allows. Its bytes come
 *
 *	direct	by RDMA READ into the memory of a recv() that has room for them
 *	ahead	by RDMA READ into buffers, which then are read like any data: when
 *		the reader's recv() is too small, peeks, or is non-blocking, when
 *		our own senders wait for a peer that may be waiting for us, when no
 *		recv() has come for a while, or, if net.sdp.read_ahead is 2, behind a
 *		direct one, so that the wire has something to do until the next recv()
 *	as Data	after a SendSm of ours: when there is no memory to read ahead, when
 *		net.sdp.read_ahead forbids that, or when the peer cancels
 *
 * Reads are posted and end in the order of the stream, whoever posts them. A
 * read can't be taken back: who has posted one waits for its end, which comes
 * even if it is the connection's. A timer makes it be that after a minute.
 *
 * A recv() into a region (region.c) need not wait for its reads, if the program
 * has said so: they are away. Their number is bounded like that of the others,
 * which wait for them first, as they would end behind them anyway.
 *
 * RdmaRdCompl is sent for a whole advert, and for a part of one only when the
 * rest is refused. As no advert outlives a SendSm, one that the peer had sent
 * before it saw that is void, for the peer sends its bytes again.
 *
 * All under sdp->lock unless a comment says otherwise.
 */
#include "companion.h"
#include "conn.h"
#include "device.h"
#include "mr.h"
#include "read.h"
#include "region.h"
#include "sdp.h"
#include "sink.h"
#include "trace.h"

/* A smaller recv() is better served from a buffer */
#define SDP_DIRECT_MIN		(2 * PAGE_SIZE)
/* Bytes advertised at a time: with those in buffers they are no more than an int takes */
#define SDP_ADVERTISED_MAX	(INT_MAX / 2)
/* How long a read may take, which a device that answers a little now and then can draw out */
#define SDP_READ_TIME		(60 * HZ)
/* How long an advert waits for a recv() before it is read ahead */
#define SDP_AHEAD_DELAY		2

static struct sdp_advert *sdp_read_at(struct sdp_rx *rx, u32 i)
{
	return &rx->adverts[i % SDP_MAX_ADVERTS];
}

static u32 sdp_read_reports(const struct sdp_rx *rx)
{
	return rx->rep_last - rx->rep_first;
}

/**
 * sdp_read_open() - is there anything the peer may still count as advertised?
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 * Return: true if so; then no data can come.
 */
bool sdp_read_open(const struct sdp_conn *conn)
{
	const struct sdp_rx *rx = &conn->rx;

	return rx->adv_first != rx->adv_last || rx->refused;
}

/**
 * sdp_read_acked() - the peer has sent a message
 * @conn:	connection
 * @mseq_ack:	what it had seen of ours
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_read_acked(struct sdp_conn *conn, u32 mseq_ack)
{
	struct sdp_rx *rx = &conn->rx;

	if (rx->refused && !test_bit(SDP_TX_SENDSM, &conn->tx.pending) &&
	    (s32)(mseq_ack - conn->tx.sendsm) >= 0)
		rx->refused = false;
}

static void sdp_read_want_report(struct sdp_conn *conn, u32 len)
{
	struct sdp_rx *rx = &conn->rx;

	rx->reports[rx->rep_last++ % ARRAY_SIZE(rx->reports)] = len;
	sdp_tx_set(conn, SDP_TX_RD_COMPL);
}

/**
 * sdp_read_report() - what the next RdmaRdCompl is to say
 * @conn:	connection for which SDP_TX_RD_COMPL is pending
 *
 * Context: any, sdp->lock held.
 * Return: bytes read.
 */
u32 sdp_read_report(const struct sdp_conn *conn)
{
	const struct sdp_rx *rx = &conn->rx;

	return rx->reports[rx->rep_first % ARRAY_SIZE(rx->reports)];
}

/**
 * sdp_read_reported() - it has been sent
 * @conn:	connection
 *
 * Context: any, sdp->lock held.
 * Return: true if there is another to send.
 */
bool sdp_read_reported(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;

	rx->rep_first++;
	return sdp_read_reports(rx);
}

static void sdp_read_set_bytes(struct sdp_conn *conn, u32 bytes)
{
	WRITE_ONCE(sdp_sk(conn->sk)->adv_bytes, bytes);
}

/* Adverts are over from the oldest on: report those read entirely */
static void sdp_read_finish(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;

	while (rx->adv_first != rx->adv_next) {
		struct sdp_advert *a = sdp_read_at(rx, rx->adv_first);

		if (a->done < a->len)
			break;
		sdp_read_want_report(conn, a->len - a->inlined);
		trace_sdp_advert_over(conn, SDP_MID_SRC_AVAIL, false, a->len, a->done);
		rx->adv_first++;
	}
}

/* Refusing, and nothing is being read any more: tell the peer */
static void sdp_read_settle(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;
	struct sdp_advert *a = sdp_read_at(rx, rx->adv_first);

	if (!rx->refusing || !list_empty(&rx->reads))
		return;
	rx->refusing = false;
	if (rx->adv_first == rx->adv_last)
		return;		/* all were read before it came to that */
	if (a->done > a->inlined)
		sdp_read_want_report(conn, a->done - a->inlined);
	for (; rx->adv_first != rx->adv_last; rx->adv_first++) {
		a = sdp_read_at(rx, rx->adv_first);
		trace_sdp_advert_over(conn, SDP_MID_SRC_AVAIL, false, a->len, a->done);
	}
	rx->adv_next = rx->adv_last;
	rx->refused = true;
	sdp_tx_set(conn, SDP_TX_SENDSM);
}

/* What is not being read yet is to come as Data; the caller pushes */
static void sdp_read_refuse(struct sdp_conn *conn, enum sdp_refuse why)
{
	SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_SENDSM(why));
	trace_sdp_sendsm(conn, true, why);
	sdp_read_set_bytes(conn, 0);
	conn->rx.ahead_bufs = 0;
	conn->rx.refusing = true;
	sdp_read_settle(conn);
}

/**
 * sdp_read_cancel() - SrcAvailCancel: the peer wants its adverts back
 * @conn:	connection
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_read_cancel(struct sdp_conn *conn)
{
	SDP_COUNT(conn->sk, SRC_CANCEL_RCVD, src_cancel_rcvd, 1);
	trace_sdp_cancel(conn, SDP_MID_SRC_AVAIL, false);
	/* Without an advert it has crossed our last answer */
	if (conn->rx.adv_first != conn->rx.adv_last)
		sdp_read_refuse(conn, SDP_REFUSE_CANCELLED);
}

/* May this SrcAvail come now? */
static enum sdp_bad sdp_read_check(const struct sdp_conn *conn, const struct sdp_msg *m)
{
	const struct sdp_rx *rx = &conn->rx;
	u32 open = rx->adv_last - rx->adv_first + sdp_read_reports(rx);

	if (rx->mode == SDP_MODE_BUFFERED)
		return SDP_BAD_STATE;
	if (rx->mode == SDP_MODE_PIPELINED)
		return m->payload_len ? SDP_BAD_PAYLOAD :
		       open >= SDP_MAX_ADVERTS ? SDP_BAD_STATE : SDP_GOOD;
	if (!m->payload_len)
		return SDP_BAD_PAYLOAD;
	return open || rx->refused ? SDP_BAD_STATE : SDP_GOOD;
}

/* Is what a recv() under way has no room for to be read behind it? */
static bool sdp_read_on(const struct sdp_conn *conn)
{
	return !list_empty(&conn->rx.reads) &&
	       READ_ONCE(sdp_pernet(sock_net(conn->sk))->read_ahead) > 1;
}

/* Nobody waits for it: how soon is it to be read ahead? */
static void sdp_read_arrange(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	if (sdp->rx_wait == SDP_RX_DIRECT)
		return;
	if (sdp->eager || sdp->zsenders || sdp_read_on(conn))
		sdp_read_ahead_all(conn);
	else if (sdp->rx_wait == SDP_RX_BUFFERED)
		sdp_read_ahead_some(conn);
	else
		mod_timer(&conn->rx.ahead_timer, jiffies + SDP_AHEAD_DELAY);
}

/**
 * sdp_read_advert() - SrcAvail
 * @conn:	connection
 * @m:		the message; its payload goes the way of data
 *
 * Context: softirq, sdp->lock held.
 * Return: SDP_GOOD, or what is wrong.
 */
enum sdp_bad sdp_read_advert(struct sdp_conn *conn, const struct sdp_msg *m)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	struct sdp_rx *rx = &conn->rx;
	enum sdp_bad bad = sdp_read_check(conn, m);
	u32 len;

	if (bad)
		return bad;
	SDP_COUNT(conn->sk, SRC_AVAIL_RCVD, src_avail_rcvd, 1);
	trace_sdp_advert_rcvd(conn, SDP_MID_SRC_AVAIL, m->avail.va, m->avail.rkey, m->avail.len,
			      m->payload_len);
	if (rx->refused)
		return SDP_GOOD;	/* void */
	if (sdp_sink_posted(conn))
		return sdp_sink_crossed(conn, m);
	*sdp_read_at(rx, rx->adv_last++) = (struct sdp_advert) {
		.va		= m->avail.va,
		.rkey		= m->avail.rkey,
		.len		= m->avail.len,
		.inlined	= m->payload_len,
		.posted		= m->payload_len,
		.done		= m->payload_len,
	};
	/* One that comes while the ones before are being refused is refused with them */
	if (rx->refusing)
		return SDP_GOOD;
	if (!rx->max_reads) {
		sdp_read_refuse(conn, SDP_REFUSE_NO_READS);
		return SDP_GOOD;
	}
	len = m->avail.len - m->payload_len;
	if (len > SDP_ADVERTISED_MAX - sdp->adv_bytes) {
		sdp_read_refuse(conn, SDP_REFUSE_TOO_MUCH);
		return SDP_GOOD;
	}
	sdp_read_set_bytes(conn, sdp->adv_bytes + len);
	sdp_read_arrange(conn);
	return SDP_GOOD;
}

/* Bytes a single read can have next */
static u32 sdp_read_next(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;
	const struct sdp_advert *a = sdp_read_at(rx, rx->adv_next);

	if (!conn->up || conn->ending || rx->refusing || rx->adv_next == rx->adv_last ||
	    rx->n_reads >= rx->max_reads)
		return 0;
	return a->len - a->posted;
}

static void sdp_read_done(struct ib_cq *cq, struct ib_wc *wc);

/* Posts the read of the next @rd->len bytes into @sge */
static bool sdp_read_post(struct sdp_conn *conn, struct sdp_read *rd, struct ib_sge *sge)
{
	struct sdp_rx *rx = &conn->rx;
	struct sdp_advert *a = sdp_read_at(rx, rx->adv_next);
	struct ib_rdma_wr wr = {
		.wr.wr_cqe	= &rd->cqe,
		.wr.sg_list	= sge,
		.wr.num_sge	= 1,
		.wr.opcode	= IB_WR_RDMA_READ,
		.wr.send_flags	= IB_SEND_SIGNALED,
		.remote_addr	= a->va + a->posted,
		.rkey		= a->rkey,
	};

	rd->cqe.done = sdp_read_done;
	rd->advert = rx->adv_next;
	rd->ok = false;
	if (sdp_post_send(conn, rd->mr ? sdp_mr_link(rd->mr, &wr.wr) : &wr.wr)) {
		if (rd->mr)
			rd->mr->broken = true;
		__sdp_conn_fail(conn, ECONNRESET);
		return false;
	}
	list_add_tail(&rd->list, &rx->reads);
	rx->n_reads++;
	rd->since = jiffies;
	if (!timer_pending(&rx->read_timer))
		mod_timer(&rx->read_timer, jiffies + SDP_READ_TIME);
	a->posted += rd->len;
	sdp_read_set_bytes(conn, sdp_sk(conn->sk)->adv_bytes - rd->len);
	if (a->posted == a->len)
		rx->adv_next++;
	SDP_COUNT(conn->sk, RDMA_READS, reads, 1);
	trace_sdp_rdma_begin(conn, IB_WR_RDMA_READ, wr.remote_addr, wr.rkey, rd->len);
	return true;
}

static void sdp_read_ahead_over(struct sdp_conn *conn, struct sdp_read *rd)
{
	struct sock *sk = conn->sk;
	struct sdp_buf *buf = rd->buf;

	__clear_bit(rd - conn->rx.ahead, &conn->rx.ahead_busy);
	sdp_sk(sk)->rx_truesize -= sdp_buf_size(buf);
	if (!rd->ok) {
		sdp_rx_free_buf(sk, buf);
		return;
	}
	ib_dma_sync_single_for_cpu(conn->qp->device, buf->dma, rd->len, DMA_FROM_DEVICE);
	buf->len = rd->len;
	sdp_rx_queue_buf(sk, buf);
	SDP_COUNT(sk, RECV_AHEAD, rcv_ahead, rd->len);
}

/**
 * struct sdp_read_away - a read into a region that nobody waits for
 * @rd:		the read
 * @sk:		socket, a reference
 * @span:	pages it goes into
 * @work:	its end, if that takes a process
 * @pages:	those pages
 */
struct sdp_read_away {
	struct sdp_read		rd;
	struct sock		*sk;
	struct sdp_region_span	span;
	struct work_struct	work;
	struct page		*pages[];
};

/* No lock held */
static void sdp_read_away_free(struct sdp_read_away *ra)
{
	struct sdp_sock *sdp = sdp_sk(ra->sk);

	sdp_mr_put(ra->rd.mr);
	sdp_region_put(&ra->span);
	atomic_dec(&sdp->reads_away);
	smp_mb__after_atomic();		/* wake_up_var() looks for who waits */
	wake_up_var(&sdp->reads_away);
	sock_put(ra->sk);
	kfree(ra);
}

/* It is over: its pages have what they should, if @good. No lock held */
static void sdp_read_away_end(struct sdp_read_away *ra, bool good)
{
	sdp_region_arrived(&ra->span, good);
	sdp_read_away_free(ra);
}

/* As in sdp_read_wait(): nobody knows what became of the key */
static void sdp_read_away_failed(struct work_struct *work)
{
	struct sdp_read_away *ra = container_of(work, struct sdp_read_away, work);

	sdp_mr_destroy(ra->rd.mr);
	sdp_mr_unpin(ra->rd.mr);
	sdp_read_away_end(ra, false);
}

static void sdp_read_away_over(struct sdp_read *rd)
{
	struct sdp_read_away *ra = container_of(rd, struct sdp_read_away, rd);

	if (!rd->ok) {
		queue_work(sdp_wq, &ra->work);
		return;
	}
	sdp_mr_unpin(rd->mr);
	sdp_read_away_end(ra, true);
}

/* Completion of a read */
static void sdp_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_read *rd = container_of(wc->wr_cqe, struct sdp_read, cqe);
	struct sdp_conn *conn = wc->qp->qp_context;
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	bool ahead = rd->buf, away = rd->away;

	spin_lock_bh(&sdp->lock);
	list_del(&rd->list);
	conn->rx.n_reads--;
	rd->ok = wc->status == IB_WC_SUCCESS;
	trace_sdp_rdma_end(conn, IB_WR_RDMA_READ, rd->len, wc->status);
	if (rd->ok) {
		SDP_ADD_STATS(sock_net(sk), SDP_MIB_RECV_BYTES, rd->len);
		if (!ahead)
			SDP_COUNT(sk, RECV_ZCOPY, rcv_zcopy, rd->len);
		if (away)
			SDP_COUNT(sk, AZ_RECV_BYTES, az_rcv, rd->len);
		sdp_read_at(&conn->rx, rd->advert)->done += rd->len;
		sdp_read_finish(conn);
	} else if (wc->status != IB_WC_WR_FLUSH_ERR) {
		pr_debug("sdp: RDMA READ failed: %s\n", ib_wc_status_msg(wc->status));
		__sdp_conn_fail(conn, sdp_wc_errno(wc->status));
	}
	if (ahead)
		sdp_read_ahead_over(conn, rd);
	else if (!away)
		complete(&rd->done);	/* it may be gone now */
	else if (sdp->adv_bytes)
		sdp_read_arrange(conn);	/* the timer has taken this read for a recv() */
	sdp_read_settle(conn);
	sdp_read_ahead(conn);
	sdp_tx_push(conn);
	spin_unlock_bh(&sdp->lock);

	if (away)
		sdp_read_away_over(rd);
	if (ahead && sdp_rx_readable(sk))
		sk->sk_data_ready(sk);
}

/* A buffer for the next read ahead, the largest there is a use and memory for */
static struct sdp_buf *sdp_read_ahead_buf(struct sdp_conn *conn, u32 len)
{
	int order = min_t(int, get_order(len), SDP_BUF_ORDER_MAX);
	struct sdp_buf *buf;

	while (order && (PAGE_SIZE << order) > READ_ONCE(conn->sk->sk_rcvbuf) / 2)
		order--;
	for (; order >= 0; order--) {
		buf = sdp_rx_new_buf(conn, order);
		if (buf)
			return buf;
	}
	return NULL;
}

static bool sdp_read_ahead_one(struct sdp_conn *conn, u32 len)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	struct sdp_rx *rx = &conn->rx;
	u32 i = ffz(rx->ahead_busy);
	struct sdp_read *rd = &rx->ahead[i];
	struct sdp_buf *buf = sdp_read_ahead_buf(conn, len);
	struct ib_sge sge;

	if (!buf) {
		/* It comes in receive buffers then, which are there */
		if (!rx->ahead_busy && !sdp->rx_bytes)
			sdp_read_refuse(conn, SDP_REFUSE_NO_MEM);
		return false;
	}
	rd->buf = buf;
	rd->len = min(len, sdp_buf_size(buf));
	sge.addr = buf->dma;
	sge.length = rd->len;
	sge.lkey = conn->lkey;
	ib_dma_sync_single_for_device(conn->qp->device, buf->dma, rd->len, DMA_FROM_DEVICE);
	if (!sdp_read_post(conn, rd, &sge)) {
		sdp_rx_free_buf(conn->sk, buf);
		return false;
	}
	__set_bit(i, &rx->ahead_busy);
	sdp->rx_truesize += sdp_buf_size(buf);
	rx->ahead_bufs--;
	return true;
}

/**
 * sdp_read_ahead() - read ahead as far as is wanted and there is room
 * @conn:	connection
 *
 * The first buffer is read whatever the room, since a reader waits for it.
 * Context: any, sdp->lock held; the caller pushes.
 */
void sdp_read_ahead(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_rx *rx = &conn->rx;
	u32 len;

	while (rx->ahead_bufs && rx->ahead_busy != BIT(SDP_AHEAD_MAX) - 1) {
		len = sdp_read_next(conn);
		if (!len || (sdp->rx_truesize &&
			     sdp->rx_truesize >= READ_ONCE(sk->sk_rcvbuf)))
			break;
		if (!sdp_read_ahead_one(conn, len))
			break;
	}
}

/* So many buffers may be read ahead into, or none at all on this machine */
static void sdp_read_ahead_allow(struct sdp_conn *conn, u32 bufs)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	if (!sdp->adv_bytes)
		return;
	if (!READ_ONCE(sdp_pernet(sock_net(conn->sk))->read_ahead)) {
		sdp_read_refuse(conn, SDP_REFUSE_FORBIDDEN);
		return;
	}
	conn->rx.ahead_bufs = max(conn->rx.ahead_bufs, bufs);
	sdp_read_ahead(conn);
}

/**
 * sdp_read_ahead_all() - nobody is going to take the adverts directly
 * @conn:	connection
 *
 * Context: any, sdp->lock held; the caller pushes.
 */
void sdp_read_ahead_all(struct sdp_conn *conn)
{
	sdp_read_ahead_allow(conn, UINT_MAX);
}

/**
 * sdp_read_ahead_some() - a reader wants less than is worth a read of its own
 * @conn:	connection
 *
 * The more often in a row, the more: what follows a header may be large.
 * Context: any, sdp->lock held; the caller pushes.
 */
void sdp_read_ahead_some(struct sdp_conn *conn)
{
	struct sdp_rx *rx = &conn->rx;

	rx->ahead_step = clamp_t(u8, rx->ahead_step * 2, 1, 64);
	sdp_read_ahead_allow(conn, rx->ahead_step);
}

static void sdp_read_ahead_timeout(struct timer_list *t)
{
	struct sdp_conn *conn = from_timer(conn, t, rx.ahead_timer);
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	spin_lock(&sdp->lock);
	/* A read posted by a recv() says that there is one */
	if (list_empty(&conn->rx.reads) && sdp->rx_wait != SDP_RX_DIRECT) {
		sdp_read_ahead_all(conn);
		sdp_tx_push(conn);
	}
	spin_unlock(&sdp->lock);
}

/* The peer's device goes on for ever with what it was asked for: the connection ends */
static void sdp_read_timeout(struct timer_list *t)
{
	struct sdp_conn *conn = from_timer(conn, t, rx.read_timer);
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	struct sdp_read *oldest;

	spin_lock(&sdp->lock);
	oldest = list_first_entry_or_null(&conn->rx.reads, struct sdp_read, list);
	if (oldest && time_before(jiffies, oldest->since + SDP_READ_TIME))
		mod_timer(t, oldest->since + SDP_READ_TIME);
	else if (oldest)
		sdp_abort(conn, ETIMEDOUT);
	spin_unlock(&sdp->lock);
}

/**
 * sdp_read_poll() - a program that won't wait in recv() has looked
 * @sk:	socket
 *
 * Context: process; takes sdp->lock.
 */
void sdp_read_poll(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	sdp->eager = true;
	if (sdp->conn && sdp->adv_bytes) {
		sdp_read_ahead_all(sdp->conn);
		sdp_tx_push(sdp->conn);
	}
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_read_rest() - a recv() ends and leaves adverts: the next had better come soon
 * @sk:	socket
 *
 * Context: process; takes sdp->lock.
 */
void sdp_read_rest(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (!READ_ONCE(sdp->adv_bytes))
		return;
	spin_lock_bh(&sdp->lock);
	if (sdp->conn && !sdp->conn->ending && sdp->adv_bytes)
		mod_timer(&sdp->conn->rx.ahead_timer, jiffies + SDP_AHEAD_DELAY);
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_read_can_direct() - is a recv() such that what is advertised can be read right into it?
 * @sk:		socket
 * @iter:	where to
 * @want:	bytes it still takes
 *
 * Context: any.
 * Return: true if so.
 */
bool sdp_read_can_direct(const struct sock *sk, const struct iov_iter *iter, size_t want)
{
	return want >= SDP_DIRECT_MIN && user_backed_iter(iter) &&
	       READ_ONCE(sdp_sk(sk)->mode) != SDP_BCOPY;
}

/* How much a read could take now; the domain to do it in, with a reference */
static u32 sdp_read_offer(struct sock *sk, struct sdp_pd **pd)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	u32 len = 0;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	/* What is being read ahead comes first, by way of the queue */
	if (conn && !conn->rx.ahead_busy && !sdp->rx_bytes)
		len = sdp_read_next(conn);
	if (len) {
		*pd = conn->pd;
		sdp_pd_hold(*pd);
		conn->rx.ahead_bufs = 0;
		conn->rx.ahead_step = 0;
	}
	spin_unlock_bh(&sdp->lock);
	return len;
}

static bool sdp_read_submit(struct sock *sk, struct sdp_read *rd)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	struct ib_sge sge = {
		.addr	= sdp_mr_addr(rd->mr),
		.length	= rd->len,
	};
	bool ok = false;

	sdp_mr_renew(rd->mr, IB_ACCESS_LOCAL_WRITE);
	sge.lkey = rd->mr->mr->lkey;
	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	/* The peer may have cancelled, or the timer been faster */
	if (conn && conn->pd == rd->mr->pd && !conn->rx.ahead_busy && !sdp->rx_bytes &&
	    sdp_read_next(conn) >= rd->len)
		ok = sdp_read_post(conn, rd, &sge);
	spin_unlock_bh(&sdp->lock);
	return ok;
}

/* Begins a read into what comes next of the program's memory; bytes, or 0 for none */
static u32 sdp_read_start(struct sock *sk, struct sdp_read *rd, const struct iov_iter *iter,
			  size_t want)
{
	struct sdp_pd *pd;
	int pinned;
	u32 len;

	/* A small piece of an iovec is no better than a small recv() */
	want = min(want, sdp_mr_segment(iter, NULL));
	if (want < SDP_DIRECT_MIN)
		return 0;
	len = sdp_read_offer(sk, &pd);
	if (!len)
		return 0;
	rd->buf = NULL;
	rd->away = false;
	rd->mr = sdp_mr_get(pd);
	if (!rd->mr)
		return 0;
	pinned = sdp_mr_pin(rd->mr, iter, min_t(size_t, len, want), DMA_FROM_DEVICE, true);
	if (pinned > 0) {
		rd->len = pinned;
		init_completion(&rd->done);
		if (sdp_read_submit(sk, rd))
			return pinned;
		if (rd->mr->broken)
			sdp_mr_destroy(rd->mr);
		sdp_mr_unpin(rd->mr);
	}
	sdp_mr_put(rd->mr);
	return 0;
}

/* Waits until fewer reads than that are away; false if killed meanwhile */
static bool sdp_read_wait_away(struct sock *sk, int most)
{
	atomic_t *away = &sdp_sk(sk)->reads_away;

	return !wait_var_event_killable(away, atomic_read(away) < most);
}

/* Waits for the end of a read; bytes, or 0 if it has failed */
static u32 sdp_read_wait(struct sdp_read *rd)
{
	wait_for_completion(&rd->done);
	/* The key is good for nothing but our own reads; of a failed one that isn't known */
	if (!rd->ok)
		sdp_mr_destroy(rd->mr);
	sdp_mr_unpin(rd->mr);
	sdp_mr_put(rd->mr);
	return rd->ok ? rd->len : 0;
}

/* All that a recv() has room for is being read */
static void sdp_read_behind(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (!READ_ONCE(sdp->adv_bytes))
		return;
	spin_lock_bh(&sdp->lock);
	if (sdp->conn && sdp_read_on(sdp->conn)) {
		sdp_read_ahead_all(sdp->conn);
		sdp_tx_push(sdp->conn);
	}
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_read_direct() - read what is advertised into the program's memory
 * @sk:		socket
 * @iter:	where to; advanced by what was read
 * @want:	bytes at most
 *
 * Several reads at a time. Takes sdp->lock.
 * Context: process, rx_mutex held.
 * Return: bytes; 0 when it can't be done now.
 */
int sdp_read_direct(struct sock *sk, struct iov_iter *iter, size_t want)
{
	struct sdp_read reads[SDP_READ_MAX];
	u32 first = 0, last = 0, n;
	size_t posted = 0, got = 0;
	bool more = true;

	if (!sdp_read_wait_away(sk, 1))
		return 0;
	for (;;) {
		while (more && last - first < SDP_READ_MAX && posted < want &&
		       !fatal_signal_pending(current)) {
			n = sdp_read_start(sk, &reads[last % SDP_READ_MAX], iter, want - posted);
			more = n;
			if (!n)
				break;
			iov_iter_advance(iter, n);
			posted += n;
			last++;
		}
		if (first == last)
			break;
		if (posted == want)
			sdp_read_behind(sk);
		n = sdp_read_wait(&reads[first++ % SDP_READ_MAX]);
		got += n;
		more &= n > 0;
	}
	iov_iter_revert(iter, posted - got);
	return got;
}

/* A read into a region, of @n pages at most, from a domain it gets the reference to */
static struct sdp_read_away *sdp_read_away_new(struct sock *sk, struct sdp_pd *pd, u32 n)
{
	struct sdp_read_away *ra = kzalloc(struct_size(ra, pages, n), GFP_KERNEL);

	if (!ra) {
		sdp_pd_put(pd);
		return NULL;
	}
	ra->rd.mr = sdp_mr_get(pd);
	if (!ra->rd.mr) {
		kfree(ra);
		return NULL;
	}
	ra->rd.away = true;
	INIT_WORK(&ra->work, sdp_read_away_failed);
	sock_hold(sk);
	ra->sk = sk;
	atomic_inc(&sdp_sk(sk)->reads_away);
	return ra;
}

/* Makes what is in a region of @n pages at @addr be expected, and begins the read; bytes */
static u32 sdp_read_away_begin(struct sock *sk, struct sdp_read_away *ra)
{
	struct sdp_mr *mr = ra->rd.mr;
	u32 len;

	ra->span.pages = ra->pages;
	sdp_region_expect(&ra->span);
	len = ra->span.n << PAGE_SHIFT;
	ra->rd.len = len;
	if (!len || sdp_mr_borrow(mr, ra->pages, 0, len, DMA_FROM_DEVICE))
		return 0;
	/* From here on it may be over at any time */
	if (sdp_read_submit(sk, &ra->rd)) {
		SDP_INC_STATS(sock_net(sk), SDP_MIB_AZ_RECVS);
		return len;
	}
	if (mr->broken)
		sdp_mr_destroy(mr);
	sdp_mr_unpin(mr);
	return 0;
}

/* Begins a read into what comes next of a program's memory, if that is whole pages of a region */
static u32 sdp_read_away_start(struct sock *sk, const struct iov_iter *iter, size_t want)
{
	struct sdp_region_span span;
	struct sdp_read_away *ra;
	unsigned long addr;
	struct sdp_pd *pd;
	u32 len;

	want = min3(want, sdp_mr_segment(iter, &addr), (size_t)SDP_MR_BYTES) >> PAGE_SHIFT;
	if (!want || !PAGE_ALIGNED(addr) || !sdp_region_find(&span, addr, want, true))
		return 0;
	len = sdp_read_offer(sk, &pd);
	span.want = min(span.want, len >> PAGE_SHIFT);
	if (len && !span.want)
		sdp_pd_put(pd);
	ra = span.want ? sdp_read_away_new(sk, pd, span.want) : NULL;
	if (!ra) {
		sdp_region_put(&span);
		return 0;
	}
	ra->span = span;
	len = sdp_read_away_begin(sk, ra);
	if (!len) {
		sdp_region_unexpect(&ra->span);
		sdp_read_away_free(ra);
	}
	return len;
}

/**
 * sdp_read_away() - the same, if that is a region's, without waiting for the bytes
 * @sk:		socket
 * @iter:	where to; advanced by what is going to be there
 * @want:	bytes at most
 * @wait:	it may wait for earlier reads, if too many are under way
 *
 * Takes sdp->lock.
 * Context: process, rx_mutex held.
 * Return: bytes; 0 when it can't be done now, or isn't wanted.
 */
int sdp_read_away(struct sock *sk, struct iov_iter *iter, size_t want, bool wait)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int busy;
	size_t got = 0;
	u32 n;

	if (!sdp_choice(READ_ONCE(sdp->az_recv), READ_ONCE(sdp_pernet(sock_net(sk))->az_recv)))
		return 0;
	while (got < want && !fatal_signal_pending(current)) {
		busy = atomic_read(&sdp->reads_away);
		n = busy < SDP_READ_MAX ? sdp_read_away_start(sk, iter, want - got) : 0;
		if (!n && (got || !wait || !busy || !READ_ONCE(sdp->adv_bytes)))
			break;
		if (!n && !sdp_read_wait_away(sk, busy))
			break;
		iov_iter_advance(iter, n);
		got += n;
	}
	return got;
}

/**
 * sdp_read_settled() - wait until what recv() has counted is there
 * @sk:	socket
 *
 * Closing it may end the connection. Who has been killed doesn't wait, nor who
 * exits, whom a kill wouldn't reach any more.
 * Context: process.
 */
void sdp_read_settled(struct sock *sk)
{
	if (sdp_is_sdp(sk) && !(current->flags & PF_EXITING))
		wait_var_event_killable(&sdp_sk(sk)->reads_away,
					!atomic_read(&sdp_sk(sk)->reads_away));
}

/**
 * sdp_read_init() - no adverts yet
 * @conn:	new connection
 *
 * Context: process.
 */
void sdp_read_init(struct sdp_conn *conn)
{
	INIT_LIST_HEAD(&conn->rx.reads);
	timer_setup(&conn->rx.ahead_timer, sdp_read_ahead_timeout, 0);
	timer_setup(&conn->rx.read_timer, sdp_read_timeout, 0);
}

/**
 * sdp_read_stop() - nothing is read ahead any more
 * @conn:	connection that is ending; no message can come
 *
 * Context: process.
 */
void sdp_read_stop(struct sdp_conn *conn)
{
	timer_shutdown_sync(&conn->rx.ahead_timer);
	timer_shutdown_sync(&conn->rx.read_timer);
}

/**
 * sdp_read_purge() - forget what was advertised
 * @conn:	connection whose queue pair is drained
 *
 * Context: process, sdp->lock held.
 */
void sdp_read_purge(struct sdp_conn *conn)
{
	conn->rx.adv_first = conn->rx.adv_last;
	conn->rx.adv_next = conn->rx.adv_last;
	sdp_read_set_bytes(conn, 0);
}
