// SPDX-License-Identifier: GPL-2.0
/*
 * The handshake, whatever the transport: Hello and HelloAck, who may connect
 * to whom, and which ports are listened on at which devices.
 *
 * sdp_cm_mutex guards the list of devices, the list of ports listened on and
 * what each device has of those. It is taken inside lock_sock, and outside
 * everything a CM handler takes, because stopping to listen waits for
 * handlers.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/route.h>

#include "cm.h"
#include "conn.h"
#include "device.h"
#include "sdp.h"
#include "trace.h"

/* A refused request is repeated for as long as TCP repeats a SYN */
#define SDP_CONNECT_TIMEOUT	(127 * HZ)
#define SDP_RETRY_DELAY_MAX	((unsigned long)HZ)

/**
 * struct sdp_service - a port at least one socket of a namespace listens on
 * @list:	in sdp_services
 * @net:	the namespace, which its sockets hold
 * @port:	the port
 * @users:	listeners on it
 */
struct sdp_service {
	struct list_head	list;
	struct net		*net;
	u16			port;
	unsigned int		users;
};

/**
 * struct sdp_cm_listen - a port listened on at one device
 * @list:	on the device's @listens
 * @net:	in which namespace; NULL if in all, as the transport wants it
 * @port:	the port
 * @handle:	the transport's
 */
struct sdp_cm_listen {
	struct list_head	list;
	struct net		*net;
	u16			port;
	void			*handle;
};

static DEFINE_MUTEX(sdp_cm_mutex);
static LIST_HEAD(sdp_services);
static LIST_HEAD(sdp_devices);

static const struct sdp_cm_ops *const sdp_transports[] = {
	&sdp_cm_ib,
	&sdp_cm_iw,
};

/**
 * sdp_cm_for() - which transport connects over a device?
 * @ib:	device
 *
 * Context: any.
 * Return: the transport, or NULL for a device of no use to SDP.
 */
const struct sdp_cm_ops *sdp_cm_for(struct ib_device *ib)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sdp_transports); i++)
		if (sdp_transports[i]->usable(ib))
			return sdp_transports[i];
	return NULL;
}

static struct sdp_cm_listen *sdp_dev_listen_find(struct sdp_dev *dev, struct net *net, u16 port)
{
	struct sdp_cm_listen *l;

	list_for_each_entry(l, &dev->listens, list)
		if (l->net == net && l->port == port)
			return l;
	return NULL;
}

/* What serves several namespaces may be there for another already */
static int sdp_dev_listen(struct sdp_dev *dev, const struct sdp_service *s)
{
	struct net *net = dev->cm->per_net ? s->net : NULL;
	struct sdp_cm_listen *l;

	if (sdp_dev_listen_find(dev, net, s->port))
		return 0;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->net = net;
	l->port = s->port;
	l->handle = dev->cm->listen(dev, net, s->port);
	if (IS_ERR(l->handle)) {
		int err = PTR_ERR(l->handle);

		kfree(l);
		return err == -EBUSY ? -EADDRINUSE : err;
	}
	list_add(&l->list, &dev->listens);
	return 0;
}

static struct sdp_service *sdp_service_find(struct net *net, u16 port)
{
	struct sdp_service *s;

	list_for_each_entry(s, &sdp_services, list)
		if ((!net || s->net == net) && s->port == port)
			return s;
	return NULL;
}

/* Undoes sdp_dev_listen() for a service off the list, unless another one needs it */
static void sdp_dev_unlisten(struct sdp_dev *dev, const struct sdp_service *s)
{
	struct net *net = dev->cm->per_net ? s->net : NULL;
	struct sdp_cm_listen *l = sdp_dev_listen_find(dev, net, s->port);

	if (!l || sdp_service_find(net, s->port))
		return;
	list_del(&l->list);
	dev->cm->unlisten(l->handle);
	kfree(l);
}

/**
 * sdp_cm_add_device() - listen on a new device where sockets already listen
 * @dev:	device
 *
 * Context: process.
 */
