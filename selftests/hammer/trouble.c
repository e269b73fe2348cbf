// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to a sender's memory, and who writes there, beside it.
 */
#include <fcntl.h>
#include <liburing.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "hammer.h"

#define DISK_SECTORS	64

static int disk = -1;

/* Some range of some region, page-aligned */
static unsigned char *some(uint64_t *s, size_t pages, size_t *len)
{
	struct region *r = &regions[rnd(s) % n_regions];
	size_t p = rnd(s) % (r->size / PG), n = rnd_range(s, 1, pages);

	*len = (p + n > r->size / PG ? r->size / PG - p : n) * PG;
	return r->mem + p * PG;
}

/* Some page, for who writes there by himself */
static struct region *some_page(uint64_t *s, size_t *page)
{
	struct region *r = &regions[rnd(s) % n_regions];

	*page = rnd(s) % (r->size / PG);
	return r;
}

static void *writer(void *arg)
{
	uint64_t w = (intptr_t)arg, s = 77 + w;
	size_t page;

	while (!stop) {
		struct region *r = some_page(&s, &page);
		volatile uint64_t *slot = slot_of(r, page, w);

		for (int i = 0; i < 50; i++) {
			(*slot)++;
			(*shadow_of(r, page, w))++;
		}
	}
	return NULL;
}

/* The same by another door */
static void *mem_writer(void *arg)
{
	int fd = open("/proc/self/mem", O_RDWR);
	uint64_t s = (intptr_t)arg, v;
	size_t page;

	if (fd < 0)
		err(EXIT_FAILURE, "/proc/self/mem");
	while (!stop) {
		struct region *r = some_page(&s, &page);

		v = ++*shadow_of(r, page, OWNER_MEM);
		if (pwrite(fd, &v, 8, (uintptr_t)slot_of(r, page, OWNER_MEM)) != 8)
			BAD("write to /proc/self/mem: %s", strerror(errno));
		usleep(100);
	}
	close(fd);
	return NULL;
}

/* Reads into buffers that are registered, pinned for writing, a while before and after */
static void *uring(void *arg)
{
	uint64_t s = (intptr_t)arg, v;
	int fd = memfd_create("sdp_az", 0);
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	size_t page;

	if (fd < 0 || io_uring_queue_init(4, &ring, 0))
		errx(EXIT_FAILURE, "no io_uring");
	while (!stop) {
		struct region *r = some_page(&s, &page);
		struct iovec iov = { r->mem + page * PG, PG };

		if (io_uring_register_buffers(&ring, &iov, 1))
			continue;
		for (int i = 0; i < 8; i++) {
			v = *shadow_of(r, page, OWNER_URING) + 1;
			if (pwrite(fd, &v, 8, 0) != 8)
				err(EXIT_FAILURE, "memfd");
			io_uring_prep_read_fixed(io_uring_get_sqe(&ring), fd,
						 (void *)slot_of(r, page, OWNER_URING), 8, 0, 0);
			io_uring_submit_and_wait(&ring, 1);
			if (io_uring_wait_cqe(&ring, &cqe) || cqe->res != 8)
				BAD("read into a registered buffer");
			else
				*shadow_of(r, page, OWNER_URING) = v;
			io_uring_cqe_seen(&ring, cqe);
		}
		usleep(rnd(&s) % 1000);
		io_uring_unregister_buffers(&ring);
	}
	io_uring_queue_exit(&ring);
	close(fd);
	return NULL;
}

/* Sector n of the disk is full of n + 1 */
static void *direct(void *arg)
{
	uint64_t s = (intptr_t)arg, n;
	size_t page;

	while (!stop) {
		struct region *r = some_page(&s, &page);

		n = rnd(&s) % DISK_SECTORS;
		if (pread(disk, (void *)slot_of(r, page, OWNER_DIRECT), SECTOR, n * SECTOR) !=
		    (ssize_t)SECTOR)
			BAD("read from the disk: %s", strerror(errno));
		else
			*shadow_of(r, page, OWNER_DIRECT) = n + 1;
	}
	return NULL;
}

