// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: bind() and connect().
 */
#include "contract.h"
#include <ifaddrs.h>
#include <net/if.h>

static void binding(void)
{
	struct addr a = own_addr(), b = own_addr(), bad = own_addr();
	int one = sock(0), two = sock(0), three = sock(0);

	answer("to port 0", "%s", res(bind(one, &a.sa, a.len)));
	answer("... gives a port", "%d", addr_port(&(struct addr){ .ss = name_of(one).ss }) != 0);
	b = name_of(one);
	answer("again", "%s", res(bind(one, &a.sa, a.len)));
	answer("to a port taken", "%s", res(bind(two, &b.sa, b.len)));
	set_int(one, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(two, SOL_SOCKET, SO_REUSEADDR, 1);
	answer("... with SO_REUSEADDR on both", "%s", res(bind(two, &b.sa, b.len)));
	answer("listen() on the first", "%s", res(listen(one, 1)));
	answer("listen() on the second", "%s", res(listen(two, 1)));
	set_int(three, SOL_SOCKET, SO_REUSEADDR, 1);
	answer("... to a port listened on", "%s", res(bind(three, &b.sa, b.len)));
	answer("short address", "%s", res(bind(three, &a.sa, a.len - 5)));
	answer("2 bytes of address", "%s", res(bind(three, &a.sa, 2)));
	bad.sa.sa_family = AF_UNIX;
	answer("family AF_UNIX", "%s", res(bind(three, &bad.sa, bad.len)));
	if (bad.len == sizeof(bad.in)) {
		bad = addr_parse("203.0.113.1", 0);
		answer("an address that isn't ours", "%s", res(bind(three, &bad.sa, bad.len)));
		set_int(three, SOL_IP, IP_FREEBIND, 1);
		answer("... with IP_FREEBIND", "%s", res(bind(three, &bad.sa, bad.len)));
		three = sock(0);
		bad = addr_parse("0.0.0.0", 0);
		bad.sa.sa_family = AF_UNSPEC;
		answer("AF_UNSPEC and any address", "%s", res(bind(three, &bad.sa, bad.len)));
	}
}

static void reuse_port(void)
{
	struct addr a = own_addr(), b;
	int l[4], n[4] = { }, rc;

	for (int i = 0; i < 4; i++) {
		l[i] = sock(SOCK_NONBLOCK);
		rc = setsockopt(l[i], SOL_SOCKET, SO_REUSEPORT, &(int){ 1 }, sizeof(int));
		if (i == 0)
			answer("SO_REUSEPORT", "%s", res(rc));
		rc = bind(l[i], &a.sa, a.len);
		if (i == 0)
			a = name_of(l[0]);
		if (i == 1)
			answer("second bind", "%s", res(rc));
		rc = listen(l[i], 64);
		if (i == 1)
			answer("second listen", "%s", res(rc));
	}
	b = a;
	answer("bind without it", "%s", res(bind(sock(0), &b.sa, b.len)));
	for (int i = 0; i < 40; i++)
		connected(&a);
	settle(50);
	for (int i = 0; i < 4; i++)
		while (accept(l[i], NULL, NULL) >= 0)
			n[i]++;
	answer("40 connections spread over 4 listeners", "%d, all there %d",
	       n[0] && n[1] && n[2] && n[3], n[0] + n[1] + n[2] + n[3] == 40);
}

static void nonblocking(void)
{
	struct addr a = own_addr(), no = closed_port();
	int l = listener(&a, 4), fd = sock(SOCK_NONBLOCK);

	answer("connect()", "%s", res(connect(fd, &a.sa, a.len)));
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 3000 * run.slow);
	answer("events then", "%s", mask_name(poll_now(fd)));
	answer("SO_ERROR", "%s", res(get_int(fd, SOL_SOCKET, SO_ERROR)));
	answer("connect() again", "%s", res(connect(fd, &a.sa, a.len)));
	answer("and again", "%s", res(connect(fd, &a.sa, a.len)));
	close(l);
	fd = sock(SOCK_NONBLOCK);
	connect(fd, &no.sa, no.len);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 3000 * run.slow);
	answer("nobody there: events", "%s", mask_name(poll_settled(fd)));
	answer("nobody there: SO_ERROR", "%s", errno_name(get_int(fd, SOL_SOCKET, SO_ERROR)));
	answer("events after that", "%s", mask_name(poll_now(fd)));
	answer("send() after that", "%s", res(send(fd, "x", 1, MSG_NOSIGNAL)));
	answer("recv() after that", "%s", res(recv(fd, &(char){ 0 }, 1, 0)));
	fd = sock(SOCK_NONBLOCK);
	connect(fd, &no.sa, no.len);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 3000 * run.slow);
	answer("nobody there: connect() again", "%s", res(connect(fd, &no.sa, no.len)));
	fd = sock(SOCK_NONBLOCK);
	connect(fd, &no.sa, no.len);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 3000 * run.slow);
	answer("nobody there: send()", "%s", res(send(fd, "x", 1, MSG_NOSIGNAL)));
	answer("nobody there: send() again", "%s", res(send(fd, "x", 1, MSG_NOSIGNAL)));
	fd = sock(SOCK_NONBLOCK);
	connect(fd, &no.sa, no.len);
	poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, 3000 * run.slow);
	answer("nobody there: recv()", "%s", res(recv(fd, &(char){ 0 }, 1, 0)));
	answer("nobody there: recv() again", "%s", res(recv(fd, &(char){ 0 }, 1, 0)));
}

