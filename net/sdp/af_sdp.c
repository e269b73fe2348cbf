// SPDX-License-Identifier: GPL-2.0
/*
 * The address families and the life of a socket: create, accept, poll,
 * shutdown, release. Addresses and connect() are connect.c, moving data send.c
 * and recv.c, ending a stream close.c, listeners and their children listen.c,
 * the port table port.c; what becomes of a socket that TCP takes over,
 * companion.c and fallback.c.
 *
 * There are two ways in: families 27 and 28, and protocol 257 with AF_INET and
 * AF_INET6. Both end in the same struct sdp_sock and the same proto_ops but
 * for the family they report.
 *
 * States are TCP's.
 */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <net/inet_common.h>
#include <net/protocol.h>
#include <net/transp_v6.h>
#include <asm/ioctls.h>
#include <linux/sockios.h>

#include "cm.h"
#include "companion.h"
#include "dest.h"
#include "fallback.h"
#include "read.h"
#include "region.h"
#include "sdp.h"
#include "src.h"
#include "trace.h"

struct workqueue_struct *sdp_wq;
unsigned int sdp_net_id;

static atomic_long_t sdp_memory_allocated;
static DEFINE_PER_CPU(int, sdp_memory_per_cpu_fw_alloc);
static struct percpu_counter sdp_sockets_allocated;
static unsigned long sdp_memory_pressure;

static const struct proto_ops sdp_ops_inet, sdp_ops_inet6, sdp_ops_sdp, sdp_ops_sdp6;

/**
 * sdp_set_state() - change a socket's state
 * @sk:		socket
 * @state:	TCP_*
 *
 * Context: any, sdp->lock held, or nobody else knows the socket.
 */
void sdp_set_state(struct sock *sk, int state)
{
	trace_sdp_state(sk, sk->sk_state, state);
	/* Pairs with sdp_poll(): who sees the state sees what led to it */
	smp_store_release(&sk->sk_state, state);
}

/**
 * sdp_mem_charge() - account memory to a socket
 * @sk:		socket
 * @size:	bytes
 * @kind:	SK_MEM_SEND or SK_MEM_RECV
 *
 * Context: any, sdp->lock held.
 * Return: false when limits forbid it.
 */
bool sdp_mem_charge(struct sock *sk, int size, int kind)
{
	int lacking = size - sk->sk_forward_alloc;

	if (lacking > 0 && !__sk_mem_schedule(sk, lacking, kind))
		return false;
	sk_mem_charge(sk, size);
	return true;
}

/**
 * sdp_wait() - sleep until something is so
 * @sk:		socket whose wait queue tells of changes
 * @timeo:	jiffies at most
 * @ready:	the condition, evaluated without locks held
 * @arg:	passed to @ready
 *
 * Context: process.
 * Return: jiffies left (0 or more) when @ready, else
 * -EAGAIN after the time, or the errno for a signal.
 */
long sdp_wait(struct sock *sk, long timeo, bool (*ready)(struct sock *sk, unsigned long arg),
	      unsigned long arg)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	while (!ready(sk, arg)) {
		if (!timeo) {
			timeo = -EAGAIN;
			break;
		}
		if (signal_pending(current)) {
			timeo = sock_intr_errno(timeo);
			break;
		}
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return timeo;
}

static bool sdp_writeable(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	bool room;

	if (!sk_stream_is_writeable(sk))
		return false;
	if (likely(!READ_ONCE(sdp->opt.notsent_lowat)))
		return true;
	spin_lock_bh(&sdp->lock);
	room = sdp_notsent_room(sdp, true);
	spin_unlock_bh(&sdp->lock);
	return room;
}

/**
 * sdp_write_space() - wake senders if any wait and there is room for them
 * @sk:	socket
 *
 * Context: any, no lock held.
 */