void sdp_cm_add_device(struct sdp_dev *dev)
{
	struct sdp_service *s;

	mutex_lock(&sdp_cm_mutex);
	list_add_tail(&dev->list, &sdp_devices);
	list_for_each_entry(s, &sdp_services, list) {
		int err = sdp_dev_listen(dev, s);

		if (err)
			pr_warn_ratelimited("sdp: %s: cannot listen on port %u: error %d\n",
					    dev->ib->name, s->port, err);
	}
	mutex_unlock(&sdp_cm_mutex);
}

/**
 * sdp_cm_del_device() - a device takes no more requests
 * @dev:	device
 *
 * Context: process.
 */
void sdp_cm_del_device(struct sdp_dev *dev)
{
	struct sdp_cm_listen *l, *next;

	mutex_lock(&sdp_cm_mutex);
	list_del(&dev->list);
	list_for_each_entry_safe(l, next, &dev->listens, list) {
		dev->cm->unlisten(l->handle);
		kfree(l);
	}
	INIT_LIST_HEAD(&dev->listens);
	mutex_unlock(&sdp_cm_mutex);
}

static void sdp_service_stop(struct sdp_service *s)
{
	struct sdp_dev *dev;

	list_del(&s->list);
	list_for_each_entry(dev, &sdp_devices, list)
		sdp_dev_unlisten(dev, s);
	kfree(s);
}

static int sdp_service_start(struct net *net, u16 port)
{
	struct sdp_service *s = kzalloc(sizeof(*s), GFP_KERNEL);
	struct sdp_dev *dev;
	int err;

	if (!s)
		return -ENOMEM;
	s->net = net;
	s->port = port;
	s->users = 1;
	list_add(&s->list, &sdp_services);
	list_for_each_entry(dev, &sdp_devices, list) {
		err = sdp_dev_listen(dev, s);
		if (err) {
			sdp_service_stop(s);
			return err;
		}
	}
	return 0;
}

/**
 * sdp_cm_listen() - take requests for a port, on all devices there are and will be
 * @net:	namespace
 * @port:	port; may be listened on already
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_cm_listen(struct net *net, u16 port)
{
	struct sdp_service *s;
	int err = 0;

	mutex_lock(&sdp_cm_mutex);
	s = sdp_service_find(net, port);
	if (s)
		s->users++;
	else
		err = sdp_service_start(net, port);
	mutex_unlock(&sdp_cm_mutex);
	return err;
}

/**
 * sdp_cm_unlisten() - undo one sdp_cm_listen()
 * @net:	namespace
 * @port:	port
 *
 * Waits for handlers of requests for it. Context: process.
 */
void sdp_cm_unlisten(struct net *net, u16 port)
{
	struct sdp_service *s;

	mutex_lock(&sdp_cm_mutex);
	s = sdp_service_find(net, port);
	if (s && !--s->users)
		sdp_service_stop(s);
	mutex_unlock(&sdp_cm_mutex);
}

static bool sdp_speaks_v6(const struct sock *sk)
{
	return sdp_is_v6(sk) && !ipv6_addr_v4mapped(&sk->sk_v6_daddr);
}

static void sdp_hello_addr(const struct sock *sk, u8 *src, u8 *dst)
{
	const struct inet_sock *inet = inet_sk(sk);

	if (sdp_speaks_v6(sk)) {
		memcpy(src, &inet6_sk(sk)->saddr, 16);
		memcpy(dst, &sk->sk_v6_daddr, 16);
	} else {
		memcpy(src + 12, &inet->inet_saddr, 4);
		memcpy(dst + 12, &inet->inet_daddr, 4);
	}
}

static u32 sdp_rcv_size(const struct sdp_conn *conn)
{
	return SDP_BSDH_SIZE + (PAGE_SIZE << conn->rx.order);
}

