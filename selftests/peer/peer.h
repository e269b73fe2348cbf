/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sdp_peer: a scriptable SDP peer for tests, on ib_cm and one RC QP.
 *
 * Each open of /dev/sdp_peer is one peer: a listener, a connection, or both.
 * One write() is one command, done when write() returns; the reads that follow
 * return its one-line reply. README lists the commands.
 *
 * It can be a well-behaved OFED-like peer, or say anything at all on the wire;
 * either way it watches what the other side says and keeps the first breach of
 * the protocol in peer->bad. It never believes what it is told.
 *
 *	main.c	the device, words to arguments, the table of commands
 *	cm.c	ib_cm: REQ, REP, REJ, DREQ; teardown
 *	qp.c	the QP, buffers, credits, memory regions, RDMA
 *	msg.c	text to messages and back
 *	auto.c	what OFED would do by itself
 *
 * Locks, outermost first: peers_lock, peer->cmd, peer->tx, peer->lock.
 * CM handlers and completions (both in process context) take peer->lock only,
 * so they may be waited for under the mutexes.
 */
#ifndef _SDP_PEER_H
#define _SDP_PEER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <net/sdp_proto.h>

#define PEER_SQ_DEPTH	128
#define PEER_RQ_DEPTH	1024
#define PEER_RD_ATOMIC	4
#define PEER_HISTORY	1024		/* sent messages remembered; power of two */
#define PEER_WORDS	48		/* in one command */
#define PEER_REPLY_MAX	(160 << 10)	/* a 64 KiB message in hex, and some */
#define PEER_MSG_MAX	(64 << 10)
#define PEER_BUFS	16		/* receive buffers by default ... */
#define PEER_BUF_SIZE	32784		/* ... of OFED's size */
#define PEER_TIMEOUT	10000		/* ms; TCG guests are slow */

/* What can be awaited; bits of peer->events. Names in main.c. */
enum peer_event {
	EV_REQ, EV_REP, EV_RTU, EV_REJ, EV_CM_TIMEOUT, EV_DREQ, EV_DREP,
	EV_TIMEWAIT, EV_COMM_EST, EV_QP_ERROR, EV_FLUSHED, EV_SEND_ERROR, EV_GONE,
	EV_COUNT
};

enum peer_auto { AUTO_OFF, AUTO_SINK, AUTO_ECHO };
enum peer_on_advert { ADVERT_READ, ADVERT_SENDSM, ADVERT_IGNORE };

/* A message in memory, on its way in or out */
struct peer_buf {
	struct list_head	list;
	struct ib_cqe		cqe;
	struct peer		*peer;
	u64			dma;
	u32			size;
	u32			len;	/* received, or to be sent */
	u32			done;	/* progress, for auto.c */
	u8			*data;
};

/* Memory of ours that the other side may read and write */
struct peer_mr {
	struct list_head	list;
	struct ib_mr		*mr;
	struct scatterlist	sg;
	void			*mem;
	u32			len;
	int			id;
};

/* What a message we sent said of our receive buffers */
struct peer_sent {
	u32	ack;
	u16	bufs;
};

struct peer {
	struct list_head	all;		/* peers_lock */
	struct mutex		cmd;		/* one command at a time; what has no lock below */

	char			*reply;
	size_t			reply_len, reply_off;

	struct ib_device	*dev;
	struct ib_cm_id		*listen_id;
	u16			sid_port;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	struct list_head	mrs;
	int			mr_ids;
	bool			established;
	bool			initialised;	/* the QP is out of RESET */
	u32			psn;
	u32			post, buf_size;	/* receive buffers at setup */
	u8			rd_in, rd_out;	/* RDMA read depth, ours and theirs */

	struct mutex		tx;		/* order of MSeq is order of posting */

	spinlock_t		lock;
	struct ib_cm_id		*cm_id;		/* set under lock; cleared under cmd as well */
	bool			may_connect;	/* a REQ is welcome */
	u8			hello[SDP_HELLO_ACK_SIZE];	/* theirs, Hello or HelloAck */
	u32			hello_len;
	u32			rej_reason;
	u8			rej_data[IB_CM_REJ_PRIVATE_DATA_SIZE];
	struct list_head	rx;		/* received, not consumed */
	struct list_head	spare;		/* receive buffers not posted */
	struct list_head	sent_out;	/* what was sent last, see send_done() */
	u32			n_sent_out;
	u32			posted;
	bool			repost;		/* consumed buffers go back at once */
	u32			tx_mseq, rx_mseq;
	u32			una;		/* highest MSeqAck seen */
	bool			advert_pending;	/* their SrcAvail, not answered */
	bool			pipelined;	/* their sending half's mode */
	u32			limit;		/* highest MSeq they have a buffer for */
	u32			peer_size;	/* of their receive buffers */
	u32			tx_pending;
	struct peer_sent	sent[PEER_HISTORY];
	u32			bad_count;
	char			bad[96];	/* the first breach seen */
	u64			rx_bytes;	/* payload consumed, and its CRC-32 */
	u32			rx_crc;

