// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: urgent data.
 */
#include "contract.h"

static char buf[256 << 10];

static const char *text(int fd, int len, int flags)
{
	static __thread char s[4][64];
	static __thread int next;
	char *to = s[next++ % 4];
	ssize_t n = recv(fd, buf, len, flags);

	if (n < 0)
		return errno_name(errno);
	snprintf(to, sizeof(s[0]), "%zd %.*s", n, (int)n < 40 ? (int)n : 40, buf);
	return to;
}

static void basics(void)
{
	struct pair p = pair();

	answer("none: recv(MSG_OOB)", "%s", text(p.s, 4, MSG_OOB));
	answer("none: SIOCATMARK", "%s", res(inq(p.s, SIOCATMARK)));
	answer("send(MSG_OOB) of 3 bytes", "%s", res(send(p.c, "abC", 3, MSG_OOB)));
	settle(50);
	answer("events", "%s", mask_name(poll_settled(p.s)));
	answer("FIONREAD", "%s", res(inq(p.s, FIONREAD)));
	answer("SIOCATMARK", "%s", res(inq(p.s, SIOCATMARK)));
	answer("recv(MSG_OOB | MSG_PEEK)", "%s", text(p.s, 4, MSG_OOB | MSG_PEEK));
	answer("recv(MSG_OOB)", "%s", text(p.s, 4, MSG_OOB));
	answer("again", "%s", text(p.s, 4, MSG_OOB));
	answer("events then", "%s", mask_name(poll_settled(p.s)));
	answer("recv()", "%s", text(p.s, 8, 0));
	answer("SIOCATMARK then", "%s", res(inq(p.s, SIOCATMARK)));
	answer("recv() again", "%s", text(p.s, 8, MSG_DONTWAIT));
	send(p.c, "def", 3, 0);
	settle(50);
	answer("FIONREAD of what follows", "%s", res(inq(p.s, FIONREAD)));
	answer("SIOCATMARK before it", "%s", res(inq(p.s, SIOCATMARK)));
	answer("recv() of it", "%s", text(p.s, 8, 0));
	answer("SIOCATMARK after it", "%s", res(inq(p.s, SIOCATMARK)));
}

static void order(void)
{
	struct pair p = pair();

	send(p.c, "abc", 3, 0);
	send(p.c, "X", 1, MSG_OOB);
	send(p.c, "def", 3, 0);
	settle(60);
	answer("FIONREAD", "%s", res(inq(p.s, FIONREAD)));
	answer("recv() stops at the mark", "%s", text(p.s, 16, 0));
	answer("SIOCATMARK", "%s", res(inq(p.s, SIOCATMARK)));
	answer("FIONREAD at the mark", "%s", res(inq(p.s, FIONREAD)));
	answer("recv() goes on behind it", "%s", text(p.s, 16, 0));
	answer("recv(MSG_OOB) after that", "%s", text(p.s, 16, MSG_OOB));
	send(p.c, "abc", 3, 0);
	send(p.c, "X", 1, MSG_OOB);
	send(p.c, "def", 3, 0);
	settle(60);
	answer("recv(MSG_PEEK)", "%s", text(p.s, 16, MSG_PEEK));
	answer("recv(MSG_WAITALL) of 4", "%s", text(p.s, 4, MSG_WAITALL));
	answer("recv(MSG_WAITALL) of 3", "%s", text(p.s, 3, MSG_WAITALL));
	answer("recv(MSG_OOB)", "%s", text(p.s, 4, MSG_OOB));
}

static void inlined(void)
{
	struct pair p = pair();

	set_int(p.s, SOL_SOCKET, SO_OOBINLINE, 1);
	send(p.c, "abc", 3, 0);
	send(p.c, "X", 1, MSG_OOB);
	send(p.c, "def", 3, 0);
	settle(60);
	answer("events", "%s", mask_name(poll_settled(p.s)));
	answer("recv(MSG_OOB)", "%s", text(p.s, 16, MSG_OOB));
	answer("FIONREAD", "%s", res(inq(p.s, FIONREAD)));
	answer("recv() stops at the mark", "%s", text(p.s, 16, 0));
	answer("SIOCATMARK", "%s", res(inq(p.s, SIOCATMARK)));
	answer("FIONREAD at the mark", "%s", res(inq(p.s, FIONREAD)));
	answer("events at the mark", "%s", mask_name(poll_settled(p.s)));
	answer("recv() with the byte", "%s", text(p.s, 16, 0));
	answer("events then", "%s", mask_name(poll_settled(p.s)));
	answer("SIOCATMARK then", "%s", res(inq(p.s, SIOCATMARK)));
}

