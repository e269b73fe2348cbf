// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_uring_accept ADDRESS: io_uring waits for connections to a listener for both, and gets
 * those of SDP and those of TCP, by single requests and by one for all of them.
 */
#include <err.h>
#include <liburing.h>
#include <stdio.h>
#include <unistd.h>

#include "sdp_test.h"

static struct io_uring ring;

static int protocol(int fd)
{
	int proto = 0;
	socklen_t len = sizeof(proto);

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &proto, &len))
		err(EXIT_FAILURE, "SO_PROTOCOL");
	return proto;
}

static int completion(void)
{
	struct io_uring_cqe *cqe;
	int res;

	if (io_uring_wait_cqe(&ring, &cqe))
		errx(EXIT_FAILURE, "no completion");
	res = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	return res;
}

/* A client; what is accepted then is of its kind */
static void one(const struct addr *a, enum fam fam)
{
	int c = xconnect(fam, a, 0, 0), s = completion(), want;
	char got = 0;

	want = fam == FAM_TCP ? IPPROTO_TCP : IPPROTO_SDP;
	if (s < 0)
		errx(EXIT_FAILURE, "accept: %s", strerror(-s));
	if (protocol(c) != want || protocol(s) != want)
		errx(EXIT_FAILURE, "protocols %d, %d; not %d", protocol(c), protocol(s), want);
	if (write(s, "x", 1) != 1 || read(c, &got, 1) != 1 || got != 'x')
		errx(EXIT_FAILURE, "the connection doesn't work");
	close(c);
	close(s);
}

int main(int argc, char **argv)
{
	static const enum fam kinds[] = { FAM_TCP, FAM_IPPROTO, FAM_IPPROTO, FAM_TCP };
	struct addr a;
	int lfd;

	if (argc != 2)
		errx(EXIT_USAGE, "usage: sdp_uring_accept ADDRESS");
	a = addr_parse(argv[1], 0);
	lfd = xsocket(FAM_IPPROTO, a.sa.sa_family, 0);
	xsetsockopt_int(lfd, SOL_SDP, SDP_POLICY, SDP_POLICY_BOTH, "SDP_POLICY");
	if (bind(lfd, &a.sa, a.len) || listen(lfd, 8) || getsockname(lfd, &a.sa, &a.len))
		err(EXIT_FAILURE, "listen");
	if (io_uring_queue_init(16, &ring, 0))
		errx(EXIT_FAILURE, "io_uring_queue_init");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		io_uring_prep_accept(io_uring_get_sqe(&ring), lfd, NULL, NULL, 0);
		io_uring_submit(&ring);
		one(&a, kinds[i]);
	}
	io_uring_prep_multishot_accept(io_uring_get_sqe(&ring), lfd, NULL, NULL, 0);
	io_uring_submit(&ring);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		one(&a, kinds[i]);
	io_uring_queue_exit(&ring);
	return EXIT_SUCCESS;
}