static void blocking(void)
{
	struct addr a = own_addr(), no = closed_port(), bad = own_addr();
	int l = listener(&a, 4), fd = sock(0), two;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	answer("nobody there", "%s", res(connect(fd, &no.sa, no.len)));
	answer("... SO_ERROR", "%s", res(get_int(fd, SOL_SOCKET, SO_ERROR)));
	answer("... events", "%s", mask_name(poll_now(fd)));
	answer("the same socket, somebody there", "%s", res(connect(fd, &a.sa, a.len)));
	answer("again", "%s", res(connect(fd, &a.sa, a.len)));
	answer("listen() on it", "%s", res(listen(fd, 1)));
	answer("bind() on it", "%s", res(bind(fd, &bad.sa, bad.len)));
	two = sock(0);
	answer("short address", "%s", res(connect(two, &a.sa, a.len - 5)));
	answer("1 byte of address", "%s", res(connect(two, &a.sa, 1)));
	bad.sa.sa_family = AF_UNIX;
	answer("family AF_UNIX", "%s", res(connect(two, &bad.sa, bad.len)));
	answer("on a listener", "%s", res(connect(l, &a.sa, a.len)));
	answer("getpeername()", "%s", res(getpeername(fd, (void *)&ss, &len)));
	close(accept(l, NULL, NULL));
	poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 3000 * run.slow);
	answer("getpeername() when the peer has closed", "%s", res(getpeername(fd, (void *)&ss, &len)));
	close(fd);
	fd = connected(&a);
	two = accept(l, NULL, NULL);
	set_linger(two, 1, 0);
	close(two);
	poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 3000 * run.slow);
	settle(50);
	len = sizeof(ss);
	answer("getpeername() after a reset", "%s", res(getpeername(fd, (void *)&ss, &len)));
	answer("connect() after a reset", "%s", res(connect(fd, &a.sa, a.len)));
	answer("... and again", "%s", res(connect(fd, &a.sa, a.len)));
	answer("... and once more", "%s", res(connect(fd, &a.sa, a.len)));
}

static void unspec(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct addr a = own_addr();
	int l = listener(&a, 4), fd = connected(&a), s = accept(l, NULL, NULL);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	char b[4];

	answer("on a connection", "%s", res(connect(fd, &none, sizeof(none))));
	poll(&(struct pollfd){ .fd = s, .events = POLLIN }, 1, 3000 * run.slow);
	answer("the peer's recv()", "%s", res(recv(s, b, 4, 0)));
	answer("getpeername()", "%s", res(getpeername(fd, (void *)&ss, &len)));
	answer("port", "%d", addr_port(&(struct addr){ .ss = name_of(fd).ss }) != 0);
	answer("events", "%s", mask_name(poll_now(fd)));
	answer("connect() again", "%s", res(connect(fd, &a.sa, a.len)));
	answer("on a new socket", "%s", res(connect(sock(0), &none, sizeof(none))));
	answer("on a listener", "%s", res(connect(l, &none, sizeof(none))));
	answer("... events then", "%s", mask_name(poll_now(l)));
	answer("... accept() then", "%s", res(accept(l, NULL, NULL)));
	answer("... listen() again", "%s", res(listen(l, 4)));
	fd = sock(SOCK_NONBLOCK);
	connect(fd, &a.sa, a.len);
	answer("while connecting", "%s", res(connect(fd, &none, sizeof(none))));
	{
		struct addr own = own_addr(), was, is;
		int two = sock(0);

		bind(two, &own.sa, own.len);
		was = name_of(two);
		connect(two, &a.sa, a.len);
		connect(two, &none, sizeof(none));
		is = name_of(two);
		answer("... a port chosen by bind()", "%s",
		       addr_port(&is) == addr_port(&was) ? "kept" : addr_port(&is) ? "another" : "0");
	}
}

