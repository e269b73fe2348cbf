// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options beyond SOL_SOCKET, which the core handles.
 */
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "companion.h"
#include "fallback.h"
#include "sdp.h"

/* Also of a socket that TCP has taken over, whose it is then */
static int sdp_set_zerocopy(struct sock *sk, int val)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	if (val < 0 || val > 1)
		return -EINVAL;
	lock_sock(sk);
	sock_valbool_flag(sk, SOCK_ZEROCOPY, val);
	if (sdp->fallen) {
		lock_sock(sdp->tcp_sk);
		sock_valbool_flag(sdp->tcp_sk, SOCK_ZEROCOPY, val);
		release_sock(sdp->tcp_sk);
	}
	release_sock(sk);
	return 0;
}

/**
 * sdp_set_sdp() - set an option of SOL_SDP
 * @sk:		socket
 * @optname:	option
 * @val:	value
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_set_sdp(struct sock *sk, int optname, int val)
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
	case SDP_AZ_POLICY:
		if (val < -1 || val > SDP_AZ_BLOCK)
			return -EINVAL;
		WRITE_ONCE(sdp->az_policy, val);
		return 0;
	case SDP_AZ_RECV:
		if (val < -1 || val > 1)
			return -EINVAL;
		WRITE_ONCE(sdp->az_recv, val);
		return 0;
	case SDP_MODE:
		if (val < SDP_AUTO || val > SDP_ZCOPY_W)
			return -EINVAL;
		WRITE_ONCE(sdp->mode, val);
		return 0;
	case SDP_ZEROCOPY:
		return sdp_set_zerocopy(sk, val);
	case SDP_POLICY:
		return sdp_set_policy(sk, val);
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * sdp_get_sdp() - get an option of SOL_SDP
 * @sk:		socket
 * @optname:	option
 * @val:	its value
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_get_sdp(struct sock *sk, int optname, int *val)
{
	struct sdp_sock *sdp = sdp_sk(sk);

	switch (optname) {
	case SDP_ZCOPY_THRESH:
		*val = READ_ONCE(sdp->zthresh);
		return 0;
	case SDP_AZ_THRESH:
		*val = READ_ONCE(sdp->az_thresh);
		return 0;
	case SDP_AZ_POLICY:
		*val = READ_ONCE(sdp->az_policy);
		return 0;
	case SDP_AZ_RECV:
		*val = READ_ONCE(sdp->az_recv);
		return 0;
	case SDP_MODE:
		*val = READ_ONCE(sdp->mode);
		return 0;
	case SDP_ZEROCOPY:
		*val = sock_flag(sk, SOCK_ZEROCOPY);
		return 0;
	case SDP_POLICY:
		*val = READ_ONCE(sdp->policy);
		return 0;
	default:
		return -ENOPROTOOPT;
	}
}

/* Options of IP that are kept in the socket and hang nothing on it */
static bool sdp_ip_option(int optname)
{
	switch (optname) {
	case IP_TOS:
	case IP_TTL:
	case IP_HDRINCL:
	case IP_ROUTER_ALERT:
	case IP_RECVOPTS:
	case IP_RETOPTS:
	case IP_PKTINFO:
	case IP_MTU_DISCOVER:
	case IP_RECVERR:
	case IP_RECVTTL:
	case IP_RECVTOS:
	case IP_FREEBIND:
	case IP_PASSSEC:
	case IP_TRANSPARENT:
	case IP_RECVORIGDSTADDR:
	case IP_MINTTL:
	case IP_NODEFRAG:
	case IP_CHECKSUM:
	case IP_BIND_ADDRESS_NO_PORT:
	case IP_RECVFRAGSIZE:
	case IP_RECVERR_RFC4884:
	case IP_MULTICAST_IF:
	case IP_MULTICAST_TTL:
	case IP_MULTICAST_LOOP:
	case IP_MULTICAST_ALL:
	case IP_UNICAST_IF:
	case IP_LOCAL_PORT_RANGE:
		return true;
	default:
		return false;
	}
}

