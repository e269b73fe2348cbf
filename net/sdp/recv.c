// SPDX-License-Identifier: GPL-2.0
/*
 * BCopy receiving: from buffers to the program.
 *
 * The copy runs with rx_mutex alone. The buffer stays at the head of the
 * queue meanwhile, where only a receiver takes anything away.
 */
#include "sdp.h"
#include "trace.h"

/* Is there more than the @seen bytes a peeking reader knows, or will there never be? */
static bool sdp_recv_ready(struct sock *sk, unsigned long seen)
{
	return READ_ONCE(sdp_sk(sk)->rx_bytes) > seen || READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

/*
 * Nothing to read: why? 1 to wait, 0 for the end of the stream, or -errno. A
 * receiver that @got some bytes leaves the error to the next. sdp->lock held.
 */
static int sdp_recv_empty(struct sock *sk, bool got)
{
	if (sock_flag(sk, SOCK_DONE) || (got && sk->sk_err))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 0;
	if (sk->sk_state == TCP_CLOSE)
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

/* Finds the bytes @skip behind the first unread one; sdp->lock held */
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
			break;
		}
		skip -= avail;
	}
	return c;
}

/* Takes bytes just copied out of the queue; sdp->lock held */
static void sdp_recv_take(struct sock *sk, struct sdp_buf *buf, u32 len)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	buf->off += len;
	WRITE_ONCE(sdp->rx_bytes, sdp->rx_bytes - len);
	if (buf->off < buf->len)
		return;
	list_del(&buf->list);
	sdp_rx_consumed(sk, buf);
}

static int sdp_recv_wait(struct sock *sk, long *timeo, size_t seen)
{
	if (!*timeo)
		return -EAGAIN;
	*timeo = sdp_wait(sk, *timeo, sdp_recv_ready, seen);
	return *timeo < 0 ? *timeo : 0;
}

static int sdp_recv_copy(const struct sdp_cursor *c, struct msghdr *msg, int flags)
{
	size_t copied;

	if (flags & MSG_TRUNC)
		return c->len;
	copied = copy_page_to_iter(c->buf->page, c->off, c->len, &msg->msg_iter);
	return copied ?: -EFAULT;
}

static int sdp_recv_some(struct sock *sk, struct msghdr *msg, size_t len, int flags, size_t done)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_cursor c;
	int ret;

	spin_lock_bh(&sdp->lock);
	c = sdp_recv_find(sdp, flags & MSG_PEEK ? done : 0, len - done);
	ret = c.buf ? 0 : sdp_recv_empty(sk, done);
	spin_unlock_bh(&sdp->lock);
	if (!c.buf)
		return ret == 1 ? -EAGAIN : ret;
	if (!c.len)
		return 0;

	ret = sdp_recv_copy(&c, msg, flags);
	if (ret < 0)
		return ret;
	SDP_ADD_STATS(sock_net(sk), SDP_MIB_RECV_COPIED, flags & MSG_TRUNC ? 0 : ret);
	if (!(flags & MSG_PEEK)) {
		spin_lock_bh(&sdp->lock);
		sdp_recv_take(sk, c.buf, ret);
		spin_unlock_bh(&sdp->lock);
	}
	return ret;
}

static int sdp_recv_all(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	size_t target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	struct sdp_sock *sdp = sdp_sk(sk);
	size_t done = 0;
	int ret;

	do {
		ret = sdp_recv_some(sk, msg, len, flags, done);
		if (ret > 0) {
			done += ret;
			continue;
		}
		if (!ret && !len)
			break;
		/* -EAGAIN: the queue is empty and more may come */
		if (ret != -EAGAIN || done >= target)
			return done ?: ret;
		/* Another receiver may go on while we wait */
		mutex_unlock(&sdp->rx_mutex);
		ret = sdp_recv_wait(sk, &timeo, flags & MSG_PEEK ? done : 0);
		mutex_lock(&sdp->rx_mutex);
		if (ret)
			return done ?: ret;
	} while (done < len);
	return done;
}

/**
 * sdp_recvmsg() - recvmsg()
 * @sock:	socket
 * @msg:	where to
 * @len:	how much
 * @flags:	MSG_*
 *
 * Context: process. Return: bytes, 0 at the end of the stream, or -errno as TCP's.
 */
int sdp_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = sock->sk;
	struct sdp_sock *sdp = sdp_sk(sk);
	int ret;

	if (flags & MSG_ERRQUEUE)
		return -EAGAIN;		/* nothing is ever put there */
	if (flags & MSG_OOB)
		return -EINVAL;
	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		return -ENOTCONN;
	if (mutex_lock_interruptible(&sdp->rx_mutex))
		return sock_intr_errno(sock_rcvtimeo(sk, flags & MSG_DONTWAIT));
	ret = sdp_recv_all(sk, msg, len, flags);
	mutex_unlock(&sdp->rx_mutex);
	return ret;
}
