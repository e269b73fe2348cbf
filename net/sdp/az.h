/* SPDX-License-Identifier: GPL-2.0 */
/* AZ-SDP sending; see az.c */
#ifndef _SDP_AZ_H
#define _SDP_AZ_H

#include <linux/llist.h>
#include <linux/skbuff.h>

#include "az_track.h"
#include "region.h"
#include "sdp.h"

/* Up to what a send() takes at a time: a huge page, and what would be too short by itself */
#define SDP_AZ_MIN		(64UL << 10)
#define SDP_AZ_PAGES		((PMD_SIZE + SDP_AZ_MIN) / PAGE_SIZE + 2)

/**
 * struct sdp_az - memory of a program that is being sent while the program goes on
 * @users:	sources that lie in it, and its sender while that makes them
 * @sk:		socket, a reference
 * @node:	among those whose sending is over
 * @hurried:	a writer has waited for it in vain; the region's lock
 * @hurry_node:	among those
 * @range:	its pages that are protected, of ordinary memory
 * @span:	... of a region
 * @n:		how many those are
 * @why:	why not more
 * @pages:	all of its pages: first and last may be copies, as those hold other data, too
 * @npages:	how many
 * @head:	the first one is a copy
 * @off:	where in the first one it begins
 * @len:	bytes
 * @copied:	bytes of them in copies
 * @gentle:	not asked for by name (SDP_AUTO): what would cost others is refused
 * @restore:	the program is likely to write to it again: save it the faults
 * @began:	when it was protected
 * @mmp:	what counts against RLIMIT_MEMLOCK
 */
struct sdp_az {
	refcount_t		users;
	struct sock		*sk;
	struct llist_node	node;
	bool			hurried;
	struct llist_node	hurry_node;
	struct sdp_az_range	range;
	struct sdp_region_span	span;
	unsigned int		n;
	enum sdp_az_why		why;
	struct page		**pages;
	unsigned int		npages;
	bool			head;
	u32			off;
	u32			len;
	u32			copied;
	bool			gentle;
	bool			restore;
	ktime_t			began;
	struct mmpin		mmp;
};

bool sdp_az_wanted(struct sock *sk, struct msghdr *msg);
bool sdp_az_large(const struct sock *sk, const struct msghdr *msg);
int sdp_az_send(struct sock *sk, struct msghdr *msg, long *timeo, int *sent);
void sdp_az_put(struct sdp_az *az);

#endif /* _SDP_AZ_H */
