// SPDX-License-Identifier: GPL-2.0
/*
 * Connections over InfiniBand and RoCE: ib_cm, service ID 0x10000 + port,
 * Hello in the REQ, HelloAck in the REP.
 *
 * rdma_cm can't be used: it has no SDP port space any more, and puts a header
 * of its own where Hello belongs. It does resolve addresses (resolve.c).
 */
#include <rdma/ib_cache.h>
#include <rdma/ib_sa.h>

#include "cm.h"
#include "conn.h"
#include "device.h"
#include "sdp.h"
#include "trace.h"

/* RDMA reads each side takes and makes at a time; both ends advertise and clamp */
#define SDP_IB_RD_ATOMIC	4
/* Credits make RNR impossible; 7 would be for ever, and hide it if it happened */
#define SDP_IB_RNR_RETRY	6
/* 7 is for ever with soft-RoCE */
#define SDP_IB_RETRY_MAX	6
/* A peer gets no longer than that for its RTU, milliseconds */
#define SDP_IB_RTU_MAX		(2 * 60 * 1000)

static u8 sdp_ib_rd_atomic(const struct sdp_conn *conn)
{
	const struct ib_device_attr *attrs = &conn->qp->device->attrs;

	return min_t(int, SDP_IB_RD_ATOMIC,
		     min(attrs->max_qp_rd_atom, attrs->max_qp_init_rd_atom));
}

static bool sdp_ib_usable(struct ib_device *ib)
{
	u32 port;

	rdma_for_each_port(ib, port)
		if (rdma_cap_ib_cm(ib, port))
			return true;
	return false;
}

/* Takes the queue pair from INIT to RTS with what the CM knows of the peer */
static int sdp_ib_ready_qp(struct sdp_conn *conn, bool passive)
{
	struct ib_qp_attr rtr = { .qp_state = IB_QPS_RTR }, rts = { .qp_state = IB_QPS_RTS };
	int rtr_mask, rts_mask, err;

	err = ib_cm_init_qp_attr(conn->cm_id, &rtr, &rtr_mask);
	if (err)
		return err;
	err = ib_cm_init_qp_attr(conn->cm_id, &rts, &rts_mask);
	if (err)
		return err;
	if (passive) {
		/* The CM learns these only from the REP we have yet to send */
		rtr.rq_psn = conn->rq_psn;
		rtr.max_dest_rd_atomic = min(rtr.max_dest_rd_atomic, sdp_ib_rd_atomic(conn));
		rts.max_rd_atomic = min(rts.max_rd_atomic, sdp_ib_rd_atomic(conn));
		/* From the REQ: a peer that goes isn't to keep us for ever */
		rts.retry_cnt = min_t(u8, rts.retry_cnt, SDP_IB_RETRY_MAX);
	}
	/* What the peer asks for */
	rts.rnr_retry = min_t(u8, rts.rnr_retry, SDP_IB_RNR_RETRY);
	return sdp_conn_rtr_rts(conn, &rtr, rtr_mask, &rts, rts_mask);
}

/* What the peer is told of a refusal */
static const enum ib_cm_rej_reason sdp_ib_reasons[] = {
	[SDP_REFUSED_CLOSED]	= IB_CM_REJ_INVALID_SERVICE_ID,
	[SDP_REFUSED_BUSY]	= IB_CM_REJ_NO_RESOURCES,
	[SDP_REFUSED_BAD]	= IB_CM_REJ_CONSUMER_DEFINED,
};

static int sdp_ib_rej_errno(enum ib_cm_rej_reason reason)
{
	switch (reason) {
	case IB_CM_REJ_TIMEOUT:
		return ETIMEDOUT;
	case IB_CM_REJ_INVALID_GID:
	case IB_CM_REJ_INVALID_LID:
		return EHOSTUNREACH;
	default:
		return ECONNREFUSED;
	}
}

static void sdp_ib_up(struct sdp_conn *conn)
{
	conn->cm_up = true;
	sdp_conn_established(conn);
}

