/* SPDX-License-Identifier: GPL-2.0 */
/* Sinks: memory of a receiver that the peer writes to; see sink.c */
#ifndef _SDP_SINK_H
#define _SDP_SINK_H

#include <linux/completion.h>

#include "mr.h"
#include "sdp.h"
#include "src.h"

/* Less is better served from a buffer: nobody advertises it */
#define SDP_SINK_MIN		(2 * PAGE_SIZE)

/**
 * enum sdp_sink_state - where a sink of ours is
 * @SDP_SINK_WANTED:	to be advertised as soon as that is possible
 * @SDP_SINK_POSTED:	a SinkAvail is with the peer, or on its way
 * @SDP_SINK_VOID:	written, discarded or taken back: its key is being invalidated
 * @SDP_SINK_OVER:	... and that is done; it belongs to its receiver
 */
enum sdp_sink_state {
	SDP_SINK_WANTED,
	SDP_SINK_POSTED,
	SDP_SINK_VOID,
	SDP_SINK_OVER,
};

/**
 * struct sdp_sink - memory of a recv() that waits, for the peer to write to
 * @mr:		the memory
 * @len:	bytes of it
 * @done:	bytes the peer has written
 * @mseq:	its SinkAvail's
 * @state:	enum sdp_sink_state
 * @cancelled:	SinkAvailCancel has been sent
 * @inv_cqe:	completion of the invalidation
 * @over:	completed in SDP_SINK_OVER
 *
 * On the stack of its recv(). Guarded by sdp->lock, until it is over.
 */
struct sdp_sink {
	struct sdp_mr		*mr;
	u32			len;
	u32			done;
	u32			mseq;
	u8			state;
	bool			cancelled;
	struct ib_cqe		inv_cqe;
	struct completion	over;
};

/* Has the peer an advert of ours to write to, as far as is known here? */
static inline bool sdp_sink_posted(const struct sdp_conn *conn)
{
	return conn->rx.sink && conn->rx.sink->state == SDP_SINK_POSTED;
}

/* Have we one of the peer's? */
static inline bool sdp_sink_has_avail(const struct sdp_conn *conn)
{
	return conn->tx.sink_first != conn->tx.sink_last;
}

/* we are the sink */
bool sdp_sink_wanted(struct sock *sk, size_t room, size_t need);
void sdp_sink_learn(struct sock *sk, bool waited, u32 len);
int sdp_sink_recv(struct sock *sk, struct iov_iter *iter, size_t want, long *timeo);
bool sdp_sink_post(struct sdp_conn *conn);
void sdp_sink_data(struct sdp_conn *conn);
void sdp_sink_fin(struct sdp_conn *conn);
enum sdp_bad sdp_sink_crossed(struct sdp_conn *conn, const struct sdp_msg *m);
enum sdp_bad sdp_sink_written(struct sdp_conn *conn, const struct sdp_msg *m);
enum sdp_bad sdp_sink_cancel_acked(struct sdp_conn *conn);
void sdp_sink_cancel_sent(struct sdp_conn *conn);
void sdp_sink_purge(struct sdp_conn *conn);

/* we are the source */
enum sdp_bad sdp_sink_avail(struct sdp_conn *conn, const struct sdp_msg *m);
void sdp_sink_avail_cancel(struct sdp_conn *conn);
void sdp_sink_passed(struct sdp_conn *conn);
bool sdp_sink_write(struct sdp_conn *conn, struct sdp_src *src);
void sdp_sink_write_done(struct sdp_conn *conn, u32 len);

#endif /* _SDP_SINK_H */
