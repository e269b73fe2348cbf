// SPDX-License-Identifier: GPL-2.0
/*
 * ZCopy sending: send() waits until the peer has read the program's memory, or
 * the program is told later (MSG_ZEROCOPY, io_uring) or never (page cache).
 *
 * What is large enough goes as sources (src.c), several at a time so that the
 * peer can read one while the next is made ready. If the peer doesn't read,
 * for whatever reason, what is left is taken back and goes by copying, whose
 * buffers let send() return as TCP's would; and the next sends of this socket
 * don't even try.
 */
#include "read.h"
#include "sdp.h"
#include "sink.h"
#include "src.h"
#include "trace.h"

/* A source when the peer takes several, and when it takes one at a time; bytes */
#define SDP_SRC_SEVERAL		(256U << 10)
#define SDP_SRC_ONE		SDP_MR_BYTES
/* Sources made at a time */
#define SDP_SRC_WINDOW		4
/* How long SDP_ZCOPY_W waits for the peer to advertise before it does so itself */
#define SDP_HOLD_TIME		((long)HZ / 50)
/* The peer hasn't read for this long: it may never */
#define SDP_STALL_TIME		((long)HZ)
/* The peer hasn't answered SrcAvailCancel for this long: it breaks the protocol */
#define SDP_CANCEL_TIME		(10 * HZ)
/* Sends that are copied after one the peer did not read, at most */
#define SDP_SKIP_MAX		64

/**
 * sdp_zcopy_thresh() - the smallest send that is not copied
 * @sk:		socket
 *
 * Context: any.
 * Return: bytes, UINT_MAX for none.
 */
u32 sdp_zcopy_thresh(const struct sock *sk)
{
	if (READ_ONCE(sdp_sk(sk)->mode) == SDP_ZCOPY || READ_ONCE(sdp_sk(sk)->mode) == SDP_ZCOPY_W)
		return SDP_TINY_MAX + 1;
	return sdp_thresh(READ_ONCE(sdp_sk(sk)->zthresh),
			  READ_ONCE(sdp_pernet(sock_net(sk))->zcopy_thresh));
}

/**
 * sdp_zcopy_wanted() - is a send() to wait for the peer rather than to copy?
 * @sk:		socket
 * @msg:	what to send
 * @timeo:	how long it may wait, jiffies
 *
 * Context: process, tx_mutex held.
 * Return: true if so.
 */
bool sdp_zcopy_wanted(struct sock *sk, struct msghdr *msg, long timeo)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (!timeo || !user_backed_iter(&msg->msg_iter) || READ_ONCE(sdp->mode) == SDP_BCOPY ||
	    msg_data_left(msg) < sdp_zcopy_thresh(sk))
		return false;
	return READ_ONCE(sdp->mode) == SDP_ZCOPY || !sdp_backoff_skips(&sdp->zcopy_off);
}

/**
 * sdp_zcopy_large() - is what comes next large enough to be worth it?
 * @sk:		socket
 * @msg:	what to send, from a program's memory
 *
 * Small pieces of an iovec are copied, whatever is around them.
 * Context: process.
 * Return: true if so.
 */
bool sdp_zcopy_large(const struct sock *sk, const struct msghdr *msg)
{
	return sdp_mr_segment(&msg->msg_iter, NULL) >= sdp_zcopy_thresh(sk);
}

/**
 * sdp_zcopy_chunk() - how large a source best is
 * @sk:	socket
 *
 * Context: process.
 * Return: bytes.
 */
u32 sdp_zcopy_chunk(struct sock *sk)
{
	struct sdp_conn *conn;
	u32 chunk = SDP_SRC_ONE;

	spin_lock_bh(&sdp_sk(sk)->lock);
	conn = sdp_sk(sk)->conn;
	/* What the peer wants written is one piece, as large as it can be */
	if (conn && conn->peer_max_adverts > 1 && !sdp_sink_has_avail(conn) &&
	    READ_ONCE(sdp_sk(sk)->mode) != SDP_ZCOPY_W)
		chunk = SDP_SRC_SEVERAL;
	spin_unlock_bh(&sdp_sk(sk)->lock);
	return chunk;
}

/*
 * While this sender waits, the peer may do the same: then somebody has to
 * read. Not so if another thread does the reading, which will come by itself.
 */
static bool sdp_zcopy_reads_too(const struct sdp_sock *sdp)
{
	const void *reader = READ_ONCE(sdp->reader);

	return !reader || reader == current;
}

