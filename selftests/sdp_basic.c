// SPDX-License-Identifier: GPL-2.0
/*
 * What a stream socket does, one function for each behaviour, in TAP. The same code runs over
 * TCP (-f tcp), which is the reference: a case that fails there is wrong.
 *
 * Each case runs in a process group of its own with a time limit. A case checks with
 * CHECK (a condition), CHECK_EQ (two numbers) and CHECK_ERR (a call that must fail with an
 * errno); the first that does not hold ends it. What the peer does shows here only after some
 * time, so masks and counters are awaited (poll_becomes, ioctl_becomes), never just read.
 */
#include "sdp_test.h"
#include <fcntl.h>
#include <getopt.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

static struct {
	enum fam fam;
	const char *host;
	int limit;			/* seconds for one case */
	int slow;			/* factor on every upper bound of time */
} opt = { .fam = FAM_SDP, .host = "127.0.0.1", .limit = 10, .slow = 1 };

static char *skip_reason;		/* shared with the case's process */

#define SKIP_LEN	128

#define FAIL(fmt, ...)							\
	do {								\
		printf("# %s:%d: " fmt "\n", __FILE__, __LINE__, ##__VA_ARGS__);	\
		fflush(stdout);						\
		_exit(EXIT_FAILURE);					\
	} while (0)

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			FAIL("%s is not so (errno %d, %s)", #cond, errno, strerror(errno)); \
	} while (0)

#define CHECK_EQ(expr, want)						\
	do {								\
		long long got_ = (expr), want_ = (want);		\
									\
		if (got_ != want_)					\
			FAIL("%s is %lld, not %lld (errno %d, %s)", #expr, got_, want_,	\
			     errno, strerror(errno));			\
	} while (0)

#define CHECK_ERR(call, want)						\
	do {								\
		errno = 0;						\
		long long rc_ = (call);					\
									\
		if (rc_ != -1 || errno != (want))			\
			FAIL("%s gives %lld with errno %d (%s), not %s", #call, rc_, errno,	\
			     strerror(errno), #want);			\
	} while (0)

#define SKIP(reason)							\
	do {								\
		snprintf(skip_reason, SKIP_LEN, "%s", reason);		\
		_exit(EXIT_SKIP);					\
	} while (0)

/* ---- helpers ---- */

struct pair {
	int c, s;			/* client's and server's end */
};

static struct addr test_addr(void)
{
	return addr_parse(opt.host, 0);
}

static int test_af(void)
{
	return test_addr().sa.sa_family;
}

static int new_socket(int flags)
{
	int fd = fam_socket(opt.fam, test_af(), flags);

	if (fd < 0)
		FAIL("socket(%d, SOCK_STREAM, %d): %s", fam_domain(opt.fam, test_af()),
		     fam_protocol(opt.fam, test_af()), strerror(errno));
	return fd;
}

static struct addr name_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	CHECK_EQ(getsockname(fd, &a.sa, &a.len), 0);
	return a;
}

static struct addr peer_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	CHECK_EQ(getpeername(fd, &a.sa, &a.len), 0);
	return a;
}

static bool same_addr(const struct addr *a, const struct addr *b)
{
	return a->len == b->len && !memcmp(&a->ss, &b->ss, a->len);
}

static void bind_to(int fd, const struct addr *a)
{
	if (bind(fd, &a->sa, a->len))
		FAIL("bind %s: %s", addr_str(a), strerror(errno));
}

/* Listens at @a, whose port becomes the real one. */
static int listen_at(struct addr *a)
{
	int fd = fam_socket(opt.fam, a->sa.sa_family, 0);
	struct addr name;

	CHECK(fd >= 0);
	bind_to(fd, a);
	CHECK_EQ(listen(fd, 16), 0);
	name = name_of(fd);
	addr_set_port(a, addr_port(&name));
	return fd;
}

static int connect_to(const struct addr *a)
{
	int fd = fam_socket(opt.fam, a->sa.sa_family, 0);

	CHECK(fd >= 0);
	if (connect(fd, &a->sa, a->len))
		FAIL("connect %s: %s", addr_str(a), strerror(errno));
	return fd;
}

static struct pair pair_at(struct addr a)
{
	int l = listen_at(&a);
	struct pair p = { .c = connect_to(&a), .s = accept(l, NULL, NULL) };

	CHECK(p.s >= 0);
	close(l);
	return p;
}

static struct pair new_pair(void)
{
	return pair_at(test_addr());
}

/* A port at the test address where nobody listens. */
static struct addr closed_port(void)
{
	struct addr a = test_addr();

	close(listen_at(&a));
	return a;
}

static void msleep(int ms)
{
	usleep(ms * 1000);
}

/* Long enough for others to have done what takes them @ms on a fast machine. */
static void settle(int ms)
{
	msleep(ms * opt.slow);
}

/* Something becomes readable at @fd before long. */
static bool readable_soon(int fd)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 3000 * opt.slow) == 1;
}

static int getint(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int val = -1;

	CHECK_EQ(getsockopt(fd, level, name, &val, &len), 0);
	CHECK_EQ(len, sizeof(int));
	return val;
}

static void setint(int fd, int level, int name, int val)
{
	CHECK_EQ(setsockopt(fd, level, name, &val, sizeof(val)), 0);
}

static void set_nonblock(int fd)
{
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

static void set_timeo(int fd, int name, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)), 0);
}

static void close_with_reset(int fd)
{
	struct linger l = { .l_onoff = 1, .l_linger = 0 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	close(fd);
}

static const char *mask_str(unsigned int mask)
{
	static char buf[64];

	snprintf(buf, sizeof(buf), "%s%s%s%s%s%s%#x", mask & POLLIN ? "IN " : "",
		 mask & POLLPRI ? "PRI " : "", mask & POLLOUT ? "OUT " : "",
		 mask & POLLERR ? "ERR " : "", mask & POLLHUP ? "HUP " : "",
		 mask & POLLRDHUP ? "RDHUP " : "", mask);
	return buf;
}

static unsigned int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };

	CHECK(poll(&p, 1, 0) >= 0);
	return p.revents;
}

/* Waits until poll() of @fd gives exactly @mask. */
static void poll_becomes(int fd, unsigned int mask)
{
	uint64_t start = now_ns();
	unsigned int got;

	while ((got = poll_now(fd)) != mask) {
		if (seconds_since(start) > 3 * opt.slow) {
			printf("# poll gives %s\n", mask_str(got));
			FAIL("poll did not become %s", mask_str(mask));
		}
		msleep(2);
	}
}

static void ioctl_becomes(int fd, unsigned long cmd, int want)
{
	uint64_t start = now_ns();
	int got;

	for (;;) {
		CHECK_EQ(ioctl(fd, cmd, &got), 0);
		if (got == want)
			return;
		if (seconds_since(start) > 3 * opt.slow)
			FAIL("ioctl %#lx gives %d, not %d", cmd, got, want);
		msleep(2);
	}
}

static pid_t start_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	return pid;
}

static void wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		CHECK_EQ(errno, EINTR);
	if (status)
		FAIL("a child process ended with status %#x", status);
}

static void check_echo(int from, int to)
{
	char buf[8] = "";

	CHECK_EQ(send(from, "hello", 5, 0), 5);
	CHECK(readable_soon(to));
	CHECK_EQ(recv(to, buf, 5, MSG_WAITALL), 5);
	CHECK(!memcmp(buf, "hello", 5));
}

static void check_alive(const struct pair *p)
{
	check_echo(p->c, p->s);
	check_echo(p->s, p->c);
}

/* Sends @len bytes of the stream, in calls of up to 256 KB. */
static void send_stream(int fd, struct stream *st, size_t len)
{
	static unsigned char buf[256 << 10];

	while (len) {
		size_t n = len < sizeof(buf) ? len : sizeof(buf);

		stream_fill(st, buf, n);
		CHECK_EQ(send_all(fd, buf, n), 0);
		len -= n;
	}
}

