/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets Direct Protocol: what the files of the module share.
 *
 * A socket (struct sdp_sock) owns the byte stream: data received and not yet
 * read, options, the accept queue of a listener. A connection (struct
 * sdp_conn) owns what the wire needs: queue pair, rings, sequence numbers,
 * credits. A socket has at most one connection; a connection belongs to one
 * socket and keeps it alive.
 *
 * Locks
 * -----
 *
 *   lock_sock(sk)	configuration: bind, listen, connect, options, close.
 *			Never taken by a completion, nor while data moves.
 *   sdp->tx_mutex	one sender at a time puts bytes into the stream.
 *   sdp->rx_mutex	one receiver at a time takes bytes out of it.
 *   sdp->lock		all protocol state: sk_state, queues, credits, rings,
 *			the accept queue, sk_forward_alloc. A spinlock that
 *			completions (softirq) take too, so nothing sleeps or
 *			copies user data under it.
 *   dev->lock		a device's connections, its buffer cache, its PDs.
 *   sdp_port_lock	the port table (port.c).
 *   sdp_cm_mutex	devices and the ports listened on at each (cm.c).
 *   sn->lock		a namespace's list of sockets.
 *
 * Nesting, outermost first:
 *
 *	lock_sock > sdp_cm_mutex
 *	lock_sock > rx_mutex > sdp->lock > dev->lock or sdp_port_lock
 *	tx_mutex > mmap lock; tx_mutex > sdp->lock
 *	sn->lock > sdp->lock
 *
 * The mutexes are held over a copy and dropped to wait, so nobody but another
 * sender (or receiver) of the same socket ever waits for one, and
 * connect(AF_UNSPEC). Two sdp->lock are never held at once.
 *
 * A byte's way out: sdp_sendmsg() (send.c) copies it into a buffer and queues
 * that; sdp_tx_push() (tx.c) posts it when credits and Nagle allow; its send
 * completion frees the buffer. In: sdp_rx_done() (rx.c) takes the completed
 * receive, queues the buffer on the socket and wakes the reader;
 * sdp_recvmsg() (recv.c) copies it out and posts the buffer again.
 */
#ifndef _SDP_H
#define _SDP_H

#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/sdp_proto.h>
#include <net/sock.h>
#include <net/transp_v6.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <uapi/linux/sdp.h>

#include "compat.h"
#include "stats.h"

/*
 * Slots of the rings, powers of two. Two of each stay empty: with the marker
 * that ib_drain_qp() posts, the queues are one less than a power of two long,
 * which is what providers round up from.
 */
#define SDP_TX_RING		32
#define SDP_RX_RING		32
#define SDP_TX_MAX		(SDP_TX_RING - 2)
#define SDP_RX_MAX		(SDP_RX_RING - 2)
#define SDP_RX_CREDITS_MIN	4	/* granted by an idle connection */
#define SDP_RX_SPARE		2	/* posted beyond what is granted, see rx.c */

#define SDP_BUF_ORDERS		4	/* buffers of 4 KiB to 32 KiB */
#define SDP_BUF_ORDER_MAX	(SDP_BUF_ORDERS - 1)
#define SDP_PAYLOAD_MAX		(PAGE_SIZE << SDP_BUF_ORDER_MAX)

/* A send slot's header area: BSDH, extended header, or a tiny message's payload */
#define SDP_TX_HDR_SIZE		128
#define SDP_TINY_MAX		(SDP_TX_HDR_SIZE - SDP_BSDH_SIZE)

struct sdp_conn;
struct sdp_dev;

/**
 * struct sdp_buf - memory that carries payload
 * @list:	on a transmit or receive queue, or in the device's cache
 * @page:	compound page of @order
 * @dma:	its address for @dev, mapped in both directions for as long as @dev is set
 * @dev:	the device it is mapped for; NULL once that is gone
 * @off:	receive: first byte not read yet
 * @len:	bytes of payload
 * @order:	size of @page
 * @more:	transmit: more is to come, hold it back while not full (MSG_MORE)
 */
