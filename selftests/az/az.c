// SPDX-License-Identifier: GPL-2.0
/* What the programs that test page tracking have in common */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "az.h"

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(2);
}

/* What a socket is elsewhere */
int az_open(void)
{
	int dev = open("/dev/sdp_az_test", O_RDWR | O_CLOEXEC);

	if (dev < 0)
		die("/dev/sdp_az_test (sdp_az_test.ko is to be loaded)");
	return dev;
}

struct az_send az_send(int dev, void *addr, size_t pages, unsigned int flags, unsigned int delay_us)
{
	struct az_send s = {
		.addr = (uintptr_t)addr, .pages = pages, .flags = flags, .delay_us = delay_us,
	};

	if (ioctl(dev, AZ_SEND, &s))
		die("AZ_SEND");
	return s;
}

struct az_complete az_end(int dev, unsigned int count, unsigned int flags)
{
	struct az_complete c = { .count = count, .flags = flags };

	if (ioctl(dev, AZ_COMPLETE, &c))
		die("AZ_COMPLETE");
	return c;
}

struct az_stats az_stats(int dev)
{
	struct az_stats s;

	if (ioctl(dev, AZ_STATS, &s))
		die("AZ_STATS");
	return s;
}

void az_drain(int dev)
{
	if (ioctl(dev, AZ_DRAIN))
		die("AZ_DRAIN");
}

/* Private memory, aligned as a huge page is, of huge pages (where there are) or of none */
char *az_map(size_t pages, bool huge)
{
	size_t size = (pages + HUGE - 1) / HUGE * HUGE * PG, align = HUGE * PG;
	char *m = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0), *at = (char *)(((uintptr_t)m + align - 1) & ~(align - 1));

	if (m == MAP_FAILED)
		die("mmap");
	if (at > m)
		munmap(m, at - m);
	munmap(at + size, m + align - at);
	madvise(at, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return at;
}

/* The entry of /proc/self/pagemap */
uint64_t az_pagemap(const void *addr)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t v = 0;

	if (fd < 0 || pread(fd, &v, sizeof(v), (uintptr_t)addr / PG * sizeof(v)) != sizeof(v))
		die("/proc/self/pagemap");
	close(fd);
	return v;
}

int az_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ok;

	if (fd < 0)
		return -1;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok ? 0 : -1;
}

/* The number after @key in a file, or the first there is without one; -1 if there is none */
long az_read_number(const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	char line[256];
	long v = -1;

	while (f && v < 0 && fgets(line, sizeof(line), f))
		if (!key)
			v = atol(line);
		else if (!strncmp(line, key, strlen(key)))
			v = atol(line + strlen(key) + strcspn(line + strlen(key), "0123456789"));
	if (f)
		fclose(f);
	return v;
}

/* To another NUMA node: that node afterwards, or a negative errno */
long az_move_page(void *addr, int node)
{
	int status = -EINVAL;
	long left = syscall(SYS_move_pages, 0, 1UL, &addr, &node, &status, MPOL_MF_MOVE);

	if (left < 0)
		return -errno;
	return left ? -EAGAIN : status;
}

uint64_t az_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

uint64_t az_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}
