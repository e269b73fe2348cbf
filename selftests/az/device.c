// SPDX-License-Identifier: GPL-2.0
/*
 * A device for tests of page tracking (net/sdp/az_track.c): makes memory of the caller keep what
 * it contains, as AZ-SDP's sends do, for a transfer that nobody makes, and looks at its end
 * whether it has. Module parameters break one rule each; a test must notice.
 */
#include <linux/highmem.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "az_test.h"
#include "az_track.h"

module_param_named(break_lock, sdp_az_break_lock, int, 0600);
MODULE_PARM_DESC(break_lock, "1: mmap lock for reading only, 2: no VMA locks; loses writes");
module_param_named(break_flush, sdp_az_break_flush, bool, 0600);
MODULE_PARM_DESC(break_flush, "Don't flush the TLBs");
module_param_named(break_refs, sdp_az_break_refs, bool, 0600);
MODULE_PARM_DESC(break_refs, "Protect pages others hold");
module_param_named(break_delay, sdp_az_break_delay, int, 0600);
MODULE_PARM_DESC(break_delay, "Microseconds between protecting and flushing, so that more can go wrong");

#define STAT_AT(member)		(offsetof(struct az_stats, member) / sizeof(u64))
#define STAT(member)		(&stats[STAT_AT(member)])

static atomic64_t stats[sizeof(struct az_stats) / sizeof(u64)];
static atomic_t running;	/* sends that end by themselves */
static DECLARE_WAIT_QUEUE_HEAD(drained);
static struct workqueue_struct *ends;

/**
 * struct az_file - an open file, what a socket is elsewhere
 * @lock:	protects @manual
 * @manual:	sends that wait for AZ_COMPLETE, oldest first
 */
struct az_file {
	struct mutex		lock;
	struct list_head	manual;
};

/**
 * struct az_xfer - a send in flight
 * @range:	what is protected
 * @end:	ends it
 * @list:	in az_file.manual
 * @flags:	of struct az_send
 * @sum:	of what the pages contained when they were protected
 * @pages:	of @range
 */
struct az_xfer {
	struct sdp_az_range	range;
	struct delayed_work	end;
	struct list_head	list;
	u32			flags;
	u64			sum;
	struct page		*pages[];
};

static u64 az_sum(const struct sdp_az_range *r)
{
	unsigned int i, j;
	u64 sum = 0;

	for (i = 0; i < r->n; i++) {
		u64 *p = kmap_local_page(r->pages[i]);

		for (j = 0; j < PAGE_SIZE / sizeof(*p); j++)
			sum = rol64(sum, 5) * 31 + READ_ONCE(p[j]);
		kunmap_local(p);
		cond_resched();
	}
	return sum;
}

static void az_protect(struct az_xfer *x, unsigned long addr, unsigned int pages)
{
	struct sdp_az_range *r = &x->range;

	sdp_az_protect(r, addr, pages, x->pages, x->flags & AZ_GENTLE);
	if (!(x->flags & AZ_NO_SUM))
		x->sum = az_sum(r);
	atomic64_inc(STAT(sends));
	atomic64_inc(STAT(why) + r->why);
	atomic64_add(r->n, STAT(pages));
	atomic64_add(r->changed, STAT(changed));
	atomic64_add(r->shared, STAT(shared));
	atomic64_add(r->huge, STAT(huge));
	atomic64_add(r->flushes, STAT(flushes));
	atomic64_add(r->faulted, STAT(faulted));
}

/* Do the pages still contain what they did? */
static bool az_kept(const struct az_xfer *x)
{
	if (x->flags & AZ_NO_SUM)
		return true;
	atomic64_inc(STAT(checks));
	if (az_sum(&x->range) == x->sum)
		return true;
	atomic64_inc(STAT(mismatches));
	return false;
}

static void az_restore(struct az_xfer *x)
{
	if (x->flags & AZ_RESTORE)
		sdp_az_restore(&x->range);
	atomic64_add(x->range.moved, STAT(moved));
	atomic64_add(x->range.restored, STAT(restored));
}

static struct az_xfer *az_alloc(const struct az_send *s)
{
	struct az_xfer *x = kvzalloc(struct_size(x, pages, s->pages), GFP_KERNEL);

