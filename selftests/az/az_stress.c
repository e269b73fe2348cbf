// SPDX-License-Identifier: GPL-2.0
/*
 * az_stress [-t SECONDS] [-x] TEST [ARGUMENT...]: page tracking in a crowd. Exit status 0: nothing
 * in flight has changed, and nothing written was lost. -x ends a test when it has failed.
 *
 * TESTs
 *  integrity [FEATURE...]  writers count in words of their own and keep the true counts elsewhere;
 *		senders send what they like. FEATUREs, in the table of them, add trouble
 *  chaos	senders and the kernel's writes against all that changes an address space
 *  odirect DEVICE  direct reads from a block device into halves of the pages being sent
 *  exit	processes end by themselves, are killed, exec, with much in flight
 *  oom		... or are killed for want of memory in their cgroup
 *  leak SENDS	so many; memory must not become less
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../trouble/trouble.h"
#include "az.h"

#define WORDS	(PG / sizeof(uint64_t))
#define OWNERS	8	/* word i is written by who has number i % OWNERS */
#define OWNER_PROCMEM	3
#define OWNER_URING	4
#define OWNER_VM	5
#define IN_FLIGHT	48

static int dev;			/* for statistics */
static int secs = 10;
static bool first_ends;
static atomic_bool *stop;		/* other processes look at it, too */
static atomic_long bad;
static struct az_stats base;

static char *buf;
static size_t pages;
static uint64_t *shadow;	/* what the words of buf contain, but for lost writes */

static bool restoring = true;	/* some of the sends */
static bool whole_huge;		/* all sends are */

#define FAIL(...) do { \
		printf("FAIL: " __VA_ARGS__); \
		putchar('\n'); \
		bad++; \
	} while (0)

/* ---- the region, and who works on it ---- */

