// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners and the connections they have not handed out yet, their children.
 *
 * A child is on its listener's @pending list during the handshake, then on
 * @accept_q; both are guarded by the listener's sdp->lock. Being on a list is
 * a reference to the child. Whoever takes a child off a list, under that
 * lock, owns the reference: accept() gives it to the new descriptor, a failed
 * handshake or the listener's end drop it. A child refers to its listener by
 * @parent, guarded by the child's own lock.
 */
#include <linux/memcontrol.h>
#include <net/ipv6.h>

#include "cm.h"
#include "companion.h"
#include "sdp.h"
#include "trace.h"

/* The listener of a socket not accepted yet, with a reference, or NULL */
static struct sock *sdp_parent_get(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sock *parent;

	spin_lock_bh(&sdp->lock);
	parent = sdp->parent;
	if (parent)
		sock_hold(parent);
	spin_unlock_bh(&sdp->lock);
	return parent;
}

/* It has no listener any more, whose connection this ends with @err, if that isn't 0 */
static void sdp_parent_forget(struct sock *sk, int err)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sock *parent;

	spin_lock_bh(&sdp->lock);
	/* If it is about to get one, sdp_child_conn() sees that nobody is going to accept it */
	if (err && sdp->conn)
		sdp_abort(sdp->conn, err);
	parent = sdp->parent;
	sdp->parent = NULL;
	spin_unlock_bh(&sdp->lock);
	if (parent)
		sock_put(parent);
}

static void sdp_set_closed(struct sock *sk)
{
	spin_lock_bh(&sdp_sk(sk)->lock);
	sdp_set_state(sk, TCP_CLOSE);
	spin_unlock_bh(&sdp_sk(sk)->lock);
}

/* Nobody will accept this one: drop the reference its list had, and end its connection by @err */
static void sdp_child_drop(struct sock *sk, int err)
{
	sdp_parent_forget(sk, err);
	sock_orphan(sk);
	sock_put(sk);
}

/* There is one more child, or one less; sdp->lock held */
static void sdp_acceptq_added(struct sock *sk)
{
	sk_acceptq_added(sk);
	sdp_companion_limit(sk);
}

static void sdp_acceptq_removed(struct sock *sk)
{
	sk_acceptq_removed(sk);
	sdp_companion_limit(sk);
}

/**
 * sdp_acceptq_is_full() - has a listener as many connections to accept as it may?
 * @sk:	listener
 *
 * Those of TCP count where it takes them as well.
 * Context: any.
 * Return: true if so.
 */
bool sdp_acceptq_is_full(const struct sock *sk)
{
	return READ_ONCE(sk->sk_ack_backlog) + sdp_companion_backlog(sk) >
	       READ_ONCE(sk->sk_max_ack_backlog);
}

/* Takes the first child off a list, NULL if there is none */
static struct sock *sdp_child_first(struct sock *sk, struct list_head *list)
{
	struct sdp_sock *sdp = sdp_sk(sk), *child;

	spin_lock_bh(&sdp->lock);
	child = list_first_entry_or_null(list, struct sdp_sock, accept_node);
	if (child) {
		list_del_init(&child->accept_node);
		sdp_acceptq_removed(sk);
	}
	spin_unlock_bh(&sdp->lock);
	return (struct sock *)child;
}

static void sdp_children_abort(struct sock *sk, struct list_head *list)
{
	struct sock *child;

	while ((child = sdp_child_first(sk, list)))
		sdp_child_drop(child, ECONNRESET);
}

/* From here on nothing is added to the lists, nor moved between them */
static void sdp_listen_end(struct sock *sk)
{
	sdp_set_closed(sk);
	sdp_children_abort(sk, &sdp_sk(sk)->pending);
	sdp_children_abort(sk, &sdp_sk(sk)->accept_q);
}

/**
 * sdp_listen_start() - make a bound socket a listener
 * @sk:	socket in TCP_CLOSE
 *
 * Context: process, lock_sock.
 * Return: 0 or -errno.
 */
