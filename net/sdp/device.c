// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: their coming and going, protection domains, and the buffers
 * that carry payload.
 *
 * A buffer stays mapped for the device it was made for until it is freed or
 * the device goes away, and freed buffers are kept for reuse, so that moving
 * data costs neither an allocation nor a mapping per message.
 */
#include "cm.h"
#include "conn.h"
#include "device.h"
#include "mr.h"
#include "sdp.h"

/* Free buffers kept per device, bytes */
#define SDP_CACHE_MAX		(2 << 20)
/* How often memory regions are looked at that may not be needed any more */
#define SDP_MR_AGE_TIME		(5 * HZ)

static struct kmem_cache *sdp_buf_slab;
static struct ib_client sdp_ib_client;

/**
 * sdp_dev_get() - find a device's state and take a reference
 * @ib:	RDMA device
 *
 * Context: any.
 * Return: the state, or NULL when the device isn't ours or is going away.
 */
struct sdp_dev *sdp_dev_get(struct ib_device *ib)
{
	struct sdp_dev *dev;

	rcu_read_lock();	/* sdp_remove_device() waits for that */
	dev = ib_get_client_data(ib, &sdp_ib_client);
	if (dev && (READ_ONCE(dev->removed) || !refcount_inc_not_zero(&dev->refs)))
		dev = NULL;
	rcu_read_unlock();
	return dev;
}

/**
 * sdp_dev_put() - give a reference back
 * @dev:	device
 *
 * Context: any.
 */
void sdp_dev_put(struct sdp_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->unused);
}

/**
 * sdp_dev_add_conn() - tie a connection to its device
 * @dev:	device, of which the connection gets a reference
 * @conn:	connection
 *
 * From here on the device's removal ends the connection.
 * Context: process.
 * Return: 0, or -ENETDOWN when the device is going away.
 */
int sdp_dev_add_conn(struct sdp_dev *dev, struct sdp_conn *conn)
{
	int err = 0;

	spin_lock_bh(&dev->lock);
	if (dev->removed) {
		err = -ENETDOWN;
	} else {
		refcount_inc(&dev->refs);
		WRITE_ONCE(conn->dev, dev);
		list_add_tail(&conn->dev_list, &dev->conns);
	}
	spin_unlock_bh(&dev->lock);
	return err;
}

/**
 * sdp_dev_del_conn() - undo sdp_dev_add_conn(), reference included
 * @conn:	connection that holds nothing of the device any more
 *
 * Context: process.
 */
void sdp_dev_del_conn(struct sdp_conn *conn)
{
	struct sdp_dev *dev = conn->dev;

	if (!dev)
		return;
	spin_lock_bh(&dev->lock);
	list_del(&conn->dev_list);
	spin_unlock_bh(&dev->lock);
	conn->dev = NULL;
	sdp_dev_put(dev);
}

static struct sdp_pd *sdp_pd_find(struct sdp_dev *dev, kuid_t uid)
{
	struct sdp_pd *pd;

	list_for_each_entry(pd, &dev->pds, list) {
		if (uid_eq(pd->uid, uid)) {
			__sdp_pd_hold(pd);
			return pd;
		}
	}
	return NULL;
}

/**
 * __sdp_pd_hold() - sdp_pd_hold() for who has the lock already
 * @pd:	domain in use
 *
 * Context: any, dev->lock held.
 */
void __sdp_pd_hold(struct sdp_pd *pd)
{
	pd->users++;
	refcount_inc(&pd->dev->refs);
}

/**
 * sdp_pd_hold() - another reference to a protection domain
 * @pd:	domain to which there is one
 *
 * Context: any.
 */
void sdp_pd_hold(struct sdp_pd *pd)
{
	spin_lock_bh(&pd->dev->lock);
	__sdp_pd_hold(pd);
	spin_unlock_bh(&pd->dev->lock);
}

/**
 * sdp_pd_get() - protection domain for a user's connections
 * @dev:	device
 * @uid:	owner of the socket
 *
 * The caller has a reference to the device, and the domain gets one.
 * Context: process.
 * Return: the domain with a reference, or ERR_PTR.
 */
struct sdp_pd *sdp_pd_get(struct sdp_dev *dev, kuid_t uid)
{
	struct sdp_pd *pd, *found;

	spin_lock_bh(&dev->lock);
	pd = sdp_pd_find(dev, uid);
	spin_unlock_bh(&dev->lock);
	if (pd)
		return pd;

	pd = kzalloc(sizeof(*pd), GFP_KERNEL);
	if (!pd)
		return ERR_PTR(-ENOMEM);
	pd->pd = ib_alloc_pd(dev->ib, 0);
	if (IS_ERR(pd->pd)) {
		int err = PTR_ERR(pd->pd);

		kfree(pd);
		return ERR_PTR(err);
	}
	pd->dev = dev;
	pd->uid = uid;
	pd->users = 1;
	INIT_LIST_HEAD(&pd->mrs);

