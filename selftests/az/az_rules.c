// SPDX-License-Identifier: GPL-2.0
/*
 * az_rules NAME: one property of page tracking, step by step; without NAME a list of them, with
 * what each says. Exit status 0: it holds, 1: it doesn't, 4: it can't be seen on this kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "az.h"

#define N	16		/* pages, where it doesn't matter how many */
#define SOFT_DIRTY	(1ULL << 55)
#define PFN(entry)	((entry) & ((1ULL << 55) - 1))

static int dev;
static int failed;

#define EQUAL(what, got, want) equal(__LINE__, what, got, want)

static void equal(int line, const char *what, long got, long want)
{
	if (got == want)
		return;
	printf("line %d: %s: got %ld, wanted %ld\n", line, what, got, want);
	failed = 1;
}

static void __attribute__((noreturn)) skip(const char *why)
{
	printf("%s\n", why);
	exit(4);
}

static char *filled(size_t pages, bool huge)
{
	char *m = az_map(pages, huge);

	memset(m, 'a', pages * PG);
	return m;
}

/* A send of the usual kind: all of it, each page by an entry of its own */
static void send_all(char *m, size_t pages)
{
	struct az_send s = az_send(dev, m, pages, AZ_MANUAL, 0);

	EQUAL("pages protected", s.n, pages);
	EQUAL("why not more", s.why, SDP_AZ_ALL);
}

/* The oldest ends, with what it was sent with */
static struct az_complete end_one(unsigned int flags)
{
	struct az_complete c = az_end(dev, 1, flags);

	EQUAL("sends ended", c.count, 1);
	EQUAL("sends whose data has changed", c.changed, 0);
	return c;
}

static void touch(char *m, size_t pages, char with)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)m)[i * PG] = with;
}

/* Faults taken by writing to each page */
static long faults(char *m, size_t pages)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	touch(m, pages, 'f');
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt;
}

static bool writable(char *m)
{
	int fd = open("/dev/zero", O_RDONLY);
	bool ok = read(fd, m, 1) == 1;

	close(fd);
	return ok;
}

static pid_t forked(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		exit(2);
	return pid;
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

/* ---- one program, one buffer ---- */

static void t_write(void)
{
	char *m = filled(N, false);
	struct az_complete c;

	send_all(m, N);
	memset(m, 'b', N / 2 * PG);
	c = end_one(AZ_RESTORE);
	EQUAL("pages written to", c.moved, N / 2);
	EQUAL("pages restored", c.restored, N / 2);
	EQUAL("what was written", m[N / 2 * PG - 1], 'b');
	EQUAL("what was not", m[N / 2 * PG], 'a');
	EQUAL("faults afterwards", faults(m, N), 0);
}

static void t_restore(void)
{
	char *m = filled(N, false);

	send_all(m, N);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, N);
	EQUAL("faults afterwards", faults(m, N), 0);
}

static void t_reuse(void)
{
	char *m = filled(N, false);
	uint64_t pfn = PFN(az_pagemap(m));

	send_all(m, N);
	EQUAL("pages restored", end_one(0).restored, 0);
	EQUAL("faults afterwards", faults(m, N), N);
	EQUAL("the page is the same", PFN(az_pagemap(m)) == pfn, 1);
}

static void t_resend(void)
{
	char *m = filled(N, false);
	struct az_send s;

	send_all(m, N);
	end_one(0);
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected again", s.n, N);
	EQUAL("entries changed", s.changed, 0);
	EQUAL("entries protected already", s.shared, N);
	EQUAL("flushes", s.flushes, 0);
	end_one(0);
}

static void t_flush(void)
{
	char *m = filled(64, false);
	struct az_send s = az_send(dev, m, 64, AZ_MANUAL, 0);

	EQUAL("pages protected", s.n, 64);
	EQUAL("entries changed", s.changed, 64);
	EQUAL("flushes", s.flushes, 1);
	end_one(AZ_RESTORE);
}

static void t_zero(void)
{
	char *m = az_map(N, false), sum = 0;
	struct az_complete c;
	struct az_send s;

	for (size_t i = 0; i < N; i++)
		sum |= ((volatile char *)m)[i * PG];
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("zeros", sum, 0);
	EQUAL("pages protected", s.n, N);
	EQUAL("entries changed", s.changed, 0);
	touch(m, N, 'z');
	c = end_one(AZ_RESTORE);
	EQUAL("pages written to", c.moved, N);
	EQUAL("pages restored", c.restored, 0);
}

