// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options beyond SOL_SOCKET, which the core handles.
 */
#include <linux/tcp.h>
#include <net/ip.h>

#include "sdp.h"

static int sdp_set_zerocopy(struct sock *sk, int val)
{
	if (val < 0 || val > 1)
		return -EINVAL;
	lock_sock(sk);
	sock_valbool_flag(sk, SOCK_ZEROCOPY, val);
	release_sock(sk);
	return 0;
}

static int sdp_set_sdp(struct sock *sk, int optname, int val)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	switch (optname) {
	case SDP_ZCOPY_THRESH:
		if (val != -1 && !sdp_zthresh_ok(val))
			return -EINVAL;
		WRITE_ONCE(sdp->zthresh, val);
		return 0;
	case SDP_AZ_THRESH:
		if (val != -1 && !sdp_zthresh_ok(val))
			return -EINVAL;
		WRITE_ONCE(sdp->az_thresh, val);
		return 0;
	case SDP_MODE:
		if (val < SDP_AUTO || val > SDP_ZCOPY_W)
			return -EINVAL;
		WRITE_ONCE(sdp->mode, val);
		return 0;
	case SDP_ZEROCOPY:
		return sdp_set_zerocopy(sk, val);
	default:
		return -ENOPROTOOPT;
	}
}

static int sdp_get_sdp(struct sock *sk, int optname, int *val)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	switch (optname) {
	case SDP_ZCOPY_THRESH:
		*val = READ_ONCE(sdp->zthresh);
		return 0;
	case SDP_AZ_THRESH:
		*val = READ_ONCE(sdp->az_thresh);
		return 0;
	case SDP_MODE:
		*val = READ_ONCE(sdp->mode);
		return 0;
	case SDP_ZEROCOPY:
		*val = sock_flag(sk, SOCK_ZEROCOPY);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

static int sdp_set_tcp(struct sock *sk, int optname, int val)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	switch (optname) {
	case TCP_NODELAY:
		WRITE_ONCE(sdp->nonagle, val);
		break;
	case TCP_CORK:
		WRITE_ONCE(sdp->cork, val);
		break;
	case SDP_ZCOPY_THRESH:
		return sdp_set_sdp(sk, optname, val);
	default:
		return -ENOPROTOOPT;
	}
	/* What was held back may go now */
	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		sdp_tx_push(sdp->conn);
	spin_unlock_bh(&sdp->lock);
	return 0;
}

static u32 sdp_get_maxseg(struct sock *sk)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 size = 0;

	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		size = sdp->conn->tx.size;
	spin_unlock_bh(&sdp->lock);
	return size ?: PAGE_SIZE;
}

static int sdp_get_tcp(struct sock *sk, int optname, int *val)
{
	switch (optname) {
	case TCP_NODELAY:
		*val = READ_ONCE(sdp_sk(sk)->nonagle);
		return 0;
	case TCP_CORK:
		*val = READ_ONCE(sdp_sk(sk)->cork);
		return 0;
	case TCP_MAXSEG:
		*val = sdp_get_maxseg(sk);
		return 0;
	case SDP_ZCOPY_THRESH:
		return sdp_get_sdp(sk, optname, val);
	default:
		return -ENOPROTOOPT;
	}
}

/* Options of IP and IPv6 that mean something without an IP packet of our own */
static bool sdp_ip_option(int level, int optname)
{
	if (level == SOL_IP)
		return optname == IP_TOS || optname == IP_TTL || optname == IP_FREEBIND ||
		       optname == IP_BIND_ADDRESS_NO_PORT || optname == IP_LOCAL_PORT_RANGE;
	return optname == IPV6_TCLASS || optname == IPV6_UNICAST_HOPS || optname == IPV6_FREEBIND;
}

static bool sdp_is_v6only(const struct sock *sk, int level, int optname)
{
	return level == SOL_IPV6 && optname == IPV6_V6ONLY && sdp_is_v6(sk);
}

