// SPDX-License-Identifier: GPL-2.0
/*
 * Text to messages and back, right by default and wrong as asked for; and what
 * is wrong with the messages of the other side.
 */
#include <linux/crc32.h>
#include <linux/inet.h>
#include <linux/slab.h>
#include "peer.h"

/* --- fields -------------------------------------------------------------- */

struct field {
	const char	*key;
	u8		off;
	u8		size;
};

static const struct field bsdh_fields[] = {
	{ "mid", 0, 1 }, { "flags", 1, 1 }, { "bufs", 2, 2 }, { "len", 4, 4 },
	{ "mseq", 8, 4 }, { "ack", 12, 4 }, {}
};

static const struct field hello_fields[] = {
	{ "version", 16, 1 }, { "ipvcap", 17, 1 }, { "adverts", 19, 1 }, { "des", 20, 4 },
	{ "rcvsz", 24, 4 }, { "port", 28, 2 }, { "extadverts", 66, 2 }, {}
};

static const struct field hello_ack_fields[] = {
	{ "version", 16, 1 }, { "ipvcap", 17, 1 }, { "adverts", 19, 1 }, { "rcvsz", 20, 4 }, {}
};

static const struct field avail_fields[] = {
	{ "alen", 16, 4 }, { "rkey", 20, 4 }, { "va", 24, 8 }, { "nd", 32, 4 }, {}
};

static const struct field num_fields[] = { { "num", 16, 4 }, {} };
static const struct field mode_fields[] = { { "mode", 16, 1 }, {} };
static const struct field susp_fields[] = { { "sid", 16, 8 }, {} };
static const struct field no_fields[] = { {} };

/* Those of the extended header */
static const struct field *fields_of(int mid)
{
	switch (mid) {
	case SDP_MID_SRC_AVAIL:
	case SDP_MID_SINK_AVAIL:
		return avail_fields;
	case SDP_MID_RDMA_WR_COMPL:
	case SDP_MID_RDMA_RD_COMPL:
	case SDP_MID_CH_RCV_BUF:
	case SDP_MID_CH_RCV_BUF_ACK:
		return num_fields;
	case SDP_MID_MODE_CHANGE:
		return mode_fields;
	case SDP_MID_SUSP_COMM:
		return susp_fields;
	default:
		return no_fields;
	}
}

static void put_field(u8 *buf, const struct field *f, u64 val)
{
	int i;

	for (i = f->size - 1; i >= 0; i--, val >>= 8)
		buf[f->off + i] = val;
}

static u64 get_field(const u8 *buf, const struct field *f)
{
	u64 val = 0;
	int i;

	for (i = 0; i < f->size; i++)
		val = val << 8 | buf[f->off + i];
	return val;
}

/* Puts every field the command names; @len bytes are there */
static int override(struct args *a, const struct field *f, u8 *buf, u32 len)
{
	const char *val;

	for (; f->key; f++) {
		val = arg_key(a, f->key);
		if (!val || !strcmp(val, "auto"))
			continue;
		if (f->off + f->size > len)
			return -EINVAL;
		put_field(buf, f, arg_keynum(a, f->key, 0));
	}
	return a->err;
}

/* at=OFFSET:HEX puts bytes anywhere */
static int patch(struct args *a, u8 *buf, u32 len)
{
	const char *at = arg_key(a, "at");
	unsigned int off;
	int hex = 0;

	if (!at)
		return 0;
	if (sscanf(at, "%u:%n", &off, &hex) < 1 || !hex || off > len ||
	    arg_hex(at + hex, buf + off, len - off) < 0)
		return -EINVAL;
	return 0;
}

static void print_fields(struct peer *p, const struct field *f, const u8 *buf, u32 len)
{
	for (; f->key && f->off + f->size <= len; f++)
		reply(p, "%s=%llu ", f->key, get_field(buf, f));
}

/* --- Hello and HelloAck -------------------------------------------------- */

static void put_ip(u8 *to, const struct sockaddr *sa)
{
	memset(to, 0, 16);
	if (sa->sa_family == AF_INET6)
		memcpy(to, &((struct sockaddr_in6 *)sa)->sin6_addr, 16);
	else
		memcpy(to + 12, &((struct sockaddr_in *)sa)->sin_addr, 4);
}

static int override_ip(struct args *a, const char *key, u8 *to)
{
	const char *name = arg_key(a, key);
	struct sockaddr_storage ss;

	if (!name)
		return 0;
	if (inet_pton_with_scope(&init_net, AF_UNSPEC, name, NULL, &ss))
		return -EINVAL;
	put_ip(to, (struct sockaddr *)&ss);
	return 0;
}

