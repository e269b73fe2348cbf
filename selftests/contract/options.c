// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: socket options, from a table. Of each is asked what it is at first, and what
 * it is after certain values have been set.
 */
#include "contract.h"
#include <linux/filter.h>
#include <linux/in6.h>
#include <linux/net_tstamp.h>

#ifndef SO_RESERVE_MEM
#define SO_RESERVE_MEM		73
#endif
#ifndef SO_TXREHASH
#define SO_TXREHASH		74
#endif
#ifndef SO_RCVMARK
#define SO_RCVMARK		75
#endif
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD		76
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD		77
#endif
#ifndef TCP_IS_MPTCP
#define TCP_IS_MPTCP		43
#endif

/**
 * struct option_q - an option of one int
 * @name:	as programs write it
 * @level:	SOL_*
 * @opt:	number
 * @vals:	what to set it to, one after the other
 * @n:		how many that are
 */
struct option_q {
	const char *name;
	int level;
	int opt;
	int vals[5];
	int n;
};

#define VALS(...)	{ __VA_ARGS__ }, ARRAY_SIZE(((int[]){ __VA_ARGS__ }))
#define SO(o, ...)	{ #o, SOL_SOCKET, o, VALS(__VA_ARGS__) }
#define IP(o, ...)	{ #o, SOL_IP, o, VALS(__VA_ARGS__) }
#define V6(o, ...)	{ #o, SOL_IPV6, o, VALS(__VA_ARGS__) }
#define TCP(o, ...)	{ #o, SOL_TCP, o, VALS(__VA_ARGS__) }

static const struct option_q so_options[] = {
	SO(SO_DEBUG, 1, 0), SO(SO_REUSEADDR, 1, 5, 0), SO(SO_TYPE, 1), SO(SO_ERROR, 1),
	SO(SO_DONTROUTE, 1, 0), SO(SO_BROADCAST, 1, 0), SO(SO_SNDBUF, 8192, 1, -1, 1 << 30),
	SO(SO_RCVBUF, 8192, 1, -1, 1 << 30), SO(SO_SNDBUFFORCE, 16 << 20),
	SO(SO_RCVBUFFORCE, 16 << 20), SO(SO_KEEPALIVE, 1, 2, 0), SO(SO_OOBINLINE, 1, 0),
	SO(SO_NO_CHECK, 1), SO(SO_PRIORITY, 3, 0, -1), SO(SO_REUSEPORT, 1, 0),
	SO(SO_PASSCRED, 1, 0), SO(SO_RCVLOWAT, 7, 0, -1), SO(SO_SNDLOWAT, 7),
	SO(SO_TIMESTAMP, 1, 0), SO(SO_TIMESTAMPNS, 1, 0),
	SO(SO_TIMESTAMPING, 0x18, 1 << 30, 0), SO(SO_ACCEPTCONN, 1),
	SO(SO_PASSSEC, 1, 0), SO(SO_MARK, 7, 0), SO(SO_PROTOCOL, 1), SO(SO_DOMAIN, 1),
	SO(SO_RXQ_OVFL, 1, 0), SO(SO_WIFI_STATUS, 1), SO(SO_PEEK_OFF, 4, -1, -2), SO(SO_NOFCS, 1),
	SO(SO_LOCK_FILTER, 0), SO(SO_SELECT_ERR_QUEUE, 1, 0), SO(SO_BUSY_POLL, 50, 0, -1),
	SO(SO_MAX_PACING_RATE, 1000000, -1), SO(SO_BPF_EXTENSIONS, 1), SO(SO_INCOMING_CPU, 1),
	SO(SO_INCOMING_NAPI_ID, 1), SO(SO_ZEROCOPY, 1, 2, 0), SO(SO_BINDTOIFINDEX, 1, 0, 99, -1),
	SO(SO_PREFER_BUSY_POLL, 1, 0), SO(SO_BUSY_POLL_BUDGET, 8, 0),
	SO(SO_RESERVE_MEM, 0), SO(SO_TXREHASH, 1, 0), SO(SO_RCVMARK, 1, 0),
	SO(SO_PASSPIDFD, 1, 0), SO(SO_PEERPIDFD, 1), SO(SO_BUF_LOCK, 3, 0, 4),
	{ "a SOL_SOCKET option that doesn't exist", SOL_SOCKET, 4711, VALS(1) },
};

