/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, events/sdp/: state changes, messages and their credits, refusals, AZ-SDP */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sdp

#if !defined(_SDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SDP_TRACE_H

#include <linux/tracepoint.h>
#include <net/tcp_states.h>

#include "az.h"
#include "device.h"
#include "mr.h"
#include "sdp.h"

#define sdp_show_state(state)			\
	__print_symbolic(state,			\
		{ TCP_ESTABLISHED, "ESTABLISHED" }, \
		{ TCP_SYN_SENT, "SYN_SENT" },	\
		{ TCP_SYN_RECV, "SYN_RECV" },	\
		{ TCP_FIN_WAIT1, "FIN_WAIT1" },	\
		{ TCP_FIN_WAIT2, "FIN_WAIT2" },	\
		{ TCP_TIME_WAIT, "TIME_WAIT" },	\
		{ TCP_CLOSE, "CLOSE" },		\
		{ TCP_CLOSE_WAIT, "CLOSE_WAIT" }, \
		{ TCP_LAST_ACK, "LAST_ACK" },	\
		{ TCP_LISTEN, "LISTEN" },	\
		{ TCP_CLOSING, "CLOSING" })

TRACE_EVENT(sdp_state,
	TP_PROTO(const struct sock *sk, int from, int to),
	TP_ARGS(sk, from, to),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, sport)
		__field(u16, dport)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("sk=%p sport=%u dport=%u %s -> %s", __entry->sk, __entry->sport,
		  __entry->dport, sdp_show_state(__entry->from), sdp_show_state(__entry->to))
);

TRACE_EVENT(sdp_fallback,
	TP_PROTO(const struct sock *sk, int reason),
	TP_ARGS(sk, reason),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u16, dport)
		__field(u8, reason)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->reason = reason;
	),
	TP_printk("sk=%p dport=%u %s", __entry->sk, __entry->dport,
		  __print_symbolic(__entry->reason,
			{ SDP_FALLBACK_POLICY, "policy" },
			{ SDP_FALLBACK_CACHED, "cached" },
			{ SDP_FALLBACK_NO_DEVICE, "no device" },
			{ SDP_FALLBACK_NO_ROUTE, "no route" },
			{ SDP_FALLBACK_REFUSED, "refused" },
			{ SDP_FALLBACK_TIMEOUT, "timeout" },
			{ SDP_FALLBACK_BUSY, "busy" },
			{ SDP_FALLBACK_PROTOCOL, "protocol" },
			{ SDP_FALLBACK_LOCAL, "local" }))
);

DECLARE_EVENT_CLASS(sdp_message,
	TP_PROTO(const struct sdp_conn *conn, const struct sdp_msg *m),
	TP_ARGS(conn, m),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u8, mid)
		__field(u8, flags)
		__field(u16, bufs)
		__field(u32, mseq)
		__field(u32, mseq_ack)
		__field(u32, payload)
		__field(u32, credits)
		__field(u32, granted)
		__field(u32, posted)
		__field(u32, unread)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->mid = m->mid;
		__entry->flags = m->flags;
		__entry->bufs = m->bufs;
		__entry->mseq = m->mseq;
		__entry->mseq_ack = m->mseq_ack;
		__entry->payload = m->payload_len;
		__entry->credits = conn->tx.credits;
		__entry->granted = conn->rx.granted;
		__entry->posted = conn->rx.head - conn->rx.tail;
		__entry->unread = sdp_sk(conn->sk)->rx_bytes;
	),
	TP_printk("sk=%p mid=%#x flags=%#x bufs=%u mseq=%u ack=%u payload=%u credits=%u granted=%u posted=%u unread=%u",
		  __entry->sk, __entry->mid, __entry->flags, __entry->bufs, __entry->mseq,
		  __entry->mseq_ack, __entry->payload, __entry->credits, __entry->granted,
		  __entry->posted, __entry->unread)
);

DEFINE_EVENT(sdp_message, sdp_tx,
	TP_PROTO(const struct sdp_conn *conn, const struct sdp_msg *m),
	TP_ARGS(conn, m));

DEFINE_EVENT(sdp_message, sdp_rx,
	TP_PROTO(const struct sdp_conn *conn, const struct sdp_msg *m),
	TP_ARGS(conn, m));

