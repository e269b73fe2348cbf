// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target for tools/libsdp/config.c (libFuzzer): an input is a libsdp.conf.
 * A rule that was understood, written in its usual form, must be the same rule
 * when read again, and the rule found for an address must be one of those that
 * sdp_config_possible() announces.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include "config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #cond);	\
			abort();						\
		}								\
	} while (0)

static void count_error(void *arg, const char *message)
{
	CHECK(!strncmp(message, "fuzz:", 5) && strlen(message) < 512);
	++*(unsigned int *)arg;
}

/* Nothing an address could tell is lost by writing the rule */
static void check_rule(const struct sdp_rule *rule)
{
	struct sdp_config again;
	char text[512];

	CHECK(rule->first <= rule->last && rule->last <= 65535 && rule->prefix <= 128);
	if (strlen(rule->program) > 256)
		return;		/* might be cut */
	sdp_rule_format(rule, text, sizeof(text));
	sdp_config_init(&again);
	CHECK(!sdp_config_parse(&again, "again", text, strlen(text), NULL, NULL));
	CHECK(again.n_rules == 1);
	CHECK(again.rules[0].use == rule->use && again.rules[0].role == rule->role);
	CHECK(again.rules[0].family == rule->family && again.rules[0].prefix == rule->prefix);
	CHECK(!memcmp(&again.rules[0].addr, &rule->addr, sizeof(rule->addr)));
	CHECK(again.rules[0].first == rule->first && again.rules[0].last == rule->last);
	CHECK(!strcmp(again.rules[0].program, rule->program));
	sdp_config_free(&again);
}

static void check_match(const struct sdp_config *cfg, const struct sockaddr *sa, socklen_t len)
{
	enum sdp_role role;

	for (role = SDP_ROLE_SERVER; role <= SDP_ROLE_CLIENT; role++) {
		const struct sdp_rule *rule = sdp_config_match(cfg, role, sa, len);

		CHECK(!rule || rule->role == role);
		CHECK(sdp_config_possible(cfg, role) & 1 << sdp_config_use(cfg, rule));
	}
}

/* A rule's own address and port, and neighbours */
static void check_matches(const struct sdp_config *cfg, const struct sdp_rule *rule)
{
	struct sockaddr_in6 sa = { .sin6_family = AF_INET6, .sin6_addr = rule->addr };
	int step;

	for (step = -1; step <= 1; step++) {
		sa.sin6_port = htons(rule->first + step);
		check_match(cfg, (void *)&sa, sizeof(sa));
		sa.sin6_port = htons(rule->last + step);
		check_match(cfg, (void *)&sa, sizeof(sa));
		sa.sin6_addr.s6_addr[15] += step;
		check_match(cfg, (void *)&sa, sizeof(sa));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int errors, told = 0;
	struct sdp_config cfg;
	size_t i;

	sdp_config_init(&cfg);
	errors = sdp_config_parse(&cfg, "fuzz", (const char *)data, size, count_error, &told);
	CHECK(errors == told);
	CHECK(cfg.level >= SDP_LOG_DEBUG && cfg.level <= SDP_LOG_ERROR);
	CHECK(cfg.dest != SDP_LOG_FILE || cfg.log_file);
	CHECK(cfg.otherwise == (cfg.n_rules ? SDP_USE_BOTH : SDP_USE_SDP));
	for (i = 0; i < cfg.n_rules; i++)
		check_rule(&cfg.rules[i]);
	sdp_config_for_program(&cfg, "sshd");
	for (i = 0; i < cfg.n_rules; i++)
		check_matches(&cfg, &cfg.rules[i]);
	sdp_config_free(&cfg);
	return 0;
}