static void self(void)
{
	struct addr a = own_addr();
	int fd = sock(0);
	char b[4];

	bind(fd, &a.sa, a.len);
	a = name_of(fd);
	answer("connect() to oneself", "%s", res(connect(fd, &a.sa, a.len)));
	answer("send()", "%s", res(send(fd, "abc", 3, MSG_NOSIGNAL)));
	answer("recv()", "%s", res(recv(fd, b, 4, MSG_DONTWAIT)));
}

/* Which errors what can't be reached gives, without waiting for it */
static void unreachable(void)
{
	struct addr a;
	int fd;

	a = addr_parse("255.255.255.255", 5);
	fd = own_socket(AF_INET, 0);
	answer("to 255.255.255.255", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET, 0);
	a = addr_parse("224.0.0.1", 5);
	answer("to a multicast address", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET, 0);
	a = addr_parse("198.51.100.1", 5);
	answer("without a route", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET, 0);
	a = closed_port();
	addr_set_port(&a, 0);
	if (a.sa.sa_family == AF_INET)
		answer("to port 0", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET6, 0);
	a = addr_parse("ff02::1", 5);
	answer("to an IPv6 multicast address", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET6, 0);
	a = addr_parse("2001:db8::1", 5);
	answer("IPv6, without a route", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET6, 0);
	a = addr_parse("fe80::1", 5);
	answer("IPv6, link-local without a scope", "%s", res(connect(fd, &a.sa, a.len)));
	fd = own_socket(AF_INET6, 0);
	setsockopt(fd, SOL_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int));
	a = addr_parse("::ffff:127.0.0.1", 5);
	answer("IPV6_V6ONLY, to an IPv4 address", "%s", res(connect(fd, &a.sa, a.len)));
	answer("IPV6_V6ONLY, bind() to an IPv4 address", "%s", res(bind(fd, &a.sa, a.len)));
}

/* A link-local address of an interface of ours, with its scope; false if there is none */
static bool link_local(struct addr *a)
{
	struct ifaddrs *all, *i;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET6)
			continue;
		a->len = sizeof(a->in6);
		memcpy(&a->in6, i->ifa_addr, a->len);
		found = IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr);
	}
	freeifaddrs(all);
	return found;
}

static void scopes(void)
{
	struct addr a = { .len = 0 }, b, name = { .len = sizeof(name.ss) };
	int l, fd;

	if (!link_local(&a)) {
		answer("a link-local address", "%s", "none here");
		return;
	}
	b = a;
	b.in6.sin6_scope_id = 0;
	fd = own_socket(AF_INET6, 0);
	answer("bind() without a scope", "%s", res(bind(fd, &b.sa, b.len)));
	b.in6.sin6_scope_id = 4711;
	answer("bind() with a scope that doesn't exist", "%s", res(bind(fd, &b.sa, b.len)));
	l = listener(&a, 4);
	fd = own_socket(AF_INET6, 0);
	answer("connect()", "%s", res(connect(fd, &a.sa, a.len)));
	getpeername(fd, &name.sa, &name.len);
	answer("getpeername(): the scope", "%d", name.in6.sin6_scope_id == a.in6.sin6_scope_id);
	fd = accept(l, &name.sa, &name.len);
	answer("accept(): the scope", "%d", name.in6.sin6_scope_id == a.in6.sin6_scope_id);
	answer("SO_BINDTOIFINDEX", "%d", get_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX) ==
	       (int)a.in6.sin6_scope_id);
	b.in6.sin6_addr = in6addr_any;
	b.in6.sin6_scope_id = 0;
	l = listener(&b, 4);
	getsockname(l, &name.sa, &name.len);
	b = a;
	b.in6.sin6_port = name.in6.sin6_port;
	fd = own_socket(AF_INET6, 0);
	answer("to any address: connect()", "%s", res(connect(fd, &b.sa, b.len)));
	fd = accept(l, &name.sa, &name.len);
	answer("accept(): the scope", "%d", name.in6.sin6_scope_id == a.in6.sin6_scope_id);
	answer("SO_BINDTOIFINDEX", "%d", get_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX) ==
	       (int)a.in6.sin6_scope_id);
	fd = own_socket(AF_INET6, 0);
	set_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX, if_nametoindex("lo"));
	answer("bound to another interface: connect()", "%s", res(connect(fd, &a.sa, a.len)));
}