/* Receives @len bytes of the stream; blocking. */
static void recv_stream(int fd, struct stream *st, size_t len)
{
	static unsigned char buf[256 << 10];

	while (len) {
		ssize_t n = recv(fd, buf, len < sizeof(buf) ? len : sizeof(buf), 0);
		int64_t bad;

		if (n <= 0)
			FAIL("recv gives %zd (%s) with %zu bytes to come", n, strerror(errno), len);
		bad = stream_check(st, buf, n);
		if (bad >= 0)
			FAIL("data differs at offset %lld", (long long)bad);
		len -= n;
	}
}

/* Fills a non-blocking socket's send side from the stream; returns the bytes taken. */
static size_t fill_socket(int fd, struct stream *st)
{
	static unsigned char buf[64 << 10];
	uint64_t first = st->off;
	int full = 0;

	/* the peer's receive side may take more after a moment: full means it stays so */
	while (full < 5) {
		struct stream next = *st;
		ssize_t n;

		stream_fill(&next, buf, sizeof(buf));
		n = send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			CHECK_EQ(errno, EAGAIN);
			full++;
			settle(20);
			continue;
		}
		full = 0;
		stream_fill(st, buf, n);
	}
	return st->off - first;
}

static unsigned char *two_pages_one_mapped(void)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_EQ(munmap(p + page, page), 0);
	return p;
}

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

/* ---- listen() and accept() ---- */

static void listen_states(void)
{
	struct addr a = test_addr(), name;
	int l = new_socket(0), c;

	CHECK_EQ(getint(l, SOL_SOCKET, SO_ACCEPTCONN), 0);
	CHECK_ERR(accept(l, NULL, NULL), EINVAL);
	CHECK_EQ(listen(l, 1), 0);		/* unbound: a port is chosen */
	name = name_of(l);
	CHECK(addr_port(&name) != 0);
	CHECK_EQ(listen(l, 5), 0);		/* again: only the backlog changes */
	CHECK_EQ(getint(l, SOL_SOCKET, SO_ACCEPTCONN), 1);
	addr_set_port(&a, addr_port(&name));
	CHECK_ERR(connect(l, &a.sa, a.len), EISCONN);
	c = connect_to(&a);
	CHECK_ERR(listen(c, 1), EINVAL);
	CHECK_ERR(accept(c, NULL, NULL), EINVAL);
}

static void accept_nonblocking(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a), s;

	set_nonblock(l);
	CHECK_ERR(accept(l, NULL, NULL), EAGAIN);
	connect_to(&a);
	poll_becomes(l, POLLIN);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	CHECK(!(fcntl(s, F_GETFL) & O_NONBLOCK));	/* not inherited */
	CHECK_ERR(accept(l, NULL, NULL), EAGAIN);
}

static void accept4_flags(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a), s;

	CHECK_ERR(accept4(l, NULL, NULL, 1), EINVAL);
	connect_to(&a);
	s = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	CHECK(s >= 0);
	CHECK(fcntl(s, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(s, F_GETFD) & FD_CLOEXEC);
}

static void accept_inherits_options(void)
{
	struct addr a = test_addr();
	struct linger set = { 1, 7 }, got = { 0, 0 };
	int l = new_socket(0), s;

	setint(l, SOL_SOCKET, SO_SNDBUF, 30000);
	setint(l, SOL_SOCKET, SO_RCVBUF, 40000);
	setint(l, SOL_SOCKET, SO_KEEPALIVE, 1);
	setint(l, IPPROTO_TCP, TCP_NODELAY, 1);
	CHECK_EQ(setsockopt(l, SOL_SOCKET, SO_LINGER, &set, sizeof(set)), 0);
	bind_to(l, &a);
	CHECK_EQ(listen(l, 1), 0);
	a = name_of(l);
	connect_to(&a);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	CHECK_EQ(getint(s, SOL_SOCKET, SO_SNDBUF), 60000);
	CHECK_EQ(getint(s, SOL_SOCKET, SO_RCVBUF), 80000);
	CHECK_EQ(getint(s, SOL_SOCKET, SO_KEEPALIVE), 1);
	CHECK_EQ(getint(s, IPPROTO_TCP, TCP_NODELAY), 1);
	CHECK_EQ(getsockopt(s, SOL_SOCKET, SO_LINGER, &got, &(socklen_t){ sizeof(got) }), 0);
	CHECK(got.l_onoff == 1 && got.l_linger == 7);
}

static void accept_blocks(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a);
	pid_t pid = start_child();

	if (!pid) {
		msleep(100);
		close(connect_to(&a));
		_exit(0);
	}
	CHECK(accept(l, NULL, NULL) >= 0);
	wait_child(pid);
}

/* Connections nobody accepted are reset when the listener goes. */
static void listener_close_resets(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a), c = connect_to(&a);
	char b;

	poll_becomes(l, POLLIN);
	close(l);
	CHECK_ERR(recv(c, &b, 1, 0), ECONNRESET);
}

static void listener_shutdown_wakes(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a), fd;
	pid_t pid = start_child();

	if (!pid) {
		msleep(100);
		_exit(shutdown(l, SHUT_RD) ? EXIT_FAILURE : 0);
	}
	CHECK_ERR(accept(l, NULL, NULL), EINVAL);
	wait_child(pid);
	fd = new_socket(0);
	CHECK_ERR(connect(fd, &a.sa, a.len), ECONNREFUSED);
}

/* ---- connect() ---- */

static void connect_refused(void)
{
	struct addr a = closed_port();
	uint64_t start = now_ns();
	int fd = new_socket(0);

	CHECK_ERR(connect(fd, &a.sa, a.len), ECONNREFUSED);
	CHECK(seconds_since(start) < 1.0 * opt.slow);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_ERROR), 0);	/* connect() reported it */
	listen_at(&a);
	CHECK_EQ(connect(fd, &a.sa, a.len), 0);		/* the socket may try again */
}

static void connect_errors(void)
{
	struct addr a = test_addr(), other;
	struct pair p;
	int fd = new_socket(0);

	CHECK_ERR(connect(fd, &a.sa, 4), EINVAL);
	CHECK_ERR(connect(fd, (void *)8, a.len), EFAULT);
	other = a;
	other.sa.sa_family = AF_UNIX;
	CHECK_ERR(connect(fd, &other.sa, other.len), EAFNOSUPPORT);
	p = new_pair();
	a = peer_of(p.c);
	CHECK_ERR(connect(p.c, &a.sa, a.len), EISCONN);
	CHECK_ERR(connect(p.s, &a.sa, a.len), EISCONN);
	check_alive(&p);
}

/* One thread is enough: connect() does not wait for accept(). */
static void connect_nonblocking(void)
{
	struct addr a = test_addr(), peer;
	int l = listen_at(&a), c = new_socket(SOCK_NONBLOCK), s, rc;

	CHECK_ERR(connect(c, &a.sa, a.len), EINPROGRESS);
	rc = connect(c, &a.sa, a.len);		/* 0: done meanwhile */
	CHECK(rc == 0 || errno == EALREADY);
	poll_becomes(c, POLLOUT);
	CHECK_EQ(getint(c, SOL_SOCKET, SO_ERROR), 0);
	if (rc)
		CHECK_EQ(connect(c, &a.sa, a.len), 0);
	CHECK_ERR(connect(c, &a.sa, a.len), EISCONN);
	peer = peer_of(c);
	CHECK(same_addr(&peer, &a));
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	check_alive(&(struct pair){ c, s });
}

static void connect_nonblocking_refused(void)
{
	struct addr a = closed_port();
	int fd = new_socket(SOCK_NONBLOCK);

	CHECK_ERR(connect(fd, &a.sa, a.len), EINPROGRESS);
	poll_becomes(fd, POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_ERROR), 0);
	CHECK_EQ(poll_now(fd), POLLIN | POLLOUT | POLLHUP | POLLRDHUP);
}

static void connect_bound(void)
{
	struct addr a = test_addr(), mine = a, peer;
	int l = listen_at(&a), c = new_socket(0), s;

	bind_to(c, &mine);
	mine = name_of(c);
	CHECK_EQ(connect(c, &a.sa, a.len), 0);
	s = accept(l, NULL, NULL);
	CHECK(s >= 0);
	peer = peer_of(s);
	CHECK(same_addr(&peer, &mine));
}

