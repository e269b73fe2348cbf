/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seed corpus of proto_fuzz: one file per message, named for it. Generated
 * rather than checked in, so that nobody needs to review binaries.
 */
#ifndef PROTO_CORPUS_H
#define PROTO_CORPUS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net/sdp_proto.h>

static const char *corpus_dir;

static void write_seed(const char *name, const char *variant, const void *bytes, size_t n)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%s", corpus_dir, name, variant);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void write_msg(struct sdp_msg *m, const char *variant)
{
	__u8 bytes[SDP_BSDH_SIZE + SDP_EXT_MAX + 64] = { 0 };
	__u32 hdr = sdp_encode(bytes, m);

	memset(bytes + hdr, 'x', m->payload_len);
	write_seed(sdp_mid_str(m->mid), variant, bytes, hdr + m->payload_len);
}

/* A sane message of each kind, with payload and without */
static void write_mid(__u8 mid)
{
	struct sdp_msg m = { .mid = mid, .bufs = 64, .mseq = 1 };

	switch (mid) {
	case SDP_MID_SRC_AVAIL:
	case SDP_MID_SINK_AVAIL:
		m.avail.len = 65536;
		m.avail.rkey = 0x1234;
		m.avail.va = 0x7fff00001000ULL;
		break;
	case SDP_MID_MODE_CHANGE:
		m.mode.half = SDP_HALF_SEND;
		m.mode.mode = SDP_MODE_COMBINED;
		break;
	case SDP_MID_SUSP_COMM:
		m.service_id = SDP_SERVICE_ID_BASE + 5001;
		break;
	default:
		m.num = 32784;
		break;
	}
	write_msg(&m, "");
	if (mid < SDP_MID_SINK_AVAIL)
		return;
	m.payload_len = 64;
	write_msg(&m, "-payload");
	if (mid == SDP_MID_DATA) {
		m.flags = SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND;
		write_msg(&m, "-oob");
	}
}

static void write_hello(__u8 ipv, __u8 caps, const char *variant)
{
	struct sdp_hello h = {
		.version = SDP_VERSION, .ipv = ipv, .caps = caps, .bufs = 64,
		.max_adverts = caps ? 1024 : 1,
		.des_rem_rcv_sz = 32784, .local_rcv_sz = 32784, .port = 5001,
		.src_ip = { [12] = 10, 0, 0, 1 }, .dst_ip = { [12] = 10, 0, 0, 2 },
	};
	__u8 bytes[SDP_HELLO_SIZE];

	sdp_encode_hello(bytes, &h);
	write_seed("Hello", variant, bytes, sizeof(bytes));
}

static void write_hello_ack(void)
{
	struct sdp_hello_ack h = {
		.version = SDP_VERSION, .bufs = 64, .max_adverts = 1, .act_rcv_sz = 32784,
	};
	__u8 bytes[SDP_HELLO_ACK_SIZE];

	sdp_encode_hello_ack(bytes, &h);
	write_seed("HelloAck", "", bytes, sizeof(bytes));
}

static void write_corpus(const char *dir)
{
	unsigned int mid;

	corpus_dir = dir;
	write_hello(4, 0, "-ipv4");
	write_hello(6, SDP_CAP_INVALIDATE | SDP_CAP_EXT_ADVERTS, "-ipv6");
	write_hello_ack();
	for (mid = SDP_MID_DISCONN; mid <= SDP_MID_DATA; mid++)
		if (sdp_ext_len(mid) >= 0)
			write_mid(mid);
}

#endif /* PROTO_CORPUS_H */