struct sdp_buf {
	struct list_head	list;
	struct page		*page;
	u64			dma;
	struct sdp_dev		*dev;
	u32			off;
	u32			len;
	u8			order;
	bool			more;
};

static inline u32 sdp_buf_size(const struct sdp_buf *buf)
{
	return PAGE_SIZE << buf->order;
}

/**
 * struct sdp_tx_slot - one send outstanding
 * @cqe:	completion handler
 * @buf:	payload beyond the header area, or NULL
 * @bytes:	bytes of the stream this message carries that count as unacknowledged
 * @mid:	what it is
 */
struct sdp_tx_slot {
	struct ib_cqe		cqe;
	struct sdp_buf		*buf;
	u32			bytes;
	u8			mid;
};

/* Control messages waiting to be sent, bits of sdp_tx.pending; order of bits is order of sending */
enum sdp_tx_pending {
	SDP_TX_ABORT,			/* nothing goes behind it */
	SDP_TX_SENDSM,
	SDP_TX_CH_RCV_BUF_ACK,
	SDP_TX_CH_RCV_BUF,
	SDP_TX_DISCONN,			/* goes behind all data */
};

/**
 * struct sdp_tx - the sending half of a connection; sdp->lock
 * @queue:	buffers with data not posted yet
 * @filling:	buffer a sender is copying into, on no list
 * @pending:	control messages to send, enum sdp_tx_pending
 * @sent:	MSeq of the last message posted
 * @una:	highest MSeqAck the peer has sent
 * @done:	MSeq of the last message whose send completed
 * @credits:	buffers the peer has for us
 * @size:	largest payload the peer's buffers take
 * @full:	messages in a row that were as large as they could be
 * @grow_tried:	ChRcvBuf has been sent, and not to be repeated
 * @sendsm:	MSeq of the last SendSm posted
 * @fin_sent:	DisConn posted; nothing may follow it but credits
 * @fin_done:	... and delivered
 * @unsent:	bytes of the stream in @queue
 * @unacked:	bytes posted, neither acknowledged by the peer nor completed
 * @slots:	SDP_TX_RING of them, indexed by MSeq
 * @hdrs:	their header areas
 * @hdrs_dma:	where the device finds those
 */
struct sdp_tx {
	struct list_head	queue;
	struct sdp_buf		*filling;
	unsigned long		pending;
	u32			sent;
	u32			una;
	u32			done;
	u32			credits;
	u32			size;
	u8			full;
	bool			grow_tried;
	u32			sendsm;
	bool			fin_sent;
	bool			fin_done;
	u32			unsent;
	u32			unacked;
	struct sdp_tx_slot	*slots;
	u8			*hdrs;
	u64			hdrs_dma;
};

/**
 * struct sdp_rx - the receiving half of a connection; sdp->lock
 * @mseq:	MSeq of the last message received
 * @granted:	buffers the peer knows of and has not used
 * @target:	buffers to grant when the reader keeps up
 * @streak:	data messages since @target changed
 * @last:	when the last one came, jiffies
 * @head:	receives posted so far
 * @tail:	receives completed so far
 * @order:	size of buffers posted from now on
 * @old_order:	size before the last change
 * @old_posted:	buffers of that size still posted
 * @mode:	flow control mode of what the peer sends, enum sdp_mode
 * @pure:	the last message brought nothing but credits
 * @advert:	the peer has a SrcAvail outstanding
 * @fin:	the peer's DisConn has come
 * @bufs:	SDP_RX_RING buffers posted, in order
 * @hdrs:	the BSDH of each
 * @hdrs_dma:	where the device finds those
 * @cqe:	completion handler; completions come in the order of posting
 */
struct sdp_rx {
	u32			mseq;
	u32			granted;
	u32			target;
	u32			streak;
	unsigned long		last;
	u32			head;
	u32			tail;
	u8			order;
	u8			old_order;
	u32			old_posted;
	u8			mode;
	bool			pure;
	bool			advert;
	bool			fin;
	struct sdp_buf		**bufs;
	struct sdp_bsdh		*hdrs;
	u64			hdrs_dma;
	struct ib_cqe		cqe;
};