int sdp_listen_start(struct sock *sk)
{
	int err = sdp_listen_hash(sk);

	if (err)
		return err;
	err = sdp_cm_listen(sock_net(sk), inet_sk(sk)->inet_num);
	if (err) {
		/* One of the devices may have had a request before another refused to listen */
		sdp_listen_unhash(sk);
		sdp_listen_end(sk);
		sk->sk_state_change(sk);
	}
	return err;
}

/**
 * sdp_listen_stop() - no more connections, SDP's nor TCP's; those not accepted are reset
 * @sk:	listener
 *
 * Context: process, lock_sock.
 */
void sdp_listen_stop(struct sock *sk)
{
	sdp_listen_unhash(sk);
	sdp_cm_unlisten(sock_net(sk), inet_sk(sk)->inet_num);
	sdp_listen_end(sk);
	sdp_companion_unlisten(sk);
	sk->sk_state_change(sk);
}

/**
 * sdp_accept_next() - take the first connection that is ready
 * @sk:		listener
 * @err:	-EAGAIN if there is none yet, -EINVAL if @sk doesn't listen
 *
 * Context: process.
 * Return: the connection, with the list's reference, or NULL.
 */
struct sock *sdp_accept_next(struct sock *sk, int *err)
{
	struct sock *child = NULL;

	*err = -EINVAL;
	if (READ_ONCE(sk->sk_state) != TCP_LISTEN)
		return NULL;
	*err = -EAGAIN;
	child = sdp_child_first(sk, &sdp_sk(sk)->accept_q);
	if (child)
		sdp_parent_forget(child, 0);
	return child;
}

/*
 * A clone's IPv6 part is its own. Lists and options the inet code would hang
 * on a socket need no care: sockopt.c lets none of those be set.
 */
static void sdp_child_init_inet(struct sock *sk)
{
	if (sdp_is_v6(sk))
		inet_sk(sk)->pinet6 = &((struct sdp6_sock *)sk)->inet6;
}

/*
 * The core leaves it to accept() to say who pays for a clone's memory, and only
 * its own protocols can do that. The receive buffers are there before, so it is
 * the listener's cgroup; nothing has been charged yet.
 */
static void sdp_child_set_memcg(struct sock *sk, const struct sock *parent)
{
#ifdef CONFIG_MEMCG
	if (!sk->sk_memcg && parent->sk_memcg) {
		css_get(&parent->sk_memcg->css);
		sk->sk_memcg = parent->sk_memcg;
	}
#endif
}

/**
 * sdp_child_create() - a socket for a connection request
 * @parent:	listener it takes options from
 *
 * Context: process.
 * Return: a socket in TCP_SYN_RECV on the listener's port,
 * with one reference for the caller and one for the list it goes on; or NULL.
 */
struct sock *sdp_child_create(struct sock *parent)
{
	struct sock *sk;

	/* The clone comes locked, and that lock is one softirqs take */
	local_bh_disable();
	sk = sk_clone_lock(parent, GFP_ATOMIC);
	if (sk) {
		__acquire(&sk->sk_lock.slock);
		bh_unlock_sock(sk);
	}
	local_bh_enable();
	if (!sk)
		return NULL;

	sdp_child_set_memcg(sk, parent);
	sdp_child_init_inet(sk);
	/* Neither the listener any more nor a listener, before anybody sees it */
	atomic64_set(&sk->sk_cookie, 0);
	sdp_set_state(sk, TCP_SYN_RECV);
	sdp_sock_setup(sk);
	if (sdp_inherit_port(parent, sk)) {
		sdp_child_discard(sk);
		sock_put(sk);
		return NULL;
	}
	inet_sk(sk)->inet_sport = htons(inet_sk(sk)->inet_num);
	return sk;
}

/**
 * sdp_child_enqueue() - put a child on its listener's list of handshakes
 * @parent:	listener
 * @sk:		child
 *
 * Context: process.
 * Return: false when the queue is full or the listener gone.
 */
