// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of tools/sdpstat/filter.c: what a filter takes, what it matches, and what it says
 * of one that is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <arpa/inet.h>

#include "../../tools/sdpstat/filter.h"

#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))

static char why[256];

static struct filter_end end(const char *addr, unsigned int port)
{
	struct filter_end e = { .port = port };

	assert_int_equal(inet_pton(AF_INET6, addr, &e.addr), 1);
	return e;
}

/* The socket all expressions below are tried on, and its like over IPv6 */
static struct filter_sock sock4(void)
{
	return (struct filter_sock){
		.local = end("::ffff:10.1.2.3", 5001), .peer = end("::ffff:10.1.2.4", 40000),
		.device = "rxe0",
	};
}

static struct filter_sock sock6(void)
{
	return (struct filter_sock){
		.local = end("fd00::3", 5001), .peer = end("fd00:1::4", 40000), .device = "",
	};
}

static bool parse(struct filter *f, const char *text)
{
	char word[512];
	char *argv[] = { word };

	strcpy(word, text);
	return filter_parse(f, 1, argv, why, sizeof(why));
}

static bool matches(const char *text, struct filter_sock s)
{
	struct filter f;
	bool ok;

	if (!parse(&f, text))
		fail_msg("'%s': %s", text, why);
	ok = filter_match(&f, &s);
	filter_free(&f);
	return ok;
}

#define MATCH_CASES(X)									\
	X(nothing, "", true, true)							\
	X(sport, "sport = :5001", true, true)						\
	X(sport_bare, "sport 5001", true, true)						\
	X(sport_tight, "sport=5001", true, true)					\
	X(sport_other, "sport = 5002", false, false)					\
	X(sport_word, "sport eq :5001", true, true)					\
	X(dport, "dport = 40000", true, true)						\
	X(dport_isnt_sport, "dport = 5001", false, false)				\
	X(port_ne, "sport != 5001", false, false)					\
	X(port_lt, "sport < 5001", false, false)					\
	X(port_le, "sport <= 5001", true, true)						\
	X(port_gt, "dport > :1024", true, true)						\
	X(port_ge, "dport ge 40001", false, false)					\
	X(src_v4, "src 10.1.2.3", true, false)						\
	X(src_v4_other, "src 10.1.2.4", false, false)					\
	X(src_v4_port, "src 10.1.2.3:5001", true, false)				\
	X(src_v4_other_port, "src 10.1.2.3:5002", false, false)				\
	X(src_any_port, "src 10.1.2.3:*", true, false)					\
	X(src_port_alone, "src :5001", true, true)					\
	X(src_star, "src *:5001", true, true)						\
	X(dst_v4_prefix, "dst 10.0.0.0/8", true, false)					\
	X(dst_v4_prefix_port, "dst 10.0.0.0/8:40000", true, false)			\
	X(dst_v4_odd_prefix, "dst 10.1.2.0/29", true, false)				\
	X(dst_v4_odd_prefix_other, "dst 10.1.2.8/29", false, false)			\
	X(dst_v4_all, "dst 0.0.0.0/0", true, false)					\
	X(dst_ne, "dst != 10.1.2.4", false, true)					\
	X(dst_v6, "dst fd00:1::4", false, true)						\
	X(dst_v6_brackets, "dst [fd00:1::4]", false, true)				\
	X(dst_v6_port, "dst [fd00:1::4]:40000", false, true)				\
	X(dst_v6_other_port, "dst [fd00:1::4]:1", false, false)				\
	X(dst_v6_prefix, "dst fd00::/16", false, true)					\
	X(dst_v6_prefix_brackets, "dst [fd00::]/31", false, true)			\
	X(dst_v6_prefix_port, "dst [fd00::]/31:40000", false, true)			\
	X(dst_v6_all, "dst ::/0", true, true)						\
	X(device, "device rxe0", true, false)						\
	X(device_ne, "device != rxe0", false, true)					\
	X(and, "sport 5001 and dport 40000", true, true)				\
	X(and_implied, "sport 5001 dport 1", false, false)				\
	X(or, "sport 1 or dport 40000", true, true)					\
	X(or_signs, "sport 1 || src 10.1.2.3", true, false)				\
	X(and_binds_tighter, "sport 5001 or sport 1 and sport 2", true, true)		\
	X(parentheses, "( sport 5001 or sport 1 ) and sport 2", false, false)		\
	X(parentheses_tight, "(sport 5001 or sport 1)and dport 40000", true, true)	\
	X(not, "not sport 5001", false, false)						\
	X(not_sign, "! sport 1", true, true)						\
	X(not_binds_tighter, "not sport 1 and dport 40000", true, true)			\
	X(not_group, "!(src 10.1.2.3 or dport 1)", false, true)				\
	X(states_first, "state established exclude closing sport 5001", true, true)

#define DEFINE_MATCH(name, text, on4, on6)						\
	static void filter_match__##name(void **unused)					\
	{										\
		(void)unused;								\
		assert_int_equal(matches(text, sock4()), on4);				\
		assert_int_equal(matches(text, sock6()), on6);				\
	}
MATCH_CASES(DEFINE_MATCH)
#define TEST_MATCH(name, text, on4, on6)	cmocka_unit_test(filter_match__##name),