void sdp_write_space(struct sock *sk)
{
	struct socket *sock = READ_ONCE(sk->sk_socket);
	struct socket_wq *wq;

	if (!sock || !test_bit(SOCK_NOSPACE, &sock->flags) || !sdp_writeable(sk))
		return;
	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (wq) {
		clear_bit(SOCK_NOSPACE, &sock->flags);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
		if (wq->fasync_list && !(sk->sk_shutdown & SEND_SHUTDOWN))
			sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

/**
 * sdp_sock_purge() - drop what has been received and not read
 * @sk:	socket
 *
 * Context: sdp->lock held, or nobody else has the socket.
 */
void sdp_sock_purge(struct sock *sk)
{
	struct sdp_buf *buf, *next;

	list_for_each_entry_safe(buf, next, &sdp_sk(sk)->rx_queue, list) {
		list_del(&buf->list);
		sdp_rx_free_buf(sk, buf);
	}
}

static void sdp_sock_destruct(struct sock *sk)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));

	spin_lock_bh(&sn->lock);
	rb_erase(&sdp_sk(sk)->net_node, &sn->socks);
	spin_unlock_bh(&sn->lock);
	if (sdp_sk(sk)->orphan)
		atomic_dec(&sn->orphans);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
	sdp_put_port(sk);
	sdp_sock_purge(sk);
	sk_sockets_allocated_dec(sk);
	if (sdp_is_v6(sk))
		inet6_sock_destruct(sk);
	else
		inet_sock_destruct(sk);
}

static u64 sdp_node_cookie(const struct rb_node *node)
{
	const struct sdp_sock *sdp = rb_entry(node, struct sdp_sock, net_node);

	return atomic64_read(&((const struct sock *)sdp)->sk_cookie);
}

static bool sdp_node_less(struct rb_node *a, const struct rb_node *b)
{
	return sdp_node_cookie(a) < sdp_node_cookie(b);
}

/* Into the namespace's tree, where others find it */
static void sdp_sock_list(struct sock *sk)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));
	u32 cookie[2];

	/* For its making; read it is in sk_cookie */
	sock_diag_save_cookie(sk, cookie);
	spin_lock_bh(&sn->lock);
	rb_add(&sdp_sk(sk)->net_node, &sn->socks, sdp_node_less);
	spin_unlock_bh(&sn->lock);
}

/**
 * sdp_sock_at() - the first socket of a namespace from a cookie on
 * @net:	namespace
 * @cookie:	the lowest it may have
 *
 * Cookies are unique and don't change: who goes from one to the next meets each
 * socket that stays exactly once, whatever comes and goes meanwhile.
 * Context: any, sn->lock held. That keeps the socket from being freed, though
 * its last reference may be gone.
 * Return: the socket or NULL.
 */
struct sock *sdp_sock_at(const struct net *net, u64 cookie)
{
	struct rb_node *node = sdp_pernet(net)->socks.rb_node, *found = NULL;

