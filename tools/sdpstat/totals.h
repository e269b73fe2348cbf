/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of /proc/net/sdpstats; see totals.c. */
#ifndef SDPSTAT_TOTALS_H
#define SDPSTAT_TOTALS_H

#include <stdbool.h>

/**
 * totals_show() - print all counters, or how they grow
 * @interval:	seconds from one time to the next, 0 for once
 * @count:	how many times, 0 for without end
 * @header:	growth begins with a line of titles
 * @zeros:	those that are zero, or don't grow, as well
 * @json:	as JSON, an object a line, and all of them
 */
void totals_show(double interval, unsigned int count, bool header, bool zeros, bool json);

#endif