TRACE_EVENT(sdp_bad,
	TP_PROTO(const struct sdp_conn *conn, int bad),
	TP_ARGS(conn, bad),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(int, bad)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->bad = bad;
	),
	TP_printk("sk=%p reason=%d", __entry->sk, __entry->bad)
);

TRACE_EVENT(sdp_az_begin,
	TP_PROTO(const struct sdp_az *az, unsigned long addr),
	TP_ARGS(az, addr),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(unsigned long, addr)
		__field(u32, len)
		__field(u32, copied)
		__field(u32, changed)
		__field(u32, shared)
		__field(u32, huge)
		__field(u8, why)
		__field(bool, restore)
	),
	TP_fast_assign(
		__entry->sk = az->sk;
		__entry->addr = addr;
		__entry->len = az->len;
		__entry->copied = az->copied;
		__entry->changed = az->span.file ? az->n : az->range.changed;
		__entry->shared = az->range.shared;
		__entry->huge = az->range.huge;
		__entry->why = az->why;
		__entry->restore = az->restore;
	),
	TP_printk("sk=%p addr=%#lx len=%u copied=%u changed=%u shared=%u huge=%u why=%u restore=%u",
		  __entry->sk, __entry->addr, __entry->len, __entry->copied, __entry->changed,
		  __entry->shared, __entry->huge, __entry->why, __entry->restore)
);

TRACE_EVENT(sdp_az_end,
	TP_PROTO(const struct sdp_az *az),
	TP_ARGS(az),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u32, len)
		__field(u32, written)
		__field(u32, restored)
		__field(u32, msecs)
	),
	TP_fast_assign(
		__entry->sk = az->sk;
		__entry->len = az->len;
		__entry->written = az->range.moved + az->span.moved;
		__entry->restored = az->range.restored;
		__entry->msecs = ktime_ms_delta(ktime_get(), az->began);
	),
	TP_printk("sk=%p len=%u written=%u restored=%u in_flight=%ums", __entry->sk,
		  __entry->len, __entry->written, __entry->restored, __entry->msecs)
);

#define sdp_show_advert(mid)			\
	__print_symbolic(mid,			\
		{ SDP_MID_SRC_AVAIL, "SrcAvail" }, \
		{ SDP_MID_SINK_AVAIL, "SinkAvail" })

#define sdp_show_refuse(why)			\
	__print_symbolic(why,			\
		{ SDP_REFUSE_CANCELLED, "cancelled" }, \
		{ SDP_REFUSE_NO_READS, "no RDMA READ" }, \
		{ SDP_REFUSE_TOO_MUCH, "too many bytes" }, \
		{ SDP_REFUSE_NO_MEM, "no memory" }, \
		{ SDP_REFUSE_FORBIDDEN, "read_ahead is 0" }, \
		{ SDP_REFUSE_PEER, "peer's" })

#define sdp_show_rdma(op)			\
	__print_symbolic(op,			\
		{ IB_WR_RDMA_READ, "read" },	\
		{ IB_WR_RDMA_WRITE, "write" })

DECLARE_EVENT_CLASS(sdp_advert,
	TP_PROTO(const struct sdp_conn *conn, u8 mid, u64 va, u32 rkey, u32 len, u32 done),
	TP_ARGS(conn, mid, va, rkey, len, done),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, va)
		__field(u32, rkey)
		__field(u32, len)
		__field(u32, done)
		__field(u8, mid)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->va = va;
		__entry->rkey = rkey;
		__entry->len = len;
		__entry->done = done;
		__entry->mid = mid;
	),
	TP_printk("sk=%p %s va=%#llx rkey=%#x len=%u done=%u", __entry->sk,
		  sdp_show_advert(__entry->mid), __entry->va, __entry->rkey, __entry->len,
		  __entry->done)
);

DEFINE_EVENT(sdp_advert, sdp_advert_sent,
	TP_PROTO(const struct sdp_conn *conn, u8 mid, u64 va, u32 rkey, u32 len, u32 done),
	TP_ARGS(conn, mid, va, rkey, len, done));

DEFINE_EVENT(sdp_advert, sdp_advert_rcvd,
	TP_PROTO(const struct sdp_conn *conn, u8 mid, u64 va, u32 rkey, u32 len, u32 done),
	TP_ARGS(conn, mid, va, rkey, len, done));

