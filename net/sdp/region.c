// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: memory that mmap() on an SDP socket gives, whose page faults come
 * here. So a program can be made to wait when it touches what a transfer needs,
 * which it can't for ordinary memory: nobody but the kernel's core has its
 * faults.
 *
 * Each mmap() makes a region of its own, a file that nobody can open. It lives
 * as long as a mapping of it, or a transfer, and has nothing to do with the
 * socket any more. The file's address space finds all mappings, also those that
 * fork() and mremap() make. Pages come when they are touched: mmap() runs under
 * the mmap lock, where clearing a gigabyte has no place. All of a region counts
 * against RLIMIT_MEMLOCK from the start, as its pages can't be swapped.
 *
 * What a transfer does to a page, as told by its struct sdp_region_page:
 *
 *	sent		The peer reads it. Nobody may write: mappings that could are
 *			taken away, so that a write is a fault. It gives the region
 *			a copy of the page, the old one is the transfer's (cow); or
 *			it waits until the page is sent (block). After half a second
 *			the transfer is asked to do without the peer's reading, after
 *			another the writer gets a copy: no peer is to hold it up.
 *	expected	We read into it. Nobody may look: all mappings are taken away,
 *			and whoever touches it waits.
 *	lost		It was expected and won't come. Whoever touches the transfer's
 *			memory first gets SIGBUS, or EFAULT, and then it is as it is.
 *
 * Rules:
 *
 *   - A mapping is put in place under the page's lock, which is held until the
 *     core has done that. What changes a page's state so that mappings have to
 *     go takes the same lock, then the mappings away, then releases it.
 *   - A fault waits without the mmap lock, which it drops, as userfaultfd's
 *     does. One that may not gets SIGBUS for what is expected, a copy otherwise.
 *     page_mkwrite() can't drop it: it takes the mapping away, and the next
 *     fault comes to where waiting is possible.
 *   - A page is not sent so while anybody holds it for a reason we don't know:
 *     direct I/O may be writing to it.
 *
 * Locks: the mmap lock > page locks, several in order of their places > the
 * mapping's i_mmap lock > page table locks; page locks > region->lock, a
 * spinlock that softirqs take. No lock of a socket's is taken here.
 */
#include <linux/file.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "region.h"
#include "sdp.h"

/* Pages of a region at most: 1 GiB */
#define SDP_REGION_MAX		((1UL << 30) >> PAGE_SHIFT)
/* How long a writer waits for a peer that doesn't read, and again for what comes of asking */
#define SDP_REGION_PATIENCE	((long)HZ / 2)

/**
 * struct sdp_region_page - a page's place in a region; region->lock
 * @page:	the page, a reference; NULL until it is needed, never again after that
 * @sends:	transfers that send it
 * @blocks:	... whose writers wait
 * @lockers:	who has a reference to @page to lock it, and waits for that
 * @expected:	number of the transfer that receives into it, or 0
 * @lost:	number of the transfer that failed to, or 0
 * @writable:	it may be mapped for writing; also page lock
 */
struct sdp_region_page {
	struct page		*page;
	u32			sends;
	u32			blocks;
	u32			lockers;
	u32			expected;
	u32			lost;
	bool			writable;
};

/**
 * struct sdp_region - memory whose faults are ours
 * @mapping:	where all mappings of it are found
 * @i_fop:	of the inode, before and after
 * @net:	namespace whose counters count, a reference
 * @mmp:	what counts against RLIMIT_MEMLOCK
 * @lock:	guards all that follows but @n
 * @wait:	faults that wait
 * @holds:	spans being sent whose writers wait
 * @last_id:	number of the last receiving transfer
 * @n:		pages
 * @pages:	their places
 */
struct sdp_region {
	struct address_space	*mapping;
	const struct file_operations *i_fop;
	struct net		*net;
	struct mmpin		mmp;
	spinlock_t		lock;
	wait_queue_head_t	wait;
	struct list_head	holds;
	u32			last_id;
	unsigned long		n;
	struct sdp_region_page	pages[];
};