static void sdp_zcopy_waiting(struct sock *sk, int senders)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	sdp->zsenders += senders;
	if (sdp->zsenders && sdp->conn && sdp->adv_bytes) {
		sdp_read_ahead_all(sdp->conn);
		sdp_tx_push(sdp->conn);
	}
	spin_unlock_bh(&sdp->lock);
}

/*
 * Waits for a source of @mine to be over: 0, or -ETIME, -EAGAIN at the send timeout, the errno of a
 * signal
 */
static int sdp_zcopy_wait(struct sock *sk, struct list_head *mine, struct sdp_src *src, long *timeo)
{
	long limit = min(*timeo, SDP_STALL_TIME), hold = 0, left = 0;
	bool both;

	if (try_wait_for_completion(&src->over))
		return 0;
	both = sdp_zcopy_reads_too(sdp_sk(sk));
	if (both)
		sdp_zcopy_waiting(sk, 1);
	if (src->hold) {
		hold = min(limit, SDP_HOLD_TIME);
		left = wait_for_completion_interruptible_timeout(&src->over, hold);
		if (!left)
			sdp_src_release(sk, mine);
		else if (left > 0)
			left += limit - hold;
	}
	if (!left)
		left = wait_for_completion_interruptible_timeout(&src->over, limit - hold);
	if (both)
		sdp_zcopy_waiting(sk, -1);
	if (left < 0)
		return sock_intr_errno(*timeo);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= limit - left;
	if (left)
		return 0;
	return *timeo ? -ETIME : -EAGAIN;
}

/* Makes sources of what is to be sent, as many as fit the window; their number */
static int sdp_zcopy_fill(struct sock *sk, struct msghdr *msg, u32 chunk, struct list_head *mine,
			  int n)
{
	struct sdp_src *src;

	/* The rest of a piece goes as its beginning did */
	while (n < SDP_SRC_WINDOW && msg_data_left(msg) &&
	       (msg->msg_iter.iov_offset || sdp_zcopy_large(sk, msg))) {
		src = sdp_src_new(sk, &msg->msg_iter, min_t(size_t, msg_data_left(msg), chunk),
				  true);
		if (!src) {
			SDP_INC_STATS(sock_net(sk), SDP_MIB_ZCOPY_NO_MR);
			break;
		}
		src->hold = READ_ONCE(sdp_sk(sk)->mode) == SDP_ZCOPY_W &&
			    src->len >= SDP_SINK_MIN && !sdp_sk(sk)->no_hold;
		if (sdp_src_queue(sk, src)) {
			sdp_src_free(src);
			break;
		}
		iov_iter_advance(&msg->msg_iter, src->len);
		list_add_tail(&src->own, mine);
		n++;
	}
	return n;
}

static size_t sdp_zcopy_end(struct sdp_src *src)
{
	size_t done = src->done;

	list_del(&src->own);
	sdp_src_free(src);
	return done;
}

/* Takes everything back that is not over; bytes that were delivered all the same */
static size_t sdp_zcopy_cancel(struct sock *sk, struct list_head *mine)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_src *src, *next;
	size_t done = 0;

	list_for_each_entry_reverse(src, mine, own)
		sdp_src_cancel(sk, src);
	list_for_each_entry_safe(src, next, mine, own) {
		if (!wait_for_completion_timeout(&src->over, SDP_CANCEL_TIME)) {
			spin_lock_bh(&sdp->lock);
			if (sdp->conn)
				sdp_abort(sdp->conn, ETIMEDOUT);
			spin_unlock_bh(&sdp->lock);
			wait_for_completion(&src->over);
		}
		done += sdp_zcopy_end(src);
	}
	return done;
}

/**
 * sdp_zcopy_send() - send without copying, as far as that goes
 * @sk:		socket
 * @msg:	what to send; its iterator moves on by what was sent
 * @timeo:	how long it may wait, jiffies; reduced by what it did
 * @sent:	increased by the bytes sent
 *
 * Stops at a small piece of an iovec.
 * Context: process, tx_mutex held, but not while waiting.
 * Return: 0 to go on
 * by copying, if anything is left, or -errno.
 */
