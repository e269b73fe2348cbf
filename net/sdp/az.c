// SPDX-License-Identifier: GPL-2.0
/*
 * AZ-SDP sending (Balaji et al., CAC 2006): send() returns at once, nothing is
 * copied, and the program may write to its buffer while the peer reads it.
 *
 * The pages that lie wholly in the buffer are protected (az_track.c); the
 * partial ones at its ends are copied, and stand in their places. All of it is
 * advertised as asynchronous sources (src.c) that nobody waits for. What can't
 * be protected goes the other ways, from there on.
 *
 * When the last source is over a worker lets the pages go. Before that it
 * makes them writable again, unless the program seems not to write to them:
 * then the next send() finds them protected as they are.
 *
 * A program that writes while its data is in flight pays for a copy of each
 * page, more than a copying send() would have cost. When that happens to too
 * many pages, or the memory can't be protected, or the peer won't read it, the
 * socket's next sends go as they would without AZ-SDP; twice as many each time.
 *
 * Or it waits for that, in memory where it can (region.c, policy block). If that
 * takes too long, because the peer's program doesn't read, all of the socket's
 * adverts are taken back, and go as Data, for which the peer may have room.
 *
 * A socket's az_* fields belong to tx_mutex, but for the atomic ones.
 */
#include <linux/mm.h>
#include <linux/workqueue.h>

#include "az.h"
#include "mr.h"
#include "src.h"
#include "trace.h"

/* Sends that go another way after one that didn't pay, at most */
#define SDP_AZ_SKIP_MAX		256
/* As far as a send buffer grows that the program has not set, to keep the wire busy; bytes */
#define SDP_AZ_SNDBUF		(2 << 20)
/* A peer that reads one advert at a time keeps the wire idle in between: not below that, bytes */
#define SDP_AZ_SINGLE		(1 << 20)
/* One send in so many isn't restored, to see whether the program writes there at all */
#define SDP_AZ_PROBE		16

static LLIST_HEAD(sdp_az_over);
static LLIST_HEAD(sdp_az_hurried);

static u32 sdp_az_thresh(const struct sock *sk)
{
	if (READ_ONCE(sdp_sk(sk)->mode) == SDP_AZ)
		return 2 * PAGE_SIZE;	/* so that there is a whole page in it */
	return sdp_thresh(READ_ONCE(sdp_sk(sk)->az_thresh),
			  READ_ONCE(sdp_pernet(sock_net(sk))->az_thresh));
}

/* What the sends that are over say about the next one */
static void sdp_az_learn(struct sdp_sock *sdp)
{
	int missed = atomic_xchg(&sdp->az_missed, 0), kept = atomic_xchg(&sdp->az_kept, 0);

	if (missed)
		sdp_backoff_miss(&sdp->az_off, SDP_AZ_SKIP_MAX);
	else if (kept && sdp->az_off.misses)
		sdp->az_off.misses--;
}

/**
 * sdp_az_wanted() - is a send() to return at once, its memory protected?
 * @sk:		socket
 * @msg:	what to send
 *
 * Context: process, tx_mutex held.
 * Return: true if so.
 */
bool sdp_az_wanted(struct sock *sk, struct msghdr *msg)
{
	struct sdp_sock *sdp = sdp_sk(sk);
	int mode = READ_ONCE(sdp->mode);
	u32 adverts;

	if ((mode != SDP_AUTO && mode != SDP_AZ) || msg_data_left(msg) < sdp_az_thresh(sk) ||
	    !user_backed_iter(&msg->msg_iter) || !sdp_az_works())
		return false;
	adverts = sdp_src_adverts(sk, mode != SDP_AZ);
	if (mode == SDP_AZ)
		return adverts;
	if (!adverts || (adverts == 1 && msg_data_left(msg) < SDP_AZ_SINGLE))
		return false;
	sdp_az_learn(sdp);
	if (!sdp_backoff_skips(&sdp->az_off))
		return true;
	SDP_INC_STATS(sock_net(sk), SDP_MIB_AZ_SKIPPED);
	return false;
}

/**
 * sdp_az_large() - is what comes next large enough to be worth it?
 * @sk:		socket
 * @msg:	what to send, from a program's memory
 *
 * Context: process.
 * Return: true if so.
 */
bool sdp_az_large(const struct sock *sk, const struct msghdr *msg)
{
	return sdp_mr_segment(&msg->msg_iter, NULL) >= sdp_az_thresh(sk);
}

