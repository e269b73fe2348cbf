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
 *			adverts both ways, the accept queue, sk_forward_alloc.
 *			A spinlock that
 *			completions (softirq) take too, so nothing
 *			sleeps or copies user data under it.
 *   dev->lock		a device's connections, its buffer cache, its PDs and
 *			their free memory regions.
 *   sdp_port_lock	the port table (port.c).
 *   sdp_cm_mutex	devices and the ports listened on at each (cm.c).
 *   sn->lock		a namespace's tree of sockets.
 *   sn->dest_lock	its destinations (dest.c).
 *
 * Nesting, outermost first:
 *
 *	lock_sock > sdp_cm_mutex
 *	lock_sock > lock_sock of the TCP socket beside it (companion.c)
 *	lock_sock > rx_mutex > sdp->lock > dev->lock or sdp_port_lock
 *	tx_mutex > mmap lock; tx_mutex > sdp->lock
 *	conn->cm_mutex > sdp->lock
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
 *
 * A large send() instead pins its pages (mr.c) and queues them as a source
 * (src.c), which sdp_tx_push() turns into a SrcAvail; send() returns when the
 * peer has read them and can't any more. The peer's SrcAvails wait in a ring
 * (read.c) for a recv() whose pages they are read into by RDMA, or are read
 * ahead into buffers when no such recv() comes. Or a recv() that waits
 * advertises its own memory (sink.c), which sources are written to.
 *
 * sk_flags belong to the core, which changes them under lock_sock() and not
 * atomically. Nothing under sdp->lock alone may change one, a completion least
 * of all: either change would undo the other. What TCP has as SOCK_DONE is
 * @rcv_done here therefore; the flags of ours that stay there (SOCK_KEEPOPEN,
 * SOCK_ZEROCOPY) are changed under lock_sock().
 */
#ifndef _SDP_H
#define _SDP_H

#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
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
#define SDP_CREDITS_RESERVED	2	/* that payload leaves for messages without */
#define SDP_RX_SPARE		2	/* posted beyond what is granted, see rx.c */

#define SDP_BUF_ORDERS		4	/* buffers of 4 KiB to 32 KiB */
#define SDP_BUF_ORDER_MAX	(SDP_BUF_ORDERS - 1)
#define SDP_PAYLOAD_MAX		(PAGE_SIZE << SDP_BUF_ORDER_MAX)

/*
 * RDMA at a time. Each source and sink may have a registration and an
 * invalidation in the send queue, each read an invalidation, a registration and
 * the read, each read ahead only the latter, each write itself: that is all there
 * is beside messages. Where a source's or sink's registration has to have the key
 * before invalidated first, that takes the place of a message. With messages it
 * has to stay below a power of two, see above.
 */
#define SDP_SRC_MAX		6	/* sources known to the device */
#define SDP_READ_MAX		3	/* reads into a program's memory */
#define SDP_AHEAD_MAX		4	/* reads into buffers */
#define SDP_SINK_WRS		2	/* one sink at a time */
#define SDP_WRITE_MAX		4	/* writes to the peer's sinks */
#define SDP_RDMA_WRS		(2 * SDP_SRC_MAX + 3 * SDP_READ_MAX + SDP_AHEAD_MAX + \
				 SDP_SINK_WRS + SDP_WRITE_MAX)
#define SDP_MAX_ADVERTS		8	/* adverts of a kind the peer may have outstanding */

/* A send slot's header area: BSDH, extended header, or a tiny message's payload */
#define SDP_TX_HDR_SIZE		128
#define SDP_TINY_MAX		(SDP_TX_HDR_SIZE - SDP_BSDH_SIZE)

/* Why the peer's adverts are refused; SDP_MIB_SENDSM_* has all but the last */
enum sdp_refuse {
	SDP_REFUSE_CANCELLED,		/* the peer wants them back */
	SDP_REFUSE_NO_READS,		/* there is no RDMA READ over this transport */
	SDP_REFUSE_TOO_MUCH,		/* beyond what FIONREAD can tell */
	SDP_REFUSE_NO_MEM,		/* no buffer to read ahead into */
	SDP_REFUSE_FORBIDDEN,		/* net.sdp.read_ahead is 0, and no recv() takes them */
	SDP_REFUSE_PEER,		/* the peer's reason for refusing, which it doesn't tell */
};

struct sdp_conn;
struct sdp_dev;
struct sdp_mr;
struct sdp_pd;
struct sdp_sink;

/**
 * struct sdp_buf - memory that carries payload
 * @list:	on a transmit or receive queue, or in the device's cache
 * @page:	compound page of @order; NULL in a struct sdp_src
 * @dma:	its address for @dev, mapped in both directions for as long as @dev is set
 * @dev:	the device it is mapped for; NULL once that is gone
 * @off:	receive: first byte not read yet
 * @len:	bytes of payload
 * @order:	size of @page
 * @more:	transmit: more is to come, hold it back while not full (MSG_MORE)
 * @oob:	transmit: the last byte is urgent, nothing is added (MSG_OOB)
 * @stamp:	receive: when it came, if the program wants to know (SO_TIMESTAMP), else 0
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
	bool			oob;
	ktime_t			stamp;
};

/* A message that brings nothing but credits, and the last one acknowledged */
static inline bool sdp_msg_is_update(const struct sdp_msg *m)
{
	return m->mid == SDP_MID_DATA && !m->payload_len;
}

