// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests for tools/libsdp/config.c: libsdp.conf, line by line and whole files.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/sdp.h>
#include "config.h"

#define COUNT_OF(a)	(sizeof(a) / sizeof((a)[0]))
#define SERVER		SDP_ROLE_SERVER
#define CLIENT		SDP_ROLE_CLIENT

/* Errors of a parse, one below the other */
struct errors {
	char		text[4096];
	unsigned int	calls;
};

static void keep_error(void *arg, const char *message)
{
	struct errors *e = arg;
	size_t len = strlen(e->text);

	e->calls++;
	snprintf(e->text + len, sizeof(e->text) - len, "%s\n", message);
}

/* Parses @text from a buffer with no byte to spare */
static unsigned int parse(struct sdp_config *cfg, const char *text, size_t len, struct errors *e)
{
	char *copy = malloc(len ?: 1);
	unsigned int n;

	assert_non_null(copy);
	memcpy(copy, text, len);
	memset(e, 0, sizeof(*e));
	sdp_config_init(cfg);
	n = sdp_config_parse(cfg, "f", copy, len, keep_error, e);
	assert_int_equal(n, e->calls);
	free(copy);
	return n;
}

static void parse_good(struct sdp_config *cfg, const char *text)
{
	struct errors e;

	parse(cfg, text, strlen(text), &e);
	assert_string_equal(e.text, "");
}

/*
 * Lines that are a rule, and how that rule is written in its usual form.
 */
struct good {
	const char	*line;
	const char	*rule;
};

static const struct good good_rules[] = {
	{ "use sdp server * *:*", "use sdp server * *:*" },
	{ "use tcp listen * *:*", "use tcp server * *:*" },
	{ "use both client * *:*", "use both client * *:*" },
	{ "use both connect * *:*", "use both client * *:*" },
	{ "\t use\tsdp  server\t*\t*:*  ", "use sdp server * *:*" },
	{ "use sdp server * *:*\r", "use sdp server * *:*" },
	{ "use sdp server * *:*# all", "use sdp server * *:*" },
	{ "use sdp server * *:* # all", "use sdp server * *:*" },
	{ "use sdp server t?cp* *:22", "use sdp server t?cp* *:22" },
	{ "use sdp server [ab]c *:22", "use sdp server [ab]c *:22" },
	/* A program's name is anything, keywords and numbers too */
	{ "use sdp server server *:22", "use sdp server server *:22" },
	{ "use sdp server 9pfs *:22", "use sdp server 9pfs *:22" },
	{ "use sdp server #x *:22", "use sdp server #x *:22" },
	{ "use sdp server a:b *:22", "use sdp server a:b *:22" },
	{ "use sdp client * 10.1.2.3:80", "use sdp client * 10.1.2.3:80" },
	{ "use sdp client * 10.1.2.3/32:80", "use sdp client * 10.1.2.3:80" },
	{ "use sdp client * 10.1.0.0/16:80", "use sdp client * 10.1.0.0/16:80" },
	{ "use sdp client * 0.0.0.0/0:80", "use sdp client * 0.0.0.0/0:80" },
	{ "use sdp client * 10.1.0.0 / 16 : 80 - 90", "use sdp client * 10.1.0.0/16:80-90" },
	{ "use sdp client * * : *", "use sdp client * *:*" },
	{ "use sdp client * fd00::1:80", "use sdp client * fd00::1:80" },
	{ "use sdp client * fd00::/8:*", "use sdp client * fd00::/8:*" },
	{ "use sdp client * ::1:80-90", "use sdp client * ::1:80-90" },
	{ "use sdp client * :::80", "use sdp client * :::80" },
	{ "use sdp client * ::/0:*", "use sdp client * ::/0:*" },
	{ "use sdp client * [fd00::1]:80", "use sdp client * fd00::1:80" },
	{ "use sdp client * [fd00::]/8:80", "use sdp client * fd00::/8:80" },
	{ "use sdp client * 1:2:3:4:5:6:7:8:9", "use sdp client * 1:2:3:4:5:6:7:8:9" },
	{ "use sdp client * ::ffff:10.0.0.0/104:80", "use sdp client * 10.0.0.0/8:80" },
	{ "use sdp client * ::ffff:10.0.0.1:80", "use sdp client * 10.0.0.1:80" },
	{ "use sdp client * ::ffff:0.0.0.0/90:80", "use sdp client * ::ffff:0.0.0.0/90:80" },
	{ "use sdp client * *:0", "use sdp client * *:0" },
	{ "use sdp client * *:65535", "use sdp client * *:65535" },
	{ "use sdp client * *:5-5", "use sdp client * *:5" },
	{ "use sdp client * *:0-65535", "use sdp client * *:*" },
	{ "use sdp client * *:1-65535", "use sdp client * *:1-65535" },
};

