// SPDX-License-Identifier: GPL-2.0
/*
 * The wire format: bytes to messages and back, and what they say of credits.
 *
 * What belongs here: everything that can be judged from one message's bytes
 * alone, and serial arithmetic. What doesn't: whether a message is legal now;
 * that is the connection's business. No allocation, no locks, no kernel: the
 * same file is compiled into the module, the unit tests and the fuzzers.
 *
 * The decoders are strict about what a message claims of itself (lengths,
 * identifiers, ranges), and blind to what is reserved, so that later minor
 * versions may use it. The encoders write zero where the decoders are blind.
 */
#include <asm/byteorder.h>
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif
#include <net/sdp_proto.h>

#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))

_Static_assert(sizeof(struct sdp_bsdh) == SDP_BSDH_SIZE, "BSDH");
_Static_assert(sizeof(struct sdp_hh) == SDP_HELLO_SIZE, "Hello");
_Static_assert(sizeof(struct sdp_hah) == SDP_HELLO_ACK_SIZE, "HelloAck");
_Static_assert(sizeof(struct sdp_srcah) == 16, "SrcAH");
_Static_assert(sizeof(struct sdp_sinkah) == 20, "SinkAH");
_Static_assert(sizeof(struct sdp_sinkah) == SDP_EXT_MAX, "largest extended header");
_Static_assert(sizeof(struct sdp_numh) == 4, "RWCH, RRCH, CRBH, CRBAH");
_Static_assert(sizeof(struct sdp_mch) == 4, "MCH");
_Static_assert(sizeof(struct sdp_suspch) == 8, "SuspCH");

#define FLAGS_KNOWN	(SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND | SDP_FLAG_REQ_PIPE)
#define CAPS_KNOWN	(SDP_CAP_INVALIDATE | SDP_CAP_EXT_ADVERTS)
#define MAX_ADVERTS_8	255	/* all that fits without SDP_CAP_EXT_ADVERTS */

/* MCH: the bits of s_mode */
#define MCH_HALF_SHIFT	7
#define MCH_MODE_SHIFT	4
#define MCH_MODE_MASK	0x7

/**
 * struct mid_info - what there is to know of a kind of message
 * @name:	as the annex has it
 * @ext_len:	bytes of extended header
 * @payload:	may it carry payload?
 */
struct mid_info {
	const char	*name;
	__u8		ext_len;
	__u8		payload;
};

/* The identifiers come in two runs, from 0x00 up and from 0xff down */
#define MID_LOW_LAST	SDP_MID_SUSP_COMM_ACK
#define MID_HIGH_FIRST	SDP_MID_SINK_AVAIL
#define MID_ROW(mid)	((mid) < MID_HIGH_FIRST ? (mid) : (mid) - MID_HIGH_FIRST + MID_LOW_LAST + 1)

static const struct mid_info mid_table[] = {
	[MID_ROW(SDP_MID_HELLO)] = { "Hello", SDP_HELLO_SIZE - SDP_BSDH_SIZE, 0 },
	[MID_ROW(SDP_MID_HELLO_ACK)] = { "HelloAck", SDP_HELLO_ACK_SIZE - SDP_BSDH_SIZE, 0 },
	[MID_ROW(SDP_MID_DISCONN)] = { "DisConn", 0, 0 },
	[MID_ROW(SDP_MID_ABORT)] = { "AbortConn", 0, 0 },
	[MID_ROW(SDP_MID_SENDSM)] = { "SendSm", 0, 0 },
	[MID_ROW(SDP_MID_RDMA_WR_COMPL)] = { "RdmaWrCompl", sizeof(struct sdp_numh), 0 },
	[MID_ROW(SDP_MID_RDMA_RD_COMPL)] = { "RdmaRdCompl", sizeof(struct sdp_numh), 0 },
	[MID_ROW(SDP_MID_MODE_CHANGE)] = { "ModeChange", sizeof(struct sdp_mch), 0 },
	[MID_ROW(SDP_MID_SRC_AVAIL_CANCEL)] = { "SrcAvailCancel", 0, 0 },
	[MID_ROW(SDP_MID_SINK_AVAIL_CANCEL)] = { "SinkAvailCancel", 0, 0 },
	[MID_ROW(SDP_MID_SINK_CANCEL_ACK)] = { "SinkCancelAck", 0, 0 },
	[MID_ROW(SDP_MID_CH_RCV_BUF)] = { "ChRcvBuf", sizeof(struct sdp_numh), 0 },
	[MID_ROW(SDP_MID_CH_RCV_BUF_ACK)] = { "ChRcvBufAck", sizeof(struct sdp_numh), 0 },
	[MID_ROW(SDP_MID_SUSP_COMM)] = { "SuspComm", sizeof(struct sdp_suspch), 0 },
	[MID_ROW(SDP_MID_SUSP_COMM_ACK)] = { "SuspCommAck", 0, 0 },
	[MID_ROW(SDP_MID_SINK_AVAIL)] = { "SinkAvail", sizeof(struct sdp_sinkah), 1 },
	[MID_ROW(SDP_MID_SRC_AVAIL)] = { "SrcAvail", sizeof(struct sdp_srcah), 1 },
	[MID_ROW(SDP_MID_DATA)] = { "Data", 0, 1 },
};

