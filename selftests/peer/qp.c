// SPDX-License-Identifier: GPL-2.0
/*
 * One RC QP: its buffers, what each side may send, and memory for RDMA.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "peer.h"

#define MR_MAX		(2 << 20)	/* what rxe maps by one fast registration */
#define RNR_TIMER	12		/* 0.64 ms; ib_cm would have 655 */

/* --- buffers ------------------------------------------------------------- */

struct peer_buf *qp_buf(struct peer *p, u32 size, enum dma_data_direction dir)
{
	struct peer_buf *b;

	if (!p->qp)
		return ERR_PTR(-ENOTCONN);
	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&b->list);
	b->peer = p;
	b->size = size;
	b->data = kzalloc(max_t(u32, size, 1), GFP_KERNEL | __GFP_NOWARN);
	if (!b->data)
		goto free;
	b->dma = ib_dma_map_single(p->dev, b->data, max_t(u32, size, 1), dir);
	if (ib_dma_mapping_error(p->dev, b->dma))
		goto free;
	return b;
free:
	kfree(b->data);
	kfree(b);
	return ERR_PTR(-ENOMEM);
}

void qp_buf_free(struct peer_buf *b, enum dma_data_direction dir)
{
	ib_dma_unmap_single(b->peer->dev, b->dma, max_t(u32, b->size, 1), dir);
	kfree(b->data);
	kfree(b);
}

static void free_list(struct list_head *list, enum dma_data_direction dir)
{
	struct peer_buf *b, *tmp;

	list_for_each_entry_safe(b, tmp, list, list) {
		list_del(&b->list);
		qp_buf_free(b, dir);
	}
}

static struct ib_sge buf_sge(const struct peer *p, const struct peer_buf *b, u32 len)
{
	return (struct ib_sge) { .addr = b->dma, .length = len, .lkey = p->pd->local_dma_lkey };
}

static void note_failure(struct peer *p, const struct ib_wc *wc)
{
	peer_event(p, wc->status == IB_WC_WR_FLUSH_ERR ? EV_FLUSHED : EV_QP_ERROR);
}

/* --- receiving ----------------------------------------------------------- */

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct peer_buf *b = container_of(wc->wr_cqe, struct peer_buf, cqe);
	struct peer *p = b->peer;
	bool good = wc->status == IB_WC_SUCCESS;

	if (good)
		ib_dma_sync_single_for_cpu(p->dev, b->dma, b->size, DMA_FROM_DEVICE);
	spin_lock(&p->lock);
	p->posted--;
	if (good) {
		b->len = wc->byte_len;
		b->done = 0;
		msg_check(p, b);
		list_add_tail(&b->list, &p->rx);
	} else {
		list_add_tail(&b->list, &p->spare);
	}
	spin_unlock(&p->lock);
	if (!good)
		note_failure(p, wc);
	if (READ_ONCE(p->mode) != AUTO_OFF)
		queue_work(system_long_wq, &p->work);
	wake_up_all(&p->wait);
}

static int post_recv(struct peer *p, struct peer_buf *b)
{
	struct ib_sge sge = buf_sge(p, b, b->size);
	struct ib_recv_wr wr = { .wr_cqe = &b->cqe, .sg_list = &sge, .num_sge = !!b->size };
	int err;

	b->cqe.done = recv_done;
	ib_dma_sync_single_for_device(p->dev, b->dma, b->size, DMA_FROM_DEVICE);
	spin_lock(&p->lock);
	p->posted++;
	spin_unlock(&p->lock);
	err = ib_post_recv(p->qp, &wr, NULL);
	if (!err)
		return 0;
	spin_lock(&p->lock);
	p->posted--;
	list_add_tail(&b->list, &p->spare);
	spin_unlock(&p->lock);
	return err;
}

static struct peer_buf *spare_buf(struct peer *p, u32 size)
{
	struct peer_buf *b, *found = NULL;