	spin_lock_bh(&dev->lock);
	found = sdp_pd_find(dev, uid);
	if (!found) {
		refcount_inc(&dev->refs);
		list_add(&pd->list, &dev->pds);
	}
	spin_unlock_bh(&dev->lock);
	if (found) {
		ib_dealloc_pd(pd->pd);
		kfree(pd);
		return found;
	}
	return pd;
}

/**
 * sdp_pd_put() - give a protection domain back
 * @pd:	domain
 *
 * Context: process, or any when it can't be the last reference; nothing that
 * was made in it by the caller may be left.
 */
void sdp_pd_put(struct sdp_pd *pd)
{
	struct sdp_dev *dev = pd->dev;
	bool last;

	spin_lock_bh(&dev->lock);
	last = --pd->users == 0;
	if (last)
		list_del(&pd->list);
	spin_unlock_bh(&dev->lock);
	if (last) {
		sdp_mr_pool_free(pd);
		ib_dealloc_pd(pd->pd);
		kfree(pd);
	}
	sdp_dev_put(dev);
}

static void sdp_mr_work(struct work_struct *work)
{
	struct sdp_dev *dev = container_of(to_delayed_work(work), struct sdp_dev, mr_work);
	struct sdp_pd *pd;
	LIST_HEAD(old);
	bool more = false;

	spin_lock_bh(&dev->lock);
	list_for_each_entry(pd, &dev->pds, list) {
		sdp_mr_pool_age(pd, &old);
		more |= !list_empty(&pd->mrs);
	}
	if (more && !dev->removed)
		queue_delayed_work(sdp_wq, &dev->mr_work, SDP_MR_AGE_TIME);
	spin_unlock_bh(&dev->lock);
	sdp_mr_old_free(&old);
}

/**
 * sdp_dev_age_mrs() - some memory region is free: see to it that not for ever
 * @dev:	device
 *
 * Context: any.
 */
void sdp_dev_age_mrs(struct sdp_dev *dev)
{
	if (!delayed_work_pending(&dev->mr_work) && !READ_ONCE(dev->removed))
		queue_delayed_work(sdp_wq, &dev->mr_work, SDP_MR_AGE_TIME);
}

static struct sdp_buf *sdp_buf_alloc(struct sdp_dev *dev, u8 order, gfp_t gfp)
{
	struct sdp_buf *buf = kmem_cache_alloc(sdp_buf_slab, gfp | __GFP_NOWARN);

	if (!buf)
		return NULL;
	buf->page = alloc_pages(gfp | __GFP_COMP | __GFP_NOWARN |
				(order ? __GFP_NORETRY : 0), order);
	if (!buf->page)
		goto free_buf;
	buf->order = order;
	buf->dma = ib_dma_map_page(dev->ib, buf->page, 0, sdp_buf_size(buf), DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(dev->ib, buf->dma))
		goto free_page;
	buf->dev = dev;
	return buf;

free_page:
	__free_pages(buf->page, order);
free_buf:
	kmem_cache_free(sdp_buf_slab, buf);
	return NULL;
}

static void sdp_buf_free(struct sdp_buf *buf)
{
	sdp_buf_unmap(buf);
	__free_pages(buf->page, buf->order);
	kmem_cache_free(sdp_buf_slab, buf);
}

/**
 * sdp_buf_get() - a buffer, empty and mapped
 * @dev:	device that will read or write it
 * @order:	size, PAGE_SIZE << @order
 * @gfp:	how to allocate when there is no free one
 *
 * Context: as @gfp; takes dev->lock.
 * Return: the buffer or NULL.
 */
struct sdp_buf *sdp_buf_get(struct sdp_dev *dev, u8 order, gfp_t gfp)
{
	struct sdp_buf *buf;

	spin_lock_bh(&dev->lock);
	buf = list_first_entry_or_null(&dev->cache[order], struct sdp_buf, list);
	if (buf) {
		list_del(&buf->list);
		dev->cached -= sdp_buf_size(buf);
	}
	spin_unlock_bh(&dev->lock);

	if (buf) {
		SDP_INC_STATS(&init_net, SDP_MIB_BUF_REUSE);
	} else {
		buf = sdp_buf_alloc(dev, order, gfp);
		SDP_INC_STATS(&init_net, buf ? SDP_MIB_BUF_ALLOC : SDP_MIB_BUF_FAIL);
		if (!buf)
			return NULL;
	}
	INIT_LIST_HEAD(&buf->list);
	buf->off = 0;
	buf->len = 0;
	buf->more = false;
	return buf;
}