static void t_absent(void)
{
	char *m = filled(N, false);
	struct az_send s;

	madvise(m + 2 * PG, PG, MADV_DONTNEED);
	madvise(m + 5 * PG, PG, MADV_DONTNEED);
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, N);
	EQUAL("faulted in at once", s.faulted, 1);
	end_one(AZ_RESTORE);
}

static void t_stack(void)
{
	char on_stack[3 * PG] __attribute__((aligned(4096)));

	memset(on_stack, 's', sizeof(on_stack));
	send_all(on_stack, 2);
	memset(on_stack, 't', sizeof(on_stack));
	end_one(AZ_RESTORE);
	EQUAL("what was written", on_stack[PG], 't');
}

static void t_readonly(void)
{
	char *m = filled(N, false);

	mprotect(m, N * PG, PROT_READ);
	send_all(m, N);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, 0);
	EQUAL("it is writable", writable(m), 0);
	mprotect(m, N * PG, PROT_READ | PROT_WRITE);
	EQUAL("it is now", writable(m), 1);
}

static void t_mlock(void)
{
	char *m = filled(N, false);

	mlock(m, N * PG);
	send_all(m, N);
	touch(m, N, 'l');
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, N);
	send_all(m, N);
	munlock(m, N * PG);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, N);
}

/* ---- the address space changes in flight ---- */

static void t_munmap(void)
{
	char *m = filled(N, false);
	struct az_complete c;

	send_all(m, N);
	munmap(m, N * PG);
	end_one(AZ_RESTORE);
	m = filled(N, false);
	send_all(m, N);
	mmap(m, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(m, 'n', N * PG);
	c = end_one(AZ_RESTORE);
	EQUAL("pages of another mapping", c.moved, N);
	EQUAL("pages restored", c.restored, 0);
}

static void t_mremap(void)
{
	char *m = filled(N, false), *to = filled(N, false);

	send_all(m, N);
	mremap(m, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	EQUAL("what was moved", to[N * PG - 1], 'a');
	memset(to, 'r', N * PG);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, 0);
	EQUAL("what was written", to[N * PG - 1], 'r');
}

static void t_mprotect(void)
{
	char *m = filled(N, false);

	send_all(m, N);
	mprotect(m, N * PG, PROT_READ);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, 0);
	EQUAL("it is writable", writable(m), 0);
	mprotect(m, N * PG, PROT_READ | PROT_WRITE);
	send_all(m, N);
	mprotect(m, N * PG, PROT_NONE);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, 0);
	mprotect(m, N * PG, PROT_READ);
	mprotect(m, N * PG, PROT_READ | PROT_WRITE);
	send_all(m, N);
	mprotect(m, N * PG, PROT_READ);
	mprotect(m, N * PG, PROT_READ | PROT_WRITE);
	memset(m, 'p', N * PG);
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, N);
}

static void t_dontneed(void)
{
	char *m = filled(N, false);

	send_all(m, N);
	madvise(m, N * PG, MADV_DONTNEED);
	EQUAL("zeros", m[0], 0);
	memset(m, 'd', N * PG);
	EQUAL("pages of another content", end_one(AZ_RESTORE).moved, N);
	EQUAL("what was written", m[PG], 'd');
}

static void t_free(void)
{
	char *m = filled(N, false);

	send_all(m, N);
	EQUAL("MADV_FREE", madvise(m, N * PG, MADV_FREE), 0);
	end_one(AZ_RESTORE);
	memset(m, 'f', N * PG);
	send_all(m, N);
	madvise(m, N * PG, MADV_PAGEOUT);
	EQUAL("what was written", m[PG], 'f');
	memset(m, 'g', N * PG);
	end_one(AZ_RESTORE);
	EQUAL("what was written last", m[PG], 'g');
}

static void t_cold(void)
{
	char *m = filled(N, false);

	send_all(m, N);
	EQUAL("MADV_COLD", madvise(m, N * PG, MADV_COLD), 0);
	touch(m, N / 2, 'c');
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, N / 2);
	EQUAL("what was not", m[(N - 1) * PG], 'a');
}

static void t_softdirty(void)
{
	char *m = filled(N, false);

	if (!(az_pagemap(m) & SOFT_DIRTY))
		skip("this kernel doesn't track what is written by soft-dirty bits");
	send_all(m, N);
	az_write_file("/proc/self/clear_refs", "4");
	EQUAL("pages restored while tracked", end_one(AZ_RESTORE).restored, 0);
	EQUAL("not written", !!(az_pagemap(m) & SOFT_DIRTY), 0);
	touch(m, 1, 's');
	EQUAL("written", !!(az_pagemap(m) & SOFT_DIRTY), 1);
	EQUAL("not written either", !!(az_pagemap(m + PG) & SOFT_DIRTY), 0);
}

