// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: sockets, pairs of them, and waiting for what shows only after some time.
 */
#include "basic.h"

struct addr test_addr(void)
{
	return addr_parse(opt.host, 0);
}

int test_af(void)
{
	return test_addr().sa.sa_family;
}

int new_socket(int flags)
{
	int fd = fam_socket(opt.fam, test_af(), flags);

	if (fd < 0)
		FAIL("socket(%d, SOCK_STREAM, %d): %s", fam_domain(opt.fam, test_af()),
		     fam_protocol(opt.fam, test_af()), strerror(errno));
	return fd;
}

struct addr name_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	CHECK_EQ(getsockname(fd, &a.sa, &a.len), 0);
	return a;
}

struct addr peer_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	CHECK_EQ(getpeername(fd, &a.sa, &a.len), 0);
	return a;
}

bool same_addr(const struct addr *a, const struct addr *b)
{
	return a->len == b->len && !memcmp(&a->ss, &b->ss, a->len);
}

void bind_to(int fd, const struct addr *a)
{
	if (bind(fd, &a->sa, a->len))
		FAIL("bind %s: %s", addr_str(a), strerror(errno));
}

/* Listens at @a, whose port becomes the real one. */
int listen_at(struct addr *a)
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

int connect_to(const struct addr *a)
{
	int fd = fam_socket(opt.fam, a->sa.sa_family, 0);

	CHECK(fd >= 0);
	if (connect(fd, &a->sa, a->len))
		FAIL("connect %s: %s", addr_str(a), strerror(errno));
	return fd;
}

struct pair pair_at(struct addr a)
{
	int l = listen_at(&a);
	struct pair p = { .c = connect_to(&a), .s = accept(l, NULL, NULL) };

	CHECK(p.s >= 0);
	close(l);
	return p;
}

struct pair new_pair(void)
{
	return pair_at(test_addr());
}

/* A port at the test address where nobody listens. */
struct addr closed_port(void)
{
	struct addr a = test_addr();

	close(listen_at(&a));
	return a;
}

void msleep(int ms)
{
	usleep(ms * 1000);
}

/* Long enough for others to have done what takes them @ms on a fast machine. */
void settle(int ms)
{
	msleep(ms * opt.slow);
}

/* Something becomes readable at @fd before long. */
bool readable_soon(int fd)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 3000 * opt.slow) == 1;
}

int getint(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int val = -1;

	CHECK_EQ(getsockopt(fd, level, name, &val, &len), 0);
	CHECK_EQ(len, sizeof(int));
	return val;
}

void setint(int fd, int level, int name, int val)
{
	CHECK_EQ(setsockopt(fd, level, name, &val, sizeof(val)), 0);
}

void set_nonblock(int fd)
{
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

void set_timeo(int fd, int name, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)), 0);
}

void close_with_reset(int fd)
{
	struct linger l = { .l_onoff = 1, .l_linger = 0 };

	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	close(fd);
}

const char *mask_str(unsigned int mask)
{
	static char buf[64];

	snprintf(buf, sizeof(buf), "%s%s%s%s%s%s%#x", mask & POLLIN ? "IN " : "",
		 mask & POLLPRI ? "PRI " : "", mask & POLLOUT ? "OUT " : "",
		 mask & POLLERR ? "ERR " : "", mask & POLLHUP ? "HUP " : "",
		 mask & POLLRDHUP ? "RDHUP " : "", mask);
	return buf;
}

unsigned int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };

	CHECK(poll(&p, 1, 0) >= 0);
	return p.revents;
}

/* Waits until poll() of @fd gives exactly @mask. */
void poll_becomes(int fd, unsigned int mask)
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

void ioctl_becomes(int fd, unsigned long cmd, int want)
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

pid_t start_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	return pid;
}

void wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		CHECK_EQ(errno, EINTR);
	if (status)
		FAIL("a child process ended with status %#x", status);
}

void check_echo(int from, int to)
{
	char buf[8] = "";

	CHECK_EQ(send(from, "hello", 5, 0), 5);
	CHECK(readable_soon(to));
	CHECK_EQ(recv(to, buf, 5, MSG_WAITALL), 5);
	CHECK(!memcmp(buf, "hello", 5));
}

void check_alive(const struct pair *p)
{
	check_echo(p->c, p->s);
	check_echo(p->s, p->c);
}

/* Sends @len bytes of the stream, in calls of up to 256 KB. */
void send_stream(int fd, struct stream *st, size_t len)
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
void recv_stream(int fd, struct stream *st, size_t len)
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
size_t fill_socket(int fd, struct stream *st)
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

unsigned char *two_pages_one_mapped(void)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK_EQ(munmap(p + page, page), 0);
	return p;
}

volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

void on_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = count_signal, .sa_flags = flags };

	CHECK_EQ(sigaction(sig, &sa, NULL), 0);
}
