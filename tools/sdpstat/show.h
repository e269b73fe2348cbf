/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets as text and as JSON; see show.c. */
#ifndef SDPSTAT_SHOW_H
#define SDPSTAT_SHOW_H

#include <stdbool.h>

#include "sock.h"

/**
 * struct show - what is to be shown of a socket beyond its line
 * @no_header:	without the line of titles
 * @processes:	who has it open; owner_scan() has been called
 * @extended:	owner, inode, cookie, mark, cgroup
 * @details:	the connection's state
 * @memory:	socket memory
 * @timers:	what is due next
 */
struct show {
	bool no_header, processes, extended, details, memory, timers;
};

/**
 * show_text() - sockets as a table
 * @list:	sockets
 * @show:	what of them
 */
void show_text(const struct sock_list *list, const struct show *show);

/**
 * show_json() - sockets as one JSON object, with all there is but processes
 * @list:	sockets
 * @processes:	these as well; owner_scan() has been called
 */
void show_json(const struct sock_list *list, bool processes);

#endif