static void parse_rules(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(good_rules); i++) {
		struct sdp_config cfg, again;
		char text[256];

		parse_good(&cfg, good_rules[i].line);
		assert_int_equal(cfg.n_rules, 1);
		assert_int_equal(cfg.rules[0].line, 1);
		sdp_rule_format(&cfg.rules[0], text, sizeof(text));
		assert_string_equal(text, good_rules[i].rule);

		/* What is written can be read */
		parse_good(&again, text);
		sdp_config_free(&again);
		sdp_config_free(&cfg);
	}
}

/*
 * Lines that are wrong, and what is to be said about them.
 */
static const struct good bad_lines[] = {
	{ "match listen *:5001", "a line begins with 'use', 'log' or '#', not with 'match'" },
	{ "Use sdp server * *:*", "a line begins with 'use', 'log' or '#', not with 'Use'" },
	{ "use", "'use' needs 'sdp', 'tcp' or 'both'" },
	{ "use # sdp", "'use' needs 'sdp', 'tcp' or 'both'" },
	{ "use# sdp", "'use' needs 'sdp', 'tcp' or 'both'" },
	{ "use sdp server# x *:*", "a program is missing after the role; * is all of them" },
	{ "use udp server * *:*", "'udp' after 'use' is none of sdp, tcp, both" },
	{ "use sdp", "a role is missing after 'use sdp': server or client" },
	{ "use tcp both * *:*", "role 'both' is none of server, listen, client, connect" },
	{ "use sdp server", "a program is missing after the role; * is all of them" },
	{ "use sdp server x", "ADDRESS:PORTS is missing after program 'x'; *:* is all of them" },
	{ "use sdp server 10.0.0.0/8:22 # all",
	  "ADDRESS:PORTS is missing after program '10.0.0.0/8:22'; *:* is all of them" },
	{ "use sdp server * 8080", "'8080' is not ADDRESS:PORTS: there is no colon" },
	{ "use sdp server * *", "'*' is not ADDRESS:PORTS: there is no colon" },
	{ "use sdp server * :22", "the address before ':22' is missing; * is all of them" },
	{ "use sdp server * *:", "the ports after '*:' are missing; * is all of them" },
	{ "use sdp server * *:22 23", "'23' is too much: a rule ends with ADDRESS:PORTS" },
	{ "use sdp server * *:* log", "'log' is too much: a rule ends with ADDRESS:PORTS" },
	{ "use sdp server * 10.0.0 .1:22", "'.1:22' is too much: a rule ends with ADDRESS:PORTS" },
	{ "use sdp server * 10.0.0.256:22",
	  "'10.0.0.256' is no address: use IPv4 as 10.0.0.0/8, IPv6 as fd00::/8, or *" },
	{ "use sdp server * 10.0.0.*:22",
	  "'10.0.0.*' is no address: use IPv4 as 10.0.0.0/8, IPv6 as fd00::/8, or *" },
	{ "use sdp server * host:22",
	  "'host' is no address: use IPv4 as 10.0.0.0/8, IPv6 as fd00::/8, or *" },
	{ "use sdp server * [::1:22",
	  "'[::1' is no address: use IPv4 as 10.0.0.0/8, IPv6 as fd00::/8, or *" },
	{ "use sdp server * 10.0.0.0/33:22", "prefix length '33' is no number from 0 to 32" },
	{ "use sdp server * 10.0.0.0/:22", "prefix length '' is no number from 0 to 32" },
	{ "use sdp server * 10.0.0.0/08:22", "prefix length '08' is no number from 0 to 32" },
	{ "use sdp server * 10.0.0.0/-1:22", "prefix length '-1' is no number from 0 to 32" },
	{ "use sdp server * fd00::/129:22", "prefix length '129' is no number from 0 to 128" },
	{ "use sdp server * *:65536",
	  "port '65536' is no number from 0 to 65535: use one, a range, or *" },
	{ "use sdp server * *:4294967318",
	  "port '4294967318' is no number from 0 to 65535: use one, a range, or *" },
	{ "use sdp server * *:99999999999999999999999",
	  "port '99999999999999999999999' is no number from 0 to 65535: use one, a range, or *" },
	{ "use sdp server * *:ssh",
	  "port 'ssh' is no number from 0 to 65535: use one, a range, or *" },
	{ "use sdp server * *:1024-*",
	  "port '*' is no number from 0 to 65535: use one, a range, or *" },
	{ "use sdp server * *:-22", "port '' is no number from 0 to 65535: use one, a range, or *" },
	{ "use sdp server * *:22-21", "port range 22-21 runs backwards" },
	{ "log level 9", "'level' after 'log' is neither 'destination' nor 'min-level'" },
	{ "log destination", "'destination' needs 'stderr', 'syslog' or 'file NAME'" },
	{ "log destination stdout", "destination 'stdout' is none of stderr, syslog, file" },
	{ "log destination file", "'destination file' needs a name" },
	{ "log destination #file x", "'destination' needs 'stderr', 'syslog' or 'file NAME'" },
	{ "log destination file#x", "'destination file' needs a name" },
	{ "log min-level", "'min-level' needs a number from 1 (everything) to 9 (errors only)" },
	{ "log min-level#9", "'min-level' needs a number from 1 (everything) to 9 (errors only)" },
	{ "log min-level x7#",
	  "min-level 'x7' is no number from 1 (everything) to 9 (errors only)" },
	{ "log min-level -1",
	  "min-level '-1' is no number from 1 (everything) to 9 (errors only)" },
};

