// SPDX-License-Identifier: GPL-2.0
/* From a socket's inode number to the processes that have it open, by /proc/PID/fd. */
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "owner.h"

static struct owner *owners;
static size_t n_owners, room;

static void append(const struct owner *o)
{
	if (n_owners == room) {
		room = room * 2 ?: 64;
		owners = realloc(owners, room * sizeof(*owners));
		if (!owners)
			err(EXIT_FAILURE, "%zu descriptors", n_owners);
	}
	owners[n_owners++] = *o;
}

static void read_comm(struct owner *o)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", o->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, o->comm, sizeof(o->comm) - 1);
		close(fd);
	}
	o->comm[n > 0 ? n - 1 : 0] = 0;		/* without the newline */
}

/* A process may go at any time, so nothing that isn't there is an error */
static void scan_process(int pid)
{
	struct owner o = { .pid = pid };
	char path[64], link[64];
	struct dirent *e;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
		if (n < 0)
			continue;
		link[n] = 0;
		if (sscanf(link, "socket:[%lu]", &o.inode) != 1)
			continue;
		o.fd = atoi(e->d_name);
		if (!*o.comm)
			read_comm(&o);
		append(&o);
	}
	closedir(dir);
}

static int by_inode(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->fd - y->fd;
}

void owner_scan(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	if (!dir)
		err(EXIT_FAILURE, "/proc");
	n_owners = 0;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)*e->d_name))
			scan_process(atoi(e->d_name));
	closedir(dir);
	qsort(owners, n_owners, sizeof(*owners), by_inode);
}

const struct owner *owner_find(uint64_t inode, size_t *n)
{
	size_t lo = 0, hi = n_owners, end;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (owners[mid].inode < inode)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; inode && end < n_owners && owners[end].inode == inode; )
		end++;
	*n = end - lo;
	return owners + lo;
}