static void sdp_az_count(const struct sdp_az *az)
{
	struct net *net = sock_net(az->sk);
	const struct sdp_az_range *r = &az->range;
	struct sdp_sock *sdp = sdp_sk(az->sk);

	spin_lock_bh(&sdp->lock);
	SDP_COUNT(az->sk, AZ_SENDS, az_sends, 1);
	SDP_COUNT(az->sk, AZ_PROTECTED, az_protected, az->span.file ? az->n : r->changed);
	spin_unlock_bh(&sdp->lock);
	if (az->why)
		SDP_INC_STATS(net, SDP_MIB_AZ_REFUSED(az->why));
	if (az->span.file) {
		SDP_ADD_STATS(net, SDP_MIB_AZ_FLUSHES, az->span.flushes);
		return;
	}
	SDP_ADD_STATS(net, SDP_MIB_AZ_SHARED, r->shared);
	SDP_ADD_STATS(net, SDP_MIB_AZ_HUGE, r->huge);
	SDP_ADD_STATS(net, SDP_MIB_AZ_FLUSHES, r->flushes);
	SDP_ADD_STATS(net, SDP_MIB_AZ_FAULTED, r->faulted);
}

static void sdp_az_free(struct sdp_az *az)
{
	unsigned int last = az->head + az->n;

	if (az->head)
		put_page(az->pages[0]);
	if (az->npages > last)
		put_page(az->pages[last]);
	if (az->span.file)
		sdp_region_put(&az->span);
	else
		sdp_az_release(&az->range);
	mm_unaccount_pinned_pages(&az->mmp);
	sock_put(az->sk);
	kvfree(az->pages);
	kfree(az);
}

/* Sending it is over: what the program has done to it meanwhile */
static void sdp_az_end(struct sdp_az *az)
{
	struct sdp_sock *sdp = sdp_sk(az->sk);
	struct net *net = sock_net(az->sk);
	struct sdp_az_range *r = &az->range;
	bool looked = true;
	unsigned int moved;
	u64 usec;

	if (az->span.file)
		sdp_region_sent(&az->span);
	else
		looked = az->restore && sdp_az_restore(r);
	moved = r->moved + az->span.moved;
	usec = ktime_us_delta(ktime_get(), az->began);
	spin_lock_bh(&sdp->lock);
	SDP_COUNT(az->sk, AZ_WRITTEN, az_written, moved);
	SDP_COUNT(az->sk, AZ_RESTORED, az_restored, r->restored);
	SDP_COUNT(az->sk, AZ_TIME, az_usec, usec);
	spin_unlock_bh(&sdp->lock);
	if (az->hurried || moved * 100 > az->n * READ_ONCE(sdp_pernet(net)->az_fault_max))
		atomic_inc(&sdp->az_missed);
	else if (looked)
		atomic_inc(&sdp->az_kept);
	trace_sdp_az_end(az);
	sdp_az_free(az);
}

static void sdp_az_work(struct work_struct *work)
{
	struct llist_node *over = llist_reverse_order(llist_del_all(&sdp_az_over));
	struct sdp_az *az, *next;

	llist_for_each_entry_safe(az, next, over, node) {
		sdp_az_end(az);
		cond_resched();
	}
}

static DECLARE_WORK(sdp_az_over_work, sdp_az_work);

/**
 * sdp_az_put() - a source, or the sender, needs it no longer
 * @az:	memory being sent
 *
 * Context: any; the memory may not be mapped for the device any more.
 */
void sdp_az_put(struct sdp_az *az)
{
	if (refcount_dec_and_test(&az->users) && llist_add(&az->node, &sdp_az_over))
		queue_work(sdp_wq, &sdp_az_over_work);
}

static void sdp_az_hurry_work(struct work_struct *work)
{
	struct llist_node *hurried = llist_del_all(&sdp_az_hurried);
	struct sdp_az *az, *next;

	llist_for_each_entry_safe(az, next, hurried, hurry_node) {
		sdp_src_take_back(az->sk);
		sdp_az_put(az);
	}
}

static DECLARE_WORK(sdp_az_hurried_work, sdp_az_hurry_work);

/* A writer has waited long enough for it; once is enough */
static void sdp_az_hurry(struct sdp_region_span *span)
{
	struct sdp_az *az = container_of(span, struct sdp_az, span);

	if (az->hurried || !refcount_inc_not_zero(&az->users))
		return;
	az->hurried = true;
	if (llist_add(&az->hurry_node, &sdp_az_hurried))
		queue_work(sdp_wq, &sdp_az_hurried_work);
}