static void sdp_ib_rep_received(struct sdp_conn *conn, const struct ib_cm_event *event)
{
	int err;

	err = sdp_cm_replied(conn, event->private_data, SDP_HELLO_ACK_SIZE);
	if (!err)
		err = sdp_ib_ready_qp(conn, false);
	if (!err)
		err = ib_send_cm_rtu(conn->cm_id, NULL, 0);
	if (err) {
		ib_send_cm_rej(conn->cm_id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
		sdp_conn_fail(conn, err == -EPROTO ? EPROTO : ECONNABORTED);
		return;
	}
	sdp_ib_up(conn);
}

/*
 * The peer ends the connection, or has crossed our ending it. Whether that is
 * its proper end is seen when all that had arrived has been processed.
 */
static void sdp_ib_dreq_received(struct sdp_conn *conn)
{
	/* It may overtake the event that we are connected: accept() is to see that we were */
	if (!conn->cm_up)
		sdp_ib_up(conn);
	set_bit(SDP_CONN_DREQ_RCVD, &conn->flags);
	ib_send_cm_drep(conn->cm_id, NULL, 0);
	sdp_conn_kick(conn);
}

static void sdp_ib_rej_received(struct sdp_conn *conn, enum ib_cm_rej_reason reason)
{
	const struct ib_cm_id *id = conn->cm_id;

	if (conn->cm_up && id->state == IB_CM_TIMEWAIT) {
		/* How an acceptor ends a connection before our RTU has come to it */
		set_bit(SDP_CONN_DREQ_RCVD, &conn->flags);
		sdp_conn_kick(conn);
	} else if (reason == IB_CM_REJ_NO_RESOURCES &&
		   READ_ONCE(conn->sk->sk_state) == TCP_SYN_SENT) {
		sdp_cm_busy(conn);
	} else {
		sdp_conn_fail(conn, conn->cm_up ? ECONNRESET : sdp_ib_rej_errno(reason));
	}
}

static void sdp_ib_handshake(struct sdp_conn *conn, const struct ib_cm_event *event)
{
	switch (event->event) {
	case IB_CM_REP_RECEIVED:
		sdp_ib_rep_received(conn, event);
		break;
	case IB_CM_RTU_RECEIVED:
		sdp_ib_up(conn);
		break;
	case IB_CM_REJ_RECEIVED:
		sdp_ib_rej_received(conn, event->param.rej_rcvd.reason);
		break;
	case IB_CM_REQ_ERROR:
	case IB_CM_REP_ERROR:
		/* We may do without the RTU, see sdp_ib_early() */
		if (!conn->cm_up)
			sdp_conn_fail(conn, ETIMEDOUT);
		break;
	default:
		break;
	}
}

/*
 * Events of a connection's own handle. The handle stays for timewait, so
 * events may come when the socket has parted, and at the very moment it does:
 * only those of the end concern us then.
 *
 * Of a message it has repeated in vain ib_cm tells without a reference to the
 * handle, so that destroying that doesn't wait for us. For REQ_ERROR and
 * REP_ERROR sdp_ib_destroy() does so by @cm_told, which is the last we touch of
 * the connection. DREQ_ERROR is nothing to us, and not even looked up.
 */
static int sdp_ib_conn_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	bool in_vain = event->event == IB_CM_REQ_ERROR || event->event == IB_CM_REP_ERROR;
	struct sdp_conn *conn;

	if (event->event == IB_CM_DREQ_ERROR)
		return 0;
	conn = cm_id->context;
	mutex_lock(&conn->cm_mutex);
	if (event->event == IB_CM_DREQ_RECEIVED)
		sdp_ib_dreq_received(conn);
	else if (event->event == IB_CM_TIMEWAIT_EXIT)
		sdp_conn_timewait_over(conn);
	else if (!test_bit(SDP_CONN_CM_OVER, &conn->flags))
		sdp_ib_handshake(conn, event);
	/* Before a request that was refused is sent again */
	if (!in_vain && event->event != IB_CM_MRA_RECEIVED)
		complete_all(&conn->cm_told);
	mutex_unlock(&conn->cm_mutex);
	if (in_vain)
		complete_all(&conn->cm_told);
	return 0;
}

