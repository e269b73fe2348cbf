// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: shutdown() and close(), here and at the other end.
 */
#include "basic.h"

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

const struct test_case cases_ending[] = {
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
	{ }
};
