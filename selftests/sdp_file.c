// SPDX-License-Identifier: GPL-2.0
/*
 * A file each way, by all the ways files get through sockets; the idea is that of the kernel's
 * mptcp_connect.c.
 *
 * For each run the client connects and sends a struct hello. Then each side sends a file of
 * random size and contents, at the same time, and shuts down; what arrives goes into a file
 * too, which is compared byte by byte with what it must be. The last run's hello ends the
 * server.
 *
 *	poll		one thread for both ways, non-blocking, calls of random sizes
 *	mmap		the file is mapped and sent in one call; received into a mapped file
 *	sendfile	... by sendfile(), in pieces of random sizes
 *	splice		... by way of a pipe, on both sides
 *	peek		each piece is looked at by MSG_PEEK before it is received
 */
#include "sdp_ends.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/wait.h>

#define HELLO_MAGIC	0x53445046494c4521ull	/* "SDPFILE!" */
#define CHUNK		(256 << 10)

enum mode { MODE_POLL, MODE_MMAP, MODE_SENDFILE, MODE_SPLICE, MODE_PEEK, MODES };

static const char *const mode_names[] = { "poll", "mmap", "sendfile", "splice", "peek" };

static struct {
	int mode;			/* or -1 for all in turn */
	unsigned int runs;
	uint64_t bytes;			/* at most, of a file */
	uint64_t seed;
	int timeout;			/* seconds for a run */
} opt = { .mode = -1, .runs = MODES, .bytes = 4 << 20, .seed = 1, .timeout = 60 };

struct hello {
	uint64_t magic, seed;
	uint64_t up, down;		/* bytes from client to server, and back */
	uint32_t mode, last;
};

/**
 * struct side - one end of a run
 * @fd:		socket
 * @mode:	how
 * @in:		what it sends
 * @in_len:	bytes of that
 * @out:	what it has received
 * @out_len:	bytes of that, so far
 * @want:	... and in the end
 * @rnd_tx:	sizes of calls that send
 * @rnd_rx:	... that receive
 */
struct side {
	int fd;
	enum mode mode;
	int in;
	uint64_t in_len;
	int out;
	uint64_t out_len;
	uint64_t want;
	uint64_t rnd_tx, rnd_rx;
};

static struct addr server_addr;
static const char *who = "";
static const char *doing = "";

static void fail(const struct side *s, const char *what)
{
	fprintf(stderr, "sdp_file%s: %s, sending %llu bytes, %llu of %llu received: %s: %s\n", who,
		mode_names[s->mode], (unsigned long long)s->in_len,
		(unsigned long long)s->out_len, (unsigned long long)s->want, what,
		strerror(errno));
	exit(EXIT_FAILURE);
}

static void on_alarm(int sig)
{
	static const char text[] = ": took too long\n";

	(void)sig;
	if (write(STDERR_FILENO, doing, strlen(doing)) < 0 ||
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_USAGE);
	_exit(EXIT_FAILURE);
}

/* ---- files ---- */

static int new_file(const struct side *s)
{
	int fd = memfd_create("sdp_file", 0);

	if (fd < 0)
		fail(s, "memfd_create");
	return fd;
}

static void *map_file(const struct side *s, int fd, uint64_t len, int prot)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		fail(s, "mmap");
	return p;
}

/* A file with the stream of @seed */
static int make_file(const struct side *s, uint64_t seed, uint64_t len)
{
	int fd = new_file(s);
	struct stream st;
	void *p;

	if (ftruncate(fd, len))
		fail(s, "ftruncate");
	stream_init(&st, seed);
	p = map_file(s, fd, len, PROT_READ | PROT_WRITE);
	stream_fill(&st, p, len);
	munmap(p, len);
	return fd;
}

static void append(struct side *s, const void *buf, size_t len)
{
	if (pwrite(s->out, buf, len, s->out_len) != (ssize_t)len)
		fail(s, "writing what has come");
	s->out_len += len;
}