	while (node) {
		if (sdp_node_cookie(node) >= cookie) {
			found = node;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found ? (struct sock *)rb_entry(found, struct sdp_sock, net_node) : NULL;
}

/**
 * sdp_sock_setup() - initialise what is SDP's in a socket, new or cloned
 * @sk:	socket, not locked
 *
 * Context: process; nobody else knows the socket.
 */
void sdp_sock_setup(struct sock *sk)
{
	static struct lock_class_key slock_key, lock_key;
	struct sdp_sock *sdp = sdp_sk(sk);

	/* siw locks TCP sockets while we hold ours, which may be AF_INET's, too */
	sock_lock_init_class_and_name(sk, "slock-SDP", &slock_key, "sk_lock-SDP", &lock_key);
	spin_lock_init(&sdp->lock);
	mutex_init(&sdp->tx_mutex);
	mutex_init(&sdp->rx_mutex);
	sdp->conn = NULL;
	INIT_LIST_HEAD(&sdp->rx_queue);
	sdp->rx_bytes = 0;
	sdp->rx_truesize = 0;
	sdp->adv_bytes = 0;
	sdp->rx_wait = SDP_RX_NOBODY;
	sdp->eager = false;
	sdp->reader = NULL;
	sdp->zsenders = 0;
	sdp->zcopy_off = (struct sdp_backoff) { };
	sdp->no_hold = false;
	sdp->sink_off = (struct sdp_backoff) { };
	sdp->sink_hits = 0;
	INIT_HLIST_NODE(&sdp->bind_node);
	sdp->port = NULL;
	INIT_HLIST_NODE(&sdp->listen_node);
	sdp->parent = NULL;
	INIT_LIST_HEAD(&sdp->accept_node);
	sdp->accept_ready = false;
	INIT_LIST_HEAD(&sdp->pending);
	INIT_LIST_HEAD(&sdp->accept_q);
	timer_setup(&sdp->fin_timer, sdp_fin_timeout, 0);
	sdp->orphan = false;
	sdp_fallback_setup(sk);
	timer_setup(&sdp->cork_timer, sdp_cork_timeout, 0);
	timer_setup(&sdp->probe_timer, sdp_probe_timeout, 0);
	sdp->rx_busy = NULL;
	sdp_oob_forget(sdp);
	sdp->probes = 0;
	atomic_set(&sdp->reads_away, 0);
	sdp->deferred = false;
	sdp->rcv_done = false;
	memset(&sdp->counts, 0, sizeof(sdp->counts));
	sdp->opt.fastopen = 0;

	sk->sk_destruct = sdp_sock_destruct;
	sk->sk_write_space = sdp_write_space;

	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
	sdp_sock_list(sk);
}

/* What the core is to know of a struct socket of ours */
static void sdp_set_socket_flags(struct socket *sock)
{
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	sdp_own_sockopts(sock);
}

/* proto.init: the socket inet_create(), inet6_create() or ours has just made */
static int sdp_init_sock(struct sock *sk)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));

	sdp_sock_setup(sk);
	if (sk->sk_socket)
		sdp_set_socket_flags(sk->sk_socket);
	sdp_sk(sk)->zthresh = -1;
	sdp_sk(sk)->az_thresh = -1;
	sdp_sk(sk)->az_policy = -1;
	sdp_sk(sk)->az_recv = -1;
	sdp_sk(sk)->mode = READ_ONCE(sn->mode);
	sdp_sk(sk)->policy = -1;
	sk_sockets_allocated_inc(sk);
	WRITE_ONCE(sk->sk_sndbuf, READ_ONCE(sn->wmem_default));
	WRITE_ONCE(sk->sk_rcvbuf, READ_ONCE(sn->rmem_default));
	sk->sk_txrehash = READ_ONCE(sock_net(sk)->core.sysctl_txrehash);
	return 0;
}

static void sdp_enter_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(sdp_memory_pressure, 1);
}

static void sdp_leave_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(sdp_memory_pressure, 0);
}

/* The generic code calls these without looking whether they are there */
static int sdp_hash(struct sock *sk)
{
	return 0;
}

static void sdp_unhash(struct sock *sk)
{
}

#define SDP_PROTO_COMMON							\
	.owner			= THIS_MODULE,					\
	.init			= sdp_init_sock,				\
	.hash			= sdp_hash,					\
	.unhash			= sdp_unhash,					\
	.get_port		= sdp_bind_port,				\
	.put_port		= sdp_put_port,					\
	.setsockopt		= sdp_setsockopt,				\
	.getsockopt		= sdp_getsockopt,				\
	.diag_destroy		= sdp_destroy,					\
	.keepalive		= sdp_keepalive,				\
	.enter_memory_pressure	= sdp_enter_memory_pressure,			\
	.leave_memory_pressure	= sdp_leave_memory_pressure,			\
	.memory_pressure	= &sdp_memory_pressure,				\
	.memory_allocated	= &sdp_memory_allocated,			\
	.per_cpu_fw_alloc	= &sdp_memory_per_cpu_fw_alloc,			\
	.sockets_allocated	= &sdp_sockets_allocated,			\
	.sysctl_mem		= sdp_sysctl_mem,				\
	.sysctl_wmem		= sdp_sysctl_wmem,				\
	.sysctl_rmem		= sdp_sysctl_rmem

