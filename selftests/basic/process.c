// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: signals, descriptors, processes.
 */
#include "basic.h"

/* ---- signals ---- */

/* A signal when we sleep in the call that follows; it must not come before. */
static void signal_soon(int flags)
{
	int ms = 100 * opt.slow;
	struct itimerval it = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	on_signal(SIGALRM, flags);
	CHECK_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
}

static void eintr_recv(void)
{
	struct pair p = new_pair();
	char b;

	signal_soon(0);
	CHECK_ERR(recv(p.c, &b, 1, 0), EINTR);
	CHECK_EQ(signals, 1);
	check_alive(&p);
}

static void eintr_recv_restarts(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char b;

	if (!pid) {
		settle(300);
		_exit(send(p.s, "x", 1, 0) == 1 ? 0 : EXIT_FAILURE);
	}
	signal_soon(SA_RESTART);
	CHECK_EQ(recv(p.c, &b, 1, 0), 1);
	CHECK_EQ(signals, 1);
	wait_child(pid);
	set_timeo(p.c, SO_RCVTIMEO, 3000 * opt.slow);	/* with a timeout it is never restarted */
	signal_soon(SA_RESTART);
	CHECK_ERR(recv(p.c, &b, 1, 0), EINTR);
}

static void eintr_waitall_partial(void)
{
	struct pair p = new_pair();
	char buf[8];

	CHECK_EQ(send(p.s, "abc", 3, 0), 3);
	ioctl_becomes(p.c, FIONREAD, 3);
	signal_soon(0);
	CHECK_EQ(recv(p.c, buf, 8, MSG_WAITALL), 3);
	CHECK_EQ(signals, 1);
}

static void eintr_send(void)
{
	struct pair p = new_pair();
	struct stream tx, rx;
	size_t n;

	stream_init(&tx, 16);
	stream_init(&rx, 16);
	n = fill_socket(p.c, &tx);
	signal_soon(0);
	CHECK_ERR(send(p.c, "x", 1, 0), EINTR);
	recv_stream(p.s, &rx, n);
	check_alive(&p);
}

static void eintr_accept(void)
{
	struct addr a = test_addr();
	int l = listen_at(&a);

	signal_soon(0);
	CHECK_ERR(accept(l, NULL, NULL), EINTR);
	connect_to(&a);
	CHECK(accept(l, NULL, NULL) >= 0);
}

/* TCP does not answer when the backlog is full, so connect() waits. */
static void eintr_connect(void)
{
	struct addr a = test_addr();
	int l = new_socket(0), fd = -1;

	bind_to(l, &a);
	CHECK_EQ(listen(l, 0), 0);
	a = name_of(l);
	for (int i = 0; i < 8; i++) {
		fd = new_socket(SOCK_NONBLOCK);
		if (connect(fd, &a.sa, a.len) && errno != EINPROGRESS)
			SKIP("a full backlog refuses");
		/* Time enough to tell one that waits from one that is slow */
		for (int ms = 0; ms < 400 && !poll_now(fd); ms += 20)
			msleep(20);
		if (poll_now(fd) & POLLERR)
			SKIP("a full backlog refuses");
		if (!poll_now(fd))
			break;
	}
	if (poll_now(fd))
		SKIP("the backlog does not fill");
	CHECK_ERR(connect(fd, &a.sa, a.len), EALREADY);
	fd = new_socket(0);
	signal_soon(0);
	CHECK_ERR(connect(fd, &a.sa, a.len), EINTR);
	CHECK_EQ(signals, 1);
}

/* ---- descriptors and processes ---- */

static void fork_shares(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char buf[5];

	if (!pid) {
		check_echo(p.c, p.s);
		check_echo(p.s, p.c);
		_exit(0);
	}
	wait_child(pid);
	msleep(20);
	CHECK_EQ(poll_now(p.c), POLLOUT);	/* the child's exit closed nothing */
	CHECK_EQ(poll_now(p.s), POLLOUT);
	check_alive(&p);
	pid = start_child();			/* child on one end, parent on the other */
	if (!pid) {
		close(p.s);
		check_echo(p.c, p.c);
		_exit(0);
	}
	close(p.c);
	CHECK_EQ(recv(p.s, buf, 5, MSG_WAITALL), 5);
	CHECK_EQ(send(p.s, buf, 5, 0), 5);
	wait_child(pid);
}

