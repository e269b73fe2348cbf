// SPDX-License-Identifier: GPL-2.0
/*
 * AZ-SDP under every kind of trouble: a program scribbles over its buffer the moment send()
 * has returned, and the receiver checks that what arrives is what send() saw.
 *
 * A message lies in a region of the sender's at some offset. It begins with a struct head;
 * the rest is made from that offset and the message's number. The last bytes of each page
 * (SLOTS) are not part of that: writer threads count there all the time, also while send()
 * protects the page, and keep the true counts elsewhere. No such write may be lost.
 *
 * With -M the regions are those of the module, memory from mmap() on a socket.
 *
 * Trouble: fork pageout ksm thp mlock vmsplice soft compact mem unmap.
 */
#include "sdp_test.h"
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define PG		4096ul
#define HUGE_SIZE	(2ul << 20)
#define SLOTS		64			/* bytes of a page that are the writers' */
#define WRITERS_MAX	((int)(SLOTS / sizeof(uint64_t)) - 1)
#define MEM_SLOT	WRITERS_MAX		/* /proc/self/mem's */
#define MAGIC		0x4153595a65726f31ull

enum { END_CLOSE, END_EXIT, END_EXEC, END_KILL };

static const char *const end_names[] = { "close", "exit", "exec", "kill" };

static struct {
	enum fam fam;
	int mode, policy, conns, writers, end, rounds, watchdog;
	bool fanout, keep;
	uint64_t bytes, min, max, seed;
	struct addr addr;
} opt = {
	.fam = FAM_SDP, .mode = SDP_AZ, .policy = -1, .conns = 1, .writers = 2, .rounds = 1, .watchdog = 60,
	.bytes = 32 << 20, .min = 8192, .max = 1 << 20, .seed = 1,
};

struct head {
	uint64_t magic, number, offset, len;
};

/* What one sender thread sends from */
struct region {
	unsigned char *mem;
	size_t size;
	uint64_t *shadow;		/* the writers' true counts, WRITERS_MAX + 1 a page */
	uint64_t rnd;
	int fd[64], fds;
};

static atomic_bool stop;
static atomic_int bad;

#define BAD(...) do {						\
	fprintf(stderr, "sdp_az: " __VA_ARGS__);		\
	fputc('\n', stderr);					\
	bad++;							\
} while (0)

static uint64_t word_at(uint64_t number, uint64_t off)
{
	return mix64(opt.seed * 31 + number * 0x9e3779b9ull + off / 8);
}

static bool is_slot(uint64_t off)
{
	return off % PG >= PG - SLOTS;
}

/* Writes or checks the bytes of a message from @from to @to, offsets in its region; -1 if right */
static int64_t pattern(unsigned char *mem, uint64_t number, uint64_t from, uint64_t to, bool check)
{
	uint64_t off = from, w;

	while (off < to) {
		if (is_slot(off)) {
			off = (off / PG + 1) * PG;
			continue;
		}
		w = word_at(number, off);
		if (off % 8 == 0 && to - off >= 8) {
			if (!check)
				memcpy(mem + off, &w, 8);
			else if (memcmp(mem + off, &w, 8))
				return off;
			off += 8;
			continue;
		}
		if (!check)
			mem[off] = w >> (8 * (off % 8));
		else if (mem[off] != (unsigned char)(w >> (8 * (off % 8))))
			return off;
		off++;
	}
	return -1;
}

/* ---- receiver ---- */

static void *receiver(void *arg)
{
	int fd = (intptr_t)arg;
	unsigned char *buf = aligned_alloc(PG, opt.max + 2 * PG);
	uint64_t n, want;
	struct head h;
	int64_t at;

	if (!buf || recv_all(fd, &want, sizeof(want)))
		err(EXIT_FAILURE, "the sender's promise");
	for (n = 0;; n++) {
		if (recv_all(fd, &h, sizeof(h))) {
			if (errno != ENODATA)
				BAD("message %llu: %s", (unsigned long long)n, strerror(errno));
			break;
		}
		if (h.magic != MAGIC || h.number != n || h.len > opt.max) {
			BAD("message %llu: its head is %llx %llu %llu", (unsigned long long)n,
			    (unsigned long long)h.magic, (unsigned long long)h.number,
			    (unsigned long long)h.len);
			break;
		}
		h.offset += sizeof(h);
		h.len -= sizeof(h);
		if (recv_all(fd, buf + h.offset % PG, h.len)) {
			BAD("message %llu of %llu bytes: %s", (unsigned long long)n,
			    (unsigned long long)h.len, strerror(errno));
			break;
		}
		/* Offsets in the region count, wherever we have put it */
		at = pattern(buf + h.offset % PG - h.offset, n, h.offset, h.offset + h.len, true);
		if (at >= 0) {
			BAD("message %llu of %llu bytes at %llu: changed in flight at %lld",
			    (unsigned long long)n, (unsigned long long)h.len,
			    (unsigned long long)h.offset, (long long)at);
			break;
		}
	}
	if (n < want)
		BAD("%llu messages of %llu", (unsigned long long)n, (unsigned long long)want);
	free(buf);
	close(fd);
	return NULL;
}