/* raw=HEX replaces it from the start; plen=N is how many bytes of it travel */
static int finish_private_data(struct args *a, const struct field *f, u8 *buf, u32 size)
{
	const char *raw = arg_key(a, "raw");
	u64 plen = arg_keynum(a, "plen", size);

	if (raw && arg_hex(raw, buf, size) < 0)
		return -EINVAL;
	if (override(a, bsdh_fields, buf, size) || override(a, f, buf, size) ||
	    patch(a, buf, size) || plen > size)
		return -EINVAL;
	return plen;
}

static void note_start(struct peer *p, const u8 *buf)
{
	const struct sdp_bsdh *h = (void *)buf;

	spin_lock(&p->lock);
	p->sent[0] = (struct peer_sent) { .bufs = be16_to_cpu(h->bufs) };
	spin_unlock(&p->lock);
}

/* The Hello for the REQ into @buf; returns its length or a negative errno */
int msg_hello(struct peer *p, struct args *a, u8 *buf, const struct sockaddr *src,
	      const struct sockaddr *dst)
{
	struct sdp_hello h = {
		.version	= SDP_VERSION,
		.ipv		= src->sa_family == AF_INET6 ? 6 : 4,
		.bufs		= p->post,
		.max_adverts	= 1,
		.des_rem_rcv_sz	= p->buf_size,
		.local_rcv_sz	= p->buf_size,
		.port		= 40000,
	};
	struct sdp_hh *hh = (void *)buf;
	int len;

	put_ip(h.src_ip, src);
	put_ip(h.dst_ip, dst);
	sdp_encode_hello(buf, &h);
	if (override_ip(a, "srcip", hh->src_ip) || override_ip(a, "dstip", hh->dst_ip))
		return -EINVAL;
	len = finish_private_data(a, hello_fields, buf, SDP_HELLO_SIZE);
	note_start(p, buf);
	return len;
}

int msg_hello_ack(struct peer *p, struct args *a, u8 *buf)
{
	struct sdp_hello_ack h = {
		.version	= SDP_VERSION,
		.bufs		= p->post,
		.max_adverts	= 1,
		.act_rcv_sz	= p->buf_size,
	};
	int len;

	sdp_encode_hello_ack(buf, &h);
	len = finish_private_data(a, hello_ack_fields, buf, SDP_HELLO_ACK_SIZE);
	note_start(p, buf);
	return len;
}

/* What their Hello or HelloAck lets us send */
void msg_learn_hello(struct peer *p, bool ack)
{
	const struct sdp_bsdh *h = (void *)p->hello;
	struct sdp_hello_ack had;
	struct sdp_hello hd;

	sdp_decode_hello_ack(p->hello, p->hello_len, &had);
	sdp_decode_hello(p->hello, p->hello_len, &hd);
	spin_lock(&p->lock);
	p->limit = be16_to_cpu(h->bufs);
	p->peer_size = ack ? had.act_rcv_sz : hd.local_rcv_sz;
	spin_unlock(&p->lock);
}

void msg_print_hello(struct peer *p, bool ack)
{
	const struct sdp_hh *hh = (void *)p->hello;
	struct sdp_hello_ack had;
	struct sdp_hello hd;

	print_fields(p, bsdh_fields, p->hello, p->hello_len);
	print_fields(p, ack ? hello_ack_fields : hello_fields, p->hello, p->hello_len);
	if (!ack && hh->ipv_cap >> 4 == 6)
		reply(p, "srcip=%pI6c dstip=%pI6c ", hh->src_ip, hh->dst_ip);
	else if (!ack)
		reply(p, "srcip=%pI4 dstip=%pI4 ", hh->src_ip + 12, hh->dst_ip + 12);
	reply(p, "judge=%s", sdp_bad_str(ack ? sdp_decode_hello_ack(p->hello, p->hello_len, &had) :
					       sdp_decode_hello(p->hello, p->hello_len, &hd)));
}

/* --- received messages --------------------------------------------------- */

/* Where the payload is and how much, going by the kind of message alone */
static u32 payload_of(const struct peer_buf *b, const u8 **payload)
{
	int ext = b->len ? sdp_ext_len(b->data[0]) : -1;

	if (ext < 0 || b->len < SDP_BSDH_SIZE + ext)
		return 0;
	*payload = b->data + SDP_BSDH_SIZE + ext;
	return b->len - SDP_BSDH_SIZE - ext;
}

