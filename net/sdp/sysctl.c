// SPDX-License-Identifier: GPL-2.0
/*
 * net.sdp.*: tunables, per network namespace but for mem. Units, ranges and
 * defaults are documented in Documentation/tuning.rst.
 */
#include <linux/mm.h>
#include <linux/sysctl.h>

#include "dest.h"
#include "sdp.h"

long sdp_sysctl_mem[3] __read_mostly;
/* What every socket may have whatever the limits say, for the generic accounting; defaults */
int sdp_sysctl_rmem[3] __read_mostly = { 4096, 262144, 6291456 };
int sdp_sysctl_wmem[3] __read_mostly = { 4096, 262144, 4194304 };

static int sdp_buf_min = SOCK_MIN_RCVBUF;
static int sdp_rcvbuf_min = PAGE_SIZE;
static int sdp_rcvbuf_max = SDP_PAYLOAD_MAX;
static int sdp_retries_max = 15;
static int sdp_fin_timeout_max = 3600;
static int sdp_mode_max = SDP_ZCOPY_W;
/* More than a few sleeps cost; microseconds */
static int sdp_recv_poll_max = 10000;
static int sdp_cm_timeout_min = 8;
static int sdp_cm_timeout_max = 31;
/* Largest threshold for zero copy, OFED's */
#define SDP_ZTHRESH_MAX	(1 << 20)
static int sdp_policy_max = SDP_POLICY_BOTH;
static int sdp_try_timeout_min = 10;
static int sdp_try_timeout_max = 60000;
static int sdp_cache_timeout_max = 86400;
static int sdp_cache_max_max = 4096;
/* Some providers take 7 for "for ever" */
static int sdp_retry_count_max = 7;

/**
 * sdp_zthresh_ok() - is this a threshold for zero copy?
 * @val:	bytes
 *
 * Context: any.
 * Return: true for 0, which is off, and what OFED allowed.
 */
bool sdp_zthresh_ok(int val)
{
	return !val || (val >= (int)PAGE_SIZE && val <= SDP_ZTHRESH_MAX);
}

static int sdp_proc_thresh(sdp_ctl_table *table, int write, void *buffer, size_t *len,
				 loff_t *pos)
{
	int val = READ_ONCE(*(int *)table->data), err;
	struct ctl_table tmp = *table;

	tmp.data = &val;
	err = proc_dointvec(&tmp, write, buffer, len, pos);
	if (err || !write)
		return err;
	if (!sdp_zthresh_ok(val))
		return -EINVAL;
	WRITE_ONCE(*(int *)table->data, val);
	return 0;
}

static int sdp_proc_cache_flush(sdp_ctl_table *table, int write, void *buffer, size_t *len,
				loff_t *pos)
{
	int err = proc_dointvec(table, write, buffer, len, pos);

	if (!err && write)
		sdp_dest_flush(container_of(table->data, struct sdp_net, cache_flush));
	return err;
}

/* Offsets in struct sdp_net become pointers in each namespace's copy */
#define SDP_NET_OFFSET(field)	((void *)offsetof(struct sdp_net, field))

static const struct ctl_table sdp_net_table[] = {
	{
		.procname	= "rmem_default",
		.data		= SDP_NET_OFFSET(rmem_default),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &sdp_buf_min,
	}, {
		.procname	= "wmem_default",
		.data		= SDP_NET_OFFSET(wmem_default),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &sdp_buf_min,
	}, {
		.procname	= "rcvbuf_initial_size",
		.data		= SDP_NET_OFFSET(rcvbuf_initial),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &sdp_rcvbuf_min,
		.extra2		= &sdp_rcvbuf_max,
	}, {
		.procname	= "connect_retries",
		.data		= SDP_NET_OFFSET(connect_retries),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_retries_max,
	}, {
		.procname	= "cm_timeout",
		.data		= SDP_NET_OFFSET(cm_timeout),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &sdp_cm_timeout_min,
		.extra2		= &sdp_cm_timeout_max,
	}, {
		.procname	= "retry_count",
		.data		= SDP_NET_OFFSET(retry_count),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_retry_count_max,
	}, {
		.procname	= "fin_timeout",
		.data		= SDP_NET_OFFSET(fin_timeout),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &sdp_fin_timeout_max,
	}, {
		.procname	= "max_orphans",
		.data		= SDP_NET_OFFSET(max_orphans),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
	}, {
		.procname	= "zcopy_thresh",
		.data		= SDP_NET_OFFSET(zcopy_thresh),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= sdp_proc_thresh,
	}, {
		.procname	= "sink_thresh",
		.data		= SDP_NET_OFFSET(sink_thresh),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= sdp_proc_thresh,
	}, {
		.procname	= "az_thresh",
		.data		= SDP_NET_OFFSET(az_thresh),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= sdp_proc_thresh,
	}, {
		.procname	= "az_policy",
		.data		= SDP_NET_OFFSET(az_policy),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	}, {
		.procname	= "az_recv",
		.data		= SDP_NET_OFFSET(az_recv),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	}, {
		.procname	= "az_fault_max",
		.data		= SDP_NET_OFFSET(az_fault_max),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE_HUNDRED,
	}, {
		.procname	= "mode",
		.data		= SDP_NET_OFFSET(mode),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_mode_max,
	}, {
		.procname	= "read_ahead",
		.data		= SDP_NET_OFFSET(read_ahead),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_TWO,
	}, {
		.procname	= "recv_poll",
		.data		= SDP_NET_OFFSET(recv_poll),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_recv_poll_max,
	}, {
		.procname	= "policy",
		.data		= SDP_NET_OFFSET(policy),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_policy_max,
	}, {
		.procname	= "fallback_timeout",
		.data		= SDP_NET_OFFSET(try_timeout),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &sdp_try_timeout_min,
		.extra2		= &sdp_try_timeout_max,
	}, {
		.procname	= "cache_timeout",
		.data		= SDP_NET_OFFSET(cache_timeout),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_cache_timeout_max,
	}, {
		.procname	= "cache_max",
		.data		= SDP_NET_OFFSET(cache_max),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &sdp_cache_max_max,
	}, {
		.procname	= "cache_flush",
		.data		= SDP_NET_OFFSET(cache_flush),
		.maxlen		= sizeof(int),
		.mode		= 0200,
		.proc_handler	= sdp_proc_cache_flush,
	},
	SDP_SYSCTL_SENTINEL
};