static const char * const bad_table[] = {
	[SDP_GOOD]		= "good",
	[SDP_BAD_SHORT]		= "short",
	[SDP_BAD_LEN]		= "len",
	[SDP_BAD_MID]		= "mid",
	[SDP_BAD_FLAGS]		= "flags",
	[SDP_BAD_PAYLOAD]	= "payload",
	[SDP_BAD_VERSION]	= "version",
	[SDP_BAD_IPV]		= "ipv",
	[SDP_BAD_ADVERTS]	= "adverts",
	[SDP_BAD_RCVSZ]		= "rcvsz",
	[SDP_BAD_BUFS]		= "bufs",
	[SDP_BAD_MODE]		= "mode",
	[SDP_BAD_ADVERT]	= "advert",
	[SDP_BAD_SEQ]		= "seq",
	[SDP_BAD_ACK]		= "ack",
	[SDP_BAD_CREDIT]	= "credit",
	[SDP_BAD_STATE]		= "state",
};

_Static_assert(COUNT_OF(bad_table) == SDP_BAD_MAX, "a name for every reason");

static const struct mid_info *mid_lookup(__u8 mid)
{
	if (mid > MID_LOW_LAST && mid < MID_HIGH_FIRST)
		return NULL;
	return &mid_table[MID_ROW(mid)];
}

/* Looks a message up that travels on an established connection */
static const struct mid_info *mid_lookup_connected(__u8 mid)
{
	if (mid == SDP_MID_HELLO || mid == SDP_MID_HELLO_ACK)
		return NULL;
	return mid_lookup(mid);
}

/**
 * sdp_ext_len - length of a message kind's extended header
 * @mid: message identifier, any value
 *
 * Context: any.
 * Return: bytes between the BSDH and the payload, -1 if there is no such message.
 * Source: IBA A4, the message formats.
 */
int sdp_ext_len(__u8 mid)
{
	const struct mid_info *info = mid_lookup(mid);

	return info ? info->ext_len : -1;
}

/**
 * sdp_mid_str - name of a message kind
 * @mid: message identifier, any value
 *
 * Context: any.
 * Return: the annex's name, "unknown" if there is no such message; never NULL.
 */
const char *sdp_mid_str(__u8 mid)
{
	const struct mid_info *info = mid_lookup(mid);

	return info ? info->name : "unknown";
}

/**
 * sdp_bad_str - name of a reason to refuse a message
 * @bad: the reason, any value
 *
 * Context: any.
 * Return: one lower-case word, "unknown" if there is no such reason; never NULL.
 */
const char *sdp_bad_str(enum sdp_bad bad)
{
	if ((unsigned int)bad >= COUNT_OF(bad_table))
		return "unknown";
	return bad_table[bad];
}

/* All but the sequence numbers */
static void put_bsdh(struct sdp_bsdh *h, __u8 mid, __u8 flags, __u16 bufs, __u32 len)
{
	h->mid = mid;
	h->flags = flags & FLAGS_KNOWN;
	h->bufs = __cpu_to_be16(bufs);
	h->len = __cpu_to_be32(len);
}

/* An IPv4 address is in the last four of 16 bytes; the rest of @to, which is zero, stays so */
static void copy_ip(__u8 *to, const __u8 *from, __u8 ipv)
{
	unsigned int unused = ipv == 4 ? 12 : 0;

	memcpy(to + unused, from + unused, 16 - unused);
}