static void parse_errors(void **state)
{
	struct sdp_config cfg;
	char text[512];
	struct errors e;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(bad_lines); i++) {
		int len = snprintf(text, sizeof(text), "# one\n%s\nuse tcp server * *:*\n",
				   bad_lines[i].line);

		assert_int_equal(parse(&cfg, text, len, &e), 1);
		snprintf(text, sizeof(text), "f:2: %s\n", bad_lines[i].rule);
		assert_string_equal(e.text, text);
		/* The lines around it are as they would be without */
		assert_int_equal(cfg.n_rules, 1);
		assert_int_equal(cfg.rules[0].line, 3);
		sdp_config_free(&cfg);
	}
}

static void parse_all_errors_are_told(void **state)
{
	static const char text[] = "a\n\nuse sdp server * *:*\nb\nuse\n";
	struct sdp_config cfg;
	struct errors e;

	(void)state;
	assert_int_equal(parse(&cfg, text, strlen(text), &e), 3);
	assert_non_null(strstr(e.text, "f:1: "));
	assert_non_null(strstr(e.text, "f:4: "));
	assert_non_null(strstr(e.text, "f:5: "));
	sdp_config_free(&cfg);
}

static void parse_long_word_is_cut_in_errors(void **state)
{
	struct sdp_config cfg;
	char text[5000];
	struct errors e;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(parse(&cfg, text, sizeof(text), &e), 1);
	assert_in_range(strlen(e.text), 300, 512);
	sdp_config_free(&cfg);
}

