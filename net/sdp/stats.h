/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of /proc/net/sdpstats, per CPU and per network namespace. A line
 * each: the name it has there and what it counts.
 */
#ifndef _SDP_STATS_H
#define _SDP_STATS_H

#include <net/snmp.h>

#define SDP_STATS(X)									\
	X(ACTIVE_OPENS,		"ActiveOpens")		/* connect() begun */		\
	X(PASSIVE_OPENS,	"PassiveOpens")		/* REQs accepted */		\
	X(ESTABLISHED,		"Established")		/* connections that came up */	\
	X(ATTEMPT_FAILS,	"AttemptFails")		/* connections that didn't */	\
	X(RESETS,		"Resets")		/* ended by DREQ without both DisConns */ \
	X(ABORTS_SENT,		"AbortsSent")		/* AbortConn messages */	\
	X(ABORTS_RCVD,		"AbortsRcvd")						\
	X(ABORT_ORPHANS,	"AbortOrphans")		/* closed, and too many such, or no memory */ \
	X(REJ_NO_LISTENER,	"RejNoListener")	/* REQs refused: port closed */	\
	X(REJ_BACKLOG,		"RejBacklog")		/* ... accept queue full */	\
	X(REJ_BAD_HELLO,	"RejBadHello")		/* ... Hello malformed */	\
	X(REJ_BAD_PEER,		"RejBadPeer")		/* ... its addresses don't match its path */ \
	X(REJ_NO_MEM,		"RejNoMem")		/* ... resources */		\
	X(BAD_HELLO_ACK,	"BadHelloAck")		/* connects given up for that */ \
	X(SEND_BYTES,		"SendBytes")		/* bytes of streams posted */	\
	X(RECV_BYTES,		"RecvBytes")		/* ... received */		\
	X(SEND_DATA,		"SendData")		/* Data messages with payload */ \
	X(RECV_DATA,		"RecvData")						\
	X(SEND_TINY,		"SendTiny")		/* ... sent out of the ring itself */ \
	X(SEND_CREDITS,		"SendCredits")		/* messages sent for their credits only */ \
	X(RECV_CREDITS,		"RecvCredits")						\
	X(SEND_CTRL,		"SendCtrl")		/* other messages */		\
	X(RECV_CTRL,		"RecvCtrl")						\
	X(SEND_COPIED,		"SendCopied")		/* bytes the CPU copied from users */ \
	X(RECV_COPIED,		"RecvCopied")		/* ... to users */		\
	X(SEND_ZCOPY,		"SendZcopy")		/* bytes the peer read from users' memory */ \
	X(RECV_ZCOPY,		"RecvZcopy")		/* ... we read into users' memory */ \
	X(RECV_AHEAD,		"RecvAhead")		/* ... we read into buffers */	\
	X(SRC_BY_SEND,		"SrcBySend")		/* ... advertised, then sent from users' memory */ \
	X(SRC_AVAIL_SENT,	"SrcAvailSent")		/* adverts */			\
	X(SRC_AVAIL_RCVD,	"SrcAvailRcvd")						\
	X(SENDSM_SENT,		"SendSmSent")		/* adverts refused */		\
	X(SENDSM_CANCELLED,	"SendSmCancelled")	/* enum sdp_refuse, in its order */ \
	X(SENDSM_NO_READS,	"SendSmNoReads")					\
	X(SENDSM_TOO_MUCH,	"SendSmTooMuch")					\
	X(SENDSM_NO_MEM,	"SendSmNoMem")						\
	X(SENDSM_FORBIDDEN,	"SendSmForbidden")					\
	X(SENDSM_RCVD,		"SendSmRcvd")						\
	X(SRC_CANCEL_SENT,	"SrcCancelSent")	/* adverts taken back */	\
	X(SRC_CANCEL_RCVD,	"SrcCancelRcvd")					\
	X(RDMA_READS,		"RdmaReads")		/* RDMA READs posted */		\
	X(SEND_ZCOPY_W,		"SendZcopyW")		/* bytes written from users' memory to the peer's */ \
	X(RECV_ZCOPY_W,		"RecvZcopyW")		/* ... by the peer */		\
	X(SINK_AVAIL_SENT,	"SinkAvailSent")	/* memory of receivers advertised */ \
	X(SINK_AVAIL_RCVD,	"SinkAvailRcvd")					\
	X(SINK_DISCARDED,	"SinkDiscarded")	/* ... and data came instead */	\
	X(SINK_STALE,		"SinkStale")		/* ... by the peer, and data was under way */ \
	X(SINK_CANCEL_SENT,	"SinkCancelSent")	/* ... taken back */		\
	X(SINK_CANCEL_RCVD,	"SinkCancelRcvd")					\
	X(RDMA_WRITES,		"RdmaWrites")		/* RDMA WRITEs posted */	\
	X(ZCOPY_STALL,		"ZcopyStall")		/* sends the peer did not read for long */ \
	X(ZCOPY_NO_MR,		"ZcopyNoMr")		/* ... copied for want of a region or pinned pages */ \
	X(SPLICE_BYTES,		"SpliceBytes")		/* bytes of pages taken as they are */ \
	X(AZ_SENDS,		"AzSends")		/* stretches of memory sent while the program went on */ \
	X(AZ_BYTES,		"AzBytes")		/* ... bytes */			\
	X(AZ_PROTECTED,		"AzProtected")		/* ... pages made copy-on-write; huge ones are one */ \
	X(AZ_SHARED,		"AzShared")		/* ... that were already */	\
	X(AZ_HUGE,		"AzHuge")		/* ... huge ones of both */	\
	X(AZ_FLUSHES,		"AzFlushes")		/* ... TLB flushes for that */	\
	X(AZ_FAULTED,		"AzFaulted")		/* ... pages faulted in, huge mappings split */ \
	X(AZ_WRITTEN,		"AzWritten")		/* ... pages the program wrote to in flight */ \
	X(AZ_RESTORED,		"AzRestored")		/* ... pages made writable again */ \
	X(AZ_TIME,		"AzTime")		/* ... how long all of them took, microseconds */ \
	X(AZ_SKIPPED,		"AzSkipped")		/* sends that were copied for too much of that */ \
	X(AZ_REGION_COPIES,	"AzRegionCopies")	/* pages of regions copied for that */ \
	X(AZ_BLOCKED,		"AzBlocked")		/* ... faults that waited instead */ \
	X(AZ_BLOCKED_LONG,	"AzBlockedLong")	/* ... for too long: copied after all */ \
	X(AZ_RECVS,		"AzRecvs")		/* reads into regions that recv() didn't wait for */ \
	X(AZ_RECV_BYTES,	"AzRecvBytes")		/* ... bytes */			\
	X(AZ_AWAITED,		"AzAwaited")		/* ... faults that did */	\
	X(AZ_LOST,		"AzLost")		/* ... pages that never came */	\
	X(AZ_NO_MEM,		"AzNoMem")		/* ... beyond RLIMIT_MEMLOCK */	\
	X(AZ_NO_VMA,		"AzNoVma")		/* enum sdp_az_why, in its order */ \
	X(AZ_NO_PAGE,		"AzNoPage")						\
	X(AZ_NO_ANON,		"AzNoAnon")						\
	X(AZ_NO_REFS,		"AzNoRefs")						\
	X(AZ_NO_PINNED,		"AzNoPinned")						\
	X(AZ_NO_NOTIFIER,	"AzNoNotifier")						\
	X(AZ_NO_ODD,		"AzNoOdd")						\
	X(AZ_NO_KERNEL,		"AzNoKernel")						\
	X(AZ_NO_SIGNAL,		"AzNoSignal")						\
	X(AZ_NO_PART,		"AzNoPart")						\
	X(AZ_NO_LOCK,		"AzNoLock")						\
	X(MR_ALLOC,		"MrAlloc")		/* memory regions made; both by devices */ \
	X(MR_NONE,		"MrNone")		/* ... not to be had */		\
	X(PROBES,		"Probes")		/* peers asked whether they live */ \
	X(OOB_SENT,		"OobSent")		/* urgent bytes */		\
	X(OOB_RCVD,		"OobRcvd")						\
	X(CREDIT_WAIT,		"CreditWait")		/* data held back for want of credits */ \
	X(NAGLE_WAIT,		"NagleWait")		/* ... for more to go with it */ \
	X(RING_WAIT,		"RingWait")		/* ... for a free send slot */	\
	X(MEM_WAIT,		"MemWait")		/* senders that waited for buffer space */ \
	X(BUF_ALLOC,		"BufAlloc")		/* buffers allocated; all three: by devices, */ \
	X(BUF_REUSE,		"BufReuse")		/* ... cached; so in init_net only */ \
	X(BUF_FAIL,		"BufFail")		/* ... not to be had */		\
	X(RX_RECYCLE,		"RxRecycle")		/* receive buffers posted again */ \
	X(RX_COLLECT,		"RxCollect")		/* messages put behind another in its buffer */ \
	X(RX_RESIZE,		"RxResize")		/* receive buffer sizes changed */ \
	X(RNR,			"Rnr")			/* connections lost to RNR: must stay 0 */ \
	X(FALLBACK_POLICY,	"FallbackPolicy")	/* sockets become TCP's: SDP_FALLBACK_*, */ \
	X(FALLBACK_CACHED,	"FallbackCached")	/* ... in its order */		\
	X(FALLBACK_NO_DEVICE,	"FallbackNoDevice")					\
	X(FALLBACK_NO_ROUTE,	"FallbackNoRoute")					\
	X(FALLBACK_REFUSED,	"FallbackRefused")					\
	X(FALLBACK_TIMEOUT,	"FallbackTimeout")					\
	X(FALLBACK_BUSY,	"FallbackBusy")						\
	X(FALLBACK_PROTOCOL,	"FallbackProtocol")					\
	X(FALLBACK_LOCAL,	"FallbackLocal")					\
	X(FALLBACK_FAILED,	"FallbackFailed")	/* TCP could not begin to connect either */ \
	X(TCP_ACCEPTS,		"TcpAccepts")		/* TCP peers of listeners with policy both */ \
	X(BAD_SHORT,		"BadShort")		/* enum sdp_bad, in its order */ \
	X(BAD_LEN,		"BadLen")						\
	X(BAD_MID,		"BadMid")						\
	X(BAD_FLAGS,		"BadFlags")						\
	X(BAD_PAYLOAD,		"BadPayload")						\
	X(BAD_VERSION,		"BadVersion")						\
	X(BAD_IPV,		"BadIpv")						\
	X(BAD_ADVERTS,		"BadAdverts")						\
	X(BAD_RCVSZ,		"BadRcvSz")						\
	X(BAD_BUFS,		"BadBufs")						\
	X(BAD_MODE,		"BadMode")						\
	X(BAD_ADVERT,		"BadAdvert")						\
	X(BAD_SEQ,		"BadSeq")						\
	X(BAD_ACK,		"BadAck")						\
	X(BAD_CREDIT,		"BadCredit")						\
	X(BAD_STATE,		"BadState")

