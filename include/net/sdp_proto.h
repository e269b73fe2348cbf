/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets Direct Protocol: the wire format (InfiniBand Architecture, annex A4).
 *
 * What belongs here: the layout of every message, the decoded forms, and the
 * arithmetic on sequence numbers and credits. What doesn't: sockets, verbs,
 * anything that needs a kernel. The matching net/sdp/proto.c is compiled into
 * the module and into user-space tests and fuzzers, so both include only uapi
 * headers that exist in either world.
 *
 * Every SDP message is one RC Send. It starts with the 16-byte BSDH, may go on
 * with an extended header of the message's own kind, and may end with payload:
 *
 *	 0       1       2               4               8
 *	+-------+-------+---------------+-------------------------------+
 *	|  MID  | Flags |     Bufs      |             Len               |
 *	+-------+-------+---------------+-------------------------------+
 *	|             MSeq              |           MSeqAck             |
 *	+-------------------------------+-------------------------------+
 *	| extended header, 0 to 20 bytes | payload ...
 *
 * All fields are big-endian. Hello and HelloAck travel in the private data of
 * the CM's REQ and REP instead.
 */
#ifndef _NET_SDP_PROTO_H
#define _NET_SDP_PROTO_H

#include <linux/types.h>

/* Message identifiers (MID) */
enum sdp_mid {
	SDP_MID_HELLO			= 0x00,
	SDP_MID_HELLO_ACK		= 0x01,
	SDP_MID_DISCONN			= 0x02,
	SDP_MID_ABORT			= 0x03,
	SDP_MID_SENDSM			= 0x04,
	SDP_MID_RDMA_WR_COMPL		= 0x05,
	SDP_MID_RDMA_RD_COMPL		= 0x06,
	SDP_MID_MODE_CHANGE		= 0x07,
	SDP_MID_SRC_AVAIL_CANCEL	= 0x08,
	SDP_MID_SINK_AVAIL_CANCEL	= 0x09,
	SDP_MID_SINK_CANCEL_ACK		= 0x0a,
	SDP_MID_CH_RCV_BUF		= 0x0b,
	SDP_MID_CH_RCV_BUF_ACK		= 0x0c,
	SDP_MID_SUSP_COMM		= 0x0d,
	SDP_MID_SUSP_COMM_ACK		= 0x0e,
	SDP_MID_SINK_AVAIL		= 0xfd,
	SDP_MID_SRC_AVAIL		= 0xfe,
	SDP_MID_DATA			= 0xff,
};

/* BSDH flags; bits 3 to 7 are reserved and ignored on receipt */
#define SDP_FLAG_OOB_PRES	0x01	/* last payload byte is urgent: Data only (CA4-7) */
#define SDP_FLAG_OOB_PEND	0x02	/* an urgent byte is on its way: any message */
#define SDP_FLAG_REQ_PIPE	0x04	/* sink would like Pipelined mode */

#define SDP_VERSION		0x22	/* major 2, minor 2 */
#define SDP_VERSION_MAJOR(v)	((v) >> 4)

/* Hello capabilities */
#define SDP_CAP_INVALIDATE	0x1	/* takes Send with Invalidate */
#define SDP_CAP_EXT_ADVERTS	0x2	/* ExtMaxAdverts is valid */

#define SDP_BSDH_SIZE		16
#define SDP_EXT_MAX		20	/* largest extended header: SinkAH */
#define SDP_HELLO_SIZE		92	/* all of the REQ's private data */
#define SDP_HELLO_ACK_SIZE	196	/* all of the REP's private data */

/* A receiver must be able to hold the largest control message (IBA A4 leaves it implied) */
#define SDP_MIN_RCV_SIZE	(SDP_BSDH_SIZE + SDP_EXT_MAX)
/* ... and must post this many buffers, or the peer may never send it payload */
#define SDP_MIN_BUFS		3

/* Service ID of an SDP listener: 0x0000_0000_0001_pppp, pppp the port */
#define SDP_SERVICE_ID_BASE	0x10000ULL

/**
 * struct sdp_bsdh - Base Sockets Direct Header, at the beginning of each message
 * @mid:	enum sdp_mid
 * @flags:	SDP_FLAG_*
 * @bufs:	receive buffers the sender has posted, its credits for the receiver
 * @len:	bytes of all the message, this header included
 * @mseq:	number of this message
 * @mseq_ack:	number of the last one its sender had received
 *
 * IBA A4, BSDH.
 */
struct sdp_bsdh {
	__u8	mid;
	__u8	flags;
	__be16	bufs;
	__be32	len;
	__be32	mseq;
	__be32	mseq_ack;
} __attribute__((packed));

