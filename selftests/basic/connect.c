// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: listen(), accept(), connect().
 */
#include "basic.h"

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

const struct test_case cases_connect[] = {
	CASE(listen_states),
	CASE(accept_nonblocking),
	CASE(accept4_flags),
	CASE(accept_inherits_options),
	CASE(accept_blocks),
	CASE(listener_close_resets),
	CASE(listener_shutdown_wakes),
	CASE(connect_refused),
	CASE(connect_errors),
	CASE(connect_nonblocking),
	CASE(connect_nonblocking_refused),
	CASE(connect_bound),
	CASE(connect_unspec_disconnects),
	{ }
};
