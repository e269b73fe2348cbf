// SPDX-License-Identifier: GPL-2.0
/*
 * Regions, memory from mmap() on an SDP socket: what the address space may do with them, and
 * programs that touch them while data is being sent from there or received into them.
 *
 * sdp_region ADDRESS CASE [DEVICE]; a case is a function below, the device a block device that
 * may be written to.
 */
#include "sdp_test.h"
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define PG	4096ul
#define SIZE	(256ul << 10)

#define MUST(cond) do {								\
	if (!(cond))								\
		err(EXIT_FAILURE, "line %d: not: %s", __LINE__, #cond);		\
} while (0)

static struct addr addr;
static const char *device;

/* ---- regions ---- */

static void *map(size_t len, int prot, int flags, off_t off)
{
	int fd = xsocket(FAM_SDP, addr.sa.sa_family, 0);
	void *m = mmap(NULL, len, prot, flags, fd, off);
	int e = errno;

	close(fd);
	errno = e;
	return m;
}

static unsigned char *region(size_t len)
{
	unsigned char *m = map(len, PROT_READ | PROT_WRITE, MAP_SHARED, 0);

	if (m == MAP_FAILED)
		err(EXIT_FAILURE, "mmap of a socket");
	return m;
}

static bool refused(void *m, int errnum)
{
	return m == MAP_FAILED && errno == errnum;
}

static void fill(unsigned char *m, size_t len, uint64_t seed)
{
	struct stream s;

	stream_init(&s, seed);
	stream_fill(&s, m, len);
}

static bool holds(const unsigned char *m, size_t len, uint64_t seed)
{
	struct stream s;
	int64_t at;

	stream_init(&s, seed);
	at = stream_check(&s, m, len);
	if (at >= 0)
		fprintf(stderr, "wrong from byte %lld on\n", (long long)at);
	return at < 0;
}

static int child_status(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	return status;
}

/* What mmap() takes */
static void case_map(void)
{
	unsigned char *m;
	char path[64];

	MUST(refused(map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), EINVAL));
	MUST(refused(map(SIZE, PROT_READ, MAP_SHARED, PG), EINVAL));
	MUST(refused(map(SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, 0), EPERM));
	MUST(refused(map(2ul << 30, PROT_READ, MAP_SHARED, 0), ENOMEM));
	MUST(refused(map(1ul << 46, PROT_READ, MAP_SHARED, 0), ENOMEM));
	m = region(SIZE + 1);
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)m,
		 (unsigned long)m + SIZE + PG);
	MUST(open(path, O_RDWR) < 0 && errno == ENXIO);
	for (size_t i = 0; i < SIZE + PG; i++)
		MUST(!m[i]);
	fill(m, SIZE, 1);
	MUST(holds(m, SIZE, 1));
	MUST(mprotect(m, SIZE, PROT_READ | PROT_EXEC) && errno == EACCES);
	MUST(!mprotect(m, SIZE, PROT_READ));
	MUST(holds(m, SIZE, 1));
	MUST(!mprotect(m, SIZE, PROT_READ | PROT_WRITE));
	fill(m, SIZE, 2);
	MUST(!madvise(m, SIZE, MADV_DONTNEED));
	MUST(holds(m, SIZE, 2));
	MUST(madvise(m, SIZE, MADV_REMOVE));
	MUST(madvise(m, SIZE, MADV_DOFORK) == 0 || errno == EINVAL);
}

/* It is another's memory, too: as MAP_SHARED is */
static void case_fork(void)
{
	unsigned char *m = region(SIZE);
	pid_t pid;

	fill(m, SIZE, 1);
	pid = fork();
	if (!pid) {
		if (!holds(m, SIZE, 1))
			_exit(1);
		fill(m, SIZE, 2);
		_exit(0);
	}
	MUST(!child_status(pid));
	MUST(holds(m, SIZE, 2));
	MUST(!munmap(m, SIZE));
}

/* In parts, moved, and not to be larger */
static void case_unmap(void)
{
	unsigned char *m = region(SIZE), *to;

	fill(m, SIZE, 1);
	MUST(!munmap(m + SIZE / 2, SIZE / 4));
	MUST(holds(m, SIZE / 2, 1));
	to = mremap(m, SIZE / 2, SIZE / 2, MREMAP_MAYMOVE | MREMAP_FIXED, m + 64 * SIZE);
	MUST(to == m + 64 * SIZE);
	MUST(holds(to, SIZE / 2, 1));
	MUST(refused(mremap(to, SIZE / 2, SIZE, MREMAP_MAYMOVE), EFAULT));
	MUST(refused(mremap(to, 0, SIZE, MREMAP_MAYMOVE), EFAULT));
	to = mremap(to, SIZE / 2, SIZE / 4, 0);
	MUST(to != MAP_FAILED && holds(to, SIZE / 4, 1));
	MUST(m[SIZE - 1] == m[SIZE - 1]);
	MUST(!munmap(to, SIZE / 4));
}