TRACE_EVENT(sdp_advert_over,
	TP_PROTO(const struct sdp_conn *conn, u8 mid, bool ours, u32 len, u32 done),
	TP_ARGS(conn, mid, ours, len, done),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u32, len)
		__field(u32, done)
		__field(u8, mid)
		__field(bool, ours)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->len = len;
		__entry->done = done;
		__entry->mid = mid;
		__entry->ours = ours;
	),
	TP_printk("sk=%p %s %s len=%u done=%u", __entry->sk, __entry->ours ? "our" : "peer's",
		  sdp_show_advert(__entry->mid), __entry->len, __entry->done)
);

TRACE_EVENT(sdp_rdma_begin,
	TP_PROTO(const struct sdp_conn *conn, int op, u64 va, u32 rkey, u32 len),
	TP_ARGS(conn, op, va, rkey, len),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, va)
		__field(u32, rkey)
		__field(u32, len)
		__field(int, op)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->va = va;
		__entry->rkey = rkey;
		__entry->len = len;
		__entry->op = op;
	),
	TP_printk("sk=%p %s va=%#llx rkey=%#x len=%u", __entry->sk, sdp_show_rdma(__entry->op),
		  __entry->va, __entry->rkey, __entry->len)
);

TRACE_EVENT(sdp_rdma_end,
	TP_PROTO(const struct sdp_conn *conn, int op, u32 len, int status),
	TP_ARGS(conn, op, len, status),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u32, len)
		__field(int, op)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->len = len;
		__entry->op = op;
		__entry->status = status;
	),
	TP_printk("sk=%p %s len=%u status=%d", __entry->sk, sdp_show_rdma(__entry->op),
		  __entry->len, __entry->status)
);

TRACE_EVENT(sdp_cancel,
	TP_PROTO(const struct sdp_conn *conn, u8 mid, bool ours),
	TP_ARGS(conn, mid, ours),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u8, mid)
		__field(bool, ours)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->mid = mid;
		__entry->ours = ours;
	),
	TP_printk("sk=%p %s %s", __entry->sk, __entry->ours ? "our" : "peer's",
		  sdp_show_advert(__entry->mid))
);

TRACE_EVENT(sdp_sendsm,
	TP_PROTO(const struct sdp_conn *conn, bool ours, int why),
	TP_ARGS(conn, ours, why),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(int, why)
		__field(bool, ours)
	),
	TP_fast_assign(
		__entry->sk = conn->sk;
		__entry->why = why;
		__entry->ours = ours;
	),
	TP_printk("sk=%p %s reason: %s", __entry->sk, __entry->ours ? "sent" : "received",
		  sdp_show_refuse(__entry->why))
);

DECLARE_EVENT_CLASS(sdp_mr,
	TP_PROTO(const struct sdp_mr *mr),
	TP_ARGS(mr),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, key)
		__field(bool, valid)
		__field(bool, broken)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&mr->pd->dev->ib->dev), IB_DEVICE_NAME_MAX);
		__entry->key = mr->key;
		__entry->valid = mr->valid;
		__entry->broken = mr->broken;
	),
	TP_printk("dev=%s key=%#x%s%s", __entry->dev, __entry->key,
		  __entry->valid ? " valid" : "", __entry->broken ? " broken" : "")
);

DEFINE_EVENT(sdp_mr, sdp_mr_get,
	TP_PROTO(const struct sdp_mr *mr),
	TP_ARGS(mr));

DEFINE_EVENT(sdp_mr, sdp_mr_put,
	TP_PROTO(const struct sdp_mr *mr),
	TP_ARGS(mr));

TRACE_EVENT(sdp_mr_renew,
	TP_PROTO(const struct sdp_mr *mr, int access),
	TP_ARGS(mr, access),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, was)
		__field(u32, key)
		__field(u32, len)
		__field(int, access)
	),
	TP_fast_assign(
		strscpy(__entry->dev, dev_name(&mr->pd->dev->ib->dev), IB_DEVICE_NAME_MAX);
		__entry->was = mr->key;
		__entry->key = mr->mr->rkey;
		__entry->len = mr->len;
		__entry->access = access;
	),
	TP_printk("dev=%s key=%#x was=%#x len=%u access=%#x", __entry->dev, __entry->key,
		  __entry->was, __entry->len, __entry->access)
);

#endif /* _SDP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
