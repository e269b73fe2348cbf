// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of net/sdp/proto.c: the wire format, byte for byte.
 *
 * Every message has a vector written out by hand from the annex's tables; it
 * is decoded, encoded, cut short at every length, and spoilt in one way for
 * each reason to refuse it. Properties (round trip, credits) are then tried on
 * pseudo-random messages; SDP_TEST_SEED=number in the environment picks other
 * ones than usual.
 *
 * Buffers of the cases that could stray come from the heap with no byte to
 * spare, so that the address sanitizer sees a read or write beyond them.
 * Decoded forms are compared with their padding, which the decoders clear.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <net/sdp_proto.h>

#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))

static __u64 rnd_state;

/* splitmix64 */
static __u64 rnd64(void)
{
	__u64 z = rnd_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static __u32 rnd(void)
{
	return rnd64() >> 32;
}

static __u32 rnd_upto(__u32 max)
{
	return rnd() % (max + 1);
}

/* Numbers as bugs like them: edges as often as anything else */
static __u32 rnd_edgy(void)
{
	static const __u32 edges[] = { 0, 1, 2, 3, 35, 36, 0x7fffffff, 0x80000000, 0xffffffff };

	return rnd() % 4 ? rnd() : edges[rnd() % COUNT_OF(edges)];
}

static void seed_rnd(void)
{
	const char *s = getenv("SDP_TEST_SEED");

	rnd_state = s ? strtoull(s, NULL, 0) : 1;
}

static void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	assert_non_null(p);
	return p;
}

static void *dup_bytes(const void *from, size_t n)
{
	void *p = xmalloc(n);

	if (n)
		memcpy(p, from, n);
	return p;
}

