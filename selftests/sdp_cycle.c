// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections: one after the other (-n), by several threads, with the end of each brought
 * about in a different way; or many open at once (-o), with an exchange on each.
 *
 * On a connection the client sends a struct hello, then hello.rounds times hello.bytes bytes
 * that the server sends back, then one byte DONE. Then the connection is ended as hello.ending
 * says, and each side checks that it sees what that ending looks like from its side. A
 * connection with hello.ending QUIT ends the server.
 */
#include "sdp_ends.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#define HELLO_MAGIC	0x5344504359434c21ull	/* "SDPCYCL!" */
#define DONE		'D'

enum ending {
	CLIENT_FIRST,		/* client closes, server reads the end of stream and closes */
	SERVER_FIRST,		/* the other way round */
	BOTH,			/* each closes without looking */
	CLIENT_RESET,		/* client closes with SO_LINGER 0, server gets ECONNRESET */
	SERVER_RESET,
	ENDINGS,
	QUIT = ENDINGS,
};

static const char *const ending_names[] = {
	"client", "server", "both", "client-reset", "server-reset",
};

struct hello {
	uint64_t magic, seed;
	uint32_t ending, rounds, bytes;
	uint32_t patient;	/* the client may pause between rounds for any time */
};

static struct {
	bool json, idle;
	unsigned int cycles, threads, open;
	uint32_t bytes;
	int ending;		/* or -1 for all in turn */
	int timeout;		/* seconds for each call */
	uint64_t seed;
} opt = {
	.cycles = 1000, .threads = 1, .bytes = 10000, .ending = -1,
	.timeout = 30, .seed = 1,
};

static const char *side = "";

/* One connection, the same on both sides. */
struct conn {
	int fd;
	unsigned int number;
	struct hello h;
	struct stream st;
	unsigned char *buf;
};

static void fail(const struct conn *c, const char *what)
{
	char name[32] = "before its first message";

	if (c->h.ending < ENDINGS)
		snprintf(name, sizeof(name), "ending %s", ending_names[c->h.ending]);
	fprintf(stderr, "sdp_cycle%s: connection %u (%s, %u bytes): %s: %s\n", side, c->number,
		name, c->h.bytes, what, errno == EAGAIN ? "timed out" :
		errno == ENODATA ? "end of stream" : strerror(errno));
	exit(EXIT_FAILURE);
}

/* No call on a socket may last longer than the time-out. */
static void set_timeouts(int fd, int seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)))
		err(EXIT_FAILURE, "setsockopt(SO_RCVTIMEO, SO_SNDTIMEO)");
}

static void conn_alloc(struct conn *c)
{
	stream_init(&c->st, c->h.seed);
	c->buf = malloc(c->h.bytes + 1);
	if (!c->buf)
		err(EXIT_FAILURE, "buffer of %u bytes", c->h.bytes);
}

/* ---- the end of a connection ---- */

static void expect_eof(const struct conn *c)
{
	char b;
	ssize_t n = recv(c->fd, &b, 1, 0);

	if (n > 0)
		errno = EPROTO;
	if (n)
		fail(c, "waiting for the end of stream");
}

static void expect_reset(const struct conn *c)
{
	char b;
	ssize_t n = recv(c->fd, &b, 1, 0);

	if (n >= 0) {
		errno = n ? EPROTO : ENODATA;
		fail(c, "waiting for ECONNRESET");
	}
	if (errno != ECONNRESET)
		fail(c, "waiting for ECONNRESET");
}

static void end_conn(struct conn *c, bool server)
{
	struct linger l = { .l_onoff = 1, .l_linger = 0 };

	switch (c->h.ending) {
	case CLIENT_FIRST:
		if (server)
			expect_eof(c);
		break;
	case SERVER_FIRST:
		if (!server)
			expect_eof(c);
		break;
	case CLIENT_RESET:
	case SERVER_RESET:
		if (server == (c->h.ending == SERVER_RESET)) {
			if (setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)))
				fail(c, "setsockopt(SO_LINGER)");
		} else {
			expect_reset(c);
		}
	}
	if (close(c->fd))
		fail(c, "close");
	free(c->buf);
}