/* The same of IPv6 */
static bool sdp_ip6_option(int optname)
{
	switch (optname) {
	case IPV6_UNICAST_HOPS:
	case IPV6_MULTICAST_IF:
	case IPV6_MULTICAST_HOPS:
	case IPV6_MULTICAST_LOOP:
	case IPV6_MULTICAST_ALL:
	case IPV6_MTU_DISCOVER:
	case IPV6_MTU:
	case IPV6_RECVERR:
	case IPV6_RECVERR_RFC4884:
	case IPV6_RECVPKTINFO:
	case IPV6_2292PKTINFO:
	case IPV6_RECVHOPLIMIT:
	case IPV6_2292HOPLIMIT:
	case IPV6_RECVRTHDR:
	case IPV6_2292RTHDR:
	case IPV6_RECVHOPOPTS:
	case IPV6_2292HOPOPTS:
	case IPV6_RECVDSTOPTS:
	case IPV6_2292DSTOPTS:
	case IPV6_RECVTCLASS:
	case IPV6_FLOWINFO:
	case IPV6_RECVPATHMTU:
	case IPV6_RECVORIGDSTADDR:
	case IPV6_TCLASS:
	case IPV6_DONTFRAG:
	case IPV6_AUTOFLOWLABEL:
	case IPV6_FLOWINFO_SEND:
	case IPV6_ADDR_PREFERENCES:
	case IPV6_MINHOPCOUNT:
	case IPV6_TRANSPARENT:
	case IPV6_FREEBIND:
	case IPV6_UNICAST_IF:
	case IPV6_ROUTER_ALERT_ISOLATE:
		return true;
	default:
		return false;
	}
}

static int sdp_set_ip(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	if (sdp_ip_option(optname))
		return ip_setsockopt(sk, SOL_IP, optname, optval, optlen);
	switch (optname) {
	case IP_OPTIONS:
		/* Some programs make sure that there are none */
		return optlen ? -ENOPROTOOPT : 0;
	case IP_ADD_MEMBERSHIP:
	case IP_DROP_MEMBERSHIP:
		return -EPROTO;
	default:
		return -ENOPROTOOPT;
	}
}

#if IS_ENABLED(CONFIG_IPV6)
/*
 * ipv6_setsockopt() leaves most options to family AF_INET6. Of those that are
 * bits, family 28 has them from here.
 */
static int sdp_set_ip6_bit(struct sock *sk, int optname, int val)
{
	struct ipv6_pinfo *np = inet6_sk(sk);
	int err = 0;

	lock_sock(sk);
	switch (optname) {
	case IPV6_RECVPKTINFO:
		np->rxopt.bits.rxinfo = val;
		break;
	case IPV6_RECVHOPLIMIT:
		np->rxopt.bits.rxhlim = val;
		break;
	case IPV6_RECVRTHDR:
		np->rxopt.bits.srcrt = val;
		break;
	case IPV6_RECVHOPOPTS:
		np->rxopt.bits.hopopts = val;
		break;
	case IPV6_RECVDSTOPTS:
		np->rxopt.bits.dstopts = val;
		break;
	case IPV6_RECVTCLASS:
		np->rxopt.bits.rxtclass = val;
		break;
	case IPV6_RECVPATHMTU:
		np->rxopt.bits.rxpmtu = val;
		break;
	case IPV6_RECVORIGDSTADDR:
		np->rxopt.bits.rxorigdstaddr = val;
		break;
	default:
		err = -ENOPROTOOPT;
	}
	release_sock(sk);
	return err;
}

static int sdp_set_tclass(struct sock *sk, int val)
{
	if (val < -1 || val > 0xff)
		return -EINVAL;
	/* RFC 3542, 6.5: -1 is the default, which is 0. The bits of ECN are not the program's. */
	lock_sock(sk);
	inet6_sk(sk)->tclass = max(val, 0) & ~INET_ECN_MASK;
	release_sock(sk);
	return 0;
}

static int sdp_set_ip6_family28(struct sock *sk, int optname, sockptr_t optval,
				unsigned int optlen)
{
	int val;

	/* IPv4 and IPv6 share these two */
	if (optname == IPV6_FREEBIND && optlen >= sizeof(val))
		return ip_setsockopt(sk, SOL_IP, IP_FREEBIND, optval, optlen);
	if (optname == IPV6_TRANSPARENT && optlen >= sizeof(val))
		return ip_setsockopt(sk, SOL_IP, IP_TRANSPARENT, optval, optlen);
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (optname == IPV6_TCLASS)
		return sdp_set_tclass(sk, val);
	return sdp_set_ip6_bit(sk, optname, !!val);
}