/* The first word on how many receives are posted */
static u32 sdp_first_grant(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	spin_lock_bh(&sdp->lock);
	conn->rx.granted = sdp_rx_grant(conn);
	spin_unlock_bh(&sdp->lock);
	return conn->rx.granted;
}

/**
 * sdp_cm_hello() - compose a Hello
 * @conn:	connection with its first receives posted
 * @buf:	SDP_HELLO_SIZE bytes
 *
 * Context: process.
 */
void sdp_cm_hello(struct sdp_conn *conn, void *buf)
{
	struct sdp_hello h = {
		.version		= SDP_VERSION,
		.ipv			= sdp_speaks_v6(conn->sk) ? 6 : 4,
		.bufs			= sdp_first_grant(conn),
		.max_adverts		= SDP_MAX_ADVERTS,
		.des_rem_rcv_sz		= sdp_rcv_size(conn),
		.local_rcv_sz		= sdp_rcv_size(conn),
		.port			= inet_sk(conn->sk)->inet_num,
	};

	sdp_hello_addr(conn->sk, h.src_ip, h.dst_ip);
	sdp_encode_hello(buf, &h);
}

/**
 * sdp_cm_hello_ack() - compose a HelloAck
 * @conn:	connection with its first receives posted
 * @buf:	SDP_HELLO_ACK_SIZE bytes
 *
 * Context: process.
 */
void sdp_cm_hello_ack(struct sdp_conn *conn, void *buf)
{
	struct sdp_hello_ack h = {
		.version		= SDP_VERSION,
		.bufs			= sdp_first_grant(conn),
		.max_adverts		= SDP_MAX_ADVERTS,
		.act_rcv_sz		= sdp_rcv_size(conn),
	};

	sdp_encode_hello_ack(buf, &h);
}

/* What the peer's buffers mean for our sending */
static void sdp_cm_set_peer(struct sdp_conn *conn, u16 bufs, u32 rcv_sz, u16 adverts, u8 caps)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);

	spin_lock_bh(&sdp->lock);
	conn->tx.credits = bufs;
	conn->tx.size = min_t(u32, rcv_sz - SDP_BSDH_SIZE, SDP_PAYLOAD_MAX);
	conn->peer_max_adverts = adverts;
	conn->peer_caps = caps;
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_cm_replied() - the acceptor's answer has come
 * @conn:	connection
 * @hello_ack:	private data
 * @len:	bytes of it
 *
 * Context: process, CM handler.
 * Return: 0, or -EPROTO for an answer that can't be used.
 */
int sdp_cm_replied(struct sdp_conn *conn, const void *hello_ack, u32 len)
{
	struct sdp_hello_ack h;
	enum sdp_bad bad = sdp_decode_hello_ack(hello_ack, len, &h);

	if (bad) {
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_BAD_HELLO_ACK);
		SDP_INC_STATS(sock_net(conn->sk), SDP_MIB_BAD(bad));
		net_dbg_ratelimited("sdp: HelloAck refused: %s\n", sdp_bad_str(bad));
		return -EPROTO;
	}
	sdp_cm_set_peer(conn, h.bufs, h.act_rcv_sz, h.max_adverts, h.caps);
	return 0;
}

static void sdp_cm_relisten_work(struct work_struct *work)
{
	struct sdp_cm_listen *l;
	struct sdp_dev *dev;

	mutex_lock(&sdp_cm_mutex);
	list_for_each_entry(dev, &sdp_devices, list) {
		if (!dev->cm->relisten)
			continue;
		list_for_each_entry(l, &dev->listens, list)
			dev->cm->relisten(l->handle);
	}
	mutex_unlock(&sdp_cm_mutex);
}

static DECLARE_DELAYED_WORK(sdp_relisten, sdp_cm_relisten_work);

/**
 * sdp_cm_relisten() - have transports look at this host's addresses again
 * @delay:	in so many jiffies
 *
 * Context: any.
 */
void sdp_cm_relisten(unsigned long delay)
{
	mod_delayed_work(sdp_wq, &sdp_relisten, delay);
}

