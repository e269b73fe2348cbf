// SPDX-License-Identifier: GPL-2.0
/* Counters of the network namespace: what they are, and how fast they grow. */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "totals.h"

#define STATS		"/proc/net/sdpstats"
#define COUNTERS_MAX	256

/**
 * struct counters - the counters at some time
 * @n:		how many
 * @at:		monotonic time, seconds
 * @name:	their names
 * @value:	their values
 */
struct counters {
	unsigned int n;
	double at;
	char name[COUNTERS_MAX][32];
	uint64_t value[COUNTERS_MAX];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void counters_read(struct counters *c)
{
	FILE *f = fopen(STATS, "re");

	if (!f && errno == ENOENT)
		errx(EXIT_FAILURE, "sdp.ko isn't loaded, so there are no counters: modprobe sdp");
	if (!f)
		err(EXIT_FAILURE, STATS);
	c->at = now();
	c->n = 0;
	while (c->n < COUNTERS_MAX &&
	       fscanf(f, "%31s %" SCNu64, c->name[c->n], &c->value[c->n]) == 2)
		c->n++;
	fclose(f);
}

/* Nothing but counting wraps, and a module loaded anew begins at zero */
static uint64_t grown(const struct counters *c, const struct counters *before, unsigned int i)
{
	if (before->n != c->n || c->value[i] < before->value[i])
		return c->value[i];
	return c->value[i] - before->value[i];
}

static void show_text(const struct counters *c, const struct counters *before, bool header,
		      bool zeros)
{
	double span = c->at - before->at;

	if (before->n && header)
		printf("%-20s %20s %15s\n", "Counter", "Total", "/s");
	for (unsigned int i = 0; i < c->n; i++) {
		uint64_t growth = grown(c, before, i);

		if (!zeros && !(before->n ? growth : c->value[i]))
			continue;
		printf("%-20s %20" PRIu64, c->name[i], c->value[i]);
		if (before->n)
			printf(" %15.1f", growth / span);
		putchar('\n');
	}
	if (before->n)
		putchar('\n');
}

static void show_growth(const struct counters *c, const struct counters *before)
{
	printf(",\"seconds\":%.6f,\"growth\":{", c->at - before->at);
	for (unsigned int i = 0; i < c->n; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", c->name[i], grown(c, before, i));
	printf("}");
}

static void show_json(const struct counters *c, const struct counters *before)
{
	printf("{\"time\":%ld,\"counters\":{", time(NULL));
	for (unsigned int i = 0; i < c->n; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", c->name[i], c->value[i]);
	printf("}");
	if (before->n)
		show_growth(c, before);
	printf("}\n");
}

static void pause_until(double when)
{
	struct timespec ts = { .tv_sec = when };

	ts.tv_nsec = (when - ts.tv_sec) * 1e9;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

void totals_show(double interval, unsigned int count, bool header, bool zeros, bool json)
{
	static struct counters c[2];
	unsigned int i = 0;
	double next;

	if (interval > 0)
		counters_read(&c[1]);
	next = c[1].at;
	do {
		if (interval > 0)
			pause_until(next += interval);
		counters_read(&c[i & 1]);
		if (json)
			show_json(&c[i & 1], &c[~i & 1]);
		else
			show_text(&c[i & 1], &c[~i & 1], header, zeros);
		if (fflush(stdout) || ferror(stdout))
			err(EXIT_FAILURE, "output");
		i++;
	} while (interval > 0 && i != count);
}
