/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, events/sdp/: state changes, messages both ways with their credits, refusals */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sdp

#if !defined(_SDP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SDP_TRACE_H

#include <linux/tracepoint.h>
#include <net/tcp_states.h>

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

#endif /* _SDP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
