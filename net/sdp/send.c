// SPDX-License-Identifier: GPL-2.0
/*
 * BCopy sending: from the program into buffers.
 *
 * The copy runs with tx_mutex alone. The buffer being filled is out of the
 * queue meanwhile (conn->tx.filling), so that completions may push whatever
 * else is there; only a sender appends, so the order of bytes holds.
 */
#include "az.h"
#include "companion.h"
#include "mr.h"
#include "sdp.h"
#include "trace.h"

/* Until an allocation is tried again */
#define SDP_MEM_DELAY		((long)HZ / 50)

static bool sdp_send_connected(struct sock *sk, unsigned long unused)
{
	return READ_ONCE(sk->sk_err) || (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) ||
	       READ_ONCE(sdp_sk(sk)->fallen) ||
	       !((1 << READ_ONCE(sk->sk_state)) & (TCPF_SYN_SENT | TCPF_SYN_RECV));
}

/*
 * Is there anybody to send to? sdp->lock held. -EPIPE, which sk_stream_error()
 * replaces by the socket's error if that is why; only there it is taken off
 * the socket, as a send that got some bytes through must leave it to the next.
 */
static int sdp_send_check(const struct sock *sk)
{
	if (sk->sk_err || (sk->sk_shutdown & SEND_SHUTDOWN) || !sdp_sk(sk)->conn ||
	    !((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		return -EPIPE;
	return 0;
}

/**
 * sdp_send_has_room() - may a sender go on?
 * @sk:		socket
 * @unused:	as sdp_wait() wants it
 *
 * Context: process; takes sdp->lock.
 * Return: true if there is room in the send buffer, as far as TCP_NOTSENT_LOWAT lets
 * it be used, or an error to be told of instead.
 */
bool sdp_send_has_room(struct sock *sk, unsigned long unused)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_conn *conn;
	bool room;

	spin_lock_bh(&sdp->lock);
	conn = sdp->conn;
	/* A connection on its way down says why when all that arrived has been delivered */
	room = sdp_send_check(sk) ||
	       (!conn->ending && !conn->aborted && sk_stream_memory_free(sk) &&
		sdp_notsent_room(sdp, false));
	/* Another sender may have taken the room that this one was woken for, the flag with it */
	if (!room)
		set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	spin_unlock_bh(&sdp->lock);
	return room;
}

static int sdp_send_wait_connected(struct sock *sk, long *timeo)
{
	if (sdp_send_connected(sk, 0))
		return 0;
	*timeo = sdp_wait(sk, *timeo, sdp_send_connected, 0);
	return *timeo < 0 ? *timeo : 0;
}

/* A buffer for @left more bytes, memory charged; NULL when there is no room */
static struct sdp_buf *sdp_send_new_buf(struct sock *sk, struct sdp_conn *conn, size_t left)
{
	u32 want = min_t(size_t, left, conn->tx.size);
	u8 order = min_t(u8, get_order(want), SDP_BUF_ORDER_MAX);
	struct sdp_buf *buf;
	int size;

	/* Don't let one buffer be most of a small send buffer */
	while (order && (PAGE_SIZE << order) > sk->sk_sndbuf / 2)
		order--;
	for (;; order--) {
		buf = sdp_buf_get(conn->dev, order, GFP_NOWAIT);
		if (buf || !order)
			break;
	}
	if (!buf)
		return NULL;
	size = sdp_buf_size(buf);
	if (!sdp_mem_charge(sk, size, SK_MEM_SEND)) {
		sdp_buf_put(buf);
		return NULL;
	}
	buf->oob = false;
	WRITE_ONCE(sk->sk_wmem_queued, sk->sk_wmem_queued + size);
	return buf;
}

static u32 sdp_send_room(const struct sdp_conn *conn, const struct sdp_buf *buf)
{
	u32 cap = min_t(u32, sdp_buf_size(buf), conn->tx.size);

	if (!buf->page || buf->oob)
		return 0;	/* a source; or it ends with the urgent byte */
	return buf->len < cap ? cap - buf->len : 0;
}

/*
 * The buffer to copy into next: the queue's last one if it has room, else a
 * new one. *@room is how much it takes.
 */
static struct sdp_buf *sdp_send_get_buf(struct sock *sk, struct sdp_conn *conn, size_t left,
					u32 *room)
{
	struct sdp_tx *tx = &conn->tx;
	struct sdp_buf *buf;

	if (!list_empty(&tx->queue)) {
		buf = list_last_entry(&tx->queue, struct sdp_buf, list);
		*room = sdp_send_room(conn, buf);
		if (*room) {
			list_del_init(&buf->list);
			goto found;
		}
	}
	if (conn->ending || conn->aborted || !sk_stream_memory_free(sk) ||
	    !sdp_notsent_room(sdp_sk(sk), false))
		return NULL;
	buf = sdp_send_new_buf(sk, conn, left);
	if (!buf)
		return NULL;
	*room = sdp_send_room(conn, buf);
found:
	tx->filling = buf;
	return buf;
}

/* After the copy: back to the queue with the buffer, unless the connection has gone */
static int sdp_send_put_buf(struct sock *sk, struct sdp_buf *buf, u32 copied, int flags)
{
	struct sdp_conn *conn = sdp_sk(sk)->conn;

	if (!conn || conn->tx.filling != buf) {
		sdp_tx_free_buf(sk, buf);
		return -EPIPE;
	}
	conn->tx.filling = NULL;
	/* shutdown() by another thread: earlier bytes still go, these do not */
	if (sk->sk_shutdown & SEND_SHUTDOWN)
		copied = 0;
	if (!buf->len && !copied) {
		sdp_tx_free_buf(sk, buf);
	} else {
		buf->len += copied;
		buf->more = flags & MSG_MORE;
		buf->oob = copied && (flags & MSG_OOB);
		conn->tx.n_oob += buf->oob;
		sdp_tx_queue_buf(conn, buf, copied);
	}
	sdp_tx_push(conn);
	/* The peer is to know of an urgent byte even if it has no room for it */
	if (conn->tx.n_oob && (flags & MSG_OOB)) {
		sdp_tx_set(conn, SDP_TX_OOB);
		sdp_tx_push(conn);
	}
	return copied ? 0 : sdp_send_check(sk);
}

static int sdp_send_wait(struct sock *sk, long *timeo)
{
	SDP_INC_STATS(sock_net(sk), SDP_MIB_MEM_WAIT);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	if (!*timeo)
		return -EAGAIN;
	if (sdp_send_has_room(sk, 0)) {
		/* It was memory that lacked, not room */
		schedule_timeout_interruptible(min(*timeo, SDP_MEM_DELAY));
		return signal_pending(current) ? sock_intr_errno(*timeo) : 0;
	}
	*timeo = sdp_wait(sk, *timeo, sdp_send_has_room, 0);
	return *timeo < 0 ? *timeo : 0;
}

/**
 * sdp_send_wait_room() - wait for room in the send buffer, or for memory
 * @sk:		socket
 * @timeo:	jiffies at most; reduced
 *
 * Context: process, tx_mutex held, but not while waiting: another sender may go
 * on.
 * Return: 0 when it is worth trying again, or -errno: -EPIPE if nothing can be sent any more.
 */
int sdp_send_wait_room(struct sock *sk, long *timeo)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int err;

	mutex_unlock(&sdp->tx_mutex);
	err = sdp_send_wait(sk, timeo);
	mutex_lock(&sdp->tx_mutex);
	if (err)
		return err;
	spin_lock_bh(&sdp->lock);
	err = sdp_send_check(sk);
	spin_unlock_bh(&sdp->lock);
	return err;
}

/* Copies and queues one buffer's worth, @left bytes at most; bytes, 0 for no room now, or -errno */
static int sdp_send_some(struct sock *sk, struct msghdr *msg, size_t left)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_buf *buf = NULL;
	u32 room, want, copied, off;
	int err, flags;

	spin_lock_bh(&sdp->lock);
	err = sdp_send_check(sk);
	if (!err)
		buf = sdp_send_get_buf(sk, sdp->conn, left, &room);
	spin_unlock_bh(&sdp->lock);
	if (err || !buf)
		return err;

	want = min_t(size_t, left, room);
	off = buf->len;
	copied = copy_page_from_iter(buf->page, off, want, &msg->msg_iter);
	/* What the caller said of all of it holds for its end */
	flags = msg_data_left(msg) ? 0 : msg->msg_flags;

	spin_lock_bh(&sdp->lock);
	err = sdp_send_put_buf(sk, buf, copied, flags);
	spin_unlock_bh(&sdp->lock);
	if (err)
		return err;
	SDP_ADD_STATS(sock_net(sk), SDP_MIB_SEND_COPIED, copied);
	return copied ?: -EFAULT;
}

