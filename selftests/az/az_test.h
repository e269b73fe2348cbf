/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/sdp_az_test: transfers that take place in the imagination, of real memory */
#ifndef _AZ_TEST_H
#define _AZ_TEST_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* struct az_send, flags: without one of the last two it ends by itself, after a while */
#define AZ_RESTORE	1	/* sdp_az_restore() before sdp_az_release() */
#define AZ_NO_SUM	2	/* nobody looks whether the pages keep what they contain */
#define AZ_SYNC		4	/* it ends before the call does; may be repeated */
#define AZ_MANUAL	8	/* it ends by AZ_COMPLETE, or with the open file */
#define AZ_GENTLE	16	/* huge pages stay whole, the mmap lock isn't waited for */

#define AZ_MAX_PAGES	65536

/**
 * struct az_send - pages protected and in flight for a while
 * @addr:	where they are, a multiple of the page size
 * @pages:	how many
 * @flags:	AZ_RESTORE ...
 * @delay_us:	for at most so long
 * @loops:	AZ_SYNC: so many times, 0 as 1; what follows is of the last one
 * @n:		pages protected
 * @why:	why not more, enum sdp_az_why
 * @changed:	as in struct sdp_az_range, and so on
 * @shared:	...
 * @huge:	...
 * @flushes:	...
 * @faulted:	...
 * @moved:	AZ_SYNC: ...
 * @restored:	AZ_SYNC: ...
 * @ns_protect:	AZ_SYNC: time spent in sdp_az_protect() by all loops
 * @ns_restore:	... in sdp_az_restore()
 * @ns_release:	... in sdp_az_release()
 */
struct az_send {
	__u64	addr;
	__u32	pages;
	__u32	flags;
	__u32	delay_us;
	__u32	loops;
	__u32	n;
	__u32	why;
	__u32	changed;
	__u32	shared;
	__u32	huge;
	__u32	flushes;
	__u32	faulted;
	__u32	moved;
	__u32	restored;
	__u32	pad;
	__u64	ns_protect;
	__u64	ns_restore;
	__u64	ns_release;
};

/**
 * struct az_complete - end AZ_MANUAL sends of this open file, oldest first
 * @count:	so many, 0 for all; afterwards how many it were
 * @flags:	AZ_RESTORE, instead of what was said when sending
 * @changed:	ended ones whose pages don't contain any more what they did
 * @moved:	as in struct sdp_az_range, of all of them
 * @restored:	...
 */
struct az_complete {
	__u32	count;
	__u32	flags;
	__u32	changed;
	__u32	moved;
	__u32	restored;
};

#define AZ_WHYS_MAX	16

/**
 * struct az_stats - of all since the module was loaded
 * @sends:	calls of sdp_az_protect()
 * @pages:	protected by them
 * @changed:	page table entries changed for that, and so on as in struct sdp_az_range
 * @shared:	...
 * @huge:	...
 * @flushes:	...
 * @faulted:	...
 * @moved:	...
 * @restored:	...
 * @checks:	sends whose pages were looked at when they ended
 * @mismatches:	... and did not contain any more what they did
 * @inflight:	sends that have not ended
 * @why:	sends by enum sdp_az_why
 */
struct az_stats {
	__u64	sends;
	__u64	pages;
	__u64	changed;
	__u64	shared;
	__u64	huge;
	__u64	flushes;
	__u64	faulted;
	__u64	moved;
	__u64	restored;
	__u64	checks;
	__u64	mismatches;
	__u64	inflight;
	__u64	why[AZ_WHYS_MAX];
};

/**
 * struct az_cost - the alternatives, timed
 * @addr:	memory
 * @pages:	how many
 * @loops:	how many times
 * @ns_copy:	copy_from_user() of it all
 * @ns_gup:	get_user_pages_fast() and put_page()
 * @ns_clock:	taking the time, as often as struct az_send does for one of its figures
 */
struct az_cost {
	__u64	addr;
	__u32	pages;
	__u32	loops;
	__u64	ns_copy;
	__u64	ns_gup;
	__u64	ns_clock;
};

#define AZ_SEND		_IOWR('z', 1, struct az_send)
#define AZ_COMPLETE	_IOWR('z', 2, struct az_complete)
#define AZ_STATS	_IOR('z', 3, struct az_stats)
#define AZ_DRAIN	_IO('z', 4)	/* until nothing is in flight but AZ_MANUAL ones */
#define AZ_COST		_IOWR('z', 5, struct az_cost)

#endif /* _AZ_TEST_H */