static void put32(__u8 *p, __u32 v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

/* Decodes @len bytes of a message, headers and body in buffers of their own */
static enum sdp_bad decode(const __u8 *bytes, __u32 len, struct sdp_msg *m)
{
	void *bsdh = dup_bytes(bytes, SDP_BSDH_SIZE);
	void *body = dup_bytes(bytes + SDP_BSDH_SIZE, len - SDP_BSDH_SIZE);
	enum sdp_bad bad;

	memset(m, 0xa5, sizeof(*m));
	bad = sdp_decode(bsdh, len == SDP_BSDH_SIZE ? NULL : body, len - SDP_BSDH_SIZE, m);
	free(body);
	free(bsdh);
	return bad;
}

static void assert_bad(enum sdp_bad got, enum sdp_bad want)
{
	assert_string_equal(sdp_bad_str(got), sdp_bad_str(want));
	assert_int_equal(got, want);
}

/*
 * Vectors. One per message kind and then some; bytes from the annex's tables.
 */
struct vector {
	struct sdp_msg	m;
	__u32		len;
	__u8		bytes[48];
};

#define BSDH(mid, flags, len)						\
	mid, flags, 0x01, 0x02, 0x00, 0x00, 0x00, len,			\
	0x11, 0x12, 0x13, 0x14, 0xf1, 0xf2, 0xf3, 0xf4
#define MSG(mid_, flags_, ext_, payload_)				\
	.mid = (mid_), .flags = (flags_), .bufs = 0x0102,		\
	.mseq = 0x11121314, .mseq_ack = 0xf1f2f3f4, .ext_len = (ext_), .payload_len = (payload_)

#define VECTORS(X)			\
	X(disconn)			\
	X(abort)			\
	X(sendsm)			\
	X(rdma_wr_compl)		\
	X(rdma_rd_compl)		\
	X(rdma_rd_compl_zero)		\
	X(rdma_wr_compl_zero)		\
	X(mode_buff_recv)		\
	X(mode_comb_recv)		\
	X(mode_pipe_recv)		\
	X(mode_buff_send)		\
	X(mode_comb_send)		\
	X(mode_pipe_send)		\
	X(src_avail_cancel)		\
	X(sink_avail_cancel)		\
	X(sink_cancel_ack)		\
	X(ch_rcv_buf)			\
	X(ch_rcv_buf_smallest)		\
	X(ch_rcv_buf_ack)		\
	X(susp_comm)			\
	X(susp_comm_ack)		\
	X(sink_avail)			\
	X(sink_avail_payload)		\
	X(src_avail)			\
	X(src_avail_payload)		\
	X(src_avail_one_left)		\
	X(src_avail_top)		\
	X(data)				\
	X(data_empty)			\
	X(data_oob)

static const struct vector v_disconn = {
	{ MSG(SDP_MID_DISCONN, 0, 0, 0) },
	16, { BSDH(0x02, 0x00, 16) }
};

static const struct vector v_abort = {
	{ MSG(SDP_MID_ABORT, 0, 0, 0) },
	16, { BSDH(0x03, 0x00, 16) }
};

static const struct vector v_sendsm = {
	{ MSG(SDP_MID_SENDSM, SDP_FLAG_REQ_PIPE, 0, 0) },
	16, { BSDH(0x04, 0x04, 16) }
};

static const struct vector v_rdma_wr_compl = {
	{ MSG(SDP_MID_RDMA_WR_COMPL, 0, 4, 0), .num = 0x81828384 },
	20, { BSDH(0x05, 0x00, 20), 0x81, 0x82, 0x83, 0x84 }
};

static const struct vector v_rdma_wr_compl_zero = {
	{ MSG(SDP_MID_RDMA_WR_COMPL, 0, 4, 0), .num = 0 },
	20, { BSDH(0x05, 0x00, 20), 0x00, 0x00, 0x00, 0x00 }
};

static const struct vector v_rdma_rd_compl = {
	{ MSG(SDP_MID_RDMA_RD_COMPL, SDP_FLAG_REQ_PIPE, 4, 0), .num = 65536 },
	20, { BSDH(0x06, 0x04, 20), 0x00, 0x01, 0x00, 0x00 }
};

static const struct vector v_rdma_rd_compl_zero = {
	{ MSG(SDP_MID_RDMA_RD_COMPL, 0, 4, 0), .num = 0 },
	20, { BSDH(0x06, 0x00, 20), 0x00, 0x00, 0x00, 0x00 }
};

static const struct vector v_mode_buff_recv = {
	{ MSG(SDP_MID_MODE_CHANGE, 0, 4, 0), .mode = { SDP_HALF_RECV, SDP_MODE_BUFFERED } },
	20, { BSDH(0x07, 0x00, 20), 0x00, 0x00, 0x00, 0x00 }
};

static const struct vector v_mode_comb_recv = {
	{ MSG(SDP_MID_MODE_CHANGE, 0, 4, 0), .mode = { SDP_HALF_RECV, SDP_MODE_COMBINED } },
	20, { BSDH(0x07, 0x00, 20), 0x10, 0x00, 0x00, 0x00 }
};

static const struct vector v_mode_pipe_recv = {
	{ MSG(SDP_MID_MODE_CHANGE, 0, 4, 0), .mode = { SDP_HALF_RECV, SDP_MODE_PIPELINED } },
	20, { BSDH(0x07, 0x00, 20), 0x20, 0x00, 0x00, 0x00 }
};

static const struct vector v_mode_buff_send = {
	{ MSG(SDP_MID_MODE_CHANGE, 0, 4, 0), .mode = { SDP_HALF_SEND, SDP_MODE_BUFFERED } },
	20, { BSDH(0x07, 0x00, 20), 0x80, 0x00, 0x00, 0x00 }
};

static const struct vector v_mode_comb_send = {
	{ MSG(SDP_MID_MODE_CHANGE, 0, 4, 0), .mode = { SDP_HALF_SEND, SDP_MODE_COMBINED } },
	20, { BSDH(0x07, 0x00, 20), 0x90, 0x00, 0x00, 0x00 }
};

static const struct vector v_mode_pipe_send = {
	{ MSG(SDP_MID_MODE_CHANGE, 0, 4, 0), .mode = { SDP_HALF_SEND, SDP_MODE_PIPELINED } },
	20, { BSDH(0x07, 0x00, 20), 0xa0, 0x00, 0x00, 0x00 }
};

static const struct vector v_src_avail_cancel = {
	{ MSG(SDP_MID_SRC_AVAIL_CANCEL, 0, 0, 0) },
	16, { BSDH(0x08, 0x00, 16) }
};

static const struct vector v_sink_avail_cancel = {
	{ MSG(SDP_MID_SINK_AVAIL_CANCEL, 0, 0, 0) },
	16, { BSDH(0x09, 0x00, 16) }
};

static const struct vector v_sink_cancel_ack = {
	{ MSG(SDP_MID_SINK_CANCEL_ACK, SDP_FLAG_OOB_PEND, 0, 0) },
	16, { BSDH(0x0a, 0x02, 16) }
};

static const struct vector v_ch_rcv_buf = {
	{ MSG(SDP_MID_CH_RCV_BUF, 0, 4, 0), .num = 32784 },
	20, { BSDH(0x0b, 0x00, 20), 0x00, 0x00, 0x80, 0x10 }
};

static const struct vector v_ch_rcv_buf_smallest = {
	{ MSG(SDP_MID_CH_RCV_BUF, 0, 4, 0), .num = 36 },
	20, { BSDH(0x0b, 0x00, 20), 0x00, 0x00, 0x00, 0x24 }
};

static const struct vector v_ch_rcv_buf_ack = {
	{ MSG(SDP_MID_CH_RCV_BUF_ACK, 0, 4, 0), .num = 0xfffefdfc },
	20, { BSDH(0x0c, 0x00, 20), 0xff, 0xfe, 0xfd, 0xfc }
};

static const struct vector v_susp_comm = {
	{ MSG(SDP_MID_SUSP_COMM, 0, 8, 0), .service_id = 0x8000000000012345ULL },
	24, { BSDH(0x0d, 0x00, 24), 0x80, 0x00, 0x00, 0x00, 0x00, 0x01, 0x23, 0x45 }
};

static const struct vector v_susp_comm_ack = {
	{ MSG(SDP_MID_SUSP_COMM_ACK, 0, 0, 0) },
	16, { BSDH(0x0e, 0x00, 16) }
};

static const struct vector v_sink_avail = {
	{ MSG(SDP_MID_SINK_AVAIL, 0, 20, 0),
	  .avail = { 0x00100000, 0xa1a2a3a4, 0xb1b2b3b4b5b6b7b8ULL, 0xc1c2c3c4 } },
	36, { BSDH(0xfd, 0x00, 36), 0x00, 0x10, 0x00, 0x00, 0xa1, 0xa2, 0xa3, 0xa4,
	      0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xc1, 0xc2, 0xc3, 0xc4 }
};

/* More payload than the advert is long: it is the other stream's */
static const struct vector v_sink_avail_payload = {
	{ MSG(SDP_MID_SINK_AVAIL, 0, 20, 3), .avail = { 2, 1, 0, 0 } },
	39, { BSDH(0xfd, 0x00, 39), 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01,
	      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	      'a', 'b', 'c' }
};

static const struct vector v_src_avail = {
	{ MSG(SDP_MID_SRC_AVAIL, 0, 16, 0),
	  .avail = { 0xffffffff, 0xa1a2a3a4, 0xb1b2b3b4b5b6b7b8ULL, 0 } },
	32, { BSDH(0xfe, 0x00, 32), 0xff, 0xff, 0xff, 0xff, 0xa1, 0xa2, 0xa3, 0xa4,
	      0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8 }
};

/* As OFED does: a zero-based VA and some inline bytes */
static const struct vector v_src_avail_payload = {
	{ MSG(SDP_MID_SRC_AVAIL, SDP_FLAG_OOB_PEND, 16, 4),
	  .avail = { 0x10000, 0x00001234, 0xffc, 0 } },
	36, { BSDH(0xfe, 0x02, 36), 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x12, 0x34,
	      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0f, 0xfc, 'a', 'b', 'c', 'd' }
};

static const struct vector v_src_avail_one_left = {
	{ MSG(SDP_MID_SRC_AVAIL, 0, 16, 4), .avail = { 5, 0, 0, 0 } },
	36, { BSDH(0xfe, 0x00, 36), 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00,
	      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 'a', 'b', 'c', 'd' }
};

static const struct vector v_src_avail_top = {
	{ MSG(SDP_MID_SRC_AVAIL, 0, 16, 0), .avail = { 0x10, 0, 0xffffffffffffffefULL, 0 } },
	32, { BSDH(0xfe, 0x00, 32), 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,
	      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef }
};

static const struct vector v_data = {
	{ MSG(SDP_MID_DATA, SDP_FLAG_REQ_PIPE, 0, 5) },
	21, { BSDH(0xff, 0x04, 21), 'h', 'e', 'l', 'l', 'o' }
};

static const struct vector v_data_empty = {
	{ MSG(SDP_MID_DATA, 0, 0, 0) },
	16, { BSDH(0xff, 0x00, 16) }
};

static const struct vector v_data_oob = {
	{ MSG(SDP_MID_DATA, SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND, 0, 1) },
	17, { BSDH(0xff, 0x03, 17), '!' }
};

#define VECTOR_POINTER(name)	&v_##name,
static const struct vector * const vectors[] = { VECTORS(VECTOR_POINTER) };

static void decode_vector(void **state)
{
	const struct vector *v = *state;
	struct sdp_msg m;

	assert_bad(decode(v->bytes, v->len, &m), SDP_GOOD);
	assert_memory_equal(&m, &v->m, sizeof(m));
}

/* Writes a message's headers amid guard bytes, at an odd address */
static void encode_vector(void **state)
{
	const struct vector *v = *state;
	__u32 hdr = v->len - v->m.payload_len;
	struct sdp_msg m = v->m;
	__u8 *buf = xmalloc(hdr + 1);

	buf[0] = 0xa5;
	memset(buf + 1, 0xa5, hdr);
	m.ext_len = 99;
	assert_int_equal(sdp_encode(buf + 1, &m), hdr);
	assert_memory_equal(buf + 1, v->bytes, hdr);
	assert_int_equal(buf[0], 0xa5);
	assert_memory_equal(&m, &v->m, sizeof(m));
	free(buf);
}

/*
 * Refusals. Each spoils a vector at up to two places.
 */
struct patch {
	__u8	off;
	__u8	n;
	__u8	bytes[8];
};

struct refusal {
	const struct vector	*base;
	enum sdp_bad		want;
	__s32			grow;		/* added to the bytes received, and to Len */
	struct patch		patch[2];
};

#define REFUSALS(X)								\
	X(len_short, &v_data, SDP_BAD_LEN, 0, { { 7, 1, { 20 } } })		\
	X(len_long, &v_data, SDP_BAD_LEN, 0, { { 7, 1, { 22 } } })		\
	X(len_zero, &v_data_empty, SDP_BAD_LEN, 0, { { 7, 1, { 0 } } })		\
	X(len_below_bsdh, &v_data_empty, SDP_BAD_LEN, 0, { { 7, 1, { 15 } } })	\
	X(len_high_byte, &v_data, SDP_BAD_LEN, 0, { { 4, 1, { 0x80 } } })	\
	X(len_little_endian, &v_data, SDP_BAD_LEN, 0, { { 4, 4, { 21, 0, 0, 0 } } })	\
	X(mid_hello, &v_disconn, SDP_BAD_MID, 0, { { 0, 1, { 0x00 } } })	\
	X(mid_hello_ack, &v_disconn, SDP_BAD_MID, 0, { { 0, 1, { 0x01 } } })	\
	X(mid_above_control, &v_disconn, SDP_BAD_MID, 0, { { 0, 1, { 0x0f } } })	\
	X(mid_below_data, &v_data, SDP_BAD_MID, 0, { { 0, 1, { 0xfc } } })	\
	X(mid_before_len, &v_data, SDP_BAD_MID, 0,				\
	  { { 0, 1, { 0x7f } }, { 7, 1, { 0 } } })				\
	X(short_src_avail, &v_src_avail, SDP_BAD_SHORT, -1, { { 0 } })		\
	X(short_sink_avail, &v_sink_avail, SDP_BAD_SHORT, -1, { { 0 } })	\
	X(short_rdma_rd_compl, &v_rdma_rd_compl, SDP_BAD_SHORT, -1, { { 0 } })	\
	X(short_rdma_wr_compl, &v_rdma_wr_compl, SDP_BAD_SHORT, -4, { { 0 } })	\
	X(short_mode, &v_mode_pipe_recv, SDP_BAD_SHORT, -3, { { 0 } })		\
	X(short_ch_rcv_buf, &v_ch_rcv_buf, SDP_BAD_SHORT, -2, { { 0 } })	\
	X(short_ch_rcv_buf_ack, &v_ch_rcv_buf_ack, SDP_BAD_SHORT, -1, { { 0 } })	\
	X(short_susp_comm, &v_susp_comm, SDP_BAD_SHORT, -4, { { 0 } })		\
	X(payload_disconn, &v_disconn, SDP_BAD_PAYLOAD, 1, { { 0 } })		\
	X(payload_abort, &v_abort, SDP_BAD_PAYLOAD, 1, { { 0 } })		\
	X(payload_sendsm, &v_sendsm, SDP_BAD_PAYLOAD, 4, { { 0 } })		\
	X(payload_rdma_rd_compl, &v_rdma_rd_compl, SDP_BAD_PAYLOAD, 1, { { 0 } })	\
	X(payload_mode, &v_mode_comb_send, SDP_BAD_PAYLOAD, 9, { { 0 } })	\
	X(payload_susp_comm, &v_susp_comm, SDP_BAD_PAYLOAD, 1, { { 0 } })	\
	X(oob_empty_data, &v_data_empty, SDP_BAD_FLAGS, 0, { { 1, 1, { 0x01 } } })	\
	X(oob_src_avail, &v_src_avail_payload, SDP_BAD_FLAGS, 0, { { 1, 1, { 0x01 } } })	\
	X(oob_sink_avail, &v_sink_avail_payload, SDP_BAD_FLAGS, 0, { { 1, 1, { 0x01 } } })	\
	X(oob_disconn, &v_disconn, SDP_BAD_FLAGS, 0, { { 1, 1, { 0x03 } } })	\
	X(mode_undefined_recv, &v_mode_pipe_recv, SDP_BAD_MODE, 0, { { 16, 1, { 0x30 } } })	\
	X(mode_undefined_send, &v_mode_pipe_send, SDP_BAD_MODE, 0, { { 16, 1, { 0xb0 } } })	\
	X(mode_all_ones, &v_mode_pipe_send, SDP_BAD_MODE, 0, { { 16, 1, { 0xff } } })	\
	X(src_avail_nothing, &v_src_avail, SDP_BAD_ADVERT, 0, { { 16, 4, { 0 } } })	\
	X(src_avail_all_inline, &v_src_avail_one_left, SDP_BAD_ADVERT, 0, { { 19, 1, { 4 } } })	\
	X(src_avail_below_inline, &v_src_avail_one_left, SDP_BAD_ADVERT, 0,	\
	  { { 19, 1, { 3 } } })							\
	X(src_avail_wraps, &v_src_avail_top, SDP_BAD_ADVERT, 0, { { 19, 1, { 0x11 } } })	\
	X(src_avail_wraps_far, &v_src_avail, SDP_BAD_ADVERT, 0,			\
	  { { 24, 8, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } } })	\
	X(sink_avail_nothing, &v_sink_avail, SDP_BAD_ADVERT, 0, { { 16, 4, { 0 } } })	\
	X(sink_avail_wraps, &v_sink_avail, SDP_BAD_ADVERT, 0,			\
	  { { 24, 8, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 0x00, 0x00 } } })	\
	X(ch_rcv_buf_small, &v_ch_rcv_buf_smallest, SDP_BAD_RCVSZ, 0, { { 19, 1, { 35 } } })	\
	X(ch_rcv_buf_zero, &v_ch_rcv_buf, SDP_BAD_RCVSZ, 0, { { 16, 4, { 0 } } })	\
	X(ch_rcv_buf_ack_small, &v_ch_rcv_buf_ack, SDP_BAD_RCVSZ, 0,		\
	  { { 16, 4, { 0, 0, 0, 35 } } })