/* ---- server: a thread for each connection ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static unsigned int serving;

static void serve(struct conn *c)
{
	char done;

	conn_alloc(c);
	for (uint32_t i = 0; i < c->h.rounds; i++) {
		if (recv_all(c->fd, c->buf, c->h.bytes))
			fail(c, "receiving");
		if (send_all(c->fd, c->buf, c->h.bytes))
			fail(c, "sending");
	}
	if (recv_all(c->fd, &done, 1))
		fail(c, "waiting for the last byte");
	end_conn(c, true);
}

static void *serve_thread(void *arg)
{
	serve(arg);
	free(arg);
	pthread_mutex_lock(&lock);
	if (!--serving)
		pthread_cond_signal(&idle);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void start_thread(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	errno = pthread_create(t, attr, fn, arg);
	if (errno)
		err(EXIT_FAILURE, "pthread_create");
}

static void run_server(int lfd)
{
	unsigned int number = 0;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		struct conn *c = calloc(1, sizeof(*c));
		pthread_t t;

		if (!c)
			err(EXIT_FAILURE, "calloc");
		c->fd = xaccept(lfd);
		c->number = number++;
		c->h.ending = ENDINGS;
		set_timeouts(c->fd, opt.timeout);
		if (recv_all(c->fd, &c->h, sizeof(c->h)))
			fail(c, "receiving the first message");
		if (c->h.magic != HELLO_MAGIC)
			errx(EXIT_FAILURE, "the peer is no sdp_cycle");
		if (c->h.ending == QUIT) {
			close(c->fd);
			free(c);
			break;
		}
		if (c->h.patient)
			set_timeouts(c->fd, 0);
		pthread_mutex_lock(&lock);
		serving++;
		pthread_mutex_unlock(&lock);
		start_thread(&t, &attr, serve_thread, c);
	}
	pthread_mutex_lock(&lock);
	while (serving)
		pthread_cond_wait(&idle, &lock);
	pthread_mutex_unlock(&lock);
	close(lfd);
}

/* ---- client ---- */

static struct addr server_addr;

static void client_connect(struct conn *c, unsigned int number, enum ending ending,
			   uint32_t bytes, uint32_t rounds)
{
	*c = (struct conn){ .number = number };
	c->h = (struct hello){
		.magic = HELLO_MAGIC, .seed = opt.seed + number, .ending = ending,
		.rounds = rounds, .bytes = bytes, .patient = opt.idle,
	};
	c->fd = fam_socket(ends.fam, server_addr.sa.sa_family, 0);
	if (c->fd < 0)
		fail(c, "socket");
	set_timeouts(c->fd, opt.timeout);
	if (connect(c->fd, &server_addr.sa, server_addr.len))
		fail(c, "connect");
	if (send_all(c->fd, &c->h, sizeof(c->h)))
		fail(c, "sending the first message");
	conn_alloc(c);
}

static void client_round(struct conn *c)
{
	struct stream back = c->st;
	int64_t bad;

	stream_fill(&c->st, c->buf, c->h.bytes);
	if (send_all(c->fd, c->buf, c->h.bytes))
		fail(c, "sending");
	memset(c->buf, 0, c->h.bytes);
	if (recv_all(c->fd, c->buf, c->h.bytes))
		fail(c, "receiving");
	bad = stream_check(&back, c->buf, c->h.bytes);
	if (bad >= 0) {
		fprintf(stderr, "sdp_cycle: connection %u: data differs at offset %lld\n",
			c->number, (long long)bad);
		exit(EXIT_FAILURE);
	}
}

static void client_end(struct conn *c)
{
	if (send_all(c->fd, &(char){ DONE }, 1))
		fail(c, "sending the last byte");
	end_conn(c, false);
}

static void client_quit(void)
{
	struct conn c;

	client_connect(&c, 0, QUIT, 0, 0);
	expect_eof(&c);
	close(c.fd);
	free(c.buf);
}