/* What stands against touching a page */
enum sdp_region_state {
	SDP_REGION_FREE,
	SDP_REGION_SENT,
	SDP_REGION_BLOCKED,
	SDP_REGION_EXPECTED,
	SDP_REGION_LOST,
};

static enum sdp_region_state sdp_region_state_locked(const struct sdp_region_page *p, bool write)
{
	if (p->expected)
		return SDP_REGION_EXPECTED;
	if (p->lost)
		return SDP_REGION_LOST;
	if (write && p->sends)
		return p->blocks ? SDP_REGION_BLOCKED : SDP_REGION_SENT;
	return SDP_REGION_FREE;
}

static enum sdp_region_state sdp_region_state(struct sdp_region *r, unsigned long i, bool write)
{
	enum sdp_region_state state;

	spin_lock_bh(&r->lock);
	state = sdp_region_state_locked(&r->pages[i], write);
	spin_unlock_bh(&r->lock);
	return state;
}

/* Takes the mappings of some pages away, whoever has them, and flushes the TLBs */
static void sdp_region_zap(struct sdp_region *r, unsigned long first, unsigned long n)
{
	unmap_mapping_range(r->mapping, (loff_t)first << PAGE_SHIFT, (loff_t)n << PAGE_SHIFT, 1);
}

static struct page *sdp_region_alloc(gfp_t more)
{
	return alloc_page(GFP_HIGHUSER | __GFP_ACCOUNT | more);
}

/* A page with a reference, to be locked, made if there was none; NULL without memory */
static struct page *sdp_region_get_page(struct sdp_region *r, unsigned long i)
{
	struct sdp_region_page *p = &r->pages[i];
	struct page *page, *new = NULL;

	if (!READ_ONCE(p->page)) {
		new = sdp_region_alloc(__GFP_ZERO);
		if (!new)
			return NULL;
	}
	spin_lock_bh(&r->lock);
	if (!p->page) {
		WRITE_ONCE(p->page, new);
		new = NULL;
	}
	page = p->page;
	get_page(page);
	p->lockers++;
	spin_unlock_bh(&r->lock);
	if (new)
		put_page(new);
	return page;
}

/* Locks a page for a locker; false, not locked, if the region has another one by now */
static bool sdp_region_lock(struct sdp_region *r, unsigned long i, struct page *page)
{
	struct sdp_region_page *p = &r->pages[i];
	bool same;

	lock_page(page);
	spin_lock_bh(&r->lock);
	same = p->page == page;
	p->lockers -= same;
	spin_unlock_bh(&r->lock);
	if (!same)
		unlock_page(page);
	return same;
}

/* A page with a reference, locked, made if there was none; NULL without memory */
static struct page *sdp_region_lock_page(struct sdp_region *r, unsigned long i)
{
	struct page *page;

	for (;;) {
		page = sdp_region_get_page(r, i);
		if (!page || sdp_region_lock(r, i, page))
			return page;
		put_page(page);
	}
}

/*
 * A page that is being sent is to be written to: the region gets a copy of it,
 * the transfers keep it. 0 or -ENOMEM.
 */
static int sdp_region_copy(struct sdp_region *r, unsigned long i)
{
	struct sdp_region_page *p = &r->pages[i];
	struct page *old, *new;
	bool sent;

	new = sdp_region_alloc(0);
	if (!new)
		return -ENOMEM;
	old = sdp_region_lock_page(r, i);
	if (!old) {
		put_page(new);
		return -ENOMEM;
	}
	spin_lock_bh(&r->lock);
	sent = p->sends;
	spin_unlock_bh(&r->lock);
	if (sent) {
		/* Of two processes none may still see the old page when one writes to the new */
		sdp_region_zap(r, i, 1);
		copy_highpage(new, old);
		spin_lock_bh(&r->lock);
		WRITE_ONCE(p->page, new);
		p->sends = 0;
		p->blocks = 0;
		p->lockers = 0;
		p->writable = false;
		spin_unlock_bh(&r->lock);
		put_page(old);
	}
	unlock_page(old);
	put_page(old);
	if (!sent) {
		put_page(new);
		return 0;
	}
	SDP_INC_STATS(r->net, SDP_MIB_AZ_REGION_COPIES);
	wake_up_all(&r->wait);
	return 0;
}

