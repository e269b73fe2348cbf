// SPDX-License-Identifier: GPL-2.0
/*
 * A cache of destinations, per network namespace, so that an attempt by SDP
 * which fails is paid for once and not by every connection. It holds at most
 * net.sdp.cache_max of them, each for net.sdp.cache_timeout, and is shown in
 * /proc/net/sdp_cache. Only connections with policy "both" use it, and of those
 * only such as leave the way to the kernel: what one bound to an address or a
 * device meets, says nothing about others.
 *
 * A refusal is about a port, silence about the host.
 */
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/proc_fs.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "dest.h"

/**
 * struct sdp_dest - a destination
 * @node:	in sdp_net.dest_hash
 * @list:	on sdp_net.dests, oldest first
 * @addr:	v4-mapped for IPv4
 * @port:	host order; 0 for all of the host's
 * @reason:	SDP_FALLBACK_*; SDP_FALLBACK_NONE: it has SDP
 * @expires:	not to be believed any more, jiffies
 * @hits:	connections it has decided for
 */
struct sdp_dest {
	struct hlist_node	node;
	struct list_head	list;
	struct in6_addr		addr;
	u16			port;
	u8			reason;
	unsigned long		expires;
	unsigned int		hits;
};

static u32 sdp_dest_seed __read_mostly;

static struct hlist_head *sdp_dest_head(struct sdp_net *sn, const struct in6_addr *addr, u16 port)
{
	u32 hash = jhash2((const u32 *)addr->s6_addr32, 4, sdp_dest_seed + port);

	return &sn->dest_hash[hash % SDP_DEST_BUCKETS];
}

static void sdp_dest_remove(struct sdp_net *sn, struct sdp_dest *d)
{
	hlist_del(&d->node);
	list_del(&d->list);
	sn->n_dests--;
	kfree(d);
}

/* NULL also when what is there is too old; dest_lock held */
static struct sdp_dest *sdp_dest_lookup(struct sdp_net *sn, const struct in6_addr *addr, u16 port)
{
	struct sdp_dest *d;

	hlist_for_each_entry(d, sdp_dest_head(sn, addr, port), node) {
		if (d->port != port || !ipv6_addr_equal(&d->addr, addr))
			continue;
		if (time_before(jiffies, d->expires))
			return d;
		sdp_dest_remove(sn, d);
		break;
	}
	return NULL;
}

/*
 * The key of a socket's destination; false if the cache is not for it: neither
 * is it for port 0, which nobody has and which stands for all of a host's here.
 */
static bool sdp_dest_key(const struct sock *sk, struct in6_addr *addr, u16 *port)
{
	*port = ntohs(inet_sk(sk)->inet_dport);
	if (!*port || sk->sk_bound_dev_if || (sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		return false;
	if (sdp_is_v6(sk))
		*addr = sk->sk_v6_daddr;
	else
		ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, addr);
	return true;
}

/**
 * sdp_dest_find() - what is known of a socket's destination?
 * @sk:	SDP socket with the peer's address
 *
 * Context: process.
 * Return: enum sdp_dest_verdict.
 */
enum sdp_dest_verdict sdp_dest_find(struct sock *sk)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));
	enum sdp_dest_verdict verdict = SDP_DEST_UNKNOWN;
	struct in6_addr addr;
	struct sdp_dest *d;
	u16 port;

	if (!sdp_dest_key(sk, &addr, &port))
		return verdict;
	spin_lock_bh(&sn->dest_lock);
	d = sdp_dest_lookup(sn, &addr, port) ?: sdp_dest_lookup(sn, &addr, 0);
	if (d) {
		d->hits++;
		verdict = d->reason ? SDP_DEST_TCP : SDP_DEST_SDP;
	}
	spin_unlock_bh(&sn->dest_lock);
	return verdict;
}

/* About a host, a port, or nothing worth remembering? */
static bool sdp_dest_scope(int reason, u16 *port)
{
	switch (reason) {
	case SDP_FALLBACK_TIMEOUT:
	case SDP_FALLBACK_NO_ROUTE:
		*port = 0;
		return true;
	case SDP_FALLBACK_NONE:
	case SDP_FALLBACK_REFUSED:
	case SDP_FALLBACK_PROTOCOL:
		return true;
	default:
		return false;	/* that may be otherwise the next moment */
	}
}

static struct sdp_dest *sdp_dest_new(struct sdp_net *sn, const struct in6_addr *addr, u16 port)
{
	struct sdp_dest *d;

	while (sn->n_dests && sn->n_dests >= READ_ONCE(sn->cache_max))
		sdp_dest_remove(sn, list_first_entry(&sn->dests, struct sdp_dest, list));
	if (!READ_ONCE(sn->cache_max))
		return NULL;
	d = kzalloc(sizeof(*d), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!d)
		return NULL;
	d->addr = *addr;
	d->port = port;
	hlist_add_head(&d->node, sdp_dest_head(sn, addr, port));
	list_add_tail(&d->list, &sn->dests);
	sn->n_dests++;
	return d;
}

static void sdp_dest_add(struct sdp_net *sn, const struct in6_addr *addr, u16 port, int reason)
{
	struct sdp_dest *d = sdp_dest_lookup(sn, addr, port);
	int timeout = READ_ONCE(sn->cache_timeout);

	if (!d && timeout)
		d = sdp_dest_new(sn, addr, port);
	if (!d)
		return;
	d->reason = reason;
	d->expires = jiffies + timeout * HZ;
	list_move_tail(&d->list, &sn->dests);
}

