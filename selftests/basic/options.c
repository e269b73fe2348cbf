// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: options and ioctls.
 */
#include "basic.h"

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

const struct test_case cases_options[] = {
	CASE(rcvlowat_full_buffer),
	CASE(connect_after_failure),
	CASE(buffer_sizes),
	CASE(tcp_nodelay),
	CASE(unknown_options),
	CASE(ioctl_queues),
	CASE(ioctl_outq),
	{ }
};
