// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of programs made ready for RDMA: pages pinned, mapped for the device,
 * and registered as a memory region by a work request (FRWR).
 *
 * Regions are kept per protection domain, that is per user and device, and
 * used again and again, each time with a new key. A device has a limited
 * number of them. Their pages are pinned for the time of one transfer and
 * count against RLIMIT_MEMLOCK, as those of MSG_ZEROCOPY do.
 *
 * A region the peer may reach is invalidated before its pages are let go. One
 * that only our own work requests use is invalidated just before it is
 * registered the next time.
 *
 * The free list is guarded by dev->lock; a region in use belongs to its user.
 */
#include <linux/error-injection.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "device.h"
#include "mr.h"
#include "sdp.h"
#include "trace.h"

/* Free regions not used for this long are given back to the device */
#define SDP_MR_IDLE	(10 * HZ)

static unsigned int mr_max = 1024;
module_param(mr_max, uint, 0644);
MODULE_PARM_DESC(mr_max, "Memory regions per device for zero copy (default 1024, 0 for none)");

static void sdp_mr_free(struct sdp_mr *mr)
{
	if (mr->mr)
		ib_dereg_mr(mr->mr);
	kvfree(mr->own_pages);
	kvfree(mr->sg);
	kfree(mr);
}

static noinline struct sdp_mr *sdp_mr_alloc(struct sdp_pd *pd)
{
	struct sdp_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	struct ib_mr *ib;

	if (!mr)
		return NULL;
	mr->own_pages = kvmalloc_array(SDP_MR_PAGES, sizeof(*mr->own_pages), GFP_KERNEL);
	mr->sg = kvmalloc_array(SDP_MR_PAGES, sizeof(*mr->sg), GFP_KERNEL);
	if (!mr->own_pages || !mr->sg)
		goto fail;
	ib = ib_alloc_mr(pd->pd, IB_MR_TYPE_MEM_REG, SDP_MR_PAGES);
	if (IS_ERR(ib))
		goto fail;
	mr->mr = ib;
	mr->key = ib->rkey;
	mr->pd = pd;
	return mr;

fail:
	sdp_mr_free(mr);
	return NULL;
}
ALLOW_ERROR_INJECTION(sdp_mr_alloc, NULL);