static const struct option_q ip_options[] = {
	IP(IP_TOS, 0x10, 0xff, 0), IP(IP_TTL, 7, 0, 256, -1), IP(IP_HDRINCL, 1),
	IP(IP_OPTIONS, 0), IP(IP_ROUTER_ALERT, 1), IP(IP_RECVOPTS, 1, 0), IP(IP_RETOPTS, 1, 0),
	IP(IP_PKTINFO, 1, 0), IP(IP_MTU_DISCOVER, 0, 2, 9), IP(IP_RECVERR, 1, 0),
	IP(IP_RECVTTL, 1, 0), IP(IP_RECVTOS, 1, 0), IP(IP_MTU, 1500), IP(IP_FREEBIND, 1, 0),
	IP(IP_PASSSEC, 1, 0), IP(IP_TRANSPARENT, 1, 0), IP(IP_ORIGDSTADDR, 1, 0),
	IP(IP_MINTTL, 7, 256, 0), IP(IP_NODEFRAG, 1), IP(IP_CHECKSUM, 1, 0),
	IP(IP_BIND_ADDRESS_NO_PORT, 1, 0), IP(IP_RECVFRAGSIZE, 1), IP(IP_RECVERR_RFC4884, 1, 2, 0),
	IP(IP_MULTICAST_IF, 0), IP(IP_MULTICAST_TTL, 3), IP(IP_MULTICAST_LOOP, 0, 1),
	IP(IP_ADD_MEMBERSHIP, 0), IP(IP_MULTICAST_ALL, 0, 1, 2), IP(IP_UNICAST_IF, 0),
	IP(IP_LOCAL_PORT_RANGE, (41000 << 16) | 40000, 0),
	{ "an IPPROTO_IP option that doesn't exist", SOL_IP, 4711, VALS(1) },
};

static const struct option_q ip6_options[] = {
	V6(IPV6_V6ONLY, 1, 0), V6(IPV6_UNICAST_HOPS, 7, 256, -1), V6(IPV6_MULTICAST_IF, 0),
	V6(IPV6_MULTICAST_HOPS, 3), V6(IPV6_MULTICAST_LOOP, 0, 2, 1),
	V6(IPV6_MTU_DISCOVER, 0, 2, 9), V6(IPV6_MTU, 1500, 100), V6(IPV6_RECVERR, 1, 0),
	V6(IPV6_RECVPKTINFO, 1, 0),
	V6(IPV6_RECVHOPLIMIT, 1, 0), V6(IPV6_RECVRTHDR, 1, 0), V6(IPV6_RECVHOPOPTS, 1, 0),
	V6(IPV6_RECVDSTOPTS, 1, 0), V6(IPV6_RECVTCLASS, 1, 0), V6(IPV6_RECVPATHMTU, 1, 0),
	V6(IPV6_TCLASS, 0x20, 256, -1), V6(IPV6_DONTFRAG, 1, 0), V6(IPV6_AUTOFLOWLABEL, 1, 0),
	V6(IPV6_FLOWINFO_SEND, 1, 0), V6(IPV6_ADDR_PREFERENCES, 2), V6(IPV6_MINHOPCOUNT, 7, 256, 0),
	V6(IPV6_ORIGDSTADDR, 1, 0), V6(IPV6_TRANSPARENT, 1, 0), V6(IPV6_UNICAST_IF, 0),
	V6(IPV6_FREEBIND, 1, 0), V6(IPV6_RECVERR_RFC4884, 1, 2, 0), V6(IPV6_MULTICAST_ALL, 0, 1),
	V6(IPV6_RTHDR, 0), V6(IPV6_ADDRFORM, AF_INET), V6(IPV6_ROUTER_ALERT_ISOLATE, 1, 0),
	{ "an IPPROTO_IPV6 option that doesn't exist", SOL_IPV6, 4711, VALS(1) },
};

