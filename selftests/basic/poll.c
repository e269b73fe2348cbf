// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: poll() and epoll.
 */
#include "basic.h"

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

const struct test_case cases_poll[] = {
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
	{ }
};