/* The kernel reads and writes it for others */
static void case_kernel(void)
{
	unsigned char *m = region(SIZE), *copy = malloc(SIZE);
	int fd = open("/proc/self/mem", O_RDWR), p[2];
	FILE *f = tmpfile();

	MUST(copy && fd >= 0 && f);
	fill(copy, SIZE, 1);
	MUST(pwrite(fd, copy, SIZE, (uintptr_t)m) == (ssize_t)SIZE);
	MUST(holds(m, SIZE, 1));
	fill(m, SIZE, 2);
	MUST(pread(fd, copy, SIZE, (uintptr_t)m) == (ssize_t)SIZE);
	MUST(holds(copy, SIZE, 2));
	MUST(write(fileno(f), m, SIZE) == (ssize_t)SIZE);
	memset(m, 0, SIZE);
	MUST(pread(fileno(f), m, SIZE, 0) == (ssize_t)SIZE);
	MUST(holds(m, SIZE, 2));
	MUST(!pipe(p));
	MUST(write(p[1], m, 8 * PG) == 8 * PG);
	MUST(read(p[0], copy, 8 * PG) == 8 * PG);
	MUST(holds(copy, 8 * PG, 2));
}

/* All of it counts from the start */
static void case_limit(void)
{
	struct rlimit l = { 2 * SIZE, 2 * SIZE };
	unsigned char *m;

	MUST(!setrlimit(RLIMIT_MEMLOCK, &l));
	for (int i = 0; i < 100; i++) {
		m = region(SIZE);
		MUST(refused(map(2 * SIZE, PROT_READ, MAP_SHARED, 0), EAGAIN));
		MUST(!munmap(m, SIZE));
	}
}

/* ---- sending ---- */

/* A connection whose other end reads nothing until it is told to, and has little room */
struct slow {
	int fd, go[2];
	pid_t peer;
};

static void slow_reader(int lfd, int go, size_t len, uint64_t seed)
{
	unsigned char *m = malloc(len);
	int fd = xaccept(lfd);
	char c;

	MUST(m && read(go, &c, 1) == 1);
	MUST(!recv_all(fd, m, len));
	_exit(!holds(m, len, seed));
}

static struct slow slow_peer(int policy, size_t len, uint64_t seed)
{
	struct slow s;
	int lfd;

	addr_set_port(&addr, 0);
	lfd = xlisten(FAM_SDP, &addr, 1, 0, 4096);
	MUST(!pipe(s.go));
	s.peer = fork();
	if (!s.peer)
		slow_reader(lfd, s.go[0], len, seed);
	s.fd = xconnect(FAM_SDP, &addr, 2 * len, 0);
	close(lfd);
	xsetsockopt_int(s.fd, SOL_SDP, SDP_MODE, SDP_AZ, "SDP_MODE");
	xsetsockopt_int(s.fd, SOL_SDP, SDP_AZ_POLICY, policy, "SDP_AZ_POLICY");
	return s;
}

static void slow_go(struct slow *s)
{
	MUST(write(s->go[1], "", 1) == 1);
}

static void slow_end(struct slow *s)
{
	MUST(!child_status(s->peer));
	close(s->fd);
	close(s->go[0]);
	close(s->go[1]);
}

/* Counters are the suite's affair; here: what arrives is what send() saw, and writes go on */
static void send_write(int policy, size_t len)
{
	unsigned char *m = region(SIZE), *end = m + SIZE - len;
	struct slow s = slow_peer(policy, SIZE, 1);

	fill(m, SIZE, 1);
	MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
	fill(end, len, 2);
	MUST(holds(m, SIZE - len, 1));
	MUST(holds(end, len, 2));
	slow_go(&s);
	slow_end(&s);
	MUST(holds(end, len, 2));
}

/* A writer gets a copy */
static void case_cow(void)
{
	send_write(SDP_AZ_COW, 2 * PG);
}

/* A writer waits, but not for ever, nor anew for each page */
static void case_patience(void)
{
	send_write(SDP_AZ_BLOCK, SIZE);
}

static atomic_int written;