static enum sdp_bad decode(const struct peer_buf *b, struct sdp_msg *m)
{
	const struct sdp_bsdh *h = (void *)b->data;

	if (b->len < SDP_BSDH_SIZE)
		return SDP_BAD_SHORT;
	return sdp_decode(h, h + 1, b->len - SDP_BSDH_SIZE, m);
}

void msg_print(struct peer *p, const struct peer_buf *b, bool hex)
{
	const u8 *payload = NULL;
	u32 len = payload_of(b, &payload);
	struct sdp_msg m;

	if (b->len)
		reply(p, "%s ", sdp_mid_str(b->data[0]));
	print_fields(p, bsdh_fields, b->data, b->len);
	print_fields(p, fields_of(b->len ? b->data[0] : -1), b->data, b->len);
	reply(p, "bytes=%u payload=%u crc=%08x judge=%s", b->len, len,
	      ~crc32_le(~0, payload, len), sdp_bad_str(decode(b, &m)));
	if (hex) {
		reply(p, " hex=");
		reply_hex(p, payload, len);
	}
}

/* Counts stream bytes that came by whatever way */
void msg_count(struct peer *p, const u8 *data, u32 len)
{
	spin_lock(&p->lock);
	p->rx_bytes += len;
	p->rx_crc = crc32_le(p->rx_crc, data, len);
	spin_unlock(&p->lock);
}

void msg_count_payload(struct peer *p, const struct peer_buf *b)
{
	const u8 *payload = NULL;
	u32 len = payload_of(b, &payload);

	msg_count(p, payload, len);
}

/* --- what the other side does wrong -------------------------------------- */

__printf(2, 3)
static void breach(struct peer *p, const char *fmt, ...)
{
	va_list ap;

	if (p->bad_count++)
		return;
	va_start(ap, fmt);
	vscnprintf(p->bad, sizeof(p->bad), fmt, ap);
	va_end(ap);
}

/*
 * CA4-82: the last credit is for messages that grant some and carry no payload.
 * OFED keeps one more back from payload, and so do we all.
 */
s32 msg_credits_needed(const struct sdp_msg *m)
{
	switch (m->mid) {
	case SDP_MID_SRC_AVAIL:
	case SDP_MID_SINK_AVAIL:
	case SDP_MID_SRC_AVAIL_CANCEL:
		return 3;
	case SDP_MID_DATA:
		return m->payload_len ? 3 : 1;
	case SDP_MID_ABORT:
		return 1;
	default:
		return 2;
	}
}

static void check_credits(struct peer *p, const struct sdp_msg *m)
{
	const struct peer_sent *told = &p->sent[m->mseq_ack % PEER_HISTORY];
	s32 had = told->bufs - (m->mseq - 1 - told->ack), need = msg_credits_needed(m);
	u32 credits, before = p->limit - p->tx_mseq;
	enum sdp_bad bad;

	bad = sdp_credits(p->tx_mseq, p->una, m->mseq_ack, m->bufs, &credits);
	if (bad) {
		breach(p, "%s_mseq_%u_%s_ack_%u_bufs_%u", sdp_mid_str(m->mid), m->mseq,
		       sdp_bad_str(bad), m->mseq_ack, m->bufs);
		return;
	}
	p->una = m->mseq_ack;
	p->limit = m->mseq_ack + m->bufs;
	if (need == 2 && credits > before)
		need = 1;
	if (p->tx_mseq - m->mseq_ack < PEER_HISTORY && had < need)
		breach(p, "%s_mseq_%u_with_%d_credits", sdp_mid_str(m->mid), m->mseq, had);
}

/* Combined mode: one advert at a time, with payload, and no Data until it is answered */
static void check_mode(struct peer *p, const struct sdp_msg *m)
{
	switch (m->mid) {
	case SDP_MID_SRC_AVAIL:
		if (!p->pipelined && (p->advert_pending || !m->payload_len))
			breach(p, "SrcAvail_mseq_%u_in_Combined", m->mseq);
		p->advert_pending = true;
		break;
	case SDP_MID_DATA:
		if (!p->pipelined && p->advert_pending && m->payload_len)
			breach(p, "Data_mseq_%u_behind_advert", m->mseq);
		break;
	case SDP_MID_MODE_CHANGE:
		if (m->mode.half == SDP_HALF_RECV)
			p->pipelined = m->mode.mode == SDP_MODE_PIPELINED;
		break;
	}
}

