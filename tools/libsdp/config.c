// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The grammar of libsdp.conf, which is OFED's, a line at a time:
 *
 *	log [destination stderr | syslog | file NAME] [min-level 1-9]
 *	use sdp|tcp|both server|listen|client|connect PROGRAM ADDRESS[/PREFIX]|*:PORT[-PORT]|*
 *
 * "#" begins a comment, but in a NAME or PROGRAM, which is any run of non-blanks.
 * The rule that counts is the first of its role whose program, address and port
 * all match.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"

#define BLANKS		" \t\r"
#define FILE_MAX	(1 << 20)
#define PORT_MAX	65535
#define LEVEL_MAX	99999999

static const char * const use_names[] = {
	[SDP_USE_SDP]	= "sdp",
	[SDP_USE_TCP]	= "tcp",
	[SDP_USE_BOTH]	= "both",
};

/*
 * What is being parsed: @p moves on through the line, in which blanks at the
 * end are cut off.
 */
struct parser {
	struct sdp_config	*cfg;
	const char		*name;
	unsigned int		line;
	char			*p;
	sdp_config_error_fn	*error;
	void			*arg;
	unsigned int		errors;
};

/* Tells of an error; false, for the caller to return */
__attribute__((format(printf, 2, 3)))
static bool bad(struct parser *ps, const char *format, ...)
{
	char text[400], message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (ps->line)
		snprintf(message, sizeof(message), "%s:%u: %s", ps->name, ps->line, text);
	else
		snprintf(message, sizeof(message), "%s: %s", ps->name, text);
	ps->errors++;
	if (ps->error)
		ps->error(ps->arg, message);
	return false;
}

static void skip_blanks(struct parser *ps)
{
	ps->p += strspn(ps->p, BLANKS);
}

/* Nothing but a comment is left of the line */
static bool at_end(struct parser *ps)
{
	skip_blanks(ps);
	return !*ps->p || *ps->p == '#';
}

/* The next run of non-blanks as a string of its own, or NULL at the end of the line */
static char *next_name(struct parser *ps)
{
	char *word;

	skip_blanks(ps);
	if (!*ps->p)
		return NULL;
	word = ps->p;
	ps->p += strcspn(ps->p, BLANKS);
	if (*ps->p)
		*ps->p++ = '\0';
	return word;
}

/* The same, but a comment ends it and the line */
static char *next_word(struct parser *ps)
{
	char *word = at_end(ps) ? NULL : next_name(ps), *comment;

	comment = word ? strchr(word, '#') : NULL;
	if (comment) {
		*comment = '\0';
		ps->p = comment;
	}
	return word;
}

/* A number without sign or leading zeros, up to @max, as all of @word */
static bool number(const char *word, unsigned int max, unsigned int *n)
{
	unsigned long v = 0;
	const char *c;

	if (!*word || (*word == '0' && word[1]))
		return false;
	for (c = word; *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		v = v * 10 + (*c - '0');
		if (v > max)
			return false;
	}
	*n = v;
	return true;
}

/* @line is what the line says; a file name there is still part of the text */
static bool parse_dest(struct parser *ps, struct sdp_config *line)
{
	char *word = next_word(ps), *name;

	if (!word)
		return bad(ps, "'destination' needs 'stderr', 'syslog' or 'file NAME'");
	if (!strcmp(word, "stderr")) {
		line->dest = SDP_LOG_STDERR;
	} else if (!strcmp(word, "syslog")) {
		line->dest = SDP_LOG_SYSLOG;
	} else if (!strcmp(word, "file")) {
		name = next_name(ps);
		if (!name)
			return bad(ps, "'destination file' needs a name");
		line->log_file = name;
		line->dest = SDP_LOG_FILE;
	} else {
		return bad(ps, "destination '%s' is none of stderr, syslog, file", word);
	}
	return true;
}

