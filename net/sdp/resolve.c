// SPDX-License-Identifier: GPL-2.0
/*
 * From an IP address to a device and a route: rdma_cm's resolver. A connection
 * keeps its rdma_cm_id, which holds the route, until it is established, or the
 * transport takes it over (cm_iw.c).
 *
 * Addresses of this host that no RDMA device has, 127.0.0.1 and ::1 first of
 * all, are resolved as if they were an address some RDMA device has; rdma_cm
 * itself refuses them on software devices.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/route.h>

#include "cm.h"
#include "conn.h"
#include "device.h"
#include "sdp.h"
#include "trace.h"

/* An unanswered ARP or ND ends as EHOSTUNREACH after this, about TCP's time */
#define SDP_RESOLVE_MS		3000
/* Local addresses tried in search of an RDMA device */
#define SDP_LOCAL_MAX		32

/* What the rdma_cm reports, as TCP would have it */
static int sdp_resolve_errno(int status)
{
	switch (status) {
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
		return EHOSTUNREACH;
	case -ENOMEM:
		return ENOMEM;
	case -EADDRNOTAVAIL:
		return EADDRNOTAVAIL;
	default:
		return ENETUNREACH;
	}
}

/* The source address, unless the program has chosen it */
static void sdp_set_saddr(struct sock *sk, const struct sockaddr_storage *ss)
{
	struct inet_sock *inet = inet_sk(sk);
	struct in6_addr addr;

	if (ss->ss_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)ss;

		if (!inet->inet_saddr)
			inet->inet_saddr = v4->sin_addr.s_addr;
		if (!inet->inet_rcv_saddr)
			inet->inet_rcv_saddr = v4->sin_addr.s_addr;
		ipv6_addr_set_v4mapped(v4->sin_addr.s_addr, &addr);
	} else {
		addr = ((const struct sockaddr_in6 *)ss)->sin6_addr;
		/* An IPv4 stream has one: the way between own addresses may be any */
		if (!inet->inet_saddr)
			inet->inet_saddr = LOOPBACK4_IPV6;
		if (!inet->inet_rcv_saddr)
			inet->inet_rcv_saddr = LOOPBACK4_IPV6;
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (!sdp_is_v6(sk))
		return;
	if (ipv6_addr_any(&inet6_sk(sk)->saddr))
		inet6_sk(sk)->saddr = addr;
	if (ipv6_addr_any(&sk->sk_v6_rcv_saddr))
		sk->sk_v6_rcv_saddr = addr;
#endif
}

/* The route is known: make the queue pair and send the request */
static int sdp_resolved(struct sdp_conn *conn, struct rdma_cm_id *id)
{
	struct sock *sk = conn->sk;
	struct sdp_dev *dev = sdp_dev_get(id->device);
	int err;

	if (!dev)
		return -ENETUNREACH;
	sdp_set_saddr(sk, &id->route.addr.src_addr);
	conn->rx.order = sdp_cm_order(sk);
	err = sdp_conn_setup(conn, dev);
	if (!err)
		err = dev->cm->connect(conn, id);
	sdp_dev_put(dev);
	return err;
}

/* Always returns 0: the handle is the connection's, which destroys it (conn.c) */
static int sdp_resolve_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct sdp_conn *conn = id->context;
	int err;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, SDP_RESOLVE_MS);
		if (!err)
			return 0;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		err = sdp_resolved(conn, id);
		if (!err)
			return 0;
		break;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		sdp_conn_fail(conn, ENETDOWN);
		return 0;
	default:
		err = event->status < 0 ? event->status : -EHOSTUNREACH;
		break;
	}
	pr_debug("sdp: %s: error %d\n", rdma_event_msg(event->event), err);
	sdp_conn_fail(conn, sdp_resolve_errno(err));
	return 0;
}

/**
 * sdp_set_sockaddr() - an address as rdma_cm wants it, without port
 * @ss:		where to put it
 * @addr:	v4-mapped for IPv4
 * @scope:	interface, if it is a link-local address
 *
 * Context: any.
 */
void sdp_set_sockaddr(struct sockaddr_storage *ss, const struct in6_addr *addr, int scope)
{
	memset(ss, 0, sizeof(*ss));
	if (ipv6_addr_v4mapped(addr)) {
		struct sockaddr_in *v4 = (struct sockaddr_in *)ss;

		v4->sin_family = AF_INET;
		v4->sin_addr.s_addr = addr->s6_addr32[3];
	} else {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;

		v6->sin6_family = AF_INET6;
		v6->sin6_addr = *addr;
		if (ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
			v6->sin6_scope_id = scope;
	}
}

static struct in6_addr sdp_daddr(const struct sock *sk)
{
	struct in6_addr addr;

	if (sdp_is_v6(sk))
		return sk->sk_v6_daddr;
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, &addr);
	return addr;
}

/* The address bound to, :: or v4-mapped zero if none */
static struct in6_addr sdp_saddr(const struct sock *sk, bool v4)
{
	struct in6_addr addr;

	if (sdp_is_v6(sk) && !v4)
		return inet6_sk(sk)->saddr;
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_saddr, &addr);
	return addr;
}

static int sdp_local_ipv4(struct net_device *ndev, struct in6_addr *list, int n)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return n;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (n < SDP_LOCAL_MAX)
			ipv6_addr_set_v4mapped(ifa->ifa_local, &list[n++]);
	return n;
}

static int sdp_local_ipv6(struct net_device *ndev, struct in6_addr *list, int n)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifa;

	if (!idev)
		return n;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list)
		if (n < SDP_LOCAL_MAX && !(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL))
			list[n++] = ifa->addr;
	read_unlock_bh(&idev->lock);
	return n;
}

