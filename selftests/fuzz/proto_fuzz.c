// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target for net/sdp/proto.c.
 *
 * An input is taken for each thing it could be: a Hello, a HelloAck, a message,
 * the same message with its Len put right (so that the fuzzer needn't guess
 * it), and numbers for the credit arithmetic. What decodes must keep to what
 * the header promises, and must survive being encoded and decoded again.
 *
 *	proto_fuzz --corpus=DIR				write the seed corpus and exit
 *	proto_fuzz [-runs=N] [-seed=N] [file or directory]...
 *
 * Built by clang with -fsanitize=fuzzer this is libFuzzer. Built without, the
 * main() below replays the files, or, given none, runs N messages of its own
 * making: enough to reproduce a finding, and to fuzz a little without clang.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <net/sdp_proto.h>
#include "proto_corpus.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_MAX	4096
#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #cond);	\
			abort();						\
		}								\
	} while (0)

/* A copy with no byte to spare, for the address sanitizer */
static void *dup_bytes(const void *from, size_t n)
{
	void *p = malloc(n ? n : 1);

	CHECK(p);
	if (n)
		memcpy(p, from, n);
	return p;
}

static void check_avail(const struct sdp_msg *m)
{
	CHECK(m->avail.len);
	CHECK(m->avail.va <= UINT64_MAX - m->avail.len);
	if (m->mid == SDP_MID_SRC_AVAIL)
		CHECK(m->payload_len < m->avail.len);
}

static void check_ext(const struct sdp_msg *m)
{
	switch (m->mid) {
	case SDP_MID_SRC_AVAIL:
	case SDP_MID_SINK_AVAIL:
		check_avail(m);
		break;
	case SDP_MID_MODE_CHANGE:
		CHECK(m->mode.half <= SDP_HALF_SEND && m->mode.mode <= SDP_MODE_PIPELINED);
		break;
	case SDP_MID_CH_RCV_BUF:
	case SDP_MID_CH_RCV_BUF_ACK:
		CHECK(m->num >= SDP_MIN_RCV_SIZE);
		break;
	}
}

/* What anyone may rely on who was given SDP_GOOD */
static void check_msg(const struct sdp_msg *m, size_t size)
{
	CHECK(m->mid != SDP_MID_HELLO && m->mid != SDP_MID_HELLO_ACK);
	CHECK(sdp_ext_len(m->mid) >= 0 && m->ext_len == (__u32)sdp_ext_len(m->mid));
	CHECK(SDP_BSDH_SIZE + m->ext_len + m->payload_len == size);
	CHECK(!m->payload_len || m->mid >= SDP_MID_SINK_AVAIL);
	CHECK(!(m->flags & ~(SDP_FLAG_OOB_PRES | SDP_FLAG_OOB_PEND | SDP_FLAG_REQ_PIPE)));
	if (m->flags & SDP_FLAG_OOB_PRES)
		CHECK(m->mid == SDP_MID_DATA && m->payload_len);
	check_ext(m);
}

static void check_msg_again(const struct sdp_msg *m)
{
	struct sdp_msg in = *m, out;
	__u8 a[SDP_BSDH_SIZE + SDP_EXT_MAX], b[sizeof(a)];
	__u32 hdr = sdp_encode(a, &in);

	CHECK(hdr == SDP_BSDH_SIZE + m->ext_len);
	CHECK(sdp_decode((void *)a, a + SDP_BSDH_SIZE, m->ext_len + m->payload_len, &out) ==
	      SDP_GOOD);
	CHECK(!memcmp(&out, m, sizeof(out)));
	CHECK(sdp_encode(b, &out) == hdr);
	CHECK(!memcmp(a, b, hdr));
}

/*
 * The body is only as long as the extended header: payload isn't to be looked
 * at. @fix_len makes Len right.
 */
static void fuzz_msg(const uint8_t *data, size_t size, int fix_len)
{
	size_t body_len = size - SDP_BSDH_SIZE, ext_len = body_len;
	enum sdp_bad bad;
	struct sdp_msg m;
	__u8 *bsdh;
	void *body;

	if (size < SDP_BSDH_SIZE)
		return;
	bsdh = dup_bytes(data, SDP_BSDH_SIZE);
	if (fix_len) {
		bsdh[4] = size >> 24;
		bsdh[5] = size >> 16;
		bsdh[6] = size >> 8;
		bsdh[7] = size;
	}
	if (sdp_ext_len(bsdh[0]) >= 0 && (size_t)sdp_ext_len(bsdh[0]) < ext_len)
		ext_len = sdp_ext_len(bsdh[0]);
	body = dup_bytes(data + SDP_BSDH_SIZE, ext_len);

	bad = sdp_decode((void *)bsdh, body_len ? body : NULL, body_len, &m);
	CHECK(bad < SDP_BAD_MAX && strcmp(sdp_bad_str(bad), "unknown"));
	CHECK(!fix_len || bad != SDP_BAD_LEN);
	if (bad == SDP_GOOD) {
		check_msg(&m, size);
		check_msg_again(&m);
	}
	free(body);
	free(bsdh);
}