struct proto sdp_prot = {
	.name		= "SDP",
	SDP_PROTO_COMMON,
	.obj_size	= sizeof(struct sdp_sock),
};

static struct proto sdp6_prot = {
	.name		= "SDPv6",
	SDP_PROTO_COMMON,
	.obj_size	= sizeof(struct sdp6_sock),
	SDP_IPV6_PINFO_OFFSET(struct sdp6_sock, inet6)
};

/**
 * sdp_is_sdp() - is this struct sock ours?
 * @sk:	what a struct socket with operations of ours has
 *
 * Context: any.
 * Return: false for a TCP socket that has taken our place.
 */
bool sdp_is_sdp(const struct sock *sk)
{
	const struct proto *prot = READ_ONCE(sk->sk_prot);

	return prot == &sdp_prot || prot == &sdp6_prot;
}

/*
 * SDP can't listen there: a listener for both is one of TCP's then. iWARP is
 * such a case, whose connections come to a TCP port of the same number.
 */
static int sdp_listen_tcp(struct sock *sk, int backlog)
{
	int err = kernel_listen(sdp_sk(sk)->tcp, backlog);

	if (!err)
		sdp_fallback_take_over(sk, SDP_FALLBACK_LOCAL);
	return err;
}

static int sdp_listen_begin(struct sock *sk, int backlog)
{
	int err;

	sdp_wait_conn_gone(sk);
	if (sdp_policy(sk) == SDP_POLICY_SDP)
		return sdp_autobind(sk, sdp_get_port) ? -EADDRINUSE : sdp_listen_start(sk);
	err = sdp_companion_make(sk);
	if (err)
		return err;
	if (sdp_autobind(sk, sdp_bind_port))
		return -EADDRINUSE;
	err = sdp_companion_bind(sk);
	if (err)
		return err;
	if (sdp_listen_start(sk))
		return sdp_listen_tcp(sk, backlog);
	err = sdp_companion_listen(sk, backlog);
	if (!err)
		return 0;
	sdp_listen_stop(sk);
	/* SO_REUSEADDR has let iWARP have the port that TCP wants: the other way round, then */
	return err == -EADDRINUSE ? sdp_listen_tcp(sk, backlog) : err;
}

static int sdp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sdp_lock(sock);
	int err = -EINVAL;
	bool turned;

	if (!sk)
		return sdp_tcp_ops(sock->sk)->listen(sock, backlog);
	err = sdp_turn_by_policy(sock, sk, &turned);
	if (turned)
		return err ?: sdp_tcp_ops(sock->sk)->listen(sock, backlog);
	err = -EINVAL;
	if (sock->state == SS_UNCONNECTED && sdp_state_is(sk, TCPF_CLOSE | TCPF_LISTEN)) {
		WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
		err = 0;
		if (sk->sk_state != TCP_LISTEN)
			err = sdp_listen_begin(sk, backlog);
		else if (sdp_sk(sk)->tcp)
			err = sdp_companion_listen(sk, backlog);
	}
	release_sock(sk);
	return err;
}

static bool sdp_accept_ready(struct sock *sk, unsigned long unused)
{
	return !list_empty_careful(&sdp_sk(sk)->accept_q) || sdp_companion_pending(sk) ||
	       READ_ONCE(sk->sk_state) != TCP_LISTEN;
}

