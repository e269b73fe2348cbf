// SPDX-License-Identifier: GPL-2.0
/*
 * The filter language: that of ss(8) as far as it makes sense here.
 *
 *	filter	= { "state" STATE | "exclude" STATE } [ expr ]
 *	expr	= term { ( "or" | "||" | "|" ) term }
 *	term	= factor { [ "and" | "&&" | "&" ] factor }
 *	factor	= ( "not" | "!" ) factor | "(" expr ")" | test
 *	test	= ( "sport" | "dport" ) [ CMP ] [ ":" ] NUMBER
 *		| ( "src" | "dst" ) [ CMP ] END
 *		| "device" [ CMP ] NAME
 *
 * where END is ADDRESS, ADDRESS/PREFIX, either with :PORT behind it, or :PORT, but not
 * port 0, and CMP is = or !=, for ports <, >, <= and >= as well, or eq, ne, lt, gt, le, ge.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <linux/types.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define WORD_MAX	128
#define DEPTH_MAX	64	/* of parentheses and nots */

enum kind { AND, OR, NOT, PORT, END, DEVICE };
enum cmp { EQ, NE, LT, GT, LE, GE };

/**
 * struct filter_expr - a node of an expression
 * @kind:	what it is
 * @left:	AND, OR, NOT: operand
 * @right:	AND, OR: the other one
 * @peer:	PORT, END: the other end's
 * @cmp:	PORT, END, DEVICE: how to compare
 * @port:	PORT, END: number, 0 for any
 * @prefix:	END: bits of @addr that count
 * @addr:	END: address, v4-mapped
 * @device:	DEVICE: name
 */
struct filter_expr {
	enum kind kind;
	struct filter_expr *left, *right;
	bool peer;
	enum cmp cmp;
	uint16_t port;
	unsigned int prefix;
	struct in6_addr addr;
	char device[WORD_MAX];
};

/**
 * struct parser - where parsing is
 * @rest:	text not looked at yet
 * @word:	the current word, "" at the end
 * @depth:	of recursion
 * @failed:	something is wrong, @why says what
 * @why:	see filter_parse()
 * @len:	room there
 */
struct parser {
	const char *rest;
	char word[WORD_MAX];
	int depth;
	bool failed;
	char *why;
	size_t len;
};

static const struct {
	const char *name;
	uint32_t states;
} state_names[] = {
	{ "established",	1 << TCP_ESTABLISHED },
	{ "syn-sent",		1 << TCP_SYN_SENT },
	{ "syn-recv",		1 << TCP_SYN_RECV },
	{ "fin-wait-1",		1 << TCP_FIN_WAIT1 },
	{ "fin-wait-2",		1 << TCP_FIN_WAIT2 },
	{ "time-wait",		1 << TCP_TIME_WAIT },
	{ "closed",		1 << TCP_CLOSE },
	{ "close-wait",		1 << TCP_CLOSE_WAIT },
	{ "last-ack",		1 << TCP_LAST_ACK },
	{ "listening",		1 << TCP_LISTEN },
	{ "closing",		1 << TCP_CLOSING },
	{ "listen",		1 << TCP_LISTEN },
	{ "close",		1 << TCP_CLOSE },
	{ "all",		FILTER_ALL },
	{ "connected",		FILTER_CONNECTED },
	{ "synchronized",	FILTER_CONNECTED & ~(1 << TCP_SYN_SENT) },
};

const char *filter_state_name(unsigned int state)
{
	for (size_t i = 0; i < ARRAY_SIZE(state_names); i++)
		if (state < 32 && state_names[i].states == 1u << state)
			return state_names[i].name;
	return "unknown";
}

static void fail(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The first thing wrong is what is told */
static void fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	if (p->failed)
		return;
	p->failed = true;
	va_start(ap, fmt);
	vsnprintf(p->why, p->len, fmt, ap);
	va_end(ap);
}

/* Characters that make words of their own, in runs */
static bool is_operator(char c)
{
	return c && strchr("=!<>&|", c);
}

static void next(struct parser *p)
{
	size_t n = 0;

	while (isspace((unsigned char)*p->rest))
		p->rest++;
	if (*p->rest == '(' || *p->rest == ')') {
		n = 1;
	} else if (is_operator(*p->rest)) {
		while (is_operator(p->rest[n]))
			n++;
	} else {
		while (p->rest[n] && !isspace((unsigned char)p->rest[n]) &&
		       !is_operator(p->rest[n]) && p->rest[n] != '(' && p->rest[n] != ')')
			n++;
	}
	if (n >= sizeof(p->word)) {
		fail(p, "a word of the filter is too long: '%.20s...'", p->rest);
		n = 0;
	}
	memcpy(p->word, p->rest, n);
	p->word[n] = 0;
	p->rest += n;
}

static bool is(const struct parser *p, const char *word)
{
	return !strcmp(p->word, word);
}

/* Goes on if the current word is this one */
static bool take(struct parser *p, const char *word)
{
	if (!is(p, word))
		return false;
	next(p);
	return true;
}

