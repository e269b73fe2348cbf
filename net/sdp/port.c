// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: who is bound where, and who listens.
 *
 * SDP has a port space of its own, per network namespace, with TCP's rules
 * for sharing. sdp_port_lock guards all of it; it is taken inside sdp->lock
 * or alone.
 */
#include <linux/hash.h>
#include <net/ip.h>

#include "companion.h"
#include "fallback.h"
#include "sdp.h"

#define SDP_PORT_BITS	10
/* Ports tried in search of one that is free in TCP, too */
#define SDP_BIND_TRIES	64

/**
 * struct sdp_port - a port in use
 * @node:	in sdp_ports
 * @net:	namespace
 * @num:	the port
 * @owners:	sockets bound to it, accepted ones included
 */
struct sdp_port {
	struct hlist_node	node;
	struct net		*net;
	u16			num;
	struct hlist_head	owners;
};

static DEFINE_SPINLOCK(sdp_port_lock);
static struct hlist_head sdp_ports[1 << SDP_PORT_BITS];
static struct hlist_head sdp_listeners[1 << SDP_PORT_BITS];

static struct hlist_head *sdp_port_head(struct hlist_head *table, u16 num)
{
	return &table[hash_32(num, SDP_PORT_BITS)];
}

static struct sdp_port *sdp_port_find(struct net *net, u16 num)
{
	struct sdp_port *port;

	hlist_for_each_entry(port, sdp_port_head(sdp_ports, num), node)
		if (port->num == num && net_eq(port->net, net))
			return port;
	return NULL;
}

static struct sdp_port *sdp_port_create(struct net *net, u16 num)
{
	struct sdp_port *port = kzalloc(sizeof(*port), GFP_ATOMIC);

	if (!port)
		return NULL;
	port->net = net;
	port->num = num;
	hlist_add_head(&port->node, sdp_port_head(sdp_ports, num));
	return port;
}

static void sdp_port_add_owner(struct sdp_port *port, struct sock *sk)
{
	sdp_sk(sk)->port = port;
	hlist_add_head(&sdp_sk(sk)->bind_node, &port->owners);
	inet_sk(sk)->inet_num = port->num;
}

static void sdp_port_remove_owner(struct sock *sk)
{
	struct sdp_port *port = sdp_sk(sk)->port;

	if (!port)
		return;
	hlist_del_init(&sdp_sk(sk)->bind_node);
	sdp_sk(sk)->port = NULL;
	if (!hlist_empty(&port->owners))
		return;
	hlist_del(&port->node);
	kfree(port);
}

/* The address a socket is bound to, IPv4 in v4-mapped form */
static struct in6_addr sdp_rcv_saddr(const struct sock *sk)
{
	struct in6_addr addr;

	if (sdp_is_v6(sk))
		return sk->sk_v6_rcv_saddr;
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_rcv_saddr, &addr);
	return addr;
}

static bool sdp_addr_any(const struct in6_addr *a)
{
	return ipv6_addr_any(a) || (ipv6_addr_v4mapped(a) && !a->s6_addr32[3]);
}

/* Can a connection for @addr, v4-mapped or not, be @sk's as far as addresses go? */
static bool sdp_addr_match(const struct sock *sk, const struct in6_addr *addr)
{
	struct in6_addr own = sdp_rcv_saddr(sk);
	bool v4 = ipv6_addr_v4mapped(addr);

	if (!sdp_addr_any(&own))
		return ipv6_addr_equal(&own, addr);
	if (!sdp_is_v6(sk) || ipv6_addr_v4mapped(&own))
		return v4;
	return !v4 || !ipv6_only_sock(sk);
}

static bool sdp_addr_overlap(const struct sock *a, const struct sock *b)
{
	struct in6_addr aa = sdp_rcv_saddr(a), ab = sdp_rcv_saddr(b);

	if (!sdp_addr_any(&aa))
		return sdp_addr_match(b, &aa);
	if (!sdp_addr_any(&ab))
		return sdp_addr_match(a, &ab);
	/* Both wildcards: they meet unless one is IPv4 and the other IPv6 only */
	if (sdp_is_v6(a) && ipv6_only_sock(a))
		return sdp_is_v6(b);
	if (sdp_is_v6(b) && ipv6_only_sock(b))
		return sdp_is_v6(a);
	return true;
}