/*
 * The transfer that a page belongs to has failed: tells it, once for all of its
 * pages, to the program. A debugger isn't whom that is to be told, nor is a
 * system call that reads, whose errors are found out and tried again by others:
 * it fails as often as it reads. One that writes may do so the next time.
 */
static vm_fault_t sdp_region_tell(struct sdp_region *r, unsigned long i, unsigned int flags)
{
	unsigned long first = i, last = i;
	u32 id;

	if ((flags & FAULT_FLAG_REMOTE) || !(flags & (FAULT_FLAG_USER | FAULT_FLAG_WRITE)))
		return VM_FAULT_SIGBUS;
	spin_lock_bh(&r->lock);
	id = r->pages[i].lost;
	if (flags & FAULT_FLAG_USER) {
		while (id && first && r->pages[first - 1].lost == id)
			first--;
		while (id && last + 1 < r->n && r->pages[last + 1].lost == id)
			last++;
	}
	for (i = first; i <= last; i++)
		r->pages[i].lost = 0;
	spin_unlock_bh(&r->lock);
	return id ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

static bool sdp_region_holds(const struct sdp_region_span *s, const struct sdp_region *r,
			     unsigned long i)
{
	return i - s->first < s->n && s->pages[i - s->first] == r->pages[i].page;
}

/* Since when has a writer waited for a page, or for others sent with it? Signals don't matter. */
static unsigned long sdp_region_waits_since(struct sdp_region *r, unsigned long i)
{
	unsigned long since = jiffies;
	struct sdp_region_span *s;

	spin_lock_bh(&r->lock);
	list_for_each_entry(s, &r->holds, node) {
		if (!sdp_region_holds(s, r, i))
			continue;
		if (!s->waits)
			s->since = jiffies;
		s->waits = true;
		if (time_before(s->since, since))
			since = s->since;
	}
	spin_unlock_bh(&r->lock);
	return since;
}

/* Asks for an end of the transfers that hold up a page's writer */
static void sdp_region_hurry(struct sdp_region *r, unsigned long i)
{
	struct sdp_region_span *s;

	spin_lock_bh(&r->lock);
	list_for_each_entry(s, &r->holds, node)
		if (sdp_region_holds(s, r, i))
			s->hurry(s);
	spin_unlock_bh(&r->lock);
}

/* A peer that hasn't read a page in time holds up the writers to those around it no more */
static void sdp_region_lose_patience(struct sdp_region *r, unsigned long i)
{
	unsigned long j;

	SDP_INC_STATS(r->net, SDP_MIB_AZ_BLOCKED_LONG);
	spin_lock_bh(&r->lock);
	for (j = i; j < r->n && r->pages[j].blocks; j++)
		r->pages[j].blocks = 0;
	for (j = i; j-- && r->pages[j].blocks; )
		r->pages[j].blocks = 0;
	spin_unlock_bh(&r->lock);
	wake_up_all(&r->wait);
}

/* Waits for @timeout that @state is over, as far as signals allow; what is left, or -ERESTARTSYS */
static long sdp_region_wait(struct sdp_region *r, unsigned long i, unsigned int flags,
			    enum sdp_region_state state, long timeout)
{
	const bool write = flags & FAULT_FLAG_WRITE;

	/* In a system call a signal doesn't end the fault, only the process does */
	if (flags & FAULT_FLAG_USER)
		return wait_event_interruptible_timeout(r->wait,
							sdp_region_state(r, i, write) != state,
							timeout);
	return wait_event_killable_timeout(r->wait, sdp_region_state(r, i, write) != state,
					   timeout);
}

/* The same with an end in jiffies; 0 as soon as that has come */
static long sdp_region_wait_until(struct sdp_region *r, unsigned long i, unsigned int flags,
				  enum sdp_region_state state, unsigned long end)
{
	long left = end - jiffies;

	return left > 0 ? sdp_region_wait(r, i, flags, state, left) : 0;
}

/*
 * Waits until what stands against touching a page is over; the fault is taken again,
 * and finds whether something else does. Drops the lock of the fault, and so can't
 * look at its VMA.
 */
static vm_fault_t sdp_region_await(struct vm_fault *vmf, struct sdp_region *r,
				   enum sdp_region_state state)
{
	struct file *file = get_file(vmf->vma->vm_file);
	const unsigned int flags = vmf->flags;
	unsigned long i = vmf->pgoff;

	sdp_release_fault_lock(vmf);
	if (state == SDP_REGION_EXPECTED) {
		SDP_INC_STATS(r->net, SDP_MIB_AZ_AWAITED);
		sdp_region_wait(r, i, flags, state, MAX_SCHEDULE_TIMEOUT);
	} else {
		unsigned long since = sdp_region_waits_since(r, i);

		SDP_INC_STATS(r->net, SDP_MIB_AZ_BLOCKED);
		if (!sdp_region_wait_until(r, i, flags, state, since + SDP_REGION_PATIENCE)) {
			sdp_region_hurry(r, i);
			since += SDP_REGION_PATIENCE;
			if (!sdp_region_wait_until(r, i, flags, state,
						   since + SDP_REGION_PATIENCE))
				sdp_region_lose_patience(r, i);
		}
	}
	fput(file);
	return VM_FAULT_RETRY;
}

static struct sdp_region *sdp_region_of(const struct file *file)
{
	return file->private_data;
}

static vm_fault_t sdp_region_fault(struct vm_fault *vmf)
{
	struct sdp_region *r = sdp_region_of(vmf->vma->vm_file);
	const bool write = vmf->flags & FAULT_FLAG_WRITE;
	unsigned long i = vmf->pgoff;
	enum sdp_region_state state;
	struct page *page;

	if (i >= r->n)
		return VM_FAULT_SIGBUS;
	state = sdp_region_state(r, i, write);
	switch (state) {
	case SDP_REGION_EXPECTED:
	case SDP_REGION_BLOCKED:
		if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
			return VM_FAULT_RETRY;
		if (vmf->flags & FAULT_FLAG_ALLOW_RETRY)
			return sdp_region_await(vmf, r, state);
		if (state == SDP_REGION_EXPECTED)
			return VM_FAULT_SIGBUS;
		fallthrough;
	case SDP_REGION_SENT:
		if (sdp_region_copy(r, i))
			return VM_FAULT_OOM;
		break;
	case SDP_REGION_LOST:
		return sdp_region_tell(r, i, vmf->flags);
	case SDP_REGION_FREE:
		break;
	}
	page = sdp_region_lock_page(r, i);
	if (!page)
		return VM_FAULT_OOM;
	if (sdp_region_state(r, i, write) != SDP_REGION_FREE) {
		unlock_page(page);
		put_page(page);
		return VM_FAULT_NOPAGE;		/* it is going to fault again */
	}
	vmf->page = page;
	return VM_FAULT_LOCKED;
}

/* A page is to be mapped for writing, or its mapping to become writable */
static vm_fault_t sdp_region_mkwrite(struct vm_fault *vmf)
{
	struct sdp_region *r = sdp_region_of(vmf->vma->vm_file);
	struct sdp_region_page *p = &r->pages[vmf->pgoff];
	struct page *page = vmf->page;
	bool ok;

	/* The core has a reference to it */
	spin_lock_bh(&r->lock);
	p->lockers += p->page == page;
	spin_unlock_bh(&r->lock);
	if (!sdp_region_lock(r, vmf->pgoff, page))
		return VM_FAULT_NOPAGE;
	spin_lock_bh(&r->lock);
	ok = sdp_region_state_locked(p, true) == SDP_REGION_FREE;
	if (ok)
		p->writable = true;
	spin_unlock_bh(&r->lock);
	if (ok)
		return VM_FAULT_LOCKED;
	unlock_page(page);
	sdp_region_zap(r, vmf->pgoff, 1);
	return VM_FAULT_NOPAGE;
}

static const struct vm_operations_struct sdp_region_vm_ops = {
	.fault		= sdp_region_fault,
	.page_mkwrite	= sdp_region_mkwrite,
};

static void sdp_region_free(struct sdp_region *r)
{
	unsigned long i;

	for (i = 0; i < r->n; i++) {
		if (r->pages[i].page)
			put_page(r->pages[i].page);
		cond_resched();
	}
	mm_unaccount_pinned_pages(&r->mmp);
	put_net(r->net);
	kvfree(r);
}

static int sdp_region_release(struct inode *inode, struct file *file)
{
	struct sdp_region *r = sdp_region_of(file);

	/* The inode may outlive its file, and with that this module */
	inode->i_fop = r->i_fop;
	sdp_region_free(r);
	return 0;
}

static const struct file_operations sdp_region_fops = {
	.owner		= THIS_MODULE,
	.release	= sdp_region_release,
};

static struct sdp_region *sdp_region_new(struct net *net, unsigned long n)
{
	struct sdp_region *r;

	r = kvzalloc(struct_size(r, pages, n), GFP_KERNEL_ACCOUNT);
	if (!r)
		return ERR_PTR(-ENOMEM);
	if (mm_account_pinned_pages(&r->mmp, n << PAGE_SHIFT)) {
		kvfree(r);
		return ERR_PTR(-EAGAIN);
	}
	r->net = get_net(net);
	r->n = n;
	spin_lock_init(&r->lock);
	init_waitqueue_head(&r->wait);
	INIT_LIST_HEAD(&r->holds);
	return r;
}

/* By way of /proc/PID/map_files: what shmem makes of its pages isn't what we do */
static int sdp_region_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_operations sdp_region_inode_fops = {
	.owner	= THIS_MODULE,
	.open	= sdp_region_open,
};

/* A file of its own, for its address space; nobody gets a descriptor of it */
static struct file *sdp_region_file(struct net *net, unsigned long n)
{
	struct sdp_region *r = sdp_region_new(net, n);
	struct file *file;

	if (IS_ERR(r))
		return ERR_CAST(r);
	file = shmem_file_setup("sdp-region", n << PAGE_SHIFT, VM_NORESERVE);
	if (IS_ERR(file)) {
		sdp_region_free(r);
		return file;
	}
	r->mapping = file->f_mapping;
	file->private_data = r;
	/* The module stays while there is one */
	__module_get(THIS_MODULE);
	file->f_op = &sdp_region_fops;
	r->i_fop = file_inode(file)->i_fop;
	file_inode(file)->i_fop = &sdp_region_inode_fops;
	return file;
}

/**
 * sdp_region_mmap() - a new region, mapped
 * @net:	namespace whose counters count
 * @vma:	mapping of a socket to be
 *
 * Context: process, mmap lock held for writing.
 * Return: 0, or -errno: -EINVAL if it isn't
 * MAP_SHARED from offset 0 on, -EPERM for code, -EAGAIN beyond RLIMIT_MEMLOCK, -ENOMEM.
 */
int sdp_region_mmap(struct net *net, struct vm_area_struct *vma)
{
	unsigned long n = vma_pages(vma);
	struct file *region;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (n > SDP_REGION_MAX)
		return -ENOMEM;
	region = sdp_region_file(net, n);
	if (IS_ERR(region))
		return PTR_ERR(region);
	vma_set_file(vma, region);
	fput(region);
	sdp_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	vma->vm_ops = &sdp_region_vm_ops;
	return 0;
}

/**
 * sdp_region_find() - is this memory of the caller's a region's?
 * @s:		gets the region, a reference; its @s->want is at most @n
 * @addr:	address of its first page
 * @n:		pages
 * @write:	it is to be written to
 *
 * Context: process, no page lock; takes the mmap lock.
 * Return: true if so, and it may be read or
 * written.
 */
bool sdp_region_find(struct sdp_region_span *s, unsigned long addr, unsigned int n, bool write)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	*s = (struct sdp_region_span) { };
	if (mmap_read_lock_killable(mm))
		return false;
	vma = vma_lookup(mm, addr);
	/* Protection keys count as for who touches it */
	if (vma && vma->vm_ops == &sdp_region_vm_ops &&
	    (vma->vm_flags & (write ? VM_WRITE : VM_READ)) &&
	    arch_vma_access_permitted(vma, write, false, false)) {
		s->file = get_file(vma->vm_file);
		s->first = linear_page_index(vma, addr);
		s->want = min_t(unsigned long, n, (vma->vm_end - addr) >> PAGE_SHIFT);
	}
	mmap_read_unlock(mm);
	return s->file;
}