/* A few bytes on an idle connection go without a buffer; 0 if they have to take the usual way */
static int sdp_send_tiny(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u8 data[SDP_TINY_MAX];
	bool sent = false;

	if (len > SDP_TINY_MAX || (msg->msg_flags & (MSG_MORE | MSG_OOB)) || READ_ONCE(sdp->cork))
		return 0;
	if (!copy_from_iter_full(data, len, &msg->msg_iter))
		return 0;	/* the usual way sends what can be read */

	spin_lock_bh(&sdp->lock);
	if (!sdp_send_check(sk))
		sent = sdp_tx_tiny(sdp->conn, data, len);
	spin_unlock_bh(&sdp->lock);
	if (!sent) {
		iov_iter_revert(&msg->msg_iter, len);
		return 0;
	}
	SDP_ADD_STATS(sock_net(sk), SDP_MIB_SEND_COPIED, len);
	return len;
}

/* What need not be copied and needs no wait either; 0 to go on by copying, or -errno */
static int sdp_send_async(struct sock *sk, struct msghdr *msg, struct ubuf_info *uarg, long *timeo,
			  int *sent)
{
	bool pages = (msg->msg_flags & MSG_SPLICE_PAGES) && !user_backed_iter(&msg->msg_iter);
	bool copied = *sent;
	int err = 0;

	if (!uarg && !pages)
		return 0;
	/* The urgent byte goes in a message */
	if (!(msg->msg_flags & MSG_OOB))
		err = sdp_zcopy_send_async(sk, msg, timeo, uarg, sent);
	if (!err && uarg && (copied || msg_data_left(msg))) {
		net_zcopy_get(uarg);
		sdp_ubuf_complete(uarg, false);
	}
	return err;
}