	if (x) {
		x->flags = s->flags;
		atomic64_inc(STAT(inflight));
	}
	return x;
}

static void az_free(struct az_xfer *x)
{
	kvfree(x);
	atomic64_dec(STAT(inflight));
}

static void az_end(struct work_struct *work)
{
	struct az_xfer *x = container_of(work, struct az_xfer, end.work);

	az_kept(x);
	az_restore(x);
	sdp_az_release(&x->range);
	az_free(x);
	if (atomic_dec_and_test(&running))
		wake_up_all(&drained);
}

static void az_results(const struct az_xfer *x, struct az_send *s)
{
	s->n = x->range.n;
	s->why = x->range.why;
	s->changed = x->range.changed;
	s->shared = x->range.shared;
	s->huge = x->range.huge;
	s->flushes = x->range.flushes;
	s->faulted = x->range.faulted;
	s->moved = x->range.moved;
	s->restored = x->range.restored;
}

static void az_send_sync(struct az_xfer *x, struct az_send *s)
{
	u64 t;

	do {
		t = ktime_get_ns();
		sdp_az_protect(&x->range, s->addr, s->pages, x->pages, s->flags & AZ_GENTLE);
		s->ns_protect += ktime_get_ns() - t;
		t = ktime_get_ns();
		if (s->flags & AZ_RESTORE)
			sdp_az_restore(&x->range);
		s->ns_restore += ktime_get_ns() - t;
		az_results(x, s);
		t = ktime_get_ns();
		sdp_az_release(&x->range);
		s->ns_release += ktime_get_ns() - t;
	} while (--s->loops && !signal_pending(current));
	az_free(x);
}

static void az_later(struct az_file *f, struct az_xfer *x, u32 delay_us)
{
	if (x->flags & AZ_MANUAL) {
		mutex_lock(&f->lock);
		list_add_tail(&x->list, &f->manual);
		mutex_unlock(&f->lock);
		return;
	}
	INIT_DELAYED_WORK(&x->end, az_end);
	atomic_inc(&running);
	queue_delayed_work(ends, &x->end,
			   delay_us ? usecs_to_jiffies(get_random_u32() % delay_us) : 0);
}

static int az_send(struct az_file *f, struct az_send *s)
{
	struct az_xfer *x;

	if (!s->pages || s->pages > AZ_MAX_PAGES || s->addr & ~PAGE_MASK ||
	    !access_ok((void __user *)s->addr, (unsigned long)s->pages * PAGE_SIZE))
		return -EINVAL;
	x = az_alloc(s);
	if (!x)
		return -ENOMEM;
	s->loops = max(s->loops, 1U);
	s->ns_protect = 0;
	s->ns_restore = 0;
	s->ns_release = 0;
	if (s->flags & AZ_SYNC) {
		az_send_sync(x, s);
		return 0;
	}
	az_protect(x, s->addr, s->pages);
	az_results(x, s);
	az_later(f, x, s->delay_us);
	return 0;
}

static struct az_xfer *az_oldest(struct az_file *f)
{
	struct az_xfer *x;

	mutex_lock(&f->lock);
	x = list_first_entry_or_null(&f->manual, struct az_xfer, list);
	if (x)
		list_del(&x->list);
	mutex_unlock(&f->lock);
	return x;
}

static void az_complete(struct az_file *f, struct az_complete *c)
{
	u32 most = c->count ?: U32_MAX;
	struct az_xfer *x;

	for (c->count = 0; c->count < most && (x = az_oldest(f)); c->count++) {
		x->flags = (x->flags & ~AZ_RESTORE) | (c->flags & AZ_RESTORE);
		c->changed += !az_kept(x);
		az_restore(x);
		c->moved += x->range.moved;
		c->restored += x->range.restored;
		sdp_az_release(&x->range);
		az_free(x);
	}
}

static int az_cost_copy(struct az_cost *c, void *buf)
{
	u64 t = ktime_get_ns();
	u32 i;

	for (i = 0; i < c->loops; i++)
		if (copy_from_user(buf, (void __user *)c->addr, c->pages * PAGE_SIZE))
			return -EFAULT;
	c->ns_copy = ktime_get_ns() - t;
	return 0;
}

