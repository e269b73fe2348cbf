/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes have a socket open; see owner.c. */
#ifndef SDPSTAT_OWNER_H
#define SDPSTAT_OWNER_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct owner - a descriptor of a socket
 * @inode:	the socket's
 * @pid:	whose it is
 * @fd:		its number
 * @comm:	name of the process
 */
struct owner {
	uint64_t inode;
	int pid;
	int fd;
	char comm[32];
};

/**
 * owner_scan() - look at all processes' descriptors
 *
 * Those of other users' processes can be seen by root only.
 */
void owner_scan(void);

/**
 * owner_find() - descriptors of a socket
 * @inode:	the socket's
 * @n:		how many there are
 *
 * Return: the first of them, in the order of pid and fd.
 */
const struct owner *owner_find(uint64_t inode, size_t *n);

#endif