/*
 * A peer has as long for its RTU as it would have for a REP to ours. ib_cm repeats
 * the REP for as long as its REQ asks for, which may be days.
 */
static void sdp_ib_expect_rtu(struct sdp_conn *conn)
{
	struct sdp_net *sn = sdp_pernet(sock_net(conn->sk));
	u64 ms = BIT_ULL(READ_ONCE(sn->cm_timeout) - 8) * (READ_ONCE(sn->connect_retries) + 1);
	unsigned long limit = msecs_to_jiffies(min_t(u64, ms, SDP_IB_RTU_MAX));

	spin_lock_bh(&sdp_sk(conn->sk)->lock);
	if (!conn->ending)
		queue_delayed_work(sdp_wq, &conn->cm_work, limit);
	spin_unlock_bh(&sdp_sk(conn->sk)->lock);
}

static int sdp_ib_send_rep(struct sdp_conn *conn, const struct ib_cm_req_event_param *req)
{
	u8 hello_ack[SDP_HELLO_ACK_SIZE];
	struct ib_cm_rep_param rep = {
		.qp_num			= conn->qp->qp_num,
		.starting_psn		= conn->rq_psn,
		.private_data		= hello_ack,
		.private_data_len	= sizeof(hello_ack),
		/* The event has them from our point of view already */
		.responder_resources	= min(req->responder_resources, sdp_ib_rd_atomic(conn)),
		.initiator_depth	= min(req->initiator_depth, sdp_ib_rd_atomic(conn)),
		.flow_control		= req->flow_control,
		.rnr_retry_count	= SDP_IB_RNR_RETRY,
	};
	int err;

	sdp_cm_hello_ack(conn, hello_ack);
	conn->cm_asked = true;
	err = ib_send_cm_rep(conn->cm_id, &rep);
	if (err)
		conn->cm_asked = false;
	return err;
}

static void sdp_ib_accept(struct ib_cm_id *cm_id, const struct ib_cm_req_event_param *req,
			  struct sdp_dev *dev, struct sdp_conn *conn)
{
	u16 pkey_index = 0;
	int err;

	cm_id->context = conn;
	cm_id->cm_handler = sdp_ib_conn_handler;
	err = ib_find_cached_pkey(cm_id->device, req->port,
				  be16_to_cpu(req->primary_path->pkey), &pkey_index);
	if (!err)
		err = sdp_conn_setup(conn, dev);
	if (!err)
		err = sdp_conn_init_qp(conn, req->port, pkey_index);
	if (!err)
		err = sdp_ib_ready_qp(conn, true);
	if (!err) {
		/* After the REP the connection may part from its socket before we get on */
		sdp_ib_expect_rtu(conn);
		err = sdp_ib_send_rep(conn, req);
	}
	if (err)
		sdp_conn_fail(conn, ECONNABORTED);
}

/* Namespace and interface a RoCE request came in by, and the address it came from */
static bool sdp_ib_roce_origin(const struct ib_cm_req_event_param *req, struct sdp_cm_req *r,
			       struct in6_addr *src)
{
	const struct ib_gid_attr *attr = req->ppath_sgid_attr;
	const union ib_gid *remote = &req->primary_path->dgid;
	struct net_device *ndev;
	bool found = false;

	if (!attr)
		return false;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev)) {
		r->net = maybe_get_net(dev_net(ndev));
		r->ifindex = ndev->ifindex;
		found = r->net;
	}
	rcu_read_unlock();
	r->local = !memcmp(remote, &attr->gid, sizeof(*remote));
	if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP) {
		memcpy(src, remote, sizeof(*src));
		r->src = src;
	}
	return found;
}

/* The same for InfiniBand, by way of IPoIB */
static bool sdp_ib_ipoib_origin(struct ib_cm_id *cm_id, const struct ib_cm_req_event_param *req,
				struct sdp_cm_req *r)
{
	const struct sa_path_rec *path = req->primary_path;
	struct net_device *ndev;

	ndev = ib_get_net_dev_by_params(cm_id->device, req->port, be16_to_cpu(path->pkey),
					&path->sgid, NULL);
	if (!ndev)
		return false;
	r->net = maybe_get_net(dev_net(ndev));
	r->ifindex = ndev->ifindex;
	dev_put(ndev);
	r->local = !memcmp(&path->dgid, &path->sgid, sizeof(path->sgid));
	return r->net;
}