static inline u32 sdp_buf_size(const struct sdp_buf *buf)
{
	return PAGE_SIZE << buf->order;
}

/**
 * struct sdp_tx_slot - one send outstanding
 * @cqe:	completion handler
 * @buf:	payload beyond the header area, or NULL
 * @bytes:	bytes of the stream this message carries that count as unacknowledged
 * @written:	bytes of an RDMA WRITE in front of it
 * @mid:	what it is
 * @late:	an invalidation went before it that takes another message's place
 */
struct sdp_tx_slot {
	struct ib_cqe		cqe;
	struct sdp_buf		*buf;
	u32			bytes;
	u32			written;
	u8			mid;
	bool			late;
};

/* Control messages waiting to be sent, bits of sdp_tx.pending; order of bits is order of sending */
enum sdp_tx_pending {
	SDP_TX_ABORT,			/* nothing goes behind it */
	SDP_TX_FIRST,			/* the peer must not speak before we do: empty Data */
	SDP_TX_OOB,			/* urgent data is held up: empty Data that says so */
	SDP_TX_RD_COMPL,		/* before SendSm, which is about the rest */
	SDP_TX_SENDSM,
	SDP_TX_SINK_CANCEL_ACK,		/* before data, which then has no sink to discard */
	SDP_TX_SRC_CANCEL,
	SDP_TX_SINK_CANCEL,
	SDP_TX_MODE_CHANGE,
	SDP_TX_CH_RCV_BUF_ACK,
	SDP_TX_CH_RCV_BUF,
	SDP_TX_DISCONN,			/* goes behind all data */
};

/**
 * struct sdp_sink_avail - a SinkAvail of the peer
 * @va:		where to write, in the peer's terms
 * @rkey:	key to it
 * @len:	bytes
 */
struct sdp_sink_avail {
	u64			va;
	u32			rkey;
	u32			len;
};

/**
 * struct sdp_tx - the sending half of a connection; sdp->lock
 * @queue:	buffers with data not posted yet, and sources
 * @filling:	buffer a sender is copying into, on no list
 * @pending:	control messages to send, enum sdp_tx_pending
 * @sent:	MSeq of the last message posted
 * @una:	highest MSeqAck the peer has sent
 * @done:	MSeq of the last message whose send completed
 * @credits:	buffers the peer has for us
 * @size:	largest payload the peer's buffers take
 * @full:	messages in a row that were as large as they could be
 * @grow_tried:	ChRcvBuf has been sent, and not to be repeated
 * @grow_asked:	... and not answered yet
 * @pure:	the last message brought nothing but credits
 * @sendsm:	MSeq of the last SendSm posted
 * @fin_sent:	DisConn posted; nothing may follow it but credits
 * @fin_done:	... and delivered
 * @unsent:	bytes of the stream in @queue
 * @unacked:	bytes posted, neither acknowledged by the peer nor completed
 * @adverts:	sources the peer may read, oldest first; no data goes while there are any
 * @retired:	sources whose keys are being invalidated
 * @advertised:	bytes of @adverts the peer has not read
 * @n_adverts:	how many there are
 * @n_srcs:	sources whose memory the device knows
 * @mode:	flow control mode of what we send, enum sdp_mode
 * @has_advertised: there has been an advert at some time
 * @cancelling:	SrcAvailCancel is to go or unanswered: nothing is advertised
 * @n_oob:	urgent bytes in @queue
 * @held:	the first buffer is held back by TCP_CORK or MSG_MORE
 * @held_since:	... since when, jiffies
 * @flush:	... and has been for long enough
 * @probing:	a probe is under way, which takes the place of a message
 * @sinks:	SinkAvails of the peer, a ring
 * @sink_first:	counts those that have been written to, discarded or taken back
 * @sink_last:	... those that were good when they came
 * @sink_acks:	SinkCancelAcks to be sent
 * @nond:	messages with payload that found no SinkAvail to discard ("non-discards")
 * @n_writes:	RDMA WRITEs not known to have arrived
 * @n_late:	@slots that have taken the place of another
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
	bool			grow_asked;
	bool			pure;
	u32			sendsm;
	bool			fin_sent;
	bool			fin_done;
	u32			unsent;
	u32			unacked;
	struct list_head	adverts;
	struct list_head	retired;
	u32			advertised;
	u8			n_adverts;
	u8			n_srcs;
	u8			mode;
	bool			has_advertised;
	bool			cancelling;
	u16			n_oob;
	bool			held;
	bool			flush;
	unsigned long		held_since;
	bool			probing;
	struct sdp_sink_avail	sinks[SDP_MAX_ADVERTS];
	u32			sink_first;
	u32			sink_last;
	u32			sink_acks;
	u32			nond;
	u8			n_writes;
	u8			n_late;
	struct sdp_tx_slot	*slots;
	u8			*hdrs;
	u64			hdrs_dma;
};

/**
 * struct sdp_advert - a SrcAvail of the peer
 * @va:		where its bytes are, in the peer's terms
 * @rkey:	key to them
 * @len:	bytes
 * @inlined:	the first of them that came with the message
 * @posted:	bytes taken or being read
 * @done:	bytes taken or read
 */
struct sdp_advert {
	u64			va;
	u32			rkey;
	u32			len;
	u32			inlined;
	u32			posted;
	u32			done;
};