static const struct option_q tcp_options[] = {
	TCP(TCP_NODELAY, 1, 5, 0), TCP(TCP_MAXSEG, 1000, 0, 87, 40000), TCP(TCP_CORK, 1, 0),
	TCP(TCP_KEEPIDLE, 5, 0, 32767, 32768), TCP(TCP_KEEPINTVL, 5, 0, 32767, 32768),
	TCP(TCP_KEEPCNT, 5, 0, 127, 128), TCP(TCP_SYNCNT, 3, 0, 127, 128),
	TCP(TCP_LINGER2, 5, 0, -1, 1000), TCP(TCP_DEFER_ACCEPT, 5, 0),
	TCP(TCP_WINDOW_CLAMP, 4096, 1 << 20), TCP(TCP_QUICKACK, 0, 1),
	TCP(TCP_USER_TIMEOUT, 5000, -1, 0), TCP(TCP_FASTOPEN, 5, -1, 0),
	TCP(TCP_FASTOPEN_CONNECT, 1, 2, 0), TCP(TCP_FASTOPEN_NO_COOKIE, 1, 2, 0),
	TCP(TCP_NOTSENT_LOWAT, 4096, -1), TCP(TCP_SAVE_SYN, 1, 3, 0),
	TCP(TCP_SAVED_SYN, 1), TCP(TCP_REPAIR, 2), TCP(TCP_REPAIR_QUEUE, 1),
	TCP(TCP_REPAIR_OPTIONS, 1), TCP(TCP_REPAIR_WINDOW, 1), TCP(TCP_QUEUE_SEQ, 1),
	TCP(TCP_THIN_LINEAR_TIMEOUTS, 1, 2, 0), TCP(TCP_THIN_DUPACK, 1, 2, 0),
	TCP(TCP_INQ, 1, 2, 0), TCP(TCP_TX_DELAY, 0), TCP(TCP_MD5SIG, 1),
	TCP(TCP_IS_MPTCP, 1), TCP(TCP_ULP, 0), TCP(TCP_CC_INFO, 1),
	{ "an IPPROTO_TCP option that doesn't exist", SOL_TCP, 4711, VALS(1) },
};

/* First value, then what comes of setting each */
static void ask(const struct option_q *q, int fd)
{
	char text[160];
	int n, got;

	errno = 0;
	got = get_int(fd, q->level, q->opt);
	n = snprintf(text, sizeof(text), "%s", got == -1 && !errno ? "-1" : res(got));
	for (int i = 0; i < q->n && n < (int)sizeof(text); i++) {
		int rc = setsockopt(fd, q->level, q->opt, &q->vals[i], sizeof(int));

		n += snprintf(text + n, sizeof(text) - n, " %d: ", q->vals[i]);
		if (rc) {
			n += snprintf(text + n, sizeof(text) - n, "%s", res(rc));
			continue;
		}
		errno = 0;
		got = get_int(fd, q->level, q->opt);
		n += snprintf(text + n, sizeof(text) - n, "%s",
			      got == -1 && !errno ? "-1" : res(got));
	}
	answer(q->name, "%s", text);
}

static void ask_all(const struct option_q *q, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int fd = sock(0);

		ask(&q[i], fd);
		close(fd);
	}
}

static void level_socket(void) { ask_all(so_options, ARRAY_SIZE(so_options)); }
static void level_ip(void) { ask_all(ip_options, ARRAY_SIZE(ip_options)); }
static void level_tcp(void) { ask_all(tcp_options, ARRAY_SIZE(tcp_options)); }

static void level_ipv6(void)
{
	struct addr any = addr_parse("::", 0);

	for (size_t i = 0; i < ARRAY_SIZE(ip6_options); i++) {
		int fd = own_socket(any.sa.sa_family, 0);

		ask(&ip6_options[i], fd);
		close(fd);
	}
}

static void level_ipv6_on_ipv4(void)
{
	int fd = own_socket(AF_INET, 0);

	answer("get IPV6_V6ONLY", "%s", res(get_int(fd, SOL_IPV6, IPV6_V6ONLY)));
	answer("set IPV6_V6ONLY", "%s",
	       res(setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int))));
}

/* Lengths that are not an int's */
static void lengths_of(const char *name, int level, int opt)
{
	int fd = sock(0);
	char item[64], buf[16] = { 1 };
	socklen_t len;
	int rc;

	snprintf(item, sizeof(item), "%s, set 1 byte", name);
	answer(item, "%s", res(setsockopt(fd, level, opt, buf, 1)));
	snprintf(item, sizeof(item), "%s, set 0 bytes", name);
	answer(item, "%s", res(setsockopt(fd, level, opt, buf, 0)));
	snprintf(item, sizeof(item), "%s, set 16 bytes", name);
	answer(item, "%s", res(setsockopt(fd, level, opt, buf, 16)));
	snprintf(item, sizeof(item), "%s, set from nowhere", name);
	answer(item, "%s", res(setsockopt(fd, level, opt, (void *)16, sizeof(int))));
	for (int l = 0; l <= 16; l = l ? l * 4 : 1) {
		len = l;
		rc = getsockopt(fd, level, opt, buf, &len);
		snprintf(item, sizeof(item), "%s, get %d bytes", name, l);
		answer(item, "%s, length %d", res(rc), (int)len);
	}
	len = -1;
	snprintf(item, sizeof(item), "%s, get -1 bytes", name);
	answer(item, "%s", res(getsockopt(fd, level, opt, buf, &len)));
	len = sizeof(int);
	snprintf(item, sizeof(item), "%s, get to nowhere", name);
	answer(item, "%s", res(getsockopt(fd, level, opt, (void *)16, &len)));
	close(fd);
}

