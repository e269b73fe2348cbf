/* SPDX-License-Identifier: GPL-2.0 */
/* Which sockets are wanted: states and ss-like expressions. No kernel needed; see filter.c. */
#ifndef SDPSTAT_FILTER_H
#define SDPSTAT_FILTER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct filter_end - an end of a connection
 * @addr:	IPv4 addresses are v4-mapped
 * @port:	in host order
 */
struct filter_end {
	struct in6_addr addr;
	uint16_t port;
};

/**
 * struct filter_sock - what a filter looks at
 * @local:	this end
 * @peer:	the other one
 * @device:	RDMA device, "" if there is none
 */
struct filter_sock {
	struct filter_end local, peer;
	const char *device;
};

struct filter_expr;

/**
 * struct filter - a filter
 * @states:	bits 1 << TCP_*; 0 when the words named none
 * @expr:	the expression or NULL
 * @sport:	every socket that matches has this local port, unless 0
 * @dport:	... this peer's port
 */
struct filter {
	uint32_t states;
	struct filter_expr *expr;
	uint16_t sport, dport;
};

/**
 * filter_parse() - make a filter from words of a command line
 * @f:		filter, to be freed by filter_free() whatever is returned
 * @argc:	number of words
 * @argv:	words
 * @why:	on error: what is wrong, a line
 * @len:	room at @why
 *
 * Return: false on error.
 */
bool filter_parse(struct filter *f, int argc, char *const *argv, char *why, size_t len);

/**
 * filter_match() - is a socket wanted, states aside?
 * @f:	filter
 * @s:	socket
 */
bool filter_match(const struct filter *f, const struct filter_sock *s);

void filter_free(struct filter *f);

/**
 * filter_state_name() - a state's name
 * @state:	TCP_*
 *
 * Return: as ss(8) and the filter spell it, "unknown" for a number that is no state.
 */
const char *filter_state_name(unsigned int state);

/* States by default, and with -l */
#define FILTER_LISTENING	(1u << 10)
#define FILTER_CLOSED		(1u << 7)
#define FILTER_ALL		0xffeu
#define FILTER_CONNECTED	(FILTER_ALL & ~(FILTER_LISTENING | FILTER_CLOSED))

#endif