static void serve(int lfd, int conns)
{
	pthread_t t[64];

	for (int i = 0; i < conns; i++)
		pthread_create(&t[i], NULL, receiver, (void *)(intptr_t)xaccept(lfd));
	for (int i = 0; i < conns; i++)
		pthread_join(t[i], NULL);
	_exit(bad ? EXIT_FAILURE : 0);
}

/* ---- trouble ---- */

static struct region regions[64];
static int n_regions;

/* Some range of some region, page-aligned */
static unsigned char *some(uint64_t *s, size_t pages, size_t *len)
{
	struct region *r = &regions[rnd(s) % n_regions];
	size_t p = rnd(s) % (r->size / PG), n = rnd_range(s, 1, pages);

	*len = (p + n > r->size / PG ? r->size / PG - p : n) * PG;
	return r->mem + p * PG;
}

/* Writer w owns word w of the SLOTS of every page */
static void *writer(void *arg)
{
	uint64_t w = (intptr_t)arg, s = 77 + w;

	while (!stop) {
		struct region *r = &regions[rnd(&s) % n_regions];
		size_t page = rnd(&s) % (r->size / PG);
		volatile uint64_t *slot = (void *)(r->mem + (page + 1) * PG - SLOTS);

		for (int i = 0; i < 50; i++) {
			slot[w]++;
			r->shadow[page * (WRITERS_MAX + 1) + w]++;
		}
	}
	return NULL;
}

/* The same by another door */
static void *mem_writer(void *arg)
{
	int fd = open("/proc/self/mem", O_RDWR);
	uint64_t s = (intptr_t)arg, v;

	if (fd < 0)
		err(EXIT_FAILURE, "/proc/self/mem");
	while (!stop) {
		struct region *r = &regions[rnd(&s) % n_regions];
		size_t page = rnd(&s) % (r->size / PG);
		uint64_t *true_count = &r->shadow[page * (WRITERS_MAX + 1) + MEM_SLOT];

		v = ++*true_count;
		if (pwrite(fd, &v, 8, (uintptr_t)(r->mem + (page + 1) * PG - 8)) != 8)
			BAD("write to /proc/self/mem: %s", strerror(errno));
		usleep(100);
	}
	close(fd);
	return NULL;
}

static uint64_t sum_of(const struct region *r)
{
	uint64_t t = 0;

	for (size_t i = 0; i < r->size / 8; i += 5)
		t = t * 31 + ((uint64_t *)r->mem)[i];
	return t;
}

static void *forker(void *arg)
{
	uint64_t s = (intptr_t)arg;

	while (!stop) {
		struct region *r = &regions[rnd(&s) % n_regions];
		pid_t pid = fork();
		int status;

		if (!pid) {
			uint64_t sum = sum_of(r);

			usleep(3000);
			if (sum != sum_of(r))
				_exit(1);	/* the parent's writes have reached the child */
			memset(r->mem, 0x55, 4 * PG);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (status)
			BAD("a child's memory has changed: status %#x", status);
		usleep(3000);
	}
	return NULL;
}

static void *pageout(void *arg)
{
	uint64_t s = (intptr_t)arg;
	size_t len;

	while (!stop) {
		unsigned char *a = some(&s, 16, &len);

		madvise(a, len, 21 /* MADV_PAGEOUT */);
		usleep(1000);
	}
	return NULL;
}

static void *locker(void *arg)
{
	uint64_t s = (intptr_t)arg;
	size_t len;

	while (!stop) {
		unsigned char *a = some(&s, 64, &len);

		mlock(a, len);
		usleep(2000);
		munlock(a, len);
	}
	return NULL;
}

static void *splicer(void *arg)
{
	uint64_t s = (intptr_t)arg;
	static char sink[16 * PG];
	size_t len;
	int p[2];

	if (pipe(p))
		err(EXIT_FAILURE, "pipe");
	while (!stop) {
		unsigned char *a = some(&s, 8, &len);
		struct iovec v = { a, len };
		ssize_t n = vmsplice(p[1], &v, 1, 0);

		usleep(rnd(&s) % 2000);
		while (n > 0) {
			ssize_t got = read(p[0], sink, n);

			if (got <= 0)
				err(EXIT_FAILURE, "read from a pipe");
			n -= got;
		}
	}
	return NULL;
}

/* Writes a word to a file of the kernel's again and again */
static void *poker(const char *path, const char *word, useconds_t us)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		err(EXIT_FAILURE, "%s", path);
	while (!stop) {
		if (write(fd, word, strlen(word)) < 0)
			BAD("%s: %s", path, strerror(errno));
		usleep(us);
	}
	close(fd);
	return NULL;
}