static void parse_nul_byte(void **state)
{
	struct sdp_config cfg;
	struct errors e;

	(void)state;
	assert_int_equal(parse(&cfg, "use sdp server * *:*\n\0", 22, &e), 1);
	assert_string_equal(e.text, "f: there is a NUL byte in it: this is no text file\n");
	assert_int_equal(cfg.n_rules, 0);
	sdp_config_free(&cfg);
}

static void parse_empty(void **state)
{
	static const char * const texts[] = { "", "\n", "\n\n  \n", "# x", "  # x\n", "\r\n" };
	struct sdp_config cfg;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(texts); i++) {
		parse_good(&cfg, texts[i]);
		assert_int_equal(cfg.n_rules, 0);
		assert_int_equal(cfg.level, SDP_LOG_ERROR);
		assert_int_equal(cfg.dest, SDP_LOG_STDERR);
		sdp_config_free(&cfg);
	}
}

static void parse_log(void **state)
{
	static const char half[] = "log min-level 3 destination file a\n"
				   "log destination file b min-level x";
	struct sdp_config cfg;
	struct errors e;

	(void)state;
	parse_good(&cfg, "log");
	assert_int_equal(cfg.level, SDP_LOG_ERROR);
	sdp_config_free(&cfg);
	parse_good(&cfg, "log min-level 7");
	assert_int_equal(cfg.level, 7);
	assert_int_equal(cfg.dest, SDP_LOG_STDERR);
	sdp_config_free(&cfg);
	parse_good(&cfg, "log destination syslog min-level 1 # all");
	assert_int_equal(cfg.level, 1);
	assert_int_equal(cfg.dest, SDP_LOG_SYSLOG);
	sdp_config_free(&cfg);
	parse_good(&cfg, "log min-level 3 destination file #1 min-level 4");
	assert_int_equal(cfg.level, 4);
	assert_int_equal(cfg.dest, SDP_LOG_FILE);
	assert_string_equal(cfg.log_file, "#1");
	sdp_config_free(&cfg);
	/* A line with an error has no part that counts */
	assert_int_equal(parse(&cfg, half, strlen(half), &e), 1);
	assert_int_equal(cfg.level, 3);
	assert_string_equal(cfg.log_file, "a");
	sdp_config_free(&cfg);
	/* The last one counts */
	parse_good(&cfg, "log destination file a\nlog destination file b\nlog destination stderr");
	assert_int_equal(cfg.dest, SDP_LOG_STDERR);
	sdp_config_free(&cfg);
}

/* Where a comment is glued to a word, and "#" is part of a name */
static void parse_comments(void **state)
{
	struct sdp_config cfg;

	(void)state;
	parse_good(&cfg, "log min-level 7# errors\nlog destination stderr#min-level 2\n#log x");
	assert_int_equal(cfg.level, 7);
	assert_int_equal(cfg.dest, SDP_LOG_STDERR);
	sdp_config_free(&cfg);
	parse_good(&cfg, "log# all of it\nlog destination file a#b# min-level 4#");
	assert_string_equal(cfg.log_file, "a#b#");
	assert_int_equal(cfg.level, 4);
	sdp_config_free(&cfg);
	parse_good(&cfg, "use sdp server a#b *:22#");
	assert_string_equal(cfg.rules[0].program, "a#b");
	sdp_config_free(&cfg);
}

static void parse_odd_levels(void **state)
{
	static const struct {
		const char	*text;
		int		level;
		unsigned int	line;
	} cases[] = {
		{ "log min-level 1", 1, 0 },
		{ "log min-level 9", 9, 0 },
		{ "log min-level 0", 1, 1 },
		{ "log min-level 10", 9, 1 },
		{ "\nlog min-level 77 destination syslog\nlog min-level 3", 3, 2 },
		/* A line with an error has no part that counts */
		{ "log min-level 77 x", 9, 0 },
	};
	struct sdp_config cfg;
	struct errors e;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(cases); i++) {
		parse(&cfg, cases[i].text, strlen(cases[i].text), &e);
		assert_int_equal(cfg.level, cases[i].level);
		assert_int_equal(cfg.odd_level, cases[i].line);
		sdp_config_free(&cfg);
	}
}

