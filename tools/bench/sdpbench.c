// SPDX-License-Identifier: GPL-2.0
/*
 * sdpbench: latency and throughput of a stream socket by message size, over SDP or TCP.
 *
 * The client opens -P connections and keeps them for all points. For each point it sends a
 * struct request on every connection, a thread on each side runs it, and the server answers
 * with a struct result when it has had the last byte; the client's clock runs from its first
 * send to the last result. Counts are fixed by the request: with -t the client first finds by
 * short runs how many messages fill the time.
 *
 *	lat	ping-pong, one message on its way at a time; half of a round trip is shown,
 *		as ib_send_lat and qperf do
 *	bw	one way, client to server
 *
 * What programs do with their buffers and between their calls can be added to bw: -C computes
 * after each message, -W writes to the buffer after every so many; -R has the receiver compute
 * after each message, and look at it then.
 */
#include "sdp_ends.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define REQUEST_MAGIC	0x5344504245434e22ull
#define MAX_SIZES	32
#define MAX_CONNS	1024
#define MAX_MESSAGE	(1u << 30)	/* bytes */

enum test { TEST_LAT, TEST_BW, TESTS };

static const char *const test_names[] = { "lat", "bw" };

/* Where buffers begin and what pages they have */
enum memory { MEM_MALLOC, MEM_PAGE, MEM_HUGE, MEM_REGION, MEMORIES };

static const char *const memory_names[] = { "malloc", "page", "huge", "region" };

struct request {
	uint64_t magic;
	uint32_t test;			/* enum test */
	uint32_t size;			/* of a message */
	uint64_t count;			/* messages, or round trips */
	uint64_t compute;		/* by the receiver after each message, us; bw */
};

struct result {
	uint64_t bytes;
	uint64_t user_ns, sys_ns;	/* CPU time of the server's thread */
};

static struct {
	bool json, nodelay;
	bool tests[TESTS];
	unsigned int conns;
	uint64_t count;			/* -n */
	double seconds;			/* -t */
	uint64_t bytes;			/* -b */
	int64_t warmup;			/* messages, or -1: a tenth */
	uint64_t compute;		/* -C, us of CPU time */
	uint64_t receiver;		/* -R, the same of the other end */
	uint64_t touch;			/* -W */
	bool zerocopy;			/* -z */
	enum memory memory;		/* -M */
	uint32_t sizes[MAX_SIZES];
	unsigned int nsizes;
	int sndbuf, rcvbuf;
} opt = { .conns = 1, .warmup = -1, .nodelay = true, .memory = MEM_PAGE };

/* What a point came to, over all connections. */
struct point {
	enum test test;
	uint32_t size;
	uint64_t count;			/* on each connection */
	double secs;
	double cpu_client, cpu_server;	/* user + system seconds of the threads */
	double busy;			/* seconds all CPUs of this machine were not idle */
	double p50, p99, max;		/* us of half round trips; lat with one connection */
};

/* ---- CPU time ---- */

struct cpu {
	uint64_t user_ns, sys_ns;
};

static uint64_t timeval_ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ull + tv->tv_usec * 1000ull;
}

static struct cpu thread_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (struct cpu){ timeval_ns(&u.ru_utime), timeval_ns(&u.ru_stime) };
}

/* ---- one connection's part of a point, both sides ---- */

static void *xmalloc(size_t len)
{
	void *p = malloc(len);

	if (!p)
		err(EXIT_FAILURE, "%zu bytes of memory", len);
	return p;
}

/* Memory of the module's, which AZ-SDP can do more with */
static void *new_region(size_t len)
{
	int fd = socket(AF_INET_SDP, SOCK_STREAM, 0), error;
	void *p;

	if (fd < 0)
		return NULL;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	error = errno;
	close(fd);
	errno = error;
	return p == MAP_FAILED ? NULL : p;
}

/* A buffer for messages, or NULL with errno */
static void *new_buffer(size_t len)
{
	static const size_t page[] = { [MEM_PAGE] = 4096, [MEM_HUGE] = 2 << 20 };
	size_t size = page[opt.memory];
	void *p;

	if (opt.memory == MEM_MALLOC) {
		p = malloc(len);
	} else if (opt.memory == MEM_REGION) {
		p = new_region(len);
	} else {
		len = (len + size - 1) / size * size;
		p = aligned_alloc(size, len);
	}
	if (p && opt.memory == MEM_HUGE && madvise(p, len, MADV_HUGEPAGE)) {
		free(p);
		return NULL;
	}
	if (p)
		memset(p, 0x5a, len);	/* pages are there before the clock runs */
	return p;
}