static void region(size_t n, bool huge)
{
	pages = n;
	buf = az_map(n, huge);
	shadow = mmap(NULL, n * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static pthread_t threads[40];
static int nthreads;
static pid_t children[8];
static int nchildren;

static void spawn(void *(*run)(void *), long arg)
{
	if (pthread_create(&threads[nthreads++], NULL, run, (void *)arg))
		FAIL("no thread");
}

static bool failed_yet(void)
{
	return bad || az_stats(dev).mismatches != base.mismatches;
}

static void finish(void)
{
	uint64_t end = az_now_ns() + secs * 1000000000ULL;

	while (az_now_ns() < end && !(first_ends && failed_yet()))
		usleep(100000);
	*stop = true;
	while (nthreads)
		pthread_join(threads[--nthreads], NULL);
	while (nchildren) {
		int status = -1;

		waitpid(children[--nchildren], &status, 0);
		if (status)
			FAIL("another process ended with %x", status);
	}
	az_drain(dev);
}

static void report(void)
{
	struct az_stats s = az_stats(dev);

#define SINCE(member) ((unsigned long long)(s.member - base.member))
	printf("sends %llu, pages %llu, entries changed %llu, shared %llu, huge %llu, flushes %llu,\n"
	       "faulted or split %llu, moved %llu, restored %llu, looked at %llu, changed in flight %llu\n"
	       "ended by: vma %llu, absent %llu, not anon %llu, refs %llu, pinned %llu, odd %llu\n",
	       SINCE(sends), SINCE(pages), SINCE(changed), SINCE(shared), SINCE(huge),
	       SINCE(flushes), SINCE(faulted), SINCE(moved), SINCE(restored), SINCE(checks),
	       SINCE(mismatches), SINCE(why[SDP_AZ_VMA]), SINCE(why[SDP_AZ_ABSENT]),
	       SINCE(why[SDP_AZ_NOT_ANON]), SINCE(why[SDP_AZ_REFS]), SINCE(why[SDP_AZ_PINNED]),
	       SINCE(why[SDP_AZ_ODD]));
	if (s.mismatches != base.mismatches)
		FAIL("%llu sends changed in flight", SINCE(mismatches));
	if (s.inflight != base.inflight)
		FAIL("%lld sends never end", (long long)(s.inflight - base.inflight));
	if (s.pages == base.pages)
		FAIL("nothing was sent");
	if (s.why[SDP_AZ_KERNEL] != base.why[SDP_AZ_KERNEL])
		FAIL("page tracking is off");
}

static void *sender(void *arg)
{
	uint64_t s = 88172645463325252ULL + (uintptr_t)arg * 7919;
	int own = az_open();

	while (!*stop) {
		size_t p = az_random(&s) % pages, n = 1 + az_random(&s) % (pages - p);

		if (whole_huge || (pages > 2 * HUGE && az_random(&s) % 2)) {
			p = p / HUGE * HUGE;
			n = HUGE;
		}
		az_send(own, buf + p * PG, n, restoring && az_random(&s) % 4 ? AZ_RESTORE : 0,
			1 + az_random(&s) % 8000);
		while (az_stats(own).inflight > IN_FLIGHT && !*stop)
			usleep(500);
		if (az_random(&s) % 8 == 0)
			usleep(az_random(&s) % 2000);
	}
	close(own);
	return NULL;
}

static size_t own_word(uint64_t *s, size_t page, size_t owner)
{
	return page * WORDS + az_random(s) % (WORDS / OWNERS) * OWNERS + owner;
}

static void *writer(void *arg)
{
	uint64_t s = 1234567 + (uintptr_t)arg * 7777777;
	volatile uint64_t *b = (void *)buf;
	size_t hot = 0;

	for (size_t k = 0; !*stop; k++) {
		size_t i;

		if (k % 64 == 0)
			hot = az_random(&s) % pages;
		i = own_word(&s, hot, (uintptr_t)arg);
		if (b[i] != shadow[i]) {
			FAIL("word %zu is %ld behind", i, (long)(shadow[i] - b[i]));
			break;
		}
		b[i]++;
		shadow[i]++;
		if (whole_huge && k % 256 == 0)		/* huge pages have to form again */
			usleep(k % 4096 == 0 ? 50000 : 1000);
		else if (k % 2048 == 0)			/* senders want to run, too */
			usleep(500);
	}
	return NULL;
}

static void look_for_lost_writes(void)
{
	uint64_t *b = (void *)buf, total = 0, lost = 0, words = 0;

	for (size_t i = 0; i < pages * WORDS; i++) {
		total += shadow[i];
		if (b[i] != shadow[i]) {
			words++;
			lost += shadow[i] - b[i];
		}
	}
	printf("%llu writes\n", (unsigned long long)total);
	if (words)
		FAIL("%lld writes lost in %llu words", (long long)lost, (unsigned long long)words);
}

/* ---- features: what happens to the region at the same time ---- */

bool trouble_over(void)
{
	return *stop;
}

void trouble_failed(const char *text)
{
	FAIL("%s", text);
}

char *trouble_some(uint64_t *s, size_t n, size_t *bytes)
{
	size_t p = az_random(s) % pages, left = pages - p;

	*bytes = (1 + az_random(s) % (n < left ? n : left)) * PG;
	return buf + p * PG;
}

volatile uint64_t *trouble_word(uint64_t *s, void *page, uint64_t **shadow_word)
{
	size_t i = own_word(s, ((char *)page - buf) / PG, OWNER_URING);

	*shadow_word = &shadow[i];
	return (uint64_t *)buf + i;
}

static void *collapser(void *arg)
{
	(void)arg;
	while (!*stop) {
		madvise(buf, pages * PG, MADV_COLLAPSE);
		usleep(50000);
	}
	return NULL;
}

/* More memory than there is, so that all of it is reclaimed */
static void *hog(void *arg)
{
	(void)arg;
	while (!*stop) {
		size_t n = (az_read_number("/proc/meminfo", "MemAvailable:") + 64 * 1024) * 1024UL;
		char *m = mmap(NULL, n, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (m == MAP_FAILED)
			break;
		for (size_t i = 0; i < n && !*stop; i += PG)
			m[i] = i / PG;
		munmap(m, n);
		usleep(100000);
	}
	return NULL;
}

/* Another process, without the region, that writes to ours: by /proc/PID/mem or by a call */
static void other_process(size_t owner)
{
	pid_t parent = getpid(), pid = fork();
	uint64_t s = owner * 31337;
	char path[40];
	int fd;

	if (pid) {
		children[nchildren++] = pid;
		return;
	}
	munmap(buf, pages * PG);
	snprintf(path, sizeof(path), "/proc/%d/mem", parent);
	fd = open(path, O_RDWR);
	while (!*stop) {
		size_t i = own_word(&s, az_random(&s) % pages, owner);
		uint64_t value = shadow[i] + 1;
		struct iovec from = { &value, sizeof(value) };
		struct iovec to = { (uint64_t *)buf + i, sizeof(value) };
		ssize_t n;

		if (owner == OWNER_PROCMEM)
			n = pwrite(fd, &value, sizeof(value), (uintptr_t)to.iov_base);
		else
			n = process_vm_writev(parent, &from, 1, &to, 1, 0);
		if (n != sizeof(value))
			_exit(1);
		shadow[i] = value;
	}
	_exit(0);
}

static void in_cgroup(size_t limit);

static const struct feature {
	const char *name;
	void *(*run)(void *arg);
	long arg;
} features[] = {
	{ "fork", trouble_fork, 1 },			/* children look at their frozen copies */
	{ "pageout", trouble_advise, MADV_PAGEOUT },
	{ "cold", trouble_advise, MADV_COLD },
	{ "mlock", trouble_mlock, 2 },
	{ "vmsplice", trouble_vmsplice, 3 },
	{ "soft", trouble_soft_dirty, 0 },
	{ "hog", hog, 0 },
	{ "compact", trouble_compact, 0 },
	{ "migrate", trouble_migrate, 4 },		/* between NUMA nodes */
	{ "uffd", trouble_uffd, 5 },
	{ "uring", trouble_uring, 6 },
	{ "collapse", collapser, 0 },
	/* The others are looked for by name: */
	{ "thp", NULL, 0 },			/* parts of huge pages, and whole ones */
	{ "aligned", NULL, 0 },			/* only whole ones */
	{ "ksm", NULL, 0 },
	{ "norestore", NULL, 0 },
	{ "procmem", NULL, 0 },			/* /proc/PID/mem, by another process */
	{ "vm", NULL, 0 },			/* process_vm_writev(), by another process */
	{ "memcg", NULL, 0 },			/* in a cgroup too small for it all */
};

static bool has(char **names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

static bool known(const char *name)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (!strcmp(name, features[i].name))
			return true;
	return false;
}

static void t_integrity(char **names)
{
	bool thp = has(names, "thp") || has(names, "aligned");

	for (char **n = names; *n; n++)
		if (!known(*n))
			FAIL("no feature '%s'", *n);
	restoring = !has(names, "norestore");
	whole_huge = has(names, "aligned");
	region(thp ? 3 * HUGE : 64, thp);
	if (has(names, "ksm"))
		madvise(buf, pages * PG, MADV_MERGEABLE);
	if (has(names, "memcg"))
		in_cgroup(pages * PG + (4 << 20));
	memset(buf, 0, pages * PG);
	if (has(names, "procmem"))
		other_process(OWNER_PROCMEM);
	if (has(names, "vm"))
		other_process(OWNER_VM);
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (features[i].run && has(names, features[i].name))
			spawn(features[i].run, features[i].arg);
	spawn(sender, 1);
	spawn(sender, 2);
	for (int i = 0; i < 3; i++)
		spawn(writer, i);
	finish();
	look_for_lost_writes();
}

/* ---- chaos ---- */

/* The kernel's writes, which fail where a program's would be its death */
static void *kernel_writer(void *arg)
{
	static char from[16 * PG];
	uint64_t s = 5 + (uintptr_t)arg;
	int fd = open("/dev/urandom", O_RDONLY);

	while (!*stop) {
		size_t n = 1 + az_random(&s) % sizeof(from);
		char *to = buf + az_random(&s) % (pages * PG - n);

		if (az_random(&s) % 2) {
			if (read(fd, to, n % 256) < 0 && errno != EFAULT)
				FAIL("read: %s", strerror(errno));
		} else {
			struct iovec l = { from, n }, r = { to, n };

			process_vm_writev(getpid(), &l, 1, &r, 1, 0);
		}
	}
	close(fd);
	return NULL;
}

static void change(char *m, size_t n, char *elsewhere, uint64_t random)
{
	int rw = PROT_READ | PROT_WRITE;
	pid_t pid;

	switch (random % 13) {
	case 0:
		madvise(m, n, MADV_DONTNEED);
		break;
	case 1:
		madvise(m, n, MADV_FREE);
		break;
	case 2:
		mprotect(m, n, PROT_READ);
		usleep(200);
		mprotect(m, n, rw);
		break;
	case 3:
		munmap(m, n);
		mmap(m, n, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 4:
		if (mremap(m, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == MAP_FAILED)
			break;
		usleep(200);
		mremap(elsewhere, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, m);
		break;
	case 5:
		pid = fork();
		if (!pid) {
			usleep(1000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		break;
	case 6:
		madvise(m, n, MADV_PAGEOUT);
		break;
	case 7:
		madvise(m, n, MADV_COLD);
		break;
	case 8:
		madvise(m, n, random & 0x1000 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
		break;
	case 9:
		madvise(m, n, random & 0x1000 ? MADV_MERGEABLE : MADV_UNMERGEABLE);
		break;
	case 10:
		madvise(m, HUGE * PG, MADV_COLLAPSE);
		break;
	case 11:
		for (size_t i = 0; i < n; i += PG)
			az_move_page(m + i, random >> 12 & 1);
		break;
	case 12:
		mlock(m, n);
		usleep(200);
		munlock(m, n);
		break;
	}
}

static void *changer(void *arg)
{
	uint64_t s = 99 + (uintptr_t)arg;
	char *elsewhere = mmap(NULL, 64 * PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (!*stop) {
		size_t p = az_random(&s) % pages, n = 1 + az_random(&s) % 16;

		n = p + n > pages ? pages - p : n;
		change(buf + p * PG, n * PG, elsewhere, az_random(&s));
		if (az_random(&s) % 4 == 0)
			usleep(100);
	}
	return NULL;
}

static void t_chaos(char **args)
{
	(void)args;
	region(3 * HUGE, true);
	for (int i = 0; i < 2; i++) {
		spawn(kernel_writer, i);
		spawn(changer, i);
		spawn(sender, i);
	}
	finish();
}

/* ---- direct I/O ---- */

#define DISK_PAGES	256

static int disk;
static atomic_long direct_reads;

static uint64_t on_disk(size_t page, size_t word)
{
	return page * PG + word * 8 + 1;
}

/* Reads into the first halves of pages */
static void *direct_reader(void *arg)
{
	uint64_t s = 31 + (uintptr_t)arg;

	while (!*stop) {
		size_t p = (uintptr_t)arg * 8 + az_random(&s) % 8;
		size_t from = az_random(&s) % DISK_PAGES;
		uint64_t *to = (uint64_t *)(buf + p * PG);

		memset(to, 0, PG / 2);
		if (pread(disk, to, PG / 2, from * PG) != PG / 2) {
			FAIL("pread: %s", strerror(errno));
			break;
		}
		for (size_t i = 0; i < WORDS / 2; i++)
			if (to[i] != on_disk(from, i)) {
				FAIL("a direct read has been lost in page %zu", p);
				break;
			}
		direct_reads++;
	}
	return NULL;
}

/* Writes to the second halves */
static void *half_writer(void *arg)
{
	volatile uint64_t *b = (void *)buf;
	uint64_t s = 3;

	(void)arg;
	while (!*stop) {
		size_t i = az_random(&s) % pages * WORDS + WORDS / 2 + az_random(&s) % (WORDS / 2);

		b[i]++;
		shadow[i]++;
	}
	return NULL;
}

static bool fill_disk(const char *path)
{
	uint64_t *page;

	disk = open(path, O_RDWR | O_DIRECT);
	if (disk < 0 || posix_memalign((void **)&page, PG, PG)) {
		FAIL("%s: %s", path, strerror(errno));
		return false;
	}
	for (size_t p = 0; p < DISK_PAGES; p++) {
		for (size_t i = 0; i < WORDS; i++)
			page[i] = on_disk(p, i);
		if (pwrite(disk, page, PG, p * PG) != (ssize_t)PG) {
			FAIL("%s: %s", path, strerror(errno));
			return false;
		}
	}
	return true;
}

static void t_odirect(char **args)
{
	if (!*args || !fill_disk(*args))
		return;
	region(16, false);
	memset(buf, 0, pages * PG);
	spawn(direct_reader, 0);
	spawn(direct_reader, 1);
	spawn(half_writer, 0);
	spawn(sender, 0);
	spawn(sender, 1);
	finish();
	for (size_t i = 0; i < pages * WORDS; i++)
		if (i % WORDS >= WORDS / 2 && ((uint64_t *)buf)[i] != shadow[i]) {
			FAIL("a write beside a direct read has been lost");
			break;
		}
	printf("%ld direct reads\n", (long)direct_reads);
}

/* ---- processes end ---- */

static void *send_again_and_again(void *arg)
{
	int own = az_open();

	(void)arg;
	while (az_stats(own).inflight < 4 * IN_FLIGHT)
		az_send(own, buf, pages, AZ_RESTORE, 20000);
	return NULL;
}

/* Its other thread may be in the middle of a send */
static void __attribute__((noreturn)) end_somehow(int how)
{
	memset(buf, 7, pages * PG);
	az_send(az_open(), buf, pages, AZ_MANUAL, 0);
	spawn(send_again_and_again, 0);
	usleep(1000 + how * 500);
	memset(buf, 8, pages * PG);
	switch (how % 4) {
	case 0:
		_exit(0);
	case 1:
		execl("/bin/true", "true", NULL);
		break;
	case 2:
		raise(SIGKILL);
	}
	for (;;)		/* until the parent has enough */
		memset(buf, how, pages * PG);
}

static void t_exit(char **args)
{
	uint64_t end = az_now_ns() + secs * 1000000000ULL;
	int n = 0;

	(void)args;
	region(64, false);
	while (az_now_ns() < end && !(first_ends && failed_yet())) {
		pid_t pid = fork();

		if (!pid)
			end_somehow(n);
		if (n++ % 4 == 3) {
			usleep(5000);
			kill(pid, SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
	az_drain(dev);
	printf("%d processes\n", n);
}

/* ---- memory cgroups ---- */

#define CGROUPS	"/sys/fs/cgroup"
#define OURS	CGROUPS "/az_stress"

/* This process goes there, with what it takes from now on */
static void in_cgroup(size_t limit)
{
	char text[32];

	az_write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	if (mkdir(OURS, 0755) && errno != EEXIST)
		FAIL(OURS ": %s (cgroup2 is to be mounted)", strerror(errno));
	snprintf(text, sizeof(text), "%zu", limit);
	if (limit && az_write_file(OURS "/memory.max", text))
		FAIL("memory.max");
	if (az_write_file(OURS "/cgroup.procs", "0"))
		FAIL("cgroup.procs");
}

static void leave_cgroup(void)
{
	if (access(OURS, F_OK))
		return;
	az_write_file(CGROUPS "/cgroup.procs", "0");
	for (int i = 0; i < 100 && rmdir(OURS); i++)
		usleep(100000);
	if (!access(OURS, F_OK))
		FAIL("the cgroup can't go: %s", strerror(errno));
}

static void __attribute__((noreturn)) send_until_killed(void)
{
	int own = az_open();

	in_cgroup(16 << 20);
	for (;;) {
		region(2 * HUGE, false);
		memset(buf, 9, pages * PG);
		az_send(own, buf, pages, AZ_RESTORE, 20000);
		memset(buf, 10, pages * PG);
	}
}

static void t_oom(char **args)
{
	uint64_t end = az_now_ns() + secs * 1000000000ULL;
	int n = 0, status;

	(void)args;
	az_write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	mkdir(OURS, 0755);
	az_write_file(OURS "/memory.swap.max", "0");
	while (az_now_ns() < end && !failed_yet()) {
		pid_t pid = fork();

		if (!pid)
			send_until_killed();
		waitpid(pid, &status, 0);
		if (status != SIGKILL)
			FAIL("not killed: %x", status);
		n++;
	}
	az_drain(dev);
	printf("%d processes, %ld killed for want of memory\n", n,
	       az_read_number(OURS "/memory.events", "oom_kill "));
	if (az_read_number(OURS "/memory.events", "oom_kill ") < n)
		FAIL("some were killed for another reason");
	if (az_read_number(OURS "/memory.current", NULL) > 2 << 20)
		FAIL("%ld bytes are left in an empty cgroup",
		     az_read_number(OURS "/memory.current", NULL));
}

/* ---- many ---- */

/* A child with what it has inherited in flight, which its parent has in flight, too */
static void fork_and_send(int own)
{
	pid_t pid = fork();

	if (!pid) {
		az_send(own, buf, pages, AZ_RESTORE, 8000);
		memset(buf, 1, pages * PG / 2);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* In a process of its own: with threads it would be a test of processors interrupting each other */
static void send_many(long sends, uint64_t s)
{
	int own = az_open();

	region(64, false);
	memset(buf, 1, pages * PG);
	for (long i = 0; i < sends; i++) {
		size_t p = az_random(&s) % pages, n = 1 + az_random(&s) % 16;

		n = p + n > pages ? pages - p : n;
		az_send(own, buf + p * PG, n, (i & 1 ? AZ_RESTORE : 0) | (i % 4 ? AZ_NO_SUM : 0),
			i % 16 ? 0 : 8000);
		if (i % 4 < 3)
			((volatile char *)buf)[(p + i % n) * PG] = i;
		if (i % 1024 == 1023)
			fork_and_send(own);
		while (i % 16 == 0 && az_stats(own).inflight > 4 * IN_FLIGHT)
			usleep(500);
	}
	_exit(0);
}

/* Bytes charged to our cgroup when they have ended; what processors keep at hand is among them */
static long charged_after(long sends)
{
	pid_t pid[2];
	int status;

	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i])
			send_many(sends / 2, 17 + i);
	}
	for (int i = 0; i < 2; i++) {
		waitpid(pid[i], &status, 0);
		if (status)
			FAIL("a sender ended with %x", status);
	}
	az_drain(dev);
	return az_read_number(OURS "/memory.current", NULL);
}

static void t_leak(char **args)
{
	long sends = *args ? atol(*args) : 20000, before, after;

	in_cgroup(0);
	before = charged_after(sends / 10);
	after = charged_after(sends);
	printf("%ld bytes charged before, %ld after\n", before, after);
	if (before <= 0 || after - before > 2 << 20)
		FAIL("%ld sends have left %ld bytes", sends, after - before);
}

static const struct {
	const char *name;
	void (*run)(char **args);
} tests[] = {
	{ "integrity", t_integrity },
	{ "chaos", t_chaos },
	{ "odirect", t_odirect },
	{ "exit", t_exit },
	{ "oom", t_oom },
	{ "leak", t_leak },
};

int main(int argc, char **argv)
{
	size_t i;
	int o;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((o = getopt(argc, argv, "t:x")) != -1) {
		if (o == 't')
			secs = atoi(optarg);
		else if (o == 'x')
			first_ends = true;
		else
			return 2;
	}
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (argv[optind] && !strcmp(tests[i].name, argv[optind]))
			break;
	if (i == sizeof(tests) / sizeof(tests[0])) {
		fprintf(stderr, "usage: az_stress [-t SECONDS] [-x] integrity|chaos|odirect|exit|oom|leak [ARGUMENT...]\n");
		return 2;
	}
	stop = mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	dev = az_open();
	base = az_stats(dev);
	tests[i].run(argv + optind + 1);
	report();
	leave_cgroup();
	return bad ? 1 : 0;
}
