// SPDX-License-Identifier: GPL-2.0
/*
 * Page tracking for AZ-SDP: pages of a program's buffer keep what they contain
 * for as long as a transfer needs it, while the program may do with the buffer
 * what it likes.
 *
 * sdp_az_protect() puts the pages into the state fork() leaves them in: mapped
 * read-only, not exclusive, with one more reference, which is ours instead of a
 * child's. Whoever writes to such a page gets a copy by the kernel's own fault
 * handler, and ours stays as it was. munmap(), mremap(), exit() and so on need
 * no hook. sdp_az_release() drops the references; sdp_az_restore() before it
 * saves the program the faults to come, where nobody can tell the difference.
 *
 * Rules, each of which loses data when it is broken (there are tests that do):
 *
 *   - The mmap lock for writing, and the VMA locks: nobody may take a write
 *     fault between an entry's change and the TLB flush. The copy would be made
 *     while others still write to the old page through their TLBs, and another
 *     sender would take the entry for protected.
 *   - The TLBs are flushed before the locks are released.
 *   - A page may have no reference that isn't explained: direct I/O before 6.3
 *     reads into pages it merely holds, and what came in after the program's
 *     copy would be lost. Pinned pages must stay exclusive.
 *   - An entry is cleared, looked at, and only then set again, against GUP-fast.
 *   - Nothing is restored while anybody else has a reference.
 *
 * Lock order: the mmap lock, then page table locks. Callers hold no spinlock.
 */
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mmu_context.h>
#include <linux/mmu_notifier.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/rmap.h>
#include <linux/sched/mm.h>
#include <linux/userfaultfd_k.h>

#include "az_track.h"
#include "compat.h"

/* How often pages are faulted in, or a huge mapping split, for one range */
#define SDP_AZ_TRIES	4

#ifdef SDP_AZ_SELFTEST
int sdp_az_break_lock;
bool sdp_az_break_flush;
bool sdp_az_break_refs;
int sdp_az_break_delay;
#endif

/* For good, once a flush was seen not to be one */
static bool sdp_az_dead;

static int az = -1;
module_param(az, int, 0444);
MODULE_PARM_DESC(az, "Track pages for AZ-SDP: 1 yes, 0 no, -1 on kernels this was proven on (default)");

/**
 * struct sdp_az_walk - protecting under way
 * @r:		the range
 * @vma:	the last one seen; good while the mmap lock is held
 * @next:	first address not protected yet
 * @gentle:	what would outlast the transfer, or hold up other threads, is refused
 * @flush:	an entry was writable
 */
struct sdp_az_walk {
	struct sdp_az_range	*r;
	struct vm_area_struct	*vma;
	unsigned long		next;
	bool			gentle;
	bool			flush;
};

/**
 * sdp_az_works() - can pages be tracked on this kernel?
 *
 * Context: any.
 * Return: true if so.
 */
bool sdp_az_works(void)
{
	if (READ_ONCE(sdp_az_dead) || !az)
		return false;
	return az > 0 || SDP_AZ_PROVEN;
}

/*
 * Flushes the TLBs of the whole address space. No function that does is
 * exported, but a zap ends in tlb_finish_mmu(), which does when it finds
 * another batch of changes pending: the caller's inc_tlb_flush_pending() says
 * that there is one. An empty range zaps nothing.
 */
static void sdp_az_flush(struct sdp_az_walk *w)
{
	u64 gen = sdp_tlb_gen(w->r->mm);

	sdp_zap_nothing(w->vma);
	w->r->flushes++;
	if (sdp_tlb_gen_moves && gen == sdp_tlb_gen(w->r->mm)) {
		WRITE_ONCE(sdp_az_dead, true);
		pr_warn_once("sdp: this kernel's TLB flush isn't one; AZ-SDP is off, sends are copied or wait\n");
	}
}