#define REFUSAL(name, ...)	static const struct refusal r_##name = { __VA_ARGS__ };
REFUSALS(REFUSAL)

static void apply(__u8 *bytes, const struct patch *p, unsigned int n)
{
	for (; n; n--, p++)
		memcpy(bytes + p->off, p->bytes, p->n);
}

static void refuse(void **state)
{
	const struct refusal *r = *state;
	__u8 bytes[sizeof(r->base->bytes)];
	__u32 len = r->base->len + r->grow;
	struct sdp_msg m;

	memcpy(bytes, r->base->bytes, sizeof(bytes));
	put32(bytes + 4, len);
	apply(bytes, r->patch, COUNT_OF(r->patch));
	assert_bad(decode(bytes, len, &m), r->want);

	/* What a refusal's report needs is there */
	assert_int_equal(m.mid, bytes[0]);
	assert_int_equal(m.flags, bytes[1] & 0x07);
	assert_int_equal(m.bufs, 0x0102);
	assert_int_equal(m.mseq, 0x11121314);
	assert_int_equal(m.mseq_ack, 0xf1f2f3f4);
}

static void sdp_decode__every_reason_is_tried(void **state)
{
#define REFUSAL_WANT(name, ...)	r_##name.want,
	const enum sdp_bad tried[] = { REFUSALS(REFUSAL_WANT) };
	const enum sdp_bad needed[] = {
		SDP_BAD_SHORT, SDP_BAD_LEN, SDP_BAD_MID, SDP_BAD_FLAGS, SDP_BAD_PAYLOAD,
		SDP_BAD_RCVSZ, SDP_BAD_MODE, SDP_BAD_ADVERT,
	};
	unsigned int i, j;

	(void)state;
	for (i = 0; i < COUNT_OF(needed); i++) {
		for (j = 0; j < COUNT_OF(tried) && tried[j] != needed[i]; j++)
			;
		assert_true(j < COUNT_OF(tried));
	}
}

static void sdp_decode__cut_at_every_length(void **state)
{
	struct sdp_msg m;
	unsigned int i;
	__u32 len;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		for (len = SDP_BSDH_SIZE; len < vectors[i]->len; len++)
			assert_bad(decode(vectors[i]->bytes, len, &m), SDP_BAD_LEN);
		assert_bad(decode(vectors[i]->bytes, vectors[i]->len + 1, &m), SDP_BAD_LEN);
	}
}

/* The same with a Len that agrees with the cut */
static void sdp_decode__cut_at_every_length_len_fits(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		const struct vector *v = vectors[i];
		__u32 hdr = v->len - v->m.payload_len, len;
		__u8 bytes[sizeof(v->bytes)];
		struct sdp_msg m;

		memcpy(bytes, v->bytes, sizeof(bytes));
		for (len = SDP_BSDH_SIZE; len < v->len; len++) {
			put32(bytes + 4, len);
			if (len < hdr) {
				assert_bad(decode(bytes, len, &m), SDP_BAD_SHORT);
			} else if (bytes[1] & SDP_FLAG_OOB_PRES && len == hdr) {
				assert_bad(decode(bytes, len, &m), SDP_BAD_FLAGS);
			} else {
				assert_bad(decode(bytes, len, &m), SDP_GOOD);
				assert_int_equal(m.payload_len, len - hdr);
			}
		}
	}
}

/* Bytes behind a message: more payload where there may be some, else refused */
static void sdp_decode__longer_len_fits(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		const struct vector *v = vectors[i];
		__u8 bytes[sizeof(v->bytes)];
		enum sdp_bad want = SDP_GOOD;
		struct sdp_msg m;

		memcpy(bytes, v->bytes, sizeof(bytes));
		put32(bytes + 4, v->len + 1);
		if (v->m.mid < SDP_MID_SINK_AVAIL)
			want = SDP_BAD_PAYLOAD;
		if (v == &v_src_avail_one_left)
			want = SDP_BAD_ADVERT;
		assert_bad(decode(bytes, v->len + 1, &m), want);
	}
}

static void sdp_decode__len_arithmetic_does_not_wrap(void **state)
{
	__u8 bytes[] = { BSDH(0xff, 0x00, 0) };
	struct sdp_msg m;

	(void)state;
	/* 16 + 0xfffffff0 is 0 in 32 bits */
	assert_bad(sdp_decode((void *)bytes, NULL, 0xfffffff0, &m), SDP_BAD_LEN);
	bytes[7] = 8;
	assert_bad(sdp_decode((void *)bytes, NULL, 0xfffffff8, &m), SDP_BAD_LEN);
}

static void sdp_decode__largest_len(void **state)
{
	__u8 bytes[] = { BSDH(0xff, 0x00, 0) };
	struct sdp_msg m;

	(void)state;
	put32(bytes + 4, 0xffffffff);
	assert_bad(sdp_decode((void *)bytes, NULL, 0xffffffef, &m), SDP_GOOD);
	assert_int_equal(m.payload_len, 0xffffffef);
}

/* The body may be anywhere, and only its extended header need be readable */
static void sdp_decode__unaligned_and_payload_unread(void **state)
{
	unsigned int i, shift;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		for (shift = 0; shift < 8; shift++) {
			const struct vector *v = vectors[i];
			__u8 *bsdh = xmalloc(shift + SDP_BSDH_SIZE);
			__u8 *body = xmalloc(shift + v->m.ext_len);
			struct sdp_msg m;

			memcpy(bsdh + shift, v->bytes, SDP_BSDH_SIZE);
			memcpy(body + shift, v->bytes + SDP_BSDH_SIZE, v->m.ext_len);
			assert_bad(sdp_decode((void *)(bsdh + shift), body + shift,
					      v->len - SDP_BSDH_SIZE, &m), SDP_GOOD);
			assert_memory_equal(&m, &v->m, sizeof(m));
			free(body);
			free(bsdh);
		}
	}
}

static void sdp_decode__every_mid(void **state)
{
	__u8 bytes[SDP_BSDH_SIZE + SDP_EXT_MAX] = { 0 };
	unsigned int mid;
	struct sdp_msg m;

	(void)state;
	bytes[19] = 36;			/* a sane number or advert for all of them */
	for (mid = 0; mid < 256; mid++) {
		int known = (mid >= 0x02 && mid <= 0x0e) || mid >= 0xfd;
		__u32 len = SDP_BSDH_SIZE + (known ? sdp_ext_len(mid) : 0);

		bytes[0] = mid;
		bytes[16] = 0;
		put32(bytes + 4, len);
		assert_bad(decode(bytes, len, &m), known ? SDP_GOOD : SDP_BAD_MID);
		assert_int_equal(m.mid, mid);
	}
}

static void sdp_decode__reserved_flags_ignored(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		__u8 bytes[sizeof(vectors[i]->bytes)];
		struct sdp_msg m;

		memcpy(bytes, vectors[i]->bytes, sizeof(bytes));
		bytes[1] |= 0xf8;
		assert_bad(decode(bytes, vectors[i]->len, &m), SDP_GOOD);
		assert_memory_equal(&m, &vectors[i]->m, sizeof(m));
	}
}

static void sdp_decode__pend_and_pipe_on_any(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		__u8 bytes[sizeof(vectors[i]->bytes)];
		struct sdp_msg m;

		memcpy(bytes, vectors[i]->bytes, sizeof(bytes));
		bytes[1] |= SDP_FLAG_OOB_PEND | SDP_FLAG_REQ_PIPE;
		assert_bad(decode(bytes, vectors[i]->len, &m), SDP_GOOD);
		assert_int_equal(m.flags, bytes[1]);
	}
}

static void sdp_decode__oob_on_data_only(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT_OF(vectors); i++) {
		const struct vector *v = vectors[i];
		int fine = v->m.mid == SDP_MID_DATA && v->m.payload_len;
		__u8 bytes[sizeof(v->bytes)];
		struct sdp_msg m;

		memcpy(bytes, v->bytes, sizeof(bytes));
		bytes[1] = SDP_FLAG_OOB_PRES;
		assert_bad(decode(bytes, v->len, &m), fine ? SDP_GOOD : SDP_BAD_FLAGS);
	}
}

static void sdp_decode__mode_reserved_ignored(void **state)
{
	static const __u8 bytes[] = { BSDH(0x07, 0x00, 20), 0x9f, 0xff, 0xff, 0xff };
	struct sdp_msg m;

	(void)state;
	assert_bad(decode(bytes, sizeof(bytes), &m), SDP_GOOD);
	assert_memory_equal(&m, &v_mode_comb_send.m, sizeof(m));
}

