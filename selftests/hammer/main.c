// SPDX-License-Identifier: GPL-2.0
/*
 * AZ-SDP under every kind of trouble: a program scribbles over its buffer the moment send()
 * has returned, and the receiver checks that what arrives is what send() saw.
 *
 * A message lies in a region of the sender's at some offset. It begins with a struct head;
 * the rest is made from that offset and the message's number. The last bytes of each page
 * (slots) are not part of that: others write there all the time (trouble.c), also while
 * send() protects the page, and keep elsewhere what they have written. No such write may be
 * lost.
 *
 * With -M the regions are those of the module, memory from mmap() on a socket.
 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "hammer.h"

#define HUGE_SIZE	(2ul << 20)
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
	.fam = FAM_SDP, .mode = SDP_AZ, .policy = -1, .conns = 1, .writers = 2, .rounds = 1,
	.watchdog = 60, .bytes = 32 << 20, .min = 8192, .max = 1 << 20, .seed = 1,
};

struct head {
	uint64_t magic, number, offset, len;
};

struct region regions[64];
int n_regions;
size_t slots = WORDS_SIZE;
atomic_bool stop;
atomic_int bad;

static uint64_t word_at(uint64_t number, uint64_t off)
{
	return mix64(opt.seed * 31 + number * 0x9e3779b9ull + off / 8);
}

static bool is_slot(uint64_t off)
{
	return off % PG >= PG - slots;
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
	r->shadow = calloc(r->size / PG * OWNERS, sizeof(*r->shadow));
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
		uint64_t room = PG - slots - b % PG, n = what % 3 ? 8 : PG;

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

/* Where a message begins: its head is not to lie in slots */
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
	uint64_t lost = 0, all = 0;

	for (int i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];

		for (size_t page = 0; page < r->size / PG; page++)
			for (int o = 0; o < OWNERS; o++) {
				uint64_t want = *shadow_of(r, page, o);

				all += want > 0;
				lost += want && *slot_of(r, page, o) != want;
			}
	}
	if (lost)
		BAD("%llu of %llu words have lost a write", (unsigned long long)lost,
		    (unsigned long long)all);
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
	int n;

	n_regions = opt.fanout ? 1 : opt.conns;
	for (int i = 0; i < n_regions; i++)
		region_init(&regions[i], i);
	connect_all();
	n = trouble_begin(extra, opt.writers);
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
	trouble_end(extra, n);
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
	     "  -D DISK     to be overwritten, and read by O_DIRECT into the pages sent from\n"
	     "  -F          one buffer is sent on all connections\n"
	     "  -k          keep the data in the buffers\n"
	     "  -e END      how the sender ends: close, exit, exec, kill\n"
	     "  -r N        rounds (1)\n"
	     "  -s SEED  -W SECONDS (60, a round may take)\n"
	     "  TROUBLE     fork pageout ksm thp mlock vmsplice soft compact migrate mem uring uffd\n"
	     "              unmap");
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

	while ((c = getopt(argc, argv, "f:m:M:P:b:S:w:D:Fke:r:s:W:")) >= 0)
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
		case 'D': trouble_disk(optarg); break;
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
		trouble_set(argv[optind++]);
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