/**
 * struct sdp_conn - a connection, from address resolution to the end of timewait
 * @sk:		its socket, a reference; NULL in timewait
 * @dev:	device, once known
 * @dev_list:	on @dev->conns
 * @pd:		protection domain of this user on @dev
 * @lkey:	key to all local memory in it
 * @qp:		queue pair
 * @cq:		shared completion queue, of which @cq_used entries are ours
 * @cq_used:	see @cq
 * @cm:		the transport's way of connection management
 * @cm_id:	ib_cm's handle
 * @rdma_id:	rdma_cm's handle, the route, until connected; whoever takes it by xchg()
 *		destroys it
 * @cm_work:	repeats a request the peer was too busy for; or, at the peer, tells the CM
 *		that a message has come before its last step
 * @retry_delay: jiffies until the next time
 * @started:	when connecting began, jiffies
 * @port_num:	device port
 * @rq_psn:	first PSN we expect
 * @tx:		sending half
 * @rx:		receiving half
 * @up:		messages may be posted; sdp->lock
 * @ending:	nothing may be posted any more; sdp->lock
 * @rtr:	the QP has left INIT, so it has to be drained
 * @cm_up:	the CM considers the connection established: it wants a DREQ
 * @aborted:	AbortConn is on its way; messages received are ignored; sdp->lock
 * @err:	what the socket is told at the end, positive errno; sdp->lock
 * @flags:	SDP_CONN_*
 * @end_work:	ends the connection, see conn.c
 * @peer_max_adverts: SrcAvails the peer takes at a time
 * @peer_caps:	SDP_CAP_* of the peer
 */
struct sdp_conn {
	struct sock		*sk;
	struct sdp_dev		*dev;
	struct list_head	dev_list;
	struct sdp_pd		*pd;
	u32			lkey;
	struct ib_qp		*qp;
	struct ib_cq		*cq;
	u32			cq_used;
	const struct sdp_cm_ops	*cm;
	struct ib_cm_id		*cm_id;
	struct rdma_cm_id	*rdma_id;
	struct delayed_work	cm_work;
	unsigned long		retry_delay;
	unsigned long		started;
	u32			port_num;
	u32			rq_psn;
	struct sdp_tx		tx;
	struct sdp_rx		rx;
	bool			up;
	bool			ending;
	bool			aborted;
	bool			rtr;
	bool			cm_up;
	int			err;
	unsigned long		flags;
	struct delayed_work	end_work;
	u16			peer_max_adverts;
	u8			peer_caps;
};

enum {
	SDP_CONN_DREQ_RCVD,	/* the peer has ended the connection */
	SDP_CONN_DEV_GONE,	/* the device is being removed */
	SDP_CONN_TW_OVER,	/* timewait has passed */
};

/**
 * struct sdp_sock - an SDP socket
 * @inet:	must be first
 * @lock:	see the top of this file
 * @tx_mutex:	one sender at a time
 * @rx_mutex:	one receiver at a time
 * @conn:	its connection or NULL; @lock
 * @rx_queue:	data received and not read; @lock
 * @rx_bytes:	bytes in @rx_queue; written under @lock, read anywhere
 * @rx_truesize: memory those take
 * @bind_node:	on the port's owner list; port table lock
 * @port:	port bound to, or NULL; port table lock
 * @listen_node: in the table of listeners; port table lock
 * @parent:	listener of a socket not accepted yet, a reference; @lock
 * @accept_node: on @parent's @pending or @accept_q
 * @accept_ready: it is on @accept_q; @parent's lock
 * @pending:	listener: handshakes under way
 * @accept_q:	listener: connections to accept
 * @net_node:	on the namespace's list of sockets
 * @fin_timer:	ends an orphan whose peer does nothing
 * @fin_seen:	how far sending had got when it last looked
 * @nonagle:	TCP_NODELAY
 * @cork:	TCP_CORK
 */