/* A filter that is wrong, and a part of what is said of it */
static const struct {
	const char *text, *why;
} wrong[] = {
	{ "port 5001", "'port' begins no test" },
	{ "sport", "value is due" },
	{ "sport =", "value is due" },
	{ "sport = http", "'http' is no port" },
	{ "sport 65536", "'65536' is no port" },
	{ "sport -1", "'-1' is no port" },
	{ "sport 99999999999999999999", "is no port" },
	{ "sport => 1", "'=>' compares nothing" },
	{ "src < 10.0.0.1", "equal or not" },
	{ "src 10.0.0", "'10.0.0' is no address" },
	{ "src 10.0.0.1/33", "up to 32" },
	{ "src fd00::/129", "up to 128" },
	{ "src fd00::/", "up to 128" },
	{ "src /8", "is no address" },
	{ "src 10.0.0.1:x", "is no port" },
	{ "src [fd00::", "is no address" },
	{ "src fe80::1%eth0", "is no address" },
	{ "device", "value is due" },
	{ "device > a", "equal or not" },
	{ "sport 1 and", "test is due" },
	{ "or sport 1", "'or' begins no test" },
	{ "not", "test is due" },
	{ "( sport 1", "')' is missing" },
	{ "sport 1 )", "')' is too much" },
	{ "()", "')' begins no test" },
	{ "state", "'' is no state" },
	{ "state up", "'up' is no state" },
	{ "exclude all", "excludes every state" },
	{ "sport 1 state established", "'state' begins no test" },
	{ "src :0", "port 0" },
	{ "dst 10.0.0.1:0", "port 0" },
};

static void filter_parse__wrong(void **unused)
{
	struct filter f;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		*why = 0;
		if (parse(&f, wrong[i].text))
			fail_msg("'%s' was taken", wrong[i].text);
		if (!strstr(why, wrong[i].why))
			fail_msg("'%s': '%s' doesn't say '%s'", wrong[i].text, why, wrong[i].why);
		filter_free(&f);
	}
}

static void filter_parse__long(void **unused)
{
	char text[500];
	struct filter f;

	(void)unused;
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_false(parse(&f, text));
	assert_non_null(strstr(why, "too long"));
	filter_free(&f);
	memset(text, '(', sizeof(text) - 1);
	assert_false(parse(&f, text));
	assert_non_null(strstr(why, "too deeply"));
	filter_free(&f);
	memset(text, '!', sizeof(text) - 1);
	assert_false(parse(&f, text));
	filter_free(&f);
}

/* Every text cut short at every place is refused or not, and does no harm */
static void filter_parse__cut(void **unused)
{
	static const char whole[] =
		"state established ( not src [fd00::1]/64:80 or dst != 10.0.0.0/8 ) and sport >= :1";
	char text[sizeof(whole)];
	struct filter f;

	(void)unused;
	for (size_t n = 0; n < sizeof(whole); n++) {
		memcpy(text, whole, n);
		text[n] = 0;
		parse(&f, text);
		filter_free(&f);
	}
}

static void filter_parse__words(void **unused)
{
	char *argv[] = { "sport", "=", ":5001", "and", "(", "dport", "40000", ")" };
	struct filter_sock s = sock4();
	struct filter f;

	(void)unused;
	assert_true(filter_parse(&f, COUNT_OF(argv), argv, why, sizeof(why)));
	assert_true(filter_match(&f, &s));
	filter_free(&f);
}

static uint32_t states(const char *text)
{
	struct filter f;

	assert_true(parse(&f, text));
	filter_free(&f);
	return f.states;
}

static void filter_parse__states(void **unused)
{
	(void)unused;
	assert_int_equal(states(""), 0);
	assert_int_equal(states("state established"), 1 << 1);
	assert_int_equal(states("state listening state closed"), 1 << 10 | 1 << 7);
	assert_int_equal(states("exclude listen"), FILTER_ALL & ~FILTER_LISTENING);
	assert_int_equal(states("state connected exclude established"), FILTER_CONNECTED & ~2);
	for (unsigned int i = 1; i < 12; i++) {
		char text[64];

		snprintf(text, sizeof(text), "state %s", filter_state_name(i));
		assert_int_equal(states(text), 1u << i);
	}
	assert_string_equal(filter_state_name(0), "unknown");
	assert_string_equal(filter_state_name(200), "unknown");
}

/* What the kernel may be asked to look for alone */
static void filter_parse__ports(void **unused)
{
	static const struct {
		const char *text;
		unsigned int sport, dport;
	} cases[] = {
		{ "sport 1", 1, 0 }, { "dport 2 sport 1", 1, 2 }, { "dst 10.0.0.1:2", 0, 2 },
		{ "sport != 1", 0, 0 }, { "sport >= 1", 0, 0 }, { "not sport 1", 0, 0 },
		{ "sport 1 or dport 2", 0, 0 }, { "( sport 1 or sport 2 ) dport 3", 0, 3 },
		{ "src != 10.0.0.1:2", 0, 0 },
	};
	struct filter f;

	(void)unused;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_true(parse(&f, cases[i].text));
		assert_int_equal(f.sport, cases[i].sport);
		assert_int_equal(f.dport, cases[i].dport);
		filter_free(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		MATCH_CASES(TEST_MATCH)
		cmocka_unit_test(filter_parse__wrong),
		cmocka_unit_test(filter_parse__long),
		cmocka_unit_test(filter_parse__cut),
		cmocka_unit_test(filter_parse__words),
		cmocka_unit_test(filter_parse__states),
		cmocka_unit_test(filter_parse__ports),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