static int az_cost_gup(struct az_cost *c, struct page **pages)
{
	u64 t = ktime_get_ns();
	int i, n;
	u32 l;

	for (l = 0; l < c->loops; l++) {
		n = get_user_pages_fast(c->addr, c->pages, 0, pages);
		for (i = 0; i < n; i++)
			put_page(pages[i]);
		if (n != c->pages)
			return -EFAULT;
	}
	c->ns_gup = ktime_get_ns() - t;
	return 0;
}

static void az_cost_clock(struct az_cost *c)
{
	u64 t, sum = 0;
	u32 l;

	for (l = 0; l < c->loops; l++) {
		t = ktime_get_ns();
		sum += ktime_get_ns() - t;
	}
	c->ns_clock = sum;
}

static int az_cost(struct az_cost *c)
{
	struct page **pages = NULL;
	void *buf = NULL;
	int err = -ENOMEM;

	if (!c->pages || c->pages > 1024)
		return -EINVAL;
	buf = kvzalloc(c->pages * PAGE_SIZE, GFP_KERNEL);
	pages = kvmalloc_array(c->pages, sizeof(*pages), GFP_KERNEL);
	if (buf && pages)
		err = az_cost_copy(c, buf);
	if (!err)
		err = az_cost_gup(c, pages);
	if (!err)
		az_cost_clock(c);
	kvfree(pages);
	kvfree(buf);
	return err;
}

static long az_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct az_file *f = file->private_data;
	void __user *to = (void __user *)arg;
	union {
		struct az_send send;
		struct az_complete complete;
		struct az_stats stats;
		struct az_cost cost;
	} a = {};
	unsigned int i;
	int err = 0;

	if (_IOC_SIZE(cmd) > sizeof(a))
		return -ENOTTY;
	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(&a, to, _IOC_SIZE(cmd)))
		return -EFAULT;
	switch (cmd) {
	case AZ_SEND:
		err = az_send(f, &a.send);
		break;
	case AZ_COMPLETE:
		az_complete(f, &a.complete);
		break;
	case AZ_STATS:
		for (i = 0; i < ARRAY_SIZE(stats); i++)
			((u64 *)&a.stats)[i] = atomic64_read(&stats[i]);
		break;
	case AZ_DRAIN:
		err = wait_event_killable(drained, !atomic_read(&running));
		break;
	case AZ_COST:
		err = az_cost(&a.cost);
		break;
	default:
		err = -ENOTTY;
	}
	if (!err && _IOC_DIR(cmd) & _IOC_READ && copy_to_user(to, &a, _IOC_SIZE(cmd)))
		err = -EFAULT;
	return err;
}

static int az_open(struct inode *inode, struct file *file)
{
	struct az_file *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	mutex_init(&f->lock);
	INIT_LIST_HEAD(&f->manual);
	file->private_data = f;
	return 0;
}

static int az_close(struct inode *inode, struct file *file)
{
	struct az_file *f = file->private_data;
	struct az_complete all = {};

	az_complete(f, &all);
	kfree(f);
	return 0;
}

static const struct file_operations az_fops = {
	.owner		= THIS_MODULE,
	.open		= az_open,
	.release	= az_close,
	.unlocked_ioctl	= az_ioctl,
};

static struct miscdevice az_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "sdp_az_test",
	.mode	= 0600,
	.fops	= &az_fops,
};

static int __init az_init(void)
{
	int err;

	BUILD_BUG_ON(SDP_AZ_WHYS > AZ_WHYS_MAX);
	ends = alloc_workqueue("sdp_az_test", WQ_UNBOUND, 8);
	if (!ends)
		return -ENOMEM;
	err = misc_register(&az_device);
	if (err)
		destroy_workqueue(ends);
	return err;
}

static void __exit az_exit(void)
{
	misc_deregister(&az_device);
	wait_event(drained, !atomic_read(&running));
	destroy_workqueue(ends);
}

module_init(az_init);
module_exit(az_exit);
MODULE_DESCRIPTION("Test of AZ-SDP's page tracking");
MODULE_LICENSE("GPL");