static struct ctl_table sdp_mem_table[] = {
	{
		.procname	= "mem",
		.data		= &sdp_sysctl_mem,
		.maxlen		= sizeof(sdp_sysctl_mem),
		.mode		= 0644,
		.proc_handler	= proc_doulongvec_minmax,
	},
	SDP_SYSCTL_SENTINEL
};

/* Memory limits are the machine's, so they are in the first namespace only */
static struct ctl_table_header *sdp_mem_header;

#define SDP_NET_ENTRIES	(ARRAY_SIZE(sdp_net_table) - SDP_SYSCTL_SENTINELS)
#define SDP_MEM_ENTRIES	1

static void sdp_net_defaults(struct sdp_net *sn)
{
	sn->rmem_default = sdp_sysctl_rmem[1];
	sn->wmem_default = sdp_sysctl_wmem[1];
	sn->rcvbuf_initial = PAGE_SIZE;
	sn->connect_retries = 15;
	sn->cm_timeout = 20;
	sn->retry_count = 6;
	sn->fin_timeout = 60;
	sn->max_orphans = 8192;
	sn->zcopy_thresh = 128 << 10;
	sn->az_thresh = 256 << 10;
	sn->az_policy = SDP_AZ_COW;
	sn->az_fault_max = 25;
	sn->read_ahead = 1;
	sn->policy = SDP_POLICY_SDP;
	sn->try_timeout = 1000;
	sn->cache_timeout = 60;
	sn->cache_max = 1024;
}

/**
 * sdp_sysctl_net_init() - a namespace's defaults and its net.sdp directory
 * @net:	namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sdp_sysctl_net_init(struct net *net)
{
	struct sdp_net *sn = sdp_pernet(net);
	struct ctl_table *table;
	int i;

	sdp_net_defaults(sn);
	table = kmemdup(sdp_net_table, sizeof(sdp_net_table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < SDP_NET_ENTRIES; i++)
		table[i].data = (char *)sn + (unsigned long)table[i].data;
	sn->table = table;
	sn->ctl = sdp_register_sysctl(net, "net/sdp", table, SDP_NET_ENTRIES);
	if (!sn->ctl)
		goto free;
	if (net_eq(net, &init_net)) {
		sdp_mem_header = sdp_register_sysctl(net, "net/sdp", sdp_mem_table,
						     SDP_MEM_ENTRIES);
		if (!sdp_mem_header)
			goto unregister;
	}
	return 0;

unregister:
	unregister_net_sysctl_table(sn->ctl);
free:
	kfree(table);
	return -ENOMEM;
}

/**
 * sdp_sysctl_net_exit() - undo sdp_sysctl_net_init()
 * @net:	namespace
 *
 * Context: process.
 */
void sdp_sysctl_net_exit(struct net *net)
{
	struct sdp_net *sn = sdp_pernet(net);

	if (net_eq(net, &init_net))
		unregister_net_sysctl_table(sdp_mem_header);
	unregister_net_sysctl_table(sn->ctl);
	kfree(sn->table);
}

/**
 * sdp_sysctl_mem_init() - memory limits from the size of the machine, as TCP's
 *
 * Context: module load.
 */
void sdp_sysctl_mem_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 16, 128UL);

	sdp_sysctl_mem[0] = limit / 4 * 3;
	sdp_sysctl_mem[1] = limit;
	sdp_sysctl_mem[2] = sdp_sysctl_mem[0] * 2;
}