static bool sdp_ib_origin(struct ib_cm_id *cm_id, const struct ib_cm_req_event_param *req,
			  struct sdp_cm_req *r, struct in6_addr *src)
{
	if (rdma_protocol_roce(cm_id->device, req->port))
		return sdp_ib_roce_origin(req, r, src);
	return sdp_ib_ipoib_origin(cm_id, req, r);
}

static bool sdp_ib_take_request(struct ib_cm_id *cm_id, const struct ib_cm_event *event,
				struct sdp_dev *dev, enum sdp_refusal *why)
{
	struct sdp_cm_req r = {
		.dev		= dev,
		.cm_id		= cm_id,
		.port		= be64_to_cpu(cm_id->service_id) & 0xffff,
		.hello		= event->private_data,
		.hello_len	= SDP_HELLO_SIZE,
	};
	struct sdp_conn *conn = NULL;
	struct in6_addr src;

	/* Nobody who could be meant: no such service */
	*why = SDP_REFUSED_CLOSED;
	if (!sdp_ib_origin(cm_id, &event->param.req_rcvd, &r, &src)) {
		SDP_INC_STATS(&init_net, SDP_MIB_REJ_NO_LISTENER);
		return false;
	}
	if (rdma_dev_access_netns(cm_id->device, r.net))
		conn = sdp_cm_request(&r, why);
	else
		SDP_INC_STATS(r.net, SDP_MIB_REJ_NO_LISTENER);
	put_net(r.net);
	if (conn)
		sdp_ib_accept(cm_id, &event->param.req_rcvd, dev, conn);
	return conn;
}

/*
 * Events of a listening handle: only requests, each with a new handle. That is
 * the connection's once there is one, and ends with it.
 */
static int sdp_ib_listen_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event)
{
	struct sdp_dev *dev = sdp_dev_get(cm_id->device);
	enum sdp_refusal why = SDP_REFUSED_BUSY;
	bool taken = false;

	if (dev && event->event == IB_CM_REQ_RECEIVED)
		taken = sdp_ib_take_request(cm_id, event, dev, &why);
	if (dev)
		sdp_dev_put(dev);
	if (taken)
		return 0;
	ib_send_cm_rej(cm_id, sdp_ib_reasons[why], NULL, 0, NULL, 0);
	return -ECONNREFUSED;		/* the CM destroys the handle */
}

static void *sdp_ib_listen(struct sdp_dev *dev, struct net *net, u16 port)
{
	struct ib_cm_id *id = ib_create_cm_id(dev->ib, sdp_ib_listen_handler, dev);
	int err;

	if (IS_ERR(id))
		return id;
	err = ib_cm_listen(id, cpu_to_be64(SDP_SERVICE_ID_BASE + port));
	if (err) {
		ib_destroy_cm_id(id);
		return ERR_PTR(err);
	}
	return id;
}

static void sdp_ib_unlisten(void *handle)
{
	ib_destroy_cm_id(handle);
}

static int sdp_ib_send_req(struct sdp_conn *conn, struct rdma_cm_id *route)
{
	u16 port = ntohs(inet_sk(conn->sk)->inet_dport);
	struct sdp_net *sn = sdp_pernet(sock_net(conn->sk));
	u8 hello[SDP_HELLO_SIZE] = { };
	struct ib_cm_req_param req = {
		.primary_path			= &route->route.path_rec[0],
		.primary_path_inbound		= route->route.path_rec_inbound,
		.primary_path_outbound		= route->route.path_rec_outbound,
		.ppath_sgid_attr		= route->route.addr.dev_addr.sgid_attr,
		.service_id			= cpu_to_be64(SDP_SERVICE_ID_BASE + port),
		.qp_num				= conn->qp->qp_num,
		.qp_type			= IB_QPT_RC,
		.starting_psn			= conn->rq_psn,
		.private_data			= hello,
		.private_data_len		= sizeof(hello),
		.responder_resources		= sdp_ib_rd_atomic(conn),
		.initiator_depth		= sdp_ib_rd_atomic(conn),
		.remote_cm_response_timeout	= READ_ONCE(sn->cm_timeout),
		.local_cm_response_timeout	= READ_ONCE(sn->cm_timeout),
		.flow_control			= 1,
		.retry_count			= READ_ONCE(sn->retry_count),
		.rnr_retry_count		= SDP_IB_RNR_RETRY,
		.max_cm_retries			= READ_ONCE(sn->connect_retries),
	};
	int err;

	sdp_cm_hello(conn, hello);
	conn->cm_asked = true;
	err = ib_send_cm_req(conn->cm_id, &req);
	if (err)
		conn->cm_asked = false;
	return err;
}