/*
 * Files as they are found: OFED's default, HP-UX's, examples of their manuals, generated ones.
 */
static const struct {
	const char	*text;
	unsigned int	rules;
} files[] = {
	{ "# libsdp.conf - configuration file for libsdp\n"
	  "#\n"
	  "log min-level 9 destination file libsdp.log\n"
	  "#\n"
	  "use both server * *:*\n"
	  "use both client * *:*\n", 2 },
	{ "log min-level 9 destination file libsdp.log\n"
	  "use sdp server * *:*\n"
	  "use sdp client * *:*\n", 2 },
	{ "use tcp server sshd *:*\n"
	  "use tcp client ssh *:22\n"
	  "use sdp connect * 192.168.1.0/24:*\n"
	  "use sdp listen ttcp *:5001\n"
	  "use tcp server ttcp* *:22-25\n"
	  "use both server * *:8080\n"
	  "use both connect * 11.4.8.0/24:22\n", 7 },
	{ "## HOD generated\n"
	  "#log min-level 7 destination file /var/log/hadoop/sdp.debug.log\n"
	  "use sdp server *java* 10.141.0.7/20:50020\n"
	  "use sdp client *java* 10.141.0.7/20:50020\n", 2 },
	{ "log destination syslog\n\n\n"
	  "use both server oracle* fd12:3456::/64:1521-1526\n"
	  "use tcp server * *:*", 2 },
	{ "use both server * *:*\r\nuse both client * *:*\r\n", 2 },
};

static void parse_files(void **state)
{
	struct sdp_config cfg;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(files); i++) {
		parse_good(&cfg, files[i].text);
		assert_int_equal(cfg.n_rules, files[i].rules);
		sdp_config_free(&cfg);
	}
}

/* ---- which rule counts ---- */

static socklen_t address(const char *ip, unsigned int port, struct sockaddr_storage *sa)
{
	struct sockaddr_in6 *v6 = (void *)sa;
	struct sockaddr_in *v4 = (void *)sa;

	memset(sa, 0, sizeof(*sa));
	if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return sizeof(*v4);
	}
	assert_int_equal(inet_pton(AF_INET6, ip, &v6->sin6_addr), 1);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return sizeof(*v6);
}

/* The line of the rule that counts; 0 for none */
static unsigned int match(const char *text, const char *program, enum sdp_role role,
			  const char *ip, unsigned int port)
{
	const struct sdp_rule *rule;
	struct sockaddr_storage sa;
	struct sdp_config cfg;
	unsigned int line;
	socklen_t len;

	parse_good(&cfg, text);
	sdp_config_for_program(&cfg, program);
	len = address(ip, port, &sa);
	rule = sdp_config_match(&cfg, role, (void *)&sa, len);
	line = rule ? rule->line : 0;
	sdp_config_free(&cfg);
	return line;
}

static void match_first_counts(void **state)
{
	static const char text[] =
		"use tcp client ssh *:22\n"
		"use sdp client * 10.0.0.0/8:1-1023\n"
		"use both client * 10.1.0.0/16:*\n"
		"use sdp server * *:*\n";

	(void)state;
	assert_int_equal(match(text, "ssh", CLIENT, "10.1.1.1", 22), 1);
	assert_int_equal(match(text, "scp", CLIENT, "10.1.1.1", 22), 2);
	assert_int_equal(match(text, "ssh", CLIENT, "10.1.1.1", 1024), 3);
	assert_int_equal(match(text, "ssh", CLIENT, "10.2.1.1", 1024), 0);
	assert_int_equal(match(text, "ssh", CLIENT, "11.1.1.1", 1), 0);
	assert_int_equal(match(text, "ssh", SERVER, "10.1.1.1", 22), 4);
}

