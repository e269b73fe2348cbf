// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: a REQ with a Hello, a REP with a HelloAck, or something unlike.
 *
 * Handlers only note what came; the commands do the rest, so that a script can
 * put any pause or none between two steps.
 */
#include <linux/inet.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <rdma/rdma_cm.h>
#include "peer.h"

/* --- handlers ------------------------------------------------------------ */

static void note_private_data(struct peer *p, const void *data, u32 len)
{
	p->hello_len = len;
	memcpy(p->hello, data, len);
}

/* A peer is one connection: any other REQ is refused by destroying its id */
static int handle_req(struct peer *p, struct ib_cm_id *id, const struct ib_cm_event *ev)
{
	const struct ib_cm_req_event_param *req = &ev->param.req_rcvd;
	bool taken = false;

	spin_lock(&p->lock);
	if (p->may_connect) {
		p->may_connect = false;
		p->cm_id = id;
		p->rd_in = min_t(u8, req->responder_resources, PEER_RD_ATOMIC);
		p->rd_out = min_t(u8, req->initiator_depth, PEER_RD_ATOMIC);
		note_private_data(p, ev->private_data, SDP_HELLO_SIZE);
		taken = true;
	}
	spin_unlock(&p->lock);
	if (!taken)
		return -EBUSY;
	peer_event(p, EV_REQ);
	return 0;
}

static void handle_rep(struct peer *p, const struct ib_cm_event *ev)
{
	spin_lock(&p->lock);
	note_private_data(p, ev->private_data, SDP_HELLO_ACK_SIZE);
	spin_unlock(&p->lock);
	peer_event(p, EV_REP);
}

static void handle_rej(struct peer *p, const struct ib_cm_event *ev)
{
	spin_lock(&p->lock);
	p->rej_reason = ev->param.rej_rcvd.reason;
	memcpy(p->rej_data, ev->private_data, sizeof(p->rej_data));
	spin_unlock(&p->lock);
	peer_event(p, EV_REJ);
}

static int cm_handler(struct ib_cm_id *id, const struct ib_cm_event *ev)
{
	struct peer *p = id->context;

	switch (ev->event) {
	case IB_CM_REQ_RECEIVED:
		return handle_req(p, id, ev);
	case IB_CM_REP_RECEIVED:
		handle_rep(p, ev);
		break;
	case IB_CM_REJ_RECEIVED:
		handle_rej(p, ev);
		break;
	case IB_CM_RTU_RECEIVED:
	case IB_CM_USER_ESTABLISHED:
		peer_event(p, EV_RTU);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
	case IB_CM_DREQ_ERROR:
		peer_event(p, EV_CM_TIMEOUT);
		break;
	case IB_CM_DREQ_RECEIVED:
		ib_send_cm_drep(id, NULL, 0);
		peer_event(p, EV_DREQ);
		break;
	case IB_CM_DREP_RECEIVED:
		peer_event(p, EV_DREP);
		break;
	case IB_CM_TIMEWAIT_EXIT:
		peer_event(p, EV_TIMEWAIT);
		break;
	default:
		break;
	}
	return 0;
}

/* --- address and route, by rdma_cm --------------------------------------- */

struct resolver {
	struct completion	done;
	enum rdma_cm_event_type	event;
	int			status;
};

static int resolve_handler(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct resolver *r = id->context;

	r->event = ev->event;
	r->status = ev->status;
	complete(&r->done);
	return 0;
}

static int resolve_step(struct resolver *r, int err, enum rdma_cm_event_type want)
{
	if (err)
		return err;
	if (!wait_for_completion_timeout(&r->done, msecs_to_jiffies(2 * PEER_TIMEOUT)))
		return -EHOSTUNREACH;
	if (r->event != want)
		return r->status < 0 ? r->status : -EHOSTUNREACH;
	return 0;
}

/* The id has device, addresses and path; it goes when the REQ is sent. @r outlives it. */
static struct rdma_cm_id *resolve(struct resolver *r, struct sockaddr *src, struct sockaddr *dst)
{
	struct rdma_cm_id *id;
	int err;

