/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What may happen to memory while it is being sent, as threads of the program whose memory that
 * is. They go on until trouble_over(), and tell trouble_failed() what should not have been.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the program has these ---- */

bool trouble_over(void);
void trouble_failed(const char *text);
/* Whole pages, up to @pages of them, somewhere in the memory; advances the random number @s */
char *trouble_some(uint64_t *s, size_t pages, size_t *bytes);
/* A word in @page that nobody else writes to; where the program keeps what it should be */
volatile uint64_t *trouble_word(uint64_t *s, void *page, uint64_t **shadow);

/* ---- threads; @arg is a number, their random numbers begin with it ---- */

void *trouble_fork(void *arg);		/* children look at their frozen copies */
void *trouble_advise(void *arg);	/* @arg: an madvise() */
void *trouble_mlock(void *arg);
void *trouble_vmsplice(void *arg);
void *trouble_soft_dirty(void *arg);
void *trouble_compact(void *arg);
void *trouble_migrate(void *arg);	/* between NUMA nodes */
void *trouble_uffd(void *arg);		/* who writes to part of it waits in his fault */
void *trouble_uring(void *arg);		/* reads into fixed buffers, which come and go */

#endif /* TROUBLE_H */