	spin_lock(&p->lock);
	list_for_each_entry(b, &p->spare, list)
		if (b->size == size)
			found = b;
	if (found)
		list_del_init(&found->list);
	spin_unlock(&p->lock);
	return found;
}

/* Posts @count more buffers, used ones first */
int qp_post(struct peer *p, u32 count, u32 size)
{
	struct peer_buf *b;
	int err = 0;

	if (!p->qp)
		return -ENOTCONN;
	if (count > PEER_RQ_DEPTH || p->posted > PEER_RQ_DEPTH - count || size > PEER_MSG_MAX)
		return -EINVAL;
	while (count-- && !err) {
		b = spare_buf(p, size) ?: qp_buf(p, size, DMA_FROM_DEVICE);
		err = IS_ERR(b) ? PTR_ERR(b) : post_recv(p, b);
	}
	return err;
}

/* A message has been dealt with; its buffer takes another, or waits for "post" */
void qp_consume(struct peer *p, struct peer_buf *b)
{
	bool repost;

	spin_lock(&p->lock);
	repost = p->repost;
	if (!repost)
		list_add_tail(&b->list, &p->spare);
	spin_unlock(&p->lock);
	if (repost)
		post_recv(p, b);
}

/* --- sending ------------------------------------------------------------- */

s32 qp_credits(struct peer *p)
{
	s32 credits;

	spin_lock(&p->lock);
	credits = p->limit - p->tx_mseq;
	spin_unlock(&p->lock);
	return credits;
}

static bool is_dead(struct peer *p)
{
	return READ_ONCE(p->events) &
	       (BIT(EV_QP_ERROR) | BIT(EV_FLUSHED) | BIT(EV_SEND_ERROR) | BIT(EV_GONE));
}

static int wait_result(long left)
{
	return left < 0 ? left : left ? 0 : -ETIMEDOUT;
}

int qp_wait_credits(struct peer *p, s32 need, u64 ms)
{
	int err = wait_result(wait_event_interruptible_timeout(p->wait,
							       qp_credits(p) >= need || is_dead(p),
							       msecs_to_jiffies(ms)));

	return err ?: is_dead(p) ? -ENOTCONN : 0;
}

/* Waits until no more than @pending Sends lack a completion */
int qp_flush(struct peer *p, u32 pending, u64 ms)
{
	int err = wait_result(wait_event_interruptible_timeout(p->wait,
							       READ_ONCE(p->tx_pending) <= pending,
							       msecs_to_jiffies(ms)));

	return err ?: test_bit(EV_SEND_ERROR, &p->events) ? -ENOTCONN : 0;
}

/* Fills in what the next message has to say of sequence and credits */
void qp_stamp(struct peer *p, struct sdp_msg *m)
{
	lockdep_assert_held(&p->tx);
	spin_lock(&p->lock);
	m->mseq = p->tx_mseq + 1;
	m->mseq_ack = p->rx_mseq;
	m->bufs = min_t(u32, p->posted, U16_MAX);
	spin_unlock(&p->lock);
}

/*
 * On Linux 6.1 rxe may still read what it says is sent: it repeats, or flushes, a Send on one
 * processor and completes it on another. So the last ones are kept until the QP is no more.
 */
static void send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct peer_buf *b = container_of(wc->wr_cqe, struct peer_buf, cqe), *old = NULL;
	struct peer *p = b->peer;

	if (wc->status) {
		note_failure(p, wc);
		peer_event(p, EV_SEND_ERROR);
	}
	spin_lock(&p->lock);
	p->tx_pending--;
	list_add_tail(&b->list, &p->sent_out);
	if (p->n_sent_out < PEER_SQ_DEPTH) {
		p->n_sent_out++;
	} else {
		old = list_first_entry(&p->sent_out, struct peer_buf, list);
		list_del(&old->list);
	}
	spin_unlock(&p->lock);
	if (old)
		qp_buf_free(old, DMA_TO_DEVICE);
	wake_up_all(&p->wait);
}