static void connect_unspec_disconnects(void)
{
	struct sockaddr unspec = { .sa_family = AF_UNSPEC };
	struct pair p = new_pair();
	struct addr a = test_addr();
	char b;

	CHECK_EQ(connect(p.c, &unspec, sizeof(unspec)), 0);
	CHECK_ERR(recv(p.s, &b, 1, 0), ECONNRESET);
	CHECK_ERR(getpeername(p.c, &a.sa, &a.len), ENOTCONN);
	a = test_addr();
	listen_at(&a);
	CHECK_EQ(connect(p.c, &a.sa, a.len), 0);
}

/* ---- data ---- */

static void data_both_ways(void)
{
	struct pair p = new_pair();
	char buf[4];

	check_alive(&p);
	CHECK_EQ(write(p.c, "abcd", 4), 4);
	CHECK_EQ(write(p.s, "efgh", 4), 4);
	CHECK_EQ(recv(p.s, buf, 4, MSG_WAITALL), 4);
	CHECK(!memcmp(buf, "abcd", 4));
	CHECK_EQ(recv(p.c, buf, 4, MSG_WAITALL), 4);
	CHECK(!memcmp(buf, "efgh", 4));
}

/* A stream has no message boundaries: reads may be shorter and longer than writes. */
static void data_is_a_stream(void)
{
	struct pair p = new_pair();
	char buf[16];

	for (int i = 0; i < 10; i++)
		CHECK_EQ(send(p.c, &"0123456789"[i], 1, 0), 1);
	ioctl_becomes(p.s, FIONREAD, 10);
	CHECK_EQ(recv(p.s, buf, 3, 0), 3);
	CHECK_EQ(recv(p.s, buf + 3, 16, 0), 7);
	CHECK(!memcmp(buf, "0123456789", 10));
}

static void data_zero_length(void)
{
	struct pair p = new_pair();
	char b;

	CHECK_EQ(send(p.c, NULL, 0, 0), 0);
	msleep(20);
	CHECK_EQ(poll_now(p.s), POLLOUT);	/* nothing was sent */
	CHECK_ERR(recv(p.s, &b, 0, MSG_DONTWAIT), EAGAIN);
	CHECK_EQ(send(p.c, "x", 1, 0), 1);
	poll_becomes(p.s, POLLIN | POLLOUT);
	CHECK_EQ(recv(p.s, &b, 0, 0), 0);
	CHECK_EQ(recv(p.s, &b, 1, 0), 1);
	check_alive(&p);
}

static void data_unconnected(void)
{
	struct addr a = test_addr();
	int fd = new_socket(0), l = listen_at(&a);
	char b = 0;

	CHECK_ERR(send(fd, &b, 1, MSG_NOSIGNAL), EPIPE);
	CHECK_ERR(recv(fd, &b, 1, 0), ENOTCONN);
	CHECK_ERR(send(l, &b, 1, MSG_NOSIGNAL), EPIPE);
	CHECK_ERR(recv(l, &b, 1, 0), ENOTCONN);
}

static void data_dontwait(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	size_t n;
	char b;

	stream_init(&tx, 1);
	stream_init(&rx, 1);
	CHECK_ERR(recv(p.s, &b, 1, MSG_DONTWAIT), EAGAIN);
	set_nonblock(p.s);
	CHECK_ERR(recv(p.s, &b, 1, 0), EAGAIN);
	CHECK_EQ(fcntl(p.s, F_SETFL, 0), 0);
	n = fill_socket(p.c, &tx);
	CHECK(n > 0);
	CHECK(!(poll_now(p.c) & POLLOUT));
	recv_stream(p.s, &rx, n);
	poll_becomes(p.c, POLLOUT);
	CHECK_ERR(recv(p.s, &b, 1, MSG_DONTWAIT), EAGAIN);
	check_alive(&p);
}

static void data_fionbio(void)
{
	struct pair p = new_pair();
	int on = 1;
	char b;

	CHECK_EQ(ioctl(p.c, FIONBIO, &on), 0);
	CHECK_ERR(recv(p.c, &b, 1, 0), EAGAIN);
}

static void data_peek(void)
{
	struct pair p = new_pair();
	char buf[8] = "";

	CHECK_ERR(recv(p.s, buf, 8, MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	CHECK_EQ(send(p.c, "abc", 3, 0), 3);
	CHECK_EQ(recv(p.s, buf, 8, MSG_PEEK), 3);
	CHECK_EQ(recv(p.s, buf, 2, MSG_PEEK), 2);
	CHECK_EQ(send(p.c, "def", 3, 0), 3);
	ioctl_becomes(p.s, FIONREAD, 6);
	CHECK_EQ(recv(p.s, buf, 8, MSG_PEEK), 6);	/* over both writes */
	CHECK(!memcmp(buf, "abcdef", 6));
	memset(buf, 0, sizeof(buf));
	CHECK_EQ(recv(p.s, buf, 8, 0), 6);
	CHECK(!memcmp(buf, "abcdef", 6));
	shutdown(p.c, SHUT_WR);
	CHECK_EQ(recv(p.s, buf, 8, MSG_PEEK), 0);
}

static void data_waitall(void)
{
	struct pair p = new_pair();
	char buf[100];
	pid_t pid = start_child();

	if (!pid) {
		for (int i = 0; i < 10; i++) {
			CHECK_EQ(send(p.c, "0123456789", 10, 0), 10);
			msleep(10);
		}
		CHECK_EQ(send(p.c, "end", 3, 0), 3);
		shutdown(p.c, SHUT_WR);
		_exit(0);
	}
	CHECK_EQ(recv(p.s, buf, 100, MSG_WAITALL), 100);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(buf[i], '0' + i % 10);
	CHECK_EQ(recv(p.s, buf, 100, MSG_WAITALL), 3);	/* the end cuts it short */
	CHECK_EQ(recv(p.s, buf, 100, MSG_WAITALL), 0);
	wait_child(pid);
}

static void data_waitall_nonblocking(void)
{
	struct pair p = new_pair();
	char buf[10];

	CHECK_EQ(send(p.c, "abc", 3, 0), 3);
	poll_becomes(p.s, POLLIN | POLLOUT);
	CHECK_EQ(recv(p.s, buf, 10, MSG_WAITALL | MSG_DONTWAIT), 3);
}

static void data_vectors(void)
{
	struct pair p = new_pair();
	struct iovec out[3] = { { "abc", 3 }, { "", 0 }, { "defgh", 5 } };
	char a[2], b[6];
	struct iovec in[2] = { { a, 2 }, { b, 6 } };
	static struct iovec many[1025];
	struct msghdr msg = { .msg_iov = many, .msg_iovlen = 1025 };

	CHECK_EQ(writev(p.c, out, 3), 8);
	ioctl_becomes(p.s, FIONREAD, 8);
	CHECK_EQ(readv(p.s, in, 2), 8);
	CHECK(!memcmp(a, "ab", 2) && !memcmp(b, "cdefgh", 6));
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct iovec){ "x", 1 };
	CHECK_ERR(sendmsg(p.c, &msg, 0), EMSGSIZE);
	msg.msg_iovlen = 1024;
	CHECK_EQ(sendmsg(p.c, &msg, 0), 1024);
	ioctl_becomes(p.s, FIONREAD, 1024);
}

static void data_send_efault(void)
{
	struct pair p = new_pair();
	unsigned char *mem = two_pages_one_mapped();
	long page = sysconf(_SC_PAGESIZE);
	struct stream tx, rx;
	ssize_t n;

	CHECK_ERR(send(p.c, (void *)8, 100, 0), EFAULT);
	stream_init(&tx, 3);
	stream_init(&rx, 3);
	stream_fill(&tx, mem, page);
	n = send(p.c, mem, 2 * page, 0);	/* what was readable may have been sent */
	CHECK(n > 0 ? n <= page : errno == EFAULT);
	if (n > 0)
		recv_stream(p.s, &rx, n);
	check_alive(&p);
}

/* A bad buffer loses nothing: what was not returned is still there. */
static void data_recv_efault(void)
{
	struct pair p = new_pair();
	unsigned char *mem = two_pages_one_mapped();
	long page = sysconf(_SC_PAGESIZE);
	struct stream tx, rx;
	ssize_t n;

	stream_init(&tx, 4);
	stream_init(&rx, 4);
	send_stream(p.c, &tx, 2 * page);
	ioctl_becomes(p.s, FIONREAD, 2 * page);
	CHECK_ERR(recv(p.s, (void *)8, 100, 0), EFAULT);
	n = recv(p.s, mem, 2 * page, 0);
	CHECK(n > 0 ? n <= page : errno == EFAULT);
	if (n > 0)
		CHECK(stream_check(&rx, mem, n) < 0);
	else
		n = 0;
	recv_stream(p.s, &rx, 2 * page - n);
	check_alive(&p);
}

/* One send() larger than all buffers together. */
static void data_large_send(void)
{
	const size_t len = 8 << 20;
	struct pair p = new_pair();
	unsigned char *buf = malloc(len);
	struct stream tx, rx;
	pid_t pid = start_child();

	CHECK(buf != NULL);
	stream_init(&tx, 5);
	stream_init(&rx, 5);
	if (!pid) {
		recv_stream(p.s, &rx, len);
		_exit(0);
	}
	stream_fill(&tx, buf, len);
	CHECK_EQ(send(p.c, buf, len, 0), len);
	wait_child(pid);
}

static void data_sendfile(void)
{
	const size_t len = 1 << 20;
	int fd = memfd_create("sendfile", 0);
	struct pair p = new_pair();
	unsigned char *buf = malloc(len);
	struct stream tx, rx;
	size_t done = 0;
	pid_t pid;

	CHECK(fd >= 0 && buf != NULL);
	stream_init(&tx, 6);
	stream_init(&rx, 6);
	stream_fill(&tx, buf, len);
	CHECK_EQ(write(fd, buf, len), len);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	pid = start_child();
	if (!pid) {
		recv_stream(p.s, &rx, len);
		_exit(0);
	}
	while (done < len) {
		ssize_t n = sendfile(p.c, fd, NULL, len - done);

		CHECK(n > 0);
		done += n;
	}
	wait_child(pid);
}

/* ---- timeouts ---- */

static void check_waited(uint64_t start, double secs)
{
	double t = seconds_since(start);

	/* a stalled guest's jiffies lag behind its clock, so there a wait may look short */
	if (t < secs * 0.95 / opt.slow || t > secs + 1.0 * opt.slow)
		FAIL("waited %.3f s, not %.3f s", t, secs);
}

static void rcvtimeo(void)
{
	struct pair p = new_pair();
	struct timeval tv;
	uint64_t start;
	char b;

	CHECK_EQ(getsockopt(p.s, SOL_SOCKET, SO_RCVTIMEO, &tv, &(socklen_t){ sizeof(tv) }), 0);
	CHECK(!tv.tv_sec && !tv.tv_usec);
	set_timeo(p.s, SO_RCVTIMEO, 1200);
	CHECK_EQ(getsockopt(p.s, SOL_SOCKET, SO_RCVTIMEO, &tv, &(socklen_t){ sizeof(tv) }), 0);
	CHECK(tv.tv_sec == 1 && tv.tv_usec == 200000);
	set_timeo(p.s, SO_RCVTIMEO, 200);
	start = now_ns();
	CHECK_ERR(recv(p.s, &b, 1, 0), EAGAIN);
	check_waited(start, 0.2);
	check_alive(&p);
}

static void rcvtimeo_accept(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a);
	uint64_t start;

	set_timeo(l, SO_RCVTIMEO, 200);
	start = now_ns();
	CHECK_ERR(accept(l, NULL, NULL), EAGAIN);
	check_waited(start, 0.2);
}