static bool sdp_az_vma_ok(const struct vm_area_struct *vma)
{
	const unsigned long bad = VM_SHARED | VM_MAYSHARE | VM_PFNMAP | VM_MIXEDMAP | VM_IO |
				  VM_HUGETLB | SDP_VM_SHADOW_STACK | SDP_VM_DROPPABLE;

	return vma_is_anonymous((struct vm_area_struct *)vma) && !(vma->vm_flags & bad) &&
	       (vma->vm_flags & VM_READ) && !userfaultfd_armed((struct vm_area_struct *)vma);
}

static pmd_t *sdp_az_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud) || pud_bad(*pud))	/* bad: also a huge one */
		return NULL;
	return pmd_offset(pud, addr);
}

/*
 * Does anybody hold the page for a reason we don't know? One that is off its
 * LRU list is held once by whoever has it, mostly the CPU's batch of fresh
 * pages. Small mappings of large folios can't be looked at so: there only pins
 * are seen, by the caller.
 */
static bool sdp_az_odd_refs(struct folio *folio, bool huge)
{
	bool lru;
	int known = 1;

	if (sdp_az_break_refs || (folio_test_large(folio) && !huge))
		return false;
	if (folio_test_swapcache(folio))
		known += folio_nr_pages(folio);
	lru = folio_test_lru(folio);
	smp_rmb();	/* on the list or off it, the count belongs to that */
	if (folio_ref_count(folio) != known + !lru)
		return true;
	smp_rmb();	/* and still is, or is not, after counting */
	return lru != folio_test_lru(folio);
}

static int sdp_az_stop(struct sdp_az_walk *w, enum sdp_az_why why, int err)
{
	w->r->why = why;
	return err;
}

/* May an exclusive page, whose entry was cleared, be shared? */
static int sdp_az_may_share(struct sdp_az_walk *w, struct folio *folio, struct page *page,
			    bool huge)
{
	if (sdp_az_odd_refs(folio, huge))
		return sdp_az_stop(w, SDP_AZ_REFS, -EBUSY);
	if (huge ? sdp_share_pmd(folio, page) : sdp_share_pte(folio, page))
		return sdp_az_stop(w, SDP_AZ_PINNED, -EBUSY);
	return 0;
}

/* Page table lock held */
static int sdp_az_protect_exclusive(struct sdp_az_walk *w, pte_t *ptep, unsigned long addr,
				    struct folio *folio, struct page *page)
{
	struct mm_struct *mm = w->r->mm;
	pte_t pte = ptep_get_and_clear(mm, addr, ptep);
	int err;

	smp_mb();	/* against GUP-fast: its reference or our clearing is seen */
	err = sdp_az_may_share(w, folio, page, false);
	if (err) {
		set_pte_at(mm, addr, ptep, pte);
		return err;
	}
	set_pte_at(mm, addr, ptep, pte_wrprotect(pte));
	/* Also of a read-only entry: reclaim may have put off flushing the one before it */
	w->flush = true;
	w->r->changed++;
	return 0;
}

static void sdp_az_take(struct sdp_az_walk *w, struct folio *folio, struct page *page)
{
	folio_get(folio);
	w->r->pages[w->r->n++] = page;
	w->next += PAGE_SIZE;
}