static void on_signal(int sig)
{
	(void)sig;
}

static void *nag(void *main_thread)
{
	while (!written) {
		usleep(100000);
		pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
	}
	return NULL;
}

/* ... nor after each signal that comes meanwhile */
static void case_nagged(void)
{
	pthread_t self = pthread_self(), t;

	signal(SIGUSR1, on_signal);
	MUST(!pthread_create(&t, NULL, nag, &self));
	case_patience();
	written = 1;
	MUST(!pthread_join(t, NULL));
}

static void *one_write(void *at)
{
	*(volatile unsigned char *)at ^= 0xff;
	written = 1;
	return NULL;
}

/* A writer waits until it is read; others, and readers, go on; mmap() and munmap() do as well */
static void case_block(void)
{
	unsigned char *m = region(2 * SIZE), last;
	struct slow s = slow_peer(SDP_AZ_BLOCK, SIZE, 1);
	pthread_t t;

	fill(m, SIZE, 1);
	last = m[SIZE - 1];
	MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
	MUST(!pthread_create(&t, NULL, one_write, m + SIZE - 1));
	for (int i = 0; i < 100; i++)
		MUST(!munmap(region(PG), PG));
	m[SIZE] = 1;
	MUST(holds(m, SIZE - 1, 1));
	slow_go(&s);
	slow_end(&s);
	MUST(!pthread_join(t, NULL));
	MUST(written && m[SIZE - 1] == (last ^ 0xff));
}

/* A writer that can't wait, a debugger for one, gets a copy at once */
static void case_mem(void)
{
	unsigned char *m = region(SIZE);
	struct slow s = slow_peer(SDP_AZ_BLOCK, SIZE, 1);
	int fd = open("/proc/self/mem", O_RDWR);

	fill(m, SIZE, 1);
	MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
	MUST(pwrite(fd, "new", 3, (uintptr_t)m + SIZE - PG) == 3);
	MUST(!memcmp(m + SIZE - PG, "new", 3));
	slow_go(&s);
	slow_end(&s);
	MUST(!memcmp(m + SIZE - PG, "new", 3));
}

/* Direct reads, by another thread all the time, into what is a page of @m, from the device */
static void *direct_reads(void *m)
{
	int fd = open(device, O_RDONLY | O_DIRECT);

	MUST(fd >= 0);
	while (!written)
		MUST(pread(fd, m, PG, 0) == (ssize_t)PG);
	return NULL;
}

/* Direct I/O from and to memory that is being sent, and to such that is being sent meanwhile */
static void case_direct(void)
{
	unsigned char *m = region(SIZE), *old = aligned_alloc(PG, SIZE);
	int fd = open(device, O_RDWR | O_DIRECT);
	pthread_t t;

	MUST(fd >= 0 && old);
	for (int policy = SDP_AZ_COW; policy <= SDP_AZ_BLOCK; policy++) {
		struct slow s = slow_peer(policy, SIZE, 1);

		fill(old, SIZE, 2);
		MUST(pwrite(fd, old, SIZE, 0) == (ssize_t)SIZE);
		fill(m, SIZE, 1);
		MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
		/* That waits a second for each page, if it waits */
		MUST(pread(fd, m, 2 * PG, 0) == 2 * PG);
		MUST(holds(m, 2 * PG, 2));
		slow_go(&s);
		slow_end(&s);
		MUST(holds(m, 2 * PG, 2));

		s = slow_peer(policy, SIZE, 3);
		fill(m, SIZE, 3);
		MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
		MUST(pwrite(fd, m, SIZE, 0) == (ssize_t)SIZE);
		MUST(pread(fd, old, SIZE, 0) == (ssize_t)SIZE);
		MUST(holds(old, SIZE, 3));
		slow_go(&s);
		slow_end(&s);
	}
	/* What is read there all the time is the first page of what is sent */
	MUST(!pthread_create(&t, NULL, direct_reads, m));
	for (int i = 0; i < 20; i++) {
		struct slow s = slow_peer(i & 1 ? SDP_AZ_COW : SDP_AZ_BLOCK, SIZE, 3);

		slow_go(&s);
		MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
		memset(m + PG, 0, SIZE - PG);
		slow_end(&s);
		fill(m, SIZE, 3);
	}
	written = 1;
	MUST(!pthread_join(t, NULL));
}

