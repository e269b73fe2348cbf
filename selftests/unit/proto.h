/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of net/sdp/proto.c, the wire format, byte for byte.
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
#ifndef UNIT_PROTO_H
#define UNIT_PROTO_H

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
static inline __u64 rnd64(void)
{
	__u64 z = rnd_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline __u32 rnd(void)
{
	return rnd64() >> 32;
}

static inline __u32 rnd_upto(__u32 max)
{
	return rnd() % (max + 1);
}

/* Numbers as bugs like them: edges as often as anything else */
static inline __u32 rnd_edgy(void)
{
	static const __u32 edges[] = { 0, 1, 2, 3, 35, 36, 0x7fffffff, 0x80000000, 0xffffffff };

	return rnd() % 4 ? rnd() : edges[rnd() % COUNT_OF(edges)];
}

static inline void seed_rnd(void)
{
	const char *s = getenv("SDP_TEST_SEED");

	rnd_state = s ? strtoull(s, NULL, 0) : 1;
}

static inline void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	assert_non_null(p);
	return p;
}

static inline void *dup_bytes(const void *from, size_t n)
{
	void *p = xmalloc(n);

	if (n)
		memcpy(p, from, n);
	return p;
}

static inline void put32(__u8 *p, __u32 v)
{
	p[0] = v >> 24;
	p[1] = v >> 16;
	p[2] = v >> 8;
	p[3] = v;
}

static inline void assert_bad(enum sdp_bad got, enum sdp_bad want)
{
	assert_string_equal(sdp_bad_str(got), sdp_bad_str(want));
	assert_int_equal(got, want);
}

/* Bytes that spoil a message */
struct patch {
	__u8	off;
	__u8	n;
	__u8	bytes[8];
};

static inline void apply(__u8 *bytes, const struct patch *p, unsigned int n)
{
	for (; n; n--, p++)
		memcpy(bytes + p->off, p->bytes, p->n);
}

#endif