/* Two ports next to each other that nobody has; the first of them */
static unsigned int two_ports(void)
{
	unsigned int port = 40000 + getpid() % 8000 * 2;
	bool taken = true;

	for (; taken; port += 2) {
		taken = false;
		for (int i = 0; i < 2; i++) {
			struct addr a = own_addr();
			int fd = sock(0);

			addr_set_port(&a, port + i);
			taken |= bind(fd, &a.sa, a.len) < 0;
			close(fd);
		}
	}
	return port - 2;
}

/* A socket that may have no other than two ports */
static int sock_of_range(unsigned int port)
{
	unsigned int range = (port + 1) << 16 | port;
	int fd = sock(0);

	if (setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, &range, 4))
		die("IP_LOCAL_PORT_RANGE");
	return fd;
}

static void port_range(void)
{
	unsigned int port = two_ports(), range = (port + 1) << 16 | port;
	struct addr a = own_addr(), to = own_addr();
	int l = listener(&to, 8), held[2], rc;

	rc = setsockopt(sock(0), SOL_IP, IP_LOCAL_PORT_RANGE, &range, 4);
	answer("IP_LOCAL_PORT_RANGE of 2", "%s", res(rc));
	if (rc)
		return;
	for (int i = 0; i < 2; i++) {
		held[i] = sock_of_range(port);
		rc = bind(held[i], &a.sa, a.len);
	}
	answer("second bind()", "%s", res(rc));
	answer("third bind()", "%s", res(bind(sock_of_range(port), &a.sa, a.len)));
	answer("connect() when all are taken", "%s",
	       res(connect(sock_of_range(port), &to.sa, to.len)));
	answer("listen() when all are taken", "%s", res(listen(sock_of_range(port), 1)));
	close(held[1]);
	answer("bind() when one has been given back", "%s",
	       res(bind(sock_of_range(port), &a.sa, a.len)));
	close(l);
}

static void to_wildcard(void)
{
	struct addr a = addr_parse(own_af() == AF_INET ? "0.0.0.0" : "::", 0), peer = { .len = sizeof(peer.ss) };
	int l = listener(&a, 4), fd = sock(0);

	answer("connect() to the any address", "%s", res(connect(fd, &a.sa, a.len)));
	getpeername(fd, &peer.sa, &peer.len);
	addr_set_port(&peer, 1);
	answer("getpeername()", "%s", addr_str(&peer));
	close(l);
}

static void sndtimeo(void)
{
	struct addr a = own_addr();
	int l = sock(0), fd = -1;

	if (bind(l, &a.sa, a.len) || listen(l, 0))
		die("listen");
	a = name_of(l);
	for (int i = 0; i < 3; i++) {
		fd = sock(SOCK_NONBLOCK);
		connect(fd, &a.sa, a.len);
		settle(100);
	}
	answer("backlog full: events", "%s", mask_name(poll_settled(fd)));
	answer("... connect() again", "%s", res(connect(fd, &a.sa, a.len)));
	answer("... send()", "%s", res(send(fd, "x", 1, MSG_NOSIGNAL)));
	answer("... recv()", "%s", res(recv(fd, &(char){ 0 }, 1, 0)));
	answer("... SO_ERROR", "%s", res(get_int(fd, SOL_SOCKET, SO_ERROR)));
	answer("... shutdown()", "%s", res(shutdown(fd, SHUT_RDWR)));
	answer("... events then", "%s", mask_name(poll_settled(fd)));
	answer("... send() then", "%s", res(send(fd, "x", 1, MSG_NOSIGNAL)));
	answer("... connect() then", "%s", res(connect(fd, &a.sa, a.len)));
	fd = sock(0);
	set_timeo(fd, SO_SNDTIMEO, 100);
	answer("SO_SNDTIMEO", "%s", res(connect(fd, &a.sa, a.len)));
	answer("... connect() again", "%s", res(connect(fd, &a.sa, a.len)));
}

static const struct contract_case cases[] = {
	{ "bind", binding },
	{ "SO_REUSEPORT", reuse_port },
	{ "connect, non-blocking", nonblocking },
	{ "connect, blocking", blocking },
	{ "connect(AF_UNSPEC)", unspec },
	{ "connect to oneself", self },
	{ "connect, what can't be reached", unreachable },
	{ "IPv6, link-local addresses", scopes },
	{ "ephemeral ports", port_range },
	{ "connect to any", to_wildcard },
	{ "connect, nobody accepts", sndtimeo },
	{ }
};

const struct contract_topic topic_connect = { "Binding and connecting", cases };
