// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: moving data, and time limits on that.
 */
#include "basic.h"

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

/* Nobody reads: that a byte came in a message of its own costs no room worth speaking of */
static void data_many_small(void)
{
	struct pair p = new_pair();

	setint(p.c, IPPROTO_TCP, TCP_NODELAY, 1);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(send(p.c, &(char){ i }, 1, 0), 1);
	ioctl_becomes(p.s, FIONREAD, 1000);
	for (int i = 0; i < 1000; i++) {
		char c;

		CHECK_EQ(recv(p.s, &c, 1, 0), 1);
		CHECK_EQ(c, (char)i);
	}
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

const struct test_case cases_data[] = {
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
	CASE(data_many_small),
	CASE(data_send_efault),
	CASE(data_recv_efault),
	CASE(data_large_send),
	CASE(data_sendfile),
	CASE(rcvtimeo),
	CASE(rcvtimeo_accept),
	CASE(sndtimeo),
	{ }
};
