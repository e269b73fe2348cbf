/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, events/sdp/: state changes, messages both ways with their credits, refusals, AZ-SDP */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sdp

#if !defined(_SDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SDP_TRACE_H

#include <linux/tracepoint.h>
#include <net/tcp_states.h>

#include "az.h"
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
		__entry->changed = az->range.changed;
		__entry->shared = az->range.shared;
		__entry->huge = az->range.huge;
		__entry->why = az->range.why;
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
		__entry->written = az->range.moved;
		__entry->restored = az->range.restored;
		__entry->msecs = jiffies_to_msecs(jiffies - az->began);
	),
	TP_printk("sk=%p len=%u written=%u restored=%u in_flight=%ums", __entry->sk,
		  __entry->len, __entry->written, __entry->restored, __entry->msecs)
);

#endif /* _SDP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
