/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that test page tracking have in common */
#ifndef _AZ_H
#define _AZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "az_test.h"
#include "../../net/sdp/az_track.h"

#define PG	4096UL
#define HUGE	512UL		/* pages of a huge page */

/* Younger than the libc we build with, or not in it */
#ifndef MADV_COLD
#define MADV_COLD	20
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

int az_open(void);
struct az_send az_send(int dev, void *addr, size_t pages, unsigned int flags,
		       unsigned int delay_us);
struct az_complete az_end(int dev, unsigned int count, unsigned int flags);
struct az_stats az_stats(int dev);
void az_drain(int dev);

char *az_map(size_t pages, bool huge);
uint64_t az_pagemap(const void *addr);
int az_write_file(const char *path, const char *text);
long az_read_number(const char *path, const char *key);
long az_move_page(void *addr, int node);
uint64_t az_random(uint64_t *state);
uint64_t az_now_ns(void);

#endif /* _AZ_H */
