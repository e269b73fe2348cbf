// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data: one byte of the stream that the program may have out of turn.
 *
 * On the wire (IBA A4, BSDH flags) the byte is the last one of a Data message
 * with OOB_PRES. OOB_PEND, in any message, announces it: our sender says so in
 * all messages that go while the byte is queued, and in an empty one of its own
 * when there is no credit for data.
 *
 * What the program sees is TCP's. There is at most one urgent byte, the last
 * that came; it stays in its buffer (sdp_sock.urg_buf, whose last byte it is),
 * where a reader stops before it, the mark. Unless SO_OOBINLINE is set, the
 * next reader drops it there. One that a later one has replaced is a byte as
 * any other.
 *
 * All under sdp->lock unless a comment says otherwise.
 */
#include "sdp.h"

static bool sdp_oob_inline(const struct sock *sk)
{
	return sock_flag(sk, SOCK_URGINLINE);
}

/* The byte is the next to be read */
static bool sdp_oob_at_mark(const struct sdp_sock *sdp)
{
	const struct sdp_buf *buf = sdp->urg_buf;

	return buf && list_first_entry(&sdp->rx_queue, struct sdp_buf, list) == buf &&
	       buf->off + 1 == buf->len;
}

/**
 * sdp_oob_update() - the head of the receive queue has moved, or the mark has
 * @sdp:	socket
 *
 * Context: any, sdp->lock held.
 */
void sdp_oob_update(struct sdp_sock *sdp)
{
	WRITE_ONCE(sdp->urg_mark, sdp_oob_at_mark(sdp));
}

/**
 * sdp_oob_passed() - a buffer has been read to its end
 * @sdp:	socket
 * @buf:	buffer
 *
 * Context: process, sdp->lock held.
 */
void sdp_oob_passed(struct sdp_sock *sdp, const struct sdp_buf *buf)
{
	if (sdp->urg_buf != buf)
		return;
	sdp->urg_buf = NULL;
	WRITE_ONCE(sdp->urg_state, SDP_URG_NONE);
}

/**
 * sdp_oob_forget() - the stream has been given up
 * @sdp:	socket
 *
 * Context: process, sdp->lock held, or nobody else has the socket.
 */
void sdp_oob_forget(struct sdp_sock *sdp)
{
	sdp->urg_buf = NULL;
	sdp->urg_tell = false;
	WRITE_ONCE(sdp->urg_state, SDP_URG_NONE);
	WRITE_ONCE(sdp->urg_mark, false);
}

/**
 * sdp_oob_pending() - OOB_PEND: an urgent byte will come
 * @sk:	socket
 *
 * Context: softirq, sdp->lock held; sdp_oob_tell() follows without.
 */
void sdp_oob_pending(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (sdp->urg_state == SDP_URG_COMING)
		return;
	/* The last one would be dropped by the next reader. One at work counts on the queue. */
	if (sdp_oob_at_mark(sdp) && !sdp_oob_inline(sk) && !sdp->rx_busy)
		sdp_recv_take(sk, sdp->urg_buf, 1);
	sdp->urg_buf = NULL;
	sdp->urg_tell = true;
	WRITE_ONCE(sdp->urg_state, SDP_URG_COMING);
	WRITE_ONCE(sdp->urg_mark, false);
}

/**
 * sdp_oob_arrived() - OOB_PRES: it has come
 * @sk:		socket
 * @buf:	buffer on the receive queue whose last byte it is
 *
 * Context: softirq, sdp->lock held; sdp_oob_tell() follows without.
 */
void sdp_oob_arrived(struct sock *sk, struct sdp_buf *buf)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	sdp_oob_pending(sk);
	sdp->urg_byte = *((u8 *)page_address(buf->page) + buf->len - 1);
	sdp->urg_buf = buf;
	sdp->urg_tell = true;
	WRITE_ONCE(sdp->urg_state, SDP_URG_THERE);
	sdp_oob_update(sdp);
	SDP_INC_STATS(sock_net(sk), SDP_MIB_OOB_RCVD);
}

/**
 * sdp_oob_tell() - SIGURG, and poll()
 * @sk:	socket
 *
 * Context: any, no lock held.
 */
void sdp_oob_tell(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (likely(!READ_ONCE(sdp->urg_tell)))
		return;
	WRITE_ONCE(sdp->urg_tell, false);
	/* The socket, and so who owns it, stays while this is held */
	read_lock_bh(&sk->sk_callback_lock);
	sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready(sk);
}

/**
 * sdp_oob_recv() - recv(MSG_OOB)
 * @sk:		socket
 * @msg:	where to
 * @len:	room there
 * @flags:	MSG_*
 *
 * Context: process, no lock held.
 * Return: bytes, or -errno as TCP's.
 */
int sdp_oob_recv(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int ret = -EAGAIN;
	u8 byte;

	spin_lock_bh(&sdp->lock);
	byte = sdp->urg_byte;
	if (sdp_oob_inline(sk) || sdp->urg_state == SDP_URG_NONE || sdp->urg_state == SDP_URG_READ)
		ret = -EINVAL;
	else if (sk->sk_state == TCP_CLOSE && !sdp->rcv_done)
		ret = -ENOTCONN;
	else if (sdp->urg_state == SDP_URG_THERE)
		ret = 1;
	else if (sk->sk_state == TCP_CLOSE || (sk->sk_shutdown & RCV_SHUTDOWN))
		ret = 0;
	if (ret == 1 && !(flags & MSG_PEEK))
		WRITE_ONCE(sdp->urg_state, SDP_URG_READ);
	spin_unlock_bh(&sdp->lock);
	if (ret != 1)
		return ret;

	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && memcpy_to_msg(msg, &byte, 1))
		return -EFAULT;
	return 1;
}

/**
 * sdp_oob_inq() - bytes that can be read before the mark
 * @sk:	socket
 *
 * Context: process, sdp->lock held.
 * Return: bytes; all there are if there is no mark.
 */
u32 sdp_oob_inq(const struct sock *sk)
{
	const struct sdp_sock *sdp = sdp_sk(sk);
	const struct sdp_buf *buf;
	u32 bytes = 0;

	if (!sdp->urg_buf || sdp_oob_inline(sk))
		return sdp->rx_bytes + sdp->adv_bytes;
	list_for_each_entry(buf, &sdp->rx_queue, list) {
		bytes += buf->len - buf->off;
		if (buf == sdp->urg_buf)
			break;
	}
	return bytes - 1;
}
