/* SPDX-License-Identifier: GPL-2.0 */
/* Sources: memory of a sender that the peer reads; see src.c */
#ifndef _SDP_SRC_H
#define _SDP_SRC_H

#include <linux/completion.h>

#include "mr.h"
#include "sdp.h"

struct sdp_az;

/**
 * enum sdp_src_state - where a source is
 * @SDP_SRC_QUEUED:	in the transmit queue; part of it may have gone as Data
 * @SDP_SRC_ADVERTISED:	a SrcAvail is with the peer
 * @SDP_SRC_SENT:	all of it has gone as Data, not all of which is delivered
 * @SDP_SRC_RETIRED:	nobody needs it any more, its key is being invalidated
 * @SDP_SRC_OVER:	... and that is done; it belongs to its sender
 */
enum sdp_src_state {
	SDP_SRC_QUEUED,
	SDP_SRC_ADVERTISED,
	SDP_SRC_SENT,
	SDP_SRC_RETIRED,
	SDP_SRC_OVER,
};

/**
 * struct sdp_src - a stretch of the stream that lies in a sender's memory
 * @buf:	its place in the transmit queue, a buffer without a page; @buf.len is what is
 *		left to send
 * @mr:		the memory
 * @len:	bytes of it; less than there were when a sender has taken the rest back
 * @done:	bytes delivered
 * @posted:	bytes gone as Data, or written to a sink of the peer's
 * @inflight:	messages about those not delivered yet
 * @mseq:	its SrcAvail's
 * @state:	enum sdp_src_state
 * @registered:	its memory is known to the device by a key of its own
 * @exposed:	... that the peer may use
 * @hold:	not to be advertised yet: the peer may be about to (SDP_ZCOPY_W)
 * @by_send:	the peer wants the rest as Data
 * @async:	its sender doesn't wait: it counts as send buffer, and ends by itself
 * @az:		the memory is protected, and its program goes on; a reference, or NULL
 * @uarg:	whom to tell of that, a reference, or NULL
 * @drop:	its sender wants the rest back
 * @inv_cqe:	completion of the invalidation
 * @own:	on its sender's list
 * @over:	completed in SDP_SRC_OVER
 *
 * All but @own is guarded by sdp->lock, until it is over.
 */
struct sdp_src {
	struct sdp_buf		buf;
	struct sdp_mr		*mr;
	u32			len;
	u32			done;
	u32			posted;
	u32			inflight;
	u32			mseq;
	u8			state;
	bool			registered;
	bool			exposed;
	bool			hold;
	bool			by_send;
	bool			drop;
	bool			async;
	struct sdp_az		*az;
	struct ubuf_info	*uarg;
	struct ib_cqe		inv_cqe;
	struct list_head	own;
	struct completion	over;
};

/* The source a place in the transmit queue belongs to, or NULL for a buffer */
static inline struct sdp_src *sdp_buf_src(struct sdp_buf *buf)
{
	return buf->page ? NULL : container_of(buf, struct sdp_src, buf);
}

u32 sdp_src_adverts(struct sock *sk, bool gentle);
struct sdp_src *sdp_src_new(struct sock *sk, const struct iov_iter *iter, u32 max, bool account);
struct sdp_src *sdp_src_new_az(struct sock *sk, struct sdp_az *az, u32 pos, u32 len);
void sdp_src_free(struct sdp_src *src);
int sdp_src_queue(struct sock *sk, struct sdp_src *src);
int sdp_src_queue_async(struct sock *sk, struct sdp_src *src, struct ubuf_info *uarg);
int sdp_src_extend(struct sock *sk, const struct iov_iter *iter, u32 max, bool more);
void sdp_src_cancel(struct sock *sk, struct sdp_src *src);
void __sdp_src_take_back(struct sdp_conn *conn);
void sdp_src_take_back(struct sock *sk);
void sdp_src_release(struct sock *sk, struct list_head *own);

bool sdp_src_post(struct sdp_conn *conn, struct sdp_src *src);
void sdp_src_delivered(struct sdp_conn *conn, struct sdp_src *src);
enum sdp_bad sdp_src_read(struct sdp_conn *conn, const struct sdp_msg *m);
enum sdp_bad sdp_src_refused(struct sdp_conn *conn, const struct sdp_msg *m);
bool sdp_src_recall(struct sdp_conn *conn, u32 mseq_ack);
void sdp_src_purge(struct sdp_conn *conn);
int sdp_src_init(void);
void sdp_src_exit(void);

/* Its registration is posted. If that fails its key may be good all the same. sdp->lock held */
static inline void sdp_src_registered(struct sdp_conn *conn, struct sdp_src *src)
{
	src->registered = true;
	conn->tx.n_srcs++;
}

/* tx.c, for sources and sinks */
bool sdp_tx_post_wr(struct sdp_conn *conn, struct sdp_msg *m, const struct ib_sge *payload,
		    struct ib_send_wr *first, struct sdp_mr *mr);
bool sdp_tx_post_src(struct sdp_conn *conn, struct sdp_msg *m, struct sdp_src *src);
void sdp_tx_posted_src(struct sdp_conn *conn, struct sdp_src *src, u32 written);

#endif /* _SDP_SRC_H */