static struct filter_expr *new_expr(enum kind kind, struct filter_expr *left,
				    struct filter_expr *right)
{
	struct filter_expr *e = calloc(1, sizeof(*e));

	if (!e)
		abort();
	e->kind = kind;
	e->left = left;
	e->right = right;
	return e;
}

static void free_expr(struct filter_expr *e)
{
	if (!e)
		return;
	free_expr(e->left);
	free_expr(e->right);
	free(e);
}

static bool parse_number(const char *text, unsigned int max, unsigned int *value)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	v = strtoul(text, &end, 10);
	*value = v;
	return !*end && v <= max;
}

static void parse_port(struct parser *p, struct filter_expr *e, const char *text)
{
	unsigned int port;

	if (*text == ':')
		text++;
	if (!parse_number(text, 65535, &port))
		fail(p, "'%s' is no port: a number up to 65535 is", p->word);
	else
		e->port = port;
}

/* "10.0.0.0", or "fd00::" */
static bool parse_addr(const char *text, struct in6_addr *addr, unsigned int *bits)
{
	struct in_addr v4;

	if (inet_pton(AF_INET6, text, addr) == 1) {
		*bits = 128;
		return true;
	}
	if (inet_pton(AF_INET, text, &v4) != 1)
		return false;
	memset(addr, 0, sizeof(*addr));
	addr->s6_addr[10] = 0xff;
	addr->s6_addr[11] = 0xff;
	memcpy(addr->s6_addr + 12, &v4, sizeof(v4));
	*bits = 32;
	return true;
}

/* Cuts what is behind the address off @text: the port, or NULL */
static char *split_port(char *text)
{
	char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');

	/* Colons of an IPv6 address are none, unless it is in brackets */
	if (!colon || (bracket ? colon < bracket : strchr(text, ':') != colon))
		return NULL;
	*colon = 0;
	return colon + 1;
}

/* "[fd00::]/16" to "fd00::/16" */
static void strip_brackets(char *text)
{
	char *bracket = strchr(text, ']');

	if (*text != '[' || !bracket)
		return;
	memmove(bracket, bracket + 1, strlen(bracket));
	memmove(text, text + 1, strlen(text));
}

static void parse_end(struct parser *p, struct filter_expr *e)
{
	char text[WORD_MAX], *slash, *port;
	unsigned int bits = 0, prefix;

	strcpy(text, p->word);
	port = split_port(text);
	if (port && strcmp(port, "*")) {
		parse_port(p, e, port);
		if (!e->port)
			fail(p, "'%s': port 0 is for sport and dport alone", p->word);
	}
	strip_brackets(text);
	slash = strchr(text, '/');
	if (slash)
		*slash++ = 0;
	if ((!*text || !strcmp(text, "*")) && !slash)
		return;
	if (!parse_addr(text, &e->addr, &bits))
		fail(p, "'%s' is no address: ADDRESS[/PREFIX][:PORT] is, IPv6 with a port in []",
		     p->word);
	prefix = bits;
	if (slash && !parse_number(slash, bits, &prefix))
		fail(p, "'%s': the prefix is a number up to %u", p->word, bits);
	e->prefix = prefix + 128 - bits;
}

static enum cmp parse_cmp(struct parser *p)
{
	static const struct {
		const char *name;
		enum cmp cmp;
	} cmps[] = {
		{ "=", EQ }, { "==", EQ }, { "eq", EQ }, { "!=", NE }, { "ne", NE },
		{ "neq", NE }, { "<", LT }, { "lt", LT }, { ">", GT }, { "gt", GT },
		{ "<=", LE }, { "le", LE }, { "leq", LE }, { ">=", GE }, { "ge", GE },
		{ "geq", GE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cmps); i++)
		if (take(p, cmps[i].name))
			return cmps[i].cmp;
	if (is_operator(*p->word))
		fail(p, "'%s' compares nothing: =, !=, <, >, <= and >= do", p->word);
	return EQ;
}

static struct filter_expr *parse_test(struct parser *p)
{
	struct filter_expr *e;

	if (is(p, "sport") || is(p, "dport")) {
		e = new_expr(PORT, NULL, NULL);
	} else if (is(p, "src") || is(p, "dst")) {
		e = new_expr(END, NULL, NULL);
	} else if (is(p, "device")) {
		e = new_expr(DEVICE, NULL, NULL);
	} else {
		fail(p, *p->word ? "'%s' begins no test: sport, dport, src, dst and device do" :
		     "the filter ends where a test is due%s", p->word);
		return NULL;
	}
	e->peer = *p->word == 'd';
	next(p);
	e->cmp = parse_cmp(p);
	if (!*p->word)
		fail(p, "the filter ends where a value is due");
	else if (e->kind != PORT && e->cmp != EQ && e->cmp != NE)
		fail(p, "addresses and names are equal or not, and nothing else: use = or !=");
	else if (e->kind == PORT)
		parse_port(p, e, p->word);
	else if (e->kind == END)
		parse_end(p, e);
	else
		strcpy(e->device, p->word);
	next(p);
	return e;
}