/* ---- others hold the pages, or write to them by other ways ---- */

static void t_fork_before(void)
{
	char *m = filled(N, false), c;
	struct az_send s;
	int p[2];
	pid_t pid;

	if (pipe(p))
		exit(2);
	pid = forked();
	if (!pid)
		_exit(read(p[0], &c, 1) != 1 || m[0] != 'a' || m[PG] != 'a');
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, N);
	EQUAL("entries protected already", s.shared, N);
	touch(m, 1, 'p');
	EQUAL("pages restored that a child has", end_one(AZ_RESTORE).restored, 0);
	touch(m, N, 'q');
	if (write(p[1], "", 1) != 1)
		exit(2);
	EQUAL("the child sees what was there", status_of(pid), 0);
}

static void t_fork_during(void)
{
	char *m = filled(N, false);
	pid_t pid;

	send_all(m, N);
	pid = forked();
	if (!pid) {
		bool ok = m[0] == 'a';

		touch(m, N, 'c');
		_exit(!ok);
	}
	EQUAL("the child", status_of(pid), 0);
	EQUAL("what the child wrote isn't ours", m[0], 'a');
	touch(m, N / 2, 'p');
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, N / 2);
}

static void t_fork_child(void)
{
	char *m = filled(N, false);
	pid_t pid = forked();

	if (!pid) {
		struct az_send s;

		dev = az_open();
		s = az_send(dev, m, N, AZ_MANUAL, 0);
		touch(m, N / 2, 'c');
		end_one(AZ_RESTORE);
		_exit(failed || s.n != N || m[0] != 'c' || m[(N - 1) * PG] != 'a');
	}
	touch(m + N / 4 * PG, N / 2, 'p');
	EQUAL("the child", status_of(pid), 0);
	EQUAL("ours", m[0] == 'a' && m[N / 4 * PG] == 'p', 1);
}

static void t_third(void)
{
	char *m = filled(1, false), got[PG];
	int p[2], leaked = 0;
	pid_t pid;

	for (int i = 0; i < 50; i++) {
		m[0] = 'a';
		send_all(m, 1);
		if (pipe(p))
			exit(2);
		pid = forked();
		if (!pid) {	/* its page stays in the pipe when it has gone */
			struct iovec v = { m, PG };

			_exit(vmsplice(p[1], &v, 1, 0) != (ssize_t)PG);
		}
		EQUAL("the child", status_of(pid), 0);
		EQUAL("pages restored", end_one(AZ_RESTORE).restored, 0);
		m[0] = 'b';
		leaked += read(p[0], got, PG) != (ssize_t)PG || got[0] != 'a';
		close(p[0]);
		close(p[1]);
	}
	EQUAL("leaks of what was written later", leaked, 0);
}

static void t_two(void)
{
	char *m = filled(N, false);
	int other = az_open();
	struct az_complete c;
	struct az_send s;

	send_all(m, N);
	m[0] = '1';
	s = az_send(other, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected again", s.n, N);
	EQUAL("entries changed, of the page written to", s.changed, 1);
	EQUAL("flushes for it", s.flushes, 1);
	s = az_send(other, m, N, AZ_MANUAL, 0);
	EQUAL("entries changed for a third", s.changed, 0);
	EQUAL("flushes for a third", s.flushes, 0);
	m[0] = '2';
	c = az_end(other, 1, AZ_RESTORE);
	EQUAL("the second's data has changed", c.changed, 0);
	EQUAL("pages written to", c.moved, 1);
	EQUAL("pages restored that others have in flight", c.restored, 0);
	c = end_one(AZ_RESTORE);
	EQUAL("pages of the first written to", c.moved, 1);
	EQUAL("pages of the first restored", c.restored, 0);
	c = az_end(other, 1, AZ_RESTORE);
	EQUAL("the third's data has changed", c.changed, 0);
	EQUAL("pages restored by the last", c.restored, N - 1);
	EQUAL("faults afterwards", faults(m, N), 0);
	close(other);
}

static void t_overlap(void)
{
	char *m = filled(3 * N, false);
	struct az_send s;

	send_all(m, 2 * N);
	s = az_send(dev, m + N * PG, 2 * N, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, 2 * N);
	EQUAL("entries changed", s.changed, N);
	EQUAL("entries protected already", s.shared, N);
	EQUAL("pages restored that the second hasn't", end_one(AZ_RESTORE).restored, N);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, 2 * N);
}