static int sdp_cm_addr_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	if (event == NETDEV_UP || event == NETDEV_DOWN)
		sdp_cm_relisten(0);
	return NOTIFY_DONE;
}

static struct notifier_block sdp_netdev_nb = { .notifier_call = sdp_cm_addr_event };
static struct notifier_block sdp_inetaddr_nb = { .notifier_call = sdp_cm_addr_event };
static struct notifier_block sdp_inet6addr_nb = { .notifier_call = sdp_cm_addr_event };

/**
 * sdp_cm_init() - begin to follow this host's addresses
 *
 * Context: module load.
 * Return: 0 or -errno.
 */
int sdp_cm_init(void)
{
	int err = register_netdevice_notifier(&sdp_netdev_nb);

	if (err)
		return err;
	register_inetaddr_notifier(&sdp_inetaddr_nb);
	register_inet6addr_notifier(&sdp_inet6addr_nb);
	return 0;
}

/**
 * sdp_cm_exit() - undo sdp_cm_init()
 *
 * Context: module unload; no socket is left that could listen.
 */
void sdp_cm_exit(void)
{
	unregister_inet6addr_notifier(&sdp_inet6addr_nb);
	unregister_inetaddr_notifier(&sdp_inetaddr_nb);
	unregister_netdevice_notifier(&sdp_netdev_nb);
	cancel_delayed_work_sync(&sdp_relisten);
}

/**
 * sdp_cm_busy() - the peer has no room for us now: try again later
 * @conn:	connection whose request was refused for want of resources
 *
 * A full accept queue must not look like a closed port. TCP's SYN would go
 * unanswered and be repeated; this is the same with an answer.
 * Context: process.
 */
void sdp_cm_busy(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;

	spin_lock_bh(&sdp_sk(sk)->lock);
	if (time_after(jiffies, conn->started + SDP_CONNECT_TIMEOUT)) {
		__sdp_conn_fail(conn, ETIMEDOUT);
	} else if (!conn->ending && sk->sk_state == TCP_SYN_SENT) {
		if (conn->cm->one_shot)
			sdp_conn_retry(conn);
		else
			queue_delayed_work(sdp_wq, &conn->cm_work, conn->retry_delay);
		conn->retry_delay = min(conn->retry_delay * 2, SDP_RETRY_DELAY_MAX);
	}
	spin_unlock_bh(&sdp_sk(sk)->lock);
}

/**
 * sdp_cm_early() - a message has come before the handshake's last step
 * @conn:	connection at the accepting side
 *
 * Context: softirq, sdp->lock held.
 */
void sdp_cm_early(struct sdp_conn *conn)
{
	if (conn->sk->sk_state == TCP_SYN_RECV)
		mod_delayed_work(sdp_wq, &conn->cm_work, 0);
}

/**
 * sdp_cm_work() - do for the handshake what needs a process
 * @work:	cm_work, cancelled before anything it uses goes
 *
 * Context: process.
 */
void sdp_cm_work(struct work_struct *work)
{
	struct sdp_conn *conn = container_of(to_delayed_work(work), struct sdp_conn, cm_work);
	int state = READ_ONCE(conn->sk->sk_state);

	if (state == TCP_SYN_RECV)
		conn->cm->early(conn);
	else if (state == TCP_SYN_SENT && !conn->dev)
		sdp_resolve(conn);	/* in the place of one that was refused */
	else if (state == TCP_SYN_SENT)
		conn->cm->request(conn);
}

static struct in6_addr sdp_hello_ip(const struct sdp_hello *h, const u8 *ip)
{
	struct in6_addr addr;

	memcpy(&addr, ip, sizeof(addr));
	if (h->ipv == 4)
		ipv6_addr_set_v4mapped(addr.s6_addr32[3], &addr);
	return addr;
}

static bool sdp_addr_is_loopback(const struct in6_addr *a)
{
	return ipv6_addr_v4mapped(a) ? ipv4_is_loopback(a->s6_addr32[3]) : ipv6_addr_loopback(a);
}

