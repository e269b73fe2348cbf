// SPDX-License-Identifier: GPL-2.0
/*
 * What an OFED peer does by itself: takes data in or echoes it, grants credits
 * by OFED's rule, answers adverts and DisConn, and ignores what OFED ignores.
 *
 * One work item goes through what was received and stops where it lacks
 * credits; qp.c queues it again whenever a message arrives.
 */
#include <linux/slab.h>
#include "peer.h"

#define READ_CHUNK	(64 << 10)

/* A new connection, or none */
void auto_reset(struct peer *p)
{
	p->established = false;
	p->events = 0;
	p->posted = 0;
	p->repost = true;
	p->tx_mseq = 0;
	p->rx_mseq = 0;
	p->una = 0;
	p->advert_pending = false;
	p->pipelined = false;
	p->limit = 0;
	p->peer_size = 0;
	p->hello_len = 0;
	p->rej_reason = 0;
	p->bad_count = 0;
	p->rx_bytes = 0;
	p->rx_crc = ~0;
	p->mode = AUTO_OFF;
	p->on_advert = ADVERT_READ;
	p->credit_updates = true;
	p->disconn_sent = false;
	p->disconn_rcvd = false;
	p->rd_completed = 0;
	p->sendsm_count = 0;
}

/*
 * OFED's rule: a third of the buffers isn't known to the other side. Of three
 * buffers OFED would never grant the third, without which there is no Data:
 * hence gen1's rule as well.
 */
static bool should_grant(struct peer *p)
{
	const struct peer_sent *last;
	u32 known, posted;

	spin_lock(&p->lock);
	last = &p->sent[p->tx_mseq % PEER_HISTORY];
	known = last->bufs - (p->rx_mseq - last->ack);
	posted = p->posted;
	spin_unlock(&p->lock);
	if (!READ_ONCE(p->credit_updates) || qp_credits(p) < 1)
		return false;
	return 3 * known < 2 * posted || (known < SDP_MIN_BUFS && known < posted);
}

/* False if it lacks credits and has to be tried again */
static bool answer(struct peer *p, u8 mid, u32 num)
{
	return msg_send(p, mid, num, NULL, 0) != -EAGAIN;
}

static bool echo(struct peer *p, struct peer_buf *b, const u8 *payload, u32 len)
{
	u32 max = p->peer_size - SDP_BSDH_SIZE, n;
	int err;

	while (b->done < len) {
		n = min(len - b->done, max);
		err = msg_send(p, SDP_MID_DATA, 0, payload + b->done, n);
		if (err)
			return err != -EAGAIN && err != -ENOBUFS;
		b->done += n;
	}
	return true;
}

static bool take_data(struct peer *p, struct peer_buf *b, const u8 *payload, u32 len)
{
	if (READ_ONCE(p->mode) == AUTO_ECHO && !echo(p, b, payload, len))
		return false;
	msg_count_payload(p, b);
	return true;
}

/* Reads what the advert has beyond its inline bytes, as payload behind them */
static u32 read_advert(struct peer *p, const struct sdp_msg *m)
{
	u32 left = m->avail.len - m->payload_len, off = m->payload_len, n;
	struct peer_buf *b = qp_buf(p, READ_CHUNK, DMA_FROM_DEVICE);

	if (IS_ERR(b))
		return 0;
	for (; left; left -= n, off += n) {
		n = min_t(u32, left, READ_CHUNK);
		if (qp_rdma(p, IB_WR_RDMA_READ, m->avail.rkey, m->avail.va + off, b, n))
			break;
		msg_count(p, b->data, n);
	}
	qp_buf_free(b, DMA_FROM_DEVICE);
	return off - m->payload_len;
}

static bool take_advert(struct peer *p, struct peer_buf *b, const struct sdp_msg *m)
{
	enum peer_on_advert what = READ_ONCE(p->on_advert);

	if (what == ADVERT_IGNORE)
		return true;
	if (!b->done) {		/* not yet counted, and read */
		msg_count_payload(p, b);
		b->done = 1 + (what == ADVERT_READ ? read_advert(p, m) : 0);
	}
	return what == ADVERT_SENDSM ? answer(p, SDP_MID_SENDSM, 0) :
				       answer(p, SDP_MID_RDMA_RD_COMPL, b->done - 1);
}

