// SPDX-License-Identifier: GPL-2.0
/*
 * Hello and HelloAck.
 */
#include "proto.h"

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

#define TEST_HELLO(name, ...)	\
	{ "sdp_decode_hello__" #name, hello_case, NULL, NULL, (void *)&h_##name },
#define TEST_ACK(name, ...)	\
	{ "sdp_decode_hello_ack__" #name, ack_case, NULL, NULL, (void *)&a_##name },

int main(void)
{
	static const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests_name("proto_hello", tests, NULL, NULL);
}
