// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: what socket() makes, bind(), addresses.
 */
#include "basic.h"

/* ---- socket() ---- */

static void socket_types(void)
{
	int af = test_af(), dom = fam_domain(opt.fam, af), proto = fam_protocol(opt.fam, af);

	CHECK_ERR(socket(dom, SOCK_SEQPACKET, proto), ESOCKTNOSUPPORT);
	CHECK_ERR(socket(dom, SOCK_RDM, proto), ESOCKTNOSUPPORT);
	switch (opt.fam) {
	case FAM_SDP:
		CHECK_ERR(socket(dom, SOCK_DGRAM, 0), ESOCKTNOSUPPORT);
		CHECK_ERR(socket(dom, SOCK_RAW, 0), ESOCKTNOSUPPORT);
		break;
	case FAM_IPPROTO:
		CHECK_ERR(socket(dom, SOCK_DGRAM, proto), EPROTONOSUPPORT);
		break;
	default:
		break;
	}
}

static void socket_protocols(void)
{
	int dom = fam_domain(opt.fam, test_af()), fd;

	CHECK_ERR(socket(dom, SOCK_STREAM, IPPROTO_UDP), EPROTONOSUPPORT);
	CHECK_ERR(socket(dom, SOCK_STREAM, 250), EPROTONOSUPPORT);
	CHECK_EQ(close(new_socket(0)), 0);
	fd = socket(dom, SOCK_STREAM, IPPROTO_TCP);
	CHECK(fd >= 0);
	close(fd);
}

static void socket_flags(void)
{
	int fd = new_socket(SOCK_NONBLOCK | SOCK_CLOEXEC);

	CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	fd = new_socket(0);
	CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	CHECK(!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
}

static void socket_identity(void)
{
	int fd = new_socket(0), proto = getint(fd, SOL_SOCKET, SO_PROTOCOL);

	CHECK_EQ(getint(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_DOMAIN), fam_domain(opt.fam, test_af()));
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_ERROR), 0);
	switch (opt.fam) {
	case FAM_TCP:
		CHECK_EQ(proto, IPPROTO_TCP);
		break;
	case FAM_IPPROTO:
		CHECK_EQ(proto, IPPROTO_SDP);
		break;
	default:
		CHECK(proto == 0 || proto == IPPROTO_SDP);
	}
}

/* ---- bind() and names ---- */

/* Families 27 and 28 take their own number in the address too; the name has the IP family. */
static void bind_families(void)
{
	struct addr a = test_addr(), name;
	int af = a.sa.sa_family, fd = new_socket(0);

	a.sa.sa_family = fam_domain(FAM_SDP, af);
	if (opt.fam == FAM_TCP) {
		CHECK_ERR(bind(fd, &a.sa, a.len), EAFNOSUPPORT);
		return;
	}
	CHECK_EQ(bind(fd, &a.sa, a.len), 0);
	name = name_of(fd);
	CHECK_EQ(name.sa.sa_family, af);
	CHECK_EQ(name.len, a.len);
	CHECK(addr_port(&name) != 0);
}

static void connect_families(void)
{
	struct addr a = test_addr(), peer;
	int l = listen_at(&a), fd = new_socket(0), af = a.sa.sa_family;

	a.sa.sa_family = fam_domain(FAM_SDP, af);
	if (opt.fam == FAM_TCP) {
		CHECK_ERR(connect(fd, &a.sa, a.len), EAFNOSUPPORT);
		return;
	}
	CHECK_EQ(connect(fd, &a.sa, a.len), 0);
	peer = peer_of(fd);
	a.sa.sa_family = af;
	CHECK(same_addr(&peer, &a));
	CHECK(accept(l, NULL, NULL) >= 0);
}

/* qperf binds family 27 with a sockaddr_in6. */
static void bind_in6_on_27(void)
{
	static const char *const hosts[] = { "::", "::ffff:127.0.0.1" };

	if (opt.fam != FAM_SDP)
		SKIP("only for family 27");
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		struct addr a = addr_parse(hosts[i], 0), name, to;
		int l = socket(AF_INET_SDP, SOCK_STREAM, 0), c;

		CHECK(l >= 0);
		bind_to(l, &a);
		CHECK_EQ(listen(l, 1), 0);
		name = name_of(l);
		CHECK_EQ(name.sa.sa_family, AF_INET);
		CHECK_EQ(name.len, sizeof(struct sockaddr_in));
		to = addr_parse("127.0.0.1", addr_port(&name));
		c = connect_to(&to);
		CHECK(accept(l, NULL, NULL) >= 0);
		close(c);
		close(l);
	}
}

