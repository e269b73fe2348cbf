// SPDX-License-Identifier: GPL-2.0
/*
 * az_cost: what page tracking costs, beside its alternatives. Nanoseconds, one line of key=value
 * for each size; where guest time counts instructions they can be told from it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "az.h"

static int dev;

/* Per loop, without what taking the time takes */
static double each(uint64_t ns, uint64_t ns_clock, unsigned int loops)
{
	return ns > ns_clock ? (double)(ns - ns_clock) / loops : 0;
}

static void touch(char *m, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)m)[i * PG]++;
}

static struct az_send repeated(char *m, size_t pages, unsigned int flags, unsigned int loops)
{
	struct az_send s = {
		.addr = (uintptr_t)m, .pages = pages, .flags = AZ_SYNC | flags, .loops = loops,
	};

	if (ioctl(dev, AZ_SEND, &s) || s.n != pages) {
		fprintf(stderr, "%u of %zu pages protected, why %u\n", s.n, pages, s.why);
		exit(1);
	}
	return s;
}

static uint64_t mprotect_pairs(char *m, size_t pages, unsigned int loops)
{
	uint64_t t = az_now_ns();

	for (unsigned int i = 0; i < loops; i++) {
		mprotect(m, pages * PG, PROT_READ);
		mprotect(m, pages * PG, PROT_READ | PROT_WRITE);
	}
	return az_now_ns() - t;
}

/* The next write to each page, when the send has ended with @flags, or hasn't */
static uint64_t writes(char *m, size_t pages, unsigned int loops, unsigned int flags, bool ended)
{
	uint64_t t, sum = 0;

	for (unsigned int i = 0; i < loops; i++) {
		az_send(dev, m, pages, AZ_MANUAL | AZ_NO_SUM, 0);
		if (ended)
			az_end(dev, 0, flags);
		t = az_now_ns();
		touch(m, pages);
		sum += az_now_ns() - t;
		if (!ended)
			az_end(dev, 0, flags);
	}
	return sum;
}

static void measure(const char *what, char *m, size_t pages, unsigned int loops)
{
	struct az_cost c = { .addr = (uintptr_t)m, .pages = pages, .loops = loops };
	struct az_send first, again;
	uint64_t clock, pairs, restored, reused, copied;

	touch(m, pages);
	if (ioctl(dev, AZ_COST, &c))
		exit(1);
	clock = c.ns_clock;
	touch(m, pages);
	first = repeated(m, pages, AZ_RESTORE, loops);
	repeated(m, pages, 0, 1);
	again = repeated(m, pages, 0, loops);
	touch(m, pages);
	pairs = mprotect_pairs(m, pages, loops);
	restored = writes(m, pages, loops, AZ_RESTORE, true);
	reused = writes(m, pages, loops, 0, true);
	copied = writes(m, pages, loops, AZ_RESTORE, false);
	printf("what=%s pages=%zu protect=%.0f restore=%.0f release=%.0f resend=%.0f "
	       "copy=%.0f gup=%.0f mprotect=%.0f write_restored=%.0f write_reused=%.0f write_copied=%.0f\n",
	       what, pages, each(first.ns_protect, clock, loops),
	       each(first.ns_restore, clock, loops), each(first.ns_release, clock, loops),
	       each(again.ns_protect, clock, loops) + each(again.ns_release, clock, loops),
	       each(c.ns_copy, 0, loops), each(c.ns_gup, 0, loops), each(pairs, 0, loops),
	       each(restored, clock, loops), each(reused, clock, loops),
	       each(copied, clock, loops));
	fflush(stdout);
}

/* A huge page; no writes, which would split its mapping */
static void measure_huge(unsigned int loops)
{
	char *m = az_map(HUGE, true);
	struct az_cost c = { .addr = (uintptr_t)m, .pages = HUGE, .loops = loops };
	struct az_send s;

	memset(m, 1, HUGE * PG);
	if (ioctl(dev, AZ_COST, &c))
		exit(1);
	s = repeated(m, HUGE, AZ_RESTORE, loops);
	if (!s.huge) {
		fprintf(stderr, "no huge page to be had\n");
		exit(1);
	}
	printf("what=huge pages=%lu protect=%.0f restore=%.0f release=%.0f copy=%.0f gup=%.0f mprotect=%.0f\n",
	       HUGE, each(s.ns_protect, c.ns_clock, loops), each(s.ns_restore, c.ns_clock, loops),
	       each(s.ns_release, c.ns_clock, loops), each(c.ns_copy, 0, loops),
	       each(c.ns_gup, 0, loops), each(mprotect_pairs(m, HUGE, loops), 0, loops));
}

int main(void)
{
	static const size_t sizes[] = { 1, 16, 64, 256 };
	char *m = az_map(256, false);

	dev = az_open();
	memset(m, 1, 256 * PG);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		measure("small", m, sizes[i], 3200 / (sizes[i] + 15));
	measure_huge(20);
	return 0;
}