static void sdp_encode__no_such_message(void **state)
{
	unsigned int mid;

	(void)state;
	for (mid = 0; mid < 256; mid++) {
		struct sdp_msg m = { .mid = mid };
		__u8 buf[SDP_BSDH_SIZE + SDP_EXT_MAX];
		unsigned int i;

		if ((mid >= 0x02 && mid <= 0x0e) || mid >= 0xfd)
			continue;
		memset(buf, 0xa5, sizeof(buf));
		assert_int_equal(sdp_encode(buf, &m), 0);
		for (i = 0; i < sizeof(buf); i++)
			assert_int_equal(buf[i], 0xa5);
	}
}

static void sdp_encode__reserved_bits_zero(void **state)
{
	struct sdp_msg m = v_mode_pipe_send.m;
	__u8 buf[20];

	(void)state;
	memset(buf, 0xff, sizeof(buf));
	m.flags = 0xff;
	m.mode.half = 0xff;
	m.mode.mode = 0xfa;
	sdp_encode(buf, &m);
	assert_int_equal(buf[1], 0x07);
	assert_int_equal(buf[16], 0xa0);
	assert_int_equal(buf[17] | buf[18] | buf[19], 0);
	m.mode.half = SDP_HALF_RECV;
	sdp_encode(buf, &m);
	assert_int_equal(buf[16], 0x20);
}

static void rnd_ext(struct sdp_msg *m)
{
	switch (m->mid) {
	case SDP_MID_SINK_AVAIL:
		m->avail.non_discards = rnd_edgy();
		/* fallthrough */
	case SDP_MID_SRC_AVAIL:
		m->avail.rkey = rnd_edgy();
		m->avail.len = rnd_edgy() | 1;
		m->avail.va = rnd_upto(1) ? rnd64() >> 1 : ~(__u64)m->avail.len;
		if (m->mid == SDP_MID_SRC_AVAIL && m->payload_len >= m->avail.len)
			m->payload_len = m->avail.len - 1;
		break;
	case SDP_MID_MODE_CHANGE:
		m->mode.half = rnd_upto(1);
		m->mode.mode = rnd_upto(2);
		break;
	case SDP_MID_SUSP_COMM:
		m->service_id = rnd64();
		break;
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
		m->num = rnd_edgy();
		break;
	case SDP_MID_CH_RCV_BUF:
	case SDP_MID_CH_RCV_BUF_ACK:
		m->num = rnd_edgy();
		if (m->num < SDP_MIN_RCV_SIZE)
			m->num += SDP_MIN_RCV_SIZE;
		break;
	}
}

/* Any message that may be sent */
static struct sdp_msg rnd_msg(void)
{
	struct sdp_msg m;

	memset(&m, 0, sizeof(m));
	m.mid = rnd_upto(1) ? 0xfd + rnd_upto(2) : 0x02 + rnd_upto(0x0c);
	m.flags = rnd() & (SDP_FLAG_OOB_PEND | SDP_FLAG_REQ_PIPE);
	m.bufs = rnd_edgy();
	m.mseq = rnd_edgy();
	m.mseq_ack = rnd_edgy();
	if (m.mid >= SDP_MID_SINK_AVAIL)
		m.payload_len = rnd_edgy() >> 1;
	if (m.mid == SDP_MID_DATA && m.payload_len)
		m.flags |= rnd() & SDP_FLAG_OOB_PRES;
	rnd_ext(&m);
	return m;
}

static void sdp_encode__round_trip(void **state)
{
	unsigned int i;

	(void)state;
	seed_rnd();
	for (i = 0; i < 300000; i++) {
		struct sdp_msg in = rnd_msg(), out;
		__u8 a[SDP_BSDH_SIZE + SDP_EXT_MAX], b[sizeof(a)];
		__u32 hdr = sdp_encode(a, &in);

		assert_int_equal(hdr, SDP_BSDH_SIZE + sdp_ext_len(in.mid));
		assert_bad(sdp_decode((void *)a, a + SDP_BSDH_SIZE,
				      in.ext_len + in.payload_len, &out), SDP_GOOD);
		assert_memory_equal(&in, &out, sizeof(in));
		assert_int_equal(sdp_encode(b, &out), hdr);
		assert_memory_equal(a, b, hdr);
	}
}

/*
 * Hello. The first vector is what OFED sends, the second uses all there is.
 */
static const __u8 hello_ofed[SDP_HELLO_SIZE] = {
	0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x5c, 0, 0, 0, 0, 0, 0, 0, 0,
	0x22, 0x40, 0x00, 0x01, 0x00, 0x00, 0x80, 0x10, 0x00, 0x00, 0x80, 0x10, 0x81, 0x02, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 168, 254, 2,
};

static const struct sdp_hello hello_ofed_is = {
	.version = 0x22, .ipv = 4, .caps = 0, .bufs = 64, .max_adverts = 1,
	.des_rem_rcv_sz = 32784, .local_rcv_sz = 32784, .port = 0x8102,
	.src_ip = { [12] = 10, 0, 0, 1 }, .dst_ip = { [12] = 192, 168, 254, 2 },
};

static const __u8 hello_full[SDP_HELLO_SIZE] = {
	0x00, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x00, 0x5c, 0, 0, 0, 0, 0, 0, 0, 0,
	0x22, 0x63, 0x00, 0xff, 0xf1, 0xf2, 0xf3, 0xf4, 0x81, 0x82, 0x83, 0x84, 0xff, 0xff, 0, 0,
	0xfe, 0x80, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	0x20, 0x01, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	0x00, 0x00, 0x01, 0x40,
};

