// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving: from buffers to the program, or, where the peer has advertised
 * its memory and the program's is good for it, directly (read.c).
 *
 * The copy runs with rx_mutex alone. The buffer stays at the head of the
 * queue meanwhile, where only a receiver takes anything away.
 */
#include <linux/sched/stat.h>
#include <linux/tcp.h>

#include "companion.h"
#include "read.h"
#include "sdp.h"
#include "sink.h"
#include "trace.h"

/* Is there more than the @seen bytes a peeking reader knows, or will there never be? */
static bool sdp_recv_ready(struct sock *sk, unsigned long seen)
{
	return READ_ONCE(sdp_sk(sk)->rx_bytes) > seen || READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE || READ_ONCE(sdp_sk(sk)->fallen);
}

/**
 * sdp_recv_ready_direct() - the same for one whose memory adverts can be read into
 * @sk:		socket
 * @seen:	bytes it knows of
 *
 * Context: any.
 * Return: true if there is a reason not to wait.
 */
bool sdp_recv_ready_direct(struct sock *sk, unsigned long seen)
{
	return READ_ONCE(sdp_sk(sk)->adv_bytes) || sdp_recv_ready(sk, seen);
}

/*
 * Nothing to read: why? 1 to wait, 0 for the end of the stream, or -errno. A
 * receiver that @got some bytes leaves the error to the next. sdp->lock held.
 */
static int sdp_recv_empty(struct sock *sk, bool got)
{
	if (sdp_sk(sk)->rcv_done || (got && sk->sk_err))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	if (sk->sk_state == TCP_CLOSE || sdp_sk(sk)->fallen)
		return -ENOTCONN;
	return 1;
}

/**
 * struct sdp_cursor - where a receiver is in the queue
 * @buf:	buffer with unread bytes, or NULL
 * @off:	first byte to take
 * @len:	bytes to take
 */
struct sdp_cursor {
	struct sdp_buf	*buf;
	u32		off;
	u32		len;
};

/*
 * Finds the bytes @skip behind the first unread one, none beyond the urgent one
 * if that comes later; sdp->lock held
 */
static struct sdp_cursor sdp_recv_find(struct sdp_sock *sdp, size_t skip, size_t want)
{
	struct sdp_cursor c = { };
	struct sdp_buf *buf;

	list_for_each_entry(buf, &sdp->rx_queue, list) {
		u32 avail = buf->len - buf->off;

		if (skip < avail) {
			c.buf = buf;
			c.off = buf->off + skip;
			c.len = min_t(size_t, want, avail - skip);
			if (buf == sdp->urg_buf && avail - skip > 1)
				c.len = min_t(size_t, c.len, avail - skip - 1);
			break;
		}
		skip -= avail;
	}
	return c;
}

/**
 * sdp_recv_take() - take bytes out of the queue
 * @sk:		socket
 * @buf:	first buffer of the queue
 * @len:	how many of its bytes
 *
 * Context: a receiver that has copied them, sdp->lock held; or any, for the
 * urgent byte no receiver is looking at.
 */
void sdp_recv_take(struct sock *sk, struct sdp_buf *buf, u32 len)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	buf->off += len;
	WRITE_ONCE(sdp->rx_bytes, sdp->rx_bytes - len);
	if (buf->off == buf->len) {
		sdp_oob_passed(sdp, buf);
		list_del(&buf->list);
		sdp_rx_consumed(sk, buf);
	}
	sdp_oob_update(sdp);
}

/*
 * SO_BUSY_POLL and net.sdp.recv_poll: what is about to come is seen sooner
 * without going to sleep for it. Not at the cost of anybody else who wants
 * this CPU, who may be the one to bring it: a thread that has become runnable
 * here need not be one that need_resched() tells of, for the scheduler may let
 * it wait for the end of our slice.
 */
static void sdp_recv_spin(struct sock *sk, bool (*ready)(struct sock *sk, unsigned long seen),
			  size_t seen)
{
	int usec = READ_ONCE(sdp_pernet(sock_net(sk))->recv_poll);
	ktime_t end;

	usec = max_t(int, usec, READ_ONCE(sk->sk_ll_usec));
	if (likely(!usec))
		return;
	end = ktime_add_us(ktime_get(), usec);
	while (!ready(sk, seen) && single_task_running() && !need_resched() &&
	       !signal_pending(current) && ktime_before(ktime_get(), end))
		cpu_relax();
}