/* Cycles are numbered over all threads; the number decides the size and the ending. */
static void *cycle_thread(void *arg)
{
	unsigned int *next = arg, i;

	while ((i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < opt.cycles) {
		struct conn c;
		enum ending ending = opt.ending >= 0 ? opt.ending : (int)(i % ENDINGS);

		client_connect(&c, i, ending, mix64(opt.seed + i) % (opt.bytes + 1ull), 1);
		client_round(&c);
		client_end(&c);
	}
	return NULL;
}

static void run_cycles(void)
{
	pthread_t *threads = calloc(opt.threads, sizeof(*threads));
	uint64_t start = now_ns();
	unsigned int next = 0;
	double secs;

	if (!threads)
		err(EXIT_FAILURE, "calloc");
	for (unsigned int i = 0; i < opt.threads; i++)
		start_thread(&threads[i], NULL, cycle_thread, &next);
	for (unsigned int i = 0; i < opt.threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	secs = seconds_since(start);
	if (opt.json)
		printf("{\"family\":\"%s\",\"cycles\":%u,\"threads\":%u,\"seconds\":%.3f,"
		       "\"cycles_per_s\":%.1f,\"ok\":true}\n",
		       fam_names[ends.fam], opt.cycles, opt.threads, secs, opt.cycles / secs);
	else
		printf("sdp_cycle: %s, %u cycles, %u threads, %.3f s, %.1f cycles/s: ok\n",
		       fam_names[ends.fam], opt.cycles, opt.threads, secs, opt.cycles / secs);
}

static void wait_for_stdin_end(void)
{
	char buf[256];

	printf("sdp_cycle: %u connections open\n", opt.open);
	fflush(stdout);
	while (read(STDIN_FILENO, buf, sizeof(buf)) > 0)
		;
}

static void run_open(void)
{
	struct conn *conns = calloc(opt.open, sizeof(*conns));
	uint64_t start = now_ns();
	double open_secs, secs;

	if (!conns)
		err(EXIT_FAILURE, "calloc");
	for (unsigned int i = 0; i < opt.open; i++)
		client_connect(&conns[i], i, opt.ending >= 0 ? opt.ending : (int)(i % ENDINGS),
			       mix64(opt.seed + i) % (opt.bytes + 1ull), 2);
	open_secs = seconds_since(start);
	for (unsigned int i = 0; i < opt.open; i++)
		client_round(&conns[i]);
	if (opt.idle)
		wait_for_stdin_end();
	for (unsigned int i = 0; i < opt.open; i++)
		client_round(&conns[i]);
	for (unsigned int i = 0; i < opt.open; i++)
		client_end(&conns[i]);
	free(conns);
	secs = seconds_since(start);
	if (opt.json)
		printf("{\"family\":\"%s\",\"open\":%u,\"open_seconds\":%.3f,\"seconds\":%.3f,"
		       "\"ok\":true}\n", fam_names[ends.fam], opt.open, open_secs, secs);
	else
		printf("sdp_cycle: %s, %u connections at once, opened in %.3f s, "
		       "%.3f s in all: ok\n",
		       fam_names[ends.fam], opt.open, open_secs, secs);
}

static void run_client(void)
{
	if (opt.open)
		run_open();
	else
		run_cycles();
	client_quit();
}

static void run_forked_server(int lfd)
{
	side = " server";
	run_server(lfd);
}

static const char usage_text[] =
"usage: sdp_cycle [options] ADDRESS          client\n"
"       sdp_cycle [options] -s [ADDRESS]     server, until a client has finished\n"
"       sdp_cycle [options] --self [ADDRESS] both, in two processes\n"
"Opens and ends many connections, with an exchange on each.\n"
"  -f, --family FAM    " FAM_HELP " (default sdp)\n"
"  -s, --server        serve one client\n"
"      --self          run server and client (default address 127.0.0.1)\n"
"  -p, --port N        port (default 7472; --self: any)\n"
"  -n, --cycles N      connections one after the other (default 1000)\n"
"  -j, --threads N     ... by N threads (default 1)\n"
"  -o, --open N        instead: N connections open at once, two exchanges on each\n"
"      --idle          with -o: tell when all are open, then hold them until stdin ends\n"
"  -b, --bytes N       an exchange has up to N bytes (default 10000)\n"
"  -e, --ending HOW    client, server, both, client-reset or server-reset: who closes first\n"
"                      (default: each in turn)\n"
"  -w, --timeout N     fail when a call on a socket lasts N seconds (default 30)\n"
"      --seed N        seed of data and sizes (default 1)\n"
"      --json          print the result as JSON\n"
"Exit status: 0 all as expected, 1 failed, 2 wrong usage.\n";

enum { OPT_IDLE = OPT_OWN, OPT_SEED, OPT_JSON };

static const struct option options[] = {
	ENDS_LONG,
	{ "cycles", required_argument, NULL, 'n' },
	{ "threads", required_argument, NULL, 'j' },
	{ "open", required_argument, NULL, 'o' },
	{ "idle", no_argument, NULL, OPT_IDLE },
	{ "bytes", required_argument, NULL, 'b' },
	{ "ending", required_argument, NULL, 'e' },
	{ "timeout", required_argument, NULL, 'w' },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "json", no_argument, NULL, OPT_JSON },
	{ }
};

static int parse_ending(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending_names); i++)
		if (!strcmp(name, ending_names[i]))
			return i;
	errx(EXIT_USAGE, "unknown ending '%s': see --help", name);
}

int main(int argc, char **argv)
{
	int o;

	while ((o = getopt_long(argc, argv, ENDS_SHORT "n:j:o:b:e:w:", options, NULL)) != -1) {
		switch (o) {
		case 'n':
			opt.cycles = parse_size("cycles", optarg, 1, INT32_MAX);
			break;
		case 'j':
			opt.threads = parse_size("threads", optarg, 1, 1000);
			break;
		case 'o':
			opt.open = parse_size("open", optarg, 1, 1000000);
			break;
		case OPT_IDLE:
			opt.idle = true;
			break;
		case 'b':
			opt.bytes = parse_size("bytes", optarg, 0, 64 << 20);
			break;
		case 'e':
			opt.ending = parse_ending(optarg);
			break;
		case 'w':
			opt.timeout = parse_size("timeout", optarg, 1, 86400);
			break;
		case OPT_SEED:
			opt.seed = parse_size("seed", optarg, 0, UINT64_MAX);
			break;
		case OPT_JSON:
			opt.json = true;
			break;
		default:
			ends_option(o, usage_text);
		}
	}
	server_addr = ends_address(argc, argv, 7472, usage_text);
	raise_fd_limit();
	signal(SIGPIPE, SIG_IGN);
	if (ends.self)
		return ends_both(xlisten(ends.fam, &server_addr, 1024, 0, 0), run_forked_server,
				 run_client);
	if (ends.server) {
		side = " server";
		run_server(xlisten(ends.fam, &server_addr, 1024, 0, 0));
	} else {
		run_client();
	}
	return EXIT_SUCCESS;
}