static bool parse_level(struct parser *ps, struct sdp_config *line)
{
	const char *word = next_word(ps);
	unsigned int level;

	if (!word)
		return bad(ps, "'min-level' needs a number from 1 (everything) to 9 (errors only)");
	if (!number(word, LEVEL_MAX, &level))
		return bad(ps, "min-level '%s' is no number from 1 (everything) to 9 (errors only)",
			   word);
	/* OFED's library took any number */
	line->level = level < SDP_LOG_DEBUG ? SDP_LOG_DEBUG :
		      level > SDP_LOG_ERROR ? SDP_LOG_ERROR : level;
	if (line->level != (int)level)
		line->odd_level = ps->line;
	return true;
}

static bool parse_log(struct parser *ps)
{
	struct sdp_config *cfg = ps->cfg, line = *cfg;
	const char *word;
	bool good = true;

	while (good) {
		word = next_word(ps);
		if (!word)
			break;
		if (!strcmp(word, "destination"))
			good = parse_dest(ps, &line);
		else if (!strcmp(word, "min-level"))
			good = parse_level(ps, &line);
		else
			good = bad(ps, "'%s' after 'log' is neither 'destination' nor 'min-level'",
				   word);
	}
	if (!good)
		return false;
	/* All of the line counts, or nothing */
	if (line.log_file != cfg->log_file) {
		line.log_file = strdup(line.log_file);
		if (!line.log_file)
			return bad(ps, "%s", strerror(ENOMEM));
		free(cfg->log_file);
	}
	*cfg = line;
	return true;
}

static bool parse_role(struct parser *ps, struct sdp_rule *rule)
{
	const char *word = next_word(ps);

	if (!word)
		return bad(ps, "a role is missing after 'use %s': server or client",
			   sdp_use_str(rule->use));
	if (!strcmp(word, "server") || !strcmp(word, "listen"))
		rule->role = SDP_ROLE_SERVER;
	else if (!strcmp(word, "client") || !strcmp(word, "connect"))
		rule->role = SDP_ROLE_CLIENT;
	else
		return bad(ps, "role '%s' is none of server, listen, client, connect", word);
	return true;
}

/* Blanks between the parts of ADDRESS:PORTS are allowed, within numbers not */
static bool squeeze(struct parser *ps)
{
	char *from = ps->p, *to = ps->p;
	const char *parts = "/:-";
	size_t n;

	from[strcspn(from, "#")] = '\0';
	while (*from) {
		n = strspn(from, BLANKS);
		from += n;
		if (n && *from && to != ps->p && !strchr(parts, to[-1]) && !strchr(parts, *from))
			return bad(ps, "'%s' is too much: a rule ends with ADDRESS:PORTS", from);
		if (*from)
			*to++ = *from++;
	}
	*to = '\0';
	return true;
}

/* What of ADDRESS[/PREFIX] is before the slash; IPv6 may be in brackets, as in a URL */
static bool parse_ip(struct parser *ps, char *word, struct sdp_rule *rule)
{
	size_t len = strlen(word);
	struct in_addr v4;
	char *ip = word;

	if (inet_pton(AF_INET, word, &v4) == 1) {
		rule->family = AF_INET;
		rule->addr.s6_addr32[2] = htonl(0xffff);
		rule->addr.s6_addr32[3] = v4.s_addr;
		return true;
	}
	if (len > 1 && word[0] == '[' && word[len - 1] == ']') {
		word[len - 1] = '\0';
		ip++;
	}
	rule->family = AF_INET6;
	if (inet_pton(AF_INET6, ip, &rule->addr) == 1)
		return true;
	return bad(ps, "'%s' is no address: use IPv4 as 10.0.0.0/8, IPv6 as fd00::/8, or *", ip);
}