/**
 * struct sdp_hh - Hello, the private data of a REQ
 * @bsdh:		its header
 * @version:		major version in the high nibble, minor in the low
 * @ipv_cap:		IP version in the high nibble, SDP_CAP_* in the low
 * @reserved1:		0
 * @max_adverts:	SrcAvails the sender can keep outstanding as a sink
 * @des_rem_rcv_sz:	receive buffer size it would like the peer to have, bytes, with BSDH
 * @local_rcv_sz:	size of its own receive buffers, likewise
 * @local_port:		its port
 * @reserved2:		0
 * @src_ip:		its address; IPv4 in the last four bytes
 * @dst_ip:		the address it wants, likewise
 * @reserved3:		0
 * @ext_max_adverts:	@max_adverts if SDP_CAP_EXT_ADVERTS is set
 * @reserved4:		0
 *
 * IBA A4, HH. struct sdp_hello is the decoded form.
 */
struct sdp_hh {
	struct sdp_bsdh	bsdh;
	__u8	version;
	__u8	ipv_cap;
	__u8	reserved1;
	__u8	max_adverts;
	__be32	des_rem_rcv_sz;
	__be32	local_rcv_sz;
	__be16	local_port;
	__be16	reserved2;
	__u8	src_ip[16];
	__u8	dst_ip[16];
	__be16	reserved3;
	__be16	ext_max_adverts;
	__u8	reserved4[24];
} __attribute__((packed));

/**
 * struct sdp_hah - HelloAck, the private data of a REP
 * @bsdh:		its header
 * @version:		major version in the high nibble, minor in the low
 * @ipv_cap:		SDP_CAP_* in the low nibble
 * @reserved1:		0
 * @max_adverts:	SrcAvails the sender can keep outstanding as a sink
 * @act_rcv_sz:		size of its receive buffers, bytes, with BSDH
 * @reserved2:		0
 *
 * IBA A4, HAH. struct sdp_hello_ack is the decoded form.
 */
struct sdp_hah {
	struct sdp_bsdh	bsdh;
	__u8	version;
	__u8	ipv_cap;
	__u8	reserved1;
	__u8	max_adverts;
	__be32	act_rcv_sz;
	__u8	reserved2[172];
} __attribute__((packed));

/**
 * struct sdp_srcah - SrcAvail's extended header: memory to be read
 * @len:	bytes, those that go with the message included
 * @rkey:	key to it
 * @va:		its address
 *
 * IBA A4, SrcAH.
 */
struct sdp_srcah {
	__be32	len;
	__be32	rkey;
	__be64	va;
} __attribute__((packed));

/**
 * struct sdp_sinkah - SinkAvail's extended header: memory to be written to
 * @len:		bytes
 * @rkey:		key to it
 * @va:			its address
 * @non_discards:	Data messages its sender had received that carried payload and
 *			didn't make it drop an advert
 *
 * IBA A4, SinkAH.
 */
struct sdp_sinkah {
	__be32	len;
	__be32	rkey;
	__be64	va;
	__be32	non_discards;
} __attribute__((packed));

/**
 * struct sdp_numh - the extended header of RdmaWrCompl, RdmaRdCompl, ChRcvBuf and ChRcvBufAck
 * @num:	bytes written, bytes read; size of a receive buffer, bytes, with BSDH
 */
struct sdp_numh {
	__be32	num;
} __attribute__((packed));

/**
 * struct sdp_mch - ModeChange's extended header
 * @s_mode:	enum sdp_half in bit 7, enum sdp_mode in bits 6 to 4
 * @reserved:	0
 *
 * IBA A4, MCH.
 */
struct sdp_mch {
	__u8	s_mode;
	__u8	reserved[3];
} __attribute__((packed));

/**
 * struct sdp_suspch - SuspComm's extended header
 * @service_id:	where the connection is to be made anew
 *
 * IBA A4, SuspCH.
 */
struct sdp_suspch {
	__be64	service_id;
} __attribute__((packed));

/* Flow control modes and the half of the stream a ModeChange speaks of */
enum sdp_mode {
	SDP_MODE_BUFFERED	= 0,
	SDP_MODE_COMBINED	= 1,
	SDP_MODE_PIPELINED	= 2,
};

enum sdp_half {
	SDP_HALF_RECV		= 0,	/* the receiver's receive half */
	SDP_HALF_SEND		= 1,	/* the receiver's send half */
};

/**
 * enum sdp_bad - why a message was refused
 * @SDP_GOOD:		it was not
 * @SDP_BAD_SHORT:	fewer bytes than its headers need
 * @SDP_BAD_LEN:	Len is not the number of bytes received
 * @SDP_BAD_MID:	unknown or misplaced message identifier
 * @SDP_BAD_FLAGS:	a flag this message may not carry
 * @SDP_BAD_PAYLOAD:	payload where none may be, or too much of it
 * @SDP_BAD_VERSION:	another major version
 * @SDP_BAD_IPV:	neither IPv4 nor IPv6
 * @SDP_BAD_ADVERTS:	MaxAdverts of zero
 * @SDP_BAD_RCVSZ:	a receive buffer too small to be one
 * @SDP_BAD_BUFS:	too few buffers to talk to
 * @SDP_BAD_MODE:	undefined mode in a ModeChange
 * @SDP_BAD_ADVERT:	an advert of nothing, wrapping, smaller than its inline bytes
 * @SDP_BAD_SEQ:	MSeq out of order
 * @SDP_BAD_ACK:	MSeqAck of something not in flight
 * @SDP_BAD_CREDIT:	more or fewer buffers than can be
 * @SDP_BAD_STATE:	legal message, illegal now
 * @SDP_BAD_MAX:	number of these
 *
 * Each reason has a counter in /proc/net/sdpstats; the order is fixed.
 */