static void t_procmem(void)
{
	char *m = filled(N, false);
	int fd = open("/proc/self/mem", O_RDWR);

	send_all(m, N);
	EQUAL("written by ptrace's way", pwrite(fd, "m", 1, (uintptr_t)m), 1);
	EQUAL("what was written", m[0], 'm');
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, 1);
	mprotect(m, N * PG, PROT_READ);
	send_all(m, N);
	EQUAL("written though read-only", pwrite(fd, "n", 1, (uintptr_t)m + PG), 1);
	EQUAL("what was written", m[PG], 'n');
	end_one(AZ_RESTORE);
	EQUAL("it is writable", writable(m), 0);
	close(fd);
}

static void t_vm_write(void)
{
	char *m = filled(N, false);
	pid_t parent = getpid(), pid;

	send_all(m, N);
	pid = forked();
	if (!pid) {
		struct iovec from = { "v", 1 }, to = { m + PG, 1 };

		_exit(process_vm_writev(parent, &from, 1, &to, 1, 0) != 1);
	}
	EQUAL("another process writes", status_of(pid), 0);
	EQUAL("what was written", m[PG], 'v');
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, 1);
}

static int uring_read(struct io_uring *ring, int fd, char *to)
{
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	int n;

	io_uring_prep_read_fixed(sqe, fd, to, PG, 0, 0);
	if (io_uring_submit_and_wait(ring, 1) != 1 || io_uring_wait_cqe(ring, &cqe))
		exit(2);
	n = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return n;
}

static void t_uring(void)
{
	char *m = filled(N, false);
	int fd = open("/dev/zero", O_RDONLY);
	struct iovec v = { m, 2 * PG };
	struct io_uring ring;
	struct az_send s;

	if (io_uring_queue_init(4, &ring, 0))
		skip("no io_uring");
	send_all(m, N);
	EQUAL("registered in flight", io_uring_register_buffers(&ring, &v, 1), 0);
	EQUAL("read into a fixed buffer", uring_read(&ring, fd, m), PG);
	EQUAL("what was read", m[0], 0);
	end_one(AZ_RESTORE);
	EQUAL("read into it again", uring_read(&ring, fd, m + PG), PG);
	EQUAL("what was read", m[PG], 0);
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected while pinned", s.n, 0);
	EQUAL("why not", s.why == SDP_AZ_REFS || s.why == SDP_AZ_PINNED, 1);
	end_one(0);
	io_uring_unregister_buffers(&ring);
	send_all(m, N);
	end_one(AZ_RESTORE);
	io_uring_queue_exit(&ring);
}

static int armed(char *m, size_t pages, unsigned long mode)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range = { (uintptr_t)m, pages * PG }, .mode = mode };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		skip("no userfaultfd of this kind");
	return fd;
}

static void t_uffd(void)
{
	char *m = filled(N, false);
	struct az_send s;
	int fd;

	send_all(m, N);
	fd = armed(m, N, UFFDIO_REGISTER_MODE_MISSING);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, 0);
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, 0);
	EQUAL("why not", s.why, SDP_AZ_VMA);
	end_one(0);
	close(fd);
	send_all(m, N);
	end_one(AZ_RESTORE);
}

static void t_uffd_wp(void)
{
	struct uffdio_writeprotect wp = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	char *m = filled(N, false);
	int fd;

	send_all(m, N);
	fd = armed(m, N, UFFDIO_REGISTER_MODE_WP);
	wp.range.start = (uintptr_t)m;
	wp.range.len = N * PG;
	EQUAL("write-protect", ioctl(fd, UFFDIO_WRITEPROTECT, &wp), 0);
	wp.mode = 0;
	EQUAL("undo it", ioctl(fd, UFFDIO_WRITEPROTECT, &wp), 0);
	touch(m, N / 2, 'u');
	close(fd);
	EQUAL("pages written to", end_one(AZ_RESTORE).moved, N / 2);
	EQUAL("what was written", m[0], 'u');
}

static void t_ksm(void)
{
	static const char run[] = "/sys/kernel/mm/ksm/run", pages[] = "/sys/kernel/mm/ksm/pages_sharing";
	char *m = filled(N, false);
	struct az_complete c;
	struct az_send s;
	long was = az_read_number(run, NULL);

	if (was < 0 || madvise(m, N * PG, MADV_MERGEABLE) || az_write_file(run, "1"))
		skip("no KSM");
	for (int i = 0; az_read_number(pages, NULL) < N / 2 && i < 600; i++)
		usleep(50000);
	if (az_read_number(pages, NULL) < N / 2)
		skip("KSM merges nothing");
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, N);
	EQUAL("some are KSM's", s.shared > 0, 1);
	touch(m, N / 2, 'k');
	c = end_one(AZ_RESTORE);
	EQUAL("what was written", m[0], 'k');
	EQUAL("KSM's are not restored", c.restored + s.shared <= N, 1);
	az_write_file(run, was ? "1" : "0");
}