static int sdp_set_ip6(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	int err = -ENOPROTOOPT;

	if (!sdp_ip6_option(optname))
		return err;
	err = ipv6_setsockopt(sk, SOL_IPV6, optname, optval, optlen);
	if (err == -ENOPROTOOPT && sk->sk_family == AF_INET6_SDP)
		err = sdp_set_ip6_family28(sk, optname, optval, optlen);
	return err;
}
#endif

static bool sdp_is_v6only(const struct sock *sk, int level, int optname)
{
	return level == SOL_IPV6 && optname == IPV6_V6ONLY && sdp_is_v6(sk);
}

/* OFED's SO_KEEPALIVE was an option of its family, which its libsdp knows */
static bool sdp_is_ofed_keepalive(int level, int optname)
{
	return level == AF_INET_SDP && optname == SO_KEEPALIVE;
}

/* ipv6_setsockopt() sees to this one for family AF_INET6 only */
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
 * Context: process.
 * Return: 0 or -errno; -ENOPROTOOPT for what there isn't.
 */
int sdp_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval, unsigned int optlen)
{
	int val;

	if (level == SOL_TCP)
		return sdp_set_tcp(sk, optname, optval, optlen);
	if (level == SOL_IP)
		return sdp_set_ip(sk, optname, optval, optlen);
#if IS_ENABLED(CONFIG_IPV6)
	if (level == SOL_IPV6 && sdp_is_v6(sk) && optname != IPV6_V6ONLY)
		return sdp_set_ip6(sk, optname, optval, optlen);
#endif
	if (level != SOL_SDP && !sdp_is_v6only(sk, level, optname) &&
	    !sdp_is_ofed_keepalive(level, optname))
		return -ENOPROTOOPT;
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (level == SOL_SDP)
		return sdp_set_sdp(sk, optname, val);
	if (level == SOL_IPV6)
		return sdp_set_v6only(sk, val);
	lock_sock(sk);
	sdp_keepalive(sk, !!val);
	release_sock(sk);
	return 0;
}

/**
 * sdp_put_opt() - give an option's value to a program, as much as it has room for
 * @optval:	where to
 * @optlen:	told how much that is
 * @len:	room there, 0 or more
 * @from:	the value
 * @size:	bytes of it
 *
 * Context: process.
 * Return: 0 or -EFAULT.
 */
int sdp_put_opt(char __user *optval, int __user *optlen, int len, const void *from, int size)
{
	len = min(len, size);
	if (put_user(len, optlen) || copy_to_user(optval, from, len))
		return -EFAULT;
	return 0;
}

/**
 * sdp_getsockopt() - proto.getsockopt
 * @sk:		socket
 * @level:	SOL_SDP, SOL_TCP, SOL_IP, SOL_IPV6
 * @optname:	option
 * @optval:	where to store it
 * @optlen:	room there, then bytes stored
 *
 * Context: process.
 * Return: 0 or -errno; -ENOPROTOOPT for what there isn't.
 */
int sdp_getsockopt(struct sock *sk, int level, int optname, char __user *optval, int __user *optlen)
{
	int val, len, err = 0;

	if (level == SOL_TCP)
		return sdp_get_tcp(sk, optname, optval, optlen);
	if (level == SOL_IP)
		return ip_getsockopt(sk, level, optname, optval, optlen);
#if IS_ENABLED(CONFIG_IPV6)
	if (level == SOL_IPV6 && sdp_is_v6(sk) && optname != IPV6_V6ONLY)
		return ipv6_getsockopt(sk, level, optname, optval, optlen);
#endif
	/* IPv4 and IPv6 don't agree on this */
	if (level != SOL_SDP && !sdp_is_v6only(sk, level, optname))
		return sdp_is_v6(sk) ? -ENOPROTOOPT : -EOPNOTSUPP;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	if (level == SOL_SDP && optname == SDP_INFO)
		return sdp_get_info(sk, optval, optlen, len);
	if (sdp_is_v6only(sk, level, optname))
		val = sk->sk_ipv6only;
	else
		err = sdp_get_sdp(sk, optname, &val);
	if (err)
		return err;
	return sdp_put_opt(optval, optlen, len, &val, sizeof(val));
}