static void free_buffer(void *p, size_t len)
{
	if (opt.memory != MEM_REGION)
		free(p);
	else if (p)
		munmap(p, len);
}

static void xsend(int fd, const void *buf, size_t len)
{
	if (send_all(fd, buf, len))
		err(EXIT_FAILURE, "send");
}

/* Takes what there is of notifications: when buffers are free again is of no interest here */
static void reap(int fd)
{
	char control[256];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };

	while (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		msg.msg_controllen = sizeof(control);
}

static void xsend_zerocopy(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = send(fd, buf, len, MSG_ZEROCOPY);

		if (n < 0 && errno == ENOBUFS) {
			struct pollfd p = { .fd = fd };

			poll(&p, 1, -1);	/* too many aren't told of yet */
		} else if (n < 0 && errno != EINTR) {
			err(EXIT_FAILURE, "send(MSG_ZEROCOPY)");
		} else if (n > 0) {
			buf += n;
			len -= n;
		}
		reap(fd);
	}
}

static void xrecv(int fd, void *buf, size_t len)
{
	if (recv_all(fd, buf, len)) {
		if (errno == ENODATA)
			errx(EXIT_FAILURE, "the peer closed the connection within a test");
		err(EXIT_FAILURE, "recv");
	}
}

/* A stream is read in pieces of up to a message, whatever their bounds were; as recv_all(). */
static int drain(int fd, char *buf, size_t size, uint64_t total)
{
	while (total) {
		ssize_t n = recv(fd, buf, size < total ? size : total, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENODATA;
		if (n <= 0)
			return -1;
		total -= n;
	}
	return 0;
}

/* Only the thread's own time counts, so that what else the CPU has to do comes on top. */
static uint64_t thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void compute(uint64_t us)
{
	uint64_t start = thread_ns();

	while (us && thread_ns() - start < us * 1000)
		;
}

/* Message by message, as a program that has something else to do before it looks at each */
static int take(int fd, char *buf, const struct request *r)
{
	for (uint64_t i = 0; i < r->count; i++) {
		if (recv_all(fd, buf, r->size))
			return -1;
		compute(r->compute);
		for (size_t at = 0; at < r->size; at += 4096)
			*(volatile char *)(buf + at);
	}
	return 0;
}

/* 0, or -1 with errno: what becomes of one client is nothing to the server's others */
static int serve_request(int fd, const struct request *r, char *buf)
{
	struct cpu before = thread_cpu(), after;
	struct result res = { .bytes = r->size * r->count };

	if (r->test == TEST_BW && r->compute && take(fd, buf, r))
		return -1;
	if (r->test == TEST_BW && !r->compute && drain(fd, buf, r->size, res.bytes))
		return -1;
	for (uint64_t i = 0; r->test == TEST_LAT && i < r->count; i++)
		if (recv_all(fd, buf, r->size) || send_all(fd, buf, r->size))
			return -1;
	after = thread_cpu();
	res.user_ns = after.user_ns - before.user_ns;
	res.sys_ns = after.sys_ns - before.sys_ns;
	return send_all(fd, &res, sizeof(res));
}

/* One connection on the client: the thread that runs on it, and what it measured. */
struct worker {
	int fd;
	pthread_t thread;
	struct request req;
	char *buf;
	float *rtt;			/* microseconds of each round trip, or NULL */
	struct result res;
	struct cpu cpu;
};

/* What a program does between two calls of send(): @i is the number of the first */
static void go_on(char *buf, size_t size, uint64_t i)
{
	if (opt.touch && (i + 1) % opt.touch == 0)
		for (size_t at = 0; at < size; at += 4096)
			buf[at] = i;
	compute(opt.compute);
}

static void *client_thread(void *arg)
{
	struct worker *w = arg;
	const struct request *r = &w->req;
	struct cpu before = thread_cpu(), after;
	uint64_t last;

	xsend(w->fd, r, sizeof(*r));
	last = now_ns();
	for (uint64_t i = 0; i < r->count; i++) {
		if (opt.zerocopy)
			xsend_zerocopy(w->fd, w->buf, r->size);
		else
			xsend(w->fd, w->buf, r->size);
		if (r->test == TEST_LAT)
			xrecv(w->fd, w->buf, r->size);
		else
			go_on(w->buf, r->size, i);
		if (w->rtt) {
			uint64_t now = now_ns();

			w->rtt[i] = (now - last) / 1e3;
			last = now;
		}
	}
	xrecv(w->fd, &w->res, sizeof(w->res));
	after = thread_cpu();
	w->cpu = (struct cpu){ after.user_ns - before.user_ns, after.sys_ns - before.sys_ns };
	return NULL;
}

/* ---- client ---- */

static struct worker workers[MAX_CONNS];

static int compare_float(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void percentiles(struct point *p, float *rtt, uint64_t n)
{
	qsort(rtt, n, sizeof(*rtt), compare_float);
	p->p50 = rtt[n / 2] / 2;
	p->p99 = rtt[n * 99 / 100] / 2;
	p->max = rtt[n - 1] / 2;
}

/* Runs @count messages of @size on every connection; @timed also keeps each round trip's time. */
static struct point run_once(enum test test, uint32_t size, uint64_t count, bool timed)
{
	struct point p = { .test = test, .size = size, .count = count };
	float *rtt = timed ? xmalloc(count * sizeof(*rtt)) : NULL;
	double busy = machine_busy();
	uint64_t start = now_ns();

	for (unsigned int i = 0; i < opt.conns; i++) {
		struct worker *w = &workers[i];

		w->req = (struct request){ REQUEST_MAGIC, test, size, count, opt.receiver };
		w->rtt = rtt;
		/* a single connection needs no thread, and no switch to one */
		if (opt.conns == 1) {
			client_thread(w);
		} else {
			errno = pthread_create(&w->thread, NULL, client_thread, w);
			if (errno)
				err(EXIT_FAILURE, "pthread_create");
		}
	}
	for (unsigned int i = 0; opt.conns > 1 && i < opt.conns; i++)
		pthread_join(workers[i].thread, NULL);
	p.secs = seconds_since(start);
	p.busy = machine_busy() - busy;
	for (unsigned int i = 0; i < opt.conns; i++) {
		const struct worker *w = &workers[i];

		if (w->res.bytes != size * count)
			errx(EXIT_FAILURE, "the server counted %llu bytes, not %llu",
			     (unsigned long long)w->res.bytes, (unsigned long long)size * count);
		p.cpu_client += (w->cpu.user_ns + w->cpu.sys_ns) / 1e9;
		p.cpu_server += (w->res.user_ns + w->res.sys_ns) / 1e9;
	}
	if (timed)
		percentiles(&p, rtt, count);
	free(rtt);
	return p;
}

/* How many messages take opt.seconds, found by runs that double until one is long enough. */
static uint64_t count_for_time(enum test test, uint32_t size)
{
	uint64_t n = 16;
	double secs;

	while ((secs = run_once(test, size, n, false).secs) < opt.seconds / 10 && n < 1ull << 40)
		n *= 2;
	n *= opt.seconds / secs;
	return n ? n : 1;
}

static uint64_t fixed_count(enum test test, uint32_t size)
{
	uint64_t n;

	if (opt.count)
		return opt.count;
	if (test == TEST_LAT && !opt.bytes)
		return 1000;
	n = (opt.bytes ? opt.bytes : 16 << 20) / size;
	if (!opt.bytes && n > 20000)
		n = 20000;		/* small messages: enough to know the cost of one */
	return n < 16 ? 16 : n;
}

static struct point run_point(enum test test, uint32_t size)
{
	uint64_t n = opt.seconds > 0 ? count_for_time(test, size) : fixed_count(test, size);
	uint64_t warm = opt.warmup >= 0 ? (uint64_t)opt.warmup : n / 10;

	if (warm)
		run_once(test, size, warm, false);
	return run_once(test, size, n, test == TEST_LAT && opt.conns == 1);
}

static double point_bytes(const struct point *p)
{
	return (double)p->size * p->count * opt.conns;
}

/* Microseconds of half a round trip. */
static double point_latency(const struct point *p)
{
	return p->secs / p->count / 2 * 1e6;
}

static void print_json(const struct point *p, bool first)
{
	printf("%s\n {\"test\":\"%s\",\"size\":%u,\"count\":%llu,\"seconds\":%.6f,",
	       first ? "" : ",", test_names[p->test], p->size, (unsigned long long)p->count,
	       p->secs);
	if (p->test == TEST_LAT)
		printf("\"lat_us\":%.3f,", point_latency(p));
	if (p->test == TEST_LAT && opt.conns == 1)
		printf("\"p50_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f,", p->p50, p->p99, p->max);
	if (p->test == TEST_BW)
		printf("\"mb_per_s\":%.3f,\"messages_per_s\":%.1f,", point_bytes(p) / p->secs / 1e6,
		       p->count * opt.conns / p->secs);
	printf("\"cpu_client_s\":%.6f,\"cpu_server_s\":%.6f,\"machine_busy_s\":%.2f}",
	       p->cpu_client, p->cpu_server, p->busy);
}

static void print_table(const struct point *p, bool header)
{
	if (header && p->test == TEST_LAT)
		printf("%10s %10s %10s %10s %10s %10s %8s %8s %8s\n", "lat: size", "count",
		       "avg us", "p50 us", "p99 us", "max us", "client%", "server%", "busy%");
	if (header && p->test == TEST_BW)
		printf("%10s %10s %10s %10s %10s %10s %8s %8s %8s\n", "bw: size", "count", "MB/s",
		       "msg/s", "ns/msg", "seconds", "client%", "server%", "busy%");
	printf("%10u %10llu ", p->size, (unsigned long long)p->count);
	if (p->test == TEST_LAT && opt.conns > 1)	/* nobody timed each of them */
		printf("%10.2f %10s %10s %10s", point_latency(p), "-", "-", "-");
	else if (p->test == TEST_LAT)
		printf("%10.2f %10.2f %10.2f %10.2f", point_latency(p), p->p50, p->p99, p->max);
	else
		printf("%10.2f %10.0f %10.0f %10.3f", point_bytes(p) / p->secs / 1e6,
		       p->count * opt.conns / p->secs, p->secs / (p->count * opt.conns) * 1e9,
		       p->secs);
	printf(" %7.1f%% %7.1f%% %7.1f%%\n", 100 * p->cpu_client / p->secs,
	       100 * p->cpu_server / p->secs, 100 * p->busy / p->secs);
	fflush(stdout);
}

static void run_client(const struct addr *a)
{
	uint32_t largest = 0;
	bool first = true;

	for (unsigned int i = 0; i < opt.nsizes; i++)
		if (opt.sizes[i] > largest)
			largest = opt.sizes[i];
	for (unsigned int i = 0; i < opt.conns; i++) {
		workers[i].fd = xconnect(ends.fam, a, opt.sndbuf, opt.rcvbuf);
		workers[i].buf = new_buffer(largest);
		if (!workers[i].buf)
			err(EXIT_FAILURE, "a buffer of %u bytes (-M %s)", largest,
			    memory_names[opt.memory]);
		if (opt.nodelay)
			xsetsockopt_int(workers[i].fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
		if (opt.zerocopy && (ends.fam == FAM_SDP || ends.fam == FAM_IPPROTO))
			xsetsockopt_int(workers[i].fd, SOL_SDP, SDP_ZEROCOPY, 1, "SDP_ZEROCOPY");
		else if (opt.zerocopy)
			xsetsockopt_int(workers[i].fd, SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY");
	}
	if (opt.json)
		printf("{\"family\":\"%s\",\"connections\":%u,\"points\":[", fam_names[ends.fam],
		       opt.conns);
	else
		printf("%s, %u connection%s\n", fam_names[ends.fam], opt.conns,
		       opt.conns > 1 ? "s" : "");
	for (int t = 0; t < TESTS; t++) {
		for (unsigned int i = 0; opt.tests[t] && i < opt.nsizes; i++) {
			struct point p = run_point(t, opt.sizes[i]);

			if (opt.json)
				print_json(&p, first);
			else
				print_table(&p, i == 0);
			first = false;
		}
	}
	if (opt.json)
		printf("\n]}\n");
	for (unsigned int i = 0; i < opt.conns; i++) {
		free_buffer(workers[i].buf, largest);
		close(workers[i].fd);
	}
}

/* ---- server ---- */

/* Requests until the client closes. Nothing a client does wrong stops the server. */
static void *serve_thread(void *arg)
{
	int fd = (intptr_t)arg;
	struct request r;
	char *buf = NULL;
	size_t len = 0;

	while (!recv_all(fd, &r, sizeof(r))) {
		if (r.magic != REQUEST_MAGIC || r.test >= TESTS || !r.size ||
		    r.size > MAX_MESSAGE) {
			warnx("a peer that is no sdpbench was turned away");
			break;
		}
		free_buffer(buf, len);
		len = r.size;
		buf = new_buffer(len);
		if (!buf || serve_request(fd, &r, buf)) {
			warn("a test of %u bytes a message was broken off", r.size);
			break;
		}
	}
	free_buffer(buf, len);
	close(fd);
	return NULL;
}

static void run_server(int lfd)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		int fd = xaccept(lfd);
		pthread_t t;

		if (opt.nodelay)
			xsetsockopt_int(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
		errno = pthread_create(&t, &attr, serve_thread, (void *)(intptr_t)fd);
		if (errno)
			err(EXIT_FAILURE, "pthread_create");
	}
}

static void run_self(struct addr a)
{
	int lfd = xlisten(ends.fam, &a, 1024, opt.sndbuf, opt.rcvbuf);
	pid_t pid = fork();

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_server(lfd);
	}
	close(lfd);
	run_client(&a);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

/* ---- command line ---- */

static const char usage_text[] =
"usage: sdpbench [options] ADDRESS          client\n"
"       sdpbench [options] -s [ADDRESS]     server, until it is killed\n"
"       sdpbench [options] --self [ADDRESS] both, in two processes\n"
"Measures latency (half a round trip) and one-way throughput by message size.\n"
"  -f, --family FAM     " FAM_HELP " (default sdp)\n"
"  -s, --server         serve clients of the same family\n"
"      --self           run server and client (default address 127.0.0.1)\n"
"  -p, --port N         port (default 7473; --self: any)\n"
"  -T, --test TEST      lat, bw or all (default all)\n"
"  -S, --sizes LIST     message sizes (default 1,64,1K,4K,16K,64K,256K,1M)\n"
"  -n, --count N        messages or round trips of a point, on each connection\n"
"  -b, --bytes N        ... or bytes (default: 1000 round trips; 16M, at most 20000 messages)\n"
"  -t, --time SECS      ... or as many as fill this time\n"
"  -w, --warmup N       messages before the measured ones (default: a tenth)\n"
"  -C, --compute USEC   bw: CPU time spent between two messages\n"
"  -W, --touch N        bw: write to each page of the buffer after every N messages\n"
"  -R, --receiver USEC  bw: CPU time the receiver spends after each message, before it looks at it\n"
"  -z, --zerocopy       the client sends with MSG_ZEROCOPY\n"
"  -M, --memory KIND    buffers as malloc() has them, from the beginning of a page as perftest's\n"
"                       are, in huge pages, or in a region of sdp.ko's: malloc, page, huge or\n"
"                       region (default page)\n"
"  -P, --parallel N     connections at once (default 1)\n"
"      --delay          leave TCP_NODELAY off\n"
"      --sndbuf N, --rcvbuf N   SO_SNDBUF, SO_RCVBUF\n"
"  -j, --json           print JSON instead of a table\n"
"Numbers take K, M and G; MB/s are 10^6 bytes a second. client% and server% are CPU time of\n"
"the two ends' threads, busy% of all CPUs of the client's machine, relative to one CPU.\n"
"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

enum { OPT_DELAY = OPT_OWN, OPT_SNDBUF, OPT_RCVBUF };

static const struct option options[] = {
	ENDS_LONG,
	{ "test", required_argument, NULL, 'T' },
	{ "sizes", required_argument, NULL, 'S' },
	{ "count", required_argument, NULL, 'n' },
	{ "bytes", required_argument, NULL, 'b' },
	{ "time", required_argument, NULL, 't' },
	{ "warmup", required_argument, NULL, 'w' },
	{ "compute", required_argument, NULL, 'C' },
	{ "touch", required_argument, NULL, 'W' },
	{ "receiver", required_argument, NULL, 'R' },
	{ "zerocopy", no_argument, NULL, 'z' },
	{ "memory", required_argument, NULL, 'M' },
	{ "parallel", required_argument, NULL, 'P' },
	{ "delay", no_argument, NULL, OPT_DELAY },
	{ "sndbuf", required_argument, NULL, OPT_SNDBUF },
	{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	{ "json", no_argument, NULL, 'j' },
	{ }
};

static void parse_sizes(const char *list)
{
	const char *p = list;

	opt.nsizes = 0;
	for (;; p++) {
		uint64_t v = parse_size_to("sizes", p, &p);

		if (!v || v > MAX_MESSAGE)
			errx(EXIT_USAGE, "sizes: a message has 1 byte to 1G, in '%s'", list);
		if (opt.nsizes == MAX_SIZES)
			errx(EXIT_USAGE, "sizes: more than %d", MAX_SIZES);
		opt.sizes[opt.nsizes++] = v;
		if (!*p)
			return;
		if (*p != ',')
			errx(EXIT_USAGE, "sizes: '%s' is not a list of numbers", list);
	}
}

static void parse_test(const char *name)
{
	bool all = !strcmp(name, "all"), any = all;

	for (int t = 0; t < TESTS; t++) {
		opt.tests[t] = all || !strcmp(name, test_names[t]);
		any |= opt.tests[t];
	}
	if (!any)
		errx(EXIT_USAGE, "unknown test '%s': use lat, bw or all", name);
}

static enum memory parse_memory(const char *name)
{
	for (int m = 0; m < MEMORIES; m++)
		if (!strcmp(name, memory_names[m]))
			return m;
	errx(EXIT_USAGE, "unknown kind of memory '%s': use malloc, page, huge or region", name);
}

static double parse_seconds(const char *str)
{
	char *end;
	double v = strtod(str, &end);

	if (*end || !(v > 0) || v > 86400)
		errx(EXIT_USAGE, "time: '%s' is not a number of seconds", str);
	return v;
}

int main(int argc, char **argv)
{
	struct addr a;
	int o;

	parse_test("all");
	parse_sizes("1,64,1K,4K,16K,64K,256K,1M");
	while ((o = getopt_long(argc, argv, ENDS_SHORT "T:S:n:b:t:w:C:W:R:zM:P:j", options,
				NULL)) != -1) {
		switch (o) {
		case 'T':
			parse_test(optarg);
			break;
		case 'S':
			parse_sizes(optarg);
			break;
		case 'n':
			opt.count = parse_size("count", optarg, 1, 1ull << 40);
			break;
		case 'b':
			opt.bytes = parse_size("bytes", optarg, 1, 1ull << 50);
			break;
		case 't':
			opt.seconds = parse_seconds(optarg);
			break;
		case 'w':
			opt.warmup = parse_size("warmup", optarg, 0, 1ull << 40);
			break;
		case 'C':
			opt.compute = parse_size("compute", optarg, 0, 10000000);
			break;
		case 'W':
			opt.touch = parse_size("touch", optarg, 0, 1ull << 40);
			break;
		case 'R':
			opt.receiver = parse_size("receiver", optarg, 0, 10000000);
			break;
		case 'z':
			opt.zerocopy = true;
			break;
		case 'M':
			opt.memory = parse_memory(optarg);
			break;
		case 'P':
			opt.conns = parse_size("parallel", optarg, 1, MAX_CONNS);
			break;
		case OPT_DELAY:
			opt.nodelay = false;
			break;
		case OPT_SNDBUF:
			opt.sndbuf = parse_size("sndbuf", optarg, 1, INT32_MAX);
			break;
		case OPT_RCVBUF:
			opt.rcvbuf = parse_size("rcvbuf", optarg, 1, INT32_MAX);
			break;
		case 'j':
			opt.json = true;
			break;
		default:
			ends_option(o, usage_text);
		}
	}
	if (!!opt.count + !!opt.bytes + (opt.seconds > 0) > 1)
		errx(EXIT_USAGE, "give only one of -n, -b and -t");
	a = ends_address(argc, argv, 7473, usage_text);
	signal(SIGPIPE, SIG_IGN);
	if (ends.self)
		run_self(a);
	else if (ends.server)
		run_server(xlisten(ends.fam, &a, 1024, opt.sndbuf, opt.rcvbuf));
	else
		run_client(&a);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "output");
	return EXIT_SUCCESS;
}