/**
 * sdp_addr_is_local() - is this one of the host's own addresses, loopback included?
 * @net:	namespace
 * @a:		address, v4-mapped for IPv4
 *
 * Context: process.
 * Return: true if so.
 */
bool sdp_addr_is_local(struct net *net, const struct in6_addr *a)
{
	if (ipv6_addr_v4mapped(a))
		return inet_addr_type(net, a->s6_addr32[3]) == RTN_LOCAL;
	return ipv6_chk_addr(net, a, NULL, 0);
}

/*
 * Does what the Hello says of addresses fit where it came from? A peer on
 * another host can't be one of this host's addresses, nor ask for loopback
 * ones; where the path has an IP address (RoCE v2), that is the peer's. IPv4
 * addresses are those of an IPv4 Hello and of no other.
 */
static bool sdp_cm_peer_plausible(const struct sdp_cm_req *req, bool v4,
				  const struct in6_addr *src, const struct in6_addr *dst)
{
	if (ipv6_addr_v4mapped(src) != v4 || ipv6_addr_v4mapped(dst) != v4)
		return false;
	if (!sdp_addr_is_local(req->net, dst))
		return false;
	if (req->local)
		return sdp_addr_is_local(req->net, src);
	if (sdp_addr_is_loopback(src) || sdp_addr_is_loopback(dst))
		return false;
	return !req->src || ipv6_addr_equal(req->src, src);
}

/* Addresses of a new connection, from the Hello */
static void sdp_child_addr(struct sock *sk, const struct sdp_cm_req *req, const struct sdp_hello *h,
			   const struct in6_addr *src, const struct in6_addr *dst)
{
	struct inet_sock *inet = inet_sk(sk);
	bool v4 = h->ipv == 4;

	/* Like TCP: such an address means nothing without the interface */
	if (ipv6_addr_type(src) & IPV6_ADDR_LINKLOCAL && !sk->sk_bound_dev_if)
		sk->sk_bound_dev_if = req->ifindex;

	inet->inet_daddr = v4 ? src->s6_addr32[3] : LOOPBACK4_IPV6;
	inet->inet_saddr = v4 ? dst->s6_addr32[3] : LOOPBACK4_IPV6;
	inet->inet_rcv_saddr = inet->inet_saddr;
	inet->inet_dport = htons(h->port);
	if (sdp_is_v6(sk)) {
		sk->sk_v6_daddr = *src;
		sk->sk_v6_rcv_saddr = *dst;
		inet6_sk(sk)->saddr = *dst;
	}
}

/**
 * sdp_cm_order() - size of a new connection's receive buffers, if nobody wants others
 * @sk:	socket
 *
 * Context: any.
 * Return: order.
 */
u8 sdp_cm_order(const struct sock *sk)
{
	return min_t(u8, get_order(READ_ONCE(sdp_pernet(sock_net(sk))->rcvbuf_initial)),
		     SDP_BUF_ORDER_MAX);
}

/*
 * Receive buffer order a peer would like, within reason for a new connection: a
 * quarter of the receive buffer at most, as there are several, and no more than
 * without its wish where memory is short.
 */
static u8 sdp_order_for(const struct sock *sk, u32 desired)
{
	u32 payload = desired > SDP_BSDH_SIZE ? desired - SDP_BSDH_SIZE : 1;
	u32 most = READ_ONCE(sk->sk_rcvbuf) / 4;
	u8 least = sdp_cm_order(sk), order;

	order = min_t(u8, get_order(min_t(u32, payload, SDP_PAYLOAD_MAX)), SDP_BUF_ORDER_MAX);
	if (sk_under_memory_pressure(sk))
		return least;
	while (order > least && (PAGE_SIZE << order) > most)
		order--;
	return max(order, least);
}

/*
 * The child's connection. From here on it may end at any time (the listener
 * closes), which waits for the handler of @req->cm_id, that is, for us.
 */
