/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices as the module sees them; see device.c */
#ifndef _SDP_DEVICE_H
#define _SDP_DEVICE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>

#include "sdp.h"

struct sdp_cm_ops;

/**
 * struct sdp_dev - one RDMA device
 * @ib:		the device
 * @cm:		how connections are made on it
 * @list:	on the list of devices, sdp_cm_mutex (cm.c)
 * @listens:	struct sdp_cm_listen of each port listened on, sdp_cm_mutex
 * @reg_replayed: it executes a registration again when it repeats what was posted before, which
 *		then fails; an invalidation in front keeps it from that. So does soft-RoCE.
 * @lock:	guards what follows
 * @conns:	connections, from set-up to the end of timewait
 * @pds:	protection domains in use, one per user
 * @cache:	free buffers by order, mapped for DMA
 * @cached:	bytes in @cache
 * @tw_count:	connections in timewait
 * @mr_count:	memory regions, in use or not
 * @mr_used:	... in use
 * @mr_work:	gives those not used for long back
 * @removed:	the device is going away: no new connections
 * @refs:	one of the device list, one of each connection and buffer user
 * @unused:	completed with the last reference
 */
struct sdp_dev {
	struct ib_device	*ib;
	const struct sdp_cm_ops	*cm;
	struct list_head	list;
	struct list_head	listens;
	bool			reg_replayed;
	spinlock_t		lock;
	struct list_head	conns;
	struct list_head	pds;
	struct list_head	cache[SDP_BUF_ORDERS];
	u32			cached;
	u32			tw_count;
	u32			mr_count;
	u32			mr_used;
	struct delayed_work	mr_work;
	bool			removed;
	refcount_t		refs;
	struct completion	unused;
};

/**
 * struct sdp_pd - protection domain of one user on one device
 * @list:	on the device's @pds
 * @dev:	the device; each user has a reference
 * @pd:		the domain
 * @uid:	whose it is: memory registered in it can be reached only through queue
 *		pairs of the same user's sockets
 * @users:	connections in it and memory regions in use; the device's lock
 * @mrs:	free memory regions, the one used last first; the device's lock
 */
struct sdp_pd {
	struct list_head	list;
	struct sdp_dev		*dev;
	struct ib_pd		*pd;
	kuid_t			uid;
	unsigned int		users;
	struct list_head	mrs;
};

#endif /* _SDP_DEVICE_H */