/* These are for families the core knows; all else of SOL_SOCKET is the core's */
static bool sdp_own_socket_option(int optname)
{
	return optname == SO_ZEROCOPY || optname == SO_REUSEPORT || optname == SO_RESERVE_MEM;
}

static int sdp_set_own_socket(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	int val;

	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (optname == SO_ZEROCOPY)
		return sdp_set_zerocopy(sk, val);
	/* The core's would change sk_forward_alloc, which is sdp->lock's here */
	if (optname == SO_RESERVE_MEM)
		return val < 0 ? -EINVAL : -EOPNOTSUPP;
	lock_sock(sk);
	sk->sk_reuseport = !!val;
	release_sock(sk);
	return 0;
}

static int sdp_set_socket(struct socket *sock, struct sock *sk, int optname, sockptr_t optval,
			  unsigned int optlen)
{
	int err;

	if (sdp_own_socket_option(optname))
		err = sdp_set_own_socket(sk, optname, optval, optlen);
	else
		err = sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
	if (err || !sdp_sk(sk)->tcp_sk)
		return err;
	/* TCP may have taken over while that went to the SDP socket */
	lock_sock(sk);
	sdp_companion_sync(sk);
	release_sock(sk);
	if (READ_ONCE(sdp_sk(sk)->fallen))
		err = sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
	return err;
}

/*
 * Multicast groups: the core takes RTNL for these, which comes before any socket's lock; and
 * streams have no use for them.
 */
static bool sdp_takes_rtnl(int level, int optname)
{
	if (level != SOL_IP && level != SOL_IPV6)
		return false;
	if (optname >= MCAST_JOIN_GROUP && optname <= MCAST_MSFILTER)
		return true;
	if (level == SOL_IP)
		return optname >= IP_ADD_MEMBERSHIP && optname <= IP_MSFILTER;
	return optname == IPV6_ADD_MEMBERSHIP || optname == IPV6_DROP_MEMBERSHIP ||
	       optname == IPV6_JOIN_ANYCAST || optname == IPV6_LEAVE_ANYCAST;
}

/* What must not seem to hold for the connection, whoever carries it, when only TCP does it */
static bool sdp_only_tcps(int level, int optname)
{
	switch (level) {
	case SOL_TCP:
		return optname == TCP_MD5SIG || optname == TCP_MD5SIG_EXT ||
		       (optname >= TCP_REPAIR && optname <= TCP_REPAIR_OPTIONS) ||
		       optname == TCP_REPAIR_WINDOW ||
		       (optname >= TCP_AO_ADD_KEY && optname <= TCP_AO_REPAIR);
	case SOL_IP:
		return optname == IP_IPSEC_POLICY || optname == IP_XFRM_POLICY;
	case SOL_IPV6:
		return optname == IPV6_IPSEC_POLICY || optname == IPV6_XFRM_POLICY;
	default:
		return false;
	}
}

/*
 * As lock_sock() is held, nobody drops the companion meanwhile. It isn't held
 * over a copy from the program, so @optval is the kernel's.
 */
static int sdp_set_companion(struct sock *sk, struct sock *tsk, int level, int optname,
			     sockptr_t optval, unsigned int optlen)
{
	int err = -ENOPROTOOPT;

	if (sdp_companion_refuses(level, optname))
		return -ENOENT;
	lock_sock(sk);
	if (sdp_sk(sk)->tcp_sk == tsk)
		err = READ_ONCE(tsk->sk_prot)->setsockopt(tsk, level, optname, optval, optlen);
	release_sock(sk);
	return err;
}

/* Options of other levels go to the TCP socket beside this one first: its errors count */
static int sdp_set_two(struct sock *sk, struct sock *tsk, int level, int optname,
		       sockptr_t optval, unsigned int optlen)
{
	int err, own;

	if (sdp_takes_rtnl(level, optname))
		return sdp_setsockopt(sk, level, optname, optval, optlen);
	if (sdp_only_tcps(level, optname))
		return sdp_policy(sk) == SDP_POLICY_TCP ?
		       sdp_set_companion(sk, tsk, level, optname, optval, optlen) :
		       sdp_setsockopt(sk, level, optname, optval, optlen);
	err = sdp_set_companion(sk, tsk, level, optname, optval, optlen);
	if (err && err != -ENOPROTOOPT)
		return err;
	if (!err && level == SOL_TCP && optname == TCP_CONGESTION)
		return sdp_keep_ca(sk, optval, optlen);
	own = sdp_setsockopt(sk, level, optname, optval, optlen);
	/* What only one of them has, that one has kept */
	return own == -ENOPROTOOPT ? err : own;
}