static void sndtimeo(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	struct timeval tv;
	uint64_t start;
	size_t n;

	stream_init(&tx, 7);
	stream_init(&rx, 7);
	set_timeo(p.c, SO_SNDTIMEO, 200);
	CHECK_EQ(getsockopt(p.c, SOL_SOCKET, SO_SNDTIMEO, &tv, &(socklen_t){ sizeof(tv) }), 0);
	CHECK(tv.tv_sec == 0 && tv.tv_usec == 200000);
	n = fill_socket(p.c, &tx);
	start = now_ns();
	CHECK_ERR(send(p.c, "x", 1, 0), EAGAIN);
	check_waited(start, 0.2);
	recv_stream(p.s, &rx, n);
	check_alive(&p);
}

/* ---- options and ioctls ---- */

static int sysctl_int(const char *path)
{
	FILE *f = fopen(path, "r");
	int val = -1;

	CHECK(f != NULL);
	CHECK_EQ(fscanf(f, "%d", &val), 1);
	fclose(f);
	return val;
}

/* SO_RCVLOWAT beyond what the receive buffer takes must not stop both sides */
static void rcvlowat_full_buffer(void)
{
	struct pair p = new_pair();
	struct stream tx;

	setint(p.s, SOL_SOCKET, SO_RCVBUF, 8192);
	setint(p.s, SOL_SOCKET, SO_RCVLOWAT, 64 << 20);
	stream_init(&tx, 13);
	fill_socket(p.c, &tx);
	CHECK(readable_soon(p.s));
}

/* A connect that failed must not choose the next one's source address */
static void connect_after_failure(void)
{
	struct addr a = test_addr(), none = closed_port();
	int l = listen_at(&a), c = new_socket(0);
	struct addr loop = addr_parse(a.sa.sa_family == AF_INET6 ? "::1" : "127.0.0.1",
				      addr_port(&none));
	struct addr mine;

	CHECK_ERR(connect(c, &loop.sa, loop.len), ECONNREFUSED);
	CHECK_EQ(connect(c, &a.sa, a.len), 0);
	mine = name_of(c);
	addr_set_port(&mine, addr_port(&a));
	CHECK(same_addr(&mine, &a));
	CHECK(accept(l, NULL, NULL) >= 0);
}

static void buffer_sizes(void)
{
	int fd = new_socket(0);

	CHECK(getint(fd, SOL_SOCKET, SO_SNDBUF) > 0);
	CHECK(getint(fd, SOL_SOCKET, SO_RCVBUF) > 0);
	setint(fd, SOL_SOCKET, SO_SNDBUF, 65536);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_SNDBUF), 131072);
	setint(fd, SOL_SOCKET, SO_RCVBUF, 65536);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_RCVBUF), 131072);
	setint(fd, SOL_SOCKET, SO_SNDBUF, 1 << 30);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_SNDBUF), 2 * sysctl_int("/proc/sys/net/core/wmem_max"));
	setint(fd, SOL_SOCKET, SO_RCVBUF, 1 << 30);
	CHECK_EQ(getint(fd, SOL_SOCKET, SO_RCVBUF), 2 * sysctl_int("/proc/sys/net/core/rmem_max"));
	setint(fd, SOL_SOCKET, SO_SNDBUF, 0);
	CHECK(getint(fd, SOL_SOCKET, SO_SNDBUF) >= 2048);
	setint(fd, SOL_SOCKET, SO_RCVBUF, 0);
	CHECK(getint(fd, SOL_SOCKET, SO_RCVBUF) >= 2048);
}

static void tcp_nodelay(void)
{
	struct pair p = new_pair();

	CHECK_EQ(getint(p.c, IPPROTO_TCP, TCP_NODELAY), 0);
	setint(p.c, IPPROTO_TCP, TCP_NODELAY, 5);
	CHECK_EQ(getint(p.c, IPPROTO_TCP, TCP_NODELAY), 1);
	check_alive(&p);
	setint(p.c, IPPROTO_TCP, TCP_NODELAY, 0);
	CHECK_EQ(getint(p.c, IPPROTO_TCP, TCP_NODELAY), 0);
	CHECK_ERR(setsockopt(p.c, IPPROTO_TCP, TCP_NODELAY, &p, 1), EINVAL);
	CHECK_ERR(setsockopt(p.c, IPPROTO_TCP, TCP_NODELAY, (void *)8, 4), EFAULT);
}

static void unknown_options(void)
{
	struct pair p = new_pair();
	socklen_t len = sizeof(int);
	int val = 0;

	CHECK_ERR(setsockopt(p.c, IPPROTO_TCP, 9999, &val, len), ENOPROTOOPT);
	CHECK_ERR(getsockopt(p.c, IPPROTO_TCP, 9999, &val, &len), ENOPROTOOPT);
	CHECK_ERR(setsockopt(p.c, SOL_SOCKET, 9999, &val, len), ENOPROTOOPT);
	CHECK_ERR(getsockopt(p.c, SOL_SOCKET, 9999, &val, &len), ENOPROTOOPT);
	CHECK_ERR(setsockopt(p.c, 12345, 1, &val, len), ENOPROTOOPT);
	check_alive(&p);
}