static void t_swap(void)
{
	char *m = filled(N, false);
	struct az_send s;

	if (az_read_number("/proc/meminfo", "SwapTotal:") <= 0)
		skip("no swap");
	send_all(m, N);
	madvise(m, N * PG, MADV_PAGEOUT);
	touch(m, N / 2, 's');
	EQUAL("what was written", m[0], 's');
	EQUAL("what was not", m[(N - 1) * PG], 'a');
	end_one(AZ_RESTORE);
	madvise(m, N * PG, MADV_PAGEOUT);
	s = az_send(dev, m, N, AZ_MANUAL, 0);
	EQUAL("pages protected that were swapped out", s.n, N);
	touch(m, N, 't');
	end_one(AZ_RESTORE);
	EQUAL("what was written", m[0], 't');
}

static void t_migrate(void)
{
	char *m = filled(N, false);

	for (size_t i = 0; i < N; i++)
		if (az_move_page(m + i * PG, 1) != 1)
			skip("no second NUMA node");
	send_all(m, N);
	for (size_t i = 0; i < N; i++)
		EQUAL("a page in flight is left alone", az_move_page(m + i * PG, 0) == 0, 0);
	EQUAL("pages restored", end_one(AZ_RESTORE).restored, N);
	EQUAL("it can move then", az_move_page(m, 0), 0);
	send_all(m, N);
	touch(m, 1, 'm');
	EQUAL("the copy in flight can", az_move_page(m, 1), 1);
	end_one(AZ_RESTORE);
	EQUAL("what was written", m[0], 'm');
}

static void *sleeper(void *arg)
{
	pause();
	return arg;
}

/* NUMA balancing takes entries away, to see who misses them; not a lone thread's, if near */
static void t_numa(void)
{
	char *m = filled(64, false);
	unsigned int faulted = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, sleeper, NULL);
	for (int i = 0; i < 40 && faulted < 3; i++) {
		uint64_t until = az_now_ns() + 100000000;
		struct az_send s;

		while (az_now_ns() < until)
			;
		s = az_send(dev, m, 64, AZ_MANUAL, 0);
		EQUAL("pages protected", s.n, 64);
		end_one(AZ_RESTORE);
		faulted += s.faulted;
		touch(m, 64, 'n');
	}
	if (!faulted)
		skip("NUMA balancing takes nothing away");
}

/* ---- huge pages ---- */

static char *huge(size_t pages)
{
	char *m = filled(pages, true);
	struct az_send s = az_send(dev, m, HUGE, AZ_SYNC | AZ_RESTORE, 0);

	if (!s.huge)
		skip("no transparent huge page to be had");
	EQUAL("pages protected", s.n, HUGE);
	return m;
}

static void t_huge(void)
{
	char *m = huge(HUGE);
	struct az_complete c;
	struct az_send s;

	s = az_send(dev, m, HUGE, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, HUGE);
	EQUAL("huge pages", s.huge, 1);
	EQUAL("entries changed", s.changed, 1);
	c = end_one(AZ_RESTORE);
	EQUAL("entries restored", c.restored, 1);
	EQUAL("faults afterwards", faults(m, HUGE), 0);
	s = az_send(dev, m, HUGE, AZ_MANUAL, 0);
	EQUAL("it is still huge", s.huge, 1);
	end_one(0);
	s = az_send(dev, m, HUGE, AZ_MANUAL, 0);
	EQUAL("sent again unwritten, entries protected already", s.shared, 1);
	EQUAL("flushes", s.flushes, 0);
	end_one(AZ_RESTORE);
}

static void t_huge_write(void)
{
	char *m = huge(HUGE);

	send_all(m, HUGE);
	m[5 * PG] = 'h';
	end_one(AZ_RESTORE);
	EQUAL("what was written", m[5 * PG], 'h');
	EQUAL("what was not", m[6 * PG], 'a');
	send_all(m, HUGE);
	touch(m, HUGE, 'i');
	end_one(AZ_RESTORE);
	EQUAL("what was written", m[(HUGE - 1) * PG], 'i');
}

