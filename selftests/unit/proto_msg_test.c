// SPDX-License-Identifier: GPL-2.0
/*
 * Messages behind the handshake: decoding, what is refused, encoding; names and lengths.
 */
#include "proto.h"

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

#define TEST_DECODE(name)	{ "sdp_decode__" #name, decode_vector, NULL, NULL, (void *)&v_##name },
#define TEST_ENCODE(name)	{ "sdp_encode__" #name, encode_vector, NULL, NULL, (void *)&v_##name },
#define TEST_REFUSAL(name, ...)	\
	{ "sdp_decode__refuses_" #name, refuse, NULL, NULL, (void *)&r_##name },

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
		cmocka_unit_test(sdp_ext_len__every_mid),
		cmocka_unit_test(sdp_mid_str__every_mid),
		cmocka_unit_test(sdp_mid_str__spelling),
		cmocka_unit_test(sdp_bad_str__every_reason),
		cmocka_unit_test(sdp_bad_str__out_of_range),
	};

	return cmocka_run_group_tests_name("proto_msg", tests, NULL, NULL);
}