/**
 * struct sdp_read - an RDMA READ of what the peer has advertised
 * @cqe:	completion handler
 * @list:	on the connection's @reads, while posted
 * @advert:	which advert, a counter like @adv_first
 * @len:	bytes
 * @buf:	buffer it goes into; NULL for a program's memory
 * @mr:		a program's memory, registered
 * @away:	nobody waits for it: it is in a struct sdp_read_away
 * @ok:		it has succeeded
 * @since:	when it was posted, jiffies
 * @done:	it is over
 */
struct sdp_read {
	struct ib_cqe		cqe;
	struct list_head	list;
	u32			advert;
	u32			len;
	struct sdp_buf		*buf;
	struct sdp_mr		*mr;
	bool			away;
	bool			ok;
	unsigned long		since;
	struct completion	done;
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
 * @payload:	some has come since the peer was told of credits last
 * @adverts:	SrcAvails of the peer, a ring
 * @adv_first:	counts those that have been read entirely or refused
 * @adv_next:	... those of which every byte is read or being read
 * @adv_last:	... those that have come
 * @reports:	lengths RdmaRdCompl is still to be sent for, a ring
 * @rep_first:	counts those sent
 * @rep_last:	counts all of them
 * @reads:	RDMA READs posted, oldest first
 * @n_reads:	how many
 * @max_reads:	how many may be: more would hold up all messages behind them
 * @ahead_busy:	which of @ahead are posted
 * @ahead_bufs:	buffers that may be read ahead into before somebody asks again
 * @ahead_step:	how many that is when a small recv() asks the next time
 * @refusing:	nothing is to be read any more; SendSm follows when @reads have ended
 * @refused:	the peer may not have seen our SendSm: what it advertises is void
 * @ahead:	those into buffers
 * @fill_timer: posts receives when there was no memory for them
 * @ahead_timer: reads ahead when no recv() has come
 * @read_timer:	ends the connection when a read takes too long
 * @fin:	the peer's DisConn has come
 * @sink:	memory of a recv() for the peer to write to, or NULL
 * @nond:	messages with payload that found no @sink to discard
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
	bool			payload;
	bool			fin;
	bool			refusing;
	bool			refused;
	u8			ahead_step;
	unsigned long		ahead_busy;
	u32			ahead_bufs;
	u32			adv_first;
	u32			adv_next;
	u32			adv_last;
	struct sdp_advert	adverts[SDP_MAX_ADVERTS];
	u32			reports[2 * SDP_MAX_ADVERTS];
	u32			rep_first;
	u32			rep_last;
	struct list_head	reads;
	u8			n_reads;
	u8			max_reads;
	struct sdp_read		ahead[SDP_AHEAD_MAX];
	struct timer_list	fill_timer;
	struct timer_list	ahead_timer;
	struct timer_list	read_timer;
	struct sdp_sink		*sink;
	u32			nond;
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
 * @cm_id:	the transport's handle of it
 * @cm_mutex:	held by the handlers of @cm_id that stays for timewait (cm_ib.c)
 * @cm_told:	one of them has run to its end after what @cm_asked tells of
 * @rdma_id:	rdma_cm's handle, the route, until connected; whoever takes it by xchg()
 *		destroys it
 * @cm_work:	sends a request, again if the peer was too busy for it; or, at the peer,
 *		takes a message that has come for its last step, or ends it when none has in time
 * @resolving:	connect() is still asking for the route
 * @retry_delay: jiffies until the next time
 * @unanswered:	requests in a row whose answer may have been lost (cm_iw.c)
 * @started:	when connecting began, jiffies
 * @port_num:	device port
 * @rq_psn:	first PSN we expect
 * @tx:		sending half
 * @rx:		receiving half
 * @up:		messages may be posted; sdp->lock
 * @ending:	nothing may be posted any more; sdp->lock
 * @rtr:	the QP may have completions to come, so it has to be drained
 * @cm_asked:	a REQ or REP has been sent, or is about to be
 * @cm_up:	established as the CM has it, or by a message: it wants a DREQ
 * @aborted:	AbortConn is on its way; messages received are ignored; sdp->lock
 * @again:	at its end a new connection takes its place; sdp->lock
 * @err:	what the socket is told at the end, positive errno; sdp->lock
 * @flags:	SDP_CONN_*
 * @end_work:	ends the connection, see conn.c
 * @heard:	when the peer's device or the peer last showed life, jiffies
 * @probe_cqe:	completion handler of probes
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
	void			*cm_id;
	struct mutex		cm_mutex;
	struct completion	cm_told;
	struct rdma_cm_id	*rdma_id;
	struct delayed_work	cm_work;
	unsigned long		retry_delay;
	u8			unanswered;
	unsigned long		started;
	u32			port_num;
	u32			rq_psn;
	struct sdp_tx		tx;
	struct sdp_rx		rx;
	bool			up;
	bool			ending;
	bool			aborted;
	bool			rtr;
	bool			cm_asked;
	bool			cm_up;
	bool			again;
	bool			resolving;
	int			err;
	unsigned long		flags;
	struct delayed_work	end_work;
	unsigned long		heard;
	struct ib_cqe		probe_cqe;
	u16			peer_max_adverts;
	u8			peer_caps;
};

enum {
	SDP_CONN_DREQ_RCVD,	/* the peer has ended the connection */
	SDP_CONN_DEV_GONE,	/* the device is being removed */
	SDP_CONN_TW_OVER,	/* timewait has passed */
	SDP_CONN_CM_OVER,	/* the CM's handlers may not look at the socket any more */
};