static int sdp_send_all(struct sock *sk, struct msghdr *msg, size_t len, struct ubuf_info *uarg,
			long timeo)
{
	int ret, sent = sdp_send_tiny(sk, msg, len);
	bool may, az, zcopy;
	size_t piece;

	ret = sdp_send_async(sk, msg, uarg, &timeo, &sent);
	if (ret)
		return sent ?: ret;
	/* The urgent byte goes in a message */
	may = !uarg && !(msg->msg_flags & MSG_OOB);
	az = may && sdp_az_wanted(sk, msg);
	zcopy = may && sdp_zcopy_wanted(sk, msg, timeo);
	while (msg_data_left(msg)) {
		piece = msg_data_left(msg);
		if (az && sdp_az_large(sk, msg)) {
			ret = sdp_az_send(sk, msg, &timeo, &sent);
			if (ret)
				return sent ?: ret;
			az = msg_data_left(msg) && !sdp_az_large(sk, msg);
			continue;
		}
		if (zcopy && sdp_zcopy_large(sk, msg)) {
			ret = sdp_zcopy_send(sk, msg, &timeo, &sent);
			if (ret)
				return sent ?: ret;
			/* A large piece is left because it can't be sent so */
			zcopy = msg_data_left(msg) && !sdp_zcopy_large(sk, msg);
			continue;
		}
		if (az || zcopy)
			piece = sdp_mr_segment(&msg->msg_iter, NULL) ?: piece;
		ret = sdp_send_some(sk, msg, piece);
		if (ret > 0) {
			sent += ret;
			continue;
		}
		/* Where memory lacks, not room, a few bytes go, so that what holds it gets on */
		if (!ret && sdp_send_has_room(sk, 0))
			ret = sdp_send_tiny(sk, msg, min_t(size_t, piece, SDP_TINY_MAX));
		if (ret > 0) {
			sent += ret;
			continue;
		}
		if (!ret) {
			ret = sdp_send_wait_room(sk, &timeo);
			if (!ret)
				continue;
		}
		return sent ?: ret;
	}
	return sent;
}

