// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_uring_fall ADDRESS PORT: requests of io_uring that are in flight on a socket while its
 * attempt by SDP goes on, end by TCP. Something echoes there by TCP, and no SDP answers.
 */
#include <err.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>

#include "sdp_test.h"

static struct io_uring ring;

static struct io_uring_sqe *request(long which)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	io_uring_sqe_set_data64(sqe, which);
	return sqe;
}

enum { CONNECT, POLL, SEND, RECV, CANCELLED, CANCEL, KINDS };

static const char *const names[] = { "connect", "poll", "send", "recv", "cancelled recv", "cancel" };

int main(int argc, char **argv)
{
	int policy = SDP_POLICY_BOTH, fd, proto = 0, want[KINDS], got[KINDS] = { };
	socklen_t len = sizeof(proto);
	char in[16] = "", lost[16];
	struct addr a;

	if (argc != 3)
		errx(EXIT_USAGE, "usage: sdp_uring_fall ADDRESS PORT");
	a = addr_parse(argv[1], parse_size("port", argv[2], 1, 65535));
	fd = xsocket(FAM_IPPROTO, a.sa.sa_family, 0);
	if (setsockopt(fd, SOL_SDP, SDP_POLICY, &policy, sizeof(policy)))
		err(EXIT_FAILURE, "SDP_POLICY");
	if (io_uring_queue_init(16, &ring, 0))
		errx(EXIT_FAILURE, "io_uring_queue_init");

	io_uring_prep_connect(request(CONNECT), fd, &a.sa, a.len);
	io_uring_submit(&ring);
	io_uring_prep_poll_add(request(POLL), fd, POLLOUT);
	io_uring_prep_recv(request(CANCELLED), fd, lost, sizeof(lost), 0);
	io_uring_submit(&ring);
	io_uring_prep_cancel64(request(CANCEL), CANCELLED, 0);
	io_uring_prep_send(request(SEND), fd, "hello", 5, 0);
	io_uring_prep_recv(request(RECV), fd, in, 5, MSG_WAITALL);
	io_uring_submit(&ring);

	for (int i = 0; i < KINDS; i++) {
		struct io_uring_cqe *cqe;

		if (io_uring_wait_cqe(&ring, &cqe))
			errx(EXIT_FAILURE, "no completion");
		got[io_uring_cqe_get_data64(cqe)] = cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
	memcpy(want, (int[]){ 0, POLLOUT, 5, 5, -ECANCELED, 0 }, sizeof(want));
	for (int i = 0; i < KINDS; i++)
		if (got[i] != want[i])
			errx(EXIT_FAILURE, "%s: %d, not %d", names[i], got[i], want[i]);
	if (memcmp(in, "hello", 5))
		errx(EXIT_FAILURE, "received '%s'", in);
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &proto, &len) || proto != IPPROTO_TCP)
		errx(EXIT_FAILURE, "protocol %d", proto);
	return EXIT_SUCCESS;
}