/* What the recv() under way can use: sdp_sock.rx_wait */
enum sdp_rx_wait {
	SDP_RX_NOBODY,		/* there is none, or it has found something */
	SDP_RX_BUFFERED,	/* data in buffers */
	SDP_RX_DIRECT,		/* an advert as well, its memory is good for RDMA */
};

/* The urgent byte, sdp_sock.urg_state */
enum sdp_urg {
	SDP_URG_NONE,
	SDP_URG_COMING,		/* announced */
	SDP_URG_THERE,
	SDP_URG_READ,		/* by recv(MSG_OOB), still in the stream */
};

/**
 * struct sdp_tcp_options - options of SOL_TCP that are kept for whoever asks, or for a timer
 * @ca_name:	TCP_CONGESTION; empty for the namespace's. No effect
 * @keepidle:	TCP_KEEPIDLE, seconds; 0 for the namespace's
 * @keepintvl:	TCP_KEEPINTVL, seconds; 0 likewise
 * @keepcnt:	TCP_KEEPCNT; 0 likewise
 * @syncnt:	TCP_SYNCNT; 0 likewise. No effect
 * @user_timeout: TCP_USER_TIMEOUT, milliseconds
 * @linger2:	TCP_LINGER2, seconds; 0 for the namespace's, -1 for none
 * @defer:	TCP_DEFER_ACCEPT, seconds
 * @notsent_lowat: TCP_NOTSENT_LOWAT, bytes; 0 for no limit
 * @user_mss:	TCP_MAXSEG as set. No effect on the size of messages
 * @clamp:	TCP_WINDOW_CLAMP. No effect, nor have those that follow but for @inq
 * @tx_delay:	TCP_TX_DELAY
 * @fastopen:	TCP_FASTOPEN
 * @fastopen_connect: TCP_FASTOPEN_CONNECT
 * @fastopen_no_cookie: TCP_FASTOPEN_NO_COOKIE
 * @noquickack:	TCP_QUICKACK, inverted
 * @thin_lto:	TCP_THIN_LINEAR_TIMEOUTS
 * @save_syn:	TCP_SAVE_SYN
 * @inq:	TCP_INQ
 */
struct sdp_tcp_options {
	char			ca_name[16];
	u16			keepidle;
	u16			keepintvl;
	u8			keepcnt;
	u8			syncnt;
	u32			user_timeout;
	s16			linger2;
	u32			defer;
	u32			notsent_lowat;
	u16			user_mss;
	u32			clamp;
	u32			tx_delay;
	int			fastopen;
	bool			fastopen_connect;
	bool			fastopen_no_cookie;
	bool			noquickack;
	bool			thin_lto;
	u8			save_syn;
	bool			inq;
};

/**
 * struct sdp_counts - what a socket has done, for SDP_INFO; sdp->lock
 * @snd_bcopy:	bytes sent out of buffers
 * @snd_direct:	... as messages, out of the program's memory
 * @snd_zcopy:	... read by the peer out of the program's memory
 * @rcv_bcopy:	bytes received as messages
 * @rcv_zcopy:	... read into the program's memory
 * @rcv_ahead:	... read into buffers
 * @snd_data:	messages with payload sent
 * @rcv_data:	... received
 * @src_avail_sent: SrcAvails sent
 * @src_avail_rcvd: ... received
 * @src_cancel_sent: SrcAvailCancels sent
 * @src_cancel_rcvd: ... received
 * @sendsm_sent: SendSms sent
 * @sendsm_rcvd: ... received
 * @reads:	RDMA READs posted
 * @snd_zcopy_w: bytes written from the program's memory to the peer's
 * @rcv_zcopy_w: ... by the peer
 * @sink_avail_sent: SinkAvails sent
 * @sink_avail_rcvd: ... received
 * @sink_discarded: ... sent, and data came instead
 * @sink_cancel_sent: SinkAvailCancels sent
 * @sink_cancel_rcvd: ... received
 * @writes:	RDMA WRITEs posted
 * @az_sends:	stretches of memory sent while the program went on
 * @az_bytes:	... bytes
 * @az_protected: ... pages made copy-on-write for that
 * @az_written:	... pages the program wrote to in flight
 * @az_restored: ... pages made writable again
 * @az_usec:	... time all of them were in flight, microseconds
 * @az_rcv:	bytes read into regions that recv() didn't wait for
 */
struct sdp_counts {
	u64	snd_bcopy;
	u64	snd_direct;
	u64	snd_zcopy;
	u64	rcv_bcopy;
	u64	rcv_zcopy;
	u64	rcv_ahead;
	u64	snd_data;
	u64	rcv_data;
	u64	src_avail_sent;
	u64	src_avail_rcvd;
	u64	src_cancel_sent;
	u64	src_cancel_rcvd;
	u64	sendsm_sent;
	u64	sendsm_rcvd;
	u64	reads;
	u64	snd_zcopy_w;
	u64	rcv_zcopy_w;
	u64	sink_avail_sent;
	u64	sink_avail_rcvd;
	u64	sink_discarded;
	u64	sink_cancel_sent;
	u64	sink_cancel_rcvd;
	u64	writes;
	u64	az_sends;
	u64	az_bytes;
	u64	az_protected;
	u64	az_written;
	u64	az_restored;
	u64	az_usec;
	u64	az_rcv;
};

/**
 * struct sdp_backoff - a way to move data that isn't taken for a while after it didn't pay
 * @skip:	how many times yet
 * @misses:	how often it didn't, lately
 */
