// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_fall ADDRESS SECONDS: sockets whose policy is both connect to a TCP listener again and
 * again, while other threads do all that can be done to a descriptor. Whatever these are told,
 * it must be an answer, and a socket left alone must work.
 */
#include "sdp_test.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <fcntl.h>

#define THREADS	6

static atomic_int shared = -1;		/* the socket of this round */
static atomic_bool over;
static atomic_bool quiet;		/* nothing that ends a connection */
static atomic_ulong calls;
static pthread_rwlock_t meddling = PTHREAD_RWLOCK_INITIALIZER;
static struct addr target;

/* One of the things a program may do, by number; those from BENIGN on end connections */
enum { BENIGN = 14, DEEDS = 19 };

static void deed(int fd, int what, uint64_t *state)
{
	struct addr a = { .len = sizeof(a.ss) };
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
	int val = rnd(state) % 4;
	socklen_t len = sizeof(val);
	char buf[64] = "";

	switch (what) {
	case 0:
		setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &val, sizeof(val));
		break;
	case 1:
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &val, sizeof(val));
		break;
	case 2:
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &val, sizeof(val));
		break;
	case 3:
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){ 60 + val }, sizeof(val));
		break;
	case 4:
		getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &val, &len);
		break;
	case 5:
		getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, buf, &(socklen_t){ sizeof(buf) });
		break;
	case 6:
		getsockopt(fd, SOL_SDP, SDP_POLICY, &val, &len);
		break;
	case 7:
		poll(&p, 1, val);
		break;
	case 8:
		getsockname(fd, &a.sa, &a.len);
		break;
	case 9:
		getpeername(fd, &a.sa, &a.len);
		break;
	case 10:
		ioctl(fd, FIONREAD, &val);
		break;
	case 11:
		bind(fd, &target.sa, target.len);
		break;
	case 12:
		setsockopt(fd, SOL_SDP, SDP_POLICY, &(int){ SDP_POLICY_BOTH }, sizeof(val));
		break;
	case 13:
		connect(fd, &target.sa, target.len);
		break;
	case 14:
		recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		break;
	case 15:
		send(fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 16:
		shutdown(fd, val % 3);
		break;
	case 17:
		listen(fd, val);
		break;
	case 18:
		connect(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, sizeof(struct sockaddr));
		break;
	}
}

static void *meddler(void *arg)
{
	uint64_t state = (uintptr_t)arg * 7919;

	while (!over) {
		int fd;

		pthread_rwlock_rdlock(&meddling);
		fd = shared;
		if (fd >= 0)
			deed(fd, rnd(&state) % (quiet ? BENIGN : DEEDS), &state);
		pthread_rwlock_unlock(&meddling);
		if (fd < 0)
			usleep(100);
		calls++;
	}
	return NULL;
}

static void *acceptor(void *arg)
{
	int lfd = *(int *)arg, fd;
	char byte;

	while (!over) {
		fd = accept(lfd, NULL, NULL);
		if (fd < 0)
			continue;
		if (recv(fd, &byte, 1, 0) == 1)
			send(fd, &byte, 1, MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

static void flush_cache(void)
{
	int fd = open("/proc/sys/net/sdp/cache_flush", O_WRONLY);

	if (fd < 0 || write(fd, "1", 1) != 1)
		err(EXIT_FAILURE, "cache_flush");
	close(fd);
}

/* A connection among meddlers that don't end it: it comes up, and a byte comes back */
static void must_work(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	char byte = 'x';

	if (connect(fd, &target.sa, target.len) && errno != EISCONN && errno != EINPROGRESS &&
	    errno != EALREADY)
		err(EXIT_FAILURE, "connect");
	if (poll(&p, 1, 30000) != 1 || p.revents != POLLOUT)
		errx(EXIT_FAILURE, "not writable in 30 s, or %x", p.revents);
	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
		err(EXIT_FAILURE, "send");
	if (recv(fd, &byte, 1, MSG_WAITALL) != 1)
		err(EXIT_FAILURE, "recv");
}

static void round_of(uint64_t *state)
{
	int fd = xsocket(FAM_IPPROTO, target.sa.sa_family, rnd(state) % 2 ? SOCK_NONBLOCK : 0), val;

	if (rnd(state) % 2)
		flush_cache();
	quiet = rnd(state) % 2;
	val = SDP_POLICY_BOTH;
	if (setsockopt(fd, SOL_SDP, SDP_POLICY, &val, sizeof(val)))
		err(EXIT_FAILURE, "SDP_POLICY");
	shared = fd;
	if (quiet && !(fcntl(fd, F_GETFL) & O_NONBLOCK)) {
		must_work(fd);
	} else {
		connect(fd, &target.sa, target.len);
		usleep(rnd(state) % 20000);
	}
	if (rnd(state) % 2)
		shared = -1;
	close(fd);
	/* The number may be another socket's in the next round */
	shared = -1;
	pthread_rwlock_wrlock(&meddling);
	pthread_rwlock_unlock(&meddling);
}

int main(int argc, char **argv)
{
	struct timeval tv = { .tv_sec = 1 };
	pthread_t threads[THREADS + 1];
	uint64_t begin = now_ns(), state = 1;
	unsigned long rounds = 0;
	unsigned int seconds;
	int lfd;

	if (argc != 3)
		errx(EXIT_USAGE, "usage: sdp_fall ADDRESS SECONDS");
	seconds = parse_size("seconds", argv[2], 1, 3600);
	target = addr_parse(argv[1], 0);
	signal(SIGPIPE, SIG_IGN);
	lfd = xlisten(FAM_TCP, &target, 1000, 0, 0);
	setsockopt(lfd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, meddler, (void *)(i + 1));
	pthread_create(&threads[THREADS], NULL, acceptor, &lfd);
	while (seconds_since(begin) < seconds) {
		round_of(&state);
		rounds++;
	}
	over = true;
	for (int i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu sockets, %lu calls of others\n", rounds, calls);
	return EXIT_SUCCESS;
}