/* Takes the next connection, SDP's and TCP's in turn while there are both; 0 or -errno */
static int sdp_accept_any(struct sock *sk, struct socket *newsock, int flags, bool kern)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sock *child;
	int err;

	if (sdp_companion_pending(sk) &&
	    (READ_ONCE(sdp->tcp_turn) || list_empty_careful(&sdp->accept_q))) {
		WRITE_ONCE(sdp->tcp_turn, false);
		err = sdp_companion_accept(sk, newsock, flags, kern);
		if (err != -EAGAIN)
			return err;
	}
	child = sdp_accept_next(sk, &err);
	if (!child)
		return err;
	WRITE_ONCE(sdp->tcp_turn, true);
	sock_graft(child, newsock);
	sdp_set_socket_flags(newsock);
	newsock->state = SS_CONNECTED;
	return 0;
}

static int sdp_accept(struct socket *sock, struct socket *newsock, SDP_ACCEPT_ARGS)
{
	struct sock *sk = READ_ONCE(sock->sk);
	long timeo;
	int err;

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->accept(sock, newsock, SDP_ACCEPT_PASS);
	/* Where options change behind our back, TCP's next connections are to have them */
	if (!SDP_SOCKOPTS_OURS && READ_ONCE(sdp_sk(sk)->tcp)) {
		lock_sock(sk);
		sdp_companion_sync(sk);
		release_sock(sk);
	}
	timeo = sock_rcvtimeo(sk, SDP_ACCEPT_FLAGS & O_NONBLOCK);
	for (;;) {
		err = sdp_accept_any(sk, newsock, SDP_ACCEPT_FLAGS, SDP_ACCEPT_KERN);
		if (err != -EAGAIN)
			return err;
		timeo = sdp_wait(sk, timeo, sdp_accept_ready, 0);
		if (timeo < 0)
			return timeo;
	}
}

static __poll_t sdp_poll_listen(struct sock *sk)
{
	if (list_empty_careful(&sdp_sk(sk)->accept_q) && !sdp_companion_pending(sk))
		return 0;
	return EPOLLIN | EPOLLRDNORM;
}

static __poll_t sdp_poll_out(struct sock *sk)
{
	if (sk->sk_shutdown & SEND_SHUTDOWN)
		return EPOLLOUT | EPOLLWRNORM;
	if (sdp_writeable(sk))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Room may have come between the look and the mark */
	smp_mb__after_atomic();
	return sdp_writeable(sk) ? EPOLLOUT | EPOLLWRNORM : 0;
}

/* The masks are tcp_poll()'s */
static __poll_t sdp_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sock *sk;
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	/* Whoever changes sock->sk wakes the queue afterwards */
	sock_poll_wait(file, sock, wait);
	sk = READ_ONCE(sock->sk);
	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->poll(file, sock, NULL);
	/* Pairs with sdp_set_state() */
	state = smp_load_acquire(&sk->sk_state);
	if (state == TCP_LISTEN)
		return sdp_poll_listen(sk);

	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != TCP_SYN_SENT && state != TCP_SYN_RECV) {
		if ((file->f_flags & O_NONBLOCK) && READ_ONCE(sdp_sk(sk)->adv_bytes))
			sdp_read_poll(sk);
		if (sdp_rx_readable(sk))
			mask |= EPOLLIN | EPOLLRDNORM;
		mask |= sdp_poll_out(sk);
	}
	if (READ_ONCE(sdp_sk(sk)->urg_state) == SDP_URG_THERE)
		mask |= EPOLLPRI;
	/* Pairs with the order in which an error is stored and told */
	smp_rmb();
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

static int sdp_shutdown_stream(struct sock *sk, int how)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int err;

	spin_lock_bh(&sdp->lock);
	err = sk->sk_state == TCP_CLOSE ? -ENOTCONN : 0;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	if (how & SEND_SHUTDOWN)
		sdp_send_fin(sk);
	spin_unlock_bh(&sdp->lock);
	return err;
}

