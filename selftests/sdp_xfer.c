// SPDX-License-Identifier: GPL-2.0
/*
 * Integrity-checked transfer: several connections at once, pseudo-random data both ways at
 * once on each, writes and reads of random sizes and shapes.
 *
 * On each connection the client first sends a struct hello. Then each side's direction is
 *
 *	data (hello.bytes, from the direction's seed)
 *	hash of the data, as its sender counted it
 *	hash of the data of the other direction, as its receiver counted it
 *	end of stream (shutdown(SHUT_WR))
 *
 * so that both sides know that both directions arrived. The receiver also makes the stream
 * itself, and so knows the first wrong offset.
 */
#include "sdp_ends.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define HELLO_MAGIC	0x5344505846455221ull	/* "SDPXFER!" */
#define IOV_LIMIT	16

enum mode { MODE_BLOCK, MODE_POLL, MODE_EPOLL, MODE_EDGE };

static const char *const mode_names[] = { "block", "poll", "epoll", "edge" };

static struct {
	enum mode mode;
	bool json, quiet;
	unsigned int conns, iovs;
	uint64_t bytes;			/* each way on each connection */
	uint64_t min, max;		/* of one call */
	uint64_t seed;
	int sndbuf, rcvbuf;
	int watchdog;			/* seconds */
} opt = {
	.conns = 4, .iovs = 8, .bytes = 16 << 20, .min = 1, .max = 4 << 20, .seed = 1,
	.watchdog = 30,
};

struct hello {
	uint64_t magic, seed, bytes;
	uint32_t index, conns;
};

struct verdict {
	uint64_t sent;			/* hash of the data sent on this direction */
	uint64_t received;		/* hash of the data received on the other one */
};

/* What a step of one direction of one connection came to. */
enum step { STEP_MORE, STEP_AGAIN, STEP_DONE, STEP_FAIL };

struct conn {
	int fd;
	unsigned int index;
	uint64_t rnd_tx, rnd_rx;	/* sizes and shapes */

	/* the sending direction: chunk bytes of buf from chunk_off on are to go */
	struct stream tx;
	unsigned char *tx_buf;
	size_t chunk, chunk_off;
	size_t verdict_off;
	struct verdict out;
	bool tx_done;

	/* the receiving direction; rx_hashed is published after in.received's value is */
	struct stream rx;
	unsigned char *rx_buf;
	size_t rx_verdict_off;
	struct verdict in;
	uint64_t rx_hash;
	bool rx_hashed, rx_done;
	pthread_mutex_t lock;
	pthread_cond_t hashed;

	uint64_t tx_bytes, rx_bytes;	/* for the watchdog, which only reads them */
	uint64_t seen_bytes;		/* the watchdog's own */
};

static struct conn *conns;
static unsigned int nconns;
static bool finished;
static const char *side = "";