/* TCP's rule (inet_csk_bind_conflict): may two sockets share a port? */
static bool sdp_port_conflict(const struct sock *sk, const struct sock *other)
{
	if (sk->sk_bound_dev_if && other->sk_bound_dev_if &&
	    sk->sk_bound_dev_if != other->sk_bound_dev_if)
		return false;
	if (sk->sk_reuse && other->sk_reuse && other->sk_state != TCP_LISTEN)
		return false;
	if (sk->sk_reuseport && other->sk_reuseport &&
	    uid_eq(sk->sk_uid, other->sk_uid))
		return false;
	return sdp_addr_overlap(sk, other);
}

static bool sdp_port_usable(const struct sdp_port *port, const struct sock *sk)
{
	struct sdp_sock *other;

	hlist_for_each_entry(other, &port->owners, bind_node) {
		const struct sock *osk = (const struct sock *)other;

		if (osk != sk && sdp_port_conflict(sk, osk))
			return false;
	}
	return true;
}

static int sdp_port_take(struct sock *sk, u16 num)
{
	struct sdp_port *port = sdp_port_find(sock_net(sk), num);

	if (port && !sdp_port_usable(port, sk))
		return -EADDRINUSE;
	if (!port)
		port = sdp_port_create(sock_net(sk), num);
	if (!port)
		return -ENOMEM;
	sdp_port_add_owner(port, sk);
	return 0;
}

/* A free port out of the range the administrator or the socket sets */
static int sdp_port_take_any(struct sock *sk)
{
	struct net *net = sock_net(sk);
	int low, high, count, i, num;

	inet_sk_get_local_port_range(sk, &low, &high);
	count = high - low + 1;
	num = low + get_random_u32_below(count);
	for (i = 0; i < count; i++, num++) {
		if (num > high)
			num = low;
		if (inet_is_local_reserved_port(net, num))
			continue;
		/* Like TCP, leave ports somebody has to those who ask for them by number */
		if (!sdp_port_find(net, num))
			return sdp_port_take(sk, num);
	}
	return -EADDRINUSE;
}

/**
 * sdp_get_port() - bind a socket to a port
 * @sk:		socket with its local address set
 * @num:	port, or 0 for any
 *
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_get_port(struct sock *sk, unsigned short num)
{
	int err;

	spin_lock_bh(&sdp_port_lock);
	if (num)
		err = sdp_port_take(sk, num);
	else
		err = sdp_port_take_any(sk);
	spin_unlock_bh(&sdp_port_lock);
	return err;
}

/**
 * sdp_bind_port() - proto.get_port: bind a socket to a port, in TCP as well if it may be TCP's
 * @sk:		socket with its local address set
 * @num:	port, or 0 for any
 *
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_bind_port(struct sock *sk, unsigned short num)
{
	int tries = num ? 1 : SDP_BIND_TRIES, err;
	bool both = sdp_policy(sk) != SDP_POLICY_SDP;

	do {
		err = sdp_get_port(sk, num);
		if (err || !both)
			return err;
		err = sdp_companion_make(sk) ?: sdp_companion_bind(sk);
		if (!err)
			return 0;
		sdp_put_port(sk);
	} while (err == -EADDRINUSE && --tries);
	return err;
}

/**
 * sdp_leave_port() - give up a port that the socket goes on to show
 * @sk:	socket, not listening
 *
 * Context: any.
 */
void sdp_leave_port(struct sock *sk)
{
	spin_lock_bh(&sdp_port_lock);
	sdp_port_remove_owner(sk);
	spin_unlock_bh(&sdp_port_lock);
}

/**
 * sdp_put_port() - give up a socket's port
 * @sk:	socket, not listening
 *
 * getsockname() still tells it, as TCP's does.
 * Context: any (a socket's last reference may go in a timer).
 */