/* ipv6_setsockopt() sees to most options only for family AF_INET6, so this one is done here */
static int sdp_set_v6only(struct sock *sk, bool val)
{
	int err = -EINVAL;

	lock_sock(sk);
	if (!inet_sk(sk)->inet_num) {
		sk->sk_ipv6only = val;
		err = 0;
	}
	release_sock(sk);
	return err;
}

/**
 * sdp_setsockopt() - proto.setsockopt
 * @sk:		socket
 * @level:	SOL_SDP, SOL_TCP, SOL_IP, SOL_IPV6
 * @optname:	option
 * @optval:	value
 * @optlen:	bytes of it
 *
 * Context: process. Return: 0 or -errno; -ENOPROTOOPT for what there isn't.
 */
int sdp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval, unsigned int optlen)
{
	int val;

	if (level == SOL_IP && sdp_ip_option(level, optname))
		return ip_setsockopt(sk, level, optname, optval, optlen);
#if IS_ENABLED(CONFIG_IPV6)
	if (level == SOL_IPV6 && sdp_is_v6(sk) && sdp_ip_option(level, optname))
		return ipv6_setsockopt(sk, level, optname, optval, optlen);
#endif
	if (level != SOL_TCP && level != SOL_SDP && !sdp_is_v6only(sk, level, optname))
		return -ENOPROTOOPT;
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	switch (level) {
	case SOL_TCP:
		return sdp_set_tcp(sk, optname, val);
	case SOL_SDP:
		return sdp_set_sdp(sk, optname, val);
	default:
		return sdp_set_v6only(sk, val);
	}
}

/**
 * sdp_getsockopt() - proto.getsockopt
 * @sk:		socket
 * @level:	SOL_SDP, SOL_TCP, SOL_IP, SOL_IPV6
 * @optname:	option
 * @optval:	where to store it
 * @optlen:	room there, then bytes stored
 *
 * Context: process. Return: 0 or -errno; -ENOPROTOOPT for what there isn't.
 */
int sdp_getsockopt(struct sock *sk, int level, int optname, char __user *optval, int __user *optlen)
{
	int val, len, err = 0;

	if (level == SOL_IP && sdp_ip_option(level, optname))
		return ip_getsockopt(sk, level, optname, optval, optlen);
#if IS_ENABLED(CONFIG_IPV6)
	if (level == SOL_IPV6 && sdp_is_v6(sk) && sdp_ip_option(level, optname))
		return ipv6_getsockopt(sk, level, optname, optval, optlen);
#endif
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (level == SOL_SDP && optname == SDP_INFO)
		return sdp_get_info(sk, optval, optlen, len);
	if (sdp_is_v6only(sk, level, optname))
		val = sk->sk_ipv6only;
	else if (level == SOL_TCP)
		err = sdp_get_tcp(sk, optname, &val);
	else
		err = level == SOL_SDP ? sdp_get_sdp(sk, optname, &val) : -ENOPROTOOPT;
	if (err)
		return err;
	len = min_t(unsigned int, len, sizeof(val));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

/**
 * sdp_sock_setsockopt() - proto_ops.setsockopt
 * @sock:	socket
 * @level:	SOL_SOCKET, where the kernel leaves that to us, and others
 * @optname:	option
 * @optval:	value
 * @optlen:	bytes of it
 *
 * SO_ZEROCOPY is for families the core knows; all else of SOL_SOCKET is its.
 * Context: process. Return: 0 or -errno.
 */
int sdp_sock_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			unsigned int optlen)
{
	int val;

	if (level != SOL_SOCKET)
		return sock_common_setsockopt(sock, level, optname, optval, optlen);
	if (optname != SO_ZEROCOPY)
		return sock_setsockopt(sock, level, optname, optval, optlen);
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	return sdp_set_zerocopy(sock->sk, val);
}
