// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: select(), poll(), epoll and signals.
 */
#include "contract.h"
#include <sys/select.h>

static char buf[1 << 20];

static int epoll_of(int fd, uint32_t events)
{
	int ep = epoll_create1(0);
	struct epoll_event e = { .events = events };

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		die("epoll: %s", strerror(errno));
	return ep;
}

static const char *next(int ep)
{
	struct epoll_event e = { .events = 0 };

	if (epoll_wait(ep, &e, 1, 200 * run.slow) < 0)
		die("epoll_wait: %s", strerror(errno));
	return mask_name(e.events);
}

static void edges(void)
{
	struct pair p = pair();
	int ep = epoll_of(p.c, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);

	answer("at first", "%s", next(ep));
	answer("again", "%s", next(ep));
	send(p.s, "a", 1, 0);
	answer("a byte came", "%s", next(ep));
	answer("not read", "%s", next(ep));
	send(p.s, "b", 1, 0);
	answer("another", "%s", next(ep));
	recv(p.c, buf, 1, 0);
	answer("half of it read", "%s", next(ep));
	recv(p.c, buf, 1, 0);
	shutdown(p.s, SHUT_WR);
	answer("the end", "%s", next(ep));
	shutdown(p.c, SHUT_WR);
	answer("both ends", "%s", next(ep));
}

static void oneshot(void)
{
	struct pair p = pair();
	int ep = epoll_of(p.c, EPOLLIN | EPOLLONESHOT);
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };

	send(p.s, "a", 1, 0);
	answer("a byte came", "%s", next(ep));
	send(p.s, "a", 1, 0);
	answer("another", "%s", next(ep));
	epoll_ctl(ep, EPOLL_CTL_MOD, p.c, &e);
	answer("armed again", "%s", next(ep));
}

static void exclusive(void)
{
	struct pair p = pair();
	int ep = epoll_of(p.c, EPOLLIN | EPOLLEXCLUSIVE), outer = epoll_of(ep, EPOLLIN);

	answer("nested, nothing there", "%s", next(outer));
	send(p.s, "a", 1, 0);
	answer("nested, a byte came", "%s", next(outer));
	answer("exclusive", "%s", next(ep));
	recv(p.c, buf, 1, 0);
	answer("nested, read", "%s", next(outer));
}

struct waiter {
	pthread_t thread;
	int ep;
	bool woken;
};

static void *wait_for_event(void *arg)
{
	struct waiter *w = arg;
	struct epoll_event e;

	w->woken = epoll_wait(w->ep, &e, 1, 400 * run.slow) == 1;
	return NULL;
}

/* Three threads, each with an epoll of its own on one socket: how many does an event wake? */
static void begin_waiting(struct waiter *w, int fd, uint32_t events)
{
	for (int i = 0; i < 3; i++) {
		w[i].ep = epoll_of(fd, events);
		pthread_create(&w[i].thread, NULL, wait_for_event, &w[i]);
	}
	settle(100);
}

static int count_woken(struct waiter *w)
{
	int n = 0;

	for (int i = 0; i < 3; i++) {
		pthread_join(w[i].thread, NULL);
		n += w[i].woken;
		close(w[i].ep);
	}
	return n;
}

static void herd(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 4);
	struct waiter w[3];
	struct pair p;

	begin_waiting(w, l, EPOLLIN);
	p.c = connected(&a);
	answer("a listener, not exclusive: woken by a connection", "%d", count_woken(w));
	p.s = accept(l, NULL, NULL);
	begin_waiting(w, l, EPOLLIN | EPOLLEXCLUSIVE);
	close(connected(&a));
	answer("a listener, exclusive", "%d", count_woken(w));
	begin_waiting(w, p.c, EPOLLIN);
	send(p.s, "a", 1, 0);
	answer("not exclusive: woken by data", "%d", count_woken(w));
	recv(p.c, buf, 1, 0);
	begin_waiting(w, p.c, EPOLLIN | EPOLLEXCLUSIVE);
	send(p.s, "a", 1, 0);
	answer("exclusive: woken by data", "%d", count_woken(w));
	recv(p.c, buf, 1, 0);
	begin_waiting(w, p.c, EPOLLIN | EPOLLEXCLUSIVE);
	shutdown(p.s, SHUT_WR);
	answer("exclusive: woken by the end", "%d", count_woken(w));
}