/* The checks that Hello and HelloAck have in common */
static enum sdp_bad check_setup(const struct sdp_bsdh *h, __u8 mid, __u32 size, __u8 version)
{
	if (h->mid != mid)
		return SDP_BAD_MID;
	if (__be32_to_cpu(h->len) != size)
		return SDP_BAD_LEN;
	if (SDP_VERSION_MAJOR(version) != SDP_VERSION_MAJOR(SDP_VERSION))
		return SDP_BAD_VERSION;
	return SDP_GOOD;
}

static enum sdp_bad check_resources(__u16 max_adverts, __u32 rcv_sz, __u16 bufs)
{
	if (!max_adverts)
		return SDP_BAD_ADVERTS;
	if (rcv_sz < SDP_MIN_RCV_SIZE)
		return SDP_BAD_RCVSZ;
	if (bufs < SDP_MIN_BUFS)
		return SDP_BAD_BUFS;
	return SDP_GOOD;
}

static __u16 get_max_adverts(const struct sdp_hh *hh)
{
	__u16 ext = __be16_to_cpu(hh->ext_max_adverts);

	return (hh->ipv_cap & SDP_CAP_EXT_ADVERTS) && ext ? ext : hh->max_adverts;
}

/**
 * sdp_decode_hello - read a Hello and judge it
 * @buf: private data of the CM's REQ, any alignment
 * @len: bytes in @buf
 * @h: filled in
 *
 * What follows the 92 bytes is not looked at: a transport other than the IB CM
 * may have room to spare. Flags, MSeq and MSeqAck are ignored, for peers have
 * put different things there and none has a meaning before the connection is.
 *
 * Context: any.
 * Return: SDP_GOOD or the first reason found to refuse it. @h is all zero after
 * SDP_BAD_SHORT; after other refusals it has what the peer sent.
 * Source: IBA A4, HH.
 */
enum sdp_bad sdp_decode_hello(const void *buf, __u32 len, struct sdp_hello *h)
{
	const struct sdp_hh *hh = buf;
	enum sdp_bad bad;

	memset(h, 0, sizeof(*h));
	if (len < sizeof(*hh))
		return SDP_BAD_SHORT;

	h->version = hh->version;
	h->ipv = hh->ipv_cap >> 4;
	h->caps = hh->ipv_cap & CAPS_KNOWN;
	h->bufs = __be16_to_cpu(hh->bsdh.bufs);
	h->max_adverts = get_max_adverts(hh);
	h->des_rem_rcv_sz = __be32_to_cpu(hh->des_rem_rcv_sz);
	h->local_rcv_sz = __be32_to_cpu(hh->local_rcv_sz);
	h->port = __be16_to_cpu(hh->local_port);
	copy_ip(h->src_ip, hh->src_ip, h->ipv);
	copy_ip(h->dst_ip, hh->dst_ip, h->ipv);

	bad = check_setup(&hh->bsdh, SDP_MID_HELLO, sizeof(*hh), h->version);
	if (bad)
		return bad;
	if (h->ipv != 4 && h->ipv != 6)
		return SDP_BAD_IPV;
	return check_resources(h->max_adverts, h->local_rcv_sz, h->bufs);
}

/**
 * sdp_decode_hello_ack - read a HelloAck and judge it
 * @buf: private data of the CM's REP, any alignment
 * @len: bytes in @buf
 * @h: filled in
 *
 * The high nibble of the capability byte is reserved here, not an IP version.
 *
 * Context: any.
 * Return: SDP_GOOD or the first reason found to refuse it. @h is all zero after
 * SDP_BAD_SHORT; after other refusals it has what the peer sent.
 * Source: IBA A4, HAH.
 */
enum sdp_bad sdp_decode_hello_ack(const void *buf, __u32 len, struct sdp_hello_ack *h)
{
	const struct sdp_hah *hah = buf;
	enum sdp_bad bad;

	memset(h, 0, sizeof(*h));
	if (len < sizeof(*hah))
		return SDP_BAD_SHORT;

	h->version = hah->version;
	h->caps = hah->ipv_cap & CAPS_KNOWN;
	h->bufs = __be16_to_cpu(hah->bsdh.bufs);
	h->max_adverts = hah->max_adverts;
	h->act_rcv_sz = __be32_to_cpu(hah->act_rcv_sz);