struct sdp_backoff {
	u16			skip;
	u8			misses;
};

/* Is it not to be taken this time? Under the mutex of who asks */
static inline bool sdp_backoff_skips(struct sdp_backoff *b)
{
	if (!b->skip)
		return false;
	WRITE_ONCE(b->skip, b->skip - 1);
	return true;
}

/* It didn't pay: not for twice as many times as after the last miss, @max at most */
static inline void sdp_backoff_miss(struct sdp_backoff *b, u16 max)
{
	WRITE_ONCE(b->skip, min_t(u32, 1U << b->misses, max));
	if (b->skip < max)
		b->misses++;
}

/**
 * struct sdp_sock - an SDP socket
 * @inet:	must be first
 * @lock:	see the top of this file
 * @tx_mutex:	one sender at a time
 * @rx_mutex:	one receiver at a time
 * @conn:	its connection or NULL; @lock
 * @rx_queue:	data received and not read; @lock
 * @rx_bytes:	bytes in @rx_queue; written under @lock, read anywhere
 * @rx_truesize: memory those take, and buffers being read into
 * @adv_bytes:	bytes the peer has advertised and nobody reads yet; as @rx_bytes
 * @rx_wait:	what the recv() under way can use, enum sdp_rx_wait
 * @eager:	the program doesn't wait in recv(): read ahead at once; @lock
 * @reader:	who has read last, to be compared only
 * @zsenders:	senders waiting for the peer to read who read as well; @lock
 * @zcopy_off:	sends that take the copying way after one was left waiting; tx_mutex
 * @no_hold:	the next send doesn't wait for the peer to advertise; tx_mutex
 * @sink_off:	recv()s that don't advertise after one whose advert wasn't used; rx_mutex
 * @sink_hits:	recv()s in a row that waited and got much; rx_mutex
 * @zthresh:	smallest send that is not copied, bytes; -1 for the namespace's
 * @az_thresh:	smallest send that returns at once, its memory protected; the same
 * @az_policy:	SDP_AZ_POLICY as it was set
 * @az_recv:	SDP_AZ_RECV as it was set
 * @reads_away:	RDMA READs that nobody waits for
 * @az_missed:	sends by AZ-SDP that didn't pay: written to in flight, refused by the memory or
 *		the peer; since last looked at
 * @az_kept:	... that did
 * @az_off:	sends that go another way after one that didn't; tx_mutex
 * @az_probe:	counts such sends
 * @mode:	how data is to be moved, SDP_AUTO or a mode forced
 * @bind_node:	on the port's owner list; port table lock
 * @port:	port bound to, or NULL; port table lock
 * @listen_node: in the table of listeners; port table lock
 * @parent:	listener of a socket not accepted yet, a reference; @lock
 * @accept_node: on @parent's @pending or @accept_q
 * @accept_ready: it is on @accept_q; @parent's lock
 * @pending:	listener: handshakes under way
 * @accept_q:	listener: connections to accept
 * @net_node:	in the namespace's tree of sockets
 * @fin_timer:	ends an orphan whose peer does nothing
 * @fin_seen:	how far sending had got when it last looked
 * @orphan:	counted among sdp_net.orphans; @lock
 * @rx_busy:	buffer a receiver copies from at this moment; @lock
 * @urg_buf:	buffer on @rx_queue whose last byte is the urgent one, or NULL; @lock
 * @urg_byte:	that byte
 * @urg_state:	enum sdp_urg; written under @lock, read anywhere
 * @urg_mark:	the urgent byte is the next to be read; as @urg_state
 * @urg_tell:	the program is to be told of urgent data
 * @cork_timer:	ends the holding back of data (TCP_CORK, MSG_MORE)
 * @probe_timer: looks after a silent peer (keepalive.c); at a child that waits
 *		for data (TCP_DEFER_ACCEPT) it ends that
 * @probe_taken: bytes the peer had taken when it last looked
 * @probe_since: since when no more has been taken, jiffies
 * @probes:	probes without an answer
 * @deferred:	not to be accepted before there is data; @lock
 * @rcv_done:	the peer has ended its stream (TCP's SOCK_DONE); @lock
 * @opt:	options of SOL_TCP
 * @nonagle:	TCP_NODELAY
 * @cork:	TCP_CORK
 * @policy:	SDP_POLICY as it was set
 * @reason:	why TCP took over or is to, SDP_FALLBACK_*; @lock until @fallen
 * @trying:	TCP takes over if this attempt to connect fails; @lock
 * @fallen:	TCP has taken the struct socket over, see companion.c
 * @tcp_turn:	accept() looks at TCP's connections first
 * @tcp:	TCP socket beside this one, or NULL; lock_sock, some look by RCU
 * @tcp_sk:	its struct sock, also after @fallen; key of @tcp_node
 * @tcp_node:	in the table of companions
 * @try_end:	when an attempt has taken too long, jiffies; lock_sock
 * @try_work:	ends an attempt in time, and makes TCP take over
 * @counts:	what it has done
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
	u32			adv_bytes;
	u8			rx_wait;
	bool			eager;
	const void		*reader;
	u16			zsenders;
	struct sdp_backoff	zcopy_off;
	bool			no_hold;
	struct sdp_backoff	sink_off;
	u8			sink_hits;
	u8			mode;
	int			zthresh;
	int			az_thresh;
	s8			az_policy;
	s8			az_recv;
	atomic_t		reads_away;
	atomic_t		az_missed;
	atomic_t		az_kept;
	struct sdp_backoff	az_off;
	u8			az_probe;
	struct hlist_node	bind_node;
	struct sdp_port		*port;
	struct hlist_node	listen_node;
	struct sock		*parent;
	struct list_head	accept_node;
	bool			accept_ready;
	struct list_head	pending;
	struct list_head	accept_q;
	struct rb_node		net_node;
	struct timer_list	fin_timer;
	u32			fin_seen;
	bool			orphan;
	struct sdp_buf		*rx_busy;
	struct sdp_buf		*urg_buf;
	u8			urg_byte;
	u8			urg_state;
	bool			urg_mark;
	bool			urg_tell;
	struct timer_list	cork_timer;
	struct timer_list	probe_timer;
	u32			probe_taken;
	unsigned long		probe_since;
	u8			probes;
	bool			deferred;
	bool			rcv_done;
	struct sdp_tcp_options	opt;
	bool			nonagle;
	bool			cork;
	s8			policy;
	u8			reason;
	bool			trying;
	bool			fallen;
	bool			tcp_turn;
	struct socket		*tcp;
	struct sock		*tcp_sk;
	struct hlist_node	tcp_node;
	unsigned long		try_end;
	struct delayed_work	try_work;
	struct sdp_counts	counts;
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

/* Bytes of the stream posted, or read by the peer; sdp->lock */
static inline u64 sdp_bytes_sent(const struct sdp_sock *sdp)
{
	const struct sdp_counts *c = &sdp->counts;

	return c->snd_bcopy + c->snd_direct + c->snd_zcopy + c->snd_zcopy_w;
}