/* Judges a message as it arrives, and takes its credits */
void msg_check(struct peer *p, const struct peer_buf *b)
{
	struct sdp_msg m;
	enum sdp_bad bad = decode(b, &m);

	lockdep_assert_held(&p->lock);
	if (bad)
		breach(p, "undecodable_%s_after_mseq_%u", sdp_bad_str(bad), p->rx_mseq);
	if (b->len < SDP_BSDH_SIZE)
		return;
	if (m.mseq != p->rx_mseq + 1)
		breach(p, "mseq_%u_after_%u", m.mseq, p->rx_mseq);
	p->rx_mseq = m.mseq;
	check_credits(p, &m);
	if (!bad)
		check_mode(p, &m);
}

/* --- messages to send ---------------------------------------------------- */

/* Byte @off of pattern @seed; the period is a prime, so no buffer size hides a shift */
void msg_pattern(u8 *buf, u32 len, u8 seed, u64 off)
{
	u32 i, j = off % 65521;

	for (i = 0; i < len; i++, j = j == 65520 ? 0 : j + 1)
		buf[i] = (j * 2654435761u >> 24) ^ seed;
}

int msg_mid(const char *name)
{
	int mid;

	if (!kstrtoint(name, 0, &mid))
		return mid >= 0 && mid <= 0xff ? mid : -EINVAL;
	for (mid = 0; mid <= 0xff; mid++)
		if (sdp_ext_len(mid) >= 0 && !strcasecmp(name, sdp_mid_str(mid)))
			return mid;
	return -EINVAL;
}

/* An identifier that isn't one gets Data's shape */
static u32 encode(u8 *buf, struct sdp_msg *m)
{
	u8 mid = m->mid;
	u32 len = sdp_encode(buf, m);

	if (!len) {
		m->mid = SDP_MID_DATA;
		len = sdp_encode(buf, m);
		m->mid = mid;
		buf[0] = mid;
	}
	return len;
}

/* Sends a message if there are credits for it, or -EAGAIN */
int msg_send(struct peer *p, u8 mid, u32 num, const void *payload, u32 len)
{
	struct peer_buf *b = qp_buf(p, SDP_BSDH_SIZE + SDP_EXT_MAX + len, DMA_TO_DEVICE);
	struct sdp_msg m = { .mid = mid, .payload_len = len };
	u32 hdr;
	int err;

	if (IS_ERR(b))
		return PTR_ERR(b);
	if (sdp_ext_len(mid) == sizeof(struct sdp_numh))
		m.num = num;
	mutex_lock(&p->tx);
	qp_stamp(p, &m);
	hdr = encode(b->data, &m);
	memcpy(b->data + hdr, payload, len);
	b->len = hdr + len;
	err = qp_send(p, b, msg_credits_needed(&m));
	mutex_unlock(&p->tx);
	return err;
}

/* Sends a message when there are credits for it, or -ETIMEDOUT */
int msg_send_wait(struct peer *p, u8 mid, const void *payload, u32 len, u64 ms)
{
	struct sdp_msg m = { .mid = mid, .payload_len = len };
	int err;

	do {
		err = qp_wait_credits(p, msg_credits_needed(&m), ms);
		if (!err)
			err = msg_send(p, mid, 0, payload, len);
	} while (err == -EAGAIN);
	return err;
}

/* What a send command says of payload; @n counts repetitions */
struct payload {
	const char	*hex;
	const u8	*mem;
	u64		off;
	u32		len;
	u32		seed;
};

static int parse_payload(struct peer *p, struct args *a, struct sdp_msg *m, struct payload *pl)
{
	const char *text = arg_key(a, "payload");
	struct peer_mr *mr = NULL;

	*pl = (struct payload) {};
	if (arg_key(a, "mr")) {
		mr = qp_find_mr(p, arg_keynum(a, "mr", 0));
		if (!mr)
			return -EINVAL;
		m->avail.len = mr->len;
		m->avail.rkey = mr->mr->rkey;
		m->avail.va = mr->mr->iova;
		pl->mem = mr->mem;
		pl->len = min_t(u64, arg_keynum(a, "inline", 0), mr->len);
	} else if (text && !strncmp(text, "pat:", 4)) {
		if (sscanf(text, "pat:%u:%u:%llu", &pl->seed, &pl->len, &pl->off) < 2)
			return -EINVAL;
	} else if (text) {
		pl->hex = text;
		pl->len = strlen(text) / 2;
	}
	return pl->len > PEER_MSG_MAX ? -EINVAL : 0;
}

