// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD for verbs programs that poll a completion queue (ib_send_lat, rstream), so that
 * they can be measured on a single CPU: a poll that finds nothing yields the CPU. Without it
 * each side spins until its time slice ends, and what is measured is the scheduler's tick.
 *
 * struct ibv_context begins with a pointer to the device, then the table of operations, whose
 * twelfth is poll_cq; struct ibv_cq begins with its context. That is libibverbs' stable ABI,
 * since ibv_poll_cq() is an inline function of its header.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

#define OP_POLL_CQ	11

struct context {
	void *device;
	void *ops[OP_POLL_CQ + 1];
};

typedef int (*poll_fn)(void *cq, int n, void *wc);

static poll_fn real_poll;

static int yielding_poll(void *cq, int n, void *wc)
{
	int got = real_poll(cq, n, wc);

	if (!got)
		sched_yield();
	return got;
}

struct context *ibv_open_device(void *device);

struct context *ibv_open_device(void *device)
{
	struct context *(*open)(void *device);
	struct context *ctx;

	*(void **)&open = dlsym(RTLD_NEXT, "ibv_open_device");
	if (!open)
		abort();
	ctx = open(device);
	if (ctx && ctx->ops[OP_POLL_CQ] != (void *)yielding_poll) {
		*(void **)&real_poll = ctx->ops[OP_POLL_CQ];
		ctx->ops[OP_POLL_CQ] = (void *)yielding_poll;
	}
	return ctx;
}