	bad = check_setup(&hah->bsdh, SDP_MID_HELLO_ACK, sizeof(*hah), h->version);
	if (bad)
		return bad;
	return check_resources(h->max_adverts, h->act_rcv_sz, h->bufs);
}

static __u8 clamp_adverts(__u16 max_adverts)
{
	return max_adverts < MAX_ADVERTS_8 ? max_adverts : MAX_ADVERTS_8;
}

/**
 * sdp_encode_hello - write a Hello
 * @buf: room for SDP_HELLO_SIZE bytes, any alignment; all of them are written
 * @h: what to say
 *
 * MSeq and MSeqAck are 0: the first message on the connection has MSeq 1. The
 * 8-bit MaxAdverts holds as much of @h->max_adverts as it can; with
 * SDP_CAP_EXT_ADVERTS among the capabilities the extended field holds it all.
 *
 * Context: any.
 * Source: IBA A4, HH.
 */
void sdp_encode_hello(void *buf, const struct sdp_hello *h)
{
	struct sdp_hh *hh = buf;

	memset(hh, 0, sizeof(*hh));
	put_bsdh(&hh->bsdh, SDP_MID_HELLO, 0, h->bufs, sizeof(*hh));
	hh->version = h->version;
	hh->ipv_cap = h->ipv << 4 | (h->caps & CAPS_KNOWN);
	hh->max_adverts = clamp_adverts(h->max_adverts);
	if (h->caps & SDP_CAP_EXT_ADVERTS)
		hh->ext_max_adverts = __cpu_to_be16(h->max_adverts);
	hh->des_rem_rcv_sz = __cpu_to_be32(h->des_rem_rcv_sz);
	hh->local_rcv_sz = __cpu_to_be32(h->local_rcv_sz);
	hh->local_port = __cpu_to_be16(h->port);
	copy_ip(hh->src_ip, h->src_ip, h->ipv);
	copy_ip(hh->dst_ip, h->dst_ip, h->ipv);
}

/**
 * sdp_encode_hello_ack - write a HelloAck
 * @buf: room for SDP_HELLO_ACK_SIZE bytes, any alignment; all of them are written
 * @h: what to say; of max_adverts no more than 255 can be said
 *
 * Context: any.
 * Source: IBA A4, HAH.
 */
void sdp_encode_hello_ack(void *buf, const struct sdp_hello_ack *h)
{
	struct sdp_hah *hah = buf;

	memset(hah, 0, sizeof(*hah));
	put_bsdh(&hah->bsdh, SDP_MID_HELLO_ACK, 0, h->bufs, sizeof(*hah));
	hah->version = h->version;
	hah->ipv_cap = h->caps & CAPS_KNOWN;
	hah->max_adverts = clamp_adverts(h->max_adverts);
	hah->act_rcv_sz = __cpu_to_be32(h->act_rcv_sz);
}

/* An advert's last byte must have an address, and so must the byte behind it: users add */
static enum sdp_bad check_advert(const struct sdp_msg *m)
{
	if (!m->avail.len || m->avail.va + m->avail.len < m->avail.va)
		return SDP_BAD_ADVERT;
	return SDP_GOOD;
}

/* SrcAH speaks of the whole buffer, including the bytes that came along inline */
static enum sdp_bad decode_srcah(const struct sdp_srcah *h, struct sdp_msg *m)
{
	m->avail.len = __be32_to_cpu(h->len);
	m->avail.rkey = __be32_to_cpu(h->rkey);
	m->avail.va = __be64_to_cpu(h->va);
	if (m->payload_len && m->avail.len <= m->payload_len)
		return SDP_BAD_ADVERT;
	return check_advert(m);
}

/* Payload behind a SinkAH is of the other direction's stream: no relation to its Len */
static enum sdp_bad decode_sinkah(const struct sdp_sinkah *h, struct sdp_msg *m)
{
	m->avail.len = __be32_to_cpu(h->len);
	m->avail.rkey = __be32_to_cpu(h->rkey);
	m->avail.va = __be64_to_cpu(h->va);
	m->avail.non_discards = __be32_to_cpu(h->non_discards);
	return check_advert(m);
}