static int sdp_set_both(struct sock *sk, int level, int optname, sockptr_t optval,
			unsigned int optlen)
{
	struct sock *tsk;
	void *val;
	int err;

	if (level == SOL_SDP)
		return sdp_setsockopt(sk, level, optname, optval, optlen);
	tsk = sdp_companion_get(sk);
	if (IS_ERR(tsk))
		return PTR_ERR(tsk);
	if (!tsk)
		return sdp_setsockopt(sk, level, optname, optval, optlen);
	/* No option has more, and TCP looks at the beginning only if there is */
	optlen = min_t(unsigned int, optlen, PAGE_SIZE);
	val = memdup_sockptr(optval, optlen);
	err = PTR_ERR_OR_ZERO(val);
	if (!err) {
		err = sdp_set_two(sk, tsk, level, optname, KERNEL_SOCKPTR(val), optlen);
		/* This one tells the label it has chosen */
		if (!err && level == SOL_IPV6 && optname == IPV6_FLOWLABEL_MGR &&
		    copy_to_sockptr(optval, val, optlen))
			err = -EFAULT;
		kfree(val);
	}
	sock_put(tsk);
	return err;
}

/**
 * sdp_sock_setsockopt() - proto_ops.setsockopt
 * @sock:	socket
 * @level:	SOL_SOCKET, where the kernel leaves that to us, and others
 * @optname:	option
 * @optval:	value
 * @optlen:	bytes of it
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_sock_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			unsigned int optlen)
{
	struct sock *sk = READ_ONCE(sock->sk);

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->setsockopt(sock, level, optname, optval, optlen);
	if (level == SOL_SOCKET)
		return sdp_set_socket(sock, sk, optname, optval, optlen);
	return sdp_set_both(sk, level, optname, optval, optlen);
}

/**
 * sdp_sock_getsockopt() - proto_ops.getsockopt
 * @sock:	socket
 * @level:	any but SOL_SOCKET
 * @optname:	option
 * @optval:	where to store it
 * @optlen:	room there, then bytes stored
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_sock_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
			int __user *optlen)
{
	struct sock *sk = READ_ONCE(sock->sk), *tsk;
	int err;

	if (!sdp_is_sdp(sk))
		return sdp_tcp_ops(sk)->getsockopt(sock, level, optname, optval, optlen);
	err = sdp_getsockopt(sk, level, optname, optval, optlen);
	if (err != -ENOPROTOOPT || level == SOL_SDP)
		return err;
	tsk = sdp_companion_get(sk);
	if (IS_ERR_OR_NULL(tsk))
		return tsk ? PTR_ERR(tsk) : err;
	err = READ_ONCE(tsk->sk_prot)->getsockopt(tsk, level, optname, optval, optlen);
	sock_put(tsk);
	return err;
}

/**
 * sdp_set_rcvlowat() - proto_ops.set_rcvlowat
 * @sk:		socket
 * @val:	bytes poll() is to wait for; checked by the caller
 *
 * As TCP: what can't be in the receive buffer isn't waited for, and the buffer
 * grows for it if the program hasn't set its size.
 * Context: process, lock_sock.
 * Return: 0.
 */
int sdp_set_rcvlowat(struct sock *sk, int val)
{
	bool locked = sk->sk_userlocks & SOCK_RCVBUF_LOCK;
	int cap;

	/* TCP may have taken over this moment */
	if (!sdp_is_sdp(sk)) {
		WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
		return 0;
	}
	cap = (locked ? READ_ONCE(sk->sk_rcvbuf) : sdp_sysctl_rmem[2]) / 2;
	val = min(val, cap);
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	if (!locked && val > READ_ONCE(sk->sk_rcvbuf) / 2)
		WRITE_ONCE(sk->sk_rcvbuf, 2 * val);
	if (sdp_rx_readable(sk))
		sk->sk_data_ready(sk);
	return 0;
}