static void check_file(struct side *s, uint64_t seed)
{
	struct stream st;
	int64_t bad;
	void *p;

	errno = ENODATA;
	if (s->out_len != s->want)
		fail(s, "end of stream");
	p = map_file(s, s->out, s->want, PROT_READ);
	stream_init(&st, seed);
	bad = stream_check(&st, p, s->want);
	munmap(p, s->want);
	errno = EBADMSG;
	if (bad >= 0) {
		fprintf(stderr, "sdp_file%s: wrong from byte %lld on\n", who, (long long)bad);
		fail(s, "what was received");
	}
}

/* ---- sending ---- */

static size_t piece(uint64_t *state)
{
	/* Small ones as often as large ones */
	return rnd_range(state, 1, rnd(state) % 2 ? CHUNK : 2000);
}

static void send_written(struct side *s)
{
	static char buf[CHUNK];

	for (uint64_t off = 0; off < s->in_len;) {
		ssize_t n = pread(s->in, buf, piece(&s->rnd_tx), off);

		if (n <= 0)
			fail(s, "reading the file");
		if (send_all(s->fd, buf, n))
			fail(s, "send");
		off += n;
	}
}

static void send_mapped(struct side *s)
{
	void *p = map_file(s, s->in, s->in_len, PROT_READ);

	if (send_all(s->fd, p, s->in_len))
		fail(s, "send of the mapped file");
	munmap(p, s->in_len);
}

static void send_file(struct side *s)
{
	off_t off = 0;

	while ((uint64_t)off < s->in_len)
		if (sendfile(s->fd, s->in, &off, piece(&s->rnd_tx)) <= 0)
			fail(s, "sendfile");
}

static void send_spliced(struct side *s)
{
	loff_t off = 0;
	int p[2];

	if (pipe(p))
		fail(s, "pipe");
	while ((uint64_t)off < s->in_len) {
		ssize_t n = splice(s->in, &off, p[1], NULL, piece(&s->rnd_tx), SPLICE_F_MORE);

		if (n <= 0)
			fail(s, "splice from the file");
		while (n) {
			ssize_t m = splice(p[0], NULL, s->fd, NULL, n, 0);

			if (m <= 0)
				fail(s, "splice to the socket");
			n -= m;
		}
	}
	close(p[0]);
	close(p[1]);
}

static void *sender(void *arg)
{
	struct side *s = arg;

	switch (s->mode) {
	case MODE_MMAP:
		send_mapped(s);
		break;
	case MODE_SENDFILE:
		send_file(s);
		break;
	case MODE_SPLICE:
		send_spliced(s);
		break;
	default:
		send_written(s);
	}
	if (shutdown(s->fd, SHUT_WR))
		fail(s, "shutdown");
	return NULL;
}

/* ---- receiving ---- */

static void receive_mapped(struct side *s)
{
	unsigned char *p;
	ssize_t n;

	/* One byte more, which must not come */
	if (ftruncate(s->out, s->want + 1))
		fail(s, "ftruncate");
	p = map_file(s, s->out, s->want + 1, PROT_READ | PROT_WRITE);
	n = recv(s->fd, p, s->want + 1, MSG_WAITALL);
	if (n < 0)
		fail(s, "recv to the mapped file");
	s->out_len = n;
	munmap(p, s->want + 1);
}

static void receive_spliced(struct side *s)
{
	int p[2];
	ssize_t n;

	if (pipe(p))
		fail(s, "pipe");
	while ((n = splice(s->fd, NULL, p[1], NULL, piece(&s->rnd_rx), 0)) > 0) {
		while (n) {
			loff_t off = s->out_len;
			ssize_t m = splice(p[0], NULL, s->out, &off, n, 0);

			if (m <= 0)
				fail(s, "splice to the file");
			s->out_len += m;
			n -= m;
		}
	}
	if (n < 0)
		fail(s, "splice from the socket");
	close(p[0]);
	close(p[1]);
}