struct sdp_sock {
	struct inet_sock	inet;
	spinlock_t		lock;
	struct mutex		tx_mutex;
	struct mutex		rx_mutex;
	struct sdp_conn		*conn;
	struct list_head	rx_queue;
	u32			rx_bytes;
	u32			rx_truesize;
	struct hlist_node	bind_node;
	struct sdp_port		*port;
	struct hlist_node	listen_node;
	struct sock		*parent;
	struct list_head	accept_node;
	bool			accept_ready;
	struct list_head	pending;
	struct list_head	accept_q;
	struct hlist_node	net_node;
	struct timer_list	fin_timer;
	u32			fin_seen;
	bool			nonagle;
	bool			cork;
};

/**
 * struct sdp6_sock - an SDP socket that speaks IPv6
 * @sdp:	must be first
 * @inet6:	must be last: 6.1 finds it by the object's size
 */
struct sdp6_sock {
	struct sdp_sock		sdp;
	struct ipv6_pinfo	inet6;
};

static inline struct sdp_sock *sdp_sk(const struct sock *sk)
{
	return (struct sdp_sock *)sk;
}

/* AF_INET6 or AF_INET6_SDP: sk_family keeps what the program asked for */
static inline bool sdp_is_v6(const struct sock *sk)
{
	return sk->sk_family == AF_INET6 || sk->sk_family == AF_INET6_SDP;
}

/**
 * struct sdp_net - what a network namespace has of its own
 * @mib:		counters
 * @lock:		guards @socks
 * @socks:		its sockets
 * @ctl:		sysctl registration
 * @table:		its table
 * @rmem_default:	a new socket's SO_RCVBUF, bytes
 * @wmem_default:	its SO_SNDBUF, bytes
 * @rcvbuf_initial:	size of a new connection's receive buffers, bytes
 * @connect_retries:	how often a REQ is repeated
 * @cm_timeout:		time between those, 4.096 us * 2^n
 * @retry_count:	RC retries before a connection is given up
 * @fin_timeout:	life of an orphan whose peer does nothing, seconds
 */
struct sdp_net {
	struct sdp_mib __percpu	*mib;
	spinlock_t		lock;
	struct hlist_head	socks;
	struct ctl_table_header	*ctl;
	struct ctl_table	*table;
	int			rmem_default;
	int			wmem_default;
	int			rcvbuf_initial;
	int			connect_retries;
	int			cm_timeout;
	int			retry_count;
	int			fin_timeout;
};

extern unsigned int sdp_net_id;

static inline struct sdp_net *sdp_pernet(const struct net *net)
{
	return net_generic(net, sdp_net_id);
}

#define SDP_INC_STATS(net, field)	SNMP_INC_STATS(sdp_pernet(net)->mib, field)
#define SDP_ADD_STATS(net, field, n)	SNMP_ADD_STATS(sdp_pernet(net)->mib, field, n)

/* af_sdp.c */
extern struct proto sdp_prot;
extern struct workqueue_struct *sdp_wq;
void sdp_sock_setup(struct sock *sk);
bool sdp_mem_charge(struct sock *sk, int size, int kind);
void sdp_mem_uncharge(struct sock *sk, int size);
long sdp_wait(struct sock *sk, long timeo, bool (*ready)(struct sock *sk, unsigned long arg),
	      unsigned long arg);
void sdp_set_state(struct sock *sk, int state);
void sdp_write_space(struct sock *sk);

/* listen.c */
int sdp_listen_start(struct sock *sk);
void sdp_listen_stop(struct sock *sk);
struct sock *sdp_accept_next(struct sock *sk, int *err);
struct sock *sdp_child_create(struct sock *parent);
bool sdp_child_enqueue(struct sock *parent, struct sock *sk);
void sdp_child_ready(struct sock *sk);
void sdp_child_unlink(struct sock *sk);
void sdp_child_discard(struct sock *sk);