static void send_fd(int via, int fd)
{
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = { .hdr = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec iov = { "", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &ctl, .msg_controllen = sizeof(ctl.buf),
	};

	memcpy(CMSG_DATA(&ctl.hdr), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(via, &msg, 0), 1);
}

static int recv_fd(int via)
{
	union {
		struct cmsghdr hdr;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	char b;
	struct iovec iov = { &b, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &ctl, .msg_controllen = sizeof(ctl.buf),
	};
	int fd;

	CHECK_EQ(recvmsg(via, &msg, 0), 1);
	CHECK_EQ(ctl.hdr.cmsg_type, SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(&ctl.hdr), sizeof(fd));
	return fd;
}

static void scm_rights(void)
{
	int sv[2];
	pid_t pid;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	pid = start_child();			/* before there is a connection to inherit */
	if (!pid) {
		int c = recv_fd(sv[1]);
		char buf[5];

		CHECK_EQ(recv(c, buf, 5, MSG_WAITALL), 5);
		CHECK_EQ(send(c, buf, 5, 0), 5);
		_exit(0);
	}
	struct pair p = new_pair();
	char b;

	send_fd(sv[0], p.c);
	close(p.c);				/* the message holds it */
	check_echo(p.s, p.s);
	wait_child(pid);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

static void dup_shares(void)
{
	struct pair p = new_pair();
	int d = dup(p.c);
	char b;

	CHECK(d >= 0);
	close(p.c);
	p.c = d;
	check_alive(&p);
	d = dup(p.c);
	close(d);
	CHECK_ERR(recv(p.s, &b, 1, MSG_DONTWAIT), EAGAIN);
	close(p.c);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

/* A program that knows nothing of sockets has one as its standard input and output. */
static void exec_inherits(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();

	if (!pid) {
		dup2(p.s, STDIN_FILENO);
		dup2(p.s, STDOUT_FILENO);
		close(p.c);
		close(p.s);
		execlp("cat", "cat", NULL);
		_exit(EXIT_FAILURE);
	}
	close(p.s);
	check_echo(p.c, p.c);
	shutdown(p.c, SHUT_WR);
	wait_child(pid);
}

/* Kills a process that sleeps in recv() on @fd; it is the only one to hold @fd. */
static void kill_owner(int fd, int other)
{
	pid_t pid = start_child();
	int status;
	char b;

	if (!pid) {
		close(other);
		_exit(recv(fd, &b, 1, MSG_WAITALL) != 1);
	}
	close(fd);
	msleep(100);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

static void kill_client(void)
{
	struct pair p = new_pair();
	char b;

	kill_owner(p.c, p.s);
	CHECK_EQ(recv(p.s, &b, 1, 0), 0);
}

static void kill_server(void)
{
	struct pair p = new_pair();
	char b;

	kill_owner(p.s, p.c);
	CHECK_EQ(recv(p.c, &b, 1, 0), 0);
}

static void kill_with_unread_data(void)
{
	struct pair p = new_pair();
	pid_t pid = start_child();
	char b;

	if (!pid) {
		close(p.c);
		for (;;)
			pause();
	}
	close(p.s);
	CHECK_EQ(send(p.c, "unread", 6, 0), 6);
	settle(100);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_ERR(recv(p.c, &b, 1, 0), ECONNRESET);
}

/* The sender is killed in the middle of a send(): what was taken arrives, then the end. */
static void kill_sender(void)
{
	struct pair p = new_pair();
	static unsigned char buf[64 << 10];
	struct stream tx, rx;
	ssize_t n;
	pid_t pid = start_child();

	stream_init(&tx, 17);
	stream_init(&rx, 17);
	if (!pid) {
		close(p.s);
		send_stream(p.c, &tx, 1 << 30);
		_exit(0);
	}
	close(p.c);
	recv_stream(p.s, &rx, 1 << 20);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	while ((n = recv(p.s, buf, sizeof(buf), 0)) > 0)
		CHECK(stream_check(&rx, buf, n) < 0);
	CHECK_EQ(n, 0);
}

const struct test_case cases_process[] = {
	CASE(eintr_recv),
	CASE(eintr_recv_restarts),
	CASE(eintr_waitall_partial),
	CASE(eintr_send),
	CASE(eintr_accept),
	CASE(eintr_connect),
	CASE(fork_shares),
	CASE(scm_rights),
	CASE(dup_shares),
	CASE(exec_inherits),
	CASE(kill_client),
	CASE(kill_server),
	CASE(kill_with_unread_data),
	CASE(kill_sender),
	{ }
};