static bool sdp_mr_usable(const struct ib_device *ib)
{
	return (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       ib->attrs.max_fast_reg_page_list_len >= SDP_MR_PAGES;
}

/**
 * sdp_mr_get() - a region to use
 * @pd:	domain, of which the caller holds a reference, which the region takes over
 *
 * Context: process.
 * Return: the region, or NULL, reference given back, when
 * the device has no more or none at all.
 */
struct sdp_mr *sdp_mr_get(struct sdp_pd *pd)
{
	struct sdp_dev *dev = pd->dev;
	struct sdp_mr *mr;
	bool grow = false;

	spin_lock_bh(&dev->lock);
	mr = list_first_entry_or_null(&pd->mrs, struct sdp_mr, list);
	if (mr) {
		list_del(&mr->list);
	} else if (sdp_mr_usable(dev->ib) && dev->mr_count < READ_ONCE(mr_max)) {
		dev->mr_count++;
		grow = true;
	}
	/* WRITE_ONCE(), as sdp_mr_plenty() reads it without the lock */
	WRITE_ONCE(dev->mr_used, dev->mr_used + (mr || grow));
	spin_unlock_bh(&dev->lock);
	if (grow) {
		mr = sdp_mr_alloc(pd);
		if (mr) {
			SDP_INC_STATS(&init_net, SDP_MIB_MR_ALLOC);
		} else {
			spin_lock_bh(&dev->lock);
			dev->mr_count--;
			WRITE_ONCE(dev->mr_used, dev->mr_used - 1);
			spin_unlock_bh(&dev->lock);
		}
	}
	if (!mr) {
		SDP_INC_STATS(&init_net, SDP_MIB_MR_NONE);
		sdp_pd_put(pd);
		return NULL;
	}
	trace_sdp_mr_get(mr);
	return mr;
}

/**
 * sdp_mr_plenty() - may who could do without take a region, and keep it for long?
 * @dev:	device
 *
 * Half of them are left to those who wait, and so give them back soon, and to
 * those who ask for it by name.
 * Context: any.
 * Return: true if so.
 */
bool sdp_mr_plenty(const struct sdp_dev *dev)
{
	return READ_ONCE(dev->mr_used) < READ_ONCE(mr_max) / 2;
}

/**
 * sdp_mr_put() - give a region back
 * @mr:	region without pages
 *
 * Context: any when the region is whole and its domain has other users (such
 * as the connection it served), else process.
 */
void sdp_mr_put(struct sdp_mr *mr)
{
	struct sdp_pd *pd = mr->pd;
	struct sdp_dev *dev = pd->dev;
	const bool broken = mr->broken;

	trace_sdp_mr_put(mr);
	spin_lock_bh(&dev->lock);
	WRITE_ONCE(dev->mr_used, dev->mr_used - 1);
	if (broken) {
		dev->mr_count--;
	} else {
		mr->idle = jiffies;
		list_add(&mr->list, &pd->mrs);
	}
	spin_unlock_bh(&dev->lock);
	/* One that isn't may be somebody else's now, and even freed */
	if (broken)
		sdp_mr_free(mr);
	else
		sdp_dev_age_mrs(dev);
	sdp_pd_put(pd);
}

/**
 * sdp_mr_destroy() - give a region back to the device while its pages are still pinned
 * @mr:	region in use, of which nobody knows whether its key is good; put it afterwards
 *
 * Context: process.
 */
void sdp_mr_destroy(struct sdp_mr *mr)
{
	mr->broken = true;
	ib_dereg_mr(mr->mr);
	mr->mr = NULL;
}

/**
 * sdp_mr_pool_age() - take out what has been free for long
 * @pd:		domain
 * @old:	list to put it on; each has a reference to its domain, as one in use
 *
 * Context: dev->lock held.
 */
void sdp_mr_pool_age(struct sdp_pd *pd, struct list_head *old)
{
	struct sdp_mr *mr, *next;

	/* The one used last is the first */
	list_for_each_entry_safe_reverse(mr, next, &pd->mrs, list) {
		if (time_before(jiffies, mr->idle + SDP_MR_IDLE))
			break;
		list_move(&mr->list, old);
		__sdp_pd_hold(pd);
		pd->dev->mr_count--;
	}
}

/**
 * sdp_mr_old_free() - free what sdp_mr_pool_age() has taken out
 * @old:	list of them
 *
 * Context: process.
 */
void sdp_mr_old_free(struct list_head *old)
{
	struct sdp_mr *mr, *next;

	list_for_each_entry_safe(mr, next, old, list) {
		struct sdp_pd *pd = mr->pd;

		sdp_mr_free(mr);
		sdp_pd_put(pd);
	}
}

/**
 * sdp_mr_pool_free() - free all regions of a domain
 * @pd:	domain without users
 *
 * Context: process.
 */
void sdp_mr_pool_free(struct sdp_pd *pd)
{
	struct sdp_mr *mr, *next;
	unsigned int n = 0;

	list_for_each_entry_safe(mr, next, &pd->mrs, list) {
		sdp_mr_free(mr);
		n++;
	}
	INIT_LIST_HEAD(&pd->mrs);
	spin_lock_bh(&pd->dev->lock);
	pd->dev->mr_count -= n;
	spin_unlock_bh(&pd->dev->lock);
}

/**
 * sdp_mr_segment() - how much of a program's buffer comes next in one piece
 * @iter:	the buffer, user memory
 * @addr:	where that is, if there is anything; NULL if of no interest
 *
 * Context: any.
 * Return: bytes.
 */
size_t sdp_mr_segment(const struct iov_iter *iter, unsigned long *addr)
{
	const bool ubuf = iter_is_ubuf(iter);

	/* The piece may be one behind the last */
	if (!iov_iter_count(iter))
		return 0;
	if (addr)
		*addr = (unsigned long)(ubuf ? iter->ubuf : iter_iov(iter)->iov_base) +
			iter->iov_offset;
	return ubuf ? iov_iter_count(iter) :
		      min(iter_iov(iter)->iov_len - iter->iov_offset, iov_iter_count(iter));
}

/* Pages that follow each other become one entry: a huge page is one */
static void sdp_mr_build_sg(struct sdp_mr *mr)
{
	u32 left = mr->len, off = mr->off;
	struct scatterlist *sg = NULL;
	unsigned int i;

	sg_init_table(mr->sg, mr->npages);
	for (i = 0; i < mr->npages; i++) {
		u32 n = min_t(u32, left, PAGE_SIZE - off);

		if (sg && page_to_pfn(mr->pages[i]) == page_to_pfn(mr->pages[i - 1]) + 1) {
			sg->length += n;
		} else {
			sg = sg ? sg_next(sg) : mr->sg;
			sg_set_page(sg, mr->pages[i], n, off);
			mr->nents++;
		}
		left -= n;
		off = 0;
	}
	sg_mark_end(sg);
}

static noinline int sdp_mr_map(struct sdp_mr *mr)
{
	struct ib_device *ib = mr->pd->dev->ib;
	int n, mapped;

	sdp_mr_build_sg(mr);
	n = ib_dma_map_sg(ib, mr->sg, mr->nents, mr->dir);
	if (n <= 0) {
		mr->nents = 0;
		return -EIO;
	}
	mapped = ib_map_mr_sg(mr->mr, mr->sg, n, NULL, PAGE_SIZE);
	if (mapped < n) {
		ib_dma_unmap_sg(ib, mr->sg, mr->nents, mr->dir);
		mr->nents = 0;
		return mapped < 0 ? mapped : -EIO;
	}
	/*
	 * The peer needs a number, not to know where in memory the pages are;
	 * and no other peer of the same user's may guess it, whose queue pair
	 * is in the same domain, and who has seen the key before this one
	 */
	mr->mr->iova = ((get_random_u64() >> 1) & ~(u64)(PAGE_SIZE - 1)) + mr->off;
	return 0;
}
ALLOW_ERROR_INJECTION(sdp_mr_map, ERRNO);

/* Pins a piece of a program's memory; bytes or -errno */
static noinline int sdp_mr_pin_user(struct sdp_mr *mr, const struct iov_iter *iter, u32 max)
{
	unsigned int gup = mr->dir == DMA_FROM_DEVICE ? FOLL_WRITE : 0, want;
	unsigned long addr;
	u32 len;
	int n;

	len = min_t(size_t, sdp_mr_segment(iter, &addr), max);
	if (!len)
		return -EFAULT;
	mr->off = offset_in_page(addr);
	want = DIV_ROUND_UP(mr->off + len, PAGE_SIZE);
	n = pin_user_pages_fast(addr & PAGE_MASK, want, gup, mr->own_pages);
	if (n <= 0)
		return -EFAULT;
	mr->pages = mr->own_pages;
	mr->kind = SDP_MR_PINNED;
	mr->npages = n;
	return min_t(u32, len, n * PAGE_SIZE - mr->off);
}
ALLOW_ERROR_INJECTION(sdp_mr_pin_user, ERRNO);

/*
 * Takes pages of the page cache or of registered buffers, behind those it has and as many as
 * follow without a gap; bytes, 0 if none do
 */
static u32 sdp_mr_add_pages(struct sdp_mr *mr, const struct iov_iter *iter, u32 max)
{
	struct iov_iter it = *iter;
	u32 len = 0;

	while (len < max && mr->npages < SDP_MR_PAGES && iov_iter_count(&it)) {
		struct page **pages = mr->pages + mr->npages;
		size_t off;
		ssize_t n = iov_iter_get_pages2(&it, pages, max - len, SDP_MR_PAGES - mr->npages,
						&off);
		u32 i, count = n > 0 ? DIV_ROUND_UP(off + n, PAGE_SIZE) : 0;

		if (n <= 0)
			break;
		if (mr->npages && off) {
			for (i = 0; i < count; i++)
				put_page(pages[i]);
			break;
		}
		if (!mr->npages)
			mr->off = off;
		mr->npages += count;
		len += n;
		if (!PAGE_ALIGNED(off + n))
			break;
	}
	return len;
}

static int sdp_mr_ref_pages(struct sdp_mr *mr, const struct iov_iter *iter, u32 max)
{
	mr->pages = mr->own_pages;
	mr->kind = SDP_MR_HELD;
	mr->npages = 0;
	return sdp_mr_add_pages(mr, iter, max) ?: -EFAULT;
}

/**
 * sdp_mr_pin() - take the pages of what comes next in a buffer, and map them
 * @mr:		region without pages
 * @iter:	the buffer, a program's or a list of pages; not advanced
 * @max:	bytes at most
 * @dir:	DMA_TO_DEVICE to send them, DMA_FROM_DEVICE to receive there
 * @account:	count them against RLIMIT_MEMLOCK
 *
 * Stops at the end of a piece of the iovec and where memory can't be pinned.
 * Context: process, no lock but the socket's mutexes; takes the mmap lock.
 * Return: bytes, or -errno: -EFAULT for memory that can't be pinned, device
 * memory for one, or isn't there, -ENOBUFS beyond RLIMIT_MEMLOCK.
 */
int sdp_mr_pin(struct sdp_mr *mr, const struct iov_iter *iter, u32 max,
	       enum dma_data_direction dir, bool account)
{
	int len, err;

	max = min_t(size_t, min(max, SDP_MR_BYTES), iov_iter_count(iter));
	if (user_backed_iter(iter))
		max = min_t(size_t, max, sdp_mr_segment(iter, NULL));
	memset(&mr->mmp, 0, sizeof(mr->mmp));
	err = account ? mm_account_pinned_pages(&mr->mmp, max) : 0;
	if (err)
		return err;
	mr->dir = dir;
	len = user_backed_iter(iter) ? sdp_mr_pin_user(mr, iter, max) :
				       sdp_mr_ref_pages(mr, iter, max);
	if (len < 0) {
		mm_unaccount_pinned_pages(&mr->mmp);
		return len;
	}
	mr->len = len;
	err = sdp_mr_map(mr);
	if (err) {
		sdp_mr_unpin(mr);
		return err;
	}
	return len;
}

static void sdp_mr_unmap(struct sdp_mr *mr)
{
	if (mr->nents)
		ib_dma_unmap_sg(mr->pd->dev->ib, mr->sg, mr->nents, mr->dir);
	mr->nents = 0;
}

/**
 * sdp_mr_extend() - take more pages, behind those there are
 * @mr:		region that is mapped and has a reference to each page; not registered yet
 * @iter:	a list of pages; not advanced
 * @max:	bytes at most
 *
 * Context: process.
 * Return: bytes, 0 if they don't follow without a gap or don't fit, or -errno
 * when it isn't mapped any more.
 */
int sdp_mr_extend(struct sdp_mr *mr, const struct iov_iter *iter, u32 max)
{
	unsigned int had = mr->npages;
	u32 len;

	if (!PAGE_ALIGNED(mr->off + mr->len))
		return 0;
	len = sdp_mr_add_pages(mr, iter, min(max, SDP_MR_BYTES - mr->len));
	if (!len)
		return 0;
	sdp_mr_unmap(mr);
	mr->len += len;
	if (!sdp_mr_map(mr))
		return len;
	mr->len -= len;
	release_pages(mr->pages + had, mr->npages - had);
	mr->npages = had;
	return sdp_mr_map(mr);
}

/**
 * sdp_mr_borrow() - map pages that somebody else holds for as long as that takes
 * @mr:		region without pages
 * @pages:	pages, at most SDP_MR_PAGES; the array has to stay as well
 * @off:	where in the first one it begins
 * @len:	bytes
 * @dir:	DMA_TO_DEVICE or DMA_FROM_DEVICE
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int sdp_mr_borrow(struct sdp_mr *mr, struct page **pages, u32 off, u32 len,
		  enum dma_data_direction dir)
{
	int err;

	memset(&mr->mmp, 0, sizeof(mr->mmp));
	mr->pages = pages;
	mr->kind = SDP_MR_BORROWED;
	mr->npages = DIV_ROUND_UP(off + len, PAGE_SIZE);
	mr->dir = dir;
	mr->off = off;
	mr->len = len;
	err = sdp_mr_map(mr);
	if (err)
		sdp_mr_unpin(mr);
	return err;
}

/**
 * sdp_mr_unpin() - let the pages go
 * @mr:	region that neither the device nor the peer can use any more
 *
 * Context: process when the device has written to a program's, else any.
 */
void sdp_mr_unpin(struct sdp_mr *mr)
{
	bool written = mr->nents && mr->dir == DMA_FROM_DEVICE && mr->kind == SDP_MR_PINNED;

	sdp_mr_unmap(mr);
	if (written)
		unpin_user_pages_dirty_lock(mr->pages, mr->npages, true);
	else if (mr->kind == SDP_MR_PINNED)
		unpin_user_pages(mr->pages, mr->npages);
	else if (mr->kind == SDP_MR_HELD)
		release_pages(mr->pages, mr->npages);
	mr->npages = 0;
	mm_unaccount_pinned_pages(&mr->mmp);
}

/* These are not signalled, so they complete only when they fail */
static void sdp_mr_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct sdp_conn *conn = wc->qp->qp_context;

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	pr_debug("sdp: registration failed: %s\n", ib_wc_status_msg(wc->status));
	sdp_conn_fail(conn, sdp_wc_errno(wc->status));
}