static void low_water(void)
{
	struct pair p = pair();

	set_int(p.c, SOL_SOCKET, SO_RCVLOWAT, 5);
	send(p.s, "abc", 3, 0);
	settle(50);
	answer("SO_RCVLOWAT 5, 3 bytes there", "%s", mask_name(poll_settled(p.c)));
	send(p.s, "de", 2, 0);
	settle(50);
	answer("... 5 bytes", "%s", mask_name(poll_settled(p.c)));
	answer("recv() of 8", "%s", res(recv(p.c, buf, 8, 0)));
	set_timeo(p.c, SO_RCVTIMEO, 100 * run.slow);
	send(p.s, "abc", 3, 0);
	settle(50);
	answer("blocking recv() of less, in the end", "%s", res(recv(p.c, buf, 8, 0)));
	send(p.s, "abc", 3, 0);
	settle(50);
	answer("non-blocking recv() of less", "%s", res(recv(p.c, buf, 8, MSG_DONTWAIT)));
	send(p.s, "abc", 3, 0);
	shutdown(p.s, SHUT_WR);
	settle(50);
	answer("... less, and the end", "%s", mask_name(poll_settled(p.c)));
}

static void write_space(void)
{
	struct pair p = pair();
	size_t n, half = 0;
	int ep;

	nonblock(p.c);
	ep = epoll_of(p.c, EPOLLOUT | EPOLLET);
	answer("at first", "%s", next(ep));
	n = fill(p.c);
	while (strcmp(next(ep), "none"))
		;
	answer("full: events", "%s", mask_name(poll_settled(p.c)));
	while (half < n) {
		ssize_t got = recv(p.s, buf, sizeof(buf), MSG_DONTWAIT);

		if (got > 0)
			half += got;
		else
			settle(5);
	}
	answer("all read: an edge", "%s", next(ep));
	answer("... events", "%s", mask_name(poll_settled(p.c)));
}

/* Senders are woken when a third of the buffer is free, not for each message that has gone */
static void hysteresis(void)
{
	struct pair p = pair();
	int full, left, edges = 0;
	struct epoll_event e;
	int ep;

	set_int(p.c, SOL_SOCKET, SO_SNDBUF, 128 << 10);
	set_int(p.s, SOL_SOCKET, SO_RCVBUF, 32 << 10);
	nonblock(p.c);
	ep = epoll_of(p.c, EPOLLOUT | EPOLLET);
	fill(p.c);
	while (epoll_wait(ep, &e, 1, 0) > 0)
		;
	full = inq(p.c, SIOCOUTQ);
	do {
		recv(p.s, buf, 2048, MSG_DONTWAIT);
		settle(1);
		left = inq(p.c, SIOCOUTQ);
		edges += epoll_wait(ep, &e, 1, 0);
	} while (!edges && left);
	answer("full, and the peer reads by 2 KB: queued yet at the edge", "%s",
	       left > full * 9 / 10 ? "nearly all" : left > full / 10 ? "half or so" : "nothing");
	while (left) {
		drain(p.s);
		left = inq(p.c, SIOCOUTQ);
		edges += epoll_wait(ep, &e, 1, 0);
	}
	answer("few edges until all is read", "%d", edges < 10);
}

static void not_sent(void)
{
	struct pair p = pair();

	set_int(p.c, SOL_TCP, TCP_NOTSENT_LOWAT, 4096);
	nonblock(p.c);
	set_int(p.c, SOL_SOCKET, SO_SNDBUF, 1 << 20);
	fill(p.c);
	answer("TCP_NOTSENT_LOWAT 4096: events when the peer takes nothing", "%s",
	       mask_name(poll_settled(p.c)));
	answer("... little is unsent", "%d", inq(p.c, SIOCOUTQNSD) < 200000);
	answer("... much room is left", "%d", inq(p.c, SIOCOUTQNSD) < 1 << 20);
	drain(p.s);
	answer("... when it has", "%s", mask_name(poll_settled(p.c)));
}

