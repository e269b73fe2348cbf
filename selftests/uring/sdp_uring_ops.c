// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_uring_ops FAMILY ADDRESS: io_uring's operations on sockets of a family, and what comes of
 * them, a line each. The suite compares the lines of TCP and of SDP.
 */
#include <liburing.h>
#include <poll.h>
#include <sys/mman.h>

#include "sdp_test.h"

static struct io_uring ring;
static enum fam fam;
static struct addr at;

static const char *res(int rc)
{
	static char buf[16];

	if (rc < 0)
		return strerrorname_np(-rc) ?: "?";
	snprintf(buf, sizeof(buf), "%d", rc);
	return buf;
}

static struct io_uring_sqe *sqe(int tag)
{
	struct io_uring_sqe *s = io_uring_get_sqe(&ring);

	if (!s)
		errx(EXIT_FAILURE, "no entry");
	io_uring_sqe_set_data64(s, tag);
	return s;
}

/* The next completion, and its result in words; -ETIME after 3 s */
static struct io_uring_cqe next(void)
{
	struct __kernel_timespec ts = { .tv_sec = 3 };
	struct io_uring_cqe *cqe, copy = { .res = -ETIME };

	io_uring_submit(&ring);
	if (io_uring_wait_cqe_timeout(&ring, &cqe, &ts))
		return copy;
	copy = *cqe;
	io_uring_cqe_seen(&ring, cqe);
	return copy;
}

/* Two completions that come in any order */
static void next_two(struct io_uring_cqe by_tag[2])
{
	for (int i = 0; i < 2; i++) {
		struct io_uring_cqe c = next();

		by_tag[c.user_data & 1] = c;
	}
}

static int new_socket(void)
{
	return xsocket(fam, at.sa.sa_family, 0);
}

static void pair(int lfd, int *c, int *s)
{
	struct io_uring_cqe two[2];

	*c = new_socket();
	io_uring_prep_accept(sqe(0), lfd, NULL, NULL, SOCK_CLOEXEC);
	io_uring_prep_connect(sqe(1), *c, &at.sa, at.len);
	next_two(two);
	*s = two[0].res;
	if (*s < 0 || two[1].res)
		errx(EXIT_FAILURE, "accept %s, connect %s", res(two[0].res), res(two[1].res));
}

static void connecting(int lfd)
{
	struct addr closed = at;
	int c, s;

	addr_set_port(&closed, 0);
	close(xlisten(fam, &closed, 1, 0, 0));
	pair(lfd, &c, &s);
	puts("accept and connect: 0");
	io_uring_prep_connect(sqe(0), c, &at.sa, at.len);
	printf("connect again: %s\n", res(next().res));
	io_uring_prep_connect(sqe(0), new_socket(), &closed.sa, closed.len);
	printf("connect, nobody there: %s\n", res(next().res));
	close(c);
	close(s);
}

static void accepting(int lfd)
{
	struct io_uring_cqe c, two[2];

	io_uring_prep_multishot_accept(sqe(0), lfd, NULL, NULL, 0);
	io_uring_submit(&ring);
	for (int i = 0; i < 3; i++) {
		xconnect(fam, &at, 0, 0);
		c = next();
		printf("multishot accept %d: %d, more %d\n", i, c.res >= 0, !!(c.flags & IORING_CQE_F_MORE));
	}
	io_uring_prep_cancel64(sqe(1), 0, 0);
	next_two(two);
	printf("cancel of it: %s\n", res(two[1].res));
	printf("... accept: %s\n", res(two[0].res));
}