static enum sdp_bad decode_mch(const struct sdp_mch *h, struct sdp_msg *m)
{
	m->mode.half = h->s_mode >> MCH_HALF_SHIFT;
	m->mode.mode = h->s_mode >> MCH_MODE_SHIFT & MCH_MODE_MASK;
	return m->mode.mode > SDP_MODE_PIPELINED ? SDP_BAD_MODE : SDP_GOOD;
}

/* A completion of 0 bytes is let through: it claims nothing that can be false
 * whatever is outstanding, and the annex doesn't rule it out. How many bytes
 * may be completed only the connection knows.
 */
static enum sdp_bad decode_numh(const struct sdp_numh *h, struct sdp_msg *m)
{
	int is_size = m->mid == SDP_MID_CH_RCV_BUF || m->mid == SDP_MID_CH_RCV_BUF_ACK;

	m->num = __be32_to_cpu(h->num);
	return is_size && m->num < SDP_MIN_RCV_SIZE ? SDP_BAD_RCVSZ : SDP_GOOD;
}

static enum sdp_bad decode_suspch(const struct sdp_suspch *h, struct sdp_msg *m)
{
	m->service_id = __be64_to_cpu(h->service_id);
	return SDP_GOOD;
}

static enum sdp_bad decode_ext(const void *ext, struct sdp_msg *m)
{
	switch (m->mid) {
	case SDP_MID_SRC_AVAIL:
		return decode_srcah(ext, m);
	case SDP_MID_SINK_AVAIL:
		return decode_sinkah(ext, m);
	case SDP_MID_MODE_CHANGE:
		return decode_mch(ext, m);
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_CH_RCV_BUF:
	case SDP_MID_CH_RCV_BUF_ACK:
		return decode_numh(ext, m);
	case SDP_MID_SUSP_COMM:
		return decode_suspch(ext, m);
	default:
		return SDP_GOOD;
	}
}

/* The urgent byte is a Data message's last one, so there must be one (CA4-7) */
static enum sdp_bad check_flags(const struct sdp_msg *m)
{
	if (!(m->flags & SDP_FLAG_OOB_PRES))
		return SDP_GOOD;
	return m->mid == SDP_MID_DATA && m->payload_len ? SDP_GOOD : SDP_BAD_FLAGS;
}

/**
 * sdp_decode - read a message of an established connection and judge it
 * @bsdh: its first 16 bytes, any alignment
 * @body: what follows them: extended header and payload. May lie elsewhere than
 *	  behind @bsdh, any alignment; NULL is fine if @body_len is 0. The payload
 *	  is not looked at: only the extended header need be there.
 * @body_len: bytes received behind the BSDH
 * @m: filled in
 *
 * Judged is what the message says of itself; whether it may be said now, the
 * sequence numbers and the credits are for the caller to judge.
 *
 * Context: any.
 * Return: SDP_GOOD or the first reason found to refuse it. @m has the BSDH's
 * fields in either case, reserved flags cleared, so that a refusal can be
 * reported; the rest of it is meaningful after SDP_GOOD only, but always set.
 * Source: IBA A4, BSDH and the message formats.
 */
enum sdp_bad sdp_decode(const struct sdp_bsdh *bsdh, const void *body, __u32 body_len,
			struct sdp_msg *m)
{
	const struct mid_info *info = mid_lookup_connected(bsdh->mid);
	__u32 len = __be32_to_cpu(bsdh->len);
	enum sdp_bad bad;

	memset(m, 0, sizeof(*m));
	m->mid = bsdh->mid;
	m->flags = bsdh->flags & FLAGS_KNOWN;
	m->bufs = __be16_to_cpu(bsdh->bufs);
	m->mseq = __be32_to_cpu(bsdh->mseq);
	m->mseq_ack = __be32_to_cpu(bsdh->mseq_ack);

	if (!info)
		return SDP_BAD_MID;
	if (len < SDP_BSDH_SIZE || len - SDP_BSDH_SIZE != body_len)
		return SDP_BAD_LEN;
	if (body_len < info->ext_len)
		return SDP_BAD_SHORT;
	m->ext_len = info->ext_len;
	m->payload_len = body_len - info->ext_len;
	if (m->payload_len && !info->payload)
		return SDP_BAD_PAYLOAD;
	bad = check_flags(m);
	if (bad)
		return bad;
	return decode_ext(body, m);
}