static struct ib_cqe sdp_mr_cqe = { .done = sdp_mr_failed };

/**
 * sdp_mr_renew() - make the work requests that register a region, with a new key
 * @mr:		region with pages
 * @access:	IB_ACCESS_*
 *
 * The key is known at once, and good when what sdp_mr_link() returns is posted.
 * Context: any.
 */
void sdp_mr_renew(struct sdp_mr *mr, int access)
{
	mr->inv = (struct ib_send_wr) {
		.opcode			= IB_WR_LOCAL_INV,
		.wr_cqe			= &sdp_mr_cqe,
		.ex.invalidate_rkey	= mr->key,
		.next			= &mr->reg.wr,
	};
	mr->first = mr->valid || mr->pd->dev->reg_replayed ? &mr->inv : &mr->reg.wr;
	ib_update_fast_reg_key(mr->mr, ib_inc_rkey(mr->mr->rkey));
	mr->reg = (struct ib_reg_wr) {
		.wr.opcode	= IB_WR_REG_MR,
		.wr.wr_cqe	= &sdp_mr_cqe,
		.mr		= mr->mr,
		.key		= mr->mr->rkey,
		.access		= access,
	};
	trace_sdp_mr_renew(mr, access);
}

/**
 * sdp_mr_link() - put the registration before a work request that needs it
 * @mr:		region renewed
 * @wr:		work request, or the first of several
 *
 * Context: any.
 * Return: the first of all, to be posted in place of @wr.
 */
struct ib_send_wr *sdp_mr_link(struct sdp_mr *mr, struct ib_send_wr *wr)
{
	mr->reg.wr.next = wr;
	mr->key = mr->mr->rkey;
	mr->valid = true;
	return mr->first;
}

/**
 * sdp_mr_copy() - copy the first bytes of the memory
 * @mr:		region with pages
 * @to:		where to
 * @len:	bytes, at most those in the first page
 *
 * Context: any.
 */
void sdp_mr_copy(const struct sdp_mr *mr, void *to, u32 len)
{
	memcpy_from_page(to, mr->pages[0], mr->off, len);
}
