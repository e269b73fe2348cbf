// SPDX-License-Identifier: GPL-2.0
/* sdpstat: SDP sockets, as ss(8) shows others', and the counters. The man page is sdpstat.8. */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "owner.h"
#include "show.h"
#include "sock.h"
#include "totals.h"

#define EXIT_USAGE	2

static const char usage_text[] =
"usage: sdpstat [options] [state STATE] [exclude STATE] [EXPRESSION]\n"
"       sdpstat -s [-z] [-H] [-j] [-i SECONDS [-c N]]\n"
"Shows SDP sockets, by default connections; or the counters of /proc/net/sdpstats.\n"
"  -a, --all            listening and unconnected sockets as well\n"
"  -l, --listening      listening sockets\n"
"  -4, --ipv4           IPv4 sockets only\n"
"  -6, --ipv6           IPv6 sockets only\n"
"  -p, --processes      who has it open\n"
"  -e, --extended       owner, inode, cookie, cgroup, mark\n"
"  -d, --details        mode, queues, credits and adverts of the connection\n"
"  -m, --memory         socket memory\n"
"  -o, --timers         what is due next\n"
"  -H, --no-header      without the line of titles\n"
"  -K, --kill           reset the connections shown, stop the listeners\n"
"  -s, --stats          counters instead of sockets\n"
"  -i, --interval S     counters and their growth every S seconds\n"
"  -c, --count N        ... N times (default: until interrupted)\n"
"  -z, --zeros          counters that are zero, or don't grow, as well\n"
"  -j, --json           JSON\n"
"  -h, --help           this\n"
"EXPRESSION: sport, dport = PORT; src, dst = ADDRESS[/PREFIX][:PORT]; device = NAME;\n"
"            joined by and, or, not and parentheses. See sdpstat(8).\n"
"Exit status: 0 done, 1 failed, 2 wrong usage.\n";

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "listening", no_argument, NULL, 'l' },
	{ "ipv4", no_argument, NULL, '4' },
	{ "ipv6", no_argument, NULL, '6' },
	{ "processes", no_argument, NULL, 'p' },
	{ "extended", no_argument, NULL, 'e' },
	{ "details", no_argument, NULL, 'd' },
	{ "memory", no_argument, NULL, 'm' },
	{ "timers", no_argument, NULL, 'o' },
	{ "no-header", no_argument, NULL, 'H' },
	{ "kill", no_argument, NULL, 'K' },
	{ "stats", no_argument, NULL, 's' },
	{ "interval", required_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'c' },
	{ "zeros", no_argument, NULL, 'z' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static struct {
	struct show show;
	struct filter filter;
	uint32_t states;
	bool v4, v6, kill, stats, zeros, json;
	double interval;
	unsigned int count;
} opt = { .states = FILTER_CONNECTED };

static double parse_number(const char *what, const char *text, double min, double max)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= min && v <= max))
		errx(EXIT_USAGE, "%s: '%s' is no number from %g to %g", what, text, min, max);
	return v;
}

static void parse_options(int argc, char **argv)
{
	double count;
	int o;

	while ((o = getopt_long(argc, argv, "al46pedmoHKsi:c:zjh", options, NULL)) != -1) {
		switch (o) {
		case 'a':
			opt.states = FILTER_ALL;
			break;
		case 'l':
			opt.states = FILTER_LISTENING;
			break;
		case '4':
			opt.v4 = true;
			break;
		case '6':
			opt.v6 = true;
			break;
		case 'p':
			opt.show.processes = true;
			break;
		case 'e':
			opt.show.extended = true;
			break;
		case 'd':
			opt.show.details = true;
			break;
		case 'm':
			opt.show.memory = true;
			break;
		case 'o':
			opt.show.timers = true;
			break;
		case 'H':
			opt.show.no_header = true;
			break;
		case 'K':
			opt.kill = true;
			break;
		case 's':
			opt.stats = true;
			break;
		case 'i':
			opt.interval = parse_number("interval", optarg, 0.01, 1e6);
			opt.stats = true;
			break;
		case 'c':
			count = parse_number("count", optarg, 1, 1e9);
			opt.count = count;
			if (opt.count != count)
				errx(EXIT_USAGE, "count: '%s' is no whole number", optarg);
			break;
		case 'z':
			opt.zeros = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(EXIT_SUCCESS);
		default:
			fputs(usage_text, stderr);
			exit(EXIT_USAGE);
		}
	}
	if (opt.count && !opt.interval)
		errx(EXIT_USAGE, "-c counts intervals: it needs -i");
	if (opt.zeros && !opt.stats)
		errx(EXIT_USAGE, "-z is about counters: it needs -s or -i");
	if (opt.kill && opt.stats)
		errx(EXIT_USAGE, "-K is about sockets: there is none with -s or -i");
}

static void parse_filter(int argc, char **argv)
{
	char why[256];

	if (opt.stats && argc)
		errx(EXIT_USAGE, "counters can't be filtered: '%s'", argv[0]);
	if (!filter_parse(&opt.filter, argc, argv, why, sizeof(why)))
		errx(EXIT_USAGE, "%s", why);
	if (!opt.filter.states)
		opt.filter.states = opt.states;
}

/* Attributes to ask for */
static uint8_t wanted_attrs(void)
{
	uint8_t ext = 1 << (SDP_DIAG_DEVICE - 1) | 1 << (SDP_DIAG_INFO - 1);

	if (opt.show.memory || opt.json)
		ext |= 1 << (SDP_DIAG_MEMINFO - 1);
	return ext;
}

/* Those that could be ended stay on the list */
static int kill_all(struct sock_list *list)
{
	int status = EXIT_SUCCESS;
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		int rc = sock_kill(&list->v[i]);

		if (!rc)
			list->v[n++] = list->v[i];
		else if (rc == EPERM)
			errx(EXIT_FAILURE, "to reset connections takes CAP_NET_ADMIN: be root");
		else if (rc != ENOENT)	/* over by now, as is wanted */
			status = EXIT_FAILURE, warnx("a socket could not be ended: %s", strerror(rc));
	}
	list->n = n;
	return status;
}

int main(int argc, char **argv)
{
	struct sock_list list = { .n = 0 };
	int status = EXIT_SUCCESS;

	parse_options(argc, argv);
	parse_filter(argc - optind, argv + optind);
	if (opt.stats) {
		totals_show(opt.interval, opt.count, !opt.show.no_header, opt.zeros, opt.json);
		return EXIT_SUCCESS;
	}

	if (opt.v4 || !opt.v6)
		sock_get(&list, AF_INET_SDP, &opt.filter, wanted_attrs());
	if (opt.v6 || !opt.v4)
		sock_get(&list, AF_INET6_SDP, &opt.filter, wanted_attrs());
	if (opt.show.processes)
		owner_scan();
	if (opt.kill)
		status = kill_all(&list);
	if (opt.json)
		show_json(&list, opt.show.processes);
	else
		show_text(&list, &opt.show);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "output");
	free(list.v);
	filter_free(&opt.filter);
	return status;
}
