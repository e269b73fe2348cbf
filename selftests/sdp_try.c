// SPDX-License-Identifier: GPL-2.0
/*
 * Small deeds for suites: connect once and tell what came of it; stream until something ends
 * the connection and tell what that looked like.
 *
 * The first byte on a stream's connection is what the client does: 's' sends, 'r' receives,
 * 'b' both. The server does the other part.
 */
#include "sdp_test.h"
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#define CHUNK	(64 << 10)
#define GOING	(1 << 20)

static enum fam fam = FAM_SDP;
static unsigned int patience = 30;
static unsigned int pace;		/* ms between sends */

/* One end of a connection, with a thread for each direction. */
struct end {
	int fd;
	char part;			/* 's', 'r' or 'b' */
	uint64_t limit;			/* bytes, or 0 */
	uint64_t sent, received;	/* bytes so far */
	char send_fate[32], recv_fate[32];
	bool told;
};

static bool does(const struct end *e, char what)
{
	return e->part == what || e->part == 'b';
}

/* errno's name; a time-out of ours means that the connection is still there */
static void note_fate(char *fate, int error)
{
	const char *name = error == EAGAIN ? "alive" : strerrorname_np(error);

	snprintf(fate, sizeof(((struct end *)0)->send_fate), "%s", name ?: "?");
}

static void tell_going(struct end *e)
{
	bool going = (!does(e, 's') || e->sent >= GOING) && (!does(e, 'r') || e->received >= GOING);

	if (going && !__atomic_test_and_set(&e->told, __ATOMIC_RELAXED))
		puts("going");
}

static void *sender(void *arg)
{
	static const char buf[CHUNK];
	struct end *e = arg;

	strcpy(e->send_fate, "done");
	while (!e->limit || e->sent < e->limit) {
		ssize_t n = send(e->fd, buf, sizeof(buf), MSG_NOSIGNAL);

		if (n < 0) {
			note_fate(e->send_fate, errno);
			break;
		}
		e->sent += n;
		tell_going(e);
		usleep(pace * 1000);
	}
	return NULL;
}

static void *receiver(void *arg)
{
	struct end *e = arg;
	char *buf = malloc(CHUNK);

	if (!buf)
		err(EXIT_FAILURE, "malloc");
	strcpy(e->recv_fate, "done");
	while (!e->limit || e->received < e->limit) {
		ssize_t n = recv(e->fd, buf, CHUNK, 0);

		if (n <= 0) {
			if (n)
				note_fate(e->recv_fate, errno);
			else
				strcpy(e->recv_fate, "eof");
			break;
		}
		e->received += n;
		tell_going(e);
	}
	free(buf);
	return NULL;
}

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	errno = pthread_create(t, NULL, fn, arg);
	if (errno)
		err(EXIT_FAILURE, "pthread_create");
}

/* Who only receives, and has nothing in flight, learns that the peer is gone if it asks */
static void ask_if_alive(int fd)
{
	static const int on = 1, seconds = 5;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
}

static void stream(struct end *e)
{
	struct timeval tv = { .tv_sec = patience };
	pthread_t s, r;

	if (!does(e, 's'))
		ask_if_alive(e->fd);

	setsockopt(e->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(e->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (does(e, 's'))
		start(&s, sender, e);
	if (does(e, 'r'))
		start(&r, receiver, e);
	if (does(e, 's'))
		pthread_join(s, NULL);
	if (does(e, 'r'))
		pthread_join(r, NULL);
	close(e->fd);
	printf("fate%s%s%s%s\n", does(e, 's') ? " send:" : "", e->send_fate,
	       does(e, 'r') ? " recv:" : "", e->recv_fate);
}

static void *serve(void *arg)
{
	struct end *e = arg;

	if (recv(e->fd, &e->part, 1, 0) == 1) {
		e->part = e->part == 's' ? 'r' : e->part == 'r' ? 's' : 'b';
		stream(e);
	} else {
		close(e->fd);
	}
	free(e);
	return NULL;
}

static int server(struct addr *a)
{
	int lfd = xlisten(fam, a, 64, 0, 0);

	puts("ready");
	for (;;) {
		struct end *e = calloc(1, sizeof(*e));
		pthread_t t;

		if (!e)
			err(EXIT_FAILURE, "calloc");
		e->fd = xaccept(lfd);
		start(&t, serve, e);
		pthread_detach(t);
	}
}

static int client(const struct addr *a, char part, uint64_t limit)
{
	struct end e = { .part = part, .limit = limit, .fd = xconnect(fam, a, 0, 0) };

	if (send_all(e.fd, &part, 1))
		err(EXIT_FAILURE, "send");
	stream(&e);
	return limit && (strcmp(e.send_fate, "done") || strcmp(e.recv_fate, "done"));
}

static int try_connect(const struct addr *a)
{
	uint64_t begin = now_ns();
	int fd = xsocket(fam, a->sa.sa_family, 0);
	const char *result = "ok";

	if (connect(fd, &a->sa, a->len))
		result = strerrorname_np(errno) ?: "?";
	printf("%s %d\n", result, (int)(seconds_since(begin) * 1000));
	return EXIT_SUCCESS;
}

static const char usage_text[] =
"usage: sdp_try [options] connect ADDRESS PORT\n"
"       sdp_try [options] server ADDRESS PORT\n"
"       sdp_try [options] client ADDRESS PORT send|recv|both [BYTES]\n"
"connect: prints the name of the errno, or ok, and how many milliseconds it took.\n"
"server: prints \"ready\", takes any number of clients until it is killed.\n"
"client: sends, receives or both, until the connection ends, or BYTES each way.\n"
"Both print \"going\" when a megabyte has moved, and at a connection's end \"fate\" with\n"
"what send and recv met: eof, done, the name of an errno, or alive when nothing happened.\n"
"  -f, --family FAM    " FAM_HELP " (default sdp)\n"
"  -w, --timeout N     seconds until that is said (default 30)\n"
"      --pace N        milliseconds between sends (default 0)\n"
"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

enum { OPT_PACE = 256 };

static const struct option options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "timeout", required_argument, NULL, 'w' },
	{ "pace", required_argument, NULL, OPT_PACE },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static int usage(void)
{
	fputs(usage_text, stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct addr a;
	int o;

	while ((o = getopt_long(argc, argv, "f:w:h", options, NULL)) != -1) {
		switch (o) {
		case 'f':
			fam = fam_parse(optarg);
			break;
		case 'w':
			patience = parse_size("timeout", optarg, 1, 86400);
			break;
		case OPT_PACE:
			pace = parse_size("pace", optarg, 0, 1000);
			break;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_SUCCESS;
		default:
			return usage();
		}
	}
	argc -= optind;
	argv += optind;
	if (argc < 3)
		return usage();
	setlinebuf(stdout);
	signal(SIGPIPE, SIG_IGN);
	a = addr_parse(argv[1], parse_size("port", argv[2], 1, 65535));
	if (!strcmp(argv[0], "connect") && argc == 3)
		return try_connect(&a);
	if (!strcmp(argv[0], "server") && argc == 3)
		return server(&a);
	if (!strcmp(argv[0], "client") && argc >= 4 && argc <= 5 && strchr("srb", argv[3][0]))
		return client(&a, argv[3][0], argc == 5 ? parse_size("bytes", argv[4], 1, 1ull << 40) : 0);
	return usage();
}