void sdp_put_port(struct sock *sk)
{
	sdp_leave_port(sk);
	inet_sk(sk)->inet_num = 0;
}

/**
 * sdp_inherit_port() - bind a new connection to its listener's port
 * @sk:		listener
 * @child:	connection
 *
 * Context: process.
 * Return: 0, or -ECONNREFUSED when the listener is gone.
 */
int sdp_inherit_port(struct sock *sk, struct sock *child)
{
	struct sdp_port *port;

	spin_lock_bh(&sdp_port_lock);
	port = sdp_sk(sk)->port;
	if (port)
		sdp_port_add_owner(port, child);
	spin_unlock_bh(&sdp_port_lock);
	return port ? 0 : -ECONNREFUSED;
}

/**
 * sdp_listen_hash() - make a bound socket a listener
 * @sk:	socket; becomes TCP_LISTEN
 *
 * Context: process, lock_sock.
 * Return: 0, or -EADDRINUSE when another one
 * that shares the port with SO_REUSEADDR listens already.
 */
int sdp_listen_hash(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int err = -EADDRINUSE;

	spin_lock_bh(&sdp->lock);
	spin_lock(&sdp_port_lock);
	WRITE_ONCE(sk->sk_ack_backlog, 0);	/* a child has its listener's */
	sdp_set_state(sk, TCP_LISTEN);
	if (sdp_port_usable(sdp->port, sk)) {
		hlist_add_head(&sdp->listen_node,
			       sdp_port_head(sdp_listeners, inet_sk(sk)->inet_num));
		err = 0;
	} else {
		sdp_set_state(sk, TCP_CLOSE);
	}
	spin_unlock(&sdp_port_lock);
	spin_unlock_bh(&sdp->lock);
	return err;
}

/**
 * sdp_listen_unhash() - a listener is no longer found
 * @sk:	listener
 *
 * Context: process.
 */
void sdp_listen_unhash(struct sock *sk)
{
	spin_lock_bh(&sdp_port_lock);
	hlist_del_init(&sdp_sk(sk)->listen_node);
	spin_unlock_bh(&sdp_port_lock);
}

/* How well a listener suits a request; 0 not at all */
static int sdp_listen_score(const struct sock *sk, struct net *net, int ifindex, u16 num,
			    const struct in6_addr *daddr)
{
	struct in6_addr own;
	int score = 1;

	if (inet_sk(sk)->inet_num != num || !net_eq(sock_net(sk), net) ||
	    !sdp_addr_match(sk, daddr))
		return 0;
	if (sk->sk_bound_dev_if) {
		if (sk->sk_bound_dev_if != ifindex)
			return 0;
		score += 4;
	}
	own = sdp_rcv_saddr(sk);
	if (!sdp_addr_any(&own))
		score += 2;
	if (sdp_is_v6(sk) == !ipv6_addr_v4mapped(daddr))
		score++;
	return score;
}

/**
 * sdp_find_listener() - who takes a connection request?
 * @net:	namespace it arrived in
 * @ifindex:	interface it arrived on
 * @num:	port
 * @daddr:	address asked for, v4-mapped for IPv4
 *
 * Among equals (SO_REUSEPORT) one is taken at random.
 * Context: process.
 * Return: the listener with a reference, or NULL.
 */
struct sock *sdp_find_listener(struct net *net, int ifindex, u16 num, const struct in6_addr *daddr)
{
	struct sock *best = NULL;
	struct sdp_sock *sdp;
	int best_score = 0, ties = 0;

	spin_lock_bh(&sdp_port_lock);
	hlist_for_each_entry(sdp, sdp_port_head(sdp_listeners, num), listen_node) {
		struct sock *sk = (struct sock *)sdp;
		int score = sdp_listen_score(sk, net, ifindex, num, daddr);

		if (!score || score < best_score)
			continue;
		ties = score == best_score ? ties + 1 : 1;
		best_score = score;
		if (ties == 1 || !get_random_u32_below(ties))
			best = sk;
	}
	if (best)
		sock_hold(best);
	spin_unlock_bh(&sdp_port_lock);
	return best;
}