static void two(void)
{
	struct pair p = pair();

	send(p.c, "ab", 2, 0);
	send(p.c, "X", 1, MSG_OOB);
	settle(40);
	send(p.c, "cd", 2, 0);
	send(p.c, "Y", 1, MSG_OOB);
	send(p.c, "ef", 2, 0);
	settle(60);
	answer("recv(MSG_OOB)", "%s", text(p.s, 16, MSG_OOB));
	answer("recv()", "%s", text(p.s, 16, 0));
	answer("SIOCATMARK", "%s", res(inq(p.s, SIOCATMARK)));
	answer("recv() again", "%s", text(p.s, 16, 0));
	send(p.c, "X", 1, MSG_OOB);
	settle(40);
	text(p.s, 16, MSG_OOB);
	send(p.c, "Y", 1, MSG_OOB);
	settle(40);
	answer("one read, another: events", "%s", mask_name(poll_settled(p.s)));
	answer("... recv(MSG_OOB)", "%s", text(p.s, 16, MSG_OOB));
	answer("... recv()", "%s", text(p.s, 16, MSG_DONTWAIT));
}

static volatile int urgs;
static void on_urg(int sig) { (void)sig; urgs++; }

static void told(void)
{
	struct pair p = pair();
	struct sigaction sa = { .sa_handler = on_urg, .sa_flags = SA_RESTART };
	struct epoll_event e = { .events = EPOLLPRI | EPOLLET };
	int ep = epoll_create1(0);

	sigaction(SIGURG, &sa, NULL);
	fcntl(p.s, F_SETOWN, getpid());
	epoll_ctl(ep, EPOLL_CTL_ADD, p.s, &e);
	send(p.c, "a", 1, 0);
	settle(60);
	answer("SIGURG for other data", "%d", urgs);
	send(p.c, "X", 1, MSG_OOB);
	settle(60);
	answer("SIGURG", "%d", urgs > 0);
	e.events = 0;
	epoll_wait(ep, &e, 1, 500 * run.slow);
	answer("EPOLLPRI", "%s", mask_name(e.events));
}

/* The peer doesn't read: urgent data is told of at once, and may be had before the rest */
static void behind_data(void)
{
	struct pair p = pair();

	send(p.c, buf, 20000, 0);
	send(p.c, "X", 1, MSG_OOB);
	settle(100);
	answer("20000 bytes before it: events", "%s", mask_name(poll_settled(p.s)));
	answer("recv(MSG_OOB)", "%s", text(p.s, 16, MSG_OOB));
	answer("FIONREAD", "%s", res(inq(p.s, FIONREAD)));
	answer("received", "%zu", drain(p.s));
}

static void ends(void)
{
	struct pair p = pair();

	send(p.c, "abX", 3, MSG_OOB);
	shutdown(p.c, SHUT_WR);
	settle(60);
	answer("urgent, then the end: events", "%s", mask_name(poll_settled(p.s)));
	answer("recv(MSG_OOB)", "%s", text(p.s, 16, MSG_OOB));
	answer("recv()", "%s", text(p.s, 16, 0));
	answer("recv() again", "%s", text(p.s, 16, 0));
	answer("recv(MSG_OOB) at the end", "%s", text(p.s, 16, MSG_OOB));
	answer("send(MSG_OOB) after shutdown()", "%s", res(send(p.c, "X", 1, MSG_OOB | MSG_NOSIGNAL)));
	p = pair();
	shutdown(p.c, SHUT_WR);
	settle(60);
	answer("the end, none sent: recv(MSG_OOB)", "%s", text(p.s, 16, MSG_OOB));
	p = pair();
	send(p.c, "X", 1, MSG_OOB);
	settle(60);
	close(p.s);
	answer("closed unread: the peer's events", "%s", mask_name(poll_settled(p.c)));
	p = pair();
	send(p.c, "abX", 3, MSG_OOB);
	settle(60);
	text(p.s, 2, 0);
	close(p.s);
	answer("closed with the byte unread: the peer's events", "%s", mask_name(poll_settled(p.c)));
}

static void lengths(void)
{
	struct pair p = pair();
	struct iovec iov = { buf, 0 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_flags = -1 };

	answer("send(MSG_OOB) of nothing", "%s", res(send(p.c, "", 0, MSG_OOB)));
	settle(40);
	answer("events", "%s", mask_name(poll_settled(p.s)));
	send(p.c, "X", 1, MSG_OOB);
	settle(40);
	answer("recv(MSG_OOB) of nothing", "%s", res(recvmsg(p.s, &m, MSG_OOB)));
	answer("... flags", "%#x", m.msg_flags);
	iov.iov_len = 4;
	answer("recv(MSG_OOB)", "%s", res(recvmsg(p.s, &m, MSG_OOB)));
	answer("... flags", "%#x", m.msg_flags);
	answer("send(MSG_OOB) of 64 KiB", "%d", send(p.c, buf, 64 << 10, MSG_OOB) > 0);
	answer("received", "%zu", drain(p.s));
	answer("send(MSG_OOB | MSG_MORE)", "%s", res(send(p.c, "X", 1, MSG_OOB | MSG_MORE)));
	settle(400);
	answer("events", "%s", mask_name(poll_settled(p.s)));
}

static const struct contract_case cases[] = {
	{ "MSG_OOB", basics },
	{ "urgent byte between others", order },
	{ "SO_OOBINLINE", inlined },
	{ "two urgent bytes", two },
	{ "SIGURG and EPOLLPRI", told },
	{ "urgent byte behind much", behind_data },
	{ "urgent data and the end", ends },
	{ "urgent data, lengths", lengths },
	{ }
};

const struct contract_topic topic_urgent = { "Urgent data", cases };