static void t_huge_part(void)
{
	char *m = huge(2 * HUGE);
	struct az_send s;

	s = az_send(dev, m + 16 * PG, 16, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, 16);
	EQUAL("mappings split", s.faulted, 1);
	touch(m, HUGE, 'p');
	end_one(AZ_RESTORE);
	s = az_send(dev, m, 2 * HUGE, AZ_MANUAL, 0);
	EQUAL("pages protected, small and huge", s.n, 2 * HUGE);
	EQUAL("huge pages", s.huge, 1);
	touch(m, 2 * HUGE, 'q');
	end_one(AZ_RESTORE);
	EQUAL("what was written", m[(HUGE - 1) * PG], 'q');
}

static void t_huge_gentle(void)
{
	char *m = huge(2 * HUGE);
	struct az_send s;

	s = az_send(dev, m, 2 * HUGE - 1, AZ_MANUAL | AZ_GENTLE, 0);
	EQUAL("pages protected, none of the second", s.n, HUGE);
	EQUAL("why not more", s.why, SDP_AZ_PART);
	EQUAL("mappings split", s.faulted, 0);
	end_one(AZ_RESTORE);
	/* Where the mapping is small already, the page isn't */
	s = az_send(dev, m, 16, AZ_MANUAL, 0);
	EQUAL("mappings split", s.faulted, 1);
	end_one(0);
	s = az_send(dev, m + 32 * PG, 16, AZ_MANUAL | AZ_GENTLE, 0);
	EQUAL("pages protected of a huge one mapped small", s.n, 0);
	EQUAL("why", s.why, SDP_AZ_PART);
	end_one(0);
	s = az_send(dev, m + HUGE * PG, HUGE, AZ_MANUAL | AZ_GENTLE, 0);
	EQUAL("pages protected of a whole one", s.n, HUGE);
	end_one(AZ_RESTORE);
}

static void t_huge_two(void)
{
	char *m = huge(HUGE);
	struct az_complete c;

	send_all(m, HUGE);
	send_all(m, HUGE);
	c = end_one(AZ_RESTORE);
	EQUAL("entries restored that others have in flight", c.restored, 0);
	c = end_one(AZ_RESTORE);
	EQUAL("entries restored", c.restored, 1);
}

static void t_huge_collapse(void)
{
	char *m = huge(HUGE);
	struct az_send s;

	send_all(m, HUGE);
	m[0] = 'c';			/* splits the mapping */
	madvise(m, HUGE * PG, MADV_COLLAPSE);
	EQUAL("what was written", m[0], 'c');
	m[PG] = 'd';
	end_one(AZ_RESTORE);
	madvise(m, HUGE * PG, MADV_COLLAPSE);
	s = az_send(dev, m, HUGE, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, HUGE);
	m[PG] = 'e';
	end_one(AZ_RESTORE);
	EQUAL("what was written", m[PG], 'e');
}

static void t_mthp(void)
{
	static const char file[] = "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled";
	struct az_complete c;
	struct az_send s;
	char *m;

	if (az_write_file(file, "always"))
		skip("no huge pages of other sizes");
	m = az_map(64, true);
	munmap(m + 64 * PG, (HUGE - 64) * PG);
	memset(m, 'a', 64 * PG);
	az_write_file(file, "never");
	s = az_send(dev, m, 64, AZ_MANUAL, 0);
	EQUAL("pages protected", s.n, 64);
	EQUAL("entries changed", s.changed, 64);
	EQUAL("flushes", s.flushes, 1);
	touch(m, 8, 'm');
	c = end_one(AZ_RESTORE);
	EQUAL("pages written to", c.moved, 8);
	EQUAL("what was written", m[7 * PG], 'm');
	EQUAL("what was not", m[8 * PG], 'a');
	EQUAL("pages restored of large folios", c.restored, 0);
	touch(m, 64, 'n');
	EQUAL("what was written", m[63 * PG], 'n');
}

/* ---- the process ends in flight ---- */

/* A child sends, and then does @last; what it sent stays as it was. Many ends of it are late */
static void ends_in_flight(void (*last)(char *m))
{
	struct az_stats before = az_stats(dev), after;
	pid_t pid;

	for (int i = 0; i < 20; i++) {
		pid = forked();
		if (!pid) {
			char *m = filled(64, i % 2);

			dev = az_open();
			for (int k = 0; k < 4; k++) {
				az_send(dev, m, 64, k % 2 ? AZ_RESTORE : 0, 40000);
				touch(m, 32, 'e');
			}
			last(m);
		}
		status_of(pid);
	}
	az_drain(dev);
	after = az_stats(dev);
	EQUAL("sends looked at", after.checks - before.checks, 80);
	EQUAL("sends whose data has changed", after.mismatches - before.mismatches, 0);
	EQUAL("sends in flight", after.inflight, before.inflight);
}

static void last_exit(char *m)
{
	(void)m;
	_exit(0);
}

