// SPDX-License-Identifier: GPL-2.0
/*
 * Connections over iWARP: rdma_cm on TCP's port of the same number, Hello and
 * HelloAck as private data of the MPA request and reply.
 *
 * Three things are not as over InfiniBand:
 *
 *  - MPA (RFC 5044, 7.1.3) has the accepting side wait for the connecting
 *    side's first message. So that one sends an empty Data at once, and the
 *    accepting side is established by whatever message comes first, not by
 *    the CM's event.
 *  - A refused handle and its queue pair are of no more use. To try again,
 *    sdp_cm_busy() has a new connection made (conn.c).
 *  - A listener has an address. One for all of them would be for all devices,
 *    those of other transports included, and soft-iWARP would not hear this
 *    host on it; so there is one for each address the device has, and they
 *    follow the addresses that come and go.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

#include "cm.h"
#include "conn.h"
#include "device.h"
#include "sdp.h"

/* How long work requests may be flushed after the queue pair has been drained */
#define SDP_IW_FLUSH_TIME	HZ

/* RDMA reads each side takes and makes at a time; both ends advertise and clamp */
#define SDP_IW_RD_ATOMIC	4
/* Requests that may wait for our handler, per listener */
#define SDP_IW_BACKLOG		128
/* A peer that says nothing for so long after connecting isn't connected */
#define SDP_IW_FIRST_TIMEOUT	(10 * HZ)
/* Addresses of a namespace that are listened on */
#define SDP_IW_ADDRS		1024
/* Until a new IPv6 address may be found to be no duplicate */
#define SDP_IW_DAD_DELAY	HZ

/* Requests in a row that end without an answer, and then it is a refusal */
#define SDP_IW_UNANSWERED	3

/* Private data of a reject: try again later, or no */
static const u8 sdp_iw_busy[4] = { 'S', 'D', 'P', 'B' };
static const u8 sdp_iw_refused[4] = { 'S', 'D', 'P', 'R' };

/**
 * struct sdp_iw_listen - a port of a device, in one namespace
 * @dev:	device
 * @net:	namespace
 * @port:	port
 * @addrs:	struct sdp_iw_addr of each of the namespace's addresses
 */
struct sdp_iw_listen {
	struct sdp_dev		*dev;
	struct net		*net;
	u16			port;
	struct list_head	addrs;
};

/**
 * struct sdp_iw_place - where to listen
 * @addr:	address, v4-mapped for IPv4
 * @ifindex:	interface that has it
 */
struct sdp_iw_place {
	struct in6_addr		addr;
	int			ifindex;
};

/**
 * struct sdp_iw_addr - an address of this host
 * @list:	on @addrs
 * @place:	which
 * @present:	found when last looked
 * @id:		listener; NULL if this isn't the device's, or listening failed
 */
struct sdp_iw_addr {
	struct list_head	list;
	struct sdp_iw_place	place;
	bool			present;
	struct rdma_cm_id	*id;
};

static bool sdp_iw_usable(struct ib_device *ib)
{
	u32 port;

	rdma_for_each_port(ib, port)
		if (rdma_cap_iw_cm(ib, port))
			return true;
	return false;
}

static u8 sdp_iw_rd_atomic(const struct sdp_conn *conn)
{
	const struct ib_device_attr *attrs = &conn->qp->device->attrs;

	return min_t(int, SDP_IW_RD_ATOMIC,
		     min(attrs->max_qp_rd_atom, attrs->max_qp_init_rd_atom));
}

static __be16 *sdp_iw_port(struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? &((struct sockaddr_in *)ss)->sin_port :
					  &((struct sockaddr_in6 *)ss)->sin6_port;
}

/* What became of a request, as TCP would have it */
static int sdp_iw_errno(int status)
{
	switch (status) {
	case -ECONNREFUSED:
	case -ECONNRESET:
		return ECONNREFUSED;
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENOMEM:
		return -status;
	default:
		return ECONNABORTED;
	}
}

/*
 * siw misses a reject that comes together with the end of its TCP connection: all it tells then
 * is that the peer has closed. So that may have been any answer, and is asked for again.
 */
static void sdp_iw_rejected(struct sdp_conn *conn, const struct rdma_cm_event *event)
{
	const struct rdma_conn_param *param = &event->param.conn;

	if (param->private_data_len >= sizeof(sdp_iw_busy) &&
	    !memcmp(param->private_data, sdp_iw_busy, sizeof(sdp_iw_busy))) {
		conn->unanswered = 0;
		sdp_cm_busy(conn);
	} else if (event->status == -ECONNRESET && !param->private_data_len &&
		   ++conn->unanswered < SDP_IW_UNANSWERED) {
		sdp_cm_busy(conn);
	} else {
		sdp_conn_fail(conn, sdp_iw_errno(event->status));
	}
}

