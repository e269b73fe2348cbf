// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_uring ADDRESS: io_uring on SDP sockets: zero-copy sends with their notifications, from
 * memory of the program and from registered buffers, and receives. All data is verified.
 */
#include <err.h>
#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sdp_test.h"

#define SIZE	(1 << 20)

static unsigned char *out, *in;
static struct io_uring ring;
static int tx, rx;

static void *map(void)
{
	void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(EXIT_FAILURE, "mmap");
	return p;
}

static void *reader(void *arg)
{
	size_t n = *(size_t *)arg;

	memset(in, 0, SIZE);
	if (recv_all(rx, in, n))
		err(EXIT_FAILURE, "recv");
	return NULL;
}

/* Submits the send that was prepared; its result, then its notification */
static void send_of(const char *what, size_t n)
{
	struct io_uring_cqe *cqe;
	bool sent = false, told = false, more = true;
	pthread_t thread;

	if (pthread_create(&thread, NULL, reader, &n))
		errx(EXIT_FAILURE, "pthread_create");
	if (io_uring_submit(&ring) != 1)
		errx(EXIT_FAILURE, "%s: not submitted", what);
	while (!sent || (more && !told)) {
		if (io_uring_wait_cqe(&ring, &cqe))
			errx(EXIT_FAILURE, "%s: no completion", what);
		if (cqe->flags & IORING_CQE_F_NOTIF) {
			told = true;
		} else {
			if (cqe->res != (int)n)
				errx(EXIT_FAILURE, "%s: %d, not %zu", what, cqe->res, n);
			more = cqe->flags & IORING_CQE_F_MORE;
			sent = true;
		}
		io_uring_cqe_seen(&ring, cqe);
	}
	pthread_join(thread, NULL);
	if (!told)
		errx(EXIT_FAILURE, "%s: no notification", what);
	if (memcmp(in, out, n))
		errx(EXIT_FAILURE, "%s: other bytes have arrived", what);
	printf("%s: %zu bytes\n", what, n);
}

static void sends(size_t n)
{
	struct iovec iov[2] = { { out, n / 2 }, { out + n / 2, n - n / 2 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	io_uring_prep_send_zc(io_uring_get_sqe(&ring), tx, out, n, MSG_WAITALL, 0);
	send_of("send_zc", n);
	io_uring_prep_send_zc_fixed(io_uring_get_sqe(&ring), tx, out, n, MSG_WAITALL, 0, 0);
	send_of("send_zc, registered buffer", n);
	io_uring_prep_sendmsg_zc(io_uring_get_sqe(&ring), tx, &msg, MSG_WAITALL);
	send_of("sendmsg_zc", n);
}

static void *sender(void *arg)
{
	if (send_all(tx, out, *(size_t *)arg))
		err(EXIT_FAILURE, "send");
	return NULL;
}

static void receives(size_t n)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	struct io_uring_cqe *cqe;
	pthread_t thread;

	memset(in, 0, SIZE);
	io_uring_prep_recv(sqe, rx, in, n, MSG_WAITALL);
	sqe->flags |= IOSQE_ASYNC;
	io_uring_submit(&ring);
	if (pthread_create(&thread, NULL, sender, &n))
		errx(EXIT_FAILURE, "pthread_create");
	if (io_uring_wait_cqe(&ring, &cqe) || cqe->res != (int)n || memcmp(in, out, n))
		errx(EXIT_FAILURE, "recv: %d of %zu bytes, or the wrong ones", cqe->res, n);
	io_uring_cqe_seen(&ring, cqe);
	pthread_join(thread, NULL);
	printf("recv: %zu bytes\n", n);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 1, 4096, 70001, SIZE };
	struct iovec iov;
	struct addr a;
	int lfd, ret;

	if (argc != 2)
		errx(EXIT_USAGE, "usage: sdp_uring ADDRESS");
	a = addr_parse(argv[1], 0);
	lfd = xlisten(FAM_SDP, &a, 1, 0, 0);
	tx = xconnect(FAM_SDP, &a, 0, 0);
	rx = xaccept(lfd);
	out = map();
	in = map();
	for (int i = 0; i < SIZE; i++)
		out[i] = i * 7 + (i >> 8);
	ret = io_uring_queue_init(8, &ring, 0);
	if (ret)
		errx(EXIT_FAILURE, "io_uring_queue_init: %s", strerror(-ret));
	iov = (struct iovec){ out, SIZE };
	ret = io_uring_register_buffers(&ring, &iov, 1);
	if (ret)
		errx(EXIT_FAILURE, "io_uring_register_buffers: %s", strerror(-ret));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		sends(sizes[i]);
		receives(sizes[i]);
	}
	return EXIT_SUCCESS;
}