/* A pte_fn_t: page table lock held */
static int sdp_az_protect_pte(pte_t *ptep, unsigned long addr, void *data)
{
	struct sdp_az_walk *w = data;
	pte_t pte = *ptep;
	struct folio *folio;
	struct page *page;
	int err;

	/* Empty entries are skipped, so look whether one was */
	if (addr != w->next || !pte_present(pte) || pte_protnone(pte))
		return sdp_az_stop(w, SDP_AZ_ABSENT, -EAGAIN);
	if (is_zero_pfn(pte_pfn(pte)) && !pte_write(pte)) {
		/* It never changes, and a write replaces it */
		w->r->shared++;
		sdp_az_take(w, page_folio(pte_page(pte)), pte_page(pte));
		return 0;
	}
	/* In anonymous memory anything else has a struct page */
	if (pte_special(pte) || pte_devmap(pte))
		return sdp_az_stop(w, SDP_AZ_NOT_ANON, -EOPNOTSUPP);
	page = pte_page(pte);
	folio = page_folio(page);
	if (!folio_test_anon(folio))
		return sdp_az_stop(w, SDP_AZ_NOT_ANON, -EOPNOTSUPP);
	/* It can't be restored, so it is copied even if written to when all is over */
	if (w->gentle && folio_test_large(folio))
		return sdp_az_stop(w, SDP_AZ_PART, -EOPNOTSUPP);
	if (!folio_test_ksm(folio) && PageAnonExclusive(page)) {
		err = sdp_az_protect_exclusive(w, ptep, addr, folio, page);
		if (err)
			return err;
	} else {
		if (pte_write(pte))
			return sdp_az_stop(w, SDP_AZ_ODD, -EOPNOTSUPP);
		w->r->shared++;		/* by fork(), KSM or another send */
	}
	sdp_az_take(w, folio, page);
	return 0;
}

