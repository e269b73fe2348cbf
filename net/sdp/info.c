// SPDX-License-Identifier: GPL-2.0
/*
 * SDP_INFO: what a program can learn of its socket and connection.
 */
#include <linux/seq_file.h>

#include "companion.h"
#include "sink.h"

static_assert(sizeof(struct sdp_info) == 320, "fields are only ever added, at the end");

/* What is the connection's; sdp->lock held */
static void sdp_info_conn(const struct sdp_conn *conn, struct sdp_info *info)
{
	const struct sdp_tx *tx = &conn->tx;
	const struct sdp_rx *rx = &conn->rx;

	info->sdpi_snd_flow = tx->mode;
	info->sdpi_rcv_flow = rx->mode;
	info->sdpi_peer_caps = conn->peer_caps;
	info->sdpi_max_adverts = SDP_MAX_ADVERTS;
	info->sdpi_peer_max_adverts = conn->peer_max_adverts;
	info->sdpi_snd_size = tx->size;
	info->sdpi_rcv_size = PAGE_SIZE << rx->order;
	info->sdpi_snd_credits = tx->credits;
	info->sdpi_rcv_credits = rx->granted;
	info->sdpi_rcv_posted = rx->head - rx->tail;
	info->sdpi_unsent = tx->unsent;
	info->sdpi_unacked = tx->unacked;
	info->sdpi_snd_advertised = tx->advertised;
	info->sdpi_src_adverts = tx->n_adverts;
	info->sdpi_peer_src_adverts = rx->adv_last - rx->adv_first;
	info->sdpi_rdma_reads = rx->n_reads;
	info->sdpi_sink_adverts = sdp_sink_posted(conn);
	info->sdpi_peer_sink_adverts = tx->sink_last - tx->sink_first;
}

static void sdp_info_counts(const struct sdp_counts *c, struct sdp_info *info)
{
	info->sdpi_snd_bcopy = c->snd_bcopy;
	info->sdpi_snd_direct = c->snd_direct;
	info->sdpi_snd_zcopy = c->snd_zcopy;
	info->sdpi_rcv_bcopy = c->rcv_bcopy;
	info->sdpi_rcv_zcopy = c->rcv_zcopy;
	info->sdpi_rcv_ahead = c->rcv_ahead;
	info->sdpi_snd_data = c->snd_data;
	info->sdpi_rcv_data = c->rcv_data;
	info->sdpi_src_avail_sent = c->src_avail_sent;
	info->sdpi_src_avail_rcvd = c->src_avail_rcvd;
	info->sdpi_src_cancel_sent = c->src_cancel_sent;
	info->sdpi_src_cancel_rcvd = c->src_cancel_rcvd;
	info->sdpi_sendsm_sent = c->sendsm_sent;
	info->sdpi_sendsm_rcvd = c->sendsm_rcvd;
	info->sdpi_reads = c->reads;
	info->sdpi_snd_zcopy_w = c->snd_zcopy_w;
	info->sdpi_rcv_zcopy_w = c->rcv_zcopy_w;
	info->sdpi_sink_avail_sent = c->sink_avail_sent;
	info->sdpi_sink_avail_rcvd = c->sink_avail_rcvd;
	info->sdpi_sink_discarded = c->sink_discarded;
	info->sdpi_sink_cancel_sent = c->sink_cancel_sent;
	info->sdpi_sink_cancel_rcvd = c->sink_cancel_rcvd;
	info->sdpi_writes = c->writes;
	info->sdpi_az_sends = c->az_sends;
	info->sdpi_az_bytes = c->az_bytes;
	info->sdpi_az_protected = c->az_protected;
	info->sdpi_az_written = c->az_written;
	info->sdpi_az_restored = c->az_restored;
	info->sdpi_az_usec = c->az_usec;
	info->sdpi_az_rcv = c->az_rcv;
}

/**
 * sdp_info_fill() - what there is to tell of a socket, for SDP_INFO and sock_diag
 * @sk:		socket
 * @at:		sdp_transport() of it
 * @info:	zeroed
 *
 * Context: process.
 */