static struct filter_expr *parse_or(struct parser *p);

static struct filter_expr *parse_factor(struct parser *p)
{
	struct filter_expr *e;

	if (++p->depth > DEPTH_MAX) {
		fail(p, "the filter is nested too deeply");
		return NULL;
	}
	if (take(p, "not") || take(p, "!")) {
		e = new_expr(NOT, parse_factor(p), NULL);
	} else if (take(p, "(")) {
		e = parse_or(p);
		if (!take(p, ")"))
			fail(p, "a ')' is missing before '%s'", p->word);
	} else {
		e = parse_test(p);
	}
	p->depth--;
	return e;
}

static struct filter_expr *parse_and(struct parser *p)
{
	struct filter_expr *e = parse_factor(p);

	while (!p->failed && *p->word && !is(p, ")") && !is(p, "or") && !is(p, "||") &&
	       !is(p, "|")) {
		if (!take(p, "and") && !take(p, "&&"))
			take(p, "&");
		e = new_expr(AND, e, parse_factor(p));
	}
	return e;
}

static struct filter_expr *parse_or(struct parser *p)
{
	struct filter_expr *e = parse_and(p);

	while (!p->failed && (take(p, "or") || take(p, "||") || take(p, "|")))
		e = new_expr(OR, e, parse_and(p));
	return e;
}

static uint32_t parse_state(struct parser *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(state_names); i++)
		if (take(p, state_names[i].name))
			return state_names[i].states;
	fail(p, "'%s' is no state: established, listening, closed, syn-sent, syn-recv, fin-wait-1, fin-wait-2, time-wait, close-wait, last-ack, closing, connected, synchronized and all are",
	     p->word);
	return 0;
}

static void parse_states(struct parser *p, struct filter *f)
{
	uint32_t excluded = 0;

	for (;;) {
		if (take(p, "state"))
			f->states |= parse_state(p);
		else if (take(p, "exclude"))
			excluded |= parse_state(p);
		else
			break;
	}
	if (excluded)
		f->states = (f->states ?: FILTER_ALL) & ~excluded;
	if (excluded && !f->states)
		fail(p, "the filter excludes every state");
}

/* The ports all matching sockets must have */
static void find_ports(struct filter *f, const struct filter_expr *e)
{
	if (e->kind == AND) {
		find_ports(f, e->left);
		find_ports(f, e->right);
	} else if ((e->kind == PORT || e->kind == END) && e->cmp == EQ && e->port) {
		*(e->peer ? &f->dport : &f->sport) = e->port;
	}
}

static char *join(int argc, char *const *argv)
{
	size_t len = 1;
	char *text, *end;

	for (int i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	end = text = malloc(len);
	if (!text)
		abort();
	*end = 0;
	for (int i = 0; i < argc; i++)
		end += sprintf(end, "%s ", argv[i]);
	return text;
}

bool filter_parse(struct filter *f, int argc, char *const *argv, char *why, size_t len)
{
	char *text = join(argc, argv);
	struct parser p = { .rest = text, .why = why, .len = len };

	memset(f, 0, sizeof(*f));
	next(&p);
	parse_states(&p, f);
	if (*p.word && !p.failed)
		f->expr = parse_or(&p);
	if (*p.word)
		fail(&p, "'%s' is too much in the filter", p.word);
	free(text);
	if (!p.failed && f->expr)
		find_ports(f, f->expr);
	return !p.failed;
}

static bool compare(enum cmp cmp, unsigned int a, unsigned int b)
{
	switch (cmp) {
	case EQ:
		return a == b;
	case NE:
		return a != b;
	case LT:
		return a < b;
	case GT:
		return a > b;
	case LE:
		return a <= b;
	default:
		return a >= b;
	}
}

static bool same_prefix(const struct in6_addr *a, const struct in6_addr *b, unsigned int bits)
{
	unsigned int bytes = bits / 8, rest = bits % 8;

	if (memcmp(a, b, bytes))
		return false;
	return !rest || !((a->s6_addr[bytes] ^ b->s6_addr[bytes]) >> (8 - rest));
}

static bool match(const struct filter_expr *e, const struct filter_sock *s)
{
	const struct filter_end *end = e->peer ? &s->peer : &s->local;
	bool same;

	switch (e->kind) {
	case AND:
		return match(e->left, s) && match(e->right, s);
	case OR:
		return match(e->left, s) || match(e->right, s);
	case NOT:
		return !match(e->left, s);
	case PORT:
		return compare(e->cmp, end->port, e->port);
	case END:
		same = same_prefix(&end->addr, &e->addr, e->prefix) &&
		       (!e->port || end->port == e->port);
		return same == (e->cmp == EQ);
	default:
		return !strcmp(s->device, e->device) == (e->cmp == EQ);
	}
}

bool filter_match(const struct filter *f, const struct filter_sock *s)
{
	return !f->expr || match(f->expr, s);
}

void filter_free(struct filter *f)
{
	free_expr(f->expr);
	f->expr = NULL;
}