static void bind_errors(void)
{
	struct addr a = test_addr(), far;
	int fd = new_socket(0);

	far = addr_parse(a.sa.sa_family == AF_INET ? "192.0.2.1" : "2001:db8::1", 0);
	CHECK_ERR(bind(fd, &a.sa, 4), EINVAL);
	CHECK_ERR(bind(fd, (void *)8, a.len), EFAULT);
	CHECK_ERR(bind(fd, &far.sa, far.len), EADDRNOTAVAIL);
	far = a;
	far.sa.sa_family = AF_UNIX;
	CHECK_ERR(bind(fd, &far.sa, far.len), EAFNOSUPPORT);
	bind_to(fd, &a);
	CHECK_ERR(bind(fd, &a.sa, a.len), EINVAL);
}

static void bind_port_zero(void)
{
	struct addr a = test_addr(), name;
	int fd = new_socket(0);

	name = name_of(fd);
	CHECK_EQ(name.sa.sa_family, a.sa.sa_family);
	CHECK_EQ(addr_port(&name), 0);
	bind_to(fd, &a);
	name = name_of(fd);
	CHECK(addr_port(&name) != 0);
	addr_set_port(&a, addr_port(&name));
	CHECK(same_addr(&a, &name));
}

static void bind_conflict(void)
{
	struct addr a = test_addr(), name;
	int fd = new_socket(0), other = new_socket(0);

	bind_to(fd, &a);
	name = name_of(fd);
	CHECK_ERR(bind(other, &name.sa, name.len), EADDRINUSE);
	close(fd);
	bind_to(other, &name);
}

/* SO_REUSEADDR: never beside a listener, but at once after it, with its connections open. */
static void bind_reuseaddr(void)
{
	struct addr a = test_addr();
	int l = new_socket(0), other = new_socket(0), c, s;

	setint(l, SOL_SOCKET, SO_REUSEADDR, 1);
	setint(other, SOL_SOCKET, SO_REUSEADDR, 1);
	bind_to(l, &a);
	CHECK_EQ(listen(l, 4), 0);
	a = name_of(l);
	CHECK_ERR(bind(other, &a.sa, a.len), EADDRINUSE);
	c = connect_to(&a);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	close(l);
	bind_to(other, &a);
	CHECK_EQ(listen(other, 4), 0);
	close(connect_to(&a));
	check_alive(&(struct pair){ c, s });
}

static void bind_privileged(void)
{
	struct addr a = test_addr();
	int fd, first = 1024;
	FILE *f = fopen("/proc/sys/net/ipv4/ip_unprivileged_port_start", "r");

	if (f && fscanf(f, "%d", &first) != 1)
		first = 1024;
	if (f)
		fclose(f);
	if (first <= 700)
		SKIP("every port is unprivileged here");
	addr_set_port(&a, 700);
	if (!geteuid()) {
		fd = new_socket(0);
		bind_to(fd, &a);
		close(fd);
		CHECK_EQ(setuid(65534), 0);
	}
	fd = new_socket(0);
	CHECK_ERR(bind(fd, &a.sa, a.len), EACCES);
}

static void names_of_connection(void)
{
	struct addr a = test_addr(), cn, cp, sn, sp;
	int l = listen_at(&a), c, s;

	c = new_socket(0);
	CHECK_ERR(getpeername(c, &cn.sa, &(socklen_t){ sizeof(cn.ss) }), ENOTCONN);
	CHECK_EQ(connect(c, &a.sa, a.len), 0);
	sp.len = sizeof(sp.ss);
	s = accept(l, &sp.sa, &sp.len);
	CHECK(s >= 0);
	cn = name_of(c);
	cp = peer_of(c);
	sn = name_of(s);
	CHECK(same_addr(&sp, &cn));		/* accept() told the client's name */
	sp = peer_of(s);
	CHECK(same_addr(&sp, &cn));
	CHECK(same_addr(&cp, &sn));
	CHECK(same_addr(&sn, &a));
	CHECK_EQ(cn.sa.sa_family, a.sa.sa_family);
	CHECK(addr_port(&cn) != 0);
	cn.len = 4;				/* a short buffer learns the real length */
	CHECK_EQ(getsockname(c, &cn.sa, &cn.len), 0);
	CHECK_EQ(cn.len, sn.len);
}