static void receive_peeked(struct side *s)
{
	static char seen[CHUNK], buf[CHUNK];
	ssize_t n, m;

	for (;;) {
		int flags = rnd(&s->rnd_rx) % 4 ? 0 : MSG_WAITALL;

		n = recv(s->fd, seen, flags ? piece(&s->rnd_rx) % 4096 + 1 : piece(&s->rnd_rx),
			 MSG_PEEK | flags);
		if (n < 0)
			fail(s, "recv(MSG_PEEK)");
		m = recv(s->fd, buf, n ? rnd_range(&s->rnd_rx, 1, n) : 1, MSG_WAITALL);
		if (m < 0)
			fail(s, "recv");
		errno = EBADMSG;
		if (m > n || memcmp(seen, buf, m))
			fail(s, "what MSG_PEEK has shown");
		if (!m)
			return;
		append(s, buf, m);
	}
}

static void receive_plain(struct side *s)
{
	static char buf[CHUNK];
	ssize_t n;

	while ((n = recv(s->fd, buf, piece(&s->rnd_rx), 0)) > 0)
		append(s, buf, n);
	if (n < 0)
		fail(s, "recv");
}

/* ---- both in one thread ---- */

static void poll_both(struct side *s)
{
	static char in[CHUNK], out[CHUNK];
	struct pollfd p = { .fd = s->fd, .events = POLLIN | POLLOUT };
	uint64_t off = 0;
	ssize_t n;

	if (fcntl(s->fd, F_SETFL, O_NONBLOCK))
		fail(s, "O_NONBLOCK");
	while (p.events) {
		if (poll(&p, 1, -1) < 0)
			fail(s, "poll");
		if (p.revents & POLLIN) {
			n = recv(s->fd, in, piece(&s->rnd_rx), 0);
			if (n < 0 && errno != EAGAIN)
				fail(s, "recv");
			if (n > 0)
				append(s, in, n);
			if (!n)
				p.events &= ~POLLIN;
		}
		if (p.revents & POLLOUT) {
			n = pread(s->in, out, piece(&s->rnd_tx), off);
			if (n <= 0)
				fail(s, "reading the file");
			n = send(s->fd, out, n, MSG_NOSIGNAL);
			if (n < 0 && errno != EAGAIN)
				fail(s, "send");
			off += n > 0 ? n : 0;
			if (off == s->in_len) {
				p.events &= ~POLLOUT;
				if (shutdown(s->fd, SHUT_WR))
					fail(s, "shutdown");
			}
		}
		errno = ECONNRESET;
		if (p.revents & POLLERR)
			fail(s, "poll");
	}
}

/* ---- a run ---- */

static void run(int fd, const struct hello *h, bool server)
{
	struct side s = {
		.fd	= fd,
		.mode	= h->mode,
		.in_len	= server ? h->down : h->up,
		.want	= server ? h->up : h->down,
		.rnd_tx	= h->seed + 2 * server,
		.rnd_rx	= h->seed + 2 * server + 1,
	};
	pthread_t t;

	doing = mode_names[s.mode];
	alarm(opt.timeout);
	s.in = make_file(&s, h->seed + server, s.in_len);
	s.out = new_file(&s);
	if (s.mode == MODE_POLL) {
		poll_both(&s);
	} else {
		if (pthread_create(&t, NULL, sender, &s))
			fail(&s, "pthread_create");
		if (s.mode == MODE_MMAP)
			receive_mapped(&s);
		else if (s.mode == MODE_SPLICE)
			receive_spliced(&s);
		else if (s.mode == MODE_PEEK)
			receive_peeked(&s);
		else
			receive_plain(&s);
		pthread_join(t, NULL);
	}
	check_file(&s, h->seed + !server);
	close(s.in);
	close(s.out);
	close(fd);
	alarm(0);
}

static void run_server(int lfd)
{
	struct hello h;
	int fd;

	do {
		fd = xaccept(lfd);
		if (recv_all(fd, &h, sizeof(h)))
			err(EXIT_FAILURE, "recv of the hello");
		if (h.magic != HELLO_MAGIC || h.mode >= MODES)
			errx(EXIT_FAILURE, "the client is no sdp_file");
		run(fd, &h, true);
	} while (!h.last);
}

