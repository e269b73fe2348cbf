// SPDX-License-Identifier: GPL-2.0
/*
 * Options of SOL_TCP. Programs made for TCP set and read them without asking
 * what they talk to, so each that TCP has is here: with its effect where there
 * is something to have an effect on, else kept and given back. What would
 * mean a TCP stream of one's own (TCP_REPAIR, TCP_MD5SIG, TCP_AO) is refused.
 */
#include <linux/tcp.h>
#include <net/tcp.h>

#include "sdp.h"

/* TCP_LINGER2 beyond is cut, seconds */
#define SDP_LINGER2_MAX		120
/* What a new socket's TCP_MAXSEG is, as TCP's */
#define SDP_MSS_DEFAULT		TCP_MSS_DEFAULT

/**
 * sdp_keepidle() - how long a connection is idle before the peer is asked
 * @sk:	socket
 *
 * Context: any.
 * Return: seconds.
 */
u32 sdp_keepidle(const struct sock *sk)
{
	return READ_ONCE(sdp_sk(sk)->opt.keepidle) ?:
	       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_keepalive_time) / HZ;
}

/**
 * sdp_keepintvl() - how long an answer is waited for
 * @sk:	socket
 *
 * Context: any.
 * Return: seconds.
 */
u32 sdp_keepintvl(const struct sock *sk)
{
	return READ_ONCE(sdp_sk(sk)->opt.keepintvl) ?:
	       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_keepalive_intvl) / HZ;
}

/**
 * sdp_keepcnt() - how many times
 * @sk:	socket
 *
 * Context: any.
 * Return: number.
 */
u32 sdp_keepcnt(const struct sock *sk)
{
	return READ_ONCE(sdp_sk(sk)->opt.keepcnt) ?:
	       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_keepalive_probes);
}

/**
 * sdp_notsent_room() - does TCP_NOTSENT_LOWAT let more be queued?
 * @sdp:	socket
 * @wake:	who asks would wake a sender, so there has to be some use in it
 *
 * Context: any, sdp->lock held.
 * Return: true if so.
 */
bool sdp_notsent_room(const struct sdp_sock *sdp, bool wake)
{
	u32 limit = READ_ONCE(sdp->opt.notsent_lowat);

	return !limit || !sdp->conn || sdp->conn->tx.unsent << wake < limit;
}

static int sdp_set_range(u16 *to, int val, int max)
{
	if (val < 1 || val > max)
		return -EINVAL;
	WRITE_ONCE(*to, val);
	return 0;
}

static int sdp_set_count(u8 *to, int val, int min, int max)
{
	if (val < min || val > max)
		return -EINVAL;
	WRITE_ONCE(*to, val);
	return 0;
}

static int sdp_set_bool(bool *to, int val)
{
	if (val < 0 || val > 1)
		return -EINVAL;
	WRITE_ONCE(*to, val);
	return 0;
}

/* What was held back may go now, or a sender go on, or a timer be wanted sooner */
static void sdp_tcp_changed(struct sock *sk, bool flush)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	spin_lock_bh(&sdp->lock);
	if (sdp->conn) {
		if (flush)
			sdp_tx_flush(sdp->conn);
		else
			sdp_tx_push(sdp->conn);
		sdp_probe_arm(sdp->conn);
	}
	spin_unlock_bh(&sdp->lock);
	sdp_write_space(sk);
}

/* As TCP translates seconds to retransmissions and back: 1, 3, 7, 15 ... */
static u32 sdp_defer_time(int val)
{
	u32 timeout = 1, sum = 1;

	if (val <= 0)
		return 0;
	while ((u32)val > sum && sum < 127 * 120) {
		timeout = min(timeout * 2, 120U);
		sum += timeout;
	}
	return sum;
}

/* Options that only some states take */
static bool sdp_tcp_new(const struct sock *sk)
{
	return (1 << READ_ONCE(sk->sk_state)) & (TCPF_CLOSE | TCPF_LISTEN);
}

static int sdp_set_fastopen(struct sock *sk, int optname, int val)
{
	struct sdp_tcp_options *opt = &sdp_sk(sk)->opt;

	switch (optname) {
	case TCP_FASTOPEN:
		if (val < 0 || !sdp_tcp_new(sk))
			return -EINVAL;
		WRITE_ONCE(opt->fastopen, val);
		return 0;
	case TCP_FASTOPEN_CONNECT:
		if (sk->sk_state != TCP_CLOSE)
			return -EINVAL;
		return sdp_set_bool(&opt->fastopen_connect, val);
	default:
		if (!sdp_tcp_new(sk))
			return -EINVAL;
		return sdp_set_bool(&opt->fastopen_no_cookie, val);
	}
}