static int sdp_shutdown(struct socket *sock, int how)
{
	struct sock *sk;
	int err = 0;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	sk = sdp_lock(sock);
	if (!sk)
		return sdp_tcp_ops(sock->sk)->shutdown(sock, how);
	how++;		/* SHUT_* to RCV_SHUTDOWN, SEND_SHUTDOWN */

	switch (sk->sk_state) {
	case TCP_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			break;
		fallthrough;
	case TCP_SYN_SENT:
		err = sdp_disconnect(sock);
		break;
	default:
		err = sdp_shutdown_stream(sk, how);
		sk->sk_state_change(sk);
	}
	release_sock(sk);
	return err;
}

static int sdp_outq(struct sock *sk, bool unsent_only)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int bytes = 0;

	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		bytes = sdp->conn->tx.unsent +
			(unsent_only ? 0 : sdp->conn->tx.unacked + sdp->conn->tx.advertised);
	spin_unlock_bh(&sdp->lock);
	return bytes;
}

/* What can be read, whether it is here already or still with the peer */
static int sdp_inq(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int bytes;

	spin_lock_bh(&sdp->lock);
	bytes = sdp_oob_inq(sk);
	spin_unlock_bh(&sdp->lock);
	return bytes;
}

static int sdp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = READ_ONCE(sock->sk);
	int __user *to = (int __user *)arg;
	bool listening = READ_ONCE(sk->sk_state) == TCP_LISTEN;

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->ioctl(sock, cmd, arg);
	switch (cmd) {
	case SIOCINQ:
		return listening ? -EINVAL : put_user(sdp_inq(sk), to);
	case SIOCOUTQ:
		return listening ? -EINVAL : put_user(sdp_outq(sk, false), to);
	case SIOCOUTQNSD:
		return listening ? -EINVAL : put_user(sdp_outq(sk, true), to);
	case SIOCATMARK:
		return put_user(READ_ONCE(sdp_sk(sk)->urg_mark), to);
	default:
		return sdp_is_v6(sk) ? inet6_ioctl(sock, cmd, arg) : inet_ioctl(sock, cmd, arg);
	}
}

static int sdp_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->mmap(file, sock, vma);
	return sdp_region_mmap(sock_net(sk), vma);
}

static int sdp_release(struct socket *sock)
{
	struct sock *sk;

	if (!sock->sk)
		return 0;
	sdp_read_settled(sock->sk);
	sk = sdp_lock(sock);
	if (!sk)
		return sdp_tcp_ops(sock->sk)->release(sock);
	if (!sk->sk_kern_sock)
		BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
	if (sk->sk_state == TCP_LISTEN) {
		sdp_listen_stop(sk);
		sock_orphan(sk);
	} else {
		sdp_close(sk);
	}
	sdp_fallback_release(sk);
	release_sock(sk);
	sock->sk = NULL;
	sock_put(sk);		/* a connection on its way down keeps it */
	return 0;
}

#define SDP_OPS_COMMON				\
	.owner		= THIS_MODULE,		\
	.release	= sdp_release,		\
	.bind		= sdp_bind,		\
	.connect	= sdp_connect,		\
	.socketpair	= sock_no_socketpair,	\
	.accept		= sdp_accept,		\
	.getname	= sdp_getname,		\
	.poll		= sdp_poll,		\
	.ioctl		= sdp_ioctl,		\
	.gettstamp	= sock_gettstamp,	\
	.show_fdinfo	= sdp_show_fdinfo,	\
	.listen		= sdp_listen,		\
	.shutdown	= sdp_shutdown,		\
	.setsockopt	= sdp_sock_setsockopt, \
	.getsockopt	= sdp_sock_getsockopt, \
	.sendmsg	= sdp_sendmsg,		\
	.recvmsg	= sdp_recvmsg,		\
	.mmap		= sdp_mmap,		\
	.set_peek_off	= sk_set_peek_off,	\
	.set_rcvlowat	= sdp_set_rcvlowat,	\
	SDP_SENDPAGE_OPS

static const struct proto_ops sdp_ops_inet = {
	.family = PF_INET,
	SDP_OPS_COMMON
};