/* Nobody registers it with io_uring for good: the kernel pins so no files that track writes */
static void case_fixed(void)
{
	struct iovec v = { region(SIZE), SIZE };
	struct io_uring_params params = { 0 };
	int fd = syscall(__NR_io_uring_setup, 4, &params);

	MUST(fd >= 0);
	MUST(syscall(__NR_io_uring_register, fd, IORING_REGISTER_BUFFERS, &v, 1) < 0);
	MUST(errno == EOPNOTSUPP || errno == EFAULT);
}

/* Two sends of one page, by two connections with different policies */
static void case_twice(void)
{
	unsigned char *m = region(SIZE);
	struct slow a = slow_peer(SDP_AZ_BLOCK, SIZE, 1), b = slow_peer(SDP_AZ_COW, SIZE, 1);

	fill(m, SIZE, 1);
	MUST(send(a.fd, m, SIZE, 0) == (ssize_t)SIZE);
	MUST(send(b.fd, m, SIZE, 0) == (ssize_t)SIZE);
	slow_go(&a);
	slow_end(&a);
	fill(m, SIZE, 2);
	slow_go(&b);
	slow_end(&b);
	MUST(holds(m, SIZE, 2));
}

/* Each time the same data: nothing is protected again that still is */
static void case_resend(void)
{
	unsigned char *m = region(SIZE);

	fill(m, SIZE, 1);
	for (int i = 0; i < 8; i++) {
		struct slow s = slow_peer(SDP_AZ_COW, SIZE, 1);

		slow_go(&s);
		MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
		slow_end(&s);
	}
}

/* It goes while it is being sent, and so does who sent it */
static void case_gone(void)
{
	unsigned char *m = region(SIZE);
	struct slow s = slow_peer(SDP_AZ_BLOCK, SIZE, 1);

	fill(m, SIZE, 1);
	MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
	MUST(!munmap(m, SIZE));
	m = region(SIZE);
	memset(m, 0xff, SIZE);
	slow_go(&s);
	slow_end(&s);
}

/* Blocked, then killed */
static void case_killed(void)
{
	struct slow s = slow_peer(SDP_AZ_BLOCK, SIZE, 1);
	unsigned char *m = region(SIZE);
	pid_t pid;

	fill(m, SIZE, 1);
	MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
	pid = fork();
	if (!pid) {
		m[SIZE - 1] = 0;
		pause();
	}
	usleep(100000);
	MUST(!kill(pid, SIGKILL));
	MUST(WIFSIGNALED(child_status(pid)));
	slow_go(&s);
	slow_end(&s);
}

/* ---- receiving ---- */

#define BIG	(1ul << 20)
#define ROUNDS	8

/* A connection to a child that, for each byte it gets, sends @len bytes of the next seed */
struct source {
	int fd;
	pid_t peer;
};

/* The source is to be killed, which is to reset the connection at once */
static bool doomed;
/* SDP_AZ_RECV */
static int away = 1;

static void source_send(int lfd, size_t len)
{
	unsigned char *m = aligned_alloc(PG, BIG);
	struct sched_param first = { .sched_priority = 1 };
	struct linger hard = { 1, 0 };
	int fd = xaccept(lfd);
	uint64_t seed = 0;
	char c;

	xsetsockopt_int(fd, SOL_SDP, SDP_MODE, SDP_AZ, "SDP_MODE");
	xsetsockopt_int(fd, SOL_SOCKET, SO_SNDBUF, 4 * BIG, "SO_SNDBUF");
	if (doomed) {
		/* Before the softirq that moves the data, where that is a thread's */
		MUST(!sched_setscheduler(0, SCHED_FIFO, &first));
		MUST(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)));
	}
	while (recv(fd, &c, 1, 0) == 1) {
		fill(m, len, ++seed);
		MUST(!send_all(fd, m, len));
	}
	close(fd);
	_exit(0);
}

static struct source source(size_t len)
{
	struct source s;
	int lfd;

	addr_set_port(&addr, 0);
	lfd = xlisten(FAM_SDP, &addr, 1, 0, 0);
	s.peer = fork();
	if (!s.peer)
		source_send(lfd, len);
	s.fd = xconnect(FAM_SDP, &addr, 0, 0);
	close(lfd);
	xsetsockopt_int(s.fd, SOL_SDP, SDP_AZ_RECV, away, "SDP_AZ_RECV");
	return s;
}

static void source_go(struct source *s)
{
	MUST(send(s->fd, "", 1, 0) == 1);
}

static void source_end(struct source *s)
{
	close(s->fd);
	MUST(!child_status(s->peer));
}

/* The next @len bytes, into @m */
static void source_get(struct source *s, unsigned char *m, size_t len)
{
	source_go(s);
	MUST(!recv_all(s->fd, m, len));
}