/* A copy of @len bytes of a page that holds other data as well */
static struct page *sdp_az_copy(unsigned long addr, u32 len)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT);

	if (page && copy_from_user(page_address(page) + offset_in_page(addr),
				   (void __user *)addr, len)) {
		put_page(page);
		return NULL;
	}
	return page;
}

/* Protects pages as the memory they are of allows */
static void sdp_az_keep(struct sdp_az *az, unsigned long first, unsigned int want,
			struct page **pages)
{
	if (az->span.file) {
		az->span.pages = pages;
		sdp_region_send(&az->span);
		az->n = az->span.n;
		az->why = az->span.why;
	} else {
		sdp_az_protect(&az->range, first, want, pages, az->gentle);
		az->n = az->range.n;
		az->why = az->range.why;
	}
}

/*
 * Protects @len bytes from @addr on, as many as can be, and sees to the ends.
 * Whole pages have to be there, else it isn't worth it.
 */
static bool sdp_az_take(struct sdp_az *az, unsigned long addr, u32 len)
{
	unsigned long first = PAGE_ALIGN(addr), last = (addr + len) & PAGE_MASK;
	unsigned int want = (last - first) >> PAGE_SHIFT;

	az->head = first != addr;
	if (az->head) {
		az->pages[0] = sdp_az_copy(addr, first - addr);
		if (!az->pages[0])
			return false;
	}
	sdp_az_keep(az, first, want, az->pages + az->head);
	if (!az->n) {
		if (az->head)
			put_page(az->pages[0]);
		return false;
	}
	az->off = offset_in_page(addr);
	az->npages = az->head + az->n;
	az->copied = first - addr;
	az->len = az->copied + az->n * PAGE_SIZE;
	if (az->n == want && last != addr + len) {
		struct page *tail = sdp_az_copy(last, addr + len - last);

		if (tail) {
			az->pages[az->npages++] = tail;
			az->len = len;
			az->copied += addr + len - last;
		}
	}
	return true;
}

/* Is the program going to write there? Most pages were still protected if it didn't so far */
static bool sdp_az_guess(struct sdp_sock *sdp, const struct sdp_az_range *r)
{
	return r->changed >= r->shared && ++sdp->az_probe % SDP_AZ_PROBE;
}

/* Half of RLIMIT_MEMLOCK is left to who asks for it by name: MSG_ZEROCOPY, io_uring */
static bool sdp_az_leaves_memlock(u32 len)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK);

	return limit == RLIM_INFINITY || capable(CAP_IPC_LOCK) ||
	       atomic_long_read(&current_user()->locked_vm) + len / PAGE_SIZE <=
	       (limit >> PAGE_SHIFT) / 2;
}

/* What is in flight can't be swapped; but a region's pages never can, so only copies are more */
static int sdp_az_account(struct sdp_az *az, unsigned long addr, u32 len)
{
	unsigned long first = PAGE_ALIGN(addr);
	int policy = sdp_choice(READ_ONCE(sdp_sk(az->sk)->az_policy),
				READ_ONCE(sdp_pernet(sock_net(az->sk))->az_policy));

	if (sdp_region_find(&az->span, first, (addr + len - first) >> PAGE_SHIFT, false)) {
		az->span.block = policy == SDP_AZ_BLOCK;
		az->span.hurry = sdp_az_hurry;
		if (az->span.block)
			return 0;
	}
	if (az->gentle && !sdp_az_leaves_memlock(len))
		return -ENOBUFS;
	return mm_account_pinned_pages(&az->mmp, len);
}

/* Memory of @len bytes to send, from @addr on; NULL if it has to go another way */
static struct sdp_az *sdp_az_new(struct sock *sk, unsigned long addr, u32 len)
{
	struct sdp_az *az = kzalloc(sizeof(*az), GFP_KERNEL);

	if (!az)
		return NULL;
	az->pages = kvmalloc_array(len / PAGE_SIZE + 2, sizeof(*az->pages), GFP_KERNEL);
	if (!az->pages)
		goto free;
	az->sk = sk;
	/* Once, as the mode may change meanwhile */
	az->gentle = READ_ONCE(sdp_sk(sk)->mode) != SDP_AZ;
	if (sdp_az_account(az, addr, len)) {
		SDP_INC_STATS(sock_net(sk), SDP_MIB_AZ_NO_MEM);
		goto free;
	}
	refcount_set(&az->users, 1);
	az->began = ktime_get();
	if (!sdp_az_take(az, addr, len)) {
		if (az->why) {
			SDP_INC_STATS(sock_net(sk), SDP_MIB_AZ_REFUSED(az->why));
			atomic_inc(&sdp_sk(sk)->az_missed);
		}
		mm_unaccount_pinned_pages(&az->mmp);
		goto free;
	}
	sock_hold(sk);
	az->restore = sdp_az_guess(sdp_sk(sk), &az->range);
	sdp_az_count(az);
	trace_sdp_az_begin(az, addr);
	return az;

free:
	sdp_region_put(&az->span);
	kvfree(az->pages);
	kfree(az);
	return NULL;
}