static void run_client(void)
{
	uint64_t state = opt.seed, sum = 0, start = now_ns();

	for (unsigned int i = 0; i < opt.runs; i++) {
		struct hello h = {
			.magic	= HELLO_MAGIC,
			.seed	= mix64(opt.seed + 1000 * i),
			.up	= rnd_range(&state, 1, opt.bytes),
			.down	= rnd_range(&state, 1, opt.bytes),
			.mode	= opt.mode < 0 ? i % MODES : (unsigned int)opt.mode,
			.last	= i == opt.runs - 1,
		};
		int fd = xconnect(ends.fam, &server_addr, 0, 0);

		if (send_all(fd, &h, sizeof(h)))
			err(EXIT_FAILURE, "send of the hello");
		run(fd, &h, false);
		sum += h.up + h.down;
	}
	printf("%u runs, %.1f MB in %.1f s, all of it right\n", opt.runs, sum / 1e6,
	       seconds_since(start));
}

static void run_forked_server(int lfd)
{
	who = " server";
	run_server(lfd);
}

/* ---- command line ---- */

static const char usage_text[] =
"usage: sdp_file [options] -s [ADDRESS]      serve until the client has had enough\n"
"       sdp_file [options] HOST              send and receive files\n"
"       sdp_file [options] --self [ADDRESS]  both, in two processes\n"
"  -f, --family FAM    " FAM_HELP "\n"
"  -s, --server        be the server (default address 0.0.0.0)\n"
"      --self          run server and client (default address 127.0.0.1)\n"
"  -p, --port N        port (default 7473; --self: any)\n"
"  -m, --mode MODE     poll, mmap, sendfile, splice or peek (default: all in turn)\n"
"  -n, --runs N        connections, one after the other (default 5)\n"
"  -b, --bytes N       largest file (default 4M)\n"
"  -w, --timeout N     seconds for a run (default 60)\n"
"      --seed N        of sizes and contents (default 1)\n"
"Exit status: 0 all files arrived, 1 not so, 2 wrong usage.\n";

enum { OPT_SEED = OPT_OWN };

static const struct option options[] = {
	ENDS_LONG,
	{ "mode", required_argument, NULL, 'm' },
	{ "runs", required_argument, NULL, 'n' },
	{ "bytes", required_argument, NULL, 'b' },
	{ "timeout", required_argument, NULL, 'w' },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ }
};

static int parse_mode(const char *name)
{
	for (int i = 0; i < MODES; i++)
		if (!strcmp(name, mode_names[i]))
			return i;
	errx(EXIT_USAGE, "unknown mode '%s'", name);
}

int main(int argc, char **argv)
{
	int o;

	while ((o = getopt_long(argc, argv, ENDS_SHORT "m:n:b:w:", options, NULL)) != -1) {
		switch (o) {
		case 'm':
			opt.mode = parse_mode(optarg);
			break;
		case 'n':
			opt.runs = parse_size("runs", optarg, 1, 1000000);
			break;
		case 'b':
			opt.bytes = parse_size("bytes", optarg, 1, 1 << 30);
			break;
		case 'w':
			opt.timeout = parse_size("timeout", optarg, 1, 86400);
			break;
		case OPT_SEED:
			opt.seed = parse_size("seed", optarg, 0, UINT64_MAX);
			break;
		default:
			ends_option(o, usage_text);
		}
	}
	server_addr = ends_address(argc, argv, 7473, usage_text);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, on_alarm);
	if (ends.self)
		return ends_both(xlisten(ends.fam, &server_addr, 4, 0, 0), run_forked_server,
				 run_client);
	if (ends.server) {
		who = " server";
		run_server(xlisten(ends.fam, &server_addr, 4, 0, 0));
	} else {
		run_client();
	}
	return EXIT_SUCCESS;
}