/* Those without any effect but to be told again */
static int sdp_set_tcp_kept(struct sock *sk, int optname, int val)
{
	struct sdp_tcp_options *opt = &sdp_sk(sk)->opt;

	switch (optname) {
	case TCP_MAXSEG:
		if (val && (val < TCP_MIN_MSS || val > MAX_TCP_WINDOW))
			return -EINVAL;
		WRITE_ONCE(opt->user_mss, val);
		return 0;
	case TCP_SYNCNT:
		return sdp_set_count(&opt->syncnt, val, 1, MAX_TCP_SYNCNT);
	case TCP_WINDOW_CLAMP:
		if (!val && sk->sk_state != TCP_CLOSE)
			return -EINVAL;
		WRITE_ONCE(opt->clamp, val ? max_t(int, val, SOCK_MIN_RCVBUF / 2) : 0);
		return 0;
	case TCP_QUICKACK:
		WRITE_ONCE(opt->noquickack, !val);
		return 0;
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_NO_COOKIE:
		return sdp_set_fastopen(sk, optname, val);
	case TCP_THIN_LINEAR_TIMEOUTS:
		return sdp_set_bool(&opt->thin_lto, val);
	case TCP_THIN_DUPACK:
		return val < 0 || val > 1 ? -EINVAL : 0;
	case TCP_SAVE_SYN:
		return sdp_set_count(&opt->save_syn, val, 0, 2);
	case TCP_TX_DELAY:
		WRITE_ONCE(opt->tx_delay, val);
		return 0;
	case TCP_REPAIR:
	case TCP_REPAIR_QUEUE:
	case TCP_REPAIR_WINDOW:
	case TCP_TIMESTAMP:
		return -EPERM;
	case TCP_REPAIR_OPTIONS:
	case TCP_QUEUE_SEQ:
		return -EINVAL;
	case TCP_MD5SIG:
	case TCP_MD5SIG_EXT:
		return IS_ENABLED(CONFIG_TCP_MD5SIG) ? -EINVAL : -ENOPROTOOPT;
	default:
		return -ENOPROTOOPT;
	}
}

/* Those that have an effect */
static int sdp_set_tcp_int(struct sock *sk, int optname, int val)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_tcp_options *opt = &sdp->opt;
	bool flush = false;
	int err = 0;

	switch (optname) {
	case TCP_NODELAY:
		WRITE_ONCE(sdp->nonagle, val);
		flush = val;
		break;
	case TCP_CORK:
		WRITE_ONCE(sdp->cork, val);
		flush = !val;
		break;
	case TCP_KEEPIDLE:
		err = sdp_set_range(&opt->keepidle, val, MAX_TCP_KEEPIDLE);
		break;
	case TCP_KEEPINTVL:
		err = sdp_set_range(&opt->keepintvl, val, MAX_TCP_KEEPINTVL);
		break;
	case TCP_KEEPCNT:
		err = sdp_set_count(&opt->keepcnt, val, 1, MAX_TCP_KEEPCNT);
		break;
	case TCP_USER_TIMEOUT:
		if (val < 0)
			return -EINVAL;
		WRITE_ONCE(opt->user_timeout, val);
		break;
	case TCP_LINGER2:
		WRITE_ONCE(opt->linger2, clamp(val, -1, SDP_LINGER2_MAX));
		return 0;
	case TCP_DEFER_ACCEPT:
		WRITE_ONCE(opt->defer, sdp_defer_time(val));
		return 0;
	case TCP_NOTSENT_LOWAT:
		WRITE_ONCE(opt->notsent_lowat, val);
		break;
	case TCP_INQ:
		return sdp_set_bool(&opt->inq, val);
	case SDP_ZCOPY_THRESH:
		return sdp_set_sdp(sk, optname, val);
	default:
		return sdp_set_tcp_kept(sk, optname, val);
	}
	if (!err)
		sdp_tcp_changed(sk, flush);
	return err;
}

/* The namespace's congestion control, which is what TCP would use */
static void sdp_ca_default(const struct sock *sk, char *name)
{
	const struct tcp_congestion_ops *ca;

	rcu_read_lock();
	ca = rcu_dereference(sock_net(sk)->ipv4.tcp_congestion_control);
	strscpy_pad(name, ca ? ca->name : "", TCP_CA_NAME_MAX);
	rcu_read_unlock();
}

static int sdp_get_name(char *name, sockptr_t optval, unsigned int optlen)
{
	int len;

	if (optlen < 1)
		return -EINVAL;
	len = strncpy_from_sockptr(name, optval, min_t(long, TCP_CA_NAME_MAX - 1, optlen));
	if (len < 0)
		return -EFAULT;
	name[len] = 0;
	return 0;
}