/* Makes sources of it and queues them; 0, or -errno when some of it is left */
static int sdp_az_queue(struct sock *sk, struct msghdr *msg, struct sdp_az *az, int *sent)
{
	u32 chunk = sdp_zcopy_chunk(sk), done = 0, n;
	struct sdp_sock *sdp = sdp_sk(sk);
	struct sdp_src *src;
	int err = 0;

	while (!err && done < az->len) {
		/* Whole pages but for the ends */
		n = min(az->len - done, chunk - offset_in_page(az->off + done));
		src = sdp_src_new_az(sk, az, done, n);
		err = src ? sdp_src_queue_async(sk, src, NULL) : -ENOBUFS;
		if (!err)
			done += n;
		else if (src)
			sdp_src_free(src);
	}
	iov_iter_advance(&msg->msg_iter, done);
	*sent += done;
	if (!err)
		SDP_ADD_STATS(sock_net(sk), SDP_MIB_SEND_COPIED, az->copied);
	spin_lock_bh(&sdp->lock);
	SDP_COUNT(sk, AZ_BYTES, az_bytes, done);
	spin_unlock_bh(&sdp->lock);
	return err;
}

/* TCP's send buffer grows by itself, too */
static void sdp_az_grow_sndbuf(struct sock *sk)
{
	int most = min(SDP_AZ_SNDBUF, READ_ONCE(sdp_sysctl_wmem[2]));

	if (!(sk->sk_userlocks & SOCK_SNDBUF_LOCK) && READ_ONCE(sk->sk_sndbuf) < most)
		WRITE_ONCE(sk->sk_sndbuf, most);
}

/*
 * So much at a time, of a piece: in a large one so that huge pages stay whole, and no more than
 * the send buffer is to hold
 */
static u32 sdp_az_piece(const struct sock *sk, unsigned long addr, size_t len)
{
	unsigned long end, room = max_t(unsigned long, READ_ONCE(sk->sk_sndbuf), SDP_AZ_MIN);

	if (room < PMD_SIZE)
		return len <= room ? len : ((addr + room) & PAGE_MASK) - addr;
	if (len <= PMD_SIZE)
		return len;
	end = (addr + PMD_SIZE) & PMD_MASK;
	if (end - addr < SDP_AZ_MIN)
		end += PMD_SIZE;
	return min_t(size_t, len, end - addr);
}

/**
 * sdp_az_send() - send without copying or waiting, as far as that goes
 * @sk:		socket
 * @msg:	what to send; its iterator moves on by what was sent
 * @timeo:	how long it may wait for room in the send buffer, jiffies
 * @sent:	increased by the bytes sent
 *
 * Stops at a small piece of an iovec.
 * Context: process, tx_mutex held, but not while waiting.
 * Return: 0 to go on
 * another way, if anything is left, or -errno.
 */
int sdp_az_send(struct sock *sk, struct msghdr *msg, long *timeo, int *sent)
{
	unsigned long addr;
	struct sdp_az *az;
	size_t len;
	int err;

	sdp_az_grow_sndbuf(sk);
	/* The rest of a piece goes as its beginning did, if there is a whole page in it */
	while (msg_data_left(msg) && (msg->msg_iter.iov_offset || sdp_az_large(sk, msg))) {
		if (!sdp_send_has_room(sk, 0)) {
			err = sdp_send_wait_room(sk, timeo);
			if (err)
				return err;
			continue;
		}
		len = sdp_mr_segment(&msg->msg_iter, &addr);
		len = sdp_az_piece(sk, addr, len);
		if (PAGE_ALIGN(addr) + PAGE_SIZE > addr + len)
			return 0;
		az = sdp_az_new(sk, addr, len);
		if (!az)
			return 0;
		err = sdp_az_queue(sk, msg, az, sent);
		/* What was refused would be the next time as well */
		if (!err && az->why)
			err = -ENOBUFS;
		sdp_az_put(az);
		if (err)
			return err == -ENOBUFS ? 0 : err;
	}
	return 0;
}