/*
 * Whom a sender wants to be told when its memory is free again: *@uarg, NULL
 * for nobody. True if it was made here, and is to be given back.
 */
static bool sdp_send_notify(struct sock *sk, struct msghdr *msg, size_t len,
			    struct ubuf_info **uarg)
{
	*uarg = msg->msg_ubuf;
	if (*uarg || !(msg->msg_flags & MSG_ZEROCOPY) || !sock_flag(sk, SOCK_ZEROCOPY) || !len)
		return false;
	*uarg = msg_zerocopy_realloc(sk, len, NULL);
	return true;
}

static int sdp_send_locked(struct sock *sk, struct msghdr *msg, size_t len, long timeo)
{
	struct ubuf_info *uarg;
	bool own;
	int ret;

	if (!len) {
		spin_lock_bh(&sdp_sk(sk)->lock);
		ret = sdp_send_check(sk);
		spin_unlock_bh(&sdp_sk(sk)->lock);
		return ret;
	}
	own = sdp_send_notify(sk, msg, len, &uarg);
	if (own && !uarg)
		return -ENOBUFS;
	ret = sdp_send_all(sk, msg, len, uarg, timeo);
	if (!own)
		return ret;
	if (ret > 0)
		net_zcopy_put(uarg);
	else
		net_zcopy_put_abort(uarg, true);
	return ret;
}

/* MSG_FASTOPEN: connect(), then send(). The data doesn't go with the request. */
static int sdp_send_connect(struct socket *sock, struct msghdr *msg)
{
	struct sockaddr *addr = msg->msg_name;
	int flags = msg->msg_flags & MSG_DONTWAIT ? O_NONBLOCK : 0;

	if (!addr)
		return READ_ONCE(sock->sk->sk_state) == TCP_CLOSE ? -EINVAL : -EISCONN;
	if (msg->msg_namelen >= (int)sizeof(addr->sa_family) && addr->sa_family == AF_UNSPEC)
		return -EOPNOTSUPP;
	return sock->ops->connect(sock, addr, msg->msg_namelen, flags);
}

/* Control data has no effect, but is to be well-formed, and of kinds that TCP knows */
static int sdp_send_control(struct sock *sk, struct msghdr *msg)
{
	struct sockcm_cookie sockc = { };

	return sock_cmsg_send(sk, msg, &sockc) ? -EINVAL : 0;
}

/**
 * sdp_sendmsg() - sendmsg()
 * @sock:	socket
 * @msg:	data and flags
 * @len:	bytes
 *
 * Context: process.
 * Return: bytes taken, or -errno as TCP's.
 */
int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = READ_ONCE(sock->sk);
	struct sdp_sock *sdp = sdp_sk(sk);
	long timeo;
	int ret;

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->sendmsg(sock, msg, len);
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	if (unlikely(msg->msg_flags & MSG_FASTOPEN)) {
		/* Its result is this call's, by whichever protocol; TCP is not to connect again */
		ret = sdp_send_connect(sock, msg);
		if (ret)
			return ret;
		msg->msg_flags &= ~MSG_FASTOPEN;
	}
	ret = sdp_send_wait_connected(sk, &timeo);
	if (ret)
		goto out;
	if (unlikely(msg->msg_controllen)) {
		ret = sdp_send_control(sk, msg);
		if (ret)
			goto out;
	}
	if (mutex_lock_interruptible(&sdp->tx_mutex)) {
		ret = sock_intr_errno(timeo);
		goto out;
	}
	ret = sdp_send_locked(sk, msg, len, timeo);
	mutex_unlock(&sdp->tx_mutex);
out:
	if (ret >= 0)
		return ret;
	/* Pairs with sdp_companion_graft(); nothing has been sent where SDP never connected */
	if (smp_load_acquire(&sdp->fallen))
		return sdp_tcp_ops(sock->sk)->sendmsg(sock, msg, len);
	return sk_stream_error(sk, msg->msg_flags, ret);
}