static bool parse_address(struct parser *ps, char *word, struct sdp_rule *rule)
{
	char *slash = strchr(word, '/');
	unsigned int bits;

	if (!strcmp(word, "*"))
		return true;
	if (slash)
		*slash++ = '\0';
	if (!parse_ip(ps, word, rule))
		return false;
	bits = rule->family == AF_INET ? 32 : 128;
	rule->prefix = bits;
	if (slash && !number(slash, bits, &rule->prefix))
		return bad(ps, "prefix length '%s' is no number from 0 to %u", slash, bits);
	if (rule->family == AF_INET)
		rule->prefix += 96;
	else if (IN6_IS_ADDR_V4MAPPED(&rule->addr) && rule->prefix >= 96)
		rule->family = AF_INET;
	return true;
}

static bool parse_ports(struct parser *ps, char *word, struct sdp_rule *rule)
{
	char *dash = strchr(word, '-'), *end = word, *p;

	if (!strcmp(word, "*"))
		return true;
	if (dash) {
		*dash = '\0';
		end = dash + 1;
	}
	p = word;
	if (!number(word, PORT_MAX, &rule->first) || (p = end, !number(end, PORT_MAX, &rule->last)))
		return bad(ps, "port '%s' is no number from 0 to %d: use one, a range, or *", p,
			   PORT_MAX);
	if (rule->last < rule->first)
		return bad(ps, "port range %u-%u runs backwards", rule->first, rule->last);
	return true;
}

static bool parse_where(struct parser *ps, struct sdp_rule *rule)
{
	char *colon;

	if (at_end(ps))
		return bad(ps, "ADDRESS:PORTS is missing after program '%s'; *:* is all of them",
			   rule->program);
	if (!squeeze(ps))
		return false;
	colon = strrchr(ps->p, ':');
	if (!colon)
		return bad(ps, "'%s' is not ADDRESS:PORTS: there is no colon", ps->p);
	*colon = '\0';
	if (!*ps->p)
		return bad(ps, "the address before ':%s' is missing; * is all of them", colon + 1);
	if (!colon[1])
		return bad(ps, "the ports after '%s:' are missing; * is all of them", ps->p);
	return parse_address(ps, ps->p, rule) && parse_ports(ps, colon + 1, rule);
}

static bool add_rule(struct parser *ps, const struct sdp_rule *rule)
{
	struct sdp_config *cfg = ps->cfg;
	struct sdp_rule *rules;
	char *program;

	rules = reallocarray(cfg->rules, cfg->n_rules + 1, sizeof(*rules));
	program = strdup(rule->program);
	if (rules)
		cfg->rules = rules;
	if (!rules || !program) {
		free(program);
		return bad(ps, "%s", strerror(ENOMEM));
	}
	rules[cfg->n_rules] = *rule;
	rules[cfg->n_rules++].program = program;
	cfg->otherwise = SDP_USE_BOTH;
	return true;
}

static bool parse_use(struct parser *ps)
{
	struct sdp_rule rule = { .family = AF_UNSPEC, .last = PORT_MAX, .line = ps->line };
	const char *word = next_word(ps);

	if (!word)
		return bad(ps, "'use' needs 'sdp', 'tcp' or 'both'");
	if (!sdp_use_parse(word, &rule.use))
		return bad(ps, "'%s' after 'use' is none of sdp, tcp, both", word);
	if (!parse_role(ps, &rule))
		return false;
	rule.program = next_name(ps);
	if (!rule.program)
		return bad(ps, "a program is missing after the role; * is all of them");
	return parse_where(ps, &rule) && add_rule(ps, &rule);
}

static void parse_line(struct parser *ps)
{
	const char *word = next_word(ps);

	if (!word)
		return;
	if (!strcmp(word, "use"))
		parse_use(ps);
	else if (!strcmp(word, "log"))
		parse_log(ps);
	else
		bad(ps, "a line begins with 'use', 'log' or '#', not with '%s'", word);
}

/**
 * sdp_config_init() - a configuration without rules
 * @cfg:	where
 */
void sdp_config_init(struct sdp_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->level = SDP_LOG_ERROR;
}