static void fuzz_hello(const uint8_t *data, size_t size)
{
	struct sdp_hello h, again;
	__u8 bytes[SDP_HELLO_SIZE];
	void *buf = dup_bytes(data, size);
	enum sdp_bad bad = sdp_decode_hello(buf, size, &h);

	free(buf);
	CHECK(bad < SDP_BAD_MAX && strcmp(sdp_bad_str(bad), "unknown"));
	if (bad)
		return;
	CHECK(size >= SDP_HELLO_SIZE);
	CHECK(h.ipv == 4 || h.ipv == 6);
	CHECK(SDP_VERSION_MAJOR(h.version) == 2 && h.max_adverts);
	CHECK(h.local_rcv_sz >= SDP_MIN_RCV_SIZE && h.bufs >= SDP_MIN_BUFS);
	sdp_encode_hello(bytes, &h);
	CHECK(sdp_decode_hello(bytes, sizeof(bytes), &again) == SDP_GOOD);
	CHECK(!memcmp(&h, &again, sizeof(h)));
}

static void fuzz_hello_ack(const uint8_t *data, size_t size)
{
	struct sdp_hello_ack h, again;
	__u8 bytes[SDP_HELLO_ACK_SIZE];
	void *buf = dup_bytes(data, size);
	enum sdp_bad bad = sdp_decode_hello_ack(buf, size, &h);

	free(buf);
	CHECK(bad < SDP_BAD_MAX && strcmp(sdp_bad_str(bad), "unknown"));
	if (bad)
		return;
	CHECK(size >= SDP_HELLO_ACK_SIZE);
	CHECK(SDP_VERSION_MAJOR(h.version) == 2 && h.max_adverts);
	CHECK(h.act_rcv_sz >= SDP_MIN_RCV_SIZE && h.bufs >= SDP_MIN_BUFS);
	sdp_encode_hello_ack(bytes, &h);
	CHECK(sdp_decode_hello_ack(bytes, sizeof(bytes), &again) == SDP_GOOD);
	CHECK(!memcmp(&h, &again, sizeof(h)));
}

static void fuzz_credits(const uint8_t *data, size_t size)
{
	__u32 sent, una, ack, credits = 0;
	enum sdp_bad bad;
	__u16 bufs;

	if (size < 14)
		return;
	memcpy(&sent, data, 4);
	memcpy(&una, data + 4, 4);
	memcpy(&ack, data + 8, 4);
	memcpy(&bufs, data + 12, 2);
	bad = sdp_credits(sent, una, ack, bufs, &credits);
	if (bad == SDP_GOOD)
		CHECK(credits <= bufs && credits + (sent - ack) == bufs);
	else
		CHECK((bad == SDP_BAD_ACK || bad == SDP_BAD_CREDIT) && !credits);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char opt[] = "--corpus=";

	if (*argc == 2 && !strncmp((*argv)[1], opt, strlen(opt))) {
		write_corpus((*argv)[1] + strlen(opt));
		exit(0);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_hello(data, size);
	fuzz_hello_ack(data, size);
	fuzz_msg(data, size, 0);
	fuzz_msg(data, size, 1);
	fuzz_credits(data, size);
	return 0;
}

static void replay_file(FILE *f)
{
	static uint8_t buf[INPUT_MAX];

	LLVMFuzzerTestOneInput(buf, fread(buf, 1, sizeof(buf), f));
}

static unsigned int replay(const char *path)
{
	unsigned int n = 0;
	struct dirent *e;
	struct stat st;
	char sub[4096];
	FILE *f;
	DIR *d;

	if (stat(path, &st)) {
		perror(path);
		exit(1);
	}
	if (S_ISDIR(st.st_mode)) {
		d = opendir(path);
		while (d && (e = readdir(d))) {
			if (e->d_name[0] == '.')
				continue;
			snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
			n += replay(sub);
		}
		if (d)
			closedir(d);
		return n;
	}
	f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(1);
	}
	replay_file(f);
	fclose(f);
	return 1;
}

/* Bytes that look like some message as often as not */
static void run_random(unsigned long runs, unsigned int seed)
{
	static const uint8_t mids[] = { 0, 1, 5, 6, 7, 11, 12, 13, 0xfd, 0xfe, 0xff };
	static const size_t sizes[] = { 16, 17, 20, 24, 32, 33, 36, 40, 92, 196 };
	uint8_t buf[256];
	size_t i, size;

	srand(seed);
	while (runs--) {
		for (i = 0; i < sizeof(buf); i++)
			buf[i] = rand() % 3 ? 0 : rand() >> 8;
		size = rand() % 3 ? sizes[rand() % COUNT_OF(sizes)] : (size_t)rand() % 256;
		if (rand() % 4)
			buf[0] = mids[rand() % COUNT_OF(mids)];
		if (rand() % 4) {
			buf[4] = buf[5] = buf[6] = 0;
			buf[7] = size;
		}
		if (rand() % 2 && buf[0] <= 1) {
			buf[16] = 0x22;
			buf[17] &= 0x6f;
		}
		LLVMFuzzerTestOneInput(buf, size);
	}
}

/* Weak, because libFuzzer brings one, which is to win */
__attribute__((weak)) int main(int argc, char **argv)
{
	unsigned long runs = 200000, seed = 1, replayed = 0;
	int i, files = 0;

	LLVMFuzzerInitialize(&argc, &argv);
	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-runs=", 6))
			runs = strtoul(argv[i] + 6, NULL, 0);
		else if (!strncmp(argv[i], "-seed=", 6))
			seed = strtoul(argv[i] + 6, NULL, 0);
		else if (argv[i][0] != '-') {
			replayed += replay(argv[i]);
			files++;
		}
	}
	if (!files)
		run_random(runs, seed);
	printf("%lu inputs\n", files ? replayed : runs);
	return 0;
}