/* Addresses of this host's interfaces that are up, but for loopback */
static int sdp_local_addrs(struct net *net, struct in6_addr *list)
{
	struct net_device *ndev;
	int n = 0;

	rcu_read_lock();
	for_each_netdev_rcu(net, ndev) {
		if (!(ndev->flags & IFF_UP) || (ndev->flags & IFF_LOOPBACK))
			continue;
		n = sdp_local_ipv4(ndev, list, n);
		n = sdp_local_ipv6(ndev, list, n);
	}
	rcu_read_unlock();
	return n;
}

/* The device may be removed while it is asked for */
static int sdp_probe_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return 0;
}

/**
 * sdp_on_rdma_device() - does an RDMA device have this address?
 * @net:	namespace
 * @addr:	address, v4-mapped for IPv4
 * @scope:	interface, if it is a link-local address
 * @ib:		which device; NULL for any
 *
 * Context: process.
 * Return: true if so.
 */
bool sdp_on_rdma_device(struct net *net, const struct in6_addr *addr, int scope,
			const struct ib_device *ib)
{
	struct sockaddr_storage ss;
	struct rdma_cm_id *id;
	bool ok;

	id = rdma_create_id(net, sdp_probe_handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return false;
	sdp_set_sockaddr(&ss, addr, scope);
	ok = !rdma_bind_addr(id, (struct sockaddr *)&ss) && id->device &&
	     (!ib || id->device == ib);
	rdma_destroy_id(id);
	return ok;
}

/* The address to resolve for one of this host's: itself if an RDMA device has it, else any such */
static int sdp_map_local(struct net *net, struct in6_addr *addr)
{
	struct in6_addr *list;
	int i, n, err = -ENETUNREACH;

	if (sdp_on_rdma_device(net, addr, 0, NULL))
		return 0;
	list = kcalloc(SDP_LOCAL_MAX, sizeof(*list), GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	n = sdp_local_addrs(net, list);
	for (i = 0; i < n; i++) {
		if (!sdp_on_rdma_device(net, &list[i], 0, NULL))
			continue;
		*addr = list[i];
		err = 0;
		break;
	}
	kfree(list);
	return err;
}

/* A peer on this host: both ends get addresses of this host, whatever the path's are */
static int sdp_resolve_local(struct sock *sk, struct in6_addr *daddr, struct in6_addr *saddr)
{
	struct sockaddr_storage ss;
	int err;

	sdp_set_sockaddr(&ss, daddr, 0);
	sdp_set_saddr(sk, &ss);
	err = sdp_map_local(sock_net(sk), daddr);
	*saddr = *daddr;
	return err;
}

/*
 * IP_TOS and IPV6_TCLASS as of connect(): the service type the device gives all
 * packets of the connection, the peer's too; a queue pair can't change it later.
 * 0 leaves the choice to the administrator (rdma_cm's default_roce_tos).
 */
static void sdp_set_service_type(struct rdma_cm_id *id, const struct sock *sk, bool v4)
{
	u8 tos = v4 ? inet_sk(sk)->tos : inet6_sk(sk)->tclass;

	if (tos)
		rdma_set_service_type(id, tos);
}

static bool sdp_unspecified(const struct in6_addr *addr)
{
	return ipv6_addr_any(addr) || (ipv6_addr_v4mapped(addr) && !addr->s6_addr32[3]);
}

static int sdp_resolve_begin(struct sdp_conn *conn)
{
	struct sock *sk = conn->sk;
	struct in6_addr daddr = sdp_daddr(sk), saddr;
	bool v4 = ipv6_addr_v4mapped(&daddr);	/* the path to this host may be another */
	struct sockaddr_storage dst, src;
	struct rdma_cm_id *id;
	int err;

	saddr = sdp_saddr(sk, v4);
	if (sdp_addr_is_local(sock_net(sk), &daddr)) {
		err = sdp_resolve_local(sk, &daddr, &saddr);
		if (err)
			return err;
	}
	id = rdma_create_id(sock_net(sk), sdp_resolve_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	id->route.addr.dev_addr.bound_dev_if = sk->sk_bound_dev_if;
	conn->rdma_id = id;
	sdp_set_service_type(id, sk, v4);

	/* Ports stay zero: rdma_cm's are its own */
	sdp_set_sockaddr(&dst, &daddr, sk->sk_bound_dev_if);
	sdp_set_sockaddr(&src, &saddr, sk->sk_bound_dev_if);
	err = rdma_resolve_addr(id, sdp_unspecified(&saddr) ? NULL : (struct sockaddr *)&src,
				(struct sockaddr *)&dst, SDP_RESOLVE_MS);
	return err ? -sdp_resolve_errno(err) : 0;
}

/**
 * sdp_resolve() - find the way to the peer; the rest of connecting follows by itself
 * @conn:	connection of a socket that has its addresses
 *
 * The device may be removed while rdma_cm is still being asked. So a connection whose
 * @resolving was set before anybody saw it doesn't end before this returns.
 * Context: process, lock_sock or @conn's cm_work; takes sdp->lock.
 * Return: 0 when the outcome will be told by the socket's state, or -errno, and the
 * connection ends by that. @conn may be gone by then.
 */
int sdp_resolve(struct sdp_conn *conn)
{
	struct sdp_sock *sdp = sdp_sk(conn->sk);
	int err = sdp_resolve_begin(conn);

	spin_lock_bh(&sdp->lock);
	if (err)
		__sdp_conn_fail(conn, -err);
	/* Who waits takes the lock before the connection goes */
	WRITE_ONCE(conn->resolving, false);
	wake_up_var(&conn->resolving);
	spin_unlock_bh(&sdp->lock);
	return err;
}
