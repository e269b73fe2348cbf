// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/sdp, the sockets in OFED's format, and /proc/net/sdpstats, the
 * counters.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "sdp.h"

/* OFED pads its lines to this */
#define SDP_PROC_WIDTH	149

/**
 * struct sdp_iter - where a reader is
 * @p:		must be first
 * @row:	number of the line
 */
struct sdp_iter {
	struct seq_net_private	p;
	int			row;
};

/* As sdp_sock_at(), past those that are TCP's by now, which OFED's format has no place for */
static struct sock *sdp_seq_at(const struct net *net, u64 cookie)
{
	struct sock *sk;

	while ((sk = sdp_sock_at(net, cookie)) && READ_ONCE(sdp_sk(sk)->fallen))
		cookie = atomic64_read(&sk->sk_cookie) + 1;
	return sk;
}

/* The position is the cookie of the socket to be shown next, 0 for the header */
static void *sdp_seq_start(struct seq_file *seq, loff_t *pos)
	__acquires(sn->lock)
{
	struct sdp_iter *iter = seq->private;

	spin_lock_bh(&sdp_pernet(seq_file_net(seq))->lock);
	if (*pos)
		return sdp_seq_at(seq_file_net(seq), *pos);
	iter->row = -1;
	return SEQ_START_TOKEN;
}

static void *sdp_seq_next(struct seq_file *seq, void *v, loff_t *pos)
{
	struct sdp_iter *iter = seq->private;
	struct sock *sk = sdp_seq_at(seq_file_net(seq), *pos + 1);

	iter->row++;
	*pos = sk ? atomic64_read(&sk->sk_cookie) : *pos + 1;
	return sk;
}

static void sdp_seq_stop(struct seq_file *seq, void *v)
	__releases(sn->lock)
{
	spin_unlock_bh(&sdp_pernet(seq_file_net(seq))->lock);
}

static void sdp_seq_addr(struct seq_file *seq, const struct sock *sk, bool remote)
{
	const struct inet_sock *inet = inet_sk(sk);
	__be16 port = remote ? inet->inet_dport : inet->inet_sport;

	if (sdp_is_v6(sk)) {
		const struct in6_addr *a = remote ? &sk->sk_v6_daddr : &sk->sk_v6_rcv_saddr;

		seq_printf(seq, " %08X%08X%08X%08X:%04X", a->s6_addr32[0], a->s6_addr32[1],
			   a->s6_addr32[2], a->s6_addr32[3], ntohs(port));
	} else {
		seq_printf(seq, " %08X:%04X", remote ? inet->inet_daddr : inet->inet_rcv_saddr,
			   ntohs(port));
	}
}

static void sdp_seq_sock(struct seq_file *seq, struct sock *sk)
{
	const struct sdp_iter *iter = seq->private;
	struct sdp_sock *sdp = sdp_sk(sk);
	u32 rx = READ_ONCE(sdp->rx_bytes), tx = 0;

	if (READ_ONCE(sk->sk_state) == TCP_LISTEN)
		rx = READ_ONCE(sk->sk_ack_backlog);
	spin_lock_bh(&sdp->lock);
	if (sdp->conn)
		tx = sdp->conn->tx.unsent + sdp->conn->tx.unacked;
	spin_unlock_bh(&sdp->lock);

	seq_printf(seq, "%4d:", iter->row);
	sdp_seq_addr(seq, sk, false);
	sdp_seq_addr(seq, sk, true);
	seq_printf(seq, " %5d %lu\t%08X:%08X %X",
		   from_kuid_munged(seq_user_ns(seq), sock_i_uid(sk)), sock_i_ino(sk),
		   rx, tx, READ_ONCE(sk->sk_state));
}

static int sdp_seq_show(struct seq_file *seq, void *v)
{
	seq_setwidth(seq, SDP_PROC_WIDTH - 1);
	if (v == SEQ_START_TOKEN)
		seq_puts(seq, "  sl  local_address rem_address        uid inode   rx_queue tx_queue state");
	else
		sdp_seq_sock(seq, v);
	seq_pad(seq, '\n');
	return 0;
}

static const struct seq_operations sdp_seq_ops = {
	.start	= sdp_seq_start,
	.next	= sdp_seq_next,
	.stop	= sdp_seq_stop,
	.show	= sdp_seq_show,
};

#define SDP_STAT_NAME(id, name)	[SDP_MIB_##id] = name,
static const char * const sdp_stat_names[] = {
	SDP_STATS(SDP_STAT_NAME)
};

static int sdp_stats_show(struct seq_file *seq, void *v)
{
	struct net *net = seq->private;
	int i;

	for (i = 0; i < SDP_MIB_MAX; i++)
		seq_printf(seq, "%-20s %lu\n", sdp_stat_names[i],
			   snmp_fold_field(sdp_pernet(net)->mib, i));
	return 0;
}

/**
 * sdp_proc_net_init() - make a namespace's files
 * @net:	namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sdp_proc_net_init(struct net *net)
{
	if (!proc_create_net("sdp", 0444, net->proc_net, &sdp_seq_ops, sizeof(struct sdp_iter)))
		return -ENOMEM;
	if (!proc_create_net_single("sdpstats", 0444, net->proc_net, sdp_stats_show, NULL)) {
		remove_proc_entry("sdp", net->proc_net);
		return -ENOMEM;
	}
	return 0;
}

/**
 * sdp_proc_net_exit() - undo sdp_proc_net_init()
 * @net:	namespace
 *
 * Context: process.
 */
void sdp_proc_net_exit(struct net *net)
{
	remove_proc_entry("sdpstats", net->proc_net);
	remove_proc_entry("sdp", net->proc_net);
}