static int sdp_set_ca(struct sock *sk, const char *name)
{
	lock_sock(sk);
	strscpy_pad(sdp_sk(sk)->opt.ca_name, name, TCP_CA_NAME_MAX);
	release_sock(sk);
	return 0;
}

/**
 * sdp_keep_ca() - TCP has taken a name of TCP_CONGESTION
 * @sk:		socket with a companion
 * @optval:	the name
 * @optlen:	bytes of it
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_keep_ca(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	char name[TCP_CA_NAME_MAX];
	int err = sdp_get_name(name, optval, optlen);

	return err ?: sdp_set_ca(sk, name);
}

/* TCP_CONGESTION and TCP_ULP. The names TCP always has are taken, and are names only. */
static int sdp_set_name(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	char name[TCP_CA_NAME_MAX], known[TCP_CA_NAME_MAX];
	int err = sdp_get_name(name, optval, optlen);

	if (err)
		return err;
	if (optname == TCP_ULP)
		return -ENOENT;
	sdp_ca_default(sk, known);
	if (strcmp(name, known) && strcmp(name, "reno"))
		return -ENOENT;
	return sdp_set_ca(sk, name);
}

/**
 * sdp_set_tcp() - setsockopt() at SOL_TCP
 * @sk:		socket
 * @optname:	option
 * @optval:	value
 * @optlen:	bytes of it
 *
 * Context: process.
 * Return: 0 or -errno as TCP's.
 */
int sdp_set_tcp(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	int val;

	if (optname == TCP_CONGESTION || optname == TCP_ULP)
		return sdp_set_name(sk, optname, optval, optlen);
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	return sdp_set_tcp_int(sk, optname, val);
}

static u32 sdp_maxseg(struct sdp_sock *sdp)
{
	u32 size = 0;

	spin_lock_bh(&sdp->lock);
	if (sdp->conn && sdp->conn->up)
		size = sdp->conn->tx.size;
	spin_unlock_bh(&sdp->lock);
	return size ?: READ_ONCE(sdp->opt.user_mss) ?: SDP_MSS_DEFAULT;
}

static int sdp_get_tcp_kept(struct sock *sk, int optname, int *val)
{
	const struct sdp_tcp_options *opt = &sdp_sk(sk)->opt;

	switch (optname) {
	case TCP_MAXSEG:
		*val = sdp_maxseg(sdp_sk(sk));
		return 0;
	case TCP_SYNCNT:
		*val = READ_ONCE(opt->syncnt) ?:
		       READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_syn_retries);
		return 0;
	case TCP_WINDOW_CLAMP:
		*val = READ_ONCE(opt->clamp);
		return 0;
	case TCP_QUICKACK:
		*val = !READ_ONCE(opt->noquickack);
		return 0;
	case TCP_FASTOPEN:
		*val = READ_ONCE(opt->fastopen);
		return 0;
	case TCP_FASTOPEN_CONNECT:
		*val = READ_ONCE(opt->fastopen_connect);
		return 0;
	case TCP_FASTOPEN_NO_COOKIE:
		*val = READ_ONCE(opt->fastopen_no_cookie);
		return 0;
	case TCP_THIN_LINEAR_TIMEOUTS:
		*val = READ_ONCE(opt->thin_lto);
		return 0;
	case TCP_SAVE_SYN:
		*val = READ_ONCE(opt->save_syn);
		return 0;
	case TCP_TX_DELAY:
		*val = READ_ONCE(opt->tx_delay);
		return 0;
	case TCP_THIN_DUPACK:
	case TCP_REPAIR:
	case TCP_IS_MPTCP:
		*val = 0;
		return 0;
	case TCP_REPAIR_QUEUE:
	case TCP_REPAIR_WINDOW:
	case TCP_QUEUE_SEQ:
		return -EINVAL;
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * sdp_get_tcp_int() - an option of SOL_TCP that is a number
 * @sk:		SDP socket
 * @optname:	option
 * @val:	where to store its value
 *
 * Context: process.
 * Return: 0, or -errno; -ENOPROTOOPT for what there isn't.
 */
int sdp_get_tcp_int(struct sock *sk, int optname, int *val)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	const struct sdp_tcp_options *opt = &sdp->opt;

	switch (optname) {
	case TCP_NODELAY:
		*val = READ_ONCE(sdp->nonagle);
		return 0;
	case TCP_CORK:
		*val = READ_ONCE(sdp->cork);
		return 0;
	case TCP_KEEPIDLE:
		*val = sdp_keepidle(sk);
		return 0;
	case TCP_KEEPINTVL:
		*val = sdp_keepintvl(sk);
		return 0;
	case TCP_KEEPCNT:
		*val = sdp_keepcnt(sk);
		return 0;
	case TCP_USER_TIMEOUT:
		*val = READ_ONCE(opt->user_timeout);
		return 0;
	case TCP_LINGER2:
		*val = READ_ONCE(opt->linger2) ?:
		       READ_ONCE(sdp_pernet(sock_net(sk))->fin_timeout);
		return 0;
	case TCP_DEFER_ACCEPT:
		*val = READ_ONCE(opt->defer);
		return 0;
	case TCP_NOTSENT_LOWAT:
		*val = READ_ONCE(opt->notsent_lowat);
		return 0;
	case TCP_INQ:
		*val = READ_ONCE(opt->inq);
		return 0;
	case SDP_ZCOPY_THRESH:
		return sdp_get_sdp(sk, optname, val);
	default:
		return sdp_get_tcp_kept(sk, optname, val);
	}
}