/**
 * sdp_region_put() - let a span go
 * @s:	span whose pages no transfer needs any more, or no region
 *
 * Context: any.
 */
void sdp_region_put(struct sdp_region_span *s)
{
	unsigned int i;

	if (!s->file)
		return;
	for (i = 0; i < s->n; i++)
		put_page(s->pages[i]);
	fput(s->file);
	s->file = NULL;
}

static void sdp_region_unlock(struct sdp_region_span *s, unsigned int locked)
{
	unsigned int i;

	for (i = 0; i < locked; i++)
		unlock_page(s->pages[i]);
	for (i = s->n; i < locked; i++)
		put_page(s->pages[i]);
}

/*
 * Does anybody hold the page but the region, its transfers, its mappings, and
 * who waits for its lock? That lock keeps mappings from becoming more; fewer
 * they may.
 */
static bool sdp_region_odd_refs(struct sdp_region *r, unsigned long i, struct page *page)
{
	int maps = sdp_mapcount(page), known;
	bool odd;

	spin_lock_bh(&r->lock);
	known = 1 + r->pages[i].sends + r->pages[i].lockers + maps;
	smp_rmb();	/* a mapping's reference goes after the mapping */
	odd = page_count(page) != known;
	smp_rmb();	/* and none has gone meanwhile */
	odd |= sdp_mapcount(page) != maps;
	spin_unlock_bh(&r->lock);
	return odd;
}