static void last_kill(char *m)
{
	(void)m;
	kill(getpid(), SIGKILL);
}

static void last_exec(char *m)
{
	(void)m;
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void last_segv(char *m)
{
	munmap(m, PG);
	signal(SIGSEGV, SIG_DFL);
	*(volatile char *)m = 0;
}

static void t_exit(void) { ends_in_flight(last_exit); }
static void t_kill(void) { ends_in_flight(last_kill); }
static void t_exec(void) { ends_in_flight(last_exec); }
static void t_segv(void) { ends_in_flight(last_segv); }

/* A manual send ends with its open file at the latest, and that with the process */
static void t_close(void)
{
	struct az_stats before = az_stats(dev), after;
	pid_t pid = forked();

	if (!pid) {
		char *m = filled(N, false);

		dev = az_open();
		az_send(dev, m, N, AZ_MANUAL, 0);
		az_send(dev, m, N, AZ_MANUAL, 0);
		touch(m, N, 'x');
		_exit(0);
	}
	EQUAL("the child", status_of(pid), 0);
	after = az_stats(dev);
	EQUAL("sends in flight", after.inflight, before.inflight);
	EQUAL("sends whose data has changed", after.mismatches - before.mismatches, 0);
}

/* ---- what isn't protected ---- */

static void refused(const char *what, char *m, unsigned int n, enum sdp_az_why why)
{
	struct az_stats before = az_stats(dev), after;
	struct az_send s = az_send(dev, m, 4, AZ_MANUAL, 0);

	printf("%s: ", what);
	fflush(stdout);
	after = az_stats(dev);
	EQUAL("pages protected", s.n, n);
	EQUAL("why not more", s.why, why);
	EQUAL("counted", after.why[why] - before.why[why], 1);
	end_one(AZ_RESTORE);
	printf("done\n");
}

static char *mapped(int prot, int flags, int fd)
{
	char *m = mmap(NULL, 4 * PG, prot, flags, fd, 0);

	if (m == MAP_FAILED)
		skip("mmap");
	return m;
}

static void t_refuse_shared(void)
{
	char *m = mapped(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	memset(m, 's', 4 * PG);
	refused("shared memory", m, 0, SDP_AZ_VMA);
	m[0] = 't';
}

static void t_refuse_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), rw = PROT_READ | PROT_WRITE;
	char *m = mapped(rw, MAP_PRIVATE, fd);

	refused("a file", m, 0, SDP_AZ_VMA);
	m[0] = 'f';
	refused("a file's private copy", m, 0, SDP_AZ_VMA);
	refused("a device", mapped(PROT_READ, MAP_SHARED, open("/dev/zero", O_RDWR)), 0, SDP_AZ_VMA);
}

static void t_refuse_prot(void)
{
	char *m = filled(4, false);

	mprotect(m + 2 * PG, PG, PROT_NONE);
	refused("what can't be read, after 2 pages that can", m, 2, SDP_AZ_VMA);
	munmap(m + PG, PG);
	refused("what isn't mapped, after a page that is", m, 1, SDP_AZ_VMA);
}