static int sdp_recv_wait(struct sock *sk, long *timeo, size_t seen, bool direct)
{
	bool (*ready)(struct sock *sk, unsigned long seen) =
		direct ? sdp_recv_ready_direct : sdp_recv_ready;

	if (!*timeo)
		return -EAGAIN;
	sdp_recv_spin(sk, ready, seen);
	*timeo = sdp_wait(sk, *timeo, ready, seen);
	return *timeo < 0 ? *timeo : 0;
}

static int sdp_recv_copy(const struct sdp_cursor *c, struct msghdr *msg, int flags)
{
	size_t copied;

	if (flags & MSG_TRUNC)
		return c->len;
	/* Not copy_page_to_iter(): before 6.5 it gives a pipe the page itself, which is ours */
	copied = copy_to_iter(page_address(c->buf->page) + c->off, c->len, &msg->msg_iter);
	return copied ?: -EFAULT;
}

/**
 * struct sdp_recv - what a recvmsg() wants
 * @msg:	where to
 * @len:	how much in all
 * @done:	how much it has
 * @peek:	MSG_PEEK: how far behind the first unread byte it is
 * @target:	how much it waits for
 * @flags:	MSG_*
 * @wait:	it may wait
 * @waited:	it has, since it got the last byte
 * @direct:	it waits for adverts as well as for data in buffers
 * @stamp:	when the last of it came, or 0
 * @away:	some of what it has is still to come, into a region
 */
struct sdp_recv {
	struct msghdr	*msg;
	size_t		len;
	size_t		done;
	size_t		peek;
	size_t		target;
	int		flags;
	bool		wait;
	bool		waited;
	bool		direct;
	ktime_t		stamp;
	bool		away;
};

static bool sdp_recv_direct_ok(const struct sock *sk, const struct sdp_recv *r)
{
	return r->wait && !(r->flags & (MSG_PEEK | MSG_TRUNC)) &&
	       sdp_read_can_direct(sk, &r->msg->msg_iter, r->len - r->done);
}

/* The next bytes are the urgent one: true to end here, else it may be dropped; sdp->lock held */
static bool sdp_recv_mark(struct sock *sk, struct sdp_recv *r, struct sdp_cursor *c)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (c->buf != sdp->urg_buf || c->off + 1 < c->buf->len || !c->len)
		return false;
	if (r->done)
		return true;
	if (sock_flag(sk, SOCK_URGINLINE))
		return false;
	if (r->flags & MSG_PEEK)
		r->peek++;
	else
		sdp_recv_take(sk, c->buf, 1);
	*c = sdp_recv_find(sdp, r->peek, r->len);
	return false;
}

/* Bytes, 0 at the end of the stream or the mark, -EAGAIN when there is nothing now, or -errno */
static int sdp_recv_some(struct sock *sk, struct sdp_recv *r)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_cursor c;
	int ret;

	spin_lock_bh(&sdp->lock);
	c = sdp_recv_find(sdp, r->peek, r->len - r->done);
	if (c.buf && sdp_recv_mark(sk, r, &c))
		c.len = 0;
	ret = c.buf ? 0 : sdp_recv_empty(sk, r->done);
	sdp->rx_busy = c.buf;
	spin_unlock_bh(&sdp->lock);
	if (!c.buf)
		return ret == 1 ? -EAGAIN : ret;
	if (!c.len)
		return 0;

	ret = sdp_recv_copy(&c, r->msg, r->flags);
	if (ret < 0)
		return ret;
	SDP_ADD_STATS(sock_net(sk), SDP_MIB_RECV_COPIED, r->flags & MSG_TRUNC ? 0 : ret);
	if (c.buf->stamp)
		r->stamp = c.buf->stamp;
	if (r->flags & MSG_PEEK) {
		r->peek += ret;
		sk_peek_offset_fwd(sk, ret);
		return ret;
	}
	spin_lock_bh(&sdp->lock);
	sdp_recv_take(sk, c.buf, ret);
	spin_unlock_bh(&sdp->lock);
	sk_peek_offset_bwd(sk, ret);
	return ret;
}