static void sdp_region_unsend(struct sdp_region *r, unsigned long i, bool block)
{
	r->pages[i].sends--;
	/* Writers may have lost patience with it */
	if (block && r->pages[i].blocks)
		r->pages[i].blocks--;
}

/* Locks the pages and counts them as sent, as many as may be; returns whether one is writable */
static bool sdp_region_send_begin(struct sdp_region_span *s, struct sdp_region *r)
{
	bool writable = false;

	for (s->n = 0; s->n < s->want; s->n++) {
		unsigned long i = s->first + s->n;
		struct sdp_region_page *p = &r->pages[i];
		struct page *page = sdp_region_lock_page(r, i);

		s->why = SDP_AZ_ABSENT;
		if (!page)
			return writable;
		spin_lock_bh(&r->lock);
		if (!p->expected && !p->lost) {
			p->sends++;
			p->blocks += s->block;
			writable |= p->writable;
			p->writable = false;
			s->why = SDP_AZ_ALL;
		}
		spin_unlock_bh(&r->lock);
		if (s->why) {
			unlock_page(page);
			put_page(page);
			return writable;
		}
		s->pages[s->n] = page;
	}
	return writable;
}

/**
 * sdp_region_send() - keep what pages contain while they are being sent
 * @s:	span found, with @s->pages, @s->block and @s->hurry set; gets @s->n, which may be less
 *	than wanted
 *
 * From its return until sdp_region_sent() the pages don't change.
 * Context: process, no lock below a socket's mutexes.
 */