static struct sdp_conn *sdp_child_conn(struct sock *sk, const struct sdp_hello *h,
				       const struct sdp_cm_req *req)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn = sdp_conn_alloc(sk);

	if (!conn) {
		sdp_child_unlink(sk);
		return NULL;
	}
	conn->cm = req->dev->cm;
	conn->cm_id = req->cm_id;
	conn->rx.order = sdp_order_for(sk, h->des_rem_rcv_sz);
	sdp_cm_set_peer(conn, h->bufs, h->local_rcv_sz, h->max_adverts, h->caps);
	spin_lock_bh(&sdp->lock);
	WRITE_ONCE(sdp->conn, conn);
	if (!sdp->parent)
		sdp_conn_end(conn, 0);
	spin_unlock_bh(&sdp->lock);
	return conn;
}

/* The listener is found: make the connection, or NULL for want of room or memory */
static struct sdp_conn *sdp_cm_take(const struct sdp_cm_req *req, const struct sdp_hello *h,
				    struct sock *parent, const struct in6_addr *src,
				    const struct in6_addr *dst)
{
	struct sdp_conn *conn;
	struct sock *sk;

	if (sdp_acceptq_is_full(parent)) {
		SDP_INC_STATS(req->net, SDP_MIB_REJ_BACKLOG);
		return NULL;
	}
	sk = sdp_child_create(parent);
	if (!sk) {
		SDP_INC_STATS(req->net, SDP_MIB_REJ_NO_MEM);
		return NULL;
	}
	sdp_child_addr(sk, req, h, src, dst);
	if (!sdp_child_enqueue(parent, sk)) {
		SDP_INC_STATS(req->net, SDP_MIB_REJ_BACKLOG);
		sdp_child_discard(sk);
		sock_put(sk);
		return NULL;
	}
	conn = sdp_child_conn(sk, h, req);
	sock_put(sk);
	SDP_INC_STATS(req->net, conn ? SDP_MIB_PASSIVE_OPENS : SDP_MIB_REJ_NO_MEM);
	return conn;
}

/**
 * sdp_cm_request() - a connection request has come
 * @req:	what is known of it
 * @why:	where to store why it is refused
 *
 * Context: process, CM handler.
 * Return: the new connection, which owns the CM
 * handle now but has nothing of the device yet, or NULL when the request is
 * to be refused.
 */
struct sdp_conn *sdp_cm_request(const struct sdp_cm_req *req, enum sdp_refusal *why)
{
	struct in6_addr src, dst;
	struct sdp_conn *conn;
	struct sock *parent;
	struct sdp_hello h;
	enum sdp_bad bad;

	*why = SDP_REFUSED_BAD;
	bad = sdp_decode_hello(req->hello, req->hello_len, &h);
	if (bad) {
		SDP_INC_STATS(req->net, SDP_MIB_REJ_BAD_HELLO);
		SDP_INC_STATS(req->net, SDP_MIB_BAD(bad));
		net_dbg_ratelimited("sdp: Hello refused: %s\n", sdp_bad_str(bad));
		return NULL;
	}
	src = sdp_hello_ip(&h, h.src_ip);
	dst = sdp_hello_ip(&h, h.dst_ip);
	if (!h.port || !sdp_cm_peer_plausible(req, h.ipv == 4, &src, &dst)) {
		SDP_INC_STATS(req->net, SDP_MIB_REJ_BAD_PEER);
		return NULL;
	}

	parent = sdp_find_listener(req->net, req->ifindex, req->port, &dst);
	if (!parent) {
		SDP_INC_STATS(req->net, SDP_MIB_REJ_NO_LISTENER);
		*why = SDP_REFUSED_CLOSED;
		return NULL;
	}
	*why = SDP_REFUSED_BUSY;
	conn = sdp_cm_take(req, &h, parent, &src, &dst);
	sock_put(parent);
	return conn;
}