/* Has each sector been read to its end? Its beginning is looked at with the others */
static void direct_check(void)
{
	for (int i = 0; i < n_regions; i++)
		for (size_t page = 0; page < regions[i].size / PG; page++) {
			volatile uint64_t *slot = slot_of(&regions[i], page, OWNER_DIRECT);

			if (slot[0] != slot[SECTOR / 8 - 1])
				BAD("page %zu has half a sector", page);
		}
}

/* Between NUMA nodes */
static void *migrater(void *arg)
{
	uint64_t s = (intptr_t)arg;
	size_t page;

	for (int k = 0; !stop; k++) {
		struct region *r = some_page(&s, &page);
		void *at = r->mem + page * PG;
		int node = k % 2, status;

		syscall(SYS_move_pages, 0, 1, &at, &node, &status, 2 /* MPOL_MF_MOVE */);
		usleep(200);
	}
	return NULL;
}

/* Who writes to part of a region waits in his fault for a while */
static void *uffd(void *arg)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	uint64_t s = (intptr_t)arg;
	size_t len;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		err(EXIT_FAILURE, "userfaultfd");
	while (!stop) {
		struct uffdio_range range = { (uintptr_t)some(&s, 32, &len), 0 };
		struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_WP };
		struct uffdio_writeprotect wp = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };

		range.len = len;
		reg.range = range;
		wp.range = range;
		if (ioctl(fd, UFFDIO_REGISTER, &reg))
			err(EXIT_FAILURE, "UFFDIO_REGISTER");
		ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
		usleep(1000);
		wp.mode = 0;
		while (ioctl(fd, UFFDIO_WRITEPROTECT, &wp) && errno == EAGAIN)
			;
		ioctl(fd, UFFDIO_UNREGISTER, &range);
		usleep(2000);
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
	{ "migrate", migrater, false },
	{ "mem", mem_writer, false },
	{ "uring", uring, false },
	{ "uffd", uffd, false },
	{ "ksm", NULL, false },
	{ "thp", NULL, false },
	{ "unmap", NULL, false },
};

bool trouble(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (!strcmp(troubles[i].name, name))
			return troubles[i].on;
	return false;
}

void trouble_set(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (!strcmp(troubles[i].name, name)) {
			troubles[i].on = true;
			return;
		}
	errx(EXIT_USAGE, "unknown trouble '%s'", name);
}

/* Reads by O_DIRECT from there from now on; before that it is filled */
void trouble_disk(const char *path)
{
	uint64_t *sector = aligned_alloc(PG, SECTOR);

	disk = open(path, O_RDWR | O_DIRECT);
	if (disk < 0 || !sector)
		err(EXIT_FAILURE, "%s", path);
	for (uint64_t n = 0; n < DISK_SECTORS; n++) {
		for (size_t i = 0; i < SECTOR / 8; i++)
			sector[i] = n + 1;
		if (pwrite(disk, sector, SECTOR, n * SECTOR) != (ssize_t)SECTOR)
			err(EXIT_FAILURE, "%s", path);
	}
	free(sector);
	slots = 2 * SECTOR;
}

/* Their number; without writers where the sender takes memory away */
int trouble_begin(pthread_t *threads, int writers)
{
	int n = 0;

	for (int w = 0; w < writers && !trouble("unmap"); w++)
		pthread_create(&threads[n++], NULL, writer, (void *)(intptr_t)w);
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (troubles[i].on && troubles[i].thread)
			pthread_create(&threads[n++], NULL, troubles[i].thread,
				       (void *)(intptr_t)i);
	if (disk >= 0)
		pthread_create(&threads[n++], NULL, direct, NULL);
	return n;
}

void trouble_end(pthread_t *threads, int n)
{
	stop = true;
	while (n)
		pthread_join(threads[--n], NULL);
	if (disk >= 0)
		direct_check();
}