/**
 * sdp_config_parse() - add what a text says to a configuration
 * @cfg:	configuration, initialised
 * @name:	of the text, for errors
 * @text:	need not end in a newline or in NUL
 * @len:	bytes of it
 * @error:	is told of each error, or NULL
 * @arg:	for @error
 *
 * Return: number of errors; lines that have one add nothing.
 */
unsigned int sdp_config_parse(struct sdp_config *cfg, const char *name, const char *text,
			      size_t len, sdp_config_error_fn *error, void *arg)
{
	struct parser ps = { .cfg = cfg, .name = name, .error = error, .arg = arg };
	char *copy = malloc(len + 1), *next;

	if (!copy) {
		bad(&ps, "%s", strerror(ENOMEM));
		return ps.errors;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strlen(copy) != len) {
		bad(&ps, "there is a NUL byte in it: this is no text file");
		next = NULL;
	} else {
		next = copy;
	}
	while (next) {
		ps.p = next;
		ps.line++;
		next = strchr(next, '\n');
		if (next)
			*next++ = '\0';
		parse_line(&ps);
	}
	free(copy);
	return ps.errors;
}

/* All of a regular file, so that nobody waits for a FIFO */
static char *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	char *text = NULL;
	struct stat st;
	ssize_t n = 0;

	*len = 0;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		goto out;
	errno = S_ISDIR(st.st_mode) ? EISDIR : !S_ISREG(st.st_mode) ? EINVAL :
		st.st_size > FILE_MAX ? EFBIG : 0;
	if (!errno)
		text = malloc(st.st_size + 1);
	while (text && *len < (size_t)st.st_size) {
		n = read(fd, text + *len, st.st_size - *len);
		if (n <= 0)
			break;
		*len += n;
	}
	if (n < 0) {
		err = errno;
		free(text);
		text = NULL;
		errno = err;
	}
out:
	err = errno;
	close(fd);
	errno = err;
	return text;
}

/**
 * sdp_config_read() - add what a file says to a configuration
 * @cfg:	configuration, initialised
 * @path:	file
 * @error:	is told of each error, or NULL
 * @arg:	for @error
 *
 * Return: number of errors, of which one may be that there is no file (errno: ENOENT then).
 */
unsigned int sdp_config_read(struct sdp_config *cfg, const char *path, sdp_config_error_fn *error,
			     void *arg)
{
	struct parser ps = { .name = path, .error = error, .arg = arg };
	unsigned int errors;
	size_t len;
	char *text;

	text = read_file(path, &len);
	if (!text) {
		int err = errno;

		bad(&ps, "can't be read: %s", strerror(err));
		errno = err;
		return ps.errors;
	}
	errors = sdp_config_parse(cfg, path, text, len, error, arg);
	free(text);
	errno = 0;
	return errors;
}

/**
 * sdp_config_free() - give back what a configuration owns, and make it one without rules
 * @cfg:	configuration
 */
void sdp_config_free(struct sdp_config *cfg)
{
	size_t i;

	for (i = 0; i < cfg->n_rules; i++)
		free(cfg->rules[i].program);
	free(cfg->rules);
	free(cfg->log_file);
	sdp_config_init(cfg);
}

/**
 * sdp_config_for_program() - keep the rules that are for one program
 * @cfg:	configuration
 * @program:	its name, without directory
 */
void sdp_config_for_program(struct sdp_config *cfg, const char *program)
{
	size_t i, kept = 0;

	for (i = 0; i < cfg->n_rules; i++) {
		if (fnmatch(cfg->rules[i].program, program, 0))
			free(cfg->rules[i].program);
		else
			cfg->rules[kept++] = cfg->rules[i];
	}
	cfg->n_rules = kept;
}

/**
 * sdp_config_force() - have one answer to everything, instead of rules
 * @cfg:	configuration; what it says about the log stays
 * @use:	the answer
 */