static void note_kind(struct peer *p, u8 mid)
{
	if (mid == SDP_MID_DISCONN)
		p->disconn_sent = true;
	if (mid == SDP_MID_SENDSM || mid == SDP_MID_RDMA_RD_COMPL)
		p->advert_pending = false;
}

/* One message is on its way: it takes one of the other side's buffers, whatever it says */
static void note_sent(struct peer *p, const struct peer_buf *b)
{
	const struct sdp_bsdh *h = (void *)b->data;
	struct peer_sent *sent;

	spin_lock(&p->lock);
	sent = &p->sent[++p->tx_mseq % PEER_HISTORY];
	*sent = p->sent[(p->tx_mseq - 1) % PEER_HISTORY];
	if (b->len >= SDP_BSDH_SIZE) {
		sent->ack = be32_to_cpu(h->mseq_ack);
		sent->bufs = be16_to_cpu(h->bufs);
	}
	if (b->len)
		note_kind(p, h->mid);
	p->tx_pending++;
	spin_unlock(&p->lock);
}

/* Sends @b->len bytes if there are @need credits; @b is gone afterwards, either way */
int qp_send(struct peer *p, struct peer_buf *b, s32 need)
{
	struct ib_sge sge = buf_sge(p, b, b->len);
	struct ib_send_wr wr = {
		.wr_cqe		= &b->cqe,
		.sg_list	= &sge,
		.num_sge	= !!b->len,
		.opcode		= IB_WR_SEND,
		.send_flags	= IB_SEND_SIGNALED,
	};
	int err = 0;

	lockdep_assert_held(&p->tx);
	if (qp_credits(p) < need)
		err = -EAGAIN;
	else if (READ_ONCE(p->tx_pending) >= PEER_SQ_DEPTH)
		err = -ENOBUFS;
	if (err) {
		qp_buf_free(b, DMA_TO_DEVICE);
		return err;
	}
	b->cqe.done = send_done;
	ib_dma_sync_single_for_device(p->dev, b->dma, b->size, DMA_TO_DEVICE);
	note_sent(p, b);
	err = ib_post_send(p->qp, &wr, NULL);
	if (err) {
		qp_buf_free(b, DMA_TO_DEVICE);
		spin_lock(&p->lock);
		p->tx_pending--;
		spin_unlock(&p->lock);
	}
	return err;
}

/* --- memory regions and RDMA --------------------------------------------- */

struct op {
	struct ib_cqe		cqe;
	struct completion	done;
	enum ib_wc_status	status;
};

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct op *op = container_of(wc->wr_cqe, struct op, cqe);

	op->status = wc->status;
	complete(&op->done);
}

/* Posts @wr and waits; 0, a negative errno, or a positive ib_wc_status */
static int run_op(struct peer *p, struct ib_send_wr *wr)
{
	struct op op = { .cqe.done = op_done };
	int err;

	if (!p->qp)
		return -ENOTCONN;
	init_completion(&op.done);
	wr->wr_cqe = &op.cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	mutex_lock(&p->tx);
	err = ib_post_send(p->qp, wr, NULL);
	mutex_unlock(&p->tx);
	if (err)
		return err;
	wait_for_completion(&op.done);
	return op.status;
}

/* RDMA READ into, or WRITE from, @b */
int qp_rdma(struct peer *p, enum ib_wr_opcode op, u32 rkey, u64 va, struct peer_buf *b, u32 len)
{
	struct ib_sge sge = buf_sge(p, b, len);
	struct ib_rdma_wr wr = {
		.wr.opcode	= op,
		.wr.sg_list	= &sge,
		.wr.num_sge	= !!len,
		.remote_addr	= va,
		.rkey		= rkey,
	};
	int err;

	ib_dma_sync_single_for_device(p->dev, b->dma, b->size, DMA_BIDIRECTIONAL);
	err = run_op(p, &wr.wr);
	ib_dma_sync_single_for_cpu(p->dev, b->dma, b->size, DMA_BIDIRECTIONAL);
	return err;
}