static void option_lengths(void)
{
	lengths_of("TCP_NODELAY", SOL_TCP, TCP_NODELAY);
	lengths_of("TCP_KEEPIDLE", SOL_TCP, TCP_KEEPIDLE);
	lengths_of("IP_TOS", SOL_IP, IP_TOS);
	lengths_of("SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR);
}

static void option_levels(void)
{
	int fd = sock(0), one = 1;
	socklen_t len = sizeof(one);
	static const int levels[] = { 3, IPPROTO_UDP, SOL_RAW, 263 /* SOL_PACKET */, 4711 };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		char item[64];

		snprintf(item, sizeof(item), "level %d, option 1", levels[i]);
		answer(item, "set %s, get %s",
		       res(setsockopt(fd, levels[i], 1, &one, sizeof(one))),
		       res(getsockopt(fd, levels[i], 1, &one, &len)));
	}
}

/* Options that are text */
static void option_names(void)
{
	int fd = sock(0);
	char buf[32] = "";
	socklen_t len = sizeof(buf);
	int rc;

	rc = getsockopt(fd, SOL_TCP, TCP_CONGESTION, buf, &len);
	answer("get TCP_CONGESTION", "%s, length %d, %s", res(rc), (int)len, rc ? "" : buf);
	answer("set TCP_CONGESTION reno", "%s",
	       res(setsockopt(fd, SOL_TCP, TCP_CONGESTION, "reno", 4)));
	len = sizeof(buf);
	rc = getsockopt(fd, SOL_TCP, TCP_CONGESTION, buf, &len);
	answer("... and get it", "%s, %s", res(rc), rc ? "" : buf);
	answer("set TCP_CONGESTION nosuch", "%s",
	       res(setsockopt(fd, SOL_TCP, TCP_CONGESTION, "nosuch", 6)));
	answer("set TCP_CONGESTION to nothing", "%s",
	       res(setsockopt(fd, SOL_TCP, TCP_CONGESTION, "", 0)));
	len = sizeof(buf);
	rc = getsockopt(fd, SOL_TCP, TCP_ULP, buf, &len);
	answer("get TCP_ULP", "%s, length %d", res(rc), (int)len);
	answer("set TCP_ULP nosuch", "%s", res(setsockopt(fd, SOL_TCP, TCP_ULP, "nosuch", 6)));
	answer("set TCP_ULP to nothing", "%s", res(setsockopt(fd, SOL_TCP, TCP_ULP, "", 0)));
}

static void option_bind_device(void)
{
	int fd = sock(0);
	char buf[32] = "";
	socklen_t len = sizeof(buf);
	int rc;

	answer("SO_BINDTODEVICE lo", "%s", res(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3)));
	rc = getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, buf, &len);
	answer("... and get it", "%s, %s", res(rc), buf);
	answer("SO_BINDTODEVICE nosuch", "%s",
	       res(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "nosuch", 7)));
	answer("SO_BINDTODEVICE to none", "%s",
	       res(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0)));
}

static void option_timeouts(void)
{
	static const int opts[] = { SO_RCVTIMEO, SO_SNDTIMEO };
	struct timeval tv, vals[] = { { 1, 500000 }, { 0, 0 }, { 0, 1000000 }, { -1, 0 } };
	int fd = sock(0);

	for (size_t i = 0; i < ARRAY_SIZE(opts); i++)
		for (size_t j = 0; j < ARRAY_SIZE(vals); j++) {
			int rc = setsockopt(fd, SOL_SOCKET, opts[i], &vals[j], sizeof(tv));
			socklen_t len = sizeof(tv);
			char item[64];

			tv = (struct timeval){ -1, -1 };
			getsockopt(fd, SOL_SOCKET, opts[i], &tv, &len);
			snprintf(item, sizeof(item), "%s %ld s %ld us", i ? "SO_SNDTIMEO" : "SO_RCVTIMEO",
				 vals[j].tv_sec, vals[j].tv_usec);
			answer(item, "%s, then %ld s %ld us", res(rc), tv.tv_sec, tv.tv_usec);
		}
}