void sdp_config_force(struct sdp_config *cfg, enum sdp_use use)
{
	while (cfg->n_rules)
		free(cfg->rules[--cfg->n_rules].program);
	cfg->otherwise = use;
}

/**
 * struct endpoint - an address and port, in the form of struct sdp_rule
 * @family:	AF_INET or AF_INET6
 * @addr:	IPv4 v4-mapped
 * @port:	in host order
 */
struct endpoint {
	int		family;
	struct in6_addr	addr;
	unsigned int	port;
};

/* false if it is no address of ours */
static bool endpoint_of(const struct sockaddr *sa, socklen_t len, struct endpoint *ep)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	memset(ep, 0, sizeof(*ep));
	if (!sa || len < offsetof(struct sockaddr, sa_family) + sizeof(sa->sa_family))
		return false;
	switch (sa->sa_family) {
	case AF_INET:
	case AF_INET_SDP:
		if (len < sizeof(*v4))
			return false;
		ep->family = AF_INET;
		ep->addr.s6_addr32[2] = htonl(0xffff);
		ep->addr.s6_addr32[3] = v4->sin_addr.s_addr;
		ep->port = ntohs(v4->sin_port);
		return true;
	case AF_INET6:
	case AF_INET6_SDP:
		if (len < offsetof(struct sockaddr_in6, sin6_scope_id))
			return false;
		ep->addr = v6->sin6_addr;
		ep->family = IN6_IS_ADDR_V4MAPPED(&ep->addr) ? AF_INET : AF_INET6;
		ep->port = ntohs(v6->sin6_port);
		return true;
	default:
		return false;
	}
}

/* The first @bits of both are the same */
static bool same_prefix(const struct in6_addr *a, const struct in6_addr *b, unsigned int bits)
{
	unsigned int i, rest = bits % 8;

	for (i = 0; i < bits / 8; i++)
		if (a->s6_addr[i] != b->s6_addr[i])
			return false;
	return !rest || (a->s6_addr[i] ^ b->s6_addr[i]) >> (8 - rest) == 0;
}

static bool rule_matches(const struct sdp_rule *rule, enum sdp_role role, const struct endpoint *ep)
{
	if (rule->role != role || ep->port < rule->first || ep->port > rule->last)
		return false;
	return rule->family == AF_UNSPEC ||
	       (rule->family == ep->family && same_prefix(&rule->addr, &ep->addr, rule->prefix));
}

/**
 * sdp_config_match() - the rule that counts for a socket
 * @cfg:	configuration, in which only rules for the program are left
 * @role:	what the socket is going to do
 * @sa:		server: its own address; client: the peer's. Families 27 and 28 are taken for
 *		AF_INET and AF_INET6
 * @len:	of @sa
 *
 * Async-signal-safe. Return: the rule, or NULL if there is none; see sdp_config_use().
 */
const struct sdp_rule *sdp_config_match(const struct sdp_config *cfg, enum sdp_role role,
					const struct sockaddr *sa, socklen_t len)
{
	struct endpoint ep;
	size_t i;

	if (!endpoint_of(sa, len, &ep))
		return NULL;
	for (i = 0; i < cfg->n_rules; i++)
		if (rule_matches(&cfg->rules[i], role, &ep))
			return &cfg->rules[i];
	return NULL;
}

/**
 * sdp_config_use() - what a rule, or that there is none, means
 * @cfg:	configuration
 * @rule:	of sdp_config_match(), may be NULL
 *
 * Async-signal-safe.
 */
enum sdp_use sdp_config_use(const struct sdp_config *cfg, const struct sdp_rule *rule)
{
	return rule ? rule->use : cfg->otherwise;
}

/**
 * sdp_config_possible() - what could be the answer, before an address is known
 * @cfg:	configuration, in which only rules for the program are left
 * @role:	what a socket is going to do
 *
 * Async-signal-safe. Return: a bit 1 << SDP_USE_* for each.
 */