static void match_programs(void **state)
{
	(void)state;
	assert_int_equal(match("use tcp server db2* *:*", "db2sysc", SERVER, "0.0.0.0", 1), 1);
	assert_int_equal(match("use tcp server db2* *:*", "db", SERVER, "0.0.0.0", 1), 0);
	assert_int_equal(match("use tcp server t?cp *:*", "ttcp", SERVER, "0.0.0.0", 1), 1);
	assert_int_equal(match("use tcp server t?cp *:*", "tcp", SERVER, "0.0.0.0", 1), 0);
	assert_int_equal(match("use tcp server [st]* *:*", "sshd", SERVER, "0.0.0.0", 1), 1);
	assert_int_equal(match("use tcp server ssh *:*", "sshd", SERVER, "0.0.0.0", 1), 0);
}

static void match_prefixes(void **state)
{
	static const char v4[] = "use sdp client * 10.128.0.0/9:*";
	static const char v6[] = "use sdp client * fd00:8000::/17:*";

	(void)state;
	assert_int_equal(match(v4, "x", CLIENT, "10.128.0.0", 1), 1);
	assert_int_equal(match(v4, "x", CLIENT, "10.255.255.255", 1), 1);
	assert_int_equal(match(v4, "x", CLIENT, "10.127.255.255", 1), 0);
	assert_int_equal(match(v4, "x", CLIENT, "11.128.0.0", 1), 0);
	assert_int_equal(match(v6, "x", CLIENT, "fd00:8000::1", 1), 1);
	assert_int_equal(match(v6, "x", CLIENT, "fd00:ffff::1", 1), 1);
	assert_int_equal(match(v6, "x", CLIENT, "fd00:7fff::1", 1), 0);
	/* Bits beyond the prefix don't count */
	assert_int_equal(match("use sdp client * 10.0.0.5/24:*", "x", CLIENT, "10.0.0.9", 1), 1);
}

/* "*" and prefixes of 0: every address, every IPv4 one, every IPv6 one */
static void match_families(void **state)
{
	(void)state;
	assert_int_equal(match("use sdp client * *:*", "x", CLIENT, "10.0.0.1", 1), 1);
	assert_int_equal(match("use sdp client * *:*", "x", CLIENT, "fd00::1", 1), 1);
	assert_int_equal(match("use sdp client * 0.0.0.0/0:*", "x", CLIENT, "10.0.0.1", 1), 1);
	assert_int_equal(match("use sdp client * 0.0.0.0/0:*", "x", CLIENT, "::ffff:10.0.0.1", 1), 1);
	assert_int_equal(match("use sdp client * 0.0.0.0/0:*", "x", CLIENT, "::1", 1), 0);
	assert_int_equal(match("use sdp client * ::/0:*", "x", CLIENT, "::1", 1), 1);
	assert_int_equal(match("use sdp client * ::/0:*", "x", CLIENT, "10.0.0.1", 1), 0);
	assert_int_equal(match("use sdp client * ::/0:*", "x", CLIENT, "::ffff:10.0.0.1", 1), 0);
	assert_int_equal(match("use sdp client * 10.0.0.1:*", "x", CLIENT, "::ffff:10.0.0.1", 1), 1);
	/* A server on all addresses isn't one on any of them */
	assert_int_equal(match("use sdp server * 10.0.0.1:*", "x", SERVER, "0.0.0.0", 1), 0);
}

static void match_ports(void **state)
{
	static const char text[] = "use sdp server * *:10-12";

	(void)state;
	assert_int_equal(match(text, "x", SERVER, "::", 9), 0);
	assert_int_equal(match(text, "x", SERVER, "::", 10), 1);
	assert_int_equal(match(text, "x", SERVER, "::", 12), 1);
	assert_int_equal(match(text, "x", SERVER, "::", 13), 0);
}