/* Bytes that have come; sdp->lock */
static inline u64 sdp_bytes_rcvd(const struct sdp_sock *sdp)
{
	const struct sdp_counts *c = &sdp->counts;

	return c->rcv_bcopy + c->rcv_zcopy + c->rcv_ahead + c->rcv_zcopy_w;
}

/* The time, if the program wants to know when data came */
static inline ktime_t sdp_stamp(const struct sock *sk)
{
	return unlikely(READ_ONCE(sk->sk_flags) & SK_FLAGS_TIMESTAMP) ? ktime_get_real() : 0;
}

/* Is it in one of these states, TCPF_*? */
static inline bool sdp_state_is(const struct sock *sk, int states)
{
	return (1 << READ_ONCE(sk->sk_state)) & states;
}

/* AF_INET6 or AF_INET6_SDP: sk_family keeps what the program asked for */
static inline bool sdp_is_v6(const struct sock *sk)
{
	return sk->sk_family == AF_INET6 || sk->sk_family == AF_INET6_SDP;
}

#define SDP_DEST_BUCKETS	256

/**
 * struct sdp_net - what a network namespace has of its own
 * @mib:		counters
 * @lock:		guards @socks
 * @socks:		its sockets, by cookie
 * @ctl:		sysctl registration
 * @table:		its table
 * @rmem_default:	a new socket's SO_RCVBUF, bytes
 * @wmem_default:	its SO_SNDBUF, bytes
 * @rcvbuf_initial:	size of a new connection's receive buffers, bytes
 * @connect_retries:	how often a REQ is repeated
 * @cm_timeout:		time between those, 4.096 us * 2^n
 * @retry_count:	RC retries before a connection is given up
 * @fin_timeout:	life of an orphan whose peer does nothing, seconds
 * @max_orphans:	how many orphans there may be
 * @orphans:		connections no program has open any more
 * @zcopy_thresh:	smallest send that is not copied, bytes; 0 for none
 * @sink_thresh:	smallest recv() that advertises its memory, bytes; 0 for none
 * @az_thresh:		smallest send that returns at once, its memory protected; 0 for none
 * @az_policy:		SDP_AZ_POLICY of sockets that have none of their own
 * @az_recv:		SDP_AZ_RECV of sockets that have none of their own
 * @az_fault_max:	percent of its pages written to in flight that are still not too many
 * @mode:	SDP_MODE of new sockets
 * @read_ahead:	read adverts ahead: 1 when no recv() takes them, 2 behind one that does as well
 * @policy:	SDP_POLICY of sockets that have none of their own
 * @try_timeout:	how long SDP is tried before TCP is, ms
 * @cache_timeout:	how long a destination is remembered, seconds; 0 for not at all
 * @cache_max:		how many are
 * @cache_flush:	a place for sysctl
 * @dest_lock:	guards @dests, @dest_hash, @n_dests
 * @dests:	destinations known, oldest first (dest.c)
 * @dest_hash:	the same by address and port
 * @n_dests:	how many
 * @recv_poll:	how long a recv() spins before it sleeps, microseconds
 */
struct sdp_net {
	struct sdp_mib __percpu	*mib;
	spinlock_t		lock;
	struct rb_root		socks;
	struct ctl_table_header	*ctl;
	struct ctl_table	*table;
	int			rmem_default;
	int			wmem_default;
	int			rcvbuf_initial;
	int			connect_retries;
	int			cm_timeout;
	int			retry_count;
	int			fin_timeout;
	int			max_orphans;
	atomic_t		orphans;
	int			zcopy_thresh;
	int			sink_thresh;
	int			az_thresh;
	int			az_policy;
	int			az_recv;
	int			az_fault_max;
	int			mode;
	int			read_ahead;
	int			policy;
	int			try_timeout;
	int			cache_timeout;
	int			cache_max;
	int			cache_flush;
	spinlock_t		dest_lock;
	struct list_head	dests;
	struct hlist_head	dest_hash[SDP_DEST_BUCKETS];
	int			n_dests;
	int			recv_poll;
};

