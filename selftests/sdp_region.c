// SPDX-License-Identifier: GPL-2.0
/*
 * Regions, memory from mmap() on an SDP socket: what the address space may do with them, and
 * programs that touch them while data is being sent from there or received into them.
 *
 * sdp_region ADDRESS CASE; a case is a function below.
 */
#include "sdp_test.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PG	4096ul
#define SIZE	(256ul << 10)

#define MUST(cond) do {								\
	if (!(cond))								\
		err(EXIT_FAILURE, "line %d: not: %s", __LINE__, #cond);		\
} while (0)

static struct addr addr;

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

	MUST(refused(map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0), EINVAL));
	MUST(refused(map(SIZE, PROT_READ, MAP_SHARED, PG), EINVAL));
	MUST(refused(map(SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, 0), EPERM));
	MUST(refused(map(2ul << 30, PROT_READ, MAP_SHARED, 0), ENOMEM));
	MUST(refused(map(1ul << 46, PROT_READ, MAP_SHARED, 0), ENOMEM));
	m = region(SIZE + 1);
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
	int lfd = xlisten(FAM_SDP, &addr, 1, 0, 4096);

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
static void send_write(int policy)
{
	unsigned char *m = region(SIZE);
	struct slow s = slow_peer(policy, SIZE, 1);

	fill(m, SIZE, 1);
	MUST(send(s.fd, m, SIZE, 0) == (ssize_t)SIZE);
	fill(m + SIZE - 2 * PG, 2 * PG, 2);
	MUST(holds(m, SIZE - 2 * PG, 1));
	MUST(holds(m + SIZE - 2 * PG, 2 * PG, 2));
	slow_go(&s);
	slow_end(&s);
	MUST(holds(m + SIZE - 2 * PG, 2 * PG, 2));
}

/* A writer gets a copy */
static void case_cow(void)
{
	send_write(SDP_AZ_COW);
}

/* A writer waits, but not for ever */
static void case_patience(void)
{
	send_write(SDP_AZ_BLOCK);
}

static atomic_int written;

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

/* Two sends of one page, by two connections with different policies */
static void case_twice(void)
{
	unsigned char *m = region(SIZE);
	struct slow a = slow_peer(SDP_AZ_BLOCK, SIZE, 1), b;

	addr_set_port(&addr, 0);
	b = slow_peer(SDP_AZ_COW, SIZE, 1);
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
		addr_set_port(&addr, 0);
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
	{ "block", case_block },
	{ "mem", case_mem },
	{ "twice", case_twice },
	{ "resend", case_resend },
	{ "gone", case_gone },
	{ "killed", case_killed },
};

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(EXIT_USAGE, "usage: sdp_region ADDRESS CASE");
	addr = addr_parse(argv[1], 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (strcmp(cases[i].name, argv[2]))
			continue;
		alarm(60);
		cases[i].run();
		return EXIT_SUCCESS;
	}
	errx(EXIT_USAGE, "no case '%s'", argv[2]);
}
