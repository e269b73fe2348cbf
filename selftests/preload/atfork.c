// SPDX-License-Identifier: GPL-2.0
/*
 * A library such as many programs are linked to: it registers handlers for
 * fork() when it is loaded, which use malloc() and what it gave.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE	(1 << 20)

static char *before;

static void check(const void *p, int c)
{
	const char *s = p;

	for (int i = 0; i < SIZE; i++)
		if (s[i] != c)
			abort();
}

/* Asks for as much as is a region's, and looks at what was there */
static void handler(void)
{
	char *p = malloc(SIZE);

	if (!p)
		abort();
	memset(p, 1, SIZE);
	p = realloc(p, 2 * SIZE);
	check(p, 1);
	free(p);
	check(before, 2);
}

__attribute__((constructor)) static void start(void)
{
	before = malloc(SIZE);
	if (!before)
		abort();
	memset(before, 2, SIZE);
	pthread_atfork(handler, handler, handler);
}