/* port.c */
int sdp_get_port(struct sock *sk, unsigned short port);
void sdp_put_port(struct sock *sk);
int sdp_inherit_port(struct sock *sk, struct sock *child);
int sdp_listen_hash(struct sock *sk);
void sdp_listen_unhash(struct sock *sk);
struct sock *sdp_find_listener(struct net *net, int ifindex, u16 port,
			       const struct in6_addr *daddr);

/* device.c */
struct sdp_dev *sdp_dev_get(struct ib_device *ib);
void sdp_dev_put(struct sdp_dev *dev);
int sdp_dev_add_conn(struct sdp_dev *dev, struct sdp_conn *conn);
void sdp_dev_del_conn(struct sdp_conn *conn);
struct sdp_pd *sdp_pd_get(struct sdp_dev *dev, kuid_t uid);
void sdp_pd_put(struct sdp_dev *dev, struct sdp_pd *pd);
struct sdp_buf *sdp_buf_get(struct sdp_dev *dev, u8 order, gfp_t gfp);
void sdp_buf_put(struct sdp_buf *buf);
void sdp_buf_unmap(struct sdp_buf *buf);
int sdp_device_init(void);
void sdp_device_exit(void);

/* conn.c */
struct sdp_conn *sdp_conn_alloc(struct sock *sk);
int sdp_conn_setup(struct sdp_conn *conn, struct sdp_dev *dev);
void sdp_conn_fail(struct sdp_conn *conn, int err);
void sdp_conn_end(struct sdp_conn *conn, unsigned long delay);
int sdp_conn_init_qp(struct sdp_conn *conn, u32 port_num, u16 pkey_index);
void sdp_conn_established(struct sdp_conn *conn);
void sdp_conn_timewait_over(struct sdp_conn *conn);

/* tx.c */
void sdp_tx_push(struct sdp_conn *conn);
void sdp_tx_free_buf(struct sock *sk, struct sdp_buf *buf);
void sdp_tx_queue_buf(struct sdp_conn *conn, struct sdp_buf *buf, u32 added);
bool sdp_tx_tiny(struct sdp_conn *conn, const void *data, u32 len);
void sdp_tx_set(struct sdp_conn *conn, enum sdp_tx_pending what);
void sdp_tx_acked(struct sdp_conn *conn, u32 ack, u32 credits);
void sdp_tx_purge(struct sdp_conn *conn);
int sdp_tx_alloc(struct sdp_conn *conn);
void sdp_tx_free(struct sdp_conn *conn);

/* rx.c */
void sdp_rx_fill(struct sdp_conn *conn);
void sdp_rx_free_buf(struct sock *sk, struct sdp_buf *buf);
u32 sdp_rx_grant(const struct sdp_conn *conn);
bool sdp_rx_owes_credits(struct sdp_conn *conn);
void sdp_rx_consumed(struct sock *sk, struct sdp_buf *buf);
bool sdp_rx_readable(const struct sock *sk);
void sdp_rx_purge(struct sdp_conn *conn);
int sdp_rx_alloc(struct sdp_conn *conn);
void sdp_rx_free(struct sdp_conn *conn);

/* send.c, recv.c */
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* close.c */
void sdp_send_fin(struct sock *sk);
void sdp_abort(struct sdp_conn *conn, int err);
void sdp_rcv_fin(struct sdp_conn *conn);
void sdp_fin_delivered(struct sdp_conn *conn);
void sdp_close(struct sock *sk);
void sdp_fin_timeout(struct timer_list *t);

/* sockopt.c */
int sdp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval, unsigned int optlen);
int sdp_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
		   int __user *optlen);

/* sysctl.c */
extern long sdp_sysctl_mem[3];
extern int sdp_sysctl_rmem[3];
extern int sdp_sysctl_wmem[3];
int sdp_sysctl_net_init(struct net *net);
void sdp_sysctl_net_exit(struct net *net);
void sdp_sysctl_mem_init(void);

/* proc.c */
int sdp_proc_net_init(struct net *net);
void sdp_proc_net_exit(struct net *net);

#endif /* _SDP_H */