unsigned int sdp_config_possible(const struct sdp_config *cfg, enum sdp_role role)
{
	unsigned int mask = 0;
	size_t i;

	for (i = 0; i < cfg->n_rules; i++) {
		const struct sdp_rule *rule = &cfg->rules[i];

		if (rule->role != role)
			continue;
		mask |= 1 << rule->use;
		if (rule->family == AF_UNSPEC && !rule->first && rule->last == PORT_MAX)
			return mask;
	}
	return mask | 1 << cfg->otherwise;
}

/**
 * sdp_use_str() - as libsdp.conf writes it
 * @use:	SDP_USE_*
 */
const char *sdp_use_str(enum sdp_use use)
{
	return use_names[use];
}

/**
 * sdp_use_parse() - the opposite of sdp_use_str()
 * @word:	text
 * @use:	result
 *
 * Return: false if it is none of sdp, tcp, both.
 */
bool sdp_use_parse(const char *word, enum sdp_use *use)
{
	size_t i;

	for (i = 0; i < sizeof(use_names) / sizeof(use_names[0]); i++) {
		if (!strcmp(word, use_names[i])) {
			*use = i;
			return true;
		}
	}
	return false;
}

/**
 * sdp_rule_masked() - whether a rule's address has bits beyond its prefix
 * @rule:	rule
 *
 * OFED's library never matched such a rule; here those bits don't count.
 */
bool sdp_rule_masked(const struct sdp_rule *rule)
{
	unsigned int i;

	for (i = rule->prefix; rule->family != AF_UNSPEC && i < 128; i++)
		if (rule->addr.s6_addr[i / 8] & (0x80 >> i % 8))
			return true;
	return false;
}

/**
 * sdp_address_format() - an address and port as text
 * @sa:		AF_INET or AF_INET6, or 27 or 28
 * @len:	of @sa
 * @buf:	where
 * @size:	of @buf
 *
 * Async-signal-safe as sdp_rule_format(). Return: @buf, or NULL if it is no such address.
 */
const char *sdp_address_format(const struct sockaddr *sa, socklen_t len, char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN];
	struct endpoint ep;

	if (!endpoint_of(sa, len, &ep))
		return NULL;
	inet_ntop(ep.family, ep.family == AF_INET ? (const void *)&ep.addr.s6_addr32[3] : &ep.addr,
		  ip, sizeof(ip));
	snprintf(buf, size, ep.family == AF_INET ? "%s:%u" : "[%s]:%u", ip, ep.port);
	return buf;
}

/**
 * sdp_rule_format() - a rule as libsdp.conf has it, in its usual form
 * @rule:	rule
 * @buf:	where
 * @size:	of @buf; too long a line is cut
 *
 * Async-signal-safe as far as snprintf() of strings and integers is.
 */
void sdp_rule_format(const struct sdp_rule *rule, char *buf, size_t size)
{
	char ip[INET6_ADDRSTRLEN + 2] = "*", prefix[8] = "", ports[16] = "*";
	bool v4 = rule->family == AF_INET;
	unsigned int bits = v4 ? 96 : 0;

	if (rule->family != AF_UNSPEC)
		inet_ntop(rule->family, v4 ? (const void *)&rule->addr.s6_addr32[3] : &rule->addr,
			  ip, sizeof(ip));
	if (rule->family != AF_UNSPEC && rule->prefix < 128)
		snprintf(prefix, sizeof(prefix), "/%u", (rule->prefix - bits) & 0xff);
	if (rule->first == rule->last)
		snprintf(ports, sizeof(ports), "%u", rule->first);
	else if (rule->first || rule->last != PORT_MAX)
		snprintf(ports, sizeof(ports), "%u-%u", rule->first, rule->last);
	snprintf(buf, size, "use %s %s %s %s%s:%s", sdp_use_str(rule->use),
		 rule->role == SDP_ROLE_SERVER ? "server" : "client", rule->program, ip, prefix,
		 ports);
}