struct peer_mr *qp_find_mr(struct peer *p, int id)
{
	struct peer_mr *m;

	list_for_each_entry(m, &p->mrs, list)
		if (m->id == id)
			return m;
	return NULL;
}

static void free_mr(struct peer *p, struct peer_mr *m)
{
	if (m->mr)
		ib_dereg_mr(m->mr);
	if (sg_dma_len(&m->sg))
		ib_dma_unmap_sg(p->dev, &m->sg, 1, DMA_BIDIRECTIONAL);
	if (m->mem)
		free_pages_exact(m->mem, m->len);
	kfree(m);
}

static int register_mr(struct peer *p, struct peer_mr *m)
{
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR };
	int err;

	/* One page more than it takes: soft-RoCE of 6.1 looks at what is behind a full table */
	m->mr = ib_alloc_mr(p->pd, IB_MR_TYPE_MEM_REG, PFN_UP(m->len) + 1);
	if (IS_ERR(m->mr)) {
		err = PTR_ERR(m->mr);
		m->mr = NULL;
		return err;
	}
	if (!ib_dma_map_sg(p->dev, &m->sg, 1, DMA_BIDIRECTIONAL))
		return -ENOMEM;
	if (ib_map_mr_sg(m->mr, &m->sg, 1, NULL, PAGE_SIZE) != 1)
		return -EINVAL;
	ib_update_fast_reg_key(m->mr, ib_inc_rkey(m->mr->rkey));
	wr.mr = m->mr;
	wr.key = m->mr->rkey;
	wr.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	err = run_op(p, &wr.wr);
	return err > 0 ? -EIO : err;
}

/* mr LEN [seed=N] [off=N]: memory with the pattern in it, open to the other side */
int qp_mr(struct peer *p, struct args *a)
{
	u64 len = arg_num(a, 0, 0), off = arg_keynum(a, "off", 0);
	u8 seed = arg_keynum(a, "seed", 0);
	struct peer_mr *m;
	int err = -ENOMEM;

	if (a->err || !len || len > MR_MAX || !p->qp)
		return -EINVAL;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->len = len;
	m->id = ++p->mr_ids;
	m->mem = alloc_pages_exact(len, GFP_KERNEL | __GFP_NOWARN);
	if (!m->mem)
		goto free;
	msg_pattern(m->mem, len, seed, off);
	sg_init_one(&m->sg, m->mem, len);
	err = register_mr(p, m);
	if (err)
		goto free;
	list_add(&m->list, &p->mrs);
	reply(p, "ok %d rkey=%#x va=%#llx len=%llu", m->id, m->mr->rkey, m->mr->iova, len);
	return 0;
free:
	free_mr(p, m);
	return err;
}

/* inv ID: the rkey is stale from now on; the memory stays */
int qp_invalidate(struct peer *p, struct args *a)
{
	struct peer_mr *m = qp_find_mr(p, arg_num(a, 0, 0));
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV };
	int err;

	if (!m)
		return -EINVAL;
	wr.ex.invalidate_rkey = m->mr->rkey;
	err = run_op(p, &wr);
	return err > 0 ? -EIO : err;
}

/* --- the QP itself ------------------------------------------------------- */

static void qp_event(struct ib_event *ev, void *context)
{
	struct peer *p = context;

	switch (ev->event) {
	case IB_EVENT_COMM_EST:
		peer_event(p, EV_COMM_EST);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		peer_event(p, EV_QP_ERROR);
		break;
	default:
		break;
	}
}