int sdp_zcopy_send(struct sock *sk, struct msghdr *msg, long *timeo, int *sent)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 chunk = sdp_zcopy_chunk(sk);
	size_t left = msg_data_left(msg), done = 0;
	struct sdp_src *src;
	bool whole = true;
	LIST_HEAD(mine);
	int err = 0, n = 0;
	u32 len;

	for (;;) {
		if (whole)
			n = sdp_zcopy_fill(sk, msg, chunk, &mine, n);
		src = list_first_entry_or_null(&mine, struct sdp_src, own);
		if (!src)
			break;
		/* Another sender may go on while we wait */
		mutex_unlock(&sdp->tx_mutex);
		err = sdp_zcopy_wait(sk, &mine, src, timeo);
		mutex_lock(&sdp->tx_mutex);
		if (err) {
			done += sdp_zcopy_cancel(sk, &mine);
			break;
		}
		len = src->len;
		whole &= src->done == len;
		done += sdp_zcopy_end(src);
		n--;
	}
	iov_iter_revert(&msg->msg_iter, left - msg_data_left(msg) - done);
	*sent += done;
	/* One that is interrupted again and again while it waits for an advert must get on */
	sdp->no_hold = err && err != -ETIME && !done;
	if (err != -ETIME) {
		sdp->zcopy_off.misses = 0;
	} else {
		sdp_backoff_miss(&sdp->zcopy_off, SDP_SKIP_MAX);
		SDP_INC_STATS(sock_net(sk), SDP_MIB_ZCOPY_STALL);
		err = 0;
	}
	return err;
}

/* Bytes that can be one source, and more if they are pages */
static size_t sdp_zcopy_piece(struct msghdr *msg)
{
	return user_backed_iter(&msg->msg_iter) ? sdp_mr_segment(&msg->msg_iter, NULL) :
						  msg_data_left(msg);
}

static void sdp_zcopy_flush(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	if (sdp->conn && sdp->conn->tx.held)
		sdp_tx_flush(sdp->conn);
	spin_unlock_bh(&sdp->lock);
}

/* Makes a source of what comes next, or lets the last one have it; bytes, 0 to copy, or -errno */
static int sdp_zcopy_async_some(struct sock *sk, struct msghdr *msg, struct ubuf_info *uarg,
				u32 chunk)
{
	bool more = msg->msg_flags & MSG_SENDPAGE_NOTLAST;
	struct sdp_src *src;
	int err, len;

	if (!uarg) {
		len = sdp_src_extend(sk, &msg->msg_iter, chunk, more);
		if (len)
			return len;
	}
	src = sdp_src_new(sk, &msg->msg_iter, min_t(size_t, msg_data_left(msg), chunk), false);
	if (!src) {
		SDP_INC_STATS(sock_net(sk), SDP_MIB_ZCOPY_NO_MR);
		return 0;
	}
	len = src->len;
	src->buf.more = more && !uarg;
	src->by_send = len < sdp_zcopy_thresh(sk);
	err = sdp_src_queue_async(sk, src, uarg);
	if (!err)
		return len;
	sdp_src_free(src);
	return err == -ENOBUFS ? 0 : err;
}

/**
 * sdp_zcopy_send_async() - send without copying and without waiting for the peer
 * @sk:		socket
 * @msg:	what to send; its iterator moves on by what was sent
 * @timeo:	how long it may wait for room in the send buffer, jiffies
 * @uarg:	whom to tell when the memory is free again, or NULL
 * @sent:	increased by the bytes sent
 *
 * Who made @uarg has counted the pages against RLIMIT_MEMLOCK. What is below
 * the threshold goes as Data, out of the same memory.
 * Context: process, tx_mutex held, but not while waiting.
 * Return: 0 to go on
 * by copying, if anything is left, or -errno.
 */
int sdp_zcopy_send_async(struct sock *sk, struct msghdr *msg, long *timeo, struct ubuf_info *uarg,
			 int *sent)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 chunk = sdp_zcopy_chunk(sk);
	int ret;

	if (READ_ONCE(sdp->mode) == SDP_BCOPY)
		return 0;
	while (sdp_zcopy_piece(msg) > SDP_TINY_MAX) {
		if (!sdp_send_has_room(sk, 0)) {
			/* What waits for more to come must not be what is waited for */
			sdp_zcopy_flush(sk);
			ret = sdp_send_wait_room(sk, timeo);
			if (ret)
				return ret;
			continue;
		}
		ret = sdp_zcopy_async_some(sk, msg, uarg, chunk);
		if (ret <= 0)
			return ret;
		iov_iter_advance(&msg->msg_iter, ret);
		*sent += ret;
		if (!uarg)
			SDP_ADD_STATS(sock_net(sk), SDP_MIB_SPLICE_BYTES, ret);
	}
	return 0;
}
