// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: several threads at one socket.
 */
#include "contract.h"

#define MB	(1 << 20)

struct job {
	int fd;
	size_t bytes;
	unsigned char mark;
	size_t counts[256];
};

static void *writer(void *arg)
{
	struct job *j = arg;
	unsigned char b[4096];
	size_t left = j->bytes;

	memset(b, j->mark, sizeof(b));
	while (left) {
		size_t now = left < sizeof(b) ? left : 1 + left % sizeof(b);
		ssize_t n = send(j->fd, b, now, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		left -= n;
	}
	return NULL;
}

static void *reader(void *arg)
{
	struct job *j = arg;
	unsigned char b[5000];
	ssize_t n;

	while ((n = recv(j->fd, b, sizeof(b), 0)) > 0)
		for (ssize_t i = 0; i < n; i++)
			j->counts[b[i]]++;
	return NULL;
}

static void conserved(void)
{
	struct pair p = pair();
	static struct job w[2], r[2];
	pthread_t t[4];

	for (int i = 0; i < 2; i++) {
		w[i] = (struct job){ .fd = p.c, .bytes = MB + i, .mark = 'a' + i };
		r[i] = (struct job){ .fd = p.s };
		pthread_create(&t[i], NULL, writer, &w[i]);
		pthread_create(&t[2 + i], NULL, reader, &r[i]);
	}
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	shutdown(p.c, SHUT_WR);
	pthread_join(t[2], NULL);
	pthread_join(t[3], NULL);
	answer("two writers, two readers: bytes of each", "%zu %zu",
	       r[0].counts['a'] + r[1].counts['a'], r[0].counts['b'] + r[1].counts['b']);
}

static volatile bool stop;
static int shared;

static void *anything(void *arg)
{
	uint64_t state = (long)arg;
	static char buf[100000];
	struct pollfd p = { .events = POLLIN | POLLOUT };

	while (!stop) {
		switch (rnd_range(&state, 0, 9)) {
		case 0: case 1: case 2:
			send(shared, buf, rnd_range(&state, 1, sizeof(buf)),
			     MSG_DONTWAIT | MSG_NOSIGNAL);
			break;
		case 3: case 4:
			recv(shared, buf, rnd_range(&state, 1, sizeof(buf)), MSG_DONTWAIT);
			break;
		case 5:
			p.fd = shared;
			poll(&p, 1, 1);
			break;
		case 6:
			setsockopt(shared, SOL_TCP, TCP_NODELAY, &(int){ rnd(&state) % 2 },
				   sizeof(int));
			break;
		case 7:
			setsockopt(shared, SOL_TCP, TCP_CORK, &(int){ rnd(&state) % 2 },
				   sizeof(int));
			break;
		case 8:
			inq(shared, SIOCOUTQ);
			inq(shared, FIONREAD);
			break;
		case 9:
			send(shared, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_OOB);
			break;
		}
	}
	return NULL;
}

static void *echo_peer(void *arg)
{
	static char buf[100000];
	ssize_t n;

	while ((n = recv((long)arg, buf, sizeof(buf), 0)) > 0)
		send((long)arg, buf, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return NULL;
}

static void storm(void)
{
	pthread_t t[8], peer;
	struct pair p = pair();

	shared = p.c;
	pthread_create(&peer, NULL, echo_peer, (void *)(long)p.s);
	for (long i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, anything, (void *)i);
	usleep(1500000);
	shutdown(p.c, SHUT_RDWR);
	settle(200);
	stop = true;
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	close(p.c);
	pthread_join(peer, NULL);
	answer("8 threads, all kinds of calls, then shutdown()", "survived");
	p = pair();
	answer("a new connection works: send()", "%s", res(send(p.c, "abc", 3, 0)));
	answer("... recv()", "%s", res(recv(p.s, &(char[4]){ }, 3, MSG_WAITALL)));
}

/* What ends a connection or makes something else of the socket, by chance */
static void *any_ending(void *arg)
{
	uint64_t state = (long)arg;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct linger l = { };
	static char buf[100000];
	int fd;

	while (!stop) {
		switch (rnd_range(&state, 0, 11)) {
		case 0: case 1: case 2:
			send(shared, buf, rnd_range(&state, 1, sizeof(buf)), MSG_NOSIGNAL);
			break;
		case 3: case 4: case 5:
			recv(shared, buf, rnd_range(&state, 1, sizeof(buf)),
			     rnd(&state) % 2 ? MSG_PEEK : 0);
			break;
		case 6:
			poll(&(struct pollfd){ .fd = shared, .events = POLLIN | POLLRDHUP }, 1, 5);
			break;
		case 7:
			l.l_onoff = rnd(&state) % 2;
			setsockopt(shared, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
			break;
		case 8:
			shutdown(shared, rnd_range(&state, SHUT_RD, SHUT_RDWR));
			break;
		case 9:
			connect(shared, &none, sizeof(none));
			break;
		case 10:
			listen(shared, 1);
			accept4(shared, NULL, NULL, SOCK_NONBLOCK);
			break;
		case 11:
			fd = dup(shared);
			close(fd);
			break;
		}
	}
	return NULL;
}

static void *end_soon(void *arg)
{
	usleep(20000 + (long)arg);
	stop = true;
	shutdown(shared, SHUT_RDWR);
	close(shared);
	return NULL;
}

/* Calls that wait as well, while others end the connection and at last close() the socket */
static void storm_of_endings(void)
{
	pthread_t t[8], peer, ender;
	struct timeval tv = { 0, 20000 };
	struct pair p;

	for (int round = 0; round < 5; round++) {
		p = pair();
		shared = p.c;
		stop = false;
		setsockopt(shared, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
		setsockopt(shared, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
		pthread_create(&peer, NULL, echo_peer, (void *)(long)p.s);
		for (long i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, any_ending, (void *)(i + 8 * round));
		pthread_create(&ender, NULL, end_soon, (void *)(long)(round * 10000));
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
		pthread_join(ender, NULL);
		shutdown(p.s, SHUT_RDWR);
		pthread_join(peer, NULL);
		close(p.s);
	}
	answer("8 threads, all kinds of calls and of endings, then close()", "survived");
	p = pair();
	answer("a new connection works: send()", "%s", res(send(p.c, "abc", 3, 0)));
	answer("... recv()", "%s", res(recv(p.s, &(char[4]){ }, 3, MSG_WAITALL)));
}

/* Closes a descriptor when the other thread is in a call with it */
struct closing {
	pid_t other;
	int fd;
};

struct closed_listener {
	struct closing closing;
	struct addr at;
	bool then_connect;
};

struct closed_sender {
	struct closing closing;
	int peer;
};

static void *closer(void *arg)
{
	const struct closing *c = arg;

	wait_asleep(c->other);
	close(c->fd);
	return NULL;
}

/* close() while another thread is in a call: the call goes on, as it holds the file */
static void closed_under(void)
{
	struct pair p = pair();
	struct closing c = { gettid(), p.c };
	pthread_t t;
	char b[4];

	set_timeo(p.c, SO_RCVTIMEO, 300 * run.slow);
	pthread_create(&t, NULL, closer, &c);
	answer("close() while in recv()", "%s", res(recv(p.c, b, 4, 0)));
	pthread_join(t, NULL);
	answer("recv() after it", "%s", res(recv(p.c, b, 4, 0)));
	answer("the peer's recv()", "%s", res(recv(p.s, b, 4, 0)));
	p = pair();
	c.fd = p.c;
	pthread_create(&t, NULL, closer, &c);
	answer("close() while in poll()", "%s",
	       res(poll(&(struct pollfd){ .fd = p.c, .events = POLLIN }, 1, 300 * run.slow)));
	pthread_join(t, NULL);
}

static void *connects_when_closed(void *arg)
{
	struct closed_listener *l = arg;

	closer(&l->closing);
	if (l->then_connect)
		close(connected(&l->at));
	return NULL;
}

/* ... and so a listener takes connections as long as an accept() waits */
static void closed_under_accept(void)
{
	struct closed_listener l = { .closing.other = gettid(), .at = own_addr() };
	pthread_t t;

	l.closing.fd = listener(&l.at, 4);
	l.then_connect = true;
	pthread_create(&t, NULL, connects_when_closed, &l);
	answer("close() while in accept(), then a connection", "%d",
	       accept(l.closing.fd, NULL, NULL) >= 0);
	pthread_join(t, NULL);
	answer("accept() after it", "%s", res(accept(l.closing.fd, NULL, NULL)));
	answer("another connection", "%s", res(connect(sock(0), &l.at.sa, l.at.len)));
	l.at = own_addr();
	l.closing.fd = listener(&l.at, 4);
	l.then_connect = false;
	set_timeo(l.closing.fd, SO_RCVTIMEO, 300 * run.slow);
	pthread_create(&t, NULL, connects_when_closed, &l);
	answer("close() while in accept(), then nothing", "%s",
	       res(accept(l.closing.fd, NULL, NULL)));
	pthread_join(t, NULL);
	answer("a connection then", "%s", res(connect(sock(0), &l.at.sa, l.at.len)));
}

static void *closes_then_reads(void *arg)
{
	struct closed_sender *s = arg;
	static char buf[64 << 10];
	size_t sum = 0;
	ssize_t n;

	closer(&s->closing);
	while ((n = recv(s->peer, buf, sizeof(buf), 0)) > 0)
		sum += n;
	return (void *)(n < 0 ? 0 : sum);
}

/* ... and what a send() was given arrives, and then the end */
static void closed_under_send(void)
{
	struct pair p = pair();
	struct closed_sender s = { .closing = { gettid(), p.c }, .peer = p.s };
	static char buf[8 << 20];
	pthread_t t;
	void *sum;

	pthread_create(&t, NULL, closes_then_reads, &s);
	answer("close() while in send()", "%s", res(send(p.c, buf, sizeof(buf), MSG_NOSIGNAL)));
	pthread_join(t, &sum);
	answer("what came before the end", "%zu", (size_t)sum);
	answer("send() after it", "%s", res(send(p.c, buf, 1, MSG_NOSIGNAL)));
}

static const struct contract_case cases[] = {
	{ "bytes conserved", conserved },
	{ "calls from 8 threads", storm },
	{ "endings from 8 threads", storm_of_endings },
	{ "close under another thread", closed_under },
	{ "close under accept()", closed_under_accept },
	{ "close under send()", closed_under_send },
	{ }
};

const struct contract_topic topic_threads = { "Threads", cases };