static void option_others(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, 0xffff) };
	struct sock_fprog prog = { 1, code };
	struct linger l = { 1, 5 };
	int fd = sock(0), rc;
	char buf[64];
	socklen_t len = sizeof(l);

	answer("SO_LINGER 5 s", "%s", res(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l))));
	rc = getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len);
	answer("... and get it", "%s, on %d, %d s", res(rc), l.l_onoff, l.l_linger);
	answer("SO_LINGER, one int only", "%s", res(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, 4)));
	len = sizeof(buf);
	rc = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, buf, &len);
	answer("SO_PEERCRED", "%s, length %d", res(rc), (int)len);
	len = sizeof(buf);
	rc = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, buf, &len);
	answer("SO_PEERGROUPS", "%s", res(rc));
	len = sizeof(buf);
	rc = getsockopt(fd, SOL_SOCKET, SO_PEERNAME, buf, &len);
	answer("SO_PEERNAME, not connected", "%s", res(rc));
	len = 8;
	rc = getsockopt(fd, SOL_SOCKET, SO_COOKIE, buf, &len);
	answer("SO_COOKIE", "%s, length %d", res(rc), (int)len);
	len = sizeof(buf);
	rc = getsockopt(fd, SOL_SOCKET, SO_MEMINFO, buf, &len);
	answer("SO_MEMINFO", "%s, length %d", res(rc), (int)len);
	answer("SO_ATTACH_FILTER", "%s",
	       res(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog))));
	answer("SO_DETACH_FILTER", "%s",
	       res(setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, sizeof(int))));
	answer("SO_DETACH_FILTER when there is none", "%s",
	       res(setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &(int){ 0 }, sizeof(int))));
}

/* Options on a connection, where some are another matter */
static void option_connected(void)
{
	static const struct option_q qs[] = {
		SO(SO_REUSEADDR, 1), SO(SO_REUSEPORT, 1), SO(SO_RCVLOWAT, 100),
		SO(SO_ACCEPTCONN, 1), TCP(TCP_NODELAY, 1, 0), TCP(TCP_CORK, 1, 0),
		TCP(TCP_KEEPIDLE, 5),
		TCP(TCP_USER_TIMEOUT, 5000, 0), TCP(TCP_FASTOPEN, 5), TCP(TCP_FASTOPEN_CONNECT, 1),
		TCP(TCP_FASTOPEN_NO_COOKIE, 1), TCP(TCP_DEFER_ACCEPT, 5), TCP(TCP_LINGER2, 3),
		IP(IP_TTL, 7), IP(IP_FREEBIND, 1), IP(IP_MTU, 1500),
	};
	struct pair p = pair();
	char buf[64];
	socklen_t len = sizeof(buf);

	for (size_t i = 0; i < ARRAY_SIZE(qs); i++)
		ask(&qs[i], p.c);
	answer("SO_PEERNAME", "%s", res(getsockopt(p.c, SOL_SOCKET, SO_PEERNAME, buf, &len)));
	answer("TCP_MAXSEG is sensible", "%d", get_int(p.c, SOL_TCP, TCP_MAXSEG) >= 500);
}