static const struct sdp_hello hello_full_is = {
	.version = 0x22, .ipv = 6, .caps = SDP_CAP_INVALIDATE | SDP_CAP_EXT_ADVERTS,
	.bufs = 0xfffe, .max_adverts = 320,
	.des_rem_rcv_sz = 0xf1f2f3f4, .local_rcv_sz = 0x81828384, .port = 0xffff,
	.src_ip = { 0xfe, 0x80, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	.dst_ip = { 0x20, 0x01, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 },
};

static enum sdp_bad decode_hello(const __u8 *bytes, __u32 len, struct sdp_hello *h)
{
	void *buf = dup_bytes(bytes, len);
	enum sdp_bad bad;

	memset(h, 0xa5, sizeof(*h));
	bad = sdp_decode_hello(buf, len, h);
	free(buf);
	return bad;
}

static void sdp_decode_hello__ofed(void **state)
{
	struct sdp_hello h;

	(void)state;
	assert_bad(decode_hello(hello_ofed, sizeof(hello_ofed), &h), SDP_GOOD);
	assert_memory_equal(&h, &hello_ofed_is, sizeof(h));
}

static void sdp_decode_hello__full(void **state)
{
	struct sdp_hello h;

	(void)state;
	assert_bad(decode_hello(hello_full, sizeof(hello_full), &h), SDP_GOOD);
	assert_memory_equal(&h, &hello_full_is, sizeof(h));
}

static void sdp_decode_hello__cut_at_every_length(void **state)
{
	static const struct sdp_hello zero;
	struct sdp_hello h;
	__u32 len;

	(void)state;
	for (len = 0; len < SDP_HELLO_SIZE; len++) {
		assert_bad(decode_hello(hello_full, len, &h), SDP_BAD_SHORT);
		assert_memory_equal(&h, &zero, sizeof(h));
	}
}

static void sdp_decode_hello__longer(void **state)
{
	__u8 bytes[256];
	struct sdp_hello h;
	__u32 len;

	(void)state;
	memset(bytes, 0xa5, sizeof(bytes));
	memcpy(bytes, hello_ofed, sizeof(hello_ofed));
	for (len = SDP_HELLO_SIZE; len <= sizeof(bytes); len++)
		assert_bad(decode_hello(bytes, len, &h), SDP_GOOD);
	assert_memory_equal(&h, &hello_ofed_is, sizeof(h));
	bytes[7] = 93;
	assert_bad(decode_hello(bytes, 93, &h), SDP_BAD_LEN);
}

static void sdp_decode_hello__unaligned(void **state)
{
	unsigned int shift;

	(void)state;
	for (shift = 0; shift < 8; shift++) {
		__u8 *buf = xmalloc(shift + SDP_HELLO_SIZE);
		struct sdp_hello h;

		memcpy(buf + shift, hello_full, SDP_HELLO_SIZE);
		assert_bad(sdp_decode_hello(buf + shift, SDP_HELLO_SIZE, &h), SDP_GOOD);
		assert_memory_equal(&h, &hello_full_is, sizeof(h));
		free(buf);
	}
}

static void sdp_decode_hello__reserved_ignored(void **state)
{
	static const __u8 reserved[] = { 1, 8, 9, 10, 11, 12, 13, 14, 15, 18, 30, 31, 64, 65 };
	__u8 bytes[SDP_HELLO_SIZE];
	struct sdp_hello h;
	unsigned int i;

	(void)state;
	memcpy(bytes, hello_full, sizeof(bytes));
	for (i = 0; i < COUNT_OF(reserved); i++)
		bytes[reserved[i]] = 0xff;
	memset(bytes + 68, 0xff, 24);
	bytes[17] |= 0x0c;
	assert_bad(decode_hello(bytes, sizeof(bytes), &h), SDP_GOOD);
	assert_memory_equal(&h, &hello_full_is, sizeof(h));
}

/* What isn't the address is not to be seen by whoever compares addresses */
static void sdp_decode_hello__ipv4_rest_zeroed(void **state)
{
	__u8 bytes[SDP_HELLO_SIZE];
	struct sdp_hello h;

	(void)state;
	memcpy(bytes, hello_ofed, sizeof(bytes));
	memset(bytes + 32, 0xff, 12);
	memset(bytes + 48, 0xff, 12);
	assert_bad(decode_hello(bytes, sizeof(bytes), &h), SDP_GOOD);
	assert_memory_equal(&h, &hello_ofed_is, sizeof(h));
}

/* A Hello or HelloAck spoilt, or changed so that it is just good */
struct setup_case {
	const __u8	*base;
	enum sdp_bad	want;
	struct patch	patch[3];
};

#define HELLO_CASES(X)								\
	X(mid_ack, hello_ofed, SDP_BAD_MID, { { 0, 1, { 0x01 } } })		\
	X(mid_data, hello_ofed, SDP_BAD_MID, { { 0, 1, { 0xff } } })		\
	X(len_zero, hello_ofed, SDP_BAD_LEN, { { 7, 1, { 0 } } })		\
	X(len_91, hello_ofed, SDP_BAD_LEN, { { 7, 1, { 91 } } })		\
	X(len_93, hello_ofed, SDP_BAD_LEN, { { 7, 1, { 93 } } })		\
	X(len_high_byte, hello_ofed, SDP_BAD_LEN, { { 4, 1, { 1 } } })		\
	X(version_1_1, hello_ofed, SDP_BAD_VERSION, { { 16, 1, { 0x11 } } })	\
	X(version_3_2, hello_ofed, SDP_BAD_VERSION, { { 16, 1, { 0x32 } } })	\
	X(version_0, hello_ofed, SDP_BAD_VERSION, { { 16, 1, { 0x02 } } })	\
	X(minor_0, hello_ofed, SDP_GOOD, { { 16, 1, { 0x20 } } })		\
	X(minor_15, hello_ofed, SDP_GOOD, { { 16, 1, { 0x2f } } })		\
	X(ipv_0, hello_ofed, SDP_BAD_IPV, { { 17, 1, { 0x00 } } })		\
	X(ipv_2, hello_ofed, SDP_BAD_IPV, { { 17, 1, { 0x20 } } })		\
	X(ipv_5, hello_ofed, SDP_BAD_IPV, { { 17, 1, { 0x50 } } })		\
	X(ipv_15, hello_ofed, SDP_BAD_IPV, { { 17, 1, { 0xf0 } } })		\
	X(ipv_swapped_nibbles, hello_ofed, SDP_BAD_IPV, { { 17, 1, { 0x04 } } })	\
	X(ipv_6, hello_ofed, SDP_GOOD, { { 17, 1, { 0x60 } } })			\
	X(adverts_0, hello_ofed, SDP_BAD_ADVERTS, { { 19, 1, { 0 } } })		\
	X(adverts_0_both, hello_full, SDP_BAD_ADVERTS,				\
	  { { 19, 1, { 0 } }, { 66, 2, { 0, 0 } } })				\
	X(adverts_0_ext_without_cap, hello_full, SDP_BAD_ADVERTS,		\
	  { { 17, 1, { 0x61 } }, { 19, 1, { 0 } } })				\
	X(adverts_ext_only, hello_full, SDP_GOOD, { { 19, 1, { 0 } } })		\
	X(rcvsz_0, hello_ofed, SDP_BAD_RCVSZ, { { 24, 4, { 0 } } })		\
	X(rcvsz_16, hello_ofed, SDP_BAD_RCVSZ, { { 24, 4, { 0, 0, 0, 16 } } })	\
	X(rcvsz_35, hello_ofed, SDP_BAD_RCVSZ, { { 24, 4, { 0, 0, 0, 35 } } })	\
	X(rcvsz_36, hello_ofed, SDP_GOOD, { { 24, 4, { 0, 0, 0, 36 } } })	\
	X(rcvsz_max, hello_ofed, SDP_GOOD, { { 24, 4, { 0xff, 0xff, 0xff, 0xff } } })	\
	X(des_rem_rcvsz_0, hello_ofed, SDP_GOOD, { { 20, 4, { 0 } } })		\
	X(bufs_0, hello_ofed, SDP_BAD_BUFS, { { 2, 2, { 0, 0 } } })		\
	X(bufs_2, hello_ofed, SDP_BAD_BUFS, { { 2, 2, { 0, 2 } } })		\
	X(bufs_3, hello_ofed, SDP_GOOD, { { 2, 2, { 0, 3 } } })			\
	X(bufs_65535, hello_ofed, SDP_GOOD, { { 2, 2, { 0xff, 0xff } } })	\
	X(mid_before_len, hello_ofed, SDP_BAD_MID,				\
	  { { 0, 1, { 0x02 } }, { 7, 1, { 0 } }, { 16, 1, { 0 } } })		\
	X(len_before_version, hello_ofed, SDP_BAD_LEN,				\
	  { { 7, 1, { 0 } }, { 16, 1, { 0 } } })				\
	X(version_before_rest, hello_ofed, SDP_BAD_VERSION,			\
	  { { 16, 4, { 0x11, 0x00, 0x00, 0x00 } }, { 2, 2, { 0, 0 } } })

#define HELLO_CASE(name, ...)	static const struct setup_case h_##name = { __VA_ARGS__ };
HELLO_CASES(HELLO_CASE)

static void hello_case(void **state)
{
	const struct setup_case *c = *state;
	__u8 bytes[SDP_HELLO_SIZE];
	struct sdp_hello h;

	memcpy(bytes, c->base, sizeof(bytes));
	apply(bytes, c->patch, COUNT_OF(c->patch));
	assert_bad(decode_hello(bytes, sizeof(bytes), &h), c->want);
	/* Reported whatever the verdict */
	assert_int_equal(h.version, bytes[16]);
	assert_int_equal(h.ipv, bytes[17] >> 4);
	assert_int_equal(h.bufs, bytes[2] << 8 | bytes[3]);
}

static void sdp_decode_hello__adverts_field(void **state)
{
	__u8 bytes[SDP_HELLO_SIZE];
	struct sdp_hello h;

	(void)state;
	memcpy(bytes, hello_full, sizeof(bytes));
	bytes[19] = 7;
	bytes[17] = 0x61;
	decode_hello(bytes, sizeof(bytes), &h);
	assert_int_equal(h.max_adverts, 7);	/* no capability: the field doesn't count */
	bytes[17] = 0x62;
	decode_hello(bytes, sizeof(bytes), &h);
	assert_int_equal(h.max_adverts, 320);
	bytes[66] = 0;
	bytes[67] = 0;
	decode_hello(bytes, sizeof(bytes), &h);
	assert_int_equal(h.max_adverts, 7);	/* capability, but the field unused */
}

static void encode_hello(const struct sdp_hello *h, __u8 *bytes)
{
	__u8 *buf = xmalloc(SDP_HELLO_SIZE + 1);

	memset(buf, 0xa5, SDP_HELLO_SIZE + 1);
	sdp_encode_hello(buf + 1, h);
	assert_int_equal(buf[0], 0xa5);
	memcpy(bytes, buf + 1, SDP_HELLO_SIZE);
	free(buf);
}

static void sdp_encode_hello__ofed(void **state)
{
	__u8 bytes[SDP_HELLO_SIZE];

	(void)state;
	encode_hello(&hello_ofed_is, bytes);
	assert_memory_equal(bytes, hello_ofed, sizeof(bytes));
}

static void sdp_encode_hello__full(void **state)
{
	__u8 bytes[SDP_HELLO_SIZE];

	(void)state;
	encode_hello(&hello_full_is, bytes);
	assert_memory_equal(bytes, hello_full, sizeof(bytes));
}

static void sdp_encode_hello__ipv4_rest_zeroed(void **state)
{
	struct sdp_hello h = hello_ofed_is;
	__u8 bytes[SDP_HELLO_SIZE];

	(void)state;
	memset(h.src_ip, 0xff, 12);
	memset(h.dst_ip, 0xff, 12);
	encode_hello(&h, bytes);
	assert_memory_equal(bytes, hello_ofed, sizeof(bytes));
}

static void sdp_encode_hello__reserved_caps_zero(void **state)
{
	struct sdp_hello h = hello_full_is;
	__u8 bytes[SDP_HELLO_SIZE];

	(void)state;
	h.caps = 0xff;
	encode_hello(&h, bytes);
	assert_memory_equal(bytes, hello_full, sizeof(bytes));
}

static void sdp_encode_hello__adverts_clamped(void **state)
{
	static const struct {
		__u16 adverts;
		__u8 caps, field, ext_high, ext_low;
	} cases[] = {
		{ 1, 0, 1, 0, 0 },
		{ 255, 0, 255, 0, 0 },
		{ 256, 0, 255, 0, 0 },
		{ 65535, SDP_CAP_INVALIDATE, 255, 0, 0 },
		{ 1, SDP_CAP_EXT_ADVERTS, 1, 0, 1 },
		{ 254, SDP_CAP_EXT_ADVERTS, 254, 0, 254 },
		{ 255, SDP_CAP_EXT_ADVERTS, 255, 0, 255 },
		{ 256, SDP_CAP_EXT_ADVERTS, 255, 1, 0 },
		{ 65535, SDP_CAP_EXT_ADVERTS, 255, 255, 255 },
	};
	__u8 bytes[SDP_HELLO_SIZE];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT_OF(cases); i++) {
		struct sdp_hello h = hello_ofed_is;

		h.max_adverts = cases[i].adverts;
		h.caps = cases[i].caps;
		encode_hello(&h, bytes);
		assert_int_equal(bytes[19], cases[i].field);
		assert_int_equal(bytes[66], cases[i].ext_high);
		assert_int_equal(bytes[67], cases[i].ext_low);
	}
}