static void sdp_conn_info(const struct sdp_sock *sdp, struct tcp_info *info)
{
	const struct sdp_conn *conn = sdp->conn;
	const struct sdp_tx *tx = &conn->tx;

	info->tcpi_snd_mss = tx->size;
	info->tcpi_rcv_mss = PAGE_SIZE << conn->rx.order;
	info->tcpi_pmtu = tx->size;
	info->tcpi_advmss = info->tcpi_rcv_mss;
	info->tcpi_unacked = tx->sent - tx->done;
	info->tcpi_snd_cwnd = tx->credits;
	info->tcpi_probes = sdp->probes;
	info->tcpi_last_ack_recv = jiffies_to_msecs(jiffies - conn->heard);
	info->tcpi_last_data_recv = jiffies_to_msecs(jiffies - conn->rx.last);
	info->tcpi_last_data_sent = info->tcpi_last_ack_recv;
	info->tcpi_notsent_bytes = tx->unsent;
	info->tcpi_bytes_acked = sdp_bytes_sent(sdp) - tx->unacked;
	info->tcpi_segs_out = tx->sent;
	info->tcpi_segs_in = conn->rx.mseq;
	info->tcpi_rcv_space = sdp_rx_grant(conn) * info->tcpi_rcv_mss;
}

/* What there is to tell; all else is zero */
static void sdp_tcp_info(struct sock *sk, struct tcp_info *info)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	memset(info, 0, sizeof(*info));
	spin_lock_bh(&sdp->lock);
	info->tcpi_state = sk->sk_state;
	info->tcpi_bytes_sent = sdp_bytes_sent(sdp);
	info->tcpi_bytes_acked = info->tcpi_bytes_sent;
	info->tcpi_bytes_received = sdp_bytes_rcvd(sdp);
	if (sk->sk_state == TCP_LISTEN) {
		info->tcpi_unacked = READ_ONCE(sk->sk_ack_backlog);
		info->tcpi_sacked = READ_ONCE(sk->sk_max_ack_backlog);
	} else if (sdp->conn && sdp->conn->up) {
		sdp_conn_info(sdp, info);
	}
	spin_unlock_bh(&sdp->lock);
}

/* Options that aren't an int: -ENOPROTOOPT if this is none of them */
static int sdp_get_tcp_other(struct sock *sk, int optname, char __user *optval, int __user *optlen,
			     int len)
{
	char name[TCP_CA_NAME_MAX] = "";
	struct tcp_info info;
	const void *from = name;
	int size = sizeof(name);

	switch (optname) {
	case TCP_INFO:
		sdp_tcp_info(sk, &info);
		from = &info;
		size = sizeof(info);
		break;
	case TCP_CONGESTION:
		sdp_ca_default(sk, name);
		lock_sock(sk);
		if (sdp_sk(sk)->opt.ca_name[0])
			strscpy_pad(name, sdp_sk(sk)->opt.ca_name, sizeof(name));
		release_sock(sk);
		break;
	case TCP_ULP:
	case TCP_CC_INFO:
	case TCP_SAVED_SYN:
	case TCP_FASTOPEN_KEY:
		size = 0;
		break;
	default:
		return -ENOPROTOOPT;
	}
	return sdp_put_opt(optval, optlen, len, from, size);
}

/**
 * sdp_get_tcp() - getsockopt() at SOL_TCP
 * @sk:		socket
 * @optname:	option
 * @optval:	where to store it
 * @optlen:	room there, then bytes stored
 *
 * Context: process.
 * Return: 0 or -errno as TCP's.
 */
int sdp_get_tcp(struct sock *sk, int optname, char __user *optval, int __user *optlen)
{
	int val, len, err;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	err = sdp_get_tcp_other(sk, optname, optval, optlen, len);
	if (err != -ENOPROTOOPT)
		return err;
	err = sdp_get_tcp_int(sk, optname, &val);
	if (err)
		return err;
	return sdp_put_opt(optval, optlen, len, &val, sizeof(val));
}