void sdp_region_send(struct sdp_region_span *s)
{
	struct sdp_region *r = sdp_region_of(s->file);
	unsigned int n, i;

	if (sdp_region_send_begin(s, r)) {
		sdp_region_zap(r, s->first, s->n);
		s->flushes++;
	}
	n = s->n;
	for (i = 0; i < n; i++) {
		if (sdp_region_odd_refs(r, s->first + i, s->pages[i])) {
			s->why = SDP_AZ_REFS;
			break;
		}
	}
	s->n = i;
	spin_lock_bh(&r->lock);
	for (; i < n; i++)
		sdp_region_unsend(r, s->first + i, s->block);
	if (s->block && s->n)
		list_add(&s->node, &r->holds);
	spin_unlock_bh(&r->lock);
	sdp_region_unlock(s, n);
	if (s->n < n)
		wake_up_all(&r->wait);
}

/**
 * sdp_region_sent() - the pages may change again
 * @s:	span sent, whose pages the device can't read any more; sdp_region_put() it
 *
 * Counts @s->moved.
 * Context: any.
 */
void sdp_region_sent(struct sdp_region_span *s)
{
	struct sdp_region *r = sdp_region_of(s->file);
	unsigned int i;

	spin_lock_bh(&r->lock);
	for (i = 0; i < s->n; i++) {
		if (r->pages[s->first + i].page == s->pages[i])
			sdp_region_unsend(r, s->first + i, s->block);
		else
			s->moved++;
	}
	if (s->block)
		list_del(&s->node);
	spin_unlock_bh(&r->lock);
	if (s->block)
		wake_up_all(&r->wait);
}