/**
 * sdp_buf_put() - free a buffer, or keep it for the next
 * @buf:	buffer on no list
 *
 * Context: any; takes dev->lock.
 */
void sdp_buf_put(struct sdp_buf *buf)
{
	struct sdp_dev *dev = buf->dev;
	bool keep = false;

	if (dev) {
		spin_lock_bh(&dev->lock);
		keep = !dev->removed && dev->cached + sdp_buf_size(buf) <= SDP_CACHE_MAX;
		if (keep) {
			list_add(&buf->list, &dev->cache[buf->order]);
			dev->cached += sdp_buf_size(buf);
		}
		spin_unlock_bh(&dev->lock);
	}
	if (!keep)
		sdp_buf_free(buf);
}

/**
 * sdp_buf_unmap() - take a buffer off its device, contents kept
 * @buf:	buffer
 *
 * Context: any; the device has finished with the buffer.
 */
void sdp_buf_unmap(struct sdp_buf *buf)
{
	if (!buf->dev)
		return;
	/*
	 * What was received has been synced when it was, and messages may have
	 * been collected behind it: where DMA bounces, that must not come again.
	 */
	if (!ib_uses_virt_dma(buf->dev->ib))
		dma_unmap_page_attrs(buf->dev->ib->dma_device, buf->dma, sdp_buf_size(buf),
				     DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	buf->dev = NULL;
}

static void sdp_cache_purge(struct sdp_dev *dev)
{
	struct sdp_buf *buf, *next;
	LIST_HEAD(free);
	int i;

	spin_lock_bh(&dev->lock);
	for (i = 0; i < SDP_BUF_ORDERS; i++)
		list_splice_init(&dev->cache[i], &free);
	dev->cached = 0;
	spin_unlock_bh(&dev->lock);
	list_for_each_entry_safe(buf, next, &free, list)
		sdp_buf_free(buf);
}

static int sdp_add_device(struct ib_device *ib)
{
	const struct sdp_cm_ops *cm = sdp_cm_for(ib);
	struct sdp_dev *dev;
	int i;

	if (!cm)
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	dev->cm = cm;
	dev->reg_replayed = ib->ops.driver_id == RDMA_DRIVER_RXE;
	INIT_LIST_HEAD(&dev->listens);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->conns);
	INIT_LIST_HEAD(&dev->pds);
	for (i = 0; i < SDP_BUF_ORDERS; i++)
		INIT_LIST_HEAD(&dev->cache[i]);
	INIT_DELAYED_WORK(&dev->mr_work, sdp_mr_work);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->unused);

	ib_set_client_data(ib, &sdp_ib_client, dev);
	sdp_cm_add_device(dev);
	return 0;
}

/* Ends all connections of a device, timewait included. They go by themselves after this. */
static void sdp_dev_end_conns(struct sdp_dev *dev)
{
	struct sdp_conn *conn;

	spin_lock_bh(&dev->lock);
	list_for_each_entry(conn, &dev->conns, dev_list)
		sdp_conn_dev_gone(conn);
	spin_unlock_bh(&dev->lock);
}

static void sdp_remove_device(struct ib_device *ib, void *client_data)
{
	struct sdp_dev *dev = client_data;

	sdp_cm_del_device(dev);
	ib_set_client_data(ib, &sdp_ib_client, NULL);
	spin_lock_bh(&dev->lock);
	dev->removed = true;
	spin_unlock_bh(&dev->lock);

	sdp_dev_end_conns(dev);
	sdp_dev_put(dev);
	wait_for_completion(&dev->unused);
	cancel_delayed_work_sync(&dev->mr_work);
	sdp_cache_purge(dev);
	synchronize_rcu();
	kfree(dev);
}

static struct ib_client sdp_ib_client = {
	.name	= "sdp",
	.add	= sdp_add_device,
	.remove	= sdp_remove_device,
};

/**
 * sdp_device_init() - begin to follow RDMA devices
 *
 * Context: module load.
 * Return: 0 or -errno.
 */
int sdp_device_init(void)
{
	int err;

	sdp_buf_slab = KMEM_CACHE(sdp_buf, 0);
	if (!sdp_buf_slab)
		return -ENOMEM;
	err = ib_register_client(&sdp_ib_client);
	if (err)
		kmem_cache_destroy(sdp_buf_slab);
	return err;
}

/**
 * sdp_device_exit() - let go of all RDMA devices
 *
 * Context: module unload; no socket is left, connections in timewait may be.
 */
void sdp_device_exit(void)
{
	ib_unregister_client(&sdp_ib_client);
	kmem_cache_destroy(sdp_buf_slab);
}