/*
 * Nothing is in buffers, and this recv() is going to wait or to fail: see to
 * it that what is advertised gets there if it can't be taken directly, which
 * has been tried if @tried
 */
static void sdp_recv_prepare(struct sock *sk, struct sdp_recv *r, bool direct, bool tried)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	sdp->eager = !r->wait;
	r->direct = direct && !(tried && sdp->adv_bytes);
	if (r->wait)
		sdp->rx_wait = r->direct ? SDP_RX_DIRECT : SDP_RX_BUFFERED;
	if (conn && sdp->adv_bytes && !r->direct) {
		if (r->wait)
			sdp_read_ahead_some(conn);
		else
			sdp_read_ahead_all(conn);
		sdp_tx_push(conn);
	}
	spin_unlock_bh(&sdp->lock);
}

/* Nothing is in buffers: as above, from what is advertised, or is going to be written */
static int sdp_recv_advert(struct sock *sk, struct sdp_recv *r, long *timeo)
{
	bool direct = sdp_recv_direct_ok(sk, r), tried = false;
	int ret;

	if (direct && READ_ONCE(sdp_sk(sk)->adv_bytes)) {
		WRITE_ONCE(sdp_sk(sk)->rx_wait, SDP_RX_DIRECT);
		ret = sdp_read_away(sk, &r->msg->msg_iter, r->len - r->done,
				    r->done < r->target);
		r->away |= ret > 0;
		if (ret)
			return ret;
		/* It is not to wait for the rest after all */
		if (r->away && r->done >= r->target)
			return -EAGAIN;
		ret = sdp_read_direct(sk, &r->msg->msg_iter, r->len - r->done);
		if (ret) {
			sdp_sink_learn(sk, r->waited, ret);
			r->stamp = sdp_stamp(sk);
			return ret;
		}
		tried = true;
	}
	if (direct && *timeo && r->done < r->target &&
	    sdp_sink_wanted(sk, r->len - r->done, r->target - r->done)) {
		WRITE_ONCE(sdp_sk(sk)->rx_wait, SDP_RX_DIRECT);
		ret = sdp_sink_recv(sk, &r->msg->msg_iter, r->len - r->done, timeo);
		if (ret) {
			r->stamp = sdp_stamp(sk);
			return ret;
		}
		/* It may have waited for what has come another way */
		ret = sdp_recv_some(sk, r);
		if (ret != -EAGAIN)
			return ret;
	}
	if (r->done < r->target)
		sdp_recv_prepare(sk, r, direct, tried);
	return -EAGAIN;
}

static int sdp_recv_all(struct sock *sk, struct sdp_recv *r)
{
	long timeo = sock_rcvtimeo(sk, r->flags & MSG_DONTWAIT);
	struct sdp_sock *sdp = sdp_sk(sk);
	int ret;

	r->peek = max(sk_peek_offset(sk, r->flags), 0);
	r->target = sock_rcvlowat(sk, r->flags & MSG_WAITALL, r->len);
	r->wait = timeo;
	do {
		ret = sdp_recv_some(sk, r);
		if (ret == -EAGAIN)
			ret = sdp_recv_advert(sk, r, &timeo);
		if (ret > 0) {
			r->done += ret;
			r->waited = false;
			continue;
		}
		if (!ret && !r->len)
			break;
		/* -EAGAIN: the queue is empty and more may come */
		if (ret != -EAGAIN || r->done >= r->target)
			return r->done ?: ret;
		/* Another receiver may go on while we wait */
		mutex_unlock(&sdp->rx_mutex);
		r->waited = true;
		ret = sdp_recv_wait(sk, &timeo, r->peek, r->direct);
		mutex_lock(&sdp->rx_mutex);
		if (ret)
			return r->done ?: ret;
	} while (r->done < r->len);
	return r->done;
}