#define SDP_MIB_ENUM(id, name)	SDP_MIB_##id,
enum sdp_mib_item {
	SDP_STATS(SDP_MIB_ENUM)
	SDP_MIB_MAX
};

#undef SDP_MIB_ENUM

/**
 * struct sdp_mib - a namespace's counters, of one CPU
 * @mibs:	by enum sdp_mib_item
 */
struct sdp_mib {
	unsigned long mibs[SDP_MIB_MAX];
};

/* The counter of a socket that became TCP's, by SDP_FALLBACK_* */
#define SDP_MIB_FALLBACK(reason) (SDP_MIB_FALLBACK_POLICY + (reason) - SDP_FALLBACK_POLICY)

/* The counter of a refusal, see enum sdp_bad */
#define SDP_MIB_BAD(bad)	(SDP_MIB_BAD_SHORT + (bad) - SDP_BAD_SHORT)

/* ... of adverts by us, see enum sdp_refuse */
#define SDP_MIB_SENDSM(why)	(SDP_MIB_SENDSM_CANCELLED + (why) - SDP_REFUSE_CANCELLED)

/* ... of memory by AZ-SDP, see enum sdp_az_why */
#define SDP_MIB_AZ_REFUSED(why)	(SDP_MIB_AZ_NO_VMA + (why) - SDP_AZ_VMA)

#endif /* _SDP_STATS_H */