static void ioctl_queues(void)
{
	struct addr a = test_addr();
	struct pair p = new_pair();
	char buf[4000] = "";
	int l = listen_at(&a), n;

	CHECK_ERR(ioctl(l, FIONREAD, &n), EINVAL);
	CHECK_EQ(ioctl(p.s, FIONREAD, &n), 0);
	CHECK_EQ(n, 0);
	CHECK_EQ(send(p.c, buf, 4000, 0), 4000);
	ioctl_becomes(p.s, FIONREAD, 4000);
	CHECK_EQ(recv(p.s, buf, 1500, 0), 1500);
	CHECK_EQ(ioctl(p.s, FIONREAD, &n), 0);
	CHECK_EQ(n, 2500);
	CHECK_EQ(recv(p.s, buf, 2500, 0), 2500);
	ioctl_becomes(p.s, FIONREAD, 0);
	ioctl_becomes(p.c, SIOCOUTQ, 0);
	CHECK_ERR(ioctl(p.c, 0x1234, &n), ENOTTY);
}

/* SIOCOUTQ counts what the peer has not taken. */
static void ioctl_outq(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	size_t sent;
	int n;

	stream_init(&tx, 8);
	stream_init(&rx, 8);
	sent = fill_socket(p.c, &tx);
	CHECK_EQ(ioctl(p.c, SIOCOUTQ, &n), 0);
	CHECK(n > 0 && (size_t)n <= sent);
	recv_stream(p.s, &rx, sent);
	ioctl_becomes(p.c, SIOCOUTQ, 0);
}

/* ---- shutdown() and close() ---- */

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

static void on_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = count_signal, .sa_flags = flags };

	CHECK_EQ(sigaction(sig, &sa, NULL), 0);
}

static void shutdown_write_epipe(void)
{
	struct pair p = new_pair();

	on_signal(SIGPIPE, 0);
	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);
	CHECK_ERR(send(p.c, "x", 1, 0), EPIPE);
	CHECK_EQ(signals, 1);
	CHECK_ERR(write(p.c, "x", 1), EPIPE);
	CHECK_EQ(signals, 2);
	CHECK_ERR(send(p.c, "x", 1, MSG_NOSIGNAL), EPIPE);
	CHECK_EQ(signals, 2);
	check_echo(p.s, p.c);			/* the other direction goes on */
}

static void shutdown_errors(void)
{
	struct pair p = new_pair();
	int fd = new_socket(0);

	CHECK_ERR(shutdown(fd, SHUT_WR), ENOTCONN);
	CHECK_ERR(shutdown(p.c, 3), EINVAL);
	CHECK_ERR(shutdown(p.c, -1), EINVAL);
	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);
	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);	/* again is no error */
}

static void shutdown_read(void)
{
	struct pair p = new_pair();
	char b;

	CHECK_EQ(shutdown(p.c, SHUT_RD), 0);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
	poll_becomes(p.c, POLLIN | POLLOUT | POLLRDHUP);
	check_echo(p.c, p.s);
}

static void shutdown_wakes_recv(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char b;

	if (!pid) {
		msleep(100);
		_exit(shutdown(p.c, SHUT_RDWR) ? EXIT_FAILURE : 0);
	}
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
	wait_child(pid);
}

static void eof_after_data(void)
{
	struct pair p = new_pair();
	char buf[8];

	CHECK_EQ(send(p.c, "last", 4, 0), 4);
	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);
	CHECK_EQ(recv(p.s, buf, 8, MSG_WAITALL), 4);
	CHECK_EQ(recv(p.s, buf, 8, 0), 0);
	CHECK_EQ(recv(p.s, buf, 8, 0), 0);
	CHECK_EQ(recv(p.s, buf, 8, MSG_DONTWAIT), 0);
	check_echo(p.s, p.c);
	CHECK_EQ(getint(p.s, SOL_SOCKET, SO_ERROR), 0);
}

static void half_close_10mb(void)
{
	const size_t len = 10 << 20;
	struct pair p = new_pair();
	struct stream tx, rx;
	pid_t pid;
	char b;

	stream_init(&tx, 9);
	stream_init(&rx, 9);
	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);
	pid = start_child();
	if (!pid) {
		close(p.c);
		CHECK_EQ(recv(p.s, &b, 1, 0), 0);
		send_stream(p.s, &tx, len);
		_exit(0);
	}
	close(p.s);
	recv_stream(p.c, &rx, len);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
	wait_child(pid);
}

static void simultaneous_close(void)
{
	struct pair p = new_pair();
	char b;

	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);
	CHECK_EQ(shutdown(p.s, SHUT_WR), 0);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
	CHECK_EQ(close(p.c), 0);
	CHECK_EQ(close(p.s), 0);
}

