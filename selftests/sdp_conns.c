// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_conns: how many connections a second, and how many at once.
 *
 *	-n	one after the other: connect, a byte there and back, close; no threads, and
 *		nothing but the usual calls, so that a library of sockets can be preloaded
 *	-o	both ends of so many, in this process, in one epoll set; then for a while nothing
 *		happens to them, which must not cost anything
 */
#include "sdp_ends.h"
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct {
	uint64_t count;			/* -n */
	uint64_t open;			/* -o */
	unsigned int idle;		/* -i, seconds */
} opt = { .count = 100, .idle = 5 };

static struct addr server_addr;

/* ---- one after the other ---- */

static void exchange(int fd, bool first)
{
	char b = 'x';

	for (int i = 0; i < 2; i++)
		if ((i == 0) == first ? send(fd, &b, 1, 0) != 1 : recv(fd, &b, 1, 0) != 1)
			err(EXIT_FAILURE, "exchange");
}

static void run_server(int lfd)
{
	char b;

	for (uint64_t i = 0; i < opt.count; i++) {
		int fd = xaccept(lfd);

		exchange(fd, false);
		if (recv(fd, &b, 1, 0))
			err(EXIT_FAILURE, "end of stream");
		close(fd);
	}
}

static void run_client(void)
{
	uint64_t start = now_ns();
	double secs;

	for (uint64_t i = 0; i < opt.count; i++) {
		int fd = xconnect(ends.fam, &server_addr, 0, 0);

		exchange(fd, true);
		close(fd);
	}
	secs = seconds_since(start);
	printf("{\"family\":\"%s\",\"connections\":%llu,\"seconds\":%.3f,\"per_second\":%.1f}\n",
	       fam_names[ends.fam], (unsigned long long)opt.count, secs, opt.count / secs);
}

/* ---- all at once ---- */

static void watch(int ep, int fd)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP, .data.fd = fd };

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		err(EXIT_FAILURE, "epoll_ctl");
}

/* One more connection, both of its ends; false with errno when there can be no more */
static bool open_one(int lfd, int ep, int *c, int *s)
{
	*c = fam_socket(ends.fam, server_addr.sa.sa_family, 0);
	if (*c < 0)
		return false;
	if (connect(*c, &server_addr.sa, server_addr.len))
		return false;
	*s = accept(lfd, NULL, NULL);
	if (*s < 0)
		return false;
	watch(ep, *c);
	watch(ep, *s);
	return true;
}

static int run_open(void)
{
	int lfd = xlisten(ends.fam, &server_addr, 16, 0, 0), ep = epoll_create1(0);
	int (*fds)[2] = calloc(opt.open, sizeof(*fds)), why = 0, events, woken;
	struct epoll_event e;
	uint64_t n, start = now_ns();
	double secs, spent;

	if (ep < 0 || !fds)
		err(EXIT_FAILURE, "epoll_create1, calloc");
	for (n = 0; n < opt.open; n++)
		if (!open_one(lfd, ep, &fds[n][0], &fds[n][1])) {
			why = errno;
			break;
		}
	secs = seconds_since(start);
	spent = machine_busy();
	events = epoll_wait(ep, &e, 1, opt.idle * 1000);
	spent = machine_busy() - spent;
	/* They are alive: a byte on each of a hundred of them wakes the other end */
	woken = 0;
	for (uint64_t i = 0; i < n; i += n / 100 + 1) {
		char b = 'x';

		if (send(fds[i][0], &b, 1, 0) == 1 && epoll_wait(ep, &e, 1, 10000) == 1 &&
		    e.data.fd == fds[i][1] && recv(fds[i][1], &b, 1, 0) == 1)
			woken++;
	}
	printf("{\"family\":\"%s\",\"open\":%llu,\"seconds\":%.3f,\"stopped_by\":\"%s\","
	       "\"idle_seconds\":%u,\"idle_events\":%d,\"idle_busy\":%.2f,\"woken\":%d}\n",
	       fam_names[ends.fam], (unsigned long long)n, secs, why ? strerrorname_np(why) : "",
	       opt.idle, events, spent, woken);
	return events ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- command line ---- */

static const char usage_text[] =
"usage: sdp_conns [options] -s [ADDRESS]      server, for -n connections\n"
"       sdp_conns [options] HOST              client\n"
"       sdp_conns [options] --self [ADDRESS]  both\n"
"  -f, --family FAM    " FAM_HELP "\n"
"  -s, --server        be the server (default address 0.0.0.0)\n"
"      --self          run server and client (default address 127.0.0.1)\n"
"  -p, --port N        port (default 7474; --self: any)\n"
"  -n, --count N       connections one after the other (default 100)\n"
"  -o, --open N        with --self: instead of that, so many at once\n"
"  -i, --idle N        ... left alone for N seconds (default 5)\n"
"Exit status: 0 all as expected, 1 failed, 2 wrong usage.\n";

static const struct option options[] = {
	ENDS_LONG,
	{ "count", required_argument, NULL, 'n' },
	{ "open", required_argument, NULL, 'o' },
	{ "idle", required_argument, NULL, 'i' },
	{ }
};

int main(int argc, char **argv)
{
	int o;

	while ((o = getopt_long(argc, argv, ENDS_SHORT "n:o:i:", options, NULL)) != -1) {
		switch (o) {
		case 'n':
			opt.count = parse_size("count", optarg, 1, 1000000);
			break;
		case 'o':
			opt.open = parse_size("open", optarg, 1, 1000000);
			break;
		case 'i':
			opt.idle = parse_size("idle", optarg, 1, 3600);
			break;
		default:
			ends_option(o, usage_text);
		}
	}
	server_addr = ends_address(argc, argv, 7474, usage_text);
	raise_fd_limit();
	signal(SIGPIPE, SIG_IGN);
	if (opt.open && ends.self)
		return run_open();
	if (ends.self)
		return ends_both(xlisten(ends.fam, &server_addr, 16, 0, 0), run_server, run_client);
	if (ends.server)
		run_server(xlisten(ends.fam, &server_addr, 16, 0, 0));
	else
		run_client();
	return EXIT_SUCCESS;
}
