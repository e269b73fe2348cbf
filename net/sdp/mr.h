/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of programs made ready for RDMA; see mr.c */
#ifndef _SDP_MR_H
#define _SDP_MR_H

#include <linux/skbuff.h>
#include <linux/uio.h>

#include "sdp.h"

/* What one registration covers at most: 1 MiB wherever in a page it begins */
#define SDP_MR_BYTES		(1U << 20)
#define SDP_MR_PAGES		(SDP_MR_BYTES / PAGE_SIZE + 1)

/**
 * enum sdp_mr_kind - how a region has its pages
 * @SDP_MR_PINNED:	a program's, pinned
 * @SDP_MR_HELD:	of whatever kind, with a reference to each
 * @SDP_MR_BORROWED:	somebody else sees to them
 */
enum sdp_mr_kind {
	SDP_MR_PINNED,
	SDP_MR_HELD,
	SDP_MR_BORROWED,
};

/**
 * struct sdp_mr - a memory region and the pages it stands for at present
 * @list:	among its domain's free ones
 * @pd:		domain it was made in; a reference while it is in use
 * @mr:		the region; made for SDP_MR_PAGES pages
 * @reg:	registers it, with a new key each time
 * @inv:	invalidates the key it had before
 * @first:	the first of the two that is needed
 * @pages:	pages it stands for
 * @own_pages:	an array for those that are pinned or held by it
 * @sg:		the same, mapped for the device
 * @npages:	how many
 * @kind:	how it has them
 * @nents:	entries of @sg; 0 when not mapped
 * @len:	bytes in them
 * @off:	where in the first page they begin
 * @dir:	what the device does to them
 * @key:	the key the device knows it by
 * @valid:	... if it does: to be invalidated before the next use
 * @broken:	nobody knows what state it is in: not to be used again
 * @idle:	free since, jiffies
 * @mmp:	what counts against RLIMIT_MEMLOCK
 */
struct sdp_mr {
	struct list_head	list;
	struct sdp_pd		*pd;
	struct ib_mr		*mr;
	struct ib_reg_wr	reg;
	struct ib_send_wr	inv;
	struct ib_send_wr	*first;
	struct page		**pages;
	struct page		**own_pages;
	struct scatterlist	*sg;
	unsigned int		npages;
	unsigned int		nents;
	u32			len;
	u32			off;
	enum dma_data_direction	dir;
	u32			key;
	enum sdp_mr_kind	kind;
	bool			valid;
	bool			broken;
	unsigned long		idle;
	struct mmpin		mmp;
};

/* Where the device finds the bytes, and where the peer is told they are */
static inline u64 sdp_mr_addr(const struct sdp_mr *mr)
{
	return mr->mr->iova;
}

/* Renewed: does the key it had have to be invalidated first? */
static inline bool sdp_mr_is_late(const struct sdp_mr *mr)
{
	return mr->first == &mr->inv;
}

struct sdp_mr *sdp_mr_get(struct sdp_pd *pd);
bool sdp_mr_plenty(const struct sdp_dev *dev);
void sdp_mr_put(struct sdp_mr *mr);
void sdp_mr_destroy(struct sdp_mr *mr);
size_t sdp_mr_segment(const struct iov_iter *iter, unsigned long *addr);
int sdp_mr_pin(struct sdp_mr *mr, const struct iov_iter *iter, u32 max,
	       enum dma_data_direction dir, bool account);
int sdp_mr_extend(struct sdp_mr *mr, const struct iov_iter *iter, u32 max);
int sdp_mr_borrow(struct sdp_mr *mr, struct page **pages, u32 off, u32 len,
		  enum dma_data_direction dir);
void sdp_mr_unpin(struct sdp_mr *mr);
void sdp_mr_renew(struct sdp_mr *mr, int access);
struct ib_send_wr *sdp_mr_link(struct sdp_mr *mr, struct ib_send_wr *wr);
void sdp_mr_copy(const struct sdp_mr *mr, void *to, u32 len);
void sdp_mr_pool_free(struct sdp_pd *pd);
void sdp_mr_pool_age(struct sdp_pd *pd, struct list_head *old);
void sdp_mr_old_free(struct list_head *old);

#endif /* _SDP_MR_H */