/* close() with data still to go: every byte arrives, then the end. */
static void close_delivers(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	size_t len;
	char b;

	stream_init(&tx, 10);
	stream_init(&rx, 10);
	len = fill_socket(p.c, &tx);
	CHECK_EQ(close(p.c), 0);
	msleep(50);
	recv_stream(p.s, &rx, len);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

/* SO_LINGER: close() waits until the reader has taken everything. */
static void close_lingers(void)
{
	struct linger l = { .l_onoff = 1, .l_linger = 5 * opt.slow };
	struct pair p = new_pair();
	struct stream tx, rx;
	uint64_t start;
	size_t len;
	pid_t pid;
	char b;

	CHECK_EQ(setsockopt(p.c, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	stream_init(&tx, 11);
	stream_init(&rx, 11);
	len = fill_socket(p.c, &tx);
	start = now_ns();
	pid = start_child();
	if (!pid) {
		close(p.c);
		settle(300);
		recv_stream(p.s, &rx, len);
		CHECK_EQ(recv(p.s, &b, 1, 0), 0);
		_exit(0);
	}
	close(p.s);
	settle(100);			/* the child has closed its copy by then */
	CHECK_EQ(close(p.c), 0);
	CHECK(seconds_since(start) > 0.25 * opt.slow);
	CHECK(seconds_since(start) < 4.0 * opt.slow);
	wait_child(pid);
}

static void close_unread_resets(void)
{
	struct pair p = new_pair();
	char b;

	CHECK_EQ(send(p.c, "unread", 6, 0), 6);
	ioctl_becomes(p.s, FIONREAD, 6);
	close(p.s);
	CHECK_ERR(recv(p.c, &b, 1, 0), ECONNRESET);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);	/* the error is told once */
	CHECK_ERR(send(p.c, "x", 1, MSG_NOSIGNAL), EPIPE);
}

static void linger_zero_resets(void)
{
	struct pair p = new_pair();
	char b;

	close_with_reset(p.s);
	CHECK_ERR(recv(p.c, &b, 1, 0), ECONNRESET);
	CHECK_ERR(send(p.c, "x", 1, MSG_NOSIGNAL), EPIPE);
}

static void reset_wakes_recv(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char b;

	if (!pid) {
		close(p.c);
		msleep(100);
		close_with_reset(p.s);
		_exit(0);
	}
	close(p.s);
	CHECK_ERR(recv(p.c, &b, 1, 0), ECONNRESET);
	wait_child(pid);
}

static void reset_wakes_send(void)
{
	struct pair p = new_pair();
	struct stream tx;
	pid_t pid;

	stream_init(&tx, 12);
	fill_socket(p.c, &tx);
	pid = start_child();
	if (!pid) {
		close(p.c);
		msleep(100);
		close_with_reset(p.s);
		_exit(0);
	}
	close(p.s);
	CHECK_ERR(send(p.c, "x", 1, MSG_NOSIGNAL), ECONNRESET);
	wait_child(pid);
}

/* The first send after a reset tells of it, the next is into a broken pipe */
static void reset_told_to_send(void)
{
	static const char big[4096];
	const size_t sizes[] = { 1, sizeof(big) };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct pair p = new_pair();

		close_with_reset(p.s);
		poll_becomes(p.c, POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP);
		CHECK_ERR(send(p.c, big, sizes[i], MSG_NOSIGNAL), ECONNRESET);
		CHECK_ERR(send(p.c, big, sizes[i], MSG_NOSIGNAL), EPIPE);
		close(p.c);
	}
}

/* So does a receive that waited for more */
static void reset_cuts_recv_short(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char buf[10];

	if (!pid) {
		close(p.c);
		CHECK_EQ(send(p.s, "hello", 5, 0), 5);
		msleep(200);
		close_with_reset(p.s);
		_exit(0);
	}
	close(p.s);
	CHECK_EQ(recv(p.c, buf, sizeof(buf), MSG_WAITALL), 5);
	CHECK_ERR(recv(p.c, buf, sizeof(buf), 0), ECONNRESET);
	wait_child(pid);
}

/* A send that is cut short keeps its bytes and leaves the error to the next */
static void reset_cuts_send_short(void)
{
	struct pair p = new_pair();
	const size_t len = 64 << 20;
	char *big = calloc(1, len);
	pid_t pid = start_child();
	ssize_t n;

	CHECK(big);
	if (!pid) {
		close(p.c);
		settle(200);
		close_with_reset(p.s);
		_exit(0);
	}
	close(p.s);
	n = send(p.c, big, len, MSG_NOSIGNAL);
	CHECK(n > 0 && n < (ssize_t)len);
	CHECK_ERR(send(p.c, big, 1, MSG_NOSIGNAL), ECONNRESET);
	CHECK_ERR(send(p.c, big, 1, MSG_NOSIGNAL), EPIPE);
	wait_child(pid);
	free(big);
}

static void data_before_reset(void)
{
	struct pair p = new_pair();
	char buf[1000] = "";

	CHECK_EQ(send(p.s, buf, 1000, 0), 1000);
	ioctl_becomes(p.c, FIONREAD, 1000);
	close_with_reset(p.s);
	poll_becomes(p.c, POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDHUP);
	CHECK_EQ(recv(p.c, buf, 1000, 0), 1000);
	CHECK_ERR(recv(p.c, buf, 1000, 0), ECONNRESET);
	CHECK_EQ(recv(p.c, buf, 1000, 0), 0);
}

static void send_after_peer_close(void)
{
	struct pair p = new_pair();
	char b;
	int i, rc;

	close(p.s);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
	for (i = 0; i < 100; i++) {
		rc = send(p.c, "x", 1, MSG_NOSIGNAL);
		if (rc < 0)
			break;
		msleep(10);
	}
	CHECK(i < 100);
	rc = send(p.c, "x", 1, MSG_NOSIGNAL);
	CHECK_EQ(rc, -1);
	CHECK_EQ(send(p.c, "x", 1, MSG_NOSIGNAL) < 0 ? errno : 0, EPIPE);
}

/* ---- poll and epoll ---- */

static void poll_unconnected(void)
{
	int fd = new_socket(0);

	CHECK_EQ(poll_now(fd), POLLOUT | POLLHUP);
}

static void poll_listener(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a);

	CHECK_EQ(poll_now(l), 0);
	connect_to(&a);
	poll_becomes(l, POLLIN);
	CHECK(accept(l, NULL, NULL) >= 0);
	CHECK_EQ(poll_now(l), 0);
}

static void poll_data(void)
{
	struct pair p = new_pair();
	char buf[8];

	poll_becomes(p.c, POLLOUT);
	poll_becomes(p.s, POLLOUT);
	CHECK_EQ(send(p.s, "ab", 2, 0), 2);
	poll_becomes(p.c, POLLIN | POLLOUT);
	CHECK_EQ(recv(p.c, buf, 1, 0), 1);
	CHECK_EQ(poll_now(p.c), POLLIN | POLLOUT);
	CHECK_EQ(recv(p.c, buf, 1, 0), 1);
	CHECK_EQ(poll_now(p.c), POLLOUT);
}

static void poll_half_close(void)
{
	struct pair p = new_pair();

	CHECK_EQ(shutdown(p.s, SHUT_WR), 0);
	poll_becomes(p.s, POLLOUT);		/* a send would not wait: it fails */
	poll_becomes(p.c, POLLIN | POLLOUT | POLLRDHUP);
	CHECK_EQ(shutdown(p.c, SHUT_WR), 0);
	poll_becomes(p.c, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
	poll_becomes(p.s, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
}

static void poll_reset(void)
{
	struct pair p = new_pair();

	close_with_reset(p.s);
	poll_becomes(p.c, POLLIN | POLLOUT | POLLRDHUP | POLLHUP | POLLERR);
	CHECK_EQ(getint(p.c, SOL_SOCKET, SO_ERROR), ECONNRESET);
	CHECK_EQ(poll_now(p.c), POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
}

/* A sleeping poll() is woken by data, by room, and by the peer's end. */
static void poll_is_woken(void)
{
	struct pair p = new_pair();
	struct pollfd in = { .fd = p.c, .events = POLLIN };
	struct pollfd out = { .fd = p.c, .events = POLLOUT };
	struct pollfd end = { .fd = p.c, .events = POLLRDHUP };
	struct stream tx, rx;
	size_t n;
	pid_t pid;
	char b;

	stream_init(&tx, 13);
	stream_init(&rx, 13);
	n = fill_socket(p.c, &tx);
	pid = start_child();
	if (!pid) {
		close(p.c);
		msleep(100);
		CHECK_EQ(send(p.s, "x", 1, 0), 1);
		msleep(100);
		recv_stream(p.s, &rx, n);
		msleep(100);
		shutdown(p.s, SHUT_WR);
		CHECK_EQ(recv(p.s, &b, 1, 0), 0);
		_exit(0);
	}
	close(p.s);
	CHECK_EQ(poll(&in, 1, 5000 * opt.slow), 1);
	CHECK_EQ(in.revents, POLLIN);
	CHECK_EQ(recv(p.c, &b, 1, 0), 1);
	CHECK_EQ(poll(&out, 1, 5000 * opt.slow), 1);
	CHECK_EQ(out.revents, POLLOUT);
	CHECK_EQ(poll(&end, 1, 5000 * opt.slow), 1);
	CHECK_EQ(end.revents, POLLRDHUP);
	close(p.c);
	wait_child(pid);
}

static int epoll_with(int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };
	int ep = epoll_create1(0);

	CHECK(ep >= 0);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev), 0);
	return ep;
}

/* The events of the one descriptor in @ep, or 0 if none come within @ms. */
static uint32_t epoll_next(int ep, int ms)
{
	struct epoll_event ev = { .events = 0 };
	int n = epoll_wait(ep, &ev, 1, ms);

	CHECK(n >= 0);
	return n ? ev.events : 0;
}

#define EPOLL_MS	(2000 * opt.slow)
#define QUIET_MS	50

static void epoll_level(void)
{
	struct pair p = new_pair();
	int ep = epoll_with(p.c, EPOLLIN | EPOLLRDHUP);
	char b;

	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	CHECK_EQ(send(p.s, "x", 1, 0), 1);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN);
	CHECK_EQ(recv(p.c, &b, 1, 0), 1);
	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	shutdown(p.s, SHUT_WR);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN | EPOLLRDHUP);
	shutdown(p.c, SHUT_WR);
	poll_becomes(p.c, POLLIN | POLLOUT | POLLRDHUP | POLLHUP);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN | EPOLLRDHUP | EPOLLHUP);
}

static void epoll_edge_in(void)
{
	struct pair p = new_pair();
	int ep = epoll_with(p.c, EPOLLIN | EPOLLET);
	char buf[8];

	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	CHECK_EQ(send(p.s, "a", 1, 0), 1);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN);
	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);	/* once, though it was not read */
	CHECK_EQ(send(p.s, "b", 1, 0), 1);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN);
	CHECK_EQ(recv(p.c, buf, 8, 0), 2);
	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	CHECK_EQ(send(p.s, "c", 1, 0), 1);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN);
}

static void epoll_edge_out(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	int ep = epoll_with(p.c, EPOLLOUT | EPOLLET);

	stream_init(&tx, 14);
	stream_init(&rx, 14);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLOUT);
	for (int i = 0; i < 3; i++) {
		size_t n = fill_socket(p.c, &tx);

		while (epoll_next(ep, QUIET_MS))
			;			/* edges from while it was being filled */
		recv_stream(p.s, &rx, n);
		CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLOUT);
	}
}