/* The acceptor's reply: it waits for a message of ours now */
static void sdp_iw_replied(struct sdp_conn *conn, const struct rdma_conn_param *reply)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	conn->cm_up = true;
	if (sdp_cm_replied(conn, reply->private_data, reply->private_data_len)) {
		sdp_conn_fail(conn, EPROTO);
		return;
	}
	spin_lock_bh(&sdp->lock);
	sdp_tx_set(conn, SDP_TX_FIRST);
	spin_unlock_bh(&sdp->lock);
	sdp_conn_established(conn);
}

/*
 * Events of a connection's own handle, at the connecting side. That of a
 * device's removal needs nothing: device.c ends its connections.
 */
static int sdp_iw_active_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct sdp_conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		sdp_iw_replied(conn, &event->param.conn);
		break;
	case RDMA_CM_EVENT_REJECTED:
		sdp_iw_rejected(conn, event);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		sdp_conn_fail(conn, sdp_iw_errno(event->status));
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		sdp_conn_kick(conn);
		break;
	default:
		break;
	}
	return 0;
}

/* The same, at the accepting side */
static int sdp_iw_passive_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct sdp_conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		conn->cm_up = true;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		sdp_conn_kick(conn);
		break;
	default:
		break;
	}
	return 0;
}

/*
 * Receives may be posted, and will complete, from here on. We make no RDMA
 * READ (@rx.max_reads stays 0): over iWARP its sink would have to be open to
 * the peer.
 */
static int sdp_iw_init_qp(struct sdp_conn *conn, u32 port_num)
{
	conn->rtr = true;
	return sdp_conn_init_qp(conn, port_num, 0);
}

static int sdp_iw_send_reply(struct sdp_conn *conn, const struct rdma_conn_param *req)
{
	u8 hello_ack[SDP_HELLO_ACK_SIZE];
	struct rdma_conn_param reply = {
		.private_data		= hello_ack,
		.private_data_len	= sizeof(hello_ack),
		/* The event has them from our point of view already */
		.responder_resources	= min(req->responder_resources, sdp_iw_rd_atomic(conn)),
		.initiator_depth	= min(req->initiator_depth, sdp_iw_rd_atomic(conn)),
		.qp_num			= conn->qp->qp_num,
	};

	sdp_cm_hello_ack(conn, hello_ack);
	return rdma_accept(conn->cm_id, &reply);
}

static void sdp_iw_accept(struct rdma_cm_id *id, const struct rdma_conn_param *req,
			  struct sdp_dev *dev, struct sdp_conn *conn)
{
	int err;

	id->context = conn;
	id->event_handler = sdp_iw_passive_handler;
	err = sdp_conn_setup(conn, dev);
	if (!err)
		err = sdp_iw_init_qp(conn, id->port_num);
	if (!err)
		err = sdp_iw_send_reply(conn, req);
	if (err) {
		sdp_conn_fail(conn, ECONNABORTED);
		return;
	}
	spin_lock_bh(&sdp_sk(conn->sk)->lock);
	/* Unless the first message has come already */
	if (!conn->ending)
		queue_delayed_work(sdp_wq, &conn->cm_work, SDP_IW_FIRST_TIMEOUT);
	spin_unlock_bh(&sdp_sk(conn->sk)->lock);
}

static struct in6_addr sdp_iw_ip(const struct sockaddr_storage *ss)
{
	struct in6_addr addr;

	if (ss->ss_family == AF_INET)
		ipv6_addr_set_v4mapped(((const struct sockaddr_in *)ss)->sin_addr.s_addr, &addr);
	else
		addr = ((const struct sockaddr_in6 *)ss)->sin6_addr;
	return addr;
}

static bool sdp_iw_take_request(struct rdma_cm_id *id, const struct rdma_conn_param *param,
				struct sdp_dev *dev, enum sdp_refusal *why)
{
	struct rdma_addr *route = &id->route.addr;
	struct in6_addr src = sdp_iw_ip(&route->dst_addr);
	struct sdp_cm_req r = {
		.dev		= dev,
		.cm_id		= id,
		.net		= route->dev_addr.net,
		.ifindex	= route->dev_addr.bound_dev_if,
		.port		= ntohs(*sdp_iw_port(&route->src_addr)),
		.hello		= param->private_data,
		.hello_len	= param->private_data_len,
		.src		= &src,
		.local		= sdp_addr_is_local(route->dev_addr.net, &src),
	};
	struct sdp_conn *conn = sdp_cm_request(&r, why);

	if (conn)
		sdp_iw_accept(id, param, dev, conn);
	return conn;
}

/*
 * Events of a listener: only requests, each with a new handle. That is the
 * connection's once there is one, and ends with it.
 */