/* Locks a page for transfer @id to receive into; NULL if it can't */
static struct page *sdp_region_expect_page(struct sdp_region *r, unsigned long i, u32 id)
{
	struct sdp_region_page *p = &r->pages[i];
	struct page *page;
	bool sent, ok;

	for (;;) {
		page = sdp_region_lock_page(r, i);
		if (!page)
			return NULL;
		spin_lock_bh(&r->lock);
		sent = p->sends;
		ok = !sent && !p->expected;
		if (ok) {
			p->expected = id;
			p->writable = false;
		}
		spin_unlock_bh(&r->lock);
		if (ok)
			return page;
		unlock_page(page);
		put_page(page);
		if (!sent || sdp_region_copy(r, i))
			return NULL;
	}
}

/**
 * sdp_region_expect() - let nobody touch pages until something has been received into them
 * @s:	span found, with @s->pages set; gets @s->n, which may be less than wanted
 *
 * Ends at a page that is expected already. Pages being sent are replaced.
 * Context: process, no lock below a socket's mutexes.
 */
void sdp_region_expect(struct sdp_region_span *s)
{
	struct sdp_region *r = sdp_region_of(s->file);
	struct page *page;

	spin_lock_bh(&r->lock);
	if (!++r->last_id)
		r->last_id++;
	s->id = r->last_id;
	spin_unlock_bh(&r->lock);
	for (s->n = 0; s->n < s->want; s->n++) {
		page = sdp_region_expect_page(r, s->first + s->n, s->id);
		if (!page)
			break;
		s->pages[s->n] = page;
	}
	if (s->n)
		sdp_region_zap(r, s->first, s->n);
	sdp_region_unlock(s, s->n);
}

/* Nothing is to come any more. If a transfer was @begun, what it has lost is @id, which may be 0 */
static void sdp_region_received(struct sdp_region_span *s, bool begun, u32 id)
{
	struct sdp_region *r = sdp_region_of(s->file);
	struct sdp_region_page *p;
	unsigned int i;

	spin_lock_bh(&r->lock);
	for (i = 0; i < s->n; i++) {
		p = &r->pages[s->first + i];
		p->expected = 0;
		if (begun)
			p->lost = id;
	}
	spin_unlock_bh(&r->lock);
	wake_up_all(&r->wait);
}

/**
 * sdp_region_arrived() - they may be touched, or what was to come won't
 * @s:	span expected, whose pages the device can't write to any more; sdp_region_put() it
 * @ok:	they have what they should
 *
 * Context: any.
 */
void sdp_region_arrived(struct sdp_region_span *s, bool ok)
{
	if (!ok)
		SDP_ADD_STATS(sdp_region_of(s->file)->net, SDP_MIB_AZ_LOST, s->n);
	sdp_region_received(s, true, ok ? 0 : s->id);
}

/**
 * sdp_region_unexpect() - nothing is to be received into them after all
 * @s:	span expected; sdp_region_put() it
 *
 * What they had they have, and if that was lost, it is.
 * Context: any.
 */
void sdp_region_unexpect(struct sdp_region_span *s)
{
	sdp_region_received(s, false, 0);
}