static const struct proto_ops sdp_ops_inet6 = {
	.family = PF_INET6,
	SDP_OPS_COMMON
};

static const struct proto_ops sdp_ops_sdp = {
	.family = PF_INET_SDP,
	SDP_OPS_COMMON
};

static const struct proto_ops sdp_ops_sdp6 = {
	.family = PF_INET6_SDP,
	SDP_OPS_COMMON
};

static void sdp_init_inet(struct sock *sk)
{
	struct inet_sock *inet = inet_sk(sk);

	inet->uc_ttl = -1;
	inet->mc_ttl = 1;
	sdp_init_mc(sk);
	inet->pmtudisc = IP_PMTUDISC_WANT;
	if (sdp_is_v6(sk)) {
		struct ipv6_pinfo *np = &((struct sdp6_sock *)sk)->inet6;

		inet->pinet6 = np;
		np->hop_limit = -1;
		np->mcast_hops = IPV6_DEFAULT_MCASTHOPS;
		sdp_init_mc6(sk);
		np->pmtudisc = IPV6_PMTUDISC_WANT;
		sk->sk_ipv6only = READ_ONCE(sock_net(sk)->ipv6.sysctl.bindv6only);
	}
}

/* socket(AF_INET_SDP or AF_INET6_SDP, SOCK_STREAM, 0 or IPPROTO_TCP): as inet_create() does */
static int sdp_create_family(struct net *net, struct socket *sock, int protocol, int kern,
			     int family)
{
	bool v6 = family == PF_INET6_SDP;
	struct sock *sk;
	int err;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol && protocol != IPPROTO_TCP)
		return -EPROTONOSUPPORT;

	sk = sk_alloc(net, family, GFP_KERNEL, v6 ? &sdp6_prot : &sdp_prot, kern);
	if (!sk)
		return -ENOBUFS;
	sock->state = SS_UNCONNECTED;
	sock->ops = v6 ? &sdp_ops_sdp6 : &sdp_ops_sdp;
	sock_init_data(sock, sk);
	/* Not IPPROTO_TCP: generic code would take it for a struct tcp_sock */
	sk->sk_protocol = 0;
	sdp_init_inet(sk);
	err = sdp_init_sock(sk);
	if (!err && !kern)
		err = BPF_CGROUP_RUN_PROG_INET_SOCK(sk);
	if (err) {
		sk_common_release(sk);
		sock->sk = NULL;
	}
	return err;
}

static int sdp_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	return sdp_create_family(net, sock, protocol, kern, PF_INET_SDP);
}

static int sdp_create6(struct net *net, struct socket *sock, int protocol, int kern)
{
	return sdp_create_family(net, sock, protocol, kern, PF_INET6_SDP);
}

static const struct net_proto_family sdp_family = {
	.family	= PF_INET_SDP,
	.create	= sdp_create,
	.owner	= THIS_MODULE,
};

static const struct net_proto_family sdp_family6 = {
	.family	= PF_INET6_SDP,
	.create	= sdp_create6,
	.owner	= THIS_MODULE,
};

static struct inet_protosw sdp_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SDP,
	.prot		= &sdp_prot,
	.ops		= &sdp_ops_inet,
};

static struct inet_protosw sdp_protosw6 = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SDP,
	.prot		= &sdp6_prot,
	.ops		= &sdp_ops_inet6,
};

static int __net_init sdp_net_init(struct net *net)
{
	struct sdp_net *sn = sdp_pernet(net);
	int err;

	spin_lock_init(&sn->lock);
	sn->socks = RB_ROOT;
	sn->mib = alloc_percpu(struct sdp_mib);
	if (!sn->mib)
		return -ENOMEM;
	err = sdp_dest_net_init(net);
	if (err)
		goto free_mib;
	/* These let users in: last */
	err = sdp_sysctl_net_init(net);
	if (err)
		goto dest;
	err = sdp_proc_net_init(net);
	if (err)
		goto sysctl;
	return 0;

sysctl:
	sdp_sysctl_net_exit(net);
dest:
	sdp_dest_net_exit(net);
free_mib:
	free_percpu(sn->mib);
	return err;
}