/* ---- which addresses ---- */

static void loopback_ipv4(void)
{
	struct pair p = pair_at(addr_parse("127.0.0.1", 0));

	check_alive(&p);
}

static void loopback_ipv6(void)
{
	struct pair p = pair_at(addr_parse("::1", 0));

	check_alive(&p);
}

static void listen_on_any(void)
{
	struct addr a = test_addr(), to, name;
	bool v6 = a.sa.sa_family == AF_INET6;
	int l, s;

	to = a;
	a = addr_parse(v6 ? "::" : "0.0.0.0", 0);
	l = listen_at(&a);
	addr_set_port(&to, addr_port(&a));
	connect_to(&to);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	name = name_of(s);
	CHECK(same_addr(&name, &to));
}

/* A listener on one address is not reached by another. */
static void listen_filters_address(void)
{
	struct addr a = addr_parse("127.0.0.1", 0), to;
	int fd;

	listen_at(&a);
	to = addr_parse("127.0.0.2", addr_port(&a));
	fd = fam_socket(opt.fam, AF_INET, 0);
	CHECK(fd >= 0);
	CHECK_ERR(connect(fd, &to.sa, to.len), ECONNREFUSED);
}

/* Connecting to the wildcard address means this host. */
static void connect_to_any(void)
{
	struct addr a = test_addr();
	bool v6 = a.sa.sa_family == AF_INET6;
	struct addr any = addr_parse(v6 ? "::" : "0.0.0.0", 0), peer, lo;
	int l = listen_at(&any), c = connect_to(&any);

	CHECK(accept(l, NULL, NULL) >= 0);
	peer = peer_of(c);
	lo = addr_parse(v6 ? "::1" : "127.0.0.1", addr_port(&any));
	CHECK(same_addr(&peer, &lo));
}

static void v6_socket_to_ipv4(void)
{
	struct addr a = addr_parse("127.0.0.1", 0), to, peer;
	int l = listen_at(&a), c, s;

	to = addr_parse("::ffff:127.0.0.1", addr_port(&a));
	c = connect_to(&to);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	peer = peer_of(c);
	CHECK(same_addr(&peer, &to));
	peer = peer_of(s);
	CHECK_EQ(peer.sa.sa_family, AF_INET);
	check_alive(&(struct pair){ c, s });
}

static void v6_listener_takes_ipv4(void)
{
	struct addr a = addr_parse("::", 0), to, peer;
	int l = listen_at(&a), c, s;

	to = addr_parse("127.0.0.1", addr_port(&a));
	c = connect_to(&to);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	peer = peer_of(s);
	CHECK_EQ(peer.sa.sa_family, AF_INET6);
	CHECK(IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr));
	peer = peer_of(c);
	CHECK_EQ(peer.sa.sa_family, AF_INET);
	check_alive(&(struct pair){ c, s });
}

static void v6only_listener(void)
{
	struct addr a = addr_parse("::", 0), to;
	int l = fam_socket(opt.fam, AF_INET6, 0), c = fam_socket(opt.fam, AF_INET, 0);

	CHECK(l >= 0 && c >= 0);
	setint(l, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	CHECK_EQ(getint(l, IPPROTO_IPV6, IPV6_V6ONLY), 1);
	bind_to(l, &a);
	CHECK_EQ(listen(l, 4), 0);
	a = name_of(l);
	to = addr_parse("127.0.0.1", addr_port(&a));
	CHECK_ERR(connect(c, &to.sa, to.len), ECONNREFUSED);
}

const struct test_case cases_socket[] = {
	CASE(socket_types),
	CASE(socket_protocols),
	CASE(socket_flags),
	CASE(socket_identity),
	CASE(bind_families),
	CASE(bind_in6_on_27),
	CASE(bind_errors),
	CASE(bind_port_zero),
	CASE(bind_conflict),
	CASE(bind_reuseaddr),
	CASE(bind_privileged),
	CASE(names_of_connection),
	CASE(loopback_ipv4),
	CASE(loopback_ipv6),
	CASE(listen_on_any),
	CASE(listen_filters_address),
	CASE(v6_socket_to_ipv4),
	CASE(v6_listener_takes_ipv4),
	CASE(v6only_listener),
	CASE(connect_families),
	CASE(connect_to_any),
	{ }
};