static struct sdp_hello rnd_hello(void)
{
	struct sdp_hello h;
	unsigned int i;

	memset(&h, 0, sizeof(h));
	h.version = 0x20 + rnd_upto(15);
	h.ipv = rnd_upto(1) ? 4 : 6;
	h.caps = rnd_upto(3);
	h.bufs = SDP_MIN_BUFS + rnd_upto(65535 - SDP_MIN_BUFS);
	h.max_adverts = 1 + rnd_upto(h.caps & SDP_CAP_EXT_ADVERTS ? 65534 : 254);
	h.des_rem_rcv_sz = rnd_edgy();
	h.local_rcv_sz = rnd_edgy();
	if (h.local_rcv_sz < SDP_MIN_RCV_SIZE)
		h.local_rcv_sz = SDP_MIN_RCV_SIZE;
	h.port = rnd();
	for (i = h.ipv == 4 ? 12 : 0; i < 16; i++) {
		h.src_ip[i] = rnd();
		h.dst_ip[i] = rnd();
	}
	return h;
}

static void sdp_encode_hello__round_trip(void **state)
{
	unsigned int i;

	(void)state;
	seed_rnd();
	for (i = 0; i < 50000; i++) {
		struct sdp_hello in = rnd_hello(), out;
		__u8 bytes[SDP_HELLO_SIZE];

		sdp_encode_hello(bytes, &in);
		assert_bad(sdp_decode_hello(bytes, sizeof(bytes), &out), SDP_GOOD);
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

/*
 * HelloAck.
 */
static const __u8 ack_ofed[SDP_HELLO_ACK_SIZE] = {
	0x01, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0xc4, 0, 0, 0, 0, 0, 0, 0, 0,
	0x22, 0x00, 0x00, 0x01, 0x00, 0x00, 0x80, 0x10,
};

static const struct sdp_hello_ack ack_ofed_is = {
	.version = 0x22, .caps = 0, .bufs = 64, .max_adverts = 1, .act_rcv_sz = 32784,
};

static const __u8 ack_full[SDP_HELLO_ACK_SIZE] = {
	0x01, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x00, 0xc4, 0, 0, 0, 0, 0, 0, 0, 0,
	0x22, 0x03, 0x00, 0xff, 0x81, 0x82, 0x83, 0x84,
};

static const struct sdp_hello_ack ack_full_is = {
	.version = 0x22, .caps = SDP_CAP_INVALIDATE | SDP_CAP_EXT_ADVERTS,
	.bufs = 0xfffe, .max_adverts = 255, .act_rcv_sz = 0x81828384,
};

static enum sdp_bad decode_ack(const __u8 *bytes, __u32 len, struct sdp_hello_ack *h)
{
	void *buf = dup_bytes(bytes, len);
	enum sdp_bad bad;

	memset(h, 0xa5, sizeof(*h));
	bad = sdp_decode_hello_ack(buf, len, h);
	free(buf);
	return bad;
}

static void sdp_decode_hello_ack__ofed(void **state)
{
	struct sdp_hello_ack h;

	(void)state;
	assert_bad(decode_ack(ack_ofed, sizeof(ack_ofed), &h), SDP_GOOD);
	assert_memory_equal(&h, &ack_ofed_is, sizeof(h));
}

static void sdp_decode_hello_ack__full(void **state)
{
	struct sdp_hello_ack h;

	(void)state;
	assert_bad(decode_ack(ack_full, sizeof(ack_full), &h), SDP_GOOD);
	assert_memory_equal(&h, &ack_full_is, sizeof(h));
}

static void sdp_decode_hello_ack__cut_at_every_length(void **state)
{
	static const struct sdp_hello_ack zero;
	struct sdp_hello_ack h;
	__u32 len;

	(void)state;
	for (len = 0; len < SDP_HELLO_ACK_SIZE; len++) {
		assert_bad(decode_ack(ack_full, len, &h), SDP_BAD_SHORT);
		assert_memory_equal(&h, &zero, sizeof(h));
	}
}

static void sdp_decode_hello_ack__longer(void **state)
{
	__u8 bytes[256];
	struct sdp_hello_ack h;
	__u32 len;

	(void)state;
	memset(bytes, 0xa5, sizeof(bytes));
	memcpy(bytes, ack_ofed, sizeof(ack_ofed));
	for (len = SDP_HELLO_ACK_SIZE; len <= sizeof(bytes); len++)
		assert_bad(decode_ack(bytes, len, &h), SDP_GOOD);
	bytes[7] = 197;
	assert_bad(decode_ack(bytes, 197, &h), SDP_BAD_LEN);
}

static void sdp_decode_hello_ack__unaligned(void **state)
{
	unsigned int shift;

	(void)state;
	for (shift = 0; shift < 8; shift++) {
		__u8 *buf = xmalloc(shift + SDP_HELLO_ACK_SIZE);
		struct sdp_hello_ack h;

		memcpy(buf + shift, ack_full, SDP_HELLO_ACK_SIZE);
		assert_bad(sdp_decode_hello_ack(buf + shift, SDP_HELLO_ACK_SIZE, &h), SDP_GOOD);
		assert_memory_equal(&h, &ack_full_is, sizeof(h));
		free(buf);
	}
}

static void sdp_decode_hello_ack__reserved_ignored(void **state)
{
	__u8 bytes[SDP_HELLO_ACK_SIZE];
	struct sdp_hello_ack h;

	(void)state;
	memcpy(bytes, ack_full, sizeof(bytes));
	bytes[1] = 0xff;
	memset(bytes + 8, 0xff, 8);
	bytes[17] |= 0xfc;
	bytes[18] = 0xff;
	memset(bytes + 24, 0xff, 172);
	assert_bad(decode_ack(bytes, sizeof(bytes), &h), SDP_GOOD);
	assert_memory_equal(&h, &ack_full_is, sizeof(h));
}

#define ACK_CASES(X)								\
	X(mid_hello, ack_ofed, SDP_BAD_MID, { { 0, 1, { 0x00 } } })		\
	X(mid_data, ack_ofed, SDP_BAD_MID, { { 0, 1, { 0xff } } })		\
	X(len_zero, ack_ofed, SDP_BAD_LEN, { { 7, 1, { 0 } } })			\
	X(len_92, ack_ofed, SDP_BAD_LEN, { { 7, 1, { 92 } } })			\
	X(len_197, ack_ofed, SDP_BAD_LEN, { { 7, 1, { 197 } } })		\
	X(version_1_1, ack_ofed, SDP_BAD_VERSION, { { 16, 1, { 0x11 } } })	\
	X(version_3_2, ack_ofed, SDP_BAD_VERSION, { { 16, 1, { 0x32 } } })	\
	X(minor_0, ack_ofed, SDP_GOOD, { { 16, 1, { 0x20 } } })			\
	X(adverts_0, ack_ofed, SDP_BAD_ADVERTS, { { 19, 1, { 0 } } })		\
	X(rcvsz_0, ack_ofed, SDP_BAD_RCVSZ, { { 20, 4, { 0 } } })		\
	X(rcvsz_35, ack_ofed, SDP_BAD_RCVSZ, { { 20, 4, { 0, 0, 0, 35 } } })	\
	X(rcvsz_36, ack_ofed, SDP_GOOD, { { 20, 4, { 0, 0, 0, 36 } } })		\
	X(rcvsz_max, ack_ofed, SDP_GOOD, { { 20, 4, { 0xff, 0xff, 0xff, 0xff } } })	\
	X(bufs_0, ack_ofed, SDP_BAD_BUFS, { { 2, 2, { 0, 0 } } })		\
	X(bufs_2, ack_ofed, SDP_BAD_BUFS, { { 2, 2, { 0, 2 } } })		\
	X(bufs_3, ack_ofed, SDP_GOOD, { { 2, 2, { 0, 3 } } })			\
	X(mid_before_len, ack_ofed, SDP_BAD_MID,				\
	  { { 0, 1, { 0x02 } }, { 7, 1, { 0 } }, { 16, 1, { 0 } } })

#define ACK_CASE(name, ...)	static const struct setup_case a_##name = { __VA_ARGS__ };
ACK_CASES(ACK_CASE)

static void ack_case(void **state)
{
	const struct setup_case *c = *state;
	__u8 bytes[SDP_HELLO_ACK_SIZE];
	struct sdp_hello_ack h;

	memcpy(bytes, c->base, sizeof(bytes));
	apply(bytes, c->patch, COUNT_OF(c->patch));
	assert_bad(decode_ack(bytes, sizeof(bytes), &h), c->want);
	assert_int_equal(h.version, bytes[16]);
}

static void encode_ack(const struct sdp_hello_ack *h, __u8 *bytes)
{
	__u8 *buf = xmalloc(SDP_HELLO_ACK_SIZE + 1);

	memset(buf, 0xa5, SDP_HELLO_ACK_SIZE + 1);
	sdp_encode_hello_ack(buf + 1, h);
	assert_int_equal(buf[0], 0xa5);
	memcpy(bytes, buf + 1, SDP_HELLO_ACK_SIZE);
	free(buf);
}

static void sdp_encode_hello_ack__ofed(void **state)
{
	__u8 bytes[SDP_HELLO_ACK_SIZE];

	(void)state;
	encode_ack(&ack_ofed_is, bytes);
	assert_memory_equal(bytes, ack_ofed, sizeof(bytes));
}

static void sdp_encode_hello_ack__full(void **state)
{
	struct sdp_hello_ack h = ack_full_is;
	__u8 bytes[SDP_HELLO_ACK_SIZE];

	(void)state;
	encode_ack(&h, bytes);
	assert_memory_equal(bytes, ack_full, sizeof(bytes));
	h.caps = 0xff;
	h.max_adverts = 256;
	encode_ack(&h, bytes);
	assert_memory_equal(bytes, ack_full, sizeof(bytes));
}

static void sdp_encode_hello_ack__round_trip(void **state)
{
	unsigned int i;

	(void)state;
	seed_rnd();
	for (i = 0; i < 50000; i++) {
		struct sdp_hello_ack in, out;
		__u8 bytes[SDP_HELLO_ACK_SIZE];

		memset(&in, 0, sizeof(in));
		in.version = 0x20 + rnd_upto(15);
		in.caps = rnd_upto(3);
		in.bufs = SDP_MIN_BUFS + rnd_upto(65535 - SDP_MIN_BUFS);
		in.max_adverts = 1 + rnd_upto(254);
		in.act_rcv_sz = SDP_MIN_RCV_SIZE + rnd_upto(0xffffffff - SDP_MIN_RCV_SIZE - 1);
		sdp_encode_hello_ack(bytes, &in);
		assert_bad(sdp_decode_hello_ack(bytes, sizeof(bytes), &out), SDP_GOOD);
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

/*
 * Names and lengths.
 */
static void sdp_ext_len__every_mid(void **state)
{
	static const struct {
		__u8 mid;
		int len;
	} known[] = {
		{ 0x00, 76 }, { 0x01, 180 }, { 0x02, 0 }, { 0x03, 0 }, { 0x04, 0 }, { 0x05, 4 },
		{ 0x06, 4 }, { 0x07, 4 }, { 0x08, 0 }, { 0x09, 0 }, { 0x0a, 0 }, { 0x0b, 4 },
		{ 0x0c, 4 }, { 0x0d, 8 }, { 0x0e, 0 }, { 0xfd, 20 }, { 0xfe, 16 }, { 0xff, 0 },
	};
	unsigned int mid, i = 0;

	(void)state;
	for (mid = 0; mid < 256; mid++) {
		int want = -1;

		if (i < COUNT_OF(known) && known[i].mid == mid)
			want = known[i++].len;
		assert_int_equal(sdp_ext_len(mid), want);
	}
	assert_int_equal(i, COUNT_OF(known));
}

static void sdp_mid_str__every_mid(void **state)
{
	unsigned int mid, other;

	(void)state;
	for (mid = 0; mid < 256; mid++) {
		const char *name = sdp_mid_str(mid);

		assert_non_null(name);
		if (sdp_ext_len(mid) < 0) {
			assert_string_equal(name, "unknown");
			continue;
		}
		assert_string_not_equal(name, "unknown");
		for (other = 0; other < mid; other++)
			assert_string_not_equal(name, sdp_mid_str(other));
	}
}

static void sdp_mid_str__spelling(void **state)
{
	(void)state;
	assert_string_equal(sdp_mid_str(SDP_MID_HELLO), "Hello");
	assert_string_equal(sdp_mid_str(SDP_MID_HELLO_ACK), "HelloAck");
	assert_string_equal(sdp_mid_str(SDP_MID_DISCONN), "DisConn");
	assert_string_equal(sdp_mid_str(SDP_MID_ABORT), "AbortConn");
	assert_string_equal(sdp_mid_str(SDP_MID_SENDSM), "SendSm");
	assert_string_equal(sdp_mid_str(SDP_MID_RDMA_WR_COMPL), "RdmaWrCompl");
	assert_string_equal(sdp_mid_str(SDP_MID_RDMA_RD_COMPL), "RdmaRdCompl");
	assert_string_equal(sdp_mid_str(SDP_MID_MODE_CHANGE), "ModeChange");
	assert_string_equal(sdp_mid_str(SDP_MID_SRC_AVAIL_CANCEL), "SrcAvailCancel");
	assert_string_equal(sdp_mid_str(SDP_MID_SINK_AVAIL_CANCEL), "SinkAvailCancel");
	assert_string_equal(sdp_mid_str(SDP_MID_SINK_CANCEL_ACK), "SinkCancelAck");
	assert_string_equal(sdp_mid_str(SDP_MID_CH_RCV_BUF), "ChRcvBuf");
	assert_string_equal(sdp_mid_str(SDP_MID_CH_RCV_BUF_ACK), "ChRcvBufAck");
	assert_string_equal(sdp_mid_str(SDP_MID_SUSP_COMM), "SuspComm");
	assert_string_equal(sdp_mid_str(SDP_MID_SUSP_COMM_ACK), "SuspCommAck");
	assert_string_equal(sdp_mid_str(SDP_MID_SINK_AVAIL), "SinkAvail");
	assert_string_equal(sdp_mid_str(SDP_MID_SRC_AVAIL), "SrcAvail");
	assert_string_equal(sdp_mid_str(SDP_MID_DATA), "Data");
}

static void sdp_bad_str__every_reason(void **state)
{
	int bad, other;

	(void)state;
	for (bad = 0; bad < SDP_BAD_MAX; bad++) {
		const char *name = sdp_bad_str(bad);

		assert_non_null(name);
		assert_string_not_equal(name, "unknown");
		for (other = 0; other < bad; other++)
			assert_string_not_equal(name, sdp_bad_str(other));
	}
}

static void sdp_bad_str__out_of_range(void **state)
{
	(void)state;
	assert_string_equal(sdp_bad_str(SDP_BAD_MAX), "unknown");
	assert_string_equal(sdp_bad_str((enum sdp_bad)-1), "unknown");
	assert_string_equal(sdp_bad_str((enum sdp_bad)0x7fffffff), "unknown");
}

/*
 * Credits.
 */
struct credit_case {
	__u32		sent, una, ack;
	__u16		bufs;
	enum sdp_bad	want;
	__u32		credits;
};

#define CREDIT_CASES(X)								\
	X(idle, 0, 0, 0, 64, SDP_GOOD, 64)					\
	X(all_acked, 10, 5, 10, 64, SDP_GOOD, 64)				\
	X(some_in_flight, 10, 5, 7, 64, SDP_GOOD, 61)				\
	X(ack_repeated, 10, 7, 7, 64, SDP_GOOD, 61)				\
	X(none_left, 10, 0, 7, 3, SDP_GOOD, 0)					\
	X(no_bufs_all_acked, 10, 0, 10, 0, SDP_GOOD, 0)				\
	X(most_bufs, 10, 0, 10, 65535, SDP_GOOD, 65535)				\
	X(fewer_than_in_flight, 10, 0, 7, 2, SDP_BAD_CREDIT, 0)			\
	X(no_bufs_one_in_flight, 10, 0, 9, 0, SDP_BAD_CREDIT, 0)		\
	X(far_too_few, 0x80000000, 0, 0, 65535, SDP_BAD_CREDIT, 0)		\
	X(ack_unsent, 10, 5, 11, 64, SDP_BAD_ACK, 0)				\
	X(ack_backwards, 10, 5, 4, 64, SDP_BAD_ACK, 0)				\
	X(ack_far, 10, 5, 0x8000000a, 64, SDP_BAD_ACK, 0)			\
	X(ack_before_first, 0, 0, 0xffffffff, 64, SDP_BAD_ACK, 0)		\
	X(ack_judged_first, 10, 5, 11, 0, SDP_BAD_ACK, 0)			\
	X(wrap_sent, 2, 0xfffffffe, 0xffffffff, 64, SDP_GOOD, 61)		\
	X(wrap_ack, 2, 0xfffffffe, 1, 64, SDP_GOOD, 63)				\
	X(wrap_zero, 0, 0xffffffff, 0xffffffff, 1, SDP_GOOD, 0)			\
	X(wrap_unsent, 2, 0xfffffffe, 3, 64, SDP_BAD_ACK, 0)			\
	X(wrap_backwards, 2, 0xfffffffe, 0xfffffffd, 64, SDP_BAD_ACK, 0)	\
	X(wrap_too_few, 2, 0xfffffffe, 0xffffffff, 2, SDP_BAD_CREDIT, 0)

#define CREDIT_CASE(name, ...)	static const struct credit_case c_##name = { __VA_ARGS__ };
CREDIT_CASES(CREDIT_CASE)

static void credit_case(void **state)
{
	const struct credit_case *c = *state;
	__u32 credits = 0xdeadbeef;

	assert_bad(sdp_credits(c->sent, c->una, c->ack, c->bufs, &credits), c->want);
	assert_int_equal(credits, c->want ? 0xdeadbeef : c->credits);
}

/* One case against plain arithmetic, at 16 places around the point where numbers wrap */
static void check_credits(int sent, int una, int ack, int bufs)
{
	int in_flight = sent - ack;
	enum sdp_bad want = SDP_GOOD;
	__u32 base, credits;

	if (ack < una || ack > sent)
		want = SDP_BAD_ACK;
	else if (bufs < in_flight)
		want = SDP_BAD_CREDIT;
	for (base = (__u32)-8; base != 8; base++) {
		credits = 77;
		assert_bad(sdp_credits(base + sent, base + una, base + ack, bufs, &credits), want);
		assert_int_equal(credits, want ? 77 : bufs - in_flight);
	}
}

static void sdp_credits__every_small_case(void **state)
{
	int sent, una, ack, bufs;

	(void)state;
	for (sent = 0; sent < 8; sent++)
		for (una = 0; una <= sent; una++)
			for (ack = -3; ack < 10; ack++)
				for (bufs = 0; bufs < 8; bufs++)
					check_credits(sent, una, ack, bufs);
}

/*
 * Two ends that talk as the protocol wants, over channels that keep order but
 * take their time. A message lands in a posted buffer when it arrives and is
 * looked at some time later, so an end knows less than is true. Tried: what
 * sdp_credits() grants is never more than the buffers really there, no message
 * meets an empty receive queue, nobody is refused, and nobody gets stuck.
 */
#define SIM_QUEUE	256	/* more than there can be buffers */
#define SIM_DATA	400	/* messages with payload, each way */

struct sim_msg {
	__u32	mseq, mseq_ack;
	__u16	bufs;
	int	payload;
};

struct sim_end {
	__u32	sent, una, credits;	/* as sender */
	__u32	received;		/* MSeq last looked at */
	__u32	told;			/* credits the peer has to our knowledge */
	__u32	max_bufs;
	__u32	posted;			/* buffers free in the receive queue, in truth */
	__u32	to_send, got;		/* messages with payload */
	struct sim_msg wire[SIM_QUEUE];	/* on their way to this end */
	__u32	wire_put, wire_get;
	struct sim_msg cq[SIM_QUEUE];	/* arrived, not looked at */
	__u32	cq_put, cq_get;
};

/* Buffers as this end counts them: what lies on the CQ is still posted to it */
static __u32 sim_bufs(const struct sim_end *e)
{
	return e->posted + (e->cq_put - e->cq_get);
}

static void sim_send(struct sim_end *e, struct sim_end *peer, int payload)
{
	struct sim_msg *msg = &peer->wire[peer->wire_put++ % SIM_QUEUE];

	assert_true(e->credits > 0);
	assert_true(peer->wire_put - peer->wire_get <= SIM_QUEUE);
	e->credits--;
	msg->mseq = ++e->sent;
	msg->mseq_ack = e->received;
	msg->bufs = sim_bufs(e);
	msg->payload = payload;
	e->told = msg->bufs;
}

static void sim_arrive(struct sim_end *e)
{
	if (e->wire_put == e->wire_get)
		return;
	assert_true(e->posted > 0);	/* else: receiver not ready */
	e->posted--;
	e->cq[e->cq_put++ % SIM_QUEUE] = e->wire[e->wire_get++ % SIM_QUEUE];
}

static void sim_look(struct sim_end *e)
{
	const struct sim_msg *msg = &e->cq[e->cq_get % SIM_QUEUE];

	if (e->cq_put == e->cq_get)
		return;
	e->cq_get++;
	assert_int_equal(msg->mseq, e->received + 1);
	e->received = msg->mseq;
	e->told--;
	e->got += msg->payload;
	assert_bad(sdp_credits(e->sent, e->una, msg->mseq_ack, msg->bufs, &e->credits), SDP_GOOD);
	e->una = msg->mseq_ack;
}

static void sim_act(struct sim_end *e, struct sim_end *peer)
{
	switch (rnd_upto(4)) {
	case 0:
		sim_arrive(e);
		break;
	case 1:
		sim_look(e);
		break;
	case 2:
		if (sim_bufs(e) < e->max_bufs)
			e->posted++;
		break;
	case 3:
		if (e->to_send && e->credits >= 3) {
			e->to_send--;
			sim_send(e, peer, 1);
		}
		break;
	case 4:	/* a credit update, if the peer is about to be stuck without */
		if (e->told < 3 && sim_bufs(e) > e->told && e->credits)
			sim_send(e, peer, 0);
		break;
	}
}

/* What is free at the peer must be enough for what is on its way and may yet be sent */
static void sim_check(const struct sim_end *e, const struct sim_end *peer)
{
	__u32 on_wire = peer->wire_put - peer->wire_get;

	assert_true(e->credits + on_wire <= peer->posted);
}

static void sim_init(struct sim_end *e)
{
	memset(e, 0, sizeof(*e));
	e->max_bufs = SDP_MIN_BUFS + rnd_upto(rnd_upto(1) ? 3 : 60);
	e->posted = e->max_bufs;
	e->told = e->max_bufs;
	e->to_send = SIM_DATA;
	e->sent = 0 - rnd_upto(2 * SIM_DATA);	/* so that many wrap on the way */
	e->una = e->sent;
}

/* What Hello and HelloAck tell */
static void sim_connect(struct sim_end *e, const struct sim_end *peer)
{
	e->received = peer->sent;
	e->credits = peer->posted;
}

static void sdp_credits__two_ends(void **state)
{
	static struct sim_end end[2];
	unsigned int round, step;

	(void)state;
	seed_rnd();
	for (round = 0; round < 300; round++) {
		sim_init(&end[0]);
		sim_init(&end[1]);
		sim_connect(&end[0], &end[1]);
		sim_connect(&end[1], &end[0]);

		for (step = 0; end[0].got < SIM_DATA || end[1].got < SIM_DATA; step++) {
			__u32 who = rnd_upto(1);

			assert_true(step < 1000 * SIM_DATA);	/* else: stuck */
			sim_act(&end[who], &end[!who]);
			sim_check(&end[0], &end[1]);
			sim_check(&end[1], &end[0]);
		}
	}
}

#define TEST_DECODE(name)	{ "sdp_decode__" #name, decode_vector, NULL, NULL, (void *)&v_##name },
#define TEST_ENCODE(name)	{ "sdp_encode__" #name, encode_vector, NULL, NULL, (void *)&v_##name },
#define TEST_REFUSAL(name, ...)	\
	{ "sdp_decode__refuses_" #name, refuse, NULL, NULL, (void *)&r_##name },
#define TEST_HELLO(name, ...)	\
	{ "sdp_decode_hello__" #name, hello_case, NULL, NULL, (void *)&h_##name },
#define TEST_ACK(name, ...)	\
	{ "sdp_decode_hello_ack__" #name, ack_case, NULL, NULL, (void *)&a_##name },
#define TEST_CREDIT(name, ...)	\
	{ "sdp_credits__" #name, credit_case, NULL, NULL, (void *)&c_##name },

int main(void)
{
	static const struct CMUnitTest tests[] = {
		VECTORS(TEST_DECODE)
		VECTORS(TEST_ENCODE)
		REFUSALS(TEST_REFUSAL)
		cmocka_unit_test(sdp_decode__every_reason_is_tried),
		cmocka_unit_test(sdp_decode__cut_at_every_length),
		cmocka_unit_test(sdp_decode__cut_at_every_length_len_fits),
		cmocka_unit_test(sdp_decode__longer_len_fits),
		cmocka_unit_test(sdp_decode__len_arithmetic_does_not_wrap),
		cmocka_unit_test(sdp_decode__largest_len),
		cmocka_unit_test(sdp_decode__unaligned_and_payload_unread),
		cmocka_unit_test(sdp_decode__every_mid),
		cmocka_unit_test(sdp_decode__reserved_flags_ignored),
		cmocka_unit_test(sdp_decode__pend_and_pipe_on_any),
		cmocka_unit_test(sdp_decode__oob_on_data_only),
		cmocka_unit_test(sdp_decode__mode_reserved_ignored),
		cmocka_unit_test(sdp_encode__no_such_message),
		cmocka_unit_test(sdp_encode__reserved_bits_zero),
		cmocka_unit_test(sdp_encode__round_trip),
		cmocka_unit_test(sdp_decode_hello__ofed),
		cmocka_unit_test(sdp_decode_hello__full),
		cmocka_unit_test(sdp_decode_hello__cut_at_every_length),
		cmocka_unit_test(sdp_decode_hello__longer),
		cmocka_unit_test(sdp_decode_hello__unaligned),
		cmocka_unit_test(sdp_decode_hello__reserved_ignored),
		cmocka_unit_test(sdp_decode_hello__ipv4_rest_zeroed),
		cmocka_unit_test(sdp_decode_hello__adverts_field),
		HELLO_CASES(TEST_HELLO)
		cmocka_unit_test(sdp_encode_hello__ofed),
		cmocka_unit_test(sdp_encode_hello__full),
		cmocka_unit_test(sdp_encode_hello__ipv4_rest_zeroed),
		cmocka_unit_test(sdp_encode_hello__reserved_caps_zero),
		cmocka_unit_test(sdp_encode_hello__adverts_clamped),
		cmocka_unit_test(sdp_encode_hello__round_trip),
		cmocka_unit_test(sdp_decode_hello_ack__ofed),
		cmocka_unit_test(sdp_decode_hello_ack__full),
		cmocka_unit_test(sdp_decode_hello_ack__cut_at_every_length),
		cmocka_unit_test(sdp_decode_hello_ack__longer),
		cmocka_unit_test(sdp_decode_hello_ack__unaligned),
		cmocka_unit_test(sdp_decode_hello_ack__reserved_ignored),
		ACK_CASES(TEST_ACK)
		cmocka_unit_test(sdp_encode_hello_ack__ofed),
		cmocka_unit_test(sdp_encode_hello_ack__full),
		cmocka_unit_test(sdp_encode_hello_ack__round_trip),
		cmocka_unit_test(sdp_ext_len__every_mid),
		cmocka_unit_test(sdp_mid_str__every_mid),
		cmocka_unit_test(sdp_mid_str__spelling),
		cmocka_unit_test(sdp_bad_str__every_reason),
		cmocka_unit_test(sdp_bad_str__out_of_range),
		CREDIT_CASES(TEST_CREDIT)
		cmocka_unit_test(sdp_credits__every_small_case),
		cmocka_unit_test(sdp_credits__two_ends),
	};

	return cmocka_run_group_tests_name("proto", tests, NULL, NULL);
}