	init_completion(&r->done);
	id = rdma_create_id(current->nsproxy->net_ns, resolve_handler, r, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return id;
	err = resolve_step(r, rdma_resolve_addr(id, src, dst, PEER_TIMEOUT),
			   RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!err)
		err = resolve_step(r, rdma_resolve_route(id, PEER_TIMEOUT),
				   RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (!err)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(err);
}

/* --- active side --------------------------------------------------------- */

static int refused(struct peer *p)
{
	reply(p, "rejected %u ", p->rej_reason);
	reply_hex(p, p->rej_data, sizeof(p->rej_data));
	cm_close(p);
	return 0;
}

static void reply_connected(struct peer *p, bool ack)
{
	reply(p, "established ");
	msg_print_hello(p, ack);
}

/* What came of the REQ */
static int finish_connect(struct peer *p, struct args *a)
{
	u64 ms = arg_keynum(a, "timeout", PEER_TIMEOUT);
	bool rtu = !arg_keynum(a, "nortu", 0);
	int err;

	if (a->err)
		return a->err;
	err = peer_wait(p, BIT(EV_REP) | BIT(EV_REJ) | BIT(EV_CM_TIMEOUT), ms);
	if (err)
		return err;
	if (test_bit(EV_REJ, &p->events))
		return refused(p);
	if (!test_bit(EV_REP, &p->events))
		return -ETIMEDOUT;
	msg_learn_hello(p, true);
	err = qp_connect(p, false);
	if (!err && rtu)
		err = ib_send_cm_rtu(p->cm_id, NULL, 0);
	if (err)
		return err;
	p->established = true;
	reply_connected(p, true);
	return 0;
}

static int send_req(struct peer *p, struct args *a, struct rdma_cm_id *rid, u64 sid)
{
	struct rdma_route *route = &rid->route;
	u8 hello[SDP_HELLO_SIZE];
	struct ib_cm_req_param req = {
		.primary_path		= &route->path_rec[0],
		.primary_path_inbound	= route->path_rec_inbound,
		.primary_path_outbound	= route->path_rec_outbound,
		.ppath_sgid_attr	= route->addr.dev_addr.sgid_attr,
		.service_id		= cpu_to_be64(sid),
		.qp_num			= p->qp->qp_num,
		.qp_type		= IB_QPT_RC,
		.starting_psn		= p->psn,
		.private_data		= hello,
		.responder_resources	= p->rd_in,
		.initiator_depth	= p->rd_out,
		.remote_cm_response_timeout = arg_keynum(a, "cmtimeout", 20),
		.local_cm_response_timeout = arg_keynum(a, "cmtimeout", 20),
		.flow_control		= 1,
		.retry_count		= 5,	/* rxe takes 7 for infinite */
		.rnr_retry_count	= 7,
		.max_cm_retries		= arg_keynum(a, "retries", 7),
	};
	int len = msg_hello(p, a, hello, (struct sockaddr *)&route->addr.src_addr,
			    (struct sockaddr *)&route->addr.dst_addr);
	struct ib_cm_id *id;

	if (len < 0 || a->err)
		return -EINVAL;
	req.private_data_len = len;
	id = ib_create_cm_id(p->dev, cm_handler, p);
	if (IS_ERR(id))
		return PTR_ERR(id);
	spin_lock(&p->lock);
	p->cm_id = id;
	spin_unlock(&p->lock);
	return ib_send_cm_req(id, &req);
}

static int setup(struct peer *p, struct args *a, struct ib_device *dev)
{
	u64 post = arg_keynum(a, "post", PEER_BUFS), size = arg_keynum(a, "bufsz", PEER_BUF_SIZE);

	if (a->err || post > PEER_RQ_DEPTH || size > PEER_MSG_MAX)
		return -EINVAL;
	WRITE_ONCE(p->dev, dev);
	p->post = post;
	p->buf_size = size;
	p->psn = get_random_u32() & 0xffffff;
	return qp_create(p);
}

static int start_connect(struct peer *p, struct args *a, struct rdma_cm_id *rid, u64 sid)
{
	int err;

	p->rd_in = PEER_RD_ATOMIC;
	p->rd_out = PEER_RD_ATOMIC;
	err = setup(p, a, rid->device);
	if (!err)
		err = qp_init(p, rid->port_num, 0);
	if (!err)
		err = qp_post(p, p->post, p->buf_size);
	if (!err)
		err = send_req(p, a, rid, sid);
	return err;
}

/* connect ADDRESS PORT [key=value ...] */
int cm_connect(struct peer *p, struct args *a)
{
	const char *dst_name = arg(a, 0), *port = arg(a, 1), *src_name = arg_key(a, "src");
	u64 sid = arg_keynum(a, "sid", SDP_SERVICE_ID_BASE + arg_num(a, 1, 0));
	struct net *net = current->nsproxy->net_ns;
	struct sockaddr_storage src, dst;
	struct rdma_cm_id *rid;
	struct resolver r;
	int err;

	if (p->qp || p->cm_id || p->listen_id)
		return -EISCONN;
	if (!dst_name || a->err || inet_pton_with_scope(net, AF_UNSPEC, dst_name, port, &dst) ||
	    (src_name && inet_pton_with_scope(net, AF_UNSPEC, src_name, NULL, &src)))
		return -EINVAL;
	auto_reset(p);
	rid = resolve(&r, src_name ? (struct sockaddr *)&src : NULL, (struct sockaddr *)&dst);
	if (IS_ERR(rid))
		return PTR_ERR(rid);
	err = start_connect(p, a, rid, sid);
	rdma_destroy_id(rid);
	if (!err && !arg_keynum(a, "nowait", 0))
		err = finish_connect(p, a);
	if (err && err != -ETIMEDOUT)
		cm_close(p);
	return err;
}

/* wait: what "connect nowait=1" has come to */
int cm_wait(struct peer *p, struct args *a)
{
	if (!p->cm_id || p->established)
		return -EINVAL;
	return finish_connect(p, a);
}

/* --- passive side -------------------------------------------------------- */

/* listen PORT [dev=NAME] */
int cm_listen(struct peer *p, struct args *a)
{
	u64 port = arg_num(a, 0, 0), sid = arg_keynum(a, "sid", SDP_SERVICE_ID_BASE + port);
	struct ib_device *dev = peer_device(arg_key(a, "dev"));
	struct ib_cm_id *id;
	int err;

	if (a->err || !dev)
		return a->err ?: -ENODEV;
	if (p->listen_id || p->cm_id)
		return -EISCONN;
	auto_reset(p);
	id = ib_create_cm_id(dev, cm_handler, p);
	if (IS_ERR(id))
		return PTR_ERR(id);
	p->may_connect = true;
	err = ib_cm_listen(id, cpu_to_be64(sid));
	if (err) {
		p->may_connect = false;
		ib_destroy_cm_id(id);
		return err;
	}
	WRITE_ONCE(p->dev, dev);
	p->listen_id = id;
	return 0;
}

static int await_req(struct peer *p, struct args *a)
{
	u64 ms = arg_keynum(a, "timeout", PEER_TIMEOUT);

	if (a->err || p->qp)
		return -EINVAL;
	return peer_wait(p, BIT(EV_REQ), ms);
}

static int send_rep(struct peer *p, struct args *a)
{
	u8 hello_ack[SDP_HELLO_ACK_SIZE];
	struct ib_cm_rep_param rep = {
		.qp_num			= p->qp->qp_num,
		.starting_psn		= p->psn,
		.private_data		= hello_ack,
		.responder_resources	= p->rd_in,
		.initiator_depth	= p->rd_out,
		.flow_control		= 1,
		.rnr_retry_count	= 7,
	};
	int len = msg_hello_ack(p, a, hello_ack);

	if (len < 0 || a->err)
		return -EINVAL;
	rep.private_data_len = len;
	return ib_send_cm_rep(p->cm_id, &rep);
}

/* accept [key=value ...]: waits for a REQ and answers it, with no key as it should be */
int cm_accept(struct peer *p, struct args *a)
{
	int err = await_req(p, a);

	if (err)
		return err;
	msg_learn_hello(p, false);
	err = setup(p, a, p->cm_id->device);
	if (!err)
		err = qp_connect(p, true);
	if (!err)
		err = send_rep(p, a);
	if (!err && !arg_keynum(a, "nowait", 0))
		err = peer_wait(p, BIT(EV_RTU) | BIT(EV_REJ) | BIT(EV_CM_TIMEOUT),
				arg_keynum(a, "timeout", PEER_TIMEOUT));
	if (err)
		return err;
	if (test_bit(EV_REJ, &p->events))
		return refused(p);
	p->established = true;
	reply_connected(p, false);
	return 0;
}

/* reject [REASON] [data=HEX]: waits for a REQ and refuses it; or the REP, before the RTU */
int cm_reject(struct peer *p, struct args *a)
{
	u64 reason = arg_num(a, 0, IB_CM_REJ_CONSUMER_DEFINED);
	const char *hex = arg_key(a, "data");
	u8 data[IB_CM_REJ_PRIVATE_DATA_SIZE];
	int len = hex ? arg_hex(hex, data, sizeof(data)) : 0;
	int err = len < 0 ? len : p->established ? 0 : await_req(p, a);

	if (err)
		return err;
	err = ib_send_cm_rej(p->cm_id, reason, NULL, 0, data, len);
	reply(p, "rejected ");
	msg_print_hello(p, false);
	cm_close(p);
	return err;
}

/* --- both ---------------------------------------------------------------- */

int cm_rtu(struct peer *p, struct args *a)
{
	return p->cm_id ? ib_send_cm_rtu(p->cm_id, NULL, 0) : -ENOTCONN;
}

int cm_dreq(struct peer *p, struct args *a)
{
	return p->cm_id ? ib_send_cm_dreq(p->cm_id, NULL, 0) : -ENOTCONN;
}

/* Ends the connection, if any; a listener is then ready for another */
void cm_close(struct peer *p)
{
	struct ib_cm_id *id;

	WRITE_ONCE(p->mode, AUTO_OFF);
	cancel_work_sync(&p->work);
	spin_lock(&p->lock);
	p->may_connect = false;
	id = p->cm_id;
	p->cm_id = NULL;
	spin_unlock(&p->lock);
	if (id)
		ib_destroy_cm_id(id);
	qp_destroy(p);
	cancel_work_sync(&p->work);	/* a last message may have queued it */
	auto_reset(p);
	spin_lock(&p->lock);
	p->may_connect = p->listen_id;
	spin_unlock(&p->lock);
	if (!p->listen_id)
		WRITE_ONCE(p->dev, NULL);
}

void cm_unlisten(struct peer *p)
{
	struct ib_cm_id *id = p->listen_id;

	if (!id)
		return;
	p->listen_id = NULL;
	ib_destroy_cm_id(id);
	cm_close(p);
}