void sdp_info_fill(struct sock *sk, const struct sock *at, struct sdp_info *info)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 thresh = sdp_zcopy_thresh(sk);

	info->sdpi_transport = at == sk ? SDP_INFO_SDP : SDP_INFO_TCP;
	info->sdpi_fallback = at == sk ? SDP_FALLBACK_NONE : READ_ONCE(sdp->reason);
	info->sdpi_mode = READ_ONCE(sdp->mode);
	info->sdpi_zcopy_thresh = thresh == UINT_MAX ? 0 : thresh;
	info->sdpi_zcopy_skip = READ_ONCE(sdp->zcopy_off.skip);
	spin_lock_bh(&sdp->lock);
	info->sdpi_state = READ_ONCE(at->sk_state);
	info->sdpi_unread = sk->sk_state == TCP_LISTEN ? sk->sk_ack_backlog : sdp->rx_bytes;
	info->sdpi_rcv_advertised = sdp->adv_bytes;
	if (sdp->conn)
		sdp_info_conn(sdp->conn, info);
	sdp_info_counts(&sdp->counts, info);
	spin_unlock_bh(&sdp->lock);
}

/**
 * sdp_info_show() - what /proc/PID/fdinfo/FD tells of a socket
 * @m:	the file
 * @sk:	SDP socket, perhaps one TCP has taken the place of
 *
 * How data is to move, and how it has: for whoever looks at a program without tools of ours.
 * Context: process.
 */
void sdp_info_show(struct seq_file *m, struct sock *sk)
{
	static const char * const modes[] = {
		[SDP_AUTO]	= "auto",
		[SDP_BCOPY]	= "bcopy",
		[SDP_ZCOPY]	= "zcopy",
		[SDP_AZ]	= "az",
		[SDP_ZCOPY_W]	= "zcopy-w",
	};
	struct sock *at = sdp_transport(sk);
	struct sdp_info i = { };

	if (!at)
		return;
	sdp_info_fill(sk, at, &i);
	sock_put(at);
	seq_printf(m, "sdp-transport:\t%s\n", i.sdpi_transport == SDP_INFO_SDP ? "sdp" : "tcp");
	seq_printf(m, "sdp-mode:\t%s\n", modes[i.sdpi_mode]);
	seq_printf(m, "sdp-sent:\tbcopy %llu direct %llu zcopy %llu zcopy-w %llu az %llu\n",
		   i.sdpi_snd_bcopy, i.sdpi_snd_direct, i.sdpi_snd_zcopy, i.sdpi_snd_zcopy_w,
		   i.sdpi_az_bytes);
	seq_printf(m, "sdp-received:\tbcopy %llu zcopy %llu ahead %llu zcopy-w %llu az %llu\n",
		   i.sdpi_rcv_bcopy, i.sdpi_rcv_zcopy, i.sdpi_rcv_ahead, i.sdpi_rcv_zcopy_w,
		   i.sdpi_az_rcv);
}

/**
 * sdp_show_fdinfo() - proto_ops.show_fdinfo
 * @m:		the file
 * @sock:	socket
 *
 * Context: process.
 */
void sdp_show_fdinfo(struct seq_file *m, struct socket *sock)
{
	struct sock *sk = READ_ONCE(sock->sk);

	/* What TCP takes over meanwhile has operations of its own the next time */
	if (sk && sdp_is_sdp(sk))
		sdp_info_show(m, sk);
}

/**
 * sdp_get_info() - SDP_INFO
 * @sk:		socket
 * @optval:	where to
 * @optlen:	told how much that is
 * @len:	room there, 0 or more
 *
 * As with TCP_INFO, whoever was compiled with a shorter struct gets that much.
 * Context: process.
 * Return: 0 or -EFAULT.
 */
int sdp_get_info(struct sock *sk, char __user *optval, int __user *optlen, int len)
{
	struct sock *at = sdp_transport(sk);
	struct sdp_info info = { };

	/* Whoever asks has the file open, so there is one */
	sdp_info_fill(sk, at, &info);
	sock_put(at);
	return sdp_put_opt(optval, optlen, len, &info, sizeof(info));
}