bool sdp_child_enqueue(struct sock *parent, struct sock *sk)
{
	struct sdp_sock *psdp = sdp_sk(parent);
	bool ok;

	sock_hold(parent);
	sdp_sk(sk)->parent = parent;
	spin_lock_bh(&psdp->lock);
	ok = parent->sk_state == TCP_LISTEN && !sdp_acceptq_is_full(parent);
	if (ok) {
		list_add_tail(&sdp_sk(sk)->accept_node, &psdp->pending);
		sdp_acceptq_added(parent);
	}
	spin_unlock_bh(&psdp->lock);
	return ok;
}

/**
 * sdp_child_ready() - a child's handshake is over: accept() may have it
 * @sk:	child
 *
 * Context: process, no lock held.
 */
void sdp_child_ready(struct sock *sk)
{
	struct sock *parent = sdp_parent_get(sk);
	struct sdp_sock *psdp;
	bool ready;

	if (!parent)
		return;
	psdp = sdp_sk(parent);
	spin_lock_bh(&psdp->lock);
	ready = parent->sk_state == TCP_LISTEN && !list_empty(&sdp_sk(sk)->accept_node);
	if (ready) {
		sdp_sk(sk)->accept_ready = true;
		list_move_tail(&sdp_sk(sk)->accept_node, &psdp->accept_q);
	}
	spin_unlock_bh(&psdp->lock);
	if (ready)
		parent->sk_data_ready(parent);
	sock_put(parent);
}

/**
 * sdp_child_defer() - TCP_DEFER_ACCEPT: is a child to wait for data?
 * @sk:	child whose handshake is over
 *
 * As with TCP that ends after a while, and then it is accepted without.
 * Context: process, no lock held.
 * Return: true if so; sdp_child_undefer() follows.
 */
bool sdp_child_defer(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	bool defer;

	spin_lock_bh(&sdp->lock);
	defer = sdp->opt.defer && !sdp_rx_unread(sk) && sdp->conn && !sdp->conn->rx.fin;
	sdp->deferred = defer;
	if (defer)
		sk_reset_timer(sk, &sdp->probe_timer, jiffies + sdp->opt.defer * HZ);
	sdp->opt.defer = 0;	/* the listener's, not inherited */
	spin_unlock_bh(&sdp->lock);
	return defer;
}

/**
 * sdp_child_undefer() - there is something to accept it for
 * @sk:	child
 *
 * Context: any, no lock held.
 */
void sdp_child_undefer(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	bool was;

	spin_lock_bh(&sdp->lock);
	was = sdp->deferred;
	sdp->deferred = false;
	if (was && sdp->conn)
		sdp_probe_arm(sdp->conn);
	spin_unlock_bh(&sdp->lock);
	if (was)
		sdp_child_ready(sk);
}

/**
 * sdp_child_unlink() - a child's connection has ended
 * @sk:	child, or any other socket
 *
 * If the handshake was not over, that is the end of the child. Otherwise it
 * stays for accept() to return, as TCP has it.
 * Context: process, no lock held.
 */
void sdp_child_unlink(struct sock *sk)
{
	struct sock *parent = sdp_parent_get(sk);
	struct sdp_sock *sdp = sdp_sk(sk);
	bool dropped;

	if (!parent)
		return;
	spin_lock_bh(&sdp_sk(parent)->lock);
	dropped = !sdp->accept_ready && !list_empty(&sdp->accept_node);
	if (dropped) {
		list_del_init(&sdp->accept_node);
		sdp_acceptq_removed(parent);
	}
	spin_unlock_bh(&sdp_sk(parent)->lock);
	sock_put(parent);
	if (dropped) {
		sdp_set_closed(sk);
		sdp_put_port(sk);
		sdp_child_drop(sk, 0);
	}
}

/**
 * sdp_child_discard() - drop a child that has come on no list
 * @sk:	child
 *
 * Context: process. The caller's own reference stays.
 */
void sdp_child_discard(struct sock *sk)
{
	sdp_set_closed(sk);
	sdp_put_port(sk);
	sdp_child_drop(sk, 0);
}