extern unsigned int sdp_net_id;

static inline struct sdp_net *sdp_pernet(const struct net *net)
{
	return net_generic(net, sdp_net_id);
}

#define SDP_INC_STATS(net, field)	SNMP_INC_STATS(sdp_pernet(net)->mib, field)
#define SDP_ADD_STATS(net, field, n)	SNMP_ADD_STATS(sdp_pernet(net)->mib, field, n)

/* Counts in the namespace and for the socket; sdp->lock */
#define SDP_COUNT(sk, item, field, n) do {				\
	SDP_ADD_STATS(sock_net(sk), SDP_MIB_##item, n);			\
	sdp_sk(sk)->counts.field += (n);				\
} while (0)

/* af_sdp.c */
extern struct proto sdp_prot;
extern struct workqueue_struct *sdp_wq;
void sdp_sock_setup(struct sock *sk);
struct sock *sdp_sock_at(const struct net *net, u64 cookie);
void sdp_sock_purge(struct sock *sk);
bool sdp_mem_charge(struct sock *sk, int size, int kind);
void sdp_mem_uncharge(struct sock *sk, int size);
long sdp_wait(struct sock *sk, long timeo, bool (*ready)(struct sock *sk, unsigned long arg),
	      unsigned long arg);
void sdp_set_state(struct sock *sk, int state);
void sdp_write_space(struct sock *sk);

/* connect.c */
/**
 * union sdp_addr - an address as the inet code wants it
 * @sa:		generic
 * @v4:		AF_INET
 * @v6:		AF_INET6
 */
union sdp_addr {
	struct sockaddr		sa;
	struct sockaddr_in	v4;
	struct sockaddr_in6	v6;
};

int sdp_canonical_addr(struct sock *sk, const struct sockaddr *uaddr, int len,
		       union sdp_addr *to, int *to_len);
int sdp_turn_by_policy(struct socket *sock, struct sock *sk, bool *turned);
int sdp_bind(struct socket *sock, struct sockaddr *uaddr, int len);
int sdp_getname(struct socket *sock, struct sockaddr *uaddr, int peer);
int sdp_autobind(struct sock *sk, int (*get_port)(struct sock *sk, unsigned short num));
void sdp_wait_conn_gone(struct sock *sk);
void sdp_reset_saddr(struct sock *sk);
int sdp_disconnect(struct socket *sock);
int sdp_connect(struct socket *sock, struct sockaddr *uaddr, int len, int flags);

/* listen.c */
int sdp_listen_start(struct sock *sk);
void sdp_listen_stop(struct sock *sk);
struct sock *sdp_accept_next(struct sock *sk, int *err);
bool sdp_acceptq_is_full(const struct sock *sk);
struct sock *sdp_child_create(struct sock *parent);
bool sdp_child_enqueue(struct sock *parent, struct sock *sk);
void sdp_child_ready(struct sock *sk);
void sdp_child_unlink(struct sock *sk);
void sdp_child_discard(struct sock *sk);
bool sdp_child_defer(struct sock *sk);
void sdp_child_undefer(struct sock *sk);

/* port.c */
int sdp_get_port(struct sock *sk, unsigned short port);
int sdp_bind_port(struct sock *sk, unsigned short port);
void sdp_leave_port(struct sock *sk);
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
void sdp_pd_hold(struct sdp_pd *pd);
void __sdp_pd_hold(struct sdp_pd *pd);
void sdp_pd_put(struct sdp_pd *pd);
void sdp_dev_age_mrs(struct sdp_dev *dev);
struct sdp_buf *sdp_buf_get(struct sdp_dev *dev, u8 order, gfp_t gfp);
void sdp_buf_put(struct sdp_buf *buf);
void sdp_buf_unmap(struct sdp_buf *buf);
int sdp_device_init(void);
void sdp_device_exit(void);

/* conn.c */
struct sdp_conn *sdp_conn_alloc(struct sock *sk);
int sdp_conn_setup(struct sdp_conn *conn, struct sdp_dev *dev);
void __sdp_conn_fail(struct sdp_conn *conn, int err);
void sdp_conn_fail(struct sdp_conn *conn, int err);
int sdp_wc_errno(enum ib_wc_status status);
void sdp_conn_end(struct sdp_conn *conn, unsigned long delay);
void sdp_conn_retry(struct sdp_conn *conn);
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
void sdp_tx_flush(struct sdp_conn *conn);
void sdp_cork_timeout(struct timer_list *t);

/* Is there room in the send queue for so many messages? */
static inline bool sdp_tx_has_room(const struct sdp_tx *tx, u32 n)
{
	return tx->sent - tx->done + tx->probing + tx->n_late + n <= SDP_TX_MAX;
}

static inline bool sdp_tx_has_slot(const struct sdp_tx *tx)
{
	return sdp_tx_has_room(tx, 1);
}

/* ... and one that registers memory first */
static inline bool sdp_tx_has_reg_slot(const struct sdp_tx *tx)
{
	return sdp_tx_has_room(tx, 2);
}

