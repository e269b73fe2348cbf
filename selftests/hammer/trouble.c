// SPDX-License-Identifier: GPL-2.0
/*
 * What happens to a sender's memory, and who writes there, beside it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "../trouble/trouble.h"
#include "hammer.h"

#define DISK_SECTORS	64

static int disk = -1;

bool trouble_over(void)
{
	return stop;
}

void trouble_failed(const char *text)
{
	BAD("%s", text);
}

char *trouble_some(uint64_t *s, size_t pages, size_t *bytes)
{
	struct region *r = &regions[rnd(s) % n_regions];
	size_t p = rnd(s) % (r->size / PG), left = r->size / PG - p;

	*bytes = rnd_range(s, 1, pages < left ? pages : left) * PG;
	return (char *)r->mem + p * PG;
}

volatile uint64_t *trouble_word(uint64_t *s, void *page, uint64_t **shadow)
{
	unsigned char *at = page;

	(void)s;
	for (int i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];
		size_t p = (at - r->mem) / PG;

		if (at < r->mem || at >= r->mem + r->size)
			continue;
		*shadow = shadow_of(r, p, OWNER_URING);
		return slot_of(r, p, OWNER_URING);
	}
	errx(EXIT_FAILURE, "%p is no page that is sent", page);
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

static struct {
	const char *name;
	void *(*thread)(void *);	/* NULL: something the sender does or the memory is */
	long arg;
	bool on;
} troubles[] = {
	{ "fork", trouble_fork, 1, false },
	{ "pageout", trouble_advise, MADV_PAGEOUT, false },
	{ "mlock", trouble_mlock, 2, false },
	{ "vmsplice", trouble_vmsplice, 3, false },
	{ "soft", trouble_soft_dirty, 0, false },
	{ "compact", trouble_compact, 0, false },
	{ "migrate", trouble_migrate, 4, false },
	{ "mem", mem_writer, 5, false },
	{ "uring", trouble_uring, 6, false },
	{ "uffd", trouble_uffd, 7, false },
	{ "ksm", NULL, 0, false },
	{ "thp", NULL, 0, false },
	{ "unmap", NULL, 0, false },
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
				       (void *)troubles[i].arg);
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