static void match_odd_addresses(void **state)
{
	struct sockaddr_storage sa;
	struct sdp_config cfg;
	char text[64];

	(void)state;
	parse_good(&cfg, "use sdp client * *:*");
	address("10.0.0.1", 80, &sa);
	sa.ss_family = AF_INET_SDP;
	assert_non_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, sizeof(struct sockaddr_in)));
	assert_string_equal(sdp_address_format((void *)&sa, 16, text, sizeof(text)), "10.0.0.1:80");
	assert_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, 15));
	assert_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, 1));
	assert_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, 0));
	assert_null(sdp_config_match(&cfg, CLIENT, NULL, 16));
	address("fd00::1", 80, &sa);
	/* Without scope, as of RFC 2133 */
	assert_non_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, 24));
	assert_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, 23));
	sa.ss_family = AF_INET6_SDP;
	assert_string_equal(sdp_address_format((void *)&sa, 28, text, sizeof(text)), "[fd00::1]:80");
	sa.ss_family = AF_UNSPEC;
	assert_null(sdp_config_match(&cfg, CLIENT, (void *)&sa, sizeof(sa)));
	assert_null(sdp_address_format((void *)&sa, sizeof(sa), text, sizeof(text)));
	sdp_config_free(&cfg);
}

/* ---- what no rule says ---- */

static void use_without_a_match(void **state)
{
	struct sdp_config cfg;

	(void)state;
	parse_good(&cfg, "log min-level 9");
	assert_int_equal(sdp_config_use(&cfg, NULL), SDP_USE_SDP);
	sdp_config_free(&cfg);
	/* Another program's rule is a rule */
	parse_good(&cfg, "use tcp client x *:*");
	sdp_config_for_program(&cfg, "y");
	assert_int_equal(cfg.n_rules, 0);
	assert_int_equal(sdp_config_use(&cfg, NULL), SDP_USE_BOTH);
	sdp_config_free(&cfg);
}

static void force(void **state)
{
	struct sdp_config cfg;

	(void)state;
	parse_good(&cfg, "log min-level 3\nuse sdp client x *:*\nuse sdp server * *:*");
	sdp_config_force(&cfg, SDP_USE_TCP);
	assert_int_equal(cfg.n_rules, 0);
	assert_int_equal(cfg.level, 3);
	assert_int_equal(sdp_config_use(&cfg, NULL), SDP_USE_TCP);
	assert_int_equal(sdp_config_possible(&cfg, SERVER), 1 << SDP_USE_TCP);
	sdp_config_free(&cfg);
}

static void possible(void **state)
{
	static const struct {
		const char	*text;
		unsigned int	server;
		unsigned int	client;
	} cases[] = {
#define S	(1 << SDP_USE_SDP)
#define T	(1 << SDP_USE_TCP)
#define B	(1 << SDP_USE_BOTH)
		{ "", S, S },
		{ "use tcp server x *:*", B, B },
		{ "use tcp server * *:*", T, B },
		{ "use tcp client * *:*", B, T },
		{ "use tcp server * *:*\nuse sdp server * *:*", T, B },
		{ "use tcp server * *:22\nuse sdp server * *:*", T | S, B },
		{ "use tcp server * *:22", T | B, B },
		{ "use sdp server * 10.0.0.0/8:*", S | B, B },
		{ "use sdp server * 0.0.0.0/0:*\nuse tcp server * *:*", S | T, B },
		{ "use sdp client * *:0-65535\nuse tcp client * *:*", B, S },
#undef S
#undef T
#undef B
	};
	struct sdp_config cfg;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(cases); i++) {
		parse_good(&cfg, cases[i].text);
		sdp_config_for_program(&cfg, "y");
		assert_int_equal(sdp_config_possible(&cfg, SERVER), cases[i].server);
		assert_int_equal(sdp_config_possible(&cfg, CLIENT), cases[i].client);
		sdp_config_free(&cfg);
	}
}