/* SO_TIMESTAMP, SO_TIMESTAMPNS, in the form the option asks for */
static void sdp_recv_put_stamp(const struct sock *sk, struct msghdr *msg, struct timespec64 ts)
{
	bool y2038 = sock_flag(sk, SOCK_TSTAMP_NEW);

	if (y2038 && sock_flag(sk, SOCK_RCVTSTAMPNS)) {
		struct __kernel_timespec t = { ts.tv_sec, ts.tv_nsec };

		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_NEW, sizeof(t), &t);
	} else if (sock_flag(sk, SOCK_RCVTSTAMPNS)) {
		struct __kernel_old_timespec t = { ts.tv_sec, ts.tv_nsec };

		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMPNS_OLD, sizeof(t), &t);
	} else if (y2038) {
		struct __kernel_sock_timeval t = { ts.tv_sec, ts.tv_nsec / NSEC_PER_USEC };

		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_NEW, sizeof(t), &t);
	} else {
		struct __kernel_old_timeval t = { ts.tv_sec, ts.tv_nsec / NSEC_PER_USEC };

		put_cmsg(msg, SOL_SOCKET, SO_TIMESTAMP_OLD, sizeof(t), &t);
	}
}

/* When the last of the data came, with the data, as tcp_recv_timestamp() has it */
static void sdp_recv_tell_stamp(const struct sock *sk, struct msghdr *msg, ktime_t stamp)
{
	struct scm_timestamping_internal tss = { .ts[0] = ktime_to_timespec64(stamp) };
	u32 flags = READ_ONCE(sk->sk_tsflags);

	if (sock_flag(sk, SOCK_RCVTSTAMP))
		sdp_recv_put_stamp(sk, msg, tss.ts[0]);
	if (!(flags & SOF_TIMESTAMPING_SOFTWARE) ||
	    (!(flags & SOF_TIMESTAMPING_RX_SOFTWARE) && (flags & SOF_TIMESTAMPING_OPT_RX_FILTER)))
		return;
	if (sock_flag(sk, SOCK_TSTAMP_NEW))
		put_cmsg_scm_timestamping64(msg, &tss);
	else
		put_cmsg_scm_timestamping(msg, &tss);
}

/* TCP_INQ: what is left, with the data */
static void sdp_recv_tell_inq(struct sock *sk, struct msghdr *msg)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int inq;

	spin_lock_bh(&sdp->lock);
	inq = sdp_oob_inq(sk);
	/* TCP's hint that the end has come, too */
	if (!inq && sdp->rcv_done)
		inq = 1;
	spin_unlock_bh(&sdp->lock);
	put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
}

/* Completions of MSG_ZEROCOPY, in the form of the address family */
static int sdp_recv_errqueue(struct sock *sk, struct msghdr *msg, size_t len)
{
	if (sdp_is_v6(sk))
		return sock_recv_errqueue(sk, msg, len, SOL_IPV6, IPV6_RECVERR);
	return sock_recv_errqueue(sk, msg, len, SOL_IP, IP_RECVERR);
}

/**
 * sdp_recvmsg() - recvmsg()
 * @sock:	socket
 * @msg:	where to
 * @len:	how much
 * @flags:	MSG_*
 *
 * Context: process.
 * Return: bytes, 0 at the end of the stream, or -errno as TCP's.
 */
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = READ_ONCE(sock->sk);
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_recv r = {
		.msg	= msg,
		.len	= len,
		.flags	= flags,
	};
	int ret;

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->recvmsg(sock, msg, len, flags);
	if (flags & MSG_ERRQUEUE)
		return sdp_recv_errqueue(sk, msg, len);
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -ENOTCONN;
	if (flags & MSG_OOB)
		return sdp_oob_recv(sk, msg, len, flags);
	if (mutex_lock_interruptible(&sdp->rx_mutex))
		return sock_intr_errno(sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	WRITE_ONCE(sdp->reader, current);
	ret = sdp_recv_all(sk, &r);
	WRITE_ONCE(sdp->rx_wait, SDP_RX_NOBODY);
	WRITE_ONCE(sdp->rx_busy, NULL);
	mutex_unlock(&sdp->rx_mutex);
	sdp_read_rest(sk);
	/* Pairs with sdp_companion_graft(): what is to come, comes by TCP */
	if (ret == -ENOTCONN && smp_load_acquire(&sdp->fallen))
		return sdp_tcp_ops(sock->sk)->recvmsg(sock, msg, len, flags);
	if (ret >= 0 && unlikely(r.stamp))
		sdp_recv_tell_stamp(sk, msg, r.stamp);
	if (ret >= 0 && unlikely(READ_ONCE(sdp->opt.inq)))
		sdp_recv_tell_inq(sk, msg);
	return ret;
}