/* rx.c */
struct sdp_buf *sdp_rx_new_buf(struct sdp_conn *conn, u8 order);
void sdp_rx_queue_buf(struct sock *sk, struct sdp_buf *buf);
void sdp_rx_fill(struct sdp_conn *conn);
void sdp_rx_free_buf(struct sock *sk, struct sdp_buf *buf);
u32 sdp_rx_grant(const struct sdp_conn *conn);
bool sdp_rx_owes_credits(struct sdp_conn *conn);
void sdp_rx_consumed(struct sock *sk, struct sdp_buf *buf);
bool sdp_rx_readable(const struct sock *sk);
bool sdp_rx_unread(const struct sock *sk);
void sdp_rx_purge(struct sdp_conn *conn);
void sdp_rx_init(struct sdp_conn *conn);
void sdp_rx_stop(struct sdp_conn *conn);
int sdp_rx_alloc(struct sdp_conn *conn);
void sdp_rx_free(struct sdp_conn *conn);

/* zcopy.c */
u32 sdp_zcopy_thresh(const struct sock *sk);

/* What a socket's option says, or its namespace's sysctl if that is -1 */
static inline int sdp_choice(int option, int sysctl)
{
	return option < 0 ? sysctl : option;
}

/* The same of a threshold; UINT_MAX for 0 */
static inline u32 sdp_thresh(int option, int sysctl)
{
	return sdp_choice(option, sysctl) ?: UINT_MAX;
}
bool sdp_zcopy_wanted(struct sock *sk, struct msghdr *msg, long timeo);
bool sdp_zcopy_large(const struct sock *sk, const struct msghdr *msg);
u32 sdp_zcopy_chunk(struct sock *sk);
int sdp_zcopy_send(struct sock *sk, struct msghdr *msg, long *timeo, int *sent);
int sdp_zcopy_send_async(struct sock *sk, struct msghdr *msg, long *timeo, struct ubuf_info *uarg,
			 int *sent);

/* oob.c */
void sdp_oob_update(struct sdp_sock *sdp);
void sdp_oob_passed(struct sdp_sock *sdp, const struct sdp_buf *buf);
void sdp_oob_forget(struct sdp_sock *sdp);
void sdp_oob_pending(struct sock *sk);
void sdp_oob_arrived(struct sock *sk, struct sdp_buf *buf);
void sdp_oob_tell(struct sock *sk);
int sdp_oob_recv(struct sock *sk, struct msghdr *msg, size_t len, int flags);
u32 sdp_oob_inq(const struct sock *sk);

/* keepalive.c */
void sdp_probe_timeout(struct timer_list *t);
void sdp_probe_arm(struct sdp_conn *conn);
void sdp_keepalive(struct sock *sk, int on);

/* tcpopt.c */
u32 sdp_keepidle(const struct sock *sk);
u32 sdp_keepintvl(const struct sock *sk);
u32 sdp_keepcnt(const struct sock *sk);
bool sdp_notsent_room(const struct sdp_sock *sdp, bool wake);
int sdp_set_tcp(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen);
int sdp_keep_ca(struct sock *sk, sockptr_t optval, unsigned int optlen);
int sdp_get_tcp_int(struct sock *sk, int optname, int *val);
int sdp_get_tcp(struct sock *sk, int optname, char __user *optval, int __user *optlen);

/* send.c, recv.c */
void sdp_recv_take(struct sock *sk, struct sdp_buf *buf, u32 len);
bool sdp_recv_ready_direct(struct sock *sk, unsigned long seen);
bool sdp_send_has_room(struct sock *sk, unsigned long unused);
int sdp_send_wait_room(struct sock *sk, long *timeo);
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags);

/* close.c */
void sdp_send_fin(struct sock *sk);
void sdp_abort(struct sdp_conn *conn, int err);
void sdp_rcv_fin(struct sdp_conn *conn);
void sdp_fin_delivered(struct sdp_conn *conn);
void sdp_close(struct sock *sk);
int sdp_destroy(struct sock *sk, int err);
void sdp_fin_timeout(struct timer_list *t);

/* sockopt.c */
int sdp_set_sdp(struct sock *sk, int optname, int val);
int sdp_get_sdp(struct sock *sk, int optname, int *val);
int sdp_set_rcvlowat(struct sock *sk, int val);
int sdp_put_opt(char __user *optval, int __user *optlen, int len, const void *from, int size);
int sdp_sock_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			unsigned int optlen);
int sdp_sock_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
			int __user *optlen);
int sdp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval, unsigned int optlen);
int sdp_getsockopt(struct sock *sk, int level, int optname, char __user *optval,
		   int __user *optlen);

/* info.c */
void sdp_info_fill(struct sock *sk, const struct sock *at, struct sdp_info *info);
void sdp_info_show(struct seq_file *m, struct sock *sk);
void sdp_show_fdinfo(struct seq_file *m, struct socket *sock);
int sdp_get_info(struct sock *sk, char __user *optval, int __user *optlen, int len);

/* sysctl.c */
extern long sdp_sysctl_mem[3];
extern int sdp_sysctl_rmem[3];
extern int sdp_sysctl_wmem[3];
bool sdp_zthresh_ok(int val);
int sdp_sysctl_net_init(struct net *net);
void sdp_sysctl_net_exit(struct net *net);
void sdp_sysctl_mem_init(void);

/* proc.c */
int sdp_proc_net_init(struct net *net);
void sdp_proc_net_exit(struct net *net);

/* diag.c */
int sdp_diag_init(void);
void sdp_diag_exit(void);

#endif /* _SDP_H */