static int sdp_iw_listen_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	enum sdp_refusal why = SDP_REFUSED_BUSY;
	struct sdp_dev *dev;
	bool taken = false;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	dev = sdp_dev_get(id->device);
	if (dev) {
		taken = sdp_iw_take_request(id, &event->param.conn, dev, &why);
		sdp_dev_put(dev);
	}
	if (taken)
		return 0;
	rdma_reject(id, why == SDP_REFUSED_BUSY ? sdp_iw_busy : sdp_iw_refused,
		    sizeof(sdp_iw_busy), 0);
	return -ECONNREFUSED;		/* the CM destroys the handle */
}

static void sdp_iw_found(struct sdp_iw_listen *l, const struct sdp_iw_place *place)
{
	struct sdp_iw_addr *a;

	list_for_each_entry(a, &l->addrs, list) {
		if (a->place.ifindex == place->ifindex &&
		    ipv6_addr_equal(&a->place.addr, &place->addr)) {
			a->present = true;
			return;
		}
	}
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	if (!a) {
		sdp_cm_relisten(HZ);
		return;
	}
	a->place = *place;
	a->present = true;
	list_add_tail(&a->list, &l->addrs);
}

static int sdp_iw_find_ipv4(struct net_device *ndev, struct sdp_iw_place *places, int n)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return n;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (n == SDP_IW_ADDRS)
			break;
		ipv6_addr_set_v4mapped(ifa->ifa_local, &places[n].addr);
		places[n++].ifindex = ndev->ifindex;
	}
	return n;
}

static int sdp_iw_find_ipv6(struct net_device *ndev, struct sdp_iw_place *places, int n)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifa;

	if (!idev)
		return n;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list) {
		if (n == SDP_IW_ADDRS)
			break;
		if (!(ifa->flags & IFA_F_TENTATIVE)) {
			places[n].addr = ifa->addr;
			places[n++].ifindex = ndev->ifindex;
		} else if (!(ifa->flags & IFA_F_DADFAILED)) {
			/* Nobody tells us when it ceases to be tentative */
			sdp_cm_relisten(SDP_IW_DAD_DELAY);
		}
	}
	read_unlock_bh(&idev->lock);
	return n;
}