static void __net_exit sdp_net_exit(struct net *net)
{
	sdp_proc_net_exit(net);
	sdp_sysctl_net_exit(net);
	sdp_dest_net_exit(net);
	free_percpu(sdp_pernet(net)->mib);
}

static struct pernet_operations sdp_net_ops = {
	.init	= sdp_net_init,
	.exit	= sdp_net_exit,
	.id	= &sdp_net_id,
	.size	= sizeof(struct sdp_net),
};

static int __init sdp_register_families(void)
{
	int err;

	err = sock_register(&sdp_family);
	if (err)
		return err;
	err = sock_register(&sdp_family6);
	if (err)
		goto unregister;
	inet_register_protosw(&sdp_protosw);
	err = inet6_register_protosw(&sdp_protosw6);
	if (err)
		goto unregister6;
	return 0;

unregister6:
	inet_unregister_protosw(&sdp_protosw);
	sock_unregister(PF_INET6_SDP);
unregister:
	sock_unregister(PF_INET_SDP);
	return err;
}

static void sdp_unregister_families(void)
{
	inet6_unregister_protosw(&sdp_protosw6);
	inet_unregister_protosw(&sdp_protosw);
	sock_unregister(PF_INET6_SDP);
	sock_unregister(PF_INET_SDP);
}

static int __init sdp_init(void)
{
	int err;

	sdp_sysctl_mem_init();
	err = percpu_counter_init(&sdp_sockets_allocated, 0, GFP_KERNEL);
	if (err)
		return err;
	sdp_wq = alloc_workqueue("sdp", WQ_UNBOUND, 0);
	err = -ENOMEM;
	if (!sdp_wq)
		goto counter;
	err = register_pernet_subsys(&sdp_net_ops);
	if (err)
		goto wq;
	err = proto_register(&sdp_prot, 1);
	if (err)
		goto pernet;
	err = proto_register(&sdp6_prot, 1);
	if (err)
		goto prot;
	err = sdp_fallback_init();
	if (err)
		goto prot6;
	err = sdp_src_init();
	if (err)
		goto fallback;
	err = sdp_device_init();
	if (err)
		goto src;
	err = sdp_cm_init();
	if (err)
		goto device;
	err = sdp_register_families();
	if (err)
		goto cm;
	err = sdp_diag_init();
	if (err)
		goto families;
	return 0;

families:
	sdp_unregister_families();
cm:
	sdp_cm_exit();
device:
	sdp_device_exit();
src:
	sdp_src_exit();
fallback:
	sdp_fallback_exit();
prot6:
	proto_unregister(&sdp6_prot);
prot:
	proto_unregister(&sdp_prot);
pernet:
	unregister_pernet_subsys(&sdp_net_ops);
wq:
	destroy_workqueue(sdp_wq);
counter:
	percpu_counter_destroy(&sdp_sockets_allocated);
	return err;
}

static void __exit sdp_exit(void)
{
	sdp_diag_exit();
	sdp_unregister_families();
	sdp_cm_exit();
	sdp_device_exit();
	sdp_src_exit();
	sdp_fallback_exit();
	destroy_workqueue(sdp_wq);
	proto_unregister(&sdp6_prot);
	proto_unregister(&sdp_prot);
	unregister_pernet_subsys(&sdp_net_ops);
	percpu_counter_destroy(&sdp_sockets_allocated);
}

module_init(sdp_init);
module_exit(sdp_exit);

MODULE_DESCRIPTION("Sockets Direct Protocol");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_INET_SDP);
MODULE_ALIAS_NETPROTO(PF_INET6_SDP);
/* IPPROTO_SDP and SOCK_STREAM, as text */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 257, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 257, 1);