static void moving(int lfd)
{
	static char out[200000], in[200000];
	struct iovec iov = { in, 5 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct io_uring_cqe two[2];
	int c, s;

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = i * 7;
	pair(lfd, &c, &s);
	io_uring_prep_send(sqe(0), c, out, sizeof(out), MSG_WAITALL);
	io_uring_prep_recv(sqe(1), s, in, sizeof(in), MSG_WAITALL);
	next_two(two);
	printf("send: %s\n", res(two[0].res));
	printf("recv: %s, right %d\n", res(two[1].res), !memcmp(in, out, sizeof(in)));
	io_uring_prep_recvmsg(sqe(1), s, &msg, 0);
	io_uring_submit(&ring);
	usleep(50000);
	io_uring_prep_write(sqe(0), c, "hello", 5, 0);
	next_two(two);
	printf("write: %s\n", res(two[0].res));
	printf("recvmsg that waited: %s\n", res(two[1].res));
	io_uring_prep_recv(sqe(1), s, in, 5, 0);
	io_uring_submit(&ring);
	usleep(50000);
	io_uring_prep_cancel64(sqe(0), 1, 0);
	next_two(two);
	printf("cancel: %s\n", res(two[0].res));
	printf("recv that was cancelled: %s\n", res(two[1].res));
	io_uring_prep_recv(sqe(1), s, in, 5, 0);
	io_uring_submit(&ring);
	usleep(50000);
	io_uring_prep_shutdown(sqe(0), c, SHUT_WR);
	next_two(two);
	printf("shutdown: %s\n", res(two[0].res));
	printf("recv at the end: %s\n", res(two[1].res));
	io_uring_prep_send(sqe(0), c, out, 5, MSG_NOSIGNAL);
	printf("send after shutdown: %s\n", res(next().res));
	io_uring_prep_close(sqe(0), c);
	printf("close: %s\n", res(next().res));
	close(s);
}

static void polling(int lfd)
{
	struct io_uring_cqe cqe, two[2];
	char b[8];
	int c, s;

	pair(lfd, &c, &s);
	io_uring_prep_poll_add(sqe(0), s, POLLIN);
	io_uring_submit(&ring);
	usleep(50000);
	send(c, "a", 1, 0);
	printf("poll: %#x\n", next().res);
	recv(s, b, 8, 0);
	io_uring_prep_poll_multishot(sqe(0), s, POLLIN);
	for (int i = 0; i < 2; i++) {
		io_uring_submit(&ring);
		usleep(50000);
		send(c, "a", 1, 0);
		cqe = next();
		printf("multishot poll: %#x, more %d\n", cqe.res, !!(cqe.flags & IORING_CQE_F_MORE));
		recv(s, b, 8, 0);
	}
	io_uring_prep_poll_remove(sqe(1), 0);
	next_two(two);
	printf("removal: %s\n", res(two[1].res));
	printf("... poll: %s\n", res(two[0].res));
	close(c);
	close(s);
}

/* Buffers the kernel chooses from, and recv() that goes on */
static void choosing(int lfd)
{
	static char bufs[4][100];
	struct io_uring_cqe cqe;
	struct io_uring_sqe *e;
	int c, s;

	pair(lfd, &c, &s);
	io_uring_prep_provide_buffers(sqe(0), bufs, 100, 4, 7, 0);
	printf("provide_buffers: %s\n", res(next().res));
	e = sqe(0);
	io_uring_prep_recv(e, s, NULL, 100, 0);
	e->flags |= IOSQE_BUFFER_SELECT;
	e->buf_group = 7;
	io_uring_submit(&ring);
	usleep(50000);
	send(c, "abc", 3, 0);
	cqe = next();
	printf("recv into one of them: %s, buffer %d\n", res(cqe.res), !!(cqe.flags & IORING_CQE_F_BUFFER));
	e = sqe(0);
	io_uring_prep_recv_multishot(e, s, NULL, 0, 0);
	e->flags |= IOSQE_BUFFER_SELECT;
	e->buf_group = 7;
	for (int i = 0; i < 2; i++) {
		io_uring_submit(&ring);
		usleep(50000);
		send(c, "defg", 4, 0);
		cqe = next();
		printf("multishot recv: %s, more %d\n", res(cqe.res), !!(cqe.flags & IORING_CQE_F_MORE));
	}
	close(c);
	cqe = next();
	printf("multishot recv at the end: %s, more %d\n", res(cqe.res), !!(cqe.flags & IORING_CQE_F_MORE));
	close(s);
}

int main(int argc, char **argv)
{
	int lfd, ret;

	if (argc != 3)
		errx(EXIT_USAGE, "usage: sdp_uring_ops FAMILY ADDRESS");
	fam = fam_parse(argv[1]);
	at = addr_parse(argv[2], 0);
	lfd = xlisten(fam, &at, 8, 0, 0);
	ret = io_uring_queue_init(16, &ring, 0);
	if (ret)
		errx(EXIT_FAILURE, "io_uring_queue_init: %s", strerror(-ret));
	connecting(lfd);
	moving(lfd);
	polling(lfd);
	choosing(lfd);
	accepting(lfd);
	return EXIT_SUCCESS;
}