/* Whoever owns a namespace can make more addresses than anybody has the time to look at */
static int sdp_iw_find_addrs(struct sdp_iw_listen *l)
{
	struct sdp_iw_place *places;
	struct net_device *ndev;
	struct sdp_iw_addr *a;
	int i, n = 0;

	places = kvmalloc_array(SDP_IW_ADDRS, sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;
	rcu_read_lock();
	for_each_netdev_rcu(l->net, ndev) {
		if (!(ndev->flags & IFF_UP) || (ndev->flags & IFF_LOOPBACK))
			continue;
		n = sdp_iw_find_ipv4(ndev, places, n);
		n = sdp_iw_find_ipv6(ndev, places, n);
	}
	rcu_read_unlock();
	list_for_each_entry(a, &l->addrs, list)
		a->present = false;
	for (i = 0; i < n; i++) {
		sdp_iw_found(l, &places[i]);
		cond_resched();
	}
	kvfree(places);
	return 0;
}

static void sdp_iw_drop_addr(struct sdp_iw_addr *a)
{
	list_del(&a->list);
	if (a->id)
		rdma_destroy_id(a->id);
	kfree(a);
}

static int sdp_iw_listen_addr(struct sdp_iw_listen *l, struct sdp_iw_addr *a)
{
	struct sockaddr_storage ss;
	struct rdma_cm_id *id;
	int err;

	if (!sdp_on_rdma_device(l->net, &a->place.addr, a->place.ifindex, l->dev->ib))
		return 0;
	id = rdma_create_id(l->net, sdp_iw_listen_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	sdp_set_sockaddr(&ss, &a->place.addr, a->place.ifindex);
	*sdp_iw_port(&ss) = htons(l->port);
	err = rdma_bind_addr(id, (struct sockaddr *)&ss);
	if (!err)
		err = rdma_listen(id, SDP_IW_BACKLOG);
	if (err) {
		rdma_destroy_id(id);
		/* It may have gone meanwhile */
		return err == -EADDRNOTAVAIL || err == -ENODEV ? 0 : err;
	}
	a->id = id;
	return 0;
}

/* Listens on the addresses there are; what fails doesn't keep it from the others */
static int sdp_iw_listen_addrs(struct sdp_iw_listen *l)
{
	struct sdp_iw_addr *a, *next;
	int err = sdp_iw_find_addrs(l);

	if (err)
		return err;
	list_for_each_entry_safe(a, next, &l->addrs, list) {
		int ret = 0;

		if (!a->present)
			sdp_iw_drop_addr(a);
		else if (!a->id)
			ret = sdp_iw_listen_addr(l, a);
		err = err ?: ret;
	}
	return err;
}

static void sdp_iw_unlisten(void *handle)
{
	struct sdp_iw_listen *l = handle;
	struct sdp_iw_addr *a, *next;

	list_for_each_entry_safe(a, next, &l->addrs, list)
		sdp_iw_drop_addr(a);
	kfree(l);
}

static void *sdp_iw_listen(struct sdp_dev *dev, struct net *net, u16 port)
{
	struct sdp_iw_listen *l = kzalloc(sizeof(*l), GFP_KERNEL);
	int err;

	if (!l)
		return ERR_PTR(-ENOMEM);
	l->dev = dev;
	l->net = net;
	l->port = port;
	INIT_LIST_HEAD(&l->addrs);
	err = sdp_iw_listen_addrs(l);
	if (err) {
		sdp_iw_unlisten(l);
		return ERR_PTR(err);
	}
	return l;
}

static void sdp_iw_relisten(void *handle)
{
	struct sdp_iw_listen *l = handle;
	int err = sdp_iw_listen_addrs(l);

	if (err)
		pr_warn_ratelimited("sdp: %s: cannot listen on port %u of a new address: error %d\n",
				    l->dev->ib->name, l->port, err);
}

/*
 * Takes the resolver's handle over. The request itself is left to cm_work: some
 * devices connect TCP while they are asked to, and the resolver has one thread
 * for everybody.
 */
static int sdp_iw_connect(struct sdp_conn *conn, struct rdma_cm_id *route)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	int err = sdp_iw_init_qp(conn, route->port_num);

	if (err)
		return err;
	/* Not told before: over InfiniBand it would mean something to the subnet manager */
	*sdp_iw_port(&route->route.addr.dst_addr) = inet_sk(conn->sk)->inet_dport;
	route->event_handler = sdp_iw_active_handler;
	conn->cm_id = route;
	/* sdp_conn_end_work() looks at these in the other order; one of us has it */
	if (!xchg(&conn->rdma_id, NULL)) {
		conn->cm_id = NULL;
		return -ECONNABORTED;
	}
	spin_lock_bh(&sdp->lock);
	if (!conn->ending)
		queue_delayed_work(sdp_wq, &conn->cm_work, 0);
	spin_unlock_bh(&sdp->lock);
	return 0;
}

static void sdp_iw_request(struct sdp_conn *conn)
{
	u8 hello[SDP_HELLO_SIZE] = { };
	struct rdma_conn_param param = {
		.private_data		= hello,
		.private_data_len	= sizeof(hello),
		.responder_resources	= sdp_iw_rd_atomic(conn),
		.initiator_depth	= sdp_iw_rd_atomic(conn),
		.qp_num			= conn->qp->qp_num,
	};
	int err;

	sdp_cm_hello(conn, hello);
	err = rdma_connect(conn->cm_id, &param);
	/* TCP itself uses the port that rdma_cm has chosen for us; it will choose another */
	if (err == -EADDRINUSE || err == -EADDRNOTAVAIL)
		sdp_cm_busy(conn);
	else if (err)
		sdp_conn_fail(conn, sdp_iw_errno(err));
}

/* The first message has come, or won't */
static void sdp_iw_early(struct sdp_conn *conn)
{
	if (READ_ONCE(conn->rx.mseq))
		sdp_conn_established(conn);
	else
		sdp_conn_fail(conn, ETIMEDOUT);
}

static bool sdp_iw_disconnect(struct sdp_conn *conn)
{
	rdma_disconnect(conn->cm_id);
	return false;		/* timewait is TCP's */
}

/*
 * Where the connection was closed already, siw completes the drain's own work
 * requests at once, and flushes what was posted before only when its worker gets
 * there. All of that has to be seen before the connection parts from its socket.
 */
static void sdp_iw_drained(struct sdp_conn *conn)
{
	unsigned long end = jiffies + SDP_IW_FLUSH_TIME;

	while (READ_ONCE(conn->tx.done) != READ_ONCE(conn->tx.sent) && time_before(jiffies, end))
		msleep(20);
}

static void sdp_iw_destroy(struct sdp_conn *conn)
{
	rdma_destroy_id(conn->cm_id);
	conn->cm_id = NULL;
}

const struct sdp_cm_ops sdp_cm_iw = {
	.name		= "rdma_cm",
	.per_net	= true,
	.one_shot	= true,
	.usable		= sdp_iw_usable,
	.listen		= sdp_iw_listen,
	.relisten	= sdp_iw_relisten,
	.unlisten	= sdp_iw_unlisten,
	.connect	= sdp_iw_connect,
	.request	= sdp_iw_request,
	.early		= sdp_iw_early,
	.disconnect	= sdp_iw_disconnect,
	.drained	= sdp_iw_drained,
	.destroy	= sdp_iw_destroy,
};