static int put_payload(const struct payload *pl, u8 *to, u32 n)
{
	if (pl->hex)
		return arg_hex(pl->hex, to, pl->len) < 0 ? -EINVAL : 0;
	if (pl->mem)
		memcpy(to, pl->mem, pl->len);
	else
		msg_pattern(to, pl->len, pl->seed, pl->off + (u64)n * pl->len);
	return 0;
}

#define EXT_ROOM	256	/* for ext=HEX */

/* One message as the command wants it, behind the stamp */
static int build(struct args *a, struct sdp_msg *m, const struct payload *pl, u32 n,
		 struct peer_buf *b)
{
	const char *ext = arg_key(a, "ext");
	u32 hdr = encode(b->data, m);
	int len;

	if (ext) {
		len = arg_hex(ext, b->data + SDP_BSDH_SIZE, EXT_ROOM);
		if (len < 0)
			return len;
		hdr = SDP_BSDH_SIZE + len;
	}
	if (put_payload(pl, b->data + hdr, n))
		return -EINVAL;
	b->len = hdr + pl->len;
	((struct sdp_bsdh *)b->data)->len = cpu_to_be32(b->len);
	if (override(a, bsdh_fields + 1, b->data, hdr) ||	/* not the mid, which is a name */
	    override(a, fields_of(m->mid), b->data, hdr) || patch(a, b->data, b->len))
		return -EINVAL;
	b->len = min_t(u64, b->len, arg_keynum(a, "trunc", b->len));
	return a->err;
}

static int build_and_send(struct peer *p, struct args *a, struct sdp_msg *m,
			  const struct payload *pl, u32 n, s32 need)
{
	struct peer_buf *b = qp_buf(p, SDP_BSDH_SIZE + EXT_ROOM + pl->len, DMA_TO_DEVICE);
	int err;

	if (IS_ERR(b))
		return PTR_ERR(b);
	mutex_lock(&p->tx);
	qp_stamp(p, m);
	err = build(a, m, pl, n, b);
	if (err)
		qp_buf_free(b, DMA_TO_DEVICE);
	else
		err = qp_send(p, b, need);
	mutex_unlock(&p->tx);
	return err;
}

/* The credits to have, which are none with force=1; waits for them and room in the queue */
static int may_send(struct peer *p, struct args *a, s32 *need)
{
	u64 ms = arg_keynum(a, "timeout", PEER_TIMEOUT);
	int err = 0;

	if (arg_keynum(a, "force", 0))
		*need = S32_MIN;
	else
		err = qp_wait_credits(p, *need, ms);
	return err ?: qp_flush(p, PEER_SQ_DEPTH - 1, ms);
}

/* send [mid=NAME|N] [field=N ...] [payload=HEX|pat:SEED:LEN[:OFF]] ... */
int msg_build_send(struct peer *p, struct args *a)
{
	int mid = msg_mid(arg_key(a, "mid") ?: "Data");
	u64 times = arg_keynum(a, "times", 1), n = 0;
	struct sdp_msg m = { .mid = mid };
	struct payload pl;
	int err = mid < 0 ? mid : parse_payload(p, a, &m, &pl);
	s32 need;

	while (!err && n < times) {
		m.payload_len = pl.len;
		need = msg_credits_needed(&m);
		/* The last one is for what auto has posted: else neither side could say anything */
		if (READ_ONCE(p->mode) != AUTO_OFF)
			need = max(need, 2);
		err = may_send(p, a, &need);
		if (!err)
			err = build_and_send(p, a, &m, &pl, n, need);
		if (!err)
			n++;
		else if (err == -EAGAIN)
			err = 0;
	}
	return err;
}

/* sendraw [HEX]: a Send of these bytes and no others */
int msg_send_raw(struct peer *p, struct args *a)
{
	const char *hex = arg(a, 0) ?: "";
	struct peer_buf *b;
	s32 need = 1;
	int len, err = may_send(p, a, &need);

	if (err)
		return err;
	b = qp_buf(p, strlen(hex) / 2, DMA_TO_DEVICE);
	if (IS_ERR(b))
		return PTR_ERR(b);
	len = arg_hex(hex, b->data, b->size);
	if (len < 0) {
		qp_buf_free(b, DMA_TO_DEVICE);
		return len;
	}
	b->len = len;
	mutex_lock(&p->tx);
	err = qp_send(p, b, need);
	mutex_unlock(&p->tx);
	return err;
}
