// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: how connections end, and what everybody is told of it.
 */
#include "contract.h"

/* What a socket says of itself, in a line */
static void state_of(const char *who, int fd)
{
	char item[72], b;
	unsigned int mask = poll_settled(fd);
	ssize_t n;

	snprintf(item, sizeof(item), "%s: events", who);
	answer(item, "%s", mask_name(mask));
	n = recv(fd, &b, 1, MSG_DONTWAIT | MSG_PEEK);
	snprintf(item, sizeof(item), "%s: recv()", who);
	answer(item, "%s", res(n));
	snprintf(item, sizeof(item), "%s: send()", who);
	answer(item, "%s", res(send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT)));
}

/* Events of both ends, when neither changes any more */
static const char *settled_events(const struct pair *p)
{
	static char text[80];
	unsigned int c = ~0U, s = ~0U;

	for (int i = 0, same = 0; i < 40 && same < 8; i++) {
		unsigned int c_was = c, s_was = s;

		c = poll_now(p->c);
		s = poll_now(p->s);
		same = c == c_was && s == s_was ? same + 1 : 0;
		settle(10);
	}
	snprintf(text, sizeof(text), "%s / %s", mask_name(c), mask_name(s));
	return text;
}

/* Every order of shutdown() at both ends, two steps */
static void shutdowns(void)
{
	static const char *const name[] = { "RD", "WR", "RDWR" };

	for (int who = 0; who < 2; who++)
		for (int first = SHUT_RD; first <= SHUT_RDWR; first++)
			for (int second = SHUT_RD; second <= SHUT_RDWR; second++) {
				struct pair p = pair();
				char item[72], text[2][100];

				for (int step = 0; step < 2; step++) {
					int fd = step && who ? p.s : p.c;
					int rc = shutdown(fd, step ? second : first);

					snprintf(text[step], sizeof(text[0]), "%s: %s", res(rc),
						 settled_events(&p));
				}
				snprintf(item, sizeof(item), "%s here, then %s %s", name[first],
					 name[second], who ? "there" : "here");
				answer(item, "%s; %s", text[0], text[1]);
				close(p.c);
				close(p.s);
			}
}

static void after_shutdown(void)
{
	struct pair p = pair();
	char b[8];

	shutdown(p.c, SHUT_RD);
	answer("SHUT_RD: recv()", "%s", res(recv(p.c, b, 8, 0)));
	answer("SHUT_RD: the peer's send()", "%s", res(send(p.s, "abc", 3, MSG_NOSIGNAL)));
	settle(50);
	answer("... recv() of it", "%s", res(recv(p.c, b, 8, 0)));
	answer("... and again", "%s", res(recv(p.c, b, 8, 0)));
	answer("... our send()", "%s", res(send(p.c, "abc", 3, MSG_NOSIGNAL)));
	p = pair();
	shutdown(p.c, SHUT_WR);
	answer("SHUT_WR twice", "%s", res(shutdown(p.c, SHUT_WR)));
	answer("... send()", "%s", res(send(p.c, "abc", 3, MSG_NOSIGNAL)));
	answer("... the peer's send()", "%s", res(send(p.s, "abc", 3, MSG_NOSIGNAL)));
	answer("... our recv()", "%s", res(recv(p.c, b, 8, 0)));
	close(p.s);
	answer("... at the end", "%s", res(recv(p.c, b, 8, 0)));
	settle(50);
	answer("... shutdown() when all is over", "%s", res(shutdown(p.c, SHUT_RDWR)));
	answer("... SO_ERROR", "%s", res(get_int(p.c, SOL_SOCKET, SO_ERROR)));
}

static void peer_closes(void)
{
	struct pair p = pair();

	close(p.s);
	state_of("closed", p.c);
	state_of("after that send()", p.c);
	p = pair();
	send(p.s, "abc", 3, 0);
	close(p.s);
	state_of("data, then closed", p.c);
	p = pair();
	send(p.c, "abc", 3, 0);
	settle(50);
	close(p.s);
	state_of("closed without reading", p.c);
	answer("... SO_ERROR", "%s", res(get_int(p.c, SOL_SOCKET, SO_ERROR)));
	state_of("after that", p.c);
	p = pair();
	set_linger(p.s, 1, 0);
	close(p.s);
	state_of("reset", p.c);
	answer("reset: recv() again", "%s", res(recv(p.c, &(char){ 0 }, 1, 0)));
	p = pair();
	set_linger(p.s, 1, 0);
	close(p.s);
	settle(50);
	answer("reset: SO_ERROR", "%s", errno_name(get_int(p.c, SOL_SOCKET, SO_ERROR)));
	answer("... and again", "%s", res(get_int(p.c, SOL_SOCKET, SO_ERROR)));
	answer("... events", "%s", mask_name(poll_settled(p.c)));
	answer("... recv()", "%s", res(recv(p.c, &(char){ 0 }, 1, 0)));
	p = pair();
	shutdown(p.c, SHUT_WR);
	settle(50);
	set_linger(p.s, 1, 0);
	close(p.s);
	state_of("reset after our shutdown()", p.c);
	p = pair();
	send(p.s, "abc", 3, 0);
	settle(50);
	set_linger(p.s, 1, 0);
	close(p.s);
	settle(50);
	answer("data, then reset: events", "%s", mask_name(poll_settled(p.c)));
	answer("data, then reset: recv()", "%s", res(recv(p.c, &(int){ 0 }, 4, 0)));
	answer("data, then reset: recv() again", "%s", res(recv(p.c, &(int){ 0 }, 4, 0)));
	p = pair();
	shutdown(p.s, SHUT_WR);
	settle(50);
	set_linger(p.s, 1, 0);
	close(p.s);
	state_of("end, then reset", p.c);
}