static void epoll_edge_hup(void)
{
	struct pair p = new_pair();
	int ep = epoll_with(p.c, EPOLLIN | EPOLLRDHUP | EPOLLET);

	shutdown(p.s, SHUT_WR);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN | EPOLLRDHUP);
	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	close_with_reset(p.s);
	CHECK(epoll_next(ep, EPOLL_MS) & EPOLLHUP);
}

static void epoll_out_returns(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	int ep = epoll_with(p.c, EPOLLOUT);
	size_t n;

	stream_init(&tx, 15);
	stream_init(&rx, 15);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLOUT);
	n = fill_socket(p.c, &tx);
	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	recv_stream(p.s, &rx, n);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLOUT);
}

static void epoll_connect(void)
{
	struct addr a = test_addr();
	int c = new_socket(SOCK_NONBLOCK), l = listen_at(&a), ep;

	ep = epoll_with(l, EPOLLIN | EPOLLET);
	CHECK_EQ(epoll_next(ep, QUIET_MS), 0);
	CHECK_ERR(connect(c, &a.sa, a.len), EINPROGRESS);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLIN);
	ep = epoll_with(c, EPOLLOUT | EPOLLET);
	CHECK_EQ(epoll_next(ep, EPOLL_MS), EPOLLOUT);
}

/* ---- signals ---- */

/* A signal when we sleep in the call that follows; it must not come before. */
static void signal_soon(int flags)
{
	int ms = 100 * opt.slow;
	struct itimerval it = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	on_signal(SIGALRM, flags);
	CHECK_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
}

static void eintr_recv(void)
{
	struct pair p = new_pair();
	char b;

	signal_soon(0);
	CHECK_ERR(recv(p.c, &b, 1, 0), EINTR);
	CHECK_EQ(signals, 1);
	check_alive(&p);
}

static void eintr_recv_restarts(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char b;

	if (!pid) {
		settle(300);
		_exit(send(p.s, "x", 1, 0) == 1 ? 0 : EXIT_FAILURE);
	}
	signal_soon(SA_RESTART);
	CHECK_EQ(recv(p.c, &b, 1, 0), 1);
	CHECK_EQ(signals, 1);
	wait_child(pid);
	set_timeo(p.c, SO_RCVTIMEO, 3000 * opt.slow);	/* with a timeout it is never restarted */
	signal_soon(SA_RESTART);
	CHECK_ERR(recv(p.c, &b, 1, 0), EINTR);
}

static void eintr_waitall_partial(void)
{
	struct pair p = new_pair();
	char buf[8];

	CHECK_EQ(send(p.s, "abc", 3, 0), 3);
	ioctl_becomes(p.c, FIONREAD, 3);
	signal_soon(0);
	CHECK_EQ(recv(p.c, buf, 8, MSG_WAITALL), 3);
	CHECK_EQ(signals, 1);
}

static void eintr_send(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	size_t n;

	stream_init(&tx, 16);
	stream_init(&rx, 16);
	n = fill_socket(p.c, &tx);
	signal_soon(0);
	CHECK_ERR(send(p.c, "x", 1, 0), EINTR);
	recv_stream(p.s, &rx, n);
	check_alive(&p);
}

static void eintr_accept(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a);

	signal_soon(0);
	CHECK_ERR(accept(l, NULL, NULL), EINTR);
	connect_to(&a);
	CHECK(accept(l, NULL, NULL) >= 0);
}

/* TCP does not answer when the backlog is full, so connect() waits. */
static void eintr_connect(void)
{
	struct addr a = test_addr();
	int l = new_socket(0), fd = -1;

	bind_to(l, &a);
	CHECK_EQ(listen(l, 0), 0);
	a = name_of(l);
	for (int i = 0; i < 8; i++) {
		fd = new_socket(SOCK_NONBLOCK);
		if (connect(fd, &a.sa, a.len) && errno != EINPROGRESS)
			SKIP("a full backlog refuses");
		msleep(20);
		if (poll_now(fd) & POLLERR)
			SKIP("a full backlog refuses");
		if (!poll_now(fd))
			break;
	}
	if (poll_now(fd))
		SKIP("the backlog does not fill");
	CHECK_ERR(connect(fd, &a.sa, a.len), EALREADY);
	fd = new_socket(0);
	signal_soon(0);
	CHECK_ERR(connect(fd, &a.sa, a.len), EINTR);
	CHECK_EQ(signals, 1);
}

/* ---- descriptors and processes ---- */

static void fork_shares(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char buf[5];

	if (!pid) {
		check_echo(p.c, p.s);
		check_echo(p.s, p.c);
		_exit(0);
	}
	wait_child(pid);
	msleep(20);
	CHECK_EQ(poll_now(p.c), POLLOUT);	/* the child's exit closed nothing */
	CHECK_EQ(poll_now(p.s), POLLOUT);
	check_alive(&p);
	pid = start_child();			/* child on one end, parent on the other */
	if (!pid) {
		close(p.s);
		check_echo(p.c, p.c);
		_exit(0);
	}
	close(p.c);
	CHECK_EQ(recv(p.s, buf, 5, MSG_WAITALL), 5);
	CHECK_EQ(send(p.s, buf, 5, 0), 5);
	wait_child(pid);
}