/**
 * sdp_dest_store() - remember what has come of an attempt
 * @sk:		SDP socket with the peer's address
 * @reason:	SDP_FALLBACK_*, SDP_FALLBACK_NONE for success
 *
 * Context: process; takes the namespace's dest_lock, which may be within sdp->lock.
 */
void sdp_dest_store(struct sock *sk, int reason)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));
	struct in6_addr addr;
	struct sdp_dest *d;
	u16 port;

	if (!sdp_dest_key(sk, &addr, &port) || !sdp_dest_scope(reason, &port))
		return;
	spin_lock_bh(&sn->dest_lock);
	d = reason ? NULL : sdp_dest_lookup(sn, &addr, 0);
	if (d)
		sdp_dest_remove(sn, d);
	sdp_dest_add(sn, &addr, port, reason);
	spin_unlock_bh(&sn->dest_lock);
}

/**
 * sdp_dest_forget() - TCP has been refused as well
 * @sk:	SDP socket with the peer's address
 *
 * So SDP's refusal says nothing about who is going to listen there. A program
 * that tries until its server has started would have TCP for as long as that is
 * remembered.
 * Context: process, no lock held.
 */
void sdp_dest_forget(struct sock *sk)
{
	struct sdp_net *sn = sdp_pernet(sock_net(sk));
	struct in6_addr addr;
	struct sdp_dest *d;
	u16 port;

	if (!sdp_dest_key(sk, &addr, &port))
		return;
	spin_lock_bh(&sn->dest_lock);
	d = sdp_dest_lookup(sn, &addr, port);
	if (d && d->reason == SDP_FALLBACK_REFUSED)
		sdp_dest_remove(sn, d);
	spin_unlock_bh(&sn->dest_lock);
}

/**
 * sdp_dest_flush() - forget all destinations
 * @sn:	namespace
 *
 * Context: process.
 */
void sdp_dest_flush(struct sdp_net *sn)
{
	struct sdp_dest *d, *next;

	spin_lock_bh(&sn->dest_lock);
	list_for_each_entry_safe(d, next, &sn->dests, list)
		sdp_dest_remove(sn, d);
	spin_unlock_bh(&sn->dest_lock);
}

/* ---- /proc/net/sdp_cache ---- */

static const char * const sdp_dest_reasons[] = {
	[SDP_FALLBACK_NONE]	= "sdp",
	[SDP_FALLBACK_NO_ROUTE]	= "tcp no-route",
	[SDP_FALLBACK_REFUSED]	= "tcp refused",
	[SDP_FALLBACK_TIMEOUT]	= "tcp timeout",
	[SDP_FALLBACK_PROTOCOL]	= "tcp protocol",
};

static void *sdp_dest_seq_start(struct seq_file *seq, loff_t *pos)
	__acquires(sn->dest_lock)
{
	struct sdp_net *sn = sdp_pernet(seq_file_net(seq));

	spin_lock_bh(&sn->dest_lock);
	return seq_list_start(&sn->dests, *pos);
}

static void *sdp_dest_seq_next(struct seq_file *seq, void *v, loff_t *pos)
{
	return seq_list_next(v, &sdp_pernet(seq_file_net(seq))->dests, pos);
}

static void sdp_dest_seq_stop(struct seq_file *seq, void *v)
	__releases(sn->dest_lock)
{
	spin_unlock_bh(&sdp_pernet(seq_file_net(seq))->dest_lock);
}

/* Address, port or *, seconds left, connections decided, verdict and why */
static int sdp_dest_seq_show(struct seq_file *seq, void *v)
{
	const struct sdp_dest *d = list_entry(v, struct sdp_dest, list);
	long left = max(0L, (long)(d->expires - jiffies)) / HZ;

	if (ipv6_addr_v4mapped(&d->addr))
		seq_printf(seq, "%pI4 ", &d->addr.s6_addr32[3]);
	else
		seq_printf(seq, "%pI6c ", &d->addr);
	if (d->port)
		seq_printf(seq, "%u", d->port);
	else
		seq_putc(seq, '*');
	seq_printf(seq, " %ld %u %s\n", left, d->hits, sdp_dest_reasons[d->reason]);
	return 0;
}

static const struct seq_operations sdp_dest_seq_ops = {
	.start	= sdp_dest_seq_start,
	.next	= sdp_dest_seq_next,
	.stop	= sdp_dest_seq_stop,
	.show	= sdp_dest_seq_show,
};

/**
 * sdp_dest_net_init() - an empty cache
 * @net:	namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sdp_dest_net_init(struct net *net)
{
	struct sdp_net *sn = sdp_pernet(net);
	int i;

	get_random_once(&sdp_dest_seed, sizeof(sdp_dest_seed));
	spin_lock_init(&sn->dest_lock);
	INIT_LIST_HEAD(&sn->dests);
	for (i = 0; i < SDP_DEST_BUCKETS; i++)
		INIT_HLIST_HEAD(&sn->dest_hash[i]);
	if (!proc_create_net("sdp_cache", 0444, net->proc_net, &sdp_dest_seq_ops,
			     sizeof(struct seq_net_private)))
		return -ENOMEM;
	return 0;
}

/**
 * sdp_dest_net_exit() - undo sdp_dest_net_init()
 * @net:	namespace without sockets
 *
 * Context: process.
 */
void sdp_dest_net_exit(struct net *net)
{
	remove_proc_entry("sdp_cache", net->proc_net);
	sdp_dest_flush(sdp_pernet(net));
}