enum sdp_bad {
	SDP_GOOD = 0,
	SDP_BAD_SHORT,
	SDP_BAD_LEN,
	SDP_BAD_MID,
	SDP_BAD_FLAGS,
	SDP_BAD_PAYLOAD,
	SDP_BAD_VERSION,
	SDP_BAD_IPV,
	SDP_BAD_ADVERTS,
	SDP_BAD_RCVSZ,
	SDP_BAD_BUFS,
	SDP_BAD_MODE,
	SDP_BAD_ADVERT,
	SDP_BAD_SEQ,
	SDP_BAD_ACK,
	SDP_BAD_CREDIT,
	SDP_BAD_STATE,
	SDP_BAD_MAX
};

/**
 * struct sdp_hello - a Hello, decoded
 * @version:		major and minor nibble; SDP_VERSION when encoding
 * @ipv:		4 or 6
 * @caps:		SDP_CAP_*
 * @bufs:		receive buffers the sender has posted
 * @max_adverts:	SrcAvails it can keep outstanding as a sink; the extended
 *			field's value where the peer has that capability
 * @des_rem_rcv_sz:	receive buffer size it would like the peer to have, bytes, with BSDH
 * @local_rcv_sz:	size of its own receive buffers, bytes, with BSDH
 * @port:		its port, host order
 * @src_ip:		its address; IPv4 in the last four bytes
 * @dst_ip:		the address it wants, likewise
 *
 * IBA A4, HH.
 */
struct sdp_hello {
	__u8	version;
	__u8	ipv;
	__u8	caps;
	__u16	bufs;
	__u16	max_adverts;
	__u32	des_rem_rcv_sz;
	__u32	local_rcv_sz;
	__u16	port;
	__u8	src_ip[16];
	__u8	dst_ip[16];
};

/**
 * struct sdp_hello_ack - a HelloAck, decoded
 * @version:		major and minor nibble
 * @caps:		SDP_CAP_*
 * @bufs:		receive buffers the acceptor has posted
 * @max_adverts:	SrcAvails it can keep outstanding as a sink
 * @act_rcv_sz:		size of its receive buffers, bytes, with BSDH
 *
 * IBA A4, HAH. The acceptor's MaxAdverts has 8 bits: there is no extended field.
 */
struct sdp_hello_ack {
	__u8	version;
	__u8	caps;
	__u16	bufs;
	__u16	max_adverts;
	__u32	act_rcv_sz;
};

/**
 * struct sdp_msg - any other message, decoded
 * @mid:		enum sdp_mid
 * @flags:		SDP_FLAG_*
 * @bufs:		receive buffers the sender has posted
 * @mseq:		sequence number of this message
 * @mseq_ack:		sequence number of the last message its sender had received
 * @ext_len:		bytes of extended header (set by both directions of the codec)
 * @payload_len:	bytes of payload behind the headers
 * @avail:		SrcAvail, SinkAvail; @avail.non_discards SinkAvail only
 * @num:		RdmaWrCompl and RdmaRdCompl: bytes; ChRcvBuf(Ack): bytes with BSDH
 * @mode:		ModeChange
 * @service_id:		SuspComm
 */
struct sdp_msg {
	__u8	mid;
	__u8	flags;
	__u16	bufs;
	__u32	mseq;
	__u32	mseq_ack;
	__u32	ext_len;
	__u32	payload_len;
	union {
		struct {
			__u32	len;
			__u32	rkey;
			__u64	va;
			__u32	non_discards;
		} avail;
		__u32	num;
		struct {
			__u8	half;	/* enum sdp_half */
			__u8	mode;	/* enum sdp_mode */
		} mode;
		__u64	service_id;
	};
};

enum sdp_bad sdp_decode_hello(const void *buf, __u32 len, struct sdp_hello *h);
enum sdp_bad sdp_decode_hello_ack(const void *buf, __u32 len, struct sdp_hello_ack *h);
enum sdp_bad sdp_decode(const struct sdp_bsdh *bsdh, const void *body, __u32 body_len,
			struct sdp_msg *m);

void sdp_encode_hello(void *buf, const struct sdp_hello *h);
void sdp_encode_hello_ack(void *buf, const struct sdp_hello_ack *h);
__u32 sdp_encode(void *buf, struct sdp_msg *m);

int sdp_ext_len(__u8 mid);
const char *sdp_mid_str(__u8 mid);
const char *sdp_bad_str(enum sdp_bad bad);

enum sdp_bad sdp_credits(__u32 sent, __u32 una, __u32 ack, __u16 bufs, __u32 *credits);

#endif /* _NET_SDP_PROTO_H */