static void t_refuse_hugetlb(void)
{
	static const char pool[] = "/proc/sys/vm/nr_hugepages";
	char *m;

	if (az_write_file(pool, "2"))
		skip("no hugetlb");
	m = mmap(NULL, HUGE * PG, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (m == MAP_FAILED)
		skip("no huge page reserved");
	m[0] = 'h';
	refused("hugetlb", m, 0, SDP_AZ_VMA);
	munmap(m, HUGE * PG);
	az_write_file(pool, "0");
}

static void t_refuse_secret(void)
{
	int fd = syscall(447 /* memfd_secret */, 0);
	char *m;

	if (fd < 0 || ftruncate(fd, 4 * PG))
		skip("no secret memory");
	m = mapped(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	m[0] = 's';
	refused("secret memory", m, 0, SDP_AZ_VMA);
}

static void t_refuse_huge_zero(void)
{
	char *m = az_map(HUGE, true);
	struct az_send s;
	volatile char c = m[0];

	s = az_send(dev, m, HUGE, AZ_SYNC, 0);
	if (s.why != SDP_AZ_NOT_ANON)
		skip("untouched memory isn't mapped huge");
	EQUAL("pages protected", s.n, 0);
	EQUAL("zeros", c, 0);
}

static void t_refuse_droppable(void)
{
	char *m = mmap(NULL, 4 * PG, PROT_READ | PROT_WRITE, 0x08 /* MAP_DROPPABLE */ |
		       MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		skip("no droppable memory");
	m[0] = 'd';
	refused("droppable memory", m, 0, SDP_AZ_VMA);
}

static void t_refuse_notifier(void)
{
	int fd = open("/dev/kvm", O_RDWR);
	char *m = filled(4, false);

	if (fd < 0 || ioctl(fd, 0xae01 /* KVM_CREATE_VM */, 0) < 0)
		skip("no KVM in this guest");
	refused("memory of a process with a guest", m, 0, SDP_AZ_NOTIFIER);
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *says;
} rules[] = {
	{ "write", t_write, "a write in flight leaves what is in flight alone" },
	{ "restore", t_restore, "what is restored is written to without a fault" },
	{ "reuse", t_reuse, "what isn't is written to without a copy" },
	{ "resend", t_resend, "a buffer sent again unwritten needs no change and no flush" },
	{ "flush", t_flush, "one flush does for a send" },
	{ "zero", t_zero, "the zero page is sent as it is" },
	{ "absent", t_absent, "pages that are missing are faulted in" },
	{ "stack", t_stack, "a buffer may lie on the stack" },
	{ "readonly", t_readonly, "memory that is read-only stays so" },
	{ "mlock", t_mlock, "memory may be locked and unlocked" },
	{ "munmap", t_munmap, "unmapped in flight" },
	{ "mremap", t_mremap, "moved in flight" },
	{ "mprotect", t_mprotect, "made read-only, inaccessible, writable again in flight" },
	{ "dontneed", t_dontneed, "dropped in flight by MADV_DONTNEED" },
	{ "free", t_free, "given up in flight by MADV_FREE" },
	{ "cold", t_cold, "MADV_COLD in flight" },
	{ "softdirty", t_softdirty, "who tracks writes by soft-dirty bits sees them" },
	{ "fork-before", t_fork_before, "forked before: the child keeps what it has" },
	{ "fork-during", t_fork_during, "forked in flight" },
	{ "fork-child", t_fork_child, "a child sends what it has inherited" },
	{ "third", t_third, "what a child left in a pipe doesn't change by later writes" },
	{ "two", t_two, "two sockets send one buffer" },
	{ "overlap", t_overlap, "buffers overlap" },
	{ "procmem", t_procmem, "written by /proc/PID/mem in flight" },
	{ "vm-write", t_vm_write, "written by another process in flight" },
	{ "uring", t_uring, "an io_uring fixed buffer before, in flight and after" },
	{ "uffd", t_uffd, "a userfaultfd comes in flight, and keeps the next send away" },
	{ "uffd-wp", t_uffd_wp, "a userfaultfd write-protects in flight" },
	{ "ksm", t_ksm, "merged by KSM" },
	{ "swap", t_swap, "swapped out in flight, and before" },
	{ "migrate", t_migrate, "to be moved to another node in flight" },
	{ "numa", t_numa, "hidden by NUMA balancing" },
	{ "huge", t_huge, "a huge page takes one entry, and stays whole" },
	{ "huge-write", t_huge_write, "a huge page is written to in flight" },
	{ "huge-part", t_huge_part, "part of a huge page" },
	{ "huge-gentle", t_huge_gentle, "part of a huge page that is to stay whole" },
	{ "huge-two", t_huge_two, "two sends of one huge page" },
	{ "huge-collapse", t_huge_collapse, "collapsed into a huge page in flight" },
	{ "mthp", t_mthp, "large folios mapped by small entries" },
	{ "exit", t_exit, "exit() in flight" },
	{ "kill", t_kill, "killed in flight" },
	{ "exec", t_exec, "exec() in flight" },
	{ "segv", t_segv, "crashed in flight" },
	{ "close", t_close, "what nobody ends goes with the process" },
	{ "refuse-shared", t_refuse_shared, "not shared memory" },
	{ "refuse-file", t_refuse_file, "not files, devices" },
	{ "refuse-prot", t_refuse_prot, "not what can't be read, and only what comes before" },
	{ "refuse-hugetlb", t_refuse_hugetlb, "not hugetlb" },
	{ "refuse-secret", t_refuse_secret, "not secret memory" },
	{ "refuse-huge-zero", t_refuse_huge_zero, "not the huge zero page" },
	{ "refuse-droppable", t_refuse_droppable, "not droppable memory" },
	{ "refuse-notifier", t_refuse_notifier, "not memory with another MMU on it" },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (argc < 2) {
			printf("%s %s\n", rules[i].name, rules[i].says);
		} else if (!strcmp(argv[1], rules[i].name)) {
			dev = az_open();
			rules[i].run();
			return failed;
		}
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "az_rules: no rule '%s'; without arguments it lists them\n", argv[1]);
	return 2;
}