static void masked(void **state)
{
	static const struct {
		const char	*text;
		bool		masked;
	} cases[] = {
		{ "use sdp client * *:*", false },
		{ "use sdp client * 10.0.0.0/8:*", false },
		{ "use sdp client * 10.0.0.1/32:*", false },
		{ "use sdp client * 10.0.0.1/31:*", true },
		{ "use sdp client * 10.0.1.0/23:*", true },
		{ "use sdp client * fd00::/8:*", false },
		{ "use sdp client * fd00::1/64:*", true },
	};
	struct sdp_config cfg;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT_OF(cases); i++) {
		parse_good(&cfg, cases[i].text);
		assert_int_equal(sdp_rule_masked(&cfg.rules[0]), cases[i].masked);
		sdp_config_free(&cfg);
	}
}

static void words(void **state)
{
	enum sdp_use use, again;

	(void)state;
	for (use = SDP_USE_SDP; use <= SDP_USE_BOTH; use++) {
		assert_true(sdp_use_parse(sdp_use_str(use), &again));
		assert_int_equal(use, again);
	}
	assert_false(sdp_use_parse("", &use));
	assert_false(sdp_use_parse("SDP", &use));
}

/* ---- files ---- */

static unsigned int read_path(const char *path, struct sdp_config *cfg, struct errors *e)
{
	memset(e, 0, sizeof(*e));
	sdp_config_init(cfg);
	return sdp_config_read(cfg, path, keep_error, e);
}

static void read_files(void **state)
{
	char dir[] = "/tmp/libsdp_test.XXXXXX", path[64];
	struct sdp_config cfg;
	struct errors e;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/conf", dir);
	assert_int_equal(read_path(path, &cfg, &e), 1);
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(e.text, "can't be read: No such file or directory"));

	assert_int_equal(read_path(dir, &cfg, &e), 1);
	assert_non_null(strstr(e.text, "can't be read: Is a directory"));

	f = fopen(path, "w");
	assert_non_null(f);
	fputs("use sdp client * *:*\nuse", f);
	fclose(f);
	assert_int_equal(read_path(path, &cfg, &e), 1);
	assert_int_equal(cfg.n_rules, 1);
	assert_non_null(strstr(e.text, "/conf:2: 'use' needs"));
	sdp_config_free(&cfg);

	/* Nobody waits for a FIFO, nor reads all of something huge */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_path(path, &cfg, &e), 1);
	assert_non_null(strstr(e.text, "can't be read: Invalid argument"));
	assert_int_equal(unlink(path), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), 2 << 20), 0);
	fclose(f);
	assert_int_equal(read_path(path, &cfg, &e), 1);
	assert_non_null(strstr(e.text, "can't be read: File too large"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_rules),
		cmocka_unit_test(parse_errors),
		cmocka_unit_test(parse_all_errors_are_told),
		cmocka_unit_test(parse_long_word_is_cut_in_errors),
		cmocka_unit_test(parse_nul_byte),
		cmocka_unit_test(parse_empty),
		cmocka_unit_test(parse_log),
		cmocka_unit_test(parse_comments),
		cmocka_unit_test(parse_odd_levels),
		cmocka_unit_test(parse_files),
		cmocka_unit_test(match_first_counts),
		cmocka_unit_test(match_programs),
		cmocka_unit_test(match_prefixes),
		cmocka_unit_test(match_families),
		cmocka_unit_test(match_ports),
		cmocka_unit_test(match_odd_addresses),
		cmocka_unit_test(use_without_a_match),
		cmocka_unit_test(force),
		cmocka_unit_test(possible),
		cmocka_unit_test(masked),
		cmocka_unit_test(words),
		cmocka_unit_test(read_files),
	};

	return cmocka_run_group_tests_name("libsdp", tests, NULL, NULL);
}