	unsigned long		events;		/* atomic bits */
	wait_queue_head_t	wait;

	struct work_struct	work;		/* auto.c */
	enum peer_auto		mode;
	enum peer_on_advert	on_advert;
	bool			credit_updates;
	bool			disconn_sent, disconn_rcvd;
	u64			rd_completed;
	u32			sendsm_count;
};

/* A command's words */
struct args {
	int	n;
	int	err;
	char	*word[PEER_WORDS];
};

/* main.c */
__printf(2, 3) void reply(struct peer *p, const char *fmt, ...);
void reply_hex(struct peer *p, const u8 *data, u32 len);
const char *arg(const struct args *a, int n);
const char *arg_key(const struct args *a, const char *key);
u64 arg_num(struct args *a, int n, u64 dflt);
u64 arg_keynum(struct args *a, const char *key, u64 dflt);
int arg_hex(const char *s, u8 *buf, u32 max);
struct ib_device *peer_device(const char *name);
void peer_event(struct peer *p, enum peer_event ev);
int peer_wait(struct peer *p, unsigned long events, u64 ms);

/* cm.c */
int cm_connect(struct peer *p, struct args *a);
int cm_wait(struct peer *p, struct args *a);
int cm_listen(struct peer *p, struct args *a);
int cm_accept(struct peer *p, struct args *a);
int cm_reject(struct peer *p, struct args *a);
int cm_rtu(struct peer *p, struct args *a);
int cm_dreq(struct peer *p, struct args *a);
void cm_close(struct peer *p);
void cm_unlisten(struct peer *p);

/* qp.c */
int qp_create(struct peer *p);
void qp_destroy(struct peer *p);
int qp_init(struct peer *p, u32 port_num, u16 pkey_index);
int qp_connect(struct peer *p, bool passive);
int qp_kill(struct peer *p);
int qp_post(struct peer *p, u32 count, u32 size);
void qp_consume(struct peer *p, struct peer_buf *b);
struct peer_buf *qp_buf(struct peer *p, u32 size, enum dma_data_direction dir);
void qp_buf_free(struct peer_buf *b, enum dma_data_direction dir);
s32 qp_credits(struct peer *p);
int qp_wait_credits(struct peer *p, s32 need, u64 ms);
int qp_flush(struct peer *p, u32 pending, u64 ms);
void qp_stamp(struct peer *p, struct sdp_msg *m);
int qp_send(struct peer *p, struct peer_buf *b, s32 need);
int qp_rdma(struct peer *p, enum ib_wr_opcode op, u32 rkey, u64 va, struct peer_buf *b, u32 len);
int qp_mr(struct peer *p, struct args *a);
int qp_invalidate(struct peer *p, struct args *a);
struct peer_mr *qp_find_mr(struct peer *p, int id);

/* msg.c */
int msg_hello(struct peer *p, struct args *a, u8 *buf, const struct sockaddr *src,
	      const struct sockaddr *dst);
int msg_hello_ack(struct peer *p, struct args *a, u8 *buf);
void msg_learn_hello(struct peer *p, bool ack);
void msg_print_hello(struct peer *p, bool ack);
void msg_print(struct peer *p, const struct peer_buf *b, bool hex);
void msg_pattern(u8 *buf, u32 len, u8 seed, u64 off);
s32 msg_credits_needed(const struct sdp_msg *m);
int msg_build_send(struct peer *p, struct args *a);
int msg_send_raw(struct peer *p, struct args *a);
int msg_send(struct peer *p, u8 mid, u32 num, const void *payload, u32 len);
void msg_count(struct peer *p, const u8 *data, u32 len);
void msg_count_payload(struct peer *p, const struct peer_buf *b);
int msg_send_wait(struct peer *p, u8 mid, const void *payload, u32 len, u64 ms);
void msg_check(struct peer *p, const struct peer_buf *b);
int msg_mid(const char *name);

/* auto.c */
void auto_work(struct work_struct *work);
int auto_source(struct peer *p, struct args *a);
void auto_reset(struct peer *p);

#endif /* _SDP_PEER_H */
