/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the module maps itself; see region.c */
#ifndef _SDP_REGION_H
#define _SDP_REGION_H

#include <linux/types.h>

#include "az_track.h"

struct file;
struct net;
struct page;
struct vm_area_struct;

/**
 * struct sdp_region_span - pages of a region that a transfer reads or writes
 * @file:	holds the region, a reference; NULL for no region
 * @first:	its first page, counted in the region
 * @want:	pages asked for, as far as the mapping goes
 * @n:		pages the transfer has, from the first on
 * @pages:	array of the caller's; a reference to each of the @n
 * @block:	sending: whoever writes there waits, instead of getting a copy
 * @hurry:	... for too long: called with the region's lock held, which a softirq may take
 * @node:	... among those of the region
 * @waits:	... and somebody does, or did; the region's lock
 * @since:	... when that began, jiffies
 * @id:		receiving: the transfer's number in the region
 * @why:	why there aren't more pages
 * @flushes:	how often the TLBs were flushed
 * @moved:	sdp_region_sent(): pages that were written to meanwhile, and so copied
 */
struct sdp_region_span {
	struct file		*file;
	unsigned long		first;
	unsigned int		want;
	unsigned int		n;
	struct page		**pages;
	bool			block;
	void			(*hurry)(struct sdp_region_span *s);
	struct list_head	node;
	bool			waits;
	unsigned long		since;
	u32			id;
	enum sdp_az_why		why;
	unsigned int		flushes;
	unsigned int		moved;
};

int sdp_region_mmap(struct net *net, struct vm_area_struct *vma);
bool sdp_region_find(struct sdp_region_span *s, unsigned long addr, unsigned int n, bool write);
void sdp_region_put(struct sdp_region_span *s);
void sdp_region_send(struct sdp_region_span *s);
void sdp_region_sent(struct sdp_region_span *s);
void sdp_region_expect(struct sdp_region_span *s);
void sdp_region_arrived(struct sdp_region_span *s, bool ok);
void sdp_region_unexpect(struct sdp_region_span *s);

#endif /* _SDP_REGION_H */
