/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that keep what they contain while their program goes on; see az_track.c */
#ifndef _SDP_AZ_TRACK_H
#define _SDP_AZ_TRACK_H

#include <linux/types.h>

struct mm_struct;
struct page;

/**
 * enum sdp_az_why - why the protected prefix of a range ended where it did
 * @SDP_AZ_ALL:		it is the whole range
 * @SDP_AZ_VMA:		not private anonymous memory, or userfaultfd has it
 * @SDP_AZ_ABSENT:	not there, and not to be had
 * @SDP_AZ_NOT_ANON:	a page of another kind
 * @SDP_AZ_REFS:	somebody who may be writing to it holds a page
 * @SDP_AZ_PINNED:	a page is pinned, for direct I/O or RDMA
 * @SDP_AZ_NOTIFIER:	the process has MMU notifiers, a KVM guest for one
 * @SDP_AZ_ODD:		a mapping this code doesn't know
 * @SDP_AZ_KERNEL:	this kernel isn't one it works on
 * @SDP_AZ_SIGNAL:	the process is being killed
 * @SDP_AZ_PART:	part of a huge page, which was to stay whole
 * @SDP_AZ_LOCK:	the mmap lock was taken, and not to be waited for
 * @SDP_AZ_WHYS:	how many there are
 */
enum sdp_az_why {
	SDP_AZ_ALL,
	SDP_AZ_VMA,
	SDP_AZ_ABSENT,
	SDP_AZ_NOT_ANON,
	SDP_AZ_REFS,
	SDP_AZ_PINNED,
	SDP_AZ_NOTIFIER,
	SDP_AZ_ODD,
	SDP_AZ_KERNEL,
	SDP_AZ_SIGNAL,
	SDP_AZ_PART,
	SDP_AZ_LOCK,
	SDP_AZ_WHYS
};

/**
 * struct sdp_az_range - a range of a program's memory, protected
 * @mm:		its address space, a reference to the structure, while @n isn't 0
 * @start:	address of the first page
 * @pages:	array of the caller's; a reference to each of the first @n
 * @n:		pages protected, from @start on
 * @why:	why not more
 * @changed:	page table entries that had to be changed for that; a huge page has one
 * @shared:	... that were copy-on-write already
 * @huge:	huge pages among both
 * @flushes:	how often the TLBs were flushed
 * @faulted:	how often pages were faulted in or a huge mapping split
 * @moved:	sdp_az_restore(): pages the program has written to, or dropped, meanwhile
 * @restored:	... entries made writable again
 */
struct sdp_az_range {
	struct mm_struct	*mm;
	unsigned long		start;
	struct page		**pages;
	unsigned int		n;
	enum sdp_az_why		why;
	unsigned int		changed;
	unsigned int		shared;
	unsigned int		huge;
	unsigned int		flushes;
	unsigned int		faulted;
	unsigned int		moved;
	unsigned int		restored;
};

bool sdp_az_works(void);
void sdp_az_protect(struct sdp_az_range *r, unsigned long start, unsigned int n,
		    struct page **pages, bool gentle);
bool sdp_az_restore(struct sdp_az_range *r);
void sdp_az_release(struct sdp_az_range *r);

#ifdef SDP_AZ_SELFTEST
/* Each breaks one rule, for tests that must notice */
extern int sdp_az_break_lock;		/* 1: mmap read lock only; 2: no VMA lock */
extern bool sdp_az_break_flush;		/* no TLB flush */
extern bool sdp_az_break_refs;		/* references nobody explains don't matter */
extern int sdp_az_break_delay;		/* microseconds between protecting and flushing */
#else
#define sdp_az_break_lock	0
#define sdp_az_break_flush	false
#define sdp_az_break_refs	false
#define sdp_az_break_delay	0
#endif

#endif /* _SDP_AZ_TRACK_H */
