/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libsdp.conf: the rules that tell which connections are to be SDP's. Reading
 * and asking only; what is done about the answer is libsdp.c's and sdp_run's.
 */
#ifndef LIBSDP_CONFIG_H
#define LIBSDP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <linux/sdp.h>

/** enum sdp_use - what a rule wants; the values of the socket option SDP_POLICY */
enum sdp_use {
	SDP_USE_SDP	= SDP_POLICY_SDP,	/* SDP or nothing */
	SDP_USE_TCP	= SDP_POLICY_TCP,	/* TCP, as if there were no SDP */
	SDP_USE_BOTH	= SDP_POLICY_BOTH,	/* SDP where it can be had, else TCP */
};

/** enum sdp_role - which half of a program a rule is for */
enum sdp_role {
	SDP_ROLE_SERVER,	/* listen(), by the socket's own address */
	SDP_ROLE_CLIENT,	/* connect(), by the peer's */
};

/**
 * struct sdp_rule - a line "use ..."
 * @use:	what it wants
 * @role:	whom it is for
 * @program:	pattern of the program's name
 * @family:	AF_INET, AF_INET6; AF_UNSPEC for every address
 * @addr:	address, IPv4 ones v4-mapped
 * @prefix:	leading bits of @addr that count, of 128
 * @first:	least port
 * @last:	greatest
 * @line:	where it is in its file, from 1
 */
struct sdp_rule {
	enum sdp_use	use;
	enum sdp_role	role;
	char		*program;
	int		family;
	struct in6_addr	addr;
	unsigned int	prefix;
	unsigned int	first;
	unsigned int	last;
	unsigned int	line;
};

/** enum sdp_log_dest - where messages go */
enum sdp_log_dest {
	SDP_LOG_STDERR,
	SDP_LOG_SYSLOG,
	SDP_LOG_FILE,
};

/** enum sdp_log_level - "min-level" of a line "log": messages below it aren't wanted */
enum sdp_log_level {
	SDP_LOG_DEBUG	= 1,
	SDP_LOG_CALL	= 2,	/* calls and what they returned */
	SDP_LOG_NOMATCH	= 3,	/* no rule was for it */
	SDP_LOG_MATCH	= 4,	/* the rule that was */
	SDP_LOG_SUMMARY	= 7,	/* one line for each connect() and listen() */
	SDP_LOG_WARNING	= 8,
	SDP_LOG_ERROR	= 9,
};

/**
 * struct sdp_config - what a file said
 * @rules:	in its order
 * @n_rules:	how many
 * @otherwise:	for what no rule matches: both, but sdp where there never was a rule
 * @dest:	where messages go
 * @log_file:	name for SDP_LOG_FILE, else NULL
 * @level:	least level of messages wanted
 * @odd_level:	line of a "min-level" beyond 1 to 9, for which the nearest counts; 0: none
 */
struct sdp_config {
	struct sdp_rule		*rules;
	size_t			n_rules;
	enum sdp_use		otherwise;
	enum sdp_log_dest	dest;
	char			*log_file;
	int			level;
	unsigned int		odd_level;
};

/** typedef sdp_config_error_fn - is told of each error, "FILE:LINE: what is wrong" */
typedef void sdp_config_error_fn(void *arg, const char *message);

void sdp_config_init(struct sdp_config *cfg);
unsigned int sdp_config_parse(struct sdp_config *cfg, const char *name, const char *text,
			      size_t len, sdp_config_error_fn *error, void *arg);
unsigned int sdp_config_read(struct sdp_config *cfg, const char *path, sdp_config_error_fn *error,
			     void *arg);
void sdp_config_free(struct sdp_config *cfg);

void sdp_config_for_program(struct sdp_config *cfg, const char *program);
void sdp_config_force(struct sdp_config *cfg, enum sdp_use use);
const struct sdp_rule *sdp_config_match(const struct sdp_config *cfg, enum sdp_role role,
					const struct sockaddr *sa, socklen_t len);
enum sdp_use sdp_config_use(const struct sdp_config *cfg, const struct sdp_rule *rule);
unsigned int sdp_config_possible(const struct sdp_config *cfg, enum sdp_role role);

const char *sdp_use_str(enum sdp_use use);
bool sdp_use_parse(const char *word, enum sdp_use *use);
bool sdp_rule_masked(const struct sdp_rule *rule);
const char *sdp_address_format(const struct sockaddr *sa, socklen_t len, char *buf, size_t size);
void sdp_rule_format(const struct sdp_rule *rule, char *buf, size_t size);

#endif /* LIBSDP_CONFIG_H */