static void encode_srcah(struct sdp_srcah *h, const struct sdp_msg *m)
{
	h->len = __cpu_to_be32(m->avail.len);
	h->rkey = __cpu_to_be32(m->avail.rkey);
	h->va = __cpu_to_be64(m->avail.va);
}

static void encode_sinkah(struct sdp_sinkah *h, const struct sdp_msg *m)
{
	h->len = __cpu_to_be32(m->avail.len);
	h->rkey = __cpu_to_be32(m->avail.rkey);
	h->va = __cpu_to_be64(m->avail.va);
	h->non_discards = __cpu_to_be32(m->avail.non_discards);
}

static void encode_mch(struct sdp_mch *h, const struct sdp_msg *m)
{
	memset(h, 0, sizeof(*h));
	h->s_mode = m->mode.half << MCH_HALF_SHIFT |
		    (m->mode.mode & MCH_MODE_MASK) << MCH_MODE_SHIFT;
}

static void encode_numh(struct sdp_numh *h, const struct sdp_msg *m)
{
	h->num = __cpu_to_be32(m->num);
}

static void encode_suspch(struct sdp_suspch *h, const struct sdp_msg *m)
{
	h->service_id = __cpu_to_be64(m->service_id);
}

static void encode_ext(void *ext, const struct sdp_msg *m)
{
	switch (m->mid) {
	case SDP_MID_SRC_AVAIL:
		encode_srcah(ext, m);
		break;
	case SDP_MID_SINK_AVAIL:
		encode_sinkah(ext, m);
		break;
	case SDP_MID_MODE_CHANGE:
		encode_mch(ext, m);
		break;
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_CH_RCV_BUF:
	case SDP_MID_CH_RCV_BUF_ACK:
		encode_numh(ext, m);
		break;
	case SDP_MID_SUSP_COMM:
		encode_suspch(ext, m);
		break;
	}
}

/**
 * sdp_encode - write the headers of a message
 * @buf: room for SDP_BSDH_SIZE + SDP_EXT_MAX bytes, any alignment
 * @m: what to say; @m->ext_len is set. @m->payload_len must have been, for Len;
 *     whether the message kind may have payload is the caller's care.
 *
 * Context: any.
 * Return: bytes written, behind which the payload goes; 0, and nothing written,
 * if @m->mid isn't a message of an established connection.
 * Source: IBA A4, BSDH and the message formats.
 */
__u32 sdp_encode(void *buf, struct sdp_msg *m)
{
	const struct mid_info *info = mid_lookup_connected(m->mid);
	struct sdp_bsdh *bsdh = buf;
	__u32 hdr_len;

	if (!info)
		return 0;

	m->ext_len = info->ext_len;
	hdr_len = SDP_BSDH_SIZE + m->ext_len;
	put_bsdh(bsdh, m->mid, m->flags, m->bufs, hdr_len + m->payload_len);
	bsdh->mseq = __cpu_to_be32(m->mseq);
	bsdh->mseq_ack = __cpu_to_be32(m->mseq_ack);
	encode_ext(bsdh + 1, m);
	return hdr_len;
}

/**
 * sdp_credits - what a received message leaves us to send
 * @sent: MSeq of the last message we sent
 * @una: highest MSeqAck seen before this message
 * @ack: the message's MSeqAck
 * @bufs: the message's Bufs: receive buffers the peer had posted when it had
 *	  received our message @ack and none after
 * @credits: set to the messages we may send now; untouched on refusal
 *
 * Our messages after @ack have taken buffers out of @bufs, or will when they
 * arrive. Sequence numbers are serial, of 32 bits: they may wrap.
 *
 * Context: any.
 * Return: SDP_GOOD; SDP_BAD_ACK if @ack isn't of @una to @sent; SDP_BAD_CREDIT
 * if the peer has fewer buffers than it had already promised.
 * Source: IBA A4, Bufs and MSeqAck of the BSDH.
 */
enum sdp_bad sdp_credits(__u32 sent, __u32 una, __u32 ack, __u16 bufs, __u32 *credits)
{
	__u32 in_flight = sent - ack;

	if (ack - una > sent - una)
		return SDP_BAD_ACK;
	if (in_flight > bufs)
		return SDP_BAD_CREDIT;
	*credits = bufs - in_flight;
	return SDP_GOOD;
}