static int sdp_ib_connect(struct sdp_conn *conn, struct rdma_cm_id *route)
{
	struct ib_cm_id *id;
	u16 pkey_index = 0;
	int err;

	err = ib_find_cached_pkey(route->device, route->port_num,
				  be16_to_cpu(route->route.path_rec[0].pkey), &pkey_index);
	if (err)
		return err;
	err = sdp_conn_init_qp(conn, route->port_num, pkey_index);
	if (err)
		return err;
	id = ib_create_cm_id(route->device, sdp_ib_conn_handler, conn);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->cm_id = id;
	return sdp_ib_send_req(conn, route);
}

/* Again, as the peer was busy */
static void sdp_ib_request(struct sdp_conn *conn)
{
	/* The handler that is told of the refusal has us run before it says that it was */
	mutex_lock(&conn->cm_mutex);
	reinit_completion(&conn->cm_told);
	mutex_unlock(&conn->cm_mutex);
	if (sdp_ib_send_req(conn, conn->rdma_id))
		sdp_conn_fail(conn, ECONNREFUSED);
}

/*
 * A message says that the peer is connected, its RTU is late or lost. ib_cm_notify()
 * would tell the CM. But that calls the connection established at once, stops
 * repeating the REP only when it gets there in its queue, and doesn't any more if
 * the connection has ended meanwhile: who destroys the handle would wait for as
 * many repetitions as the peer has asked for. So let them go on until the RTU comes.
 * Or neither has come in time.
 */
static void sdp_ib_early(struct sdp_conn *conn)
{
	mutex_lock(&conn->cm_mutex);
	if (conn->cm_up || READ_ONCE(conn->rx.mseq))
		sdp_ib_up(conn);
	else
		sdp_conn_fail(conn, ETIMEDOUT);
	mutex_unlock(&conn->cm_mutex);
}

static bool sdp_ib_disconnect(struct sdp_conn *conn)
{
	int err = 0;

	mutex_lock(&conn->cm_mutex);
	set_bit(SDP_CONN_CM_OVER, &conn->flags);
	mutex_unlock(&conn->cm_mutex);
	if (!test_bit(SDP_CONN_DREQ_RCVD, &conn->flags))
		err = ib_send_cm_dreq(conn->cm_id, NULL, 0);
	/*
	 * It fails when the peer's has just come, and that is answered by our handler;
	 * or before the RTU has: then destroying the handle sends a REJ.
	 */
	return !err || test_bit(SDP_CONN_DREQ_RCVD, &conn->flags);
}

static void sdp_ib_destroy(struct sdp_conn *conn)
{
	struct ib_cm_id *id = conn->cm_id;

	/* It is idle before our handler is told that the peer has refused, or never answered */
	if (conn->cm_asked && READ_ONCE(id->state) == IB_CM_IDLE)
		wait_for_completion(&conn->cm_told);
	ib_destroy_cm_id(id);
	conn->cm_id = NULL;
}

const struct sdp_cm_ops sdp_cm_ib = {
	.name		= "ib_cm",
	.reads		= true,
	.usable		= sdp_ib_usable,
	.listen		= sdp_ib_listen,
	.unlisten	= sdp_ib_unlisten,
	.connect	= sdp_ib_connect,
	.request	= sdp_ib_request,
	.early		= sdp_ib_early,
	.disconnect	= sdp_ib_disconnect,
	.destroy	= sdp_ib_destroy,
};