static int sdp_az_protect_ptes(struct sdp_az_walk *w, unsigned long addr, unsigned long next)
{
	int err = apply_to_existing_page_range(w->r->mm, addr, next - addr, sdp_az_protect_pte, w);

	if (!err && w->next != next)
		err = sdp_az_stop(w, SDP_AZ_ABSENT, -EAGAIN);
	return err;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static int sdp_az_protect_pmd(struct sdp_az_walk *w, pmd_t *pmdp, unsigned long addr)
{
	struct mm_struct *mm = w->r->mm;
	pmd_t pmd = *pmdp;
	struct page *page;
	int err;

	if (!pmd_trans_huge(pmd) || !pmd_present(pmd) || pmd_protnone(pmd))
		return sdp_az_stop(w, SDP_AZ_ABSENT, -EAGAIN);
	page = pmd_page(pmd);
	if (pmd_devmap(pmd) || !PageAnon(page))		/* the huge zero page, too */
		return sdp_az_stop(w, SDP_AZ_NOT_ANON, -EOPNOTSUPP);
	if (PageAnonExclusive(page)) {
		pmd = pmdp_huge_get_and_clear(mm, addr, pmdp);
		smp_mb();	/* as in sdp_az_protect_exclusive() */
		err = sdp_az_may_share(w, page_folio(page), page, true);
		if (err) {
			set_pmd_at(mm, addr, pmdp, pmd);
			return err;
		}
		set_pmd_at(mm, addr, pmdp, pmd_wrprotect(pmd));
		w->flush = true;	/* as there */
		w->r->changed++;
	} else {
		if (pmd_write(pmd))
			return sdp_az_stop(w, SDP_AZ_ODD, -EOPNOTSUPP);
		w->r->shared++;
	}
	w->r->huge++;
	return 0;
}

static int sdp_az_protect_huge(struct sdp_az_walk *w, pmd_t *pmdp, unsigned long addr,
			       unsigned long next)
{
	spinlock_t *ptl;
	struct page *page;
	int i, err;

	if (next - addr != HPAGE_PMD_SIZE)
		return w->gentle ? sdp_az_stop(w, SDP_AZ_PART, -EOPNOTSUPP) :
				   sdp_az_stop(w, SDP_AZ_ABSENT, -EXDEV);
	ptl = pmd_lock(w->r->mm, pmdp);
	err = sdp_az_protect_pmd(w, pmdp, addr);
	if (!err) {
		page = pmd_page(*pmdp);
		page_ref_add(page, HPAGE_PMD_NR);
		for (i = 0; i < HPAGE_PMD_NR; i++)
			w->r->pages[w->r->n++] = page + i;
		w->next = next;
	}
	spin_unlock(ptl);
	return err;
}
#else
static int sdp_az_protect_huge(struct sdp_az_walk *w, pmd_t *pmdp, unsigned long addr,
			       unsigned long next)
{
	return sdp_az_stop(w, SDP_AZ_ODD, -EOPNOTSUPP);
}
#endif

/* What one entry of the middle level covers, at most; mmap lock held */
static int sdp_az_protect_step(struct sdp_az_walk *w, unsigned long end)
{
	unsigned long addr = w->next, next = min(pmd_addr_end(addr, end), w->vma->vm_end);
	pmd_t *pmdp = sdp_az_pmd(w->r->mm, addr), pmd;

	if (!pmdp)
		return sdp_az_stop(w, SDP_AZ_ABSENT, -EAGAIN);
	/*
	 * A page table stays one while the mmap lock is held; a huge page may
	 * become one. Only the former may go to apply_to_existing_page_range().
	 */
	pmd = READ_ONCE(*pmdp);
	if (pmd_none(pmd) || !pmd_present(pmd))
		return sdp_az_stop(w, SDP_AZ_ABSENT, -EAGAIN);
	if (pmd_trans_huge(pmd))
		return sdp_az_protect_huge(w, pmdp, addr, next);
	if (pmd_bad(pmd))
		return sdp_az_stop(w, SDP_AZ_ODD, -EOPNOTSUPP);
	return sdp_az_protect_ptes(w, addr, next);
}

static int sdp_az_walk(struct sdp_az_walk *w, unsigned long end)
{
	int err = 0;

	while (w->next < end && !err) {
		if (!w->vma || w->next >= w->vma->vm_end) {
			struct vm_area_struct *vma = vma_lookup(w->r->mm, w->next);

			/* Protection keys are the sending thread's, so restoring doesn't ask */
			if (!vma || !sdp_az_vma_ok(vma) ||
			    !arch_vma_access_permitted(vma, false, false, false))
				return sdp_az_stop(w, SDP_AZ_VMA, -EOPNOTSUPP);
			if (!sdp_az_break_lock)
				sdp_vma_start_write(vma);
			w->vma = vma;
		}
		err = sdp_az_protect_step(w, end);
	}
	return err;
}

static int sdp_az_lock(struct sdp_az_walk *w)
{
	struct mm_struct *mm = w->r->mm;

	if (w->gentle && rwsem_is_locked(&mm->mmap_lock))
		return sdp_az_stop(w, SDP_AZ_LOCK, -EBUSY);
	if (sdp_az_break_lock == 1 ? mmap_read_lock_killable(mm) : mmap_write_lock_killable(mm))
		return sdp_az_stop(w, SDP_AZ_SIGNAL, -EINTR);
	return 0;
}

static void sdp_az_unlock(struct mm_struct *mm)
{
	if (sdp_az_break_lock == 1)
		mmap_read_unlock(mm);
	else
		mmap_write_unlock(mm);
}

static int sdp_az_protect_locked(struct sdp_az_walk *w, unsigned long end)
{
	struct mm_struct *mm = w->r->mm;
	int err;

	/* Another MMU that can write can't be told from a module */
	if (mm_has_notifiers(mm))
		return sdp_az_stop(w, SDP_AZ_NOTIFIER, -EOPNOTSUPP);
	w->vma = NULL;		/* the address space may be another one by now */
	w->flush = false;
	inc_tlb_flush_pending(mm);
	err = sdp_az_walk(w, end);
	if (w->flush && sdp_az_break_delay)
		usleep_range(sdp_az_break_delay, 2 * sdp_az_break_delay);
	if (w->flush && !sdp_az_break_flush)
		sdp_az_flush(w);
	dec_tlb_flush_pending(mm);
	return err;
}

/*
 * Has what is missing faulted in. By reads of the program's, as it were, since
 * from 6.6 on get_user_pages() leaves NUMA balancing's entries as they are.
 */
static int sdp_az_fault_in(struct sdp_az_walk *w, unsigned long end)
{
	size_t len = end - w->next;

	if (fault_in_readable((const char __user *)w->next, len) == len)
		return sdp_az_stop(w, SDP_AZ_ABSENT, -EFAULT);
	w->r->faulted++;
	return 0;
}

/* Makes the next page's huge mapping small */
static int sdp_az_split(struct sdp_az_walk *w)
{
	struct mm_struct *mm = w->r->mm;
	struct page *page;
	long n;

	mmap_read_lock(mm);
	n = sdp_get_user_pages(w->next, 1, FOLL_SPLIT_PMD, &page);
	mmap_read_unlock(mm);
	if (n != 1)
		return sdp_az_stop(w, SDP_AZ_ABSENT, -EFAULT);
	put_page(page);
	w->r->faulted++;
	return 0;
}

/**
 * sdp_az_protect() - keep what a range of the caller's memory contains
 * @r:		what was done, and the references taken; @r->n may be less than asked for
 * @start:	address of the first page
 * @n:		pages, at least one; best not across a multiple of PMD_SIZE, so that one flush
 *		goes with few pages or with a huge one
 * @pages:	room for @n
 * @gentle:	leave huge pages whole, and don't wait for the mmap lock, which other threads use
 *
 * From its return until sdp_az_release() the pages don't change.
 * Context: process whose memory it is, no lock held; takes the mmap lock.
 */
void sdp_az_protect(struct sdp_az_range *r, unsigned long start, unsigned int n,
		    struct page **pages, bool gentle)
{
	unsigned long end = start + (unsigned long)n * PAGE_SIZE;
	struct sdp_az_walk w = { .r = r, .next = start, .gentle = gentle };
	int err, tries;

	*r = (struct sdp_az_range) { .mm = current->mm, .start = start, .pages = pages };
	if (!sdp_az_works()) {
		r->why = SDP_AZ_KERNEL;
		return;
	}
	for (tries = 0;; tries++) {
		if (sdp_az_lock(&w))
			break;
		r->why = SDP_AZ_ALL;
		err = sdp_az_protect_locked(&w, end);
		sdp_az_unlock(r->mm);
		if ((err != -EAGAIN && err != -EXDEV) || tries == SDP_AZ_TRIES ||
		    (err == -EXDEV ? sdp_az_split(&w) : sdp_az_fault_in(&w, end)))
			break;
	}
	if (r->n)
		mmgrab(r->mm);
}

/*
 * A pte_fn_t: page table lock held. The conditions are those under which a
 * write fault would reuse the page, plus our one reference. Any doubt is left
 * to that fault.
 */
static int sdp_az_restore_pte(pte_t *ptep, unsigned long addr, void *data)
{
	struct sdp_az_range *r = data;
	struct page *page = r->pages[(addr - r->start) >> PAGE_SHIFT];
	pte_t pte = *ptep;
	struct folio *folio;

	if (!pte_present(pte) || pte_pfn(pte) != page_to_pfn(page)) {
		r->moved++;
		return 0;
	}
	if (pte_write(pte) || pte_protnone(pte) || pte_special(pte))
		return 0;
	folio = page_folio(page);
	if (folio_test_large(folio) || folio_ref_count(folio) != 2 || !folio_trylock(folio))
		return 0;
	if (!folio_test_ksm(folio) && !folio_test_swapcache(folio) && !PageAnonExclusive(page) &&
	    folio_ref_count(folio) == 2) {
		SetPageAnonExclusive(page);
		set_pte_at(r->mm, addr, ptep, sdp_pte_mkwrite(pte));
		r->restored++;
	}
	folio_unlock(folio);
	return 0;
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static void sdp_az_restore_huge(struct sdp_az_range *r, pmd_t *pmdp, unsigned long addr)
{
	struct page *page = r->pages[(addr - r->start) >> PAGE_SHIFT];
	spinlock_t *ptl = pmd_lock(r->mm, pmdp);
	pmd_t pmd = *pmdp;

	if (!pmd_present(pmd) || !pmd_trans_huge(pmd) || pmd_protnone(pmd) ||
	    pmd_page(pmd) != page) {
		r->moved++;
	} else if (!pmd_write(pmd) && !PageAnonExclusive(page) && trylock_page(page)) {
		/* One reference was taken for each of its pages */
		if (!folio_test_swapcache(page_folio(page)) &&
		    page_count(page) == 1 + HPAGE_PMD_NR) {
			SetPageAnonExclusive(page);
			set_pmd_at(r->mm, addr, pmdp, sdp_pmd_mkwrite(pmd));
			r->restored++;
		}
		unlock_page(page);
	}
	spin_unlock(ptl);
}
#else
static void sdp_az_restore_huge(struct sdp_az_range *r, pmd_t *pmdp, unsigned long addr)
{
}
#endif

/* Without VM_SOFTDIRTY somebody tracks writes by the faults they take */
static bool sdp_az_may_restore(const struct vm_area_struct *vma)
{
	if (!sdp_az_vma_ok(vma) || !(vma->vm_flags & VM_WRITE))
		return false;
	return !IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) || (vma->vm_flags & VM_SOFTDIRTY);
}

static void sdp_az_restore_step(struct sdp_az_range *r, unsigned long addr, unsigned long next)
{
	pmd_t *pmdp = sdp_az_pmd(r->mm, addr), pmd;

	if (!pmdp)
		return;
	pmd = READ_ONCE(*pmdp);
	if (pmd_none(pmd) || !pmd_present(pmd))
		return;
	if (pmd_trans_huge(pmd)) {
		if (next - addr == HPAGE_PMD_SIZE)
			sdp_az_restore_huge(r, pmdp, addr);
	} else if (!pmd_bad(pmd)) {
		apply_to_existing_page_range(r->mm, addr, next - addr, sdp_az_restore_pte, r);
	}
}

/**
 * sdp_az_restore() - let the program write again without a fault
 * @r:	range protected, whose pages the device can't read any more
 *
 * Counts @r->moved and @r->restored. Changes nothing where there is any doubt,
 * or somebody holds the mmap lock.
 * Context: process, any; takes the mmap lock for reading.
 * Return: false if it didn't look.
 */
bool sdp_az_restore(struct sdp_az_range *r)
{
	unsigned long addr = r->start, end = addr + (unsigned long)r->n * PAGE_SIZE, next;
	struct vm_area_struct *vma;
	bool looked = false;

	if (!r->n || !mmget_not_zero(r->mm))
		return false;
	if (!mmap_read_trylock(r->mm))
		goto put;
	looked = true;
	for (; addr < end; addr = next) {
		vma = find_vma(r->mm, addr);
		if (!vma || vma->vm_start >= end)
			break;
		addr = max(addr, vma->vm_start);
		next = min(pmd_addr_end(addr, end), vma->vm_end);
		if (sdp_az_may_restore(vma))
			sdp_az_restore_step(r, addr, next);
	}
	mmap_read_unlock(r->mm);
put:
	mmput_async(r->mm);
	return looked;
}

/**
 * sdp_az_release() - the pages may change again
 * @r:	range protected, whose pages the device can't read any more
 *
 * Context: process.
 */
void sdp_az_release(struct sdp_az_range *r)
{
	unsigned int i, run;

	if (!r->n)
		return;
	for (i = 0; i < r->n; i += run) {
		struct folio *folio = page_folio(r->pages[i]);

		/* All of a large folio at once */
		for (run = 1; i + run < r->n && page_folio(r->pages[i + run]) == folio; run++)
			;
		folio_put_refs(folio, run);
	}
	mmdrop(r->mm);
	r->n = 0;
}