struct reader {
	const unsigned char *m, *want;
	uint64_t rnd;
};

/* Looks at pages in random order, all of them */
static void *reader(void *arg)
{
	struct reader *r = arg;
	size_t n = BIG / PG, page = rnd(&r->rnd) % n, step = rnd(&r->rnd) | 1;

	for (size_t i = 0; i < n; i++, page = (page + step) % n)
		if (memcmp(r->m + page * PG, r->want + page * PG, PG))
			return (void *)r->m;
	return NULL;
}

/* Pages are touched, by several threads, before they are there */
static void recv_touch(void)
{
	unsigned char *m = region(BIG), *want = malloc(BIG);
	struct source s = source(BIG);
	struct reader r[3];
	pthread_t t[3];
	void *bad;

	for (int i = 1; i <= ROUNDS; i++) {
		fill(want, BIG, i);
		source_get(&s, m, BIG);
		MUST(m[BIG - 1] == want[BIG - 1]);
		for (int k = 0; k < 3; k++) {
			r[k] = (struct reader){ m, want, 10 * i + k };
			MUST(!pthread_create(&t[k], NULL, reader, &r[k]));
		}
		for (int k = 0; k < 3; k++) {
			MUST(!pthread_join(t[k], &bad));
			MUST(!bad);
		}
		memset(m, 0x5a, BIG);
	}
	source_end(&s);
}

static void case_recv(void)
{
	recv_touch();
}

/* Only if the namespace has it so */
static void case_default(void)
{
	away = -1;
	recv_touch();
}

/* Not even then */
static void case_never(void)
{
	away = 0;
	recv_touch();
}

static atomic_int alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* Signals come all the time */
static void case_signal(void)
{
	struct sigaction a = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 3000 }, { 0, 3000 } }, none = { };

	MUST(!sigaction(SIGALRM, &a, NULL));
	MUST(!setitimer(ITIMER_REAL, &every, NULL));
	recv_touch();
	MUST(!setitimer(ITIMER_REAL, &none, NULL));
	MUST(alarms);
}

/* The kernel looks: for write(), for whoever pins pages, for a debugger, who can't wait */
static void case_look(void)
{
	unsigned char *m = region(BIG), *copy = malloc(BIG);
	int mem = open("/proc/self/mem", O_RDONLY);
	struct source s = source(BIG);
	FILE *f = tmpfile();

	for (int i = 1; i <= ROUNDS; i++) {
		struct iovec here = { copy, BIG }, there = { m, BIG };
		size_t at = 0;
		ssize_t n;

		source_get(&s, m, BIG);
		switch (i % 3) {
		case 0:
			MUST(pwrite(fileno(f), m, BIG, 0) == (ssize_t)BIG);
			MUST(pread(fileno(f), copy, BIG, 0) == (ssize_t)BIG);
			break;
		case 1:
			MUST(process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)BIG);
			break;
		case 2:
			for (; at < BIG; at += n > 0 ? n : 0) {
				n = pread(mem, copy + at, BIG - at, (uintptr_t)m + at);
				MUST(n > 0 || (n < 0 && errno == EIO));
			}
		}
		MUST(holds(copy, BIG, i));
	}
	source_end(&s);
}

/* It goes back from where it has come to, by way of a region sent under both policies */
static void case_forward(void)
{
	unsigned char *m = region(BIG);
	struct source s = source(BIG);

	for (int i = 1; i <= 4; i++) {
		struct slow to = slow_peer(i % 2 ? SDP_AZ_COW : SDP_AZ_BLOCK, BIG, i);

		source_get(&s, m, BIG);
		slow_go(&to);
		MUST(!send_all(to.fd, m, BIG));
		source_get(&s, m, BIG);		/* into what is being sent */
		slow_end(&to);
		MUST(holds(m, BIG, ++i));
	}
	source_end(&s);
}

/* Places and lengths of all kinds; several into one place */
static void case_pieces(void)
{
	unsigned char *m = region(BIG + PG);
	size_t len = BIG - 12345;
	struct source s = source(len);
	uint64_t r = 1;

	for (int i = 1; i <= ROUNDS; i++) {
		unsigned char *at = m + (i % 3 ? rnd(&r) % PG : 0);

		source_go(&s);
		for (size_t got = 0, n; got < len; got += n) {
			n = rnd_range(&r, 1, len / 3);
			n = n < len - got ? n : len - got;
			MUST(!recv_all(s.fd, at + got, n));
		}
		if (i % 4)
			MUST(holds(at, len, i));
	}
	source_end(&s);
}

