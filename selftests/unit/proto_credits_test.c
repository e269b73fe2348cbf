// SPDX-License-Identifier: GPL-2.0
/*
 * Credits: sdp_credits(), and two ends that use it.
 */
#include "proto.h"

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

#define TEST_CREDIT(name, ...)	\
	{ "sdp_credits__" #name, credit_case, NULL, NULL, (void *)&c_##name },

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CREDIT_CASES(TEST_CREDIT)
		cmocka_unit_test(sdp_credits__every_small_case),
		cmocka_unit_test(sdp_credits__two_ends),
	};

	return cmocka_run_group_tests_name("proto_credits", tests, NULL, NULL);
}