static volatile int io_signals;
static void on_io(int sig) { (void)sig; io_signals++; }

static void async(void)
{
	struct pair p = pair();
	struct sigaction sa = { .sa_handler = on_io, .sa_flags = SA_RESTART };
	int on = 1;

	sigaction(SIGIO, &sa, NULL);
	answer("FIOASYNC", "%s", res(ioctl(p.c, FIOASYNC, &on)));
	answer("F_SETOWN", "%s", res(fcntl(p.c, F_SETOWN, getpid())));
	answer("F_GETOWN", "%d", fcntl(p.c, F_GETOWN) == getpid());
	io_signals = 0;
	send(p.s, "a", 1, 0);
	settle(100);
	answer("data: SIGIO", "%d", io_signals > 0);
	io_signals = 0;
	shutdown(p.s, SHUT_WR);
	settle(100);
	answer("the end: SIGIO", "%d", io_signals > 0);
	answer("FIOSETOWN", "%s", res(ioctl(p.c, FIOSETOWN, &(int){ getpid() })));
	answer("SIOCSPGRP", "%s", res(ioctl(p.c, SIOCSPGRP, &(int){ getpid() })));
	answer("SIOCGPGRP", "%d", inq(p.c, SIOCGPGRP) == getpid());
	{
		struct addr a = own_addr();
		int l = listener(&a, 4);

		ioctl(l, FIOASYNC, &on);
		fcntl(l, F_SETOWN, getpid());
		io_signals = 0;
		connected(&a);
		settle(100);
		answer("listener: SIGIO", "%d", io_signals > 0);
	}
}

static void selecting(void)
{
	struct pair p = pair();
	struct timeval tv = { 0, 0 };
	fd_set r, w, x;
	int n;
	for (int step = 0; step < 3; step++) {
		static const char *const items[] = { "select(), idle", "select(), data", "select(), reset" };

		if (step == 1)
			send(p.s, "a", 1, 0);
		if (step == 2) {
			set_linger(p.s, 1, 0);
			close(p.s);
		}
		settle(50);
		FD_ZERO(&r);
		FD_SET(p.c, &r);
		w = r;
		x = r;
		n = select(p.c + 1, &r, &w, &x, &tv);
		answer(items[step], "%d: %d %d %d", n, !!FD_ISSET(p.c, &r), !!FD_ISSET(p.c, &w),
		       !!FD_ISSET(p.c, &x));
	}
}

static void busy(void)
{
	struct pair p = pair();

	answer("SO_BUSY_POLL", "%s", res(setsockopt(p.c, SOL_SOCKET, SO_BUSY_POLL, &(int){ 50 }, sizeof(int))));
	set_timeo(p.c, SO_RCVTIMEO, 50);
	answer("recv(), nothing comes", "%s", res(recv(p.c, buf, 1, 0)));
	send(p.s, "a", 1, 0);
	answer("recv()", "%s", res(recv(p.c, buf, 1, 0)));
	answer("poll(), nothing there", "%s", mask_name(poll_settled(p.c)));
	close(p.s);
	answer("recv() at the end", "%s", res(recv(p.c, buf, 1, 0)));
}

static const struct contract_case cases[] = {
	{ "edge-triggered epoll", edges },
	{ "EPOLLONESHOT", oneshot },
	{ "EPOLLEXCLUSIVE and nested epoll", exclusive },
	{ "EPOLLEXCLUSIVE, several wait", herd },
	{ "SO_RCVLOWAT", low_water },
	{ "room to send", write_space },
	{ "when there is room to send", hysteresis },
	{ "TCP_NOTSENT_LOWAT", not_sent },
	{ "SIGIO", async },
	{ "select", selecting },
	{ "SO_BUSY_POLL", busy },
	{ }
};

const struct contract_topic topic_poll = { "Waiting", cases };