/* fork(), close(), munmap(), mremap() while it is still to come */
static void case_change(void)
{
	struct source s;
	unsigned char *m, *to;
	pid_t pid;

	for (int i = 0; i < 8; i++) {
		s = source(BIG);
		m = region(BIG);
		source_get(&s, m, BIG);
		switch (i % 4) {
		case 0:
			pid = fork();
			if (!pid)
				_exit(!holds(m, BIG, 1));
			MUST(!child_status(pid));
			break;
		case 1:
			source_end(&s);
			MUST(holds(m, BIG, 1));
			continue;
		case 2:
			munmap(m, BIG);
			m = region(BIG);
			MUST(!m[BIG / 2]);
			break;
		case 3:
			to = mremap(m, BIG, BIG, MREMAP_MAYMOVE | MREMAP_FIXED, m + 16 * BIG);
			MUST(to == m + 16 * BIG && holds(to, BIG, 1));
		}
		source_end(&s);
	}
}

/* The receiver ends in one way or another */
static void case_end(void)
{
	for (int i = 0; i < 6; i++) {
		struct source s = source(BIG);
		pid_t pid = fork();

		if (!pid) {
			unsigned char *m = region(BIG);

			source_get(&s, m, BIG);
			if (i % 3 == 1)
				raise(SIGKILL);
			if (i % 3 == 2)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		close(s.fd);
		child_status(pid);
		MUST(!child_status(s.peer));
	}
}

static sigjmp_buf on_bus;

static void bus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	(void)info;
	siglongjmp(on_bus, sig);
}

/* The connection ends before all is there: what isn't is told once by SIGBUS, and then by recv() */
static void case_lost(void)
{
	struct sigaction a = { .sa_sigaction = bus, .sa_flags = SA_SIGINFO };
	unsigned char *want = malloc(BIG), *m = region(BIG);
	volatile int lost = 0;

	doomed = true;
	MUST(!sigaction(SIGBUS, &a, NULL));
	fill(want, BIG, 1);
	for (int i = 0; i < 40 && !lost; i++) {
		struct source s;
		ssize_t n;

		s = source(BIG);
		source_go(&s);
		n = recv(s.fd, m, BIG, 0);
		MUST(n > 0);
		MUST(!kill(s.peer, SIGKILL));
		for (volatile size_t page = 0; page < (size_t)n / PG; page++) {
			if (sigsetjmp(on_bus, 1)) {
				lost++;
				*(volatile unsigned char *)(m + page * PG) = 0;
				continue;
			}
			if (memcmp(m + page * PG, want + page * PG, PG) && !lost)
				errx(EXIT_FAILURE, "page %zu is wrong, and nobody told", page);
		}
		if (lost) {
			while ((n = recv(s.fd, m, BIG, 0)) > 0)
				;
			MUST(n < 0 && errno == ECONNRESET);
		}
		close(s.fd);
		MUST(WTERMSIG(child_status(s.peer)) == SIGKILL);
		memset(m, 0, BIG);
	}
	if (!lost)
		errx(EXIT_FAILURE, "all was there each time");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "map", case_map },
	{ "fork", case_fork },
	{ "unmap", case_unmap },
	{ "kernel", case_kernel },
	{ "limit", case_limit },
	{ "cow", case_cow },
	{ "patience", case_patience },
	{ "nagged", case_nagged },
	{ "block", case_block },
	{ "mem", case_mem },
	{ "direct", case_direct },
	{ "fixed", case_fixed },
	{ "twice", case_twice },
	{ "resend", case_resend },
	{ "gone", case_gone },
	{ "killed", case_killed },
	{ "recv", case_recv },
	{ "default", case_default },
	{ "never", case_never },
	{ "signal", case_signal },
	{ "look", case_look },
	{ "forward", case_forward },
	{ "pieces", case_pieces },
	{ "change", case_change },
	{ "end", case_end },
	{ "lost", case_lost },
};

int main(int argc, char **argv)
{
	if (argc != 3 && argc != 4)
		errx(EXIT_USAGE, "usage: sdp_region ADDRESS CASE [DEVICE]");
	addr = addr_parse(argv[1], 0);
	device = argv[3];
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (strcmp(cases[i].name, argv[2]))
			continue;
		alarm(60);
		cases[i].run();
		return EXIT_SUCCESS;
	}
	errx(EXIT_USAGE, "no case '%s'", argv[2]);
}