static void send_fd(int via, int fd)
{
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = { .hdr = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec iov = { "", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &ctl, .msg_controllen = sizeof(ctl.buf),
	};

	memcpy(CMSG_DATA(&ctl.hdr), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(via, &msg, 0), 1);
}

static int recv_fd(int via)
{
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	char b;
	struct iovec iov = { &b, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &ctl, .msg_controllen = sizeof(ctl.buf),
	};
	int fd;

	CHECK_EQ(recvmsg(via, &msg, 0), 1);
	CHECK_EQ(ctl.hdr.cmsg_type, SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(&ctl.hdr), sizeof(fd));
	return fd;
}

static void scm_rights(void)
{
	int sv[2];
	pid_t pid;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	pid = start_child();			/* before there is a connection to inherit */
	if (!pid) {
		int c = recv_fd(sv[1]);
		char buf[5];

		CHECK_EQ(recv(c, buf, 5, MSG_WAITALL), 5);
		CHECK_EQ(send(c, buf, 5, 0), 5);
		_exit(0);
	}
	struct pair p = new_pair();
	char b;

	send_fd(sv[0], p.c);
	close(p.c);				/* the message holds it */
	check_echo(p.s, p.s);
	wait_child(pid);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

static void dup_shares(void)
{
	struct pair p = new_pair();
	int d = dup(p.c);
	char b;

	CHECK(d >= 0);
	close(p.c);
	p.c = d;
	check_alive(&p);
	d = dup(p.c);
	close(d);
	CHECK_ERR(recv(p.s, &b, 1, MSG_DONTWAIT), EAGAIN);
	close(p.c);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

/* A program that knows nothing of sockets has one as its standard input and output. */
static void exec_inherits(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();

	if (!pid) {
		dup2(p.s, STDIN_FILENO);
		dup2(p.s, STDOUT_FILENO);
		close(p.c);
		close(p.s);
		execlp("cat", "cat", NULL);
		_exit(EXIT_FAILURE);
	}
	close(p.s);
	check_echo(p.c, p.c);
	shutdown(p.c, SHUT_WR);
	wait_child(pid);
}

/* Kills a process that sleeps in recv() on @fd; it is the only one to hold @fd. */
static void kill_owner(int fd, int other)
{
	pid_t pid = start_child();
	int status;
	char b;

	if (!pid) {
		close(other);
		_exit(recv(fd, &b, 1, MSG_WAITALL) != 1);
	}
	close(fd);
	msleep(100);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

static void kill_client(void)
{
	struct pair p = new_pair();
	char b;

	kill_owner(p.c, p.s);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

static void kill_server(void)
{
	struct pair p = new_pair();
	char b;

	kill_owner(p.s, p.c);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
}

static void kill_with_unread_data(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char b;

	if (!pid) {
		close(p.c);
		for (;;)
			pause();
	}
	close(p.s);
	CHECK_EQ(send(p.c, "unread", 6, 0), 6);
	settle(100);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_ERR(recv(p.c, &b, 1, 0), ECONNRESET);
}

/* The sender is killed in the middle of a send(): what was taken arrives, then the end. */
static void kill_sender(void)
{
	struct pair p = new_pair();
	static unsigned char buf[64 << 10];
	struct stream tx, rx;
	ssize_t n;
	pid_t pid = start_child();

	stream_init(&tx, 17);
	stream_init(&rx, 17);
	if (!pid) {
		close(p.s);
		send_stream(p.c, &tx, 1 << 30);
		_exit(0);
	}
	close(p.c);
	recv_stream(p.s, &rx, 1 << 20);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	while ((n = recv(p.s, buf, sizeof(buf), 0)) > 0)
		CHECK(stream_check(&rx, buf, n) < 0);
	CHECK_EQ(n, 0);
}

/* ---- the table, and running it ---- */

#define CASE(fn)	{ #fn, fn }

static const struct test_case {
	const char *name;
	void (*fn)(void);
} cases[] = {
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
	CASE(listen_states),
	CASE(accept_nonblocking),
	CASE(accept4_flags),
	CASE(accept_inherits_options),
	CASE(accept_blocks),
	CASE(listener_close_resets),
	CASE(listener_shutdown_wakes),
	CASE(connect_families),
	CASE(connect_refused),
	CASE(connect_errors),
	CASE(connect_nonblocking),
	CASE(connect_nonblocking_refused),
	CASE(connect_bound),
	CASE(connect_to_any),
	CASE(connect_unspec_disconnects),
	CASE(data_both_ways),
	CASE(data_is_a_stream),
	CASE(data_zero_length),
	CASE(data_unconnected),
	CASE(data_dontwait),
	CASE(data_fionbio),
	CASE(data_peek),
	CASE(data_waitall),
	CASE(data_waitall_nonblocking),
	CASE(data_vectors),
	CASE(data_send_efault),
	CASE(data_recv_efault),
	CASE(data_large_send),
	CASE(data_sendfile),
	CASE(rcvtimeo),
	CASE(rcvtimeo_accept),
	CASE(sndtimeo),
	CASE(rcvlowat_full_buffer),
	CASE(connect_after_failure),
	CASE(buffer_sizes),
	CASE(tcp_nodelay),
	CASE(unknown_options),
	CASE(ioctl_queues),
	CASE(ioctl_outq),
	CASE(shutdown_write_epipe),
	CASE(shutdown_errors),
	CASE(shutdown_read),
	CASE(shutdown_wakes_recv),
	CASE(eof_after_data),
	CASE(half_close_10mb),
	CASE(simultaneous_close),
	CASE(close_delivers),
	CASE(close_lingers),
	CASE(close_unread_resets),
	CASE(linger_zero_resets),
	CASE(reset_wakes_recv),
	CASE(reset_wakes_send),
	CASE(reset_told_to_send),
	CASE(reset_cuts_send_short),
	CASE(reset_cuts_recv_short),
	CASE(data_before_reset),
	CASE(send_after_peer_close),
	CASE(poll_unconnected),
	CASE(poll_listener),
	CASE(poll_data),
	CASE(poll_half_close),
	CASE(poll_reset),
	CASE(poll_is_woken),
	CASE(epoll_level),
	CASE(epoll_edge_in),
	CASE(epoll_edge_out),
	CASE(epoll_edge_hup),
	CASE(epoll_out_returns),
	CASE(epoll_connect),
	CASE(eintr_recv),
	CASE(eintr_recv_restarts),
	CASE(eintr_waitall_partial),
	CASE(eintr_send),
	CASE(eintr_accept),
	CASE(eintr_connect),
	CASE(fork_shares),
	CASE(scm_rights),
	CASE(dup_shares),
	CASE(exec_inherits),
	CASE(kill_client),
	CASE(kill_server),
	CASE(kill_with_unread_data),
	CASE(kill_sender),
};

/* Waits for @pid, at most for the limit; returns its status, or -1 when it had to be killed. */
static int wait_limited(pid_t pid)
{
	uint64_t start = now_ns();
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (seconds_since(start) > opt.limit * opt.slow) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		usleep(1000);
	}
	kill(-pid, SIGKILL);			/* children it may have left */
	return status;
}

/* Runs one case; returns EXIT_SUCCESS, EXIT_FAILURE or EXIT_SKIP. */
static int run_case(const struct test_case *t, int number)
{
	int status;
	pid_t pid;

	skip_reason[0] = 0;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid) {
		setpgid(0, 0);
		t->fn();
		fflush(stdout);
		_exit(EXIT_SUCCESS);
	}
	setpgid(pid, pid);
	status = wait_limited(pid);
	if (status < 0)
		printf("# not done after %d seconds\n", opt.limit * opt.slow);
	else if (WIFSIGNALED(status))
		printf("# killed by signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	if (status == EXIT_SUCCESS) {
		printf("ok %d %s\n", number, t->name);
		return EXIT_SUCCESS;
	}
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP) {
		printf("ok %d %s # SKIP %s\n", number, t->name, skip_reason);
		return EXIT_SKIP;
	}
	printf("not ok %d %s\n", number, t->name);
	return EXIT_FAILURE;
}

static const char usage_text[] =
"usage: sdp_basic [options]\n"
"Tests what a stream socket does, in TAP; -f tcp is the reference.\n"
"  -f, --family FAM   " FAM_HELP " (default sdp)\n"
"  -a, --addr ADDR    address to bind and connect to, IPv4 or IPv6 (default 127.0.0.1)\n"
"  -t, --test NAME    run this case only (may be given more than once)\n"
"  -x, --exclude NAME skip this case (may be given more than once)\n"
"  -l, --list         list the cases\n"
"  -T, --limit SECS   time limit of a case (default 10)\n"
"      --slow N       multiply every time limit by N, for slow machines\n"
"Exit status: 0 all passed, 1 some failed, 2 wrong usage.\n";

enum { OPT_SLOW = 256 };

static const struct option options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "addr", required_argument, NULL, 'a' },
	{ "test", required_argument, NULL, 't' },
	{ "exclude", required_argument, NULL, 'x' },
	{ "list", no_argument, NULL, 'l' },
	{ "limit", required_argument, NULL, 'T' },
	{ "slow", required_argument, NULL, OPT_SLOW },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static size_t case_index(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(cases[i].name, name))
			return i;
	errx(EXIT_USAGE, "no test case '%s': see --list", name);
}

int main(int argc, char **argv)
{
	bool only[ARRAY_SIZE(cases)] = { }, excluded[ARRAY_SIZE(cases)] = { };
	int o, number = 0, failed = 0, skipped = 0, chosen = 0, plan = 0;

	while ((o = getopt_long(argc, argv, "f:a:t:x:lT:h", options, NULL)) != -1) {
		switch (o) {
		case 'f':
			opt.fam = fam_parse(optarg);
			break;
		case 'a':
			opt.host = optarg;
			break;
		case 't':
			only[case_index(optarg)] = true;
			chosen++;
			break;
		case 'x':
			excluded[case_index(optarg)] = true;
			break;
		case 'l':
			for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
				puts(cases[i].name);
			return EXIT_SUCCESS;
		case 'T':
			opt.limit = parse_size("limit", optarg, 1, 3600);
			break;
		case OPT_SLOW:
			opt.slow = parse_size("slow", optarg, 1, 1000);
			break;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(usage_text, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fputs(usage_text, stderr);
		return EXIT_USAGE;
	}
	test_addr();				/* complains about a bad -a */
	skip_reason = mmap(NULL, SKIP_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	if (skip_reason == MAP_FAILED)
		err(EXIT_FAILURE, "mmap");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		plan += (!chosen || only[i]) && !excluded[i];
	printf("TAP version 13\n1..%d\n", plan);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if ((chosen && !only[i]) || excluded[i])
			continue;
		switch (run_case(&cases[i], ++number)) {
		case EXIT_FAILURE:
			failed++;
			break;
		case EXIT_SKIP:
			skipped++;
		}
	}
	printf("# %d passed, %d failed, %d skipped\n", number - failed - skipped, failed, skipped);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
