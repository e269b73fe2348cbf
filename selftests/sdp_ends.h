/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the command line that programs with two ends have in common: which end to be,
 * of which socket family, and where the server is.
 */
#ifndef SDP_ENDS_H
#define SDP_ENDS_H

#include "sdp_test.h"
#include <getopt.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* The programs' own options without a letter begin at OPT_OWN. */
enum { OPT_SELF = 256, OPT_OWN };

#define ENDS_SHORT	"f:sp:h"
#define ENDS_LONG						\
	{ "family", required_argument, NULL, 'f' },		\
	{ "server", no_argument, NULL, 's' },			\
	{ "self", no_argument, NULL, OPT_SELF },		\
	{ "port", required_argument, NULL, 'p' },		\
	{ "help", no_argument, NULL, 'h' }

static struct {
	enum fam fam;
	bool server, self;
	unsigned int port;	/* 0: none given */
} ends = { .fam = FAM_SDP };

static inline void usage_error(const char *usage)
{
	fputs(usage, stderr);
	exit(EXIT_USAGE);
}

/* Takes what getopt_long() has returned and isn't the program's own. */
static inline void ends_option(int o, const char *usage)
{
	switch (o) {
	case 'f':
		ends.fam = fam_parse(optarg);
		break;
	case 's':
		ends.server = true;
		break;
	case OPT_SELF:
		ends.self = true;
		break;
	case 'p':
		ends.port = parse_size("port", optarg, 1, 65535);
		break;
	case 'h':
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	default:
		usage_error(usage);
	}
}

/* The server's address, from what there is behind the options; @port unless one was given. */
static inline struct addr ends_address(int argc, char **argv, unsigned int port, const char *usage)
{
	const char *host = ends.server ? "0.0.0.0" : "127.0.0.1";

	if (argc - optind > 1 || (ends.server && ends.self) ||
	    (optind == argc && !ends.server && !ends.self))
		usage_error(usage);
	if (ends.port)
		port = ends.port;
	else if (ends.self)
		port = 0;	/* any */
	return addr_parse(optind < argc ? argv[optind] : host, port);
}

/* --self: @server with the listener in a process of its own, @client in this one; exit status */
static inline int ends_both(int lfd, void (*server)(int lfd), void (*client)(void))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		server(lfd);
		exit(EXIT_SUCCESS);
	}
	close(lfd);
	client();
	if (waitpid(pid, &status, 0) < 0)
		err(EXIT_FAILURE, "waitpid");
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