int qp_create(struct peer *p)
{
	struct ib_qp_init_attr attr = {
		.event_handler		= qp_event,
		.qp_context		= p,
		.cap.max_send_wr	= PEER_SQ_DEPTH + 8,	/* RDMA, the drain */
		.cap.max_recv_wr	= PEER_RQ_DEPTH + 1,
		.cap.max_send_sge	= 1,
		.cap.max_recv_sge	= 1,
		.sq_sig_type		= IB_SIGNAL_REQ_WR,
		.qp_type		= IB_QPT_RC,
	};

	p->pd = ib_alloc_pd(p->dev, 0);
	if (IS_ERR(p->pd)) {
		int err = PTR_ERR(p->pd);

		p->pd = NULL;
		return err;
	}
	p->cq = ib_alloc_cq(p->dev, p, PEER_SQ_DEPTH + PEER_RQ_DEPTH + 16, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(p->cq)) {
		int err = PTR_ERR(p->cq);

		p->cq = NULL;
		return err;
	}
	attr.send_cq = p->cq;
	attr.recv_cq = p->cq;
	p->qp = ib_create_qp(p->pd, &attr);
	if (IS_ERR(p->qp)) {
		int err = PTR_ERR(p->qp);

		p->qp = NULL;
		return err;
	}
	return 0;
}

/* Undoes qp_create() and all that came after it, as far as it went */
void qp_destroy(struct peer *p)
{
	struct peer_mr *m, *tmp;

	if (p->initialised)	/* rxe can't drain a QP in RESET */
		ib_drain_qp(p->qp);
	list_for_each_entry_safe(m, tmp, &p->mrs, list) {
		list_del(&m->list);
		free_mr(p, m);
	}
	free_list(&p->rx, DMA_FROM_DEVICE);
	free_list(&p->spare, DMA_FROM_DEVICE);
	if (p->qp)
		ib_destroy_qp(p->qp);
	free_list(&p->sent_out, DMA_TO_DEVICE);
	p->n_sent_out = 0;
	if (p->cq)
		ib_free_cq(p->cq);
	if (p->pd)
		ib_dealloc_pd(p->pd);
	p->initialised = false;
	p->qp = NULL;
	p->cq = NULL;
	p->pd = NULL;
}

int qp_init(struct peer *p, u32 port_num, u16 pkey_index)
{
	struct ib_qp_attr attr = {
		.qp_state		= IB_QPS_INIT,
		.port_num		= port_num,
		.pkey_index		= pkey_index,
		.qp_access_flags	= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
					  IB_ACCESS_REMOTE_READ,
	};
	int err;

	err = ib_modify_qp(p->qp, &attr,
			   IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS);
	p->initialised = !err;
	return err;
}

static int to_init(struct peer *p)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, err = ib_cm_init_qp_attr(p->cm_id, &attr, &mask);

	return err ?: qp_init(p, attr.port_num, attr.pkey_index);
}

static int to_rtr(struct peer *p, bool passive)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask, err = ib_cm_init_qp_attr(p->cm_id, &attr, &mask);

	if (err)
		return err;
	attr.min_rnr_timer = RNR_TIMER;
	if (passive) {
		/* The CM learns these from the REP, which comes later */
		attr.rq_psn = p->psn;
		attr.max_dest_rd_atomic = p->rd_in;
	}
	return ib_modify_qp(p->qp, &attr, mask);
}

static int to_rts(struct peer *p, bool passive)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask, err = ib_cm_init_qp_attr(p->cm_id, &attr, &mask);

	if (err)
		return err;
	if (passive)
		attr.max_rd_atomic = p->rd_out;
	return ib_modify_qp(p->qp, &attr, mask);
}

/* Up to RTS; a passive QP comes from the start and posts its buffers on the way */
int qp_connect(struct peer *p, bool passive)
{
	int err = 0;

	if (passive) {
		err = to_init(p);
		if (!err)
			err = qp_post(p, p->post, p->buf_size);
	}
	if (!err)
		err = to_rtr(p, passive);
	if (!err)
		err = to_rts(p, passive);
	return err;
}

/* Dead without a word to the other side */
int qp_kill(struct peer *p)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return p->qp ? ib_modify_qp(p->qp, &attr, IB_QP_STATE) : -ENOTCONN;
}