static void *soft(void *arg)
{
	(void)arg;
	return poker("/proc/self/clear_refs", "4", 5000);
}

static void *compact(void *arg)
{
	(void)arg;
	return poker("/proc/sys/vm/compact_memory", "1", 500000);
}

static struct {
	const char *name;
	void *(*thread)(void *);	/* NULL: something the sender does or the memory is */
	bool on;
} troubles[] = {
	{ "fork", forker, false },
	{ "pageout", pageout, false },
	{ "mlock", locker, false },
	{ "vmsplice", splicer, false },
	{ "soft", soft, false },
	{ "compact", compact, false },
	{ "mem", mem_writer, false },
	{ "ksm", NULL, false },
	{ "thp", NULL, false },
	{ "unmap", NULL, false },
};

static bool trouble(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (!strcmp(troubles[i].name, name))
			return troubles[i].on;
	return false;
}

/* ---- sender ---- */

/* A region of the module's, anywhere or in place of what is there */
static void *module_region(void *at, size_t len)
{
	int fd = xsocket(opt.fam, opt.addr.sa.sa_family, 0);
	void *m = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);

	if (m == MAP_FAILED)
		err(EXIT_FAILURE, "mmap of a socket");
	close(fd);
	return m;
}

static void region_init(struct region *r, int i)
{
	unsigned char *m;

	r->size = (opt.max + HUGE_SIZE) & ~(HUGE_SIZE - 1);
	r->shadow = calloc(r->size / PG * (WRITERS_MAX + 1), sizeof(*r->shadow));
	r->rnd = opt.seed * 1000 + i;
	if (opt.policy >= 0) {
		r->mem = module_region(NULL, r->size);
		return;
	}
	m = mmap(NULL, r->size + HUGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (m == MAP_FAILED)
		err(EXIT_FAILURE, "mmap");
	r->mem = (void *)(((uintptr_t)m + HUGE_SIZE - 1) & ~(HUGE_SIZE - 1));
	madvise(r->mem, r->size, trouble("thp") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	if (trouble("ksm"))
		madvise(r->mem, r->size, MADV_MERGEABLE);
	memset(r->mem, 0, r->size);
}

/* The program goes on, in its buffer */
static void scribble(struct region *r, uint64_t off, uint64_t len)
{
	uint64_t step = rnd(&r->rnd) % 4 ? PG : 4 * PG, what = rnd(&r->rnd), b;

	if (what % 8 == 0)
		return;			/* not at all */
	for (b = off; b < off + len; b += step - b % step) {
		uint64_t room = PG - SLOTS - b % PG, n = what % 3 ? 8 : PG;

		if (is_slot(b))
			continue;
		n = n < room ? n : room;
		memset(r->mem + b, 0xa5, n < off + len - b ? n : off + len - b);
	}
}

/* ... or takes it away; no writers then */
static void unmap(struct region *r, uint64_t off, uint64_t len)
{
	unsigned char *a = r->mem + off / PG * PG, *to;

	len = (off % PG + len + PG - 1) / PG * PG;
	switch (rnd(&r->rnd) % 5) {
	case 0:
		madvise(a, len, MADV_DONTNEED);
		break;
	case 1:
		munmap(a, len);
		if (opt.policy >= 0)
			module_region(a, len);
		else if (mmap(a, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != a)
			err(EXIT_FAILURE, "mmap again");
		break;
	case 2:
		to = mremap(a, len, len, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
		if (to != MAP_FAILED) {
			memset(to, 0x77, len);
			munmap(to, len);
		}
		break;
	case 3:
		mprotect(a, len, PROT_READ);
		mprotect(a, len, PROT_READ | PROT_WRITE);
		break;
	default:
		madvise(a, len, MADV_FREE);
	}
}

static void send_message(struct region *r, uint64_t number, uint64_t off, uint64_t len)
{
	struct head h = { MAGIC, number, off, len };

	memcpy(r->mem + off, &h, sizeof(h));
	pattern(r->mem, number, off + sizeof(h), off + len, false);
	for (int i = 0; i < r->fds; i++)
		if (send_all(r->fd[i], r->mem + off, len))
			err(EXIT_FAILURE, "send %llu bytes", (unsigned long long)len);
	if (!opt.keep)
		scribble(r, off, len);
	if (trouble("unmap"))
		unmap(r, off, len);
}

/* Where a message begins: its head is not to lie in SLOTS */
static uint64_t some_offset(struct region *r, uint64_t len)
{
	uint64_t off;

	do {
		off = rnd(&r->rnd) % (r->size - len + 1);
		if (rnd(&r->rnd) % 3 == 0)
			off = off / PG * PG;
	} while (is_slot(off) || is_slot(off + sizeof(struct head) - 1));
	return off;
}

static void *sender(void *arg)
{
	struct region *r = arg;
	uint64_t count = opt.bytes / ((opt.min + opt.max) / 2) + 1;

	for (int i = 0; i < r->fds; i++)
		if (send_all(r->fd[i], &count, sizeof(count)))
			err(EXIT_FAILURE, "send");
	for (uint64_t n = 0; n < count; n++) {
		uint64_t len = rnd_range(&r->rnd, opt.min, opt.max);

		send_message(r, n, some_offset(r, len), len);
	}
	return NULL;
}

static void check_writers(void)
{
	for (int i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];
		uint64_t lost = 0, all = 0;

		for (size_t page = 0; page < r->size / PG; page++) {
			uint64_t *slot = (void *)(r->mem + (page + 1) * PG - SLOTS);

			for (int w = 0; w <= WRITERS_MAX; w++) {
				uint64_t want = r->shadow[page * (WRITERS_MAX + 1) + w];

				all += want;
				lost += want - slot[w];
			}
		}
		if (lost)
			BAD("%llu of %llu writes lost", (unsigned long long)lost,
			    (unsigned long long)all);
	}
}

static void connect_all(void)
{
	for (int i = 0; i < opt.conns; i++) {
		struct region *r = &regions[opt.fanout ? 0 : i];
		int fd = xconnect(opt.fam, &opt.addr, 0, 0);

		xsetsockopt_int(fd, SOL_SDP, SDP_MODE, opt.mode, "SDP_MODE");
		xsetsockopt_int(fd, SOL_SDP, SDP_AZ_POLICY, opt.policy, "SDP_AZ_POLICY");
		r->fd[r->fds++] = fd;
	}
}

static int run_senders(void)
{
	pthread_t t[64], extra[64];
	int n = 0;

	n_regions = opt.fanout ? 1 : opt.conns;
	for (int i = 0; i < n_regions; i++)
		region_init(&regions[i], i);
	connect_all();
	for (int w = 0; w < opt.writers && !trouble("unmap"); w++)
		pthread_create(&extra[n++], NULL, writer, (void *)(intptr_t)w);
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (troubles[i].on && troubles[i].thread)
			pthread_create(&extra[n++], NULL, troubles[i].thread, (void *)(intptr_t)i);
	for (int i = 0; i < n_regions; i++)
		pthread_create(&t[i], NULL, sender, &regions[i]);
	for (int i = 0; i < n_regions; i++)
		pthread_join(t[i], NULL);
	switch (opt.end) {
	case END_EXIT:
		_exit(0);
	case END_EXEC:
		execl("/bin/true", "true", NULL);
		err(EXIT_FAILURE, "/bin/true");
	case END_KILL:
		raise(SIGKILL);
	}
	stop = true;
	while (n)
		pthread_join(extra[--n], NULL);
	for (int i = 0; i < n_regions; i++)
		for (int k = 0; k < regions[i].fds; k++)
			close(regions[i].fd[k]);
	if (!trouble("unmap"))
		check_writers();
	return bad ? EXIT_FAILURE : 0;
}

static int one_round(int lfd)
{
	pid_t pid[2];
	int status, failed = 0;

	pid[0] = fork();
	if (!pid[0])
		serve(lfd, opt.conns);
	pid[1] = fork();
	if (!pid[1]) {
		close(lfd);
		_exit(run_senders());
	}
	for (int i = 0; i < 2; i++) {
		waitpid(pid[i], &status, 0);
		if (i && opt.end == END_KILL && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
			continue;
		failed |= status;
	}
	return failed;
}

/* ---- command line ---- */

static void usage(void)
{
	errx(EXIT_USAGE,
	     "usage: sdp_az [options] ADDRESS [TROUBLE...]\n"
	     "  -f FAMILY   " FAM_HELP "\n"
	     "  -m MODE     SDP_MODE of the senders (3, AZ)\n"
	     "  -M POLICY   send from regions of the module, with this SDP_AZ_POLICY: cow, block\n"
	     "  -P N        connections (1)\n"
	     "  -b BYTES    on each, about (32M)\n"
	     "  -S MIN:MAX  size of a message (8K:1M)\n"
	     "  -w N        writer threads (2)\n"
	     "  -F          one buffer is sent on all connections\n"
	     "  -k          keep the data in the buffers\n"
	     "  -e END      how the sender ends: close, exit, exec, kill\n"
	     "  -r N        rounds (1)\n"
	     "  -s SEED  -W SECONDS (60, a round may take)\n"
	     "  TROUBLE     fork pageout ksm thp mlock vmsplice soft compact mem unmap");
}

static void set_trouble(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (!strcmp(troubles[i].name, name)) {
			troubles[i].on = true;
			return;
		}
	errx(EXIT_USAGE, "unknown trouble '%s'", name);
}

static int end_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(end_names); i++)
		if (!strcmp(end_names[i], name))
			return i;
	errx(EXIT_USAGE, "unknown end '%s'", name);
}

static int policy_parse(const char *name)
{
	if (!strcmp(name, "cow"))
		return SDP_AZ_COW;
	if (!strcmp(name, "block"))
		return SDP_AZ_BLOCK;
	errx(EXIT_USAGE, "unknown policy '%s'", name);
}

static void parse(int argc, char **argv)
{
	const char *end;
	int c;

	while ((c = getopt(argc, argv, "f:m:M:P:b:S:w:Fke:r:s:W:")) >= 0)
		switch (c) {
		case 'f': opt.fam = fam_parse(optarg); break;
		case 'm': opt.mode = parse_size("-m", optarg, 0, 9); break;
		case 'M': opt.policy = policy_parse(optarg); break;
		case 'P': opt.conns = parse_size("-P", optarg, 1, ARRAY_SIZE(regions)); break;
		case 'b': opt.bytes = parse_size("-b", optarg, 1, UINT64_MAX); break;
		case 'S':
			opt.min = parse_size_to("-S", optarg, &end);
			if (*end++ != ':')
				errx(EXIT_USAGE, "-S: '%s' is not MIN:MAX", optarg);
			opt.max = parse_size("-S", end, 1, 256 << 20);
			if (opt.min < sizeof(struct head) || opt.min > opt.max)
				errx(EXIT_USAGE, "-S: '%s' is not a range from %zu on", optarg,
				     sizeof(struct head));
			break;
		case 'w': opt.writers = parse_size("-w", optarg, 0, WRITERS_MAX); break;
		case 'F': opt.fanout = true; break;
		case 'k': opt.keep = true; break;
		case 'e': opt.end = end_parse(optarg); break;
		case 'r': opt.rounds = parse_size("-r", optarg, 1, 1 << 20); break;
		case 's': opt.seed = parse_size("-s", optarg, 0, UINT64_MAX); break;
		case 'W': opt.watchdog = parse_size("-W", optarg, 1, 1 << 20); break;
		default: usage();
		}
	if (optind == argc)
		usage();
	opt.addr = addr_parse(argv[optind++], 0);
	while (optind < argc)
		set_trouble(argv[optind++]);
}

int main(int argc, char **argv)
{
	int lfd, failed = 0;

	parse(argc, argv);
	signal(SIGPIPE, SIG_IGN);
	lfd = xlisten(opt.fam, &opt.addr, 64, 0, 0);
	for (int i = 0; i < opt.rounds && !failed; i++) {
		alarm(opt.watchdog);
		opt.seed++;
		failed = one_round(lfd);
	}
	if (failed)
		printf("failed, seed %llu\n", (unsigned long long)opt.seed);
	return failed ? EXIT_FAILURE : 0;
}