static void fail(const struct conn *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void fail(const struct conn *c, const char *fmt, ...)
{
	char msg[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	fprintf(stderr, "sdp_xfer%s: connection %u: %s\n", side, c->index, msg);
}

/* ---- one direction, one call at a time: the same for blocking and event-driven modes ---- */

/* Splits @len bytes at @buf into a random number of pieces; some are empty. */
static int make_iov(struct iovec *iov, uint64_t *rnd_state, unsigned char *buf, size_t len)
{
	int n = rnd_range(rnd_state, 1, opt.iovs);

	for (int i = 0; i < n; i++) {
		size_t part = i == n - 1 ? len : rnd_range(rnd_state, 0, len);

		iov[i] = (struct iovec){ buf, part };
		buf += part;
		len -= part;
	}
	return n;
}

/* Small and large alike: the exponent is what is uniform. */
static size_t random_size(uint64_t *rnd_state)
{
	uint64_t span = opt.max / opt.min, size = opt.min;
	int bits = 0;

	while (span >> (bits + 1))
		bits++;
	size <<= rnd_range(rnd_state, 0, bits);
	size += rnd_range(rnd_state, 0, size - 1);
	return size > opt.max ? opt.max : size;
}

static enum step io_error(const struct conn *c, const char *call)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return STEP_AGAIN;
	if (errno == EINTR)
		return STEP_MORE;
	fail(c, "%s: %s (sent %llu, received %llu bytes)", call, strerror(errno),
	     (unsigned long long)c->tx_bytes, (unsigned long long)c->rx_bytes);
	return STEP_FAIL;
}

/* The hash of what was received goes out after it is known: block for it, or say "again". */
static bool rx_hash_ready(struct conn *c)
{
	bool ready;

	pthread_mutex_lock(&c->lock);
	while (opt.mode == MODE_BLOCK && !c->rx_hashed)
		pthread_cond_wait(&c->hashed, &c->lock);
	ready = c->rx_hashed;
	pthread_mutex_unlock(&c->lock);
	return ready;
}

static void rx_hash_publish(struct conn *c)
{
	pthread_mutex_lock(&c->lock);
	c->rx_hash = stream_hash(&c->rx);
	c->rx_hashed = true;
	pthread_cond_signal(&c->hashed);
	pthread_mutex_unlock(&c->lock);
}

static enum step tx_verdict(struct conn *c)
{
	size_t end = offsetof(struct verdict, received);
	ssize_t n;

	c->out.sent = stream_hash(&c->tx);
	if (c->verdict_off >= end) {
		if (!rx_hash_ready(c))
			return STEP_AGAIN;
		c->out.received = c->rx_hash;
		end = sizeof(c->out);
	}
	if (c->verdict_off < sizeof(c->out)) {
		n = send(c->fd, (char *)&c->out + c->verdict_off, end - c->verdict_off,
			 MSG_NOSIGNAL);
		if (n < 0)
			return io_error(c, "send");
		c->verdict_off += n;
		return STEP_MORE;
	}
	if (shutdown(c->fd, SHUT_WR))
		return io_error(c, "shutdown(SHUT_WR)");
	return STEP_DONE;
}

static enum step tx_step(struct conn *c)
{
	struct iovec iov[IOV_LIMIT];
	struct msghdr msg = { .msg_iov = iov };
	ssize_t n;

	if (c->chunk_off == c->chunk) {
		uint64_t left = opt.bytes - c->tx.off;

		if (!left)
			return tx_verdict(c);
		c->chunk = random_size(&c->rnd_tx);
		if (c->chunk > left)
			c->chunk = left;
		c->chunk_off = 0;
		stream_fill(&c->tx, c->tx_buf, c->chunk);
	}
	msg.msg_iovlen = make_iov(iov, &c->rnd_tx, c->tx_buf + c->chunk_off,
				  c->chunk - c->chunk_off);
	n = sendmsg(c->fd, &msg, MSG_NOSIGNAL);
	if (n < 0)
		return io_error(c, "sendmsg");
	if ((size_t)n > c->chunk - c->chunk_off) {
		fail(c, "sendmsg of %zu bytes returned %zd", c->chunk - c->chunk_off, n);
		return STEP_FAIL;
	}
	c->chunk_off += n;
	__atomic_fetch_add(&c->tx_bytes, n, __ATOMIC_RELAXED);
	return STEP_MORE;
}

static enum step rx_verdict(struct conn *c)
{
	char extra;
	ssize_t n;

	if (c->rx_verdict_off < sizeof(c->in)) {
		n = recv(c->fd, (char *)&c->in + c->rx_verdict_off,
			 sizeof(c->in) - c->rx_verdict_off, 0);
		if (n > 0) {
			c->rx_verdict_off += n;
			return STEP_MORE;
		}
		if (n < 0)
			return io_error(c, "recv of the hashes");
		fail(c, "end of stream within the hashes (at byte %zu of %zu)",
		     c->rx_verdict_off, sizeof(c->in));
		return STEP_FAIL;
	}
	if (c->in.sent != c->rx_hash) {
		fail(c, "hash of received data is %016llx, its sender's is %016llx",
		     (unsigned long long)c->rx_hash, (unsigned long long)c->in.sent);
		return STEP_FAIL;
	}
	if (c->in.received != stream_hash(&c->tx)) {
		fail(c, "hash of sent data is %016llx, the peer received %016llx",
		     (unsigned long long)stream_hash(&c->tx),
		     (unsigned long long)c->in.received);
		return STEP_FAIL;
	}
	n = recv(c->fd, &extra, 1, 0);
	if (n < 0)
		return io_error(c, "recv of the end of stream");
	if (n > 0) {
		fail(c, "byte 0x%02x after the end of the stream", (unsigned char)extra);
		return STEP_FAIL;
	}
	return STEP_DONE;
}

static enum step rx_step(struct conn *c)
{
	struct iovec iov[IOV_LIMIT];
	struct msghdr msg = { .msg_iov = iov };
	uint64_t left = opt.bytes - c->rx.off;
	size_t want;
	int64_t bad;
	ssize_t n;

	if (c->rx_hashed)
		return rx_verdict(c);
	if (!left) {
		rx_hash_publish(c);
		return STEP_MORE;
	}
	want = random_size(&c->rnd_rx);
	if (want > left)
		want = left;
	msg.msg_iovlen = make_iov(iov, &c->rnd_rx, c->rx_buf, want);
	n = recvmsg(c->fd, &msg, 0);
	if (n < 0)
		return io_error(c, "recvmsg");
	if (n == 0) {
		fail(c, "end of stream after %llu of %llu bytes",
		     (unsigned long long)c->rx.off, (unsigned long long)opt.bytes);
		return STEP_FAIL;
	}
	if ((size_t)n > want) {
		fail(c, "recvmsg of %zu bytes returned %zd", want, n);
		return STEP_FAIL;
	}
	bad = stream_check(&c->rx, c->rx_buf, n);
	if (bad >= 0) {
		size_t at = bad - (c->rx.off - n);

		fail(c, "data differs first at offset %lld (byte %zu of a %zd byte recvmsg): 0x%02x",
		     (long long)bad, at, n, c->rx_buf[at]);
		return STEP_FAIL;
	}
	__atomic_fetch_add(&c->rx_bytes, n, __ATOMIC_RELAXED);
	return STEP_MORE;
}

/* ---- blocking mode: two threads for each connection ---- */

static void *tx_thread(void *arg)
{
	struct conn *c = arg;
	enum step s;

	do {
		s = tx_step(c);
	} while (s == STEP_MORE);
	if (s == STEP_AGAIN)
		fail(c, "a blocking send returned EAGAIN");
	if (s != STEP_DONE)
		exit(EXIT_FAILURE);
	c->tx_done = true;
	return NULL;
}

static void *rx_thread(void *arg)
{
	struct conn *c = arg;
	enum step s;

	do {
		s = rx_step(c);
	} while (s == STEP_MORE);
	if (s == STEP_AGAIN)
		fail(c, "a blocking receive returned EAGAIN");
	if (s != STEP_DONE)
		exit(EXIT_FAILURE);
	c->rx_done = true;
	return NULL;
}

static void start_thread(pthread_t *t, void *(*fn)(void *), void *arg)
{
	errno = pthread_create(t, NULL, fn, arg);
	if (errno)
		err(EXIT_FAILURE, "pthread_create");
}

static void run_blocking(void)
{
	pthread_t *threads = calloc(2 * nconns, sizeof(*threads));

	if (!threads)
		err(EXIT_FAILURE, "calloc");
	for (unsigned int i = 0; i < nconns; i++) {
		start_thread(&threads[2 * i], tx_thread, &conns[i]);
		start_thread(&threads[2 * i + 1], rx_thread, &conns[i]);
	}
	for (unsigned int i = 0; i < 2 * nconns; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

/* ---- event-driven modes: one thread for all ---- */

/*
 * Runs the steps of @c for the ready events. Level-triggered modes do one call for each event;
 * edge-triggered ones must go on until "again".
 */
static void drive(struct conn *c, short events)
{
	enum step s = STEP_MORE;

	while (!c->rx_done && (events & (POLLIN | POLLHUP | POLLERR)) && s == STEP_MORE) {
		bool was_hashed = c->rx_hashed;

		s = rx_step(c);
		if (s == STEP_FAIL)
			exit(EXIT_FAILURE);
		c->rx_done = s == STEP_DONE;
		if (c->rx_hashed != was_hashed)
			events |= POLLOUT;	/* the last part of tx waited for this */
		else if (opt.mode != MODE_EDGE)
			break;
	}
	s = STEP_MORE;
	while (!c->tx_done && (events & (POLLOUT | POLLHUP | POLLERR)) && s == STEP_MORE) {
		s = tx_step(c);
		if (s == STEP_FAIL)
			exit(EXIT_FAILURE);
		c->tx_done = s == STEP_DONE;
		if (opt.mode != MODE_EDGE)
			break;
	}
}

/* No POLLOUT while the sender waits for the hash of the other direction: it would spin. */
static short interest(const struct conn *c)
{
	bool wait_hash = c->verdict_off >= offsetof(struct verdict, received) && !c->rx_hashed;

	return (c->rx_done ? 0 : POLLIN) | (c->tx_done || wait_hash ? 0 : POLLOUT);
}

static bool conn_done(const struct conn *c)
{
	return c->tx_done && c->rx_done;
}

static void run_poll(void)
{
	struct pollfd *pfd = calloc(nconns, sizeof(*pfd));
	unsigned int open;

	if (!pfd)
		err(EXIT_FAILURE, "calloc");
	for (;;) {
		open = 0;
		for (unsigned int i = 0; i < nconns; i++) {
			pfd[i].fd = conn_done(&conns[i]) ? -1 : conns[i].fd;
			pfd[i].events = interest(&conns[i]);
			open += pfd[i].fd >= 0;
		}
		if (!open)
			break;
		if (poll(pfd, nconns, -1) < 0 && errno != EINTR)
			err(EXIT_FAILURE, "poll");
		for (unsigned int i = 0; i < nconns; i++)
			if (pfd[i].fd >= 0 && pfd[i].revents)
				drive(&conns[i], pfd[i].revents);
	}
	free(pfd);
}

static void epoll_set(int ep, int op, struct conn *c)
{
	struct epoll_event ev = { .data.ptr = c };

	/* the values of EPOLLIN and EPOLLOUT are POLLIN's and POLLOUT's */
	if (opt.mode == MODE_EDGE)
		ev.events = EPOLLIN | EPOLLOUT | EPOLLET;
	else
		ev.events = interest(c);
	if (epoll_ctl(ep, op, c->fd, &ev))
		err(EXIT_FAILURE, "epoll_ctl");
}

static void run_epoll(void)
{
	struct epoll_event evs[64];
	int ep = epoll_create1(0);
	unsigned int open = nconns;

	if (ep < 0)
		err(EXIT_FAILURE, "epoll_create1");
	for (unsigned int i = 0; i < nconns; i++)
		epoll_set(ep, EPOLL_CTL_ADD, &conns[i]);
	while (open) {
		int n = epoll_wait(ep, evs, ARRAY_SIZE(evs), -1);

		if (n < 0 && errno != EINTR)
			err(EXIT_FAILURE, "epoll_wait");
		for (int i = 0; i < n; i++) {
			struct conn *c = evs[i].data.ptr;
			short before = interest(c);

			drive(c, evs[i].events);
			if (conn_done(c)) {
				open--;
				epoll_ctl(ep, EPOLL_CTL_DEL, c->fd, NULL);
			} else if (opt.mode != MODE_EDGE && interest(c) != before) {
				epoll_set(ep, EPOLL_CTL_MOD, c);
			}
		}
	}
	close(ep);
}

/* ---- watchdog ---- */

static void print_progress(void)
{
	for (unsigned int i = 0; i < nconns; i++) {
		const struct conn *c = &conns[i];

		fail(c, "sent %llu, received %llu of %llu bytes%s%s%s",
		     (unsigned long long)c->tx_bytes, (unsigned long long)c->rx_bytes,
		     (unsigned long long)opt.bytes, c->rx_hashed ? ", hash known" : "",
		     c->tx_done ? ", sending done" : "", c->rx_done ? ", receiving done" : "");
	}
}

static bool conn_moved(struct conn *c)
{
	uint64_t sum = __atomic_load_n(&c->tx_bytes, __ATOMIC_RELAXED) +
		       __atomic_load_n(&c->rx_bytes, __ATOMIC_RELAXED);
	bool moved = sum != c->seen_bytes || conn_done(c);

	c->seen_bytes = sum;
	return moved;
}

/* Fails the run when no byte moved on some connection for opt.watchdog seconds. */
static void *watchdog_thread(void *arg)
{
	int *idle = calloc(nconns, sizeof(*idle));

	(void)arg;
	if (!idle)
		err(EXIT_FAILURE, "calloc");
	for (;;) {
		sleep(1);
		if (__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
			break;
		for (unsigned int i = 0; i < nconns; i++) {
			idle[i] = conn_moved(&conns[i]) ? 0 : idle[i] + 1;
			if (idle[i] < opt.watchdog)
				continue;
			fail(&conns[i], "no progress for %d seconds; all connections:", idle[i]);
			print_progress();
			_exit(EXIT_FAILURE);
		}
	}
	free(idle);
	return NULL;
}

/* Before there are connections to watch: connect() and accept() get the same time. */
static void setup_timeout(int sig)
{
	static const char msg[] = "sdp_xfer: connections were not set up in time\n";

	(void)sig;
	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

/* ---- set-up ---- */

static void conn_init(struct conn *c, int fd, const struct hello *h, bool server)
{
	uint64_t seed_to_server = mix64(h->seed + 2 * h->index);
	uint64_t seed_to_client = mix64(h->seed + 2 * h->index + 1);

	c->fd = fd;
	c->index = h->index;
	stream_init(&c->tx, server ? seed_to_client : seed_to_server);
	stream_init(&c->rx, server ? seed_to_server : seed_to_client);
	c->rnd_tx = ~c->tx.seed;
	c->rnd_rx = ~c->rx.seed + 1;
	c->tx_buf = malloc(opt.max);
	c->rx_buf = malloc(opt.max);
	if (!c->tx_buf || !c->rx_buf)
		err(EXIT_FAILURE, "buffers of %llu bytes", (unsigned long long)opt.max);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->hashed, NULL);
	if (opt.mode != MODE_BLOCK && fcntl(fd, F_SETFL, O_NONBLOCK))
		err(EXIT_FAILURE, "fcntl(O_NONBLOCK)");
}

static void alloc_conns(unsigned int n)
{
	nconns = n;
	conns = calloc(n, sizeof(*conns));
	if (!conns)
		err(EXIT_FAILURE, "calloc");
}

static void connect_all(const struct addr *a)
{
	alloc_conns(opt.conns);
	for (unsigned int i = 0; i < nconns; i++) {
		struct hello h = {
			.magic = HELLO_MAGIC, .seed = opt.seed, .bytes = opt.bytes,
			.index = i, .conns = nconns,
		};
		int fd = xconnect(ends.fam, a, opt.sndbuf, opt.rcvbuf);

		if (send_all(fd, &h, sizeof(h)))
			err(EXIT_FAILURE, "connection %u: sending the first message", i);
		conn_init(&conns[i], fd, &h, false);
	}
}

static void accept_all(int lfd)
{
	unsigned int n = 0;

	do {
		struct hello h;
		int fd = xaccept(lfd);

		if (recv_all(fd, &h, sizeof(h)))
			err(EXIT_FAILURE, "receiving a connection's first message");
		if (h.magic != HELLO_MAGIC || !h.conns)
			errx(EXIT_FAILURE, "the peer is no sdp_xfer");
		if (!conns) {
			alloc_conns(h.conns);
			opt.bytes = h.bytes;
		}
		conn_init(&conns[n++], fd, &h, true);
	} while (n < nconns);
}

static void report(double secs)
{
	uint64_t total = 2 * opt.bytes * nconns;

	if (opt.json)
		printf("{\"family\":\"%s\",\"mode\":\"%s\",\"connections\":%u,\"bytes\":%llu,"
		       "\"seconds\":%.3f,\"mb_per_s\":%.2f,\"ok\":true}\n",
		       fam_names[ends.fam], mode_names[opt.mode], nconns,
		       (unsigned long long)total, secs, total / secs / 1e6);
	else
		printf("sdp_xfer%s: %s %s, %u connections, %llu bytes, %.3f s, %.2f MB/s: ok\n",
		       side, fam_names[ends.fam], mode_names[opt.mode], nconns,
		       (unsigned long long)total, secs, total / secs / 1e6);
}

static void run(bool quiet)
{
	uint64_t start = now_ns();
	pthread_t watchdog;

	alarm(0);
	start_thread(&watchdog, watchdog_thread, NULL);
	switch (opt.mode) {
	case MODE_BLOCK:
		run_blocking();
		break;
	case MODE_POLL:
		run_poll();
		break;
	case MODE_EPOLL:
	case MODE_EDGE:
		run_epoll();
		break;
	}
	__atomic_store_n(&finished, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < nconns; i++)
		close(conns[i].fd);
	if (!quiet)
		report(seconds_since(start));
}

static int run_self(struct addr a)
{
	int lfd = xlisten(ends.fam, &a, opt.conns, opt.sndbuf, opt.rcvbuf);
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (pid == 0) {
		side = " server";
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(opt.watchdog);
		accept_all(lfd);
		run(true);
		exit(EXIT_SUCCESS);
	}
	close(lfd);
	side = " client";
	alarm(opt.watchdog);
	connect_all(&a);
	run(opt.quiet);
	if (waitpid(pid, &status, 0) < 0)
		err(EXIT_FAILURE, "waitpid");
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const char usage_text[] =
"usage: sdp_xfer [options] ADDRESS          client\n"
"       sdp_xfer [options] -s [ADDRESS]     server: one run, then exit\n"
"       sdp_xfer [options] --self [ADDRESS] both, in two processes\n"
"Sends pseudo-random data both ways on several connections and verifies it.\n"
"  -f, --family FAM      " FAM_HELP " (default sdp)\n"
"  -s, --server          wait for a client; bytes, seed and -P come from it\n"
"      --self            run server and client (default address 127.0.0.1)\n"
"  -p, --port N          port (default 7471; --self: any)\n"
"  -P, --parallel N      connections at once (default 4)\n"
"  -b, --bytes N         bytes each way on each connection (default 16M)\n"
"  -S, --sizes MIN:MAX   bytes of one call (default 1:4M)\n"
"  -m, --mode MODE       block (2 threads a connection), poll, epoll or edge (default block)\n"
"  -v, --iov N           up to N pieces in one call, 1..16 (default 8)\n"
"      --sndbuf N, --rcvbuf N   SO_SNDBUF, SO_RCVBUF\n"
"      --seed N          seed of data, sizes and shapes (default 1)\n"
"  -w, --watchdog N      fail after N seconds without progress (default 30)\n"
"  -j, --json            print the result as JSON\n"
"  -q, --quiet           print nothing unless something fails\n"
"Numbers take K, M and G. Exit status: 0 verified, 1 failed, 2 wrong usage.\n";

enum { OPT_SNDBUF = OPT_OWN, OPT_RCVBUF, OPT_SEED };

static const struct option options[] = {
	ENDS_LONG,
	{ "parallel", required_argument, NULL, 'P' },
	{ "bytes", required_argument, NULL, 'b' },
	{ "sizes", required_argument, NULL, 'S' },
	{ "mode", required_argument, NULL, 'm' },
	{ "iov", required_argument, NULL, 'v' },
	{ "sndbuf", required_argument, NULL, OPT_SNDBUF },
	{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "watchdog", required_argument, NULL, 'w' },
	{ "json", no_argument, NULL, 'j' },
	{ "quiet", no_argument, NULL, 'q' },
	{ }
};

static enum mode parse_mode(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(mode_names); i++)
		if (!strcmp(name, mode_names[i]))
			return i;
	errx(EXIT_USAGE, "unknown mode '%s': use block, poll, epoll or edge", name);
}

static void parse_sizes(const char *arg)
{
	const char *end;

	opt.min = opt.max = parse_size_to("sizes", arg, &end);
	if (*end == ':')
		opt.max = parse_size("sizes", end + 1, opt.min, 1u << 30);
	else if (*end)
		errx(EXIT_USAGE, "sizes: '%s' is not MIN:MAX", arg);
	if (!opt.min)
		errx(EXIT_USAGE, "sizes: the least is 1");
}

int main(int argc, char **argv)
{
	struct addr a;
	int o;

	while ((o = getopt_long(argc, argv, ENDS_SHORT "P:b:S:m:v:w:jq", options, NULL)) != -1) {
		switch (o) {
		case 'P':
			opt.conns = parse_size("parallel", optarg, 1, 10000);
			break;
		case 'b':
			opt.bytes = parse_size("bytes", optarg, 0, 1ull << 50);
			break;
		case 'S':
			parse_sizes(optarg);
			break;
		case 'm':
			opt.mode = parse_mode(optarg);
			break;
		case 'v':
			opt.iovs = parse_size("iov", optarg, 1, IOV_LIMIT);
			break;
		case OPT_SNDBUF:
			opt.sndbuf = parse_size("sndbuf", optarg, 1, INT32_MAX);
			break;
		case OPT_RCVBUF:
			opt.rcvbuf = parse_size("rcvbuf", optarg, 1, INT32_MAX);
			break;
		case OPT_SEED:
			opt.seed = parse_size("seed", optarg, 0, UINT64_MAX);
			break;
		case 'w':
			opt.watchdog = parse_size("watchdog", optarg, 1, 86400);
			break;
		case 'j':
			opt.json = true;
			break;
		case 'q':
			opt.quiet = true;
			break;
		default:
			ends_option(o, usage_text);
		}
	}
	signal(SIGALRM, setup_timeout);
	a = ends_address(argc, argv, 7471, usage_text);

	if (ends.self)
		return run_self(a);
	if (ends.server) {
		side = " server";
		accept_all(xlisten(ends.fam, &a, 1024, opt.sndbuf, opt.rcvbuf));
	} else {
		side = " client";
		alarm(opt.watchdog);
		connect_all(&a);
	}
	run(opt.quiet);
	return EXIT_SUCCESS;
}