/* Ours goes out when theirs has come; the one who has sent its own first ends it all */
static bool take_disconn(struct peer *p)
{
	if (p->disconn_sent) {
		p->disconn_rcvd = true;
		ib_send_cm_dreq(p->cm_id, NULL, 0);
		return true;
	}
	if (!answer(p, SDP_MID_DISCONN, 0))
		return false;
	p->disconn_rcvd = true;
	return true;
}

/* False: the message stays at the head of the queue until there are credits */
static bool take(struct peer *p, struct peer_buf *b)
{
	const struct sdp_bsdh *h = (void *)b->data;
	struct sdp_msg m;

	if (b->len < SDP_BSDH_SIZE ||
	    sdp_decode(h, h + 1, b->len - SDP_BSDH_SIZE, &m) != SDP_GOOD)
		return true;
	switch (m.mid) {
	case SDP_MID_DATA:
		return take_data(p, b, (u8 *)(h + 1), m.payload_len);
	case SDP_MID_SRC_AVAIL:
		return take_advert(p, b, &m);
	case SDP_MID_CH_RCV_BUF:	/* refused; OFED's number is without the BSDH */
		return answer(p, SDP_MID_CH_RCV_BUF_ACK, p->buf_size - SDP_BSDH_SIZE);
	case SDP_MID_RDMA_RD_COMPL:
		p->rd_completed += m.num;
		return true;
	case SDP_MID_SENDSM:
		p->sendsm_count++;
		return true;
	case SDP_MID_DISCONN:
		return take_disconn(p);
	case SDP_MID_SINK_AVAIL:	/* OFED knows no such thing, and resets */
		ib_send_cm_dreq(p->cm_id, NULL, 0);
		return true;
	default:			/* OFED logs it and goes on */
		return true;
	}
}

/* However much waits to be echoed, the other side must be able to grant us credits */
static void keep_two(struct peer *p)
{
	u32 posted;

	spin_lock(&p->lock);
	posted = p->posted;
	spin_unlock(&p->lock);
	if (posted < 2 && READ_ONCE(p->mode) != AUTO_OFF)
		qp_post(p, 2 - posted, p->buf_size);
}

void auto_work(struct work_struct *work)
{
	struct peer *p = container_of(work, struct peer, work);
	struct peer_buf *b;

	keep_two(p);
	while (READ_ONCE(p->mode) != AUTO_OFF) {
		spin_lock(&p->lock);
		b = list_first_entry_or_null(&p->rx, struct peer_buf, list);
		spin_unlock(&p->lock);
		if (!b || !take(p, b))
			break;
		spin_lock(&p->lock);
		list_del_init(&b->list);
		spin_unlock(&p->lock);
		qp_consume(p, b);
		if (should_grant(p))
			msg_send(p, SDP_MID_DATA, 0, NULL, 0);
	}
	if (READ_ONCE(p->mode) != AUTO_OFF && should_grant(p))
		msg_send(p, SDP_MID_DATA, 0, NULL, 0);
}

/* source BYTES [msg=N] [seed=N] [off=N]: a stretch of the pattern as Data messages */
int auto_source(struct peer *p, struct args *a)
{
	u64 left = arg_num(a, 0, 0), off = arg_keynum(a, "off", 0);
	u64 ms = arg_keynum(a, "timeout", PEER_TIMEOUT);
	u64 room = max_t(s64, (s64)p->peer_size - SDP_BSDH_SIZE, 0);
	u32 max = clamp_t(u64, arg_keynum(a, "msg", room), 1, max_t(u64, room, 1)), n;
	u8 seed = arg_keynum(a, "seed", 0);
	int err = a->err;
	u8 *data;

	if (!p->qp || !room)
		return -ENOTCONN;
	data = kmalloc(max, GFP_KERNEL);
	if (!data)
		return -ENOMEM;
	for (; left && !err; left -= n, off += n) {
		n = min_t(u64, left, max);
		err = qp_flush(p, PEER_SQ_DEPTH / 2, ms);
		if (err)
			break;
		msg_pattern(data, n, seed, off);
		err = msg_send_wait(p, SDP_MID_DATA, data, n, ms);
	}
	kfree(data);
	return err;
}
