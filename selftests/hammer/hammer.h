/* SPDX-License-Identifier: GPL-2.0 */
/* sdp_az: what the sender and those that make it trouble have in common. */
#ifndef HAMMER_H
#define HAMMER_H

#include <stdatomic.h>

#include "sdp_test.h"

#define PG		4096UL
#define SECTOR		512ul

/* Who writes to the words at the end of each page; the first are the writer threads */
enum owner {
	WRITERS_MAX = 7,
	OWNER_MEM = WRITERS_MAX,	/* /proc/self/mem */
	OWNER_URING,
	OWNER_DIRECT,			/* has a sector of its own, before the words */
	OWNERS,
};
#define WORDS_SIZE	128ul

/* What one sender thread sends from */
struct region {
	unsigned char *mem;
	size_t size;
	uint64_t *shadow;		/* what was written last, OWNERS words a page */
	uint64_t rnd;
	int fd[64], fds;
};

extern struct region regions[64];
extern int n_regions;
extern size_t slots;			/* bytes at the end of each page that no message has */
extern atomic_bool stop;
extern atomic_int bad;

#define BAD(...) do {						\
	fprintf(stderr, "sdp_az: " __VA_ARGS__);		\
	fputc('\n', stderr);					\
	bad++;							\
} while (0)

static inline volatile uint64_t *slot_of(struct region *r, size_t page, enum owner owner)
{
	unsigned char *end = r->mem + (page + 1) * PG;

	if (owner == OWNER_DIRECT)
		return (void *)(end - 2 * SECTOR);
	return (void *)(end - WORDS_SIZE + 8 * owner);
}

static inline uint64_t *shadow_of(struct region *r, size_t page, enum owner owner)
{
	return &r->shadow[page * OWNERS + owner];
}

/* trouble.c */
bool trouble(const char *name);		/* is it wanted? */
void trouble_set(const char *name);
void trouble_disk(const char *path);
int trouble_begin(pthread_t *threads, int writers);
void trouble_end(pthread_t *threads, int n);

#endif /* HAMMER_H */