/* What an accepted socket has of its listener */
static void option_inherited(void)
{
	static const struct { struct option_q q; int val; } qs[] = {
		{ SO(SO_KEEPALIVE, 1), 1 }, { SO(SO_REUSEADDR, 1), 1 }, { SO(SO_OOBINLINE, 1), 1 },
		{ SO(SO_RCVBUF, 1), 60000 }, { SO(SO_SNDBUF, 1), 60000 }, { SO(SO_RCVLOWAT, 1), 5 },
		{ SO(SO_PRIORITY, 1), 3 }, { SO(SO_MARK, 1), 3 }, { SO(SO_ACCEPTCONN, 1), -1 },
		{ SO(SO_ZEROCOPY, 1), 1 },
		{ TCP(TCP_NODELAY, 1), 1 }, { TCP(TCP_CORK, 1), 1 }, { TCP(TCP_KEEPIDLE, 1), 77 },
		{ TCP(TCP_KEEPINTVL, 1), 7 }, { TCP(TCP_KEEPCNT, 1), 3 },
		{ TCP(TCP_USER_TIMEOUT, 1), 9000 }, { TCP(TCP_LINGER2, 1), 9 },
		{ TCP(TCP_NOTSENT_LOWAT, 1), 9000 }, { TCP(TCP_SYNCNT, 1), 2 },
		{ TCP(TCP_DEFER_ACCEPT, 1), 1 }, { TCP(TCP_FASTOPEN, 1), 3 },
		{ TCP(TCP_INQ, 1), 1 }, { IP(IP_TOS, 1), 0x10 }, { IP(IP_TTL, 1), 9 },
		{ IP(IP_FREEBIND, 1), 1 },
		{ IP(IP_PKTINFO, 1), 1 }, { IP(IP_RECVERR, 1), 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(qs); i++) {
		const struct option_q *q = &qs[i].q;
		struct addr a = own_addr();
		int l = listener(&a, 4), c, s, rc = 0;

		if (qs[i].val >= 0)
			rc = setsockopt(l, q->level, q->opt, &qs[i].val, sizeof(int));
		c = connected(&a);
		if (q->opt == TCP_DEFER_ACCEPT)
			send(c, "x", 1, 0);
		s = accept(l, NULL, NULL);
		answer(q->name, "set %s, accepted has %s", res(rc), res(get_int(s, q->level, q->opt)));
		close(c);
		close(s);
		close(l);
	}
}

static struct tcp_info i;

static const char *ask_info(int fd)
{
	socklen_t len = sizeof(i);

	memset(&i, 0xee, sizeof(i));
	return res(getsockopt(fd, SOL_TCP, TCP_INFO, &i, &len));
}

static void ask_state(const char *item, int fd)
{
	const char *rc = ask_info(fd);

	answer(item, "%s, state %d", rc, i.tcpi_state);
}

static void tcp_info(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 7), fresh = sock(0);
	struct pair p = { .c = connected(&a) };
	socklen_t len;
	char buf[100];

	settle(50);
	ask_state("TCP_INFO of a new socket", fresh);
	ask_state("... of a listener", l);
	answer("... of a listener, its queue", "%u of %u", i.tcpi_unacked, i.tcpi_sacked);
	p.s = accept(l, NULL, NULL);
	ask_state("... of a connection", p.c);
	ask_state("... of one accepted", p.s);
	send(p.c, buf, 100, 0);
	recv(p.s, buf, 100, MSG_WAITALL);
	settle(50);
	ask_info(p.c);
	/* TCP counts the SYN */
	answer("... bytes acknowledged after 100", "%llu",
	       (unsigned long long)i.tcpi_bytes_acked - (run.fam == FAM_TCP));
	answer("... bytes sent", "%llu", (unsigned long long)i.tcpi_bytes_sent);
	answer("... not sent", "%u", i.tcpi_notsent_bytes);
	answer("... unacknowledged, retransmits, probes, backoff", "%u %u %u %u", i.tcpi_unacked,
	       i.tcpi_retransmits, i.tcpi_probes, i.tcpi_backoff);
	answer("... the MSS is sensible", "%d", i.tcpi_snd_mss >= 500);
	answer("... as TCP_MAXSEG has it", "%d", (int)i.tcpi_snd_mss == get_int(p.c, SOL_TCP, TCP_MAXSEG));
	answer("... last sent before", "%d", i.tcpi_last_data_sent < 5000U * run.slow);
	ask_info(p.s);
	answer("... bytes received", "%llu", (unsigned long long)i.tcpi_bytes_received);
	answer("... last received before", "%d", i.tcpi_last_data_recv < 5000U * run.slow);
	shutdown(p.c, SHUT_WR);
	settle(50);
	ask_state("... state after shutdown(SHUT_WR)", p.c);
	ask_state("... of the peer", p.s);
	len = 1;
	answer("TCP_INFO, 1 byte", "%s", res(getsockopt(p.s, SOL_TCP, TCP_INFO, &i, &len)));
	answer("... length", "%d", (int)len);
}

static const struct contract_case cases[] = {
	{ "SOL_SOCKET", level_socket },
	{ "IPPROTO_IP", level_ip },
	{ "IPPROTO_IPV6", level_ipv6 },
	{ "IPPROTO_IPV6 of an IPv4 socket", level_ipv6_on_ipv4 },
	{ "IPPROTO_TCP", level_tcp },
	{ "option lengths", option_lengths },
	{ "option levels", option_levels },
	{ "options that are text", option_names },
	{ "SO_BINDTODEVICE", option_bind_device },
	{ "timeouts", option_timeouts },
	{ "other options", option_others },
	{ "options of a connection", option_connected },
	{ "options accepted sockets inherit", option_inherited },
	{ "TCP_INFO", tcp_info },
	{ }
};

const struct contract_topic topic_options = { "Options", cases };