struct waiter {
	int fd;
	char what;
	const char *said;
};

static void *wait_in(void *arg)
{
	static char buf[8 << 20];
	struct waiter *w = arg;
	struct addr a;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	switch (w->what) {
	case 'r':
		w->said = res(recv(w->fd, buf, 1, 0));
		break;
	case 'w':
		while (send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
			;
		w->said = errno_name(errno);
		break;
	case 'W':
		w->said = res(recv(w->fd, buf, 100, MSG_WAITALL));
		break;
	case 'p':
		poll(&p, 1, 5000 * run.slow);
		w->said = mask_name(p.revents);
		break;
	case 'a':
		a.len = sizeof(a.ss);
		w->said = res(accept(w->fd, &a.sa, &a.len));
		break;
	}
	return NULL;
}

/* Somebody waits in a call when another thread ends the connection */
static void woken(void)
{
	static const struct { char what; const char *in; } calls[] = {
		{ 'r', "recv()" }, { 'W', "recv(MSG_WAITALL)" }, { 'w', "send()" }, { 'p', "poll()" },
	};
	static const char *const ways[] = {
		"shutdown(SHUT_RD) here", "shutdown(SHUT_WR) here", "shutdown(SHUT_RDWR) here",
		"connect(AF_UNSPEC) here", "close() there", "reset there", "shutdown(SHUT_WR) there",
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		for (size_t way = 0; way < ARRAY_SIZE(ways); way++) {
			struct pair p = pair();
			struct waiter w = { p.c, calls[i].what, NULL };
			char item[72];
			pthread_t t;
			bool slept;

			/* These end nothing the call waits for */
			if ((w.what == 'w' && (way == 0 || way == 6)) ||
			    (strchr("rWp", w.what) && way == 1))
				continue;
			pthread_create(&t, NULL, wait_in, &w);
			settle(80);
			slept = !w.said;
			if (way < 3)
				shutdown(p.c, way);
			if (way == 3)
				connect(p.c, &(struct sockaddr){ .sa_family = AF_UNSPEC },
					sizeof(struct sockaddr));
			if (way == 5)
				set_linger(p.s, 1, 0);
			if (way == 4 || way == 5)
				close(p.s);
			if (way == 6)
				shutdown(p.s, SHUT_WR);
			for (int k = 0; k < 200 && !w.said; k++)
				settle(10);
			snprintf(item, sizeof(item), "in %s: %s", calls[i].in, ways[way]);
			answer(item, "%s%s", slept ? "" : "did not sleep: ", w.said ?: "still waits");
			if (w.said)
				pthread_join(t, NULL);
			close(p.c);
		}
}

static void lingering(void)
{
	struct pair p = pair();
	uint64_t start;

	set_linger(p.c, 1, 2);
	start = now_ns();
	close(p.c);
	answer("nothing to send: close() at once", "%d", seconds_since(start) < 1);
	p = pair();
	fill(p.c);
	set_linger(p.c, 1, 1);
	start = now_ns();
	close(p.c);
	answer("nobody reads: close() waits", "%d", seconds_since(start) > 0.9);
	drain(p.s);
	answer("... then the peer gets", "%s", res(recv(p.s, &(char){ 0 }, 1, 0)));
	p = pair();
	fill(p.c);
	set_linger(p.c, 1, 1);
	nonblock(p.c);
	start = now_ns();
	close(p.c);
	answer("non-blocking, nobody reads: close() waits", "%d", seconds_since(start) > 0.9);
	p = pair();
	fill(p.c);
	start = now_ns();
	close(p.c);
	answer("no SO_LINGER: close() at once", "%d", seconds_since(start) < 0.5 * run.slow);
	drain(p.s);
	answer("... and all arrives, to the end", "%s", res(recv(p.s, &(char){ 0 }, 1, MSG_DONTWAIT)));
}

static void crossing(void)
{
	struct pair p = pair();
	char b[8];

	shutdown(p.c, SHUT_WR);
	shutdown(p.s, SHUT_WR);
	state_of("both shut for writing", p.c);
	answer("... recv()", "%s", res(recv(p.s, b, 8, 0)));
	p = pair();
	send(p.c, "abc", 3, 0);
	send(p.s, "def", 3, 0);
	shutdown(p.c, SHUT_WR);
	shutdown(p.s, SHUT_WR);
	answer("data crossing with the ends, here", "%s", res(recv(p.c, b, 3, MSG_WAITALL)));
	answer("... there", "%s", res(recv(p.s, b, 3, MSG_WAITALL)));
	answer("... the end, here", "%s", res(recv(p.c, b, 3, 0)));
	answer("... there", "%s", res(recv(p.s, b, 3, 0)));
}

static void killed(void)
{
	struct pair p = pair();
	pid_t pid = fork();
	char b[8];

	if (!pid) {
		close(p.c);
		pause();
	}
	close(p.s);
	settle(50);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	state_of("the peer was killed", p.c);
	p = pair();
	pid = fork();
	if (!pid) {
		close(p.c);
		recv(p.s, b, 1, MSG_PEEK);
		pause();
	}
	close(p.s);
	send(p.c, "abc", 3, 0);
	settle(100);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	state_of("... with data unread", p.c);
}

static void port_reuse(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 4), c = connected(&a), s = accept(l, NULL, NULL), two = sock(0);

	close(l);
	answer("bind() to the port of an accepted connection", "%s", res(bind(two, &a.sa, a.len)));
	set_int(two, SOL_SOCKET, SO_REUSEADDR, 1);
	answer("... with SO_REUSEADDR", "%s", res(bind(two, &a.sa, a.len)));
	close(two);
	close(c);
	close(s);
	settle(100);
	a = own_addr();
	l = listener(&a, 4);
	set_int(l, SOL_SOCKET, SO_REUSEADDR, 1);
	c = connected(&a);
	s = accept(l, NULL, NULL);
	close(l);
	two = sock(0);
	set_int(two, SOL_SOCKET, SO_REUSEADDR, 1);
	answer("... that had SO_REUSEADDR, too", "%s", res(bind(two, &a.sa, a.len)));
	answer("... listen()", "%s", res(listen(two, 1)));
}

/* The peer is there, and takes nothing */
static void user_timeout(void)
{
	struct pair p = pair();
	struct pollfd pfd = { .fd = p.c };
	uint64_t start;

	set_int(p.c, SOL_TCP, TCP_USER_TIMEOUT, 1000 * run.slow);
	fill(p.c);
	start = now_ns();
	answer("the peer doesn't read: poll()", "%s",
	       res(poll(&pfd, 1, 8000 * run.slow)));
	answer("... not before its time", "%d", seconds_since(start) > 0.3 * run.slow);
	answer("... events", "%s", mask_name(poll_settled(p.c)));
	answer("... send()", "%s", res(send(p.c, "x", 1, MSG_NOSIGNAL)));
	p = pair();
	set_int(p.c, SOL_TCP, TCP_USER_TIMEOUT, 500 * run.slow);
	settle(1000);
	answer("nothing sent for longer: events", "%s", mask_name(poll_settled(p.c)));
}

static void keepalive(void)
{
	struct pair p = pair();

	set_int(p.c, SOL_TCP, TCP_KEEPIDLE, 1);
	set_int(p.c, SOL_TCP, TCP_KEEPINTVL, 1);
	set_int(p.c, SOL_TCP, TCP_KEEPCNT, 1);
	set_int(p.c, SOL_SOCKET, SO_KEEPALIVE, 1);
	usleep(3500000);
	answer("idle for longer, the peer lives: events", "%s", mask_name(poll_settled(p.c)));
	answer("send()", "%s", res(send(p.c, "x", 1, MSG_NOSIGNAL)));
	answer("recv()", "%s", res(recv(p.s, &(char){ 0 }, 1, 0)));
}

static const struct contract_case cases[] = {
	{ "shutdown, events here / there", shutdowns },
	{ "after shutdown", after_shutdown },
	{ "the peer ends", peer_closes },
	{ "woken by the end", woken },
	{ "SO_LINGER", lingering },
	{ "ends that cross", crossing },
	{ "the peer is killed", killed },
	{ "ports of connections", port_reuse },
	{ "TCP_USER_TIMEOUT", user_timeout },
	{ "SO_KEEPALIVE", keepalive },
	{ }
};

const struct contract_topic topic_ending = { "Ending", cases };
