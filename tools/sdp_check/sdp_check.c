// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_check: would a connection to a peer be SDP, and if not, why? It looks at each step of
 * the way a program's connect() goes, then connects. The man page is sdp_check.8.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <ifaddrs.h>
#include <linux/sdp.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../json.h"
#include "device.h"

/* Exit status: EXIT_SUCCESS and EXIT_FAILURE are the other verdicts */
#define EXIT_USAGE	2
#define EXIT_COULD	3

/* Tried when no port is given: a refusal tells of a connection manager, though not whose */
#define PROBE_PORT	9

static const char usage_text[] =
"usage: sdp_check [options] HOST [PORT]\n"
"Tells whether a connection to HOST would be SDP, and if not, why.\n"
"With PORT a connection is made, and ended at once.\n"
"  -4, --ipv4         HOST's IPv4 address\n"
"  -6, --ipv6         HOST's IPv6 address\n"
"  -n, --no-connect   look at this host only\n"
"  -t, --timeout S    wait up to S seconds for the peer (default 5)\n"
"  -j, --json         JSON\n"
"  -h, --help         this\n"
"Exit status: 0 it would, 1 it wouldn't, 2 wrong usage, 3 it could: without PORT, or with -n,\n"
"nobody has been asked who knows.\n";

static const struct option options[] = {
	{ "ipv4", no_argument, NULL, '4' },
	{ "ipv6", no_argument, NULL, '6' },
	{ "no-connect", no_argument, NULL, 'n' },
	{ "timeout", required_argument, NULL, 't' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static struct {
	int family;
	bool no_connect, json;
	double timeout;
	unsigned int port;		/* 0: none given */
} opt = { .family = AF_UNSPEC, .timeout = 5 };

static struct sockaddr_storage peer;
static socklen_t peer_len;
static char peer_text[INET6_ADDRSTRLEN];
static bool first = true;

/* Exit status, JSON and words of the verdict */
enum verdict { WOULD, WOULD_NOT, COULD };

static const struct {
	int status;
	const char *json, *text;
} verdicts[] = {
	[WOULD]		= { EXIT_SUCCESS, "true", "would be SDP" },
	[WOULD_NOT]	= { EXIT_FAILURE, "false", "would not be SDP" },
	[COULD]		= { EXIT_COULD, "null", "could be SDP: only a connection to a port tells" },
};

/* One step's finding */
static void tell(bool ok, const char *step, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void tell(bool ok, const char *step, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!opt.json) {
		printf("%-4s %-8s %s\n", ok ? "ok" : "no", step, text);
		return;
	}
	printf("%s{\"step\":\"%s\",\"ok\":%s,\"text\":", first ? "" : ",", step,
	       ok ? "true" : "false");
	first = false;
	json_string(text);
	printf("}");
}

/* The program's own way to the module: socket(), which has it loaded */
static bool check_module(void)
{
	int fd = socket(AF_INET_SDP, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		tell(false, "module", errno == EAFNOSUPPORT ?
		     "sdp.ko isn't loaded and can't be: modprobe sdp tells why" :
		     "socket(AF_INET_SDP) fails: %s", strerror(errno));
		return false;
	}
	close(fd);
	tell(true, "module", "sdp.ko is loaded");
	return true;
}

static void set_port(struct sockaddr_storage *ss, unsigned int port)
{
	if (ss->ss_family == AF_INET6)
		((struct sockaddr_in6 *)ss)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)ss)->sin_port = htons(port);
}

static void addr_text(const struct sockaddr_storage *ss, char *text)
{
	const void *addr = ss->ss_family == AF_INET6 ?
		(const void *)&((const struct sockaddr_in6 *)ss)->sin6_addr :
		&((const struct sockaddr_in *)ss)->sin_addr;

	inet_ntop(ss->ss_family, addr, text, INET6_ADDRSTRLEN);
}

static bool check_address(const char *host)
{
	struct addrinfo hints = { .ai_family = opt.family, .ai_socktype = SOCK_STREAM }, *res;
	int rc = getaddrinfo(host, NULL, &hints, &res);

	if (rc) {
		tell(false, "address", "%s: %s", host, gai_strerror(rc));
		return false;
	}
	memcpy(&peer, res->ai_addr, res->ai_addrlen);
	peer_len = res->ai_addrlen;
	freeaddrinfo(res);
	addr_text(&peer, peer_text);
	tell(true, "address", "%s is %s", host, peer_text);
	return true;
}

/* The local address packets to the peer would have; false and errno when there is no route */
static bool source_address(struct sockaddr_storage *src)
{
	socklen_t len = sizeof(*src);
	int fd = socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return false;
	set_port(&peer, PROBE_PORT);
	if (connect(fd, (struct sockaddr *)&peer, peer_len) ||
	    getsockname(fd, (struct sockaddr *)src, &len))
		error = errno;
	close(fd);
	errno = error;
	return !error;
}

/* An address as an IPv6 socket has it; false if it is neither IPv4's nor IPv6's */
static bool to_v6(const struct sockaddr *sa, struct sockaddr_in6 *v6)
{
	switch (sa->sa_family) {
	case AF_INET:
		*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6 };
		v6->sin6_addr.s6_addr16[5] = 0xffff;
		v6->sin6_addr.s6_addr32[3] = ((const struct sockaddr_in *)sa)->sin_addr.s_addr;
		return true;
	case AF_INET6:
		*v6 = *(const struct sockaddr_in6 *)sa;
		return true;
	default:
		return false;
	}
}

/*
 * An IPv4 address is the same as its v4-mapped form. A link-local one may be on several
 * interfaces; the scope of @b, if it is known, tells which is meant.
 */
static bool same_addr(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	struct sockaddr_in6 x, y;

	return a && to_v6(a, &x) && to_v6((const struct sockaddr *)b, &y) &&
	       IN6_ARE_ADDR_EQUAL(&x.sin6_addr, &y.sin6_addr) &&
	       (!IN6_IS_ADDR_LINKLOCAL(&x.sin6_addr) || !y.sin6_scope_id ||
		x.sin6_scope_id == y.sin6_scope_id);
}

/* The interface an address of this host is on, false if it is on none */
static bool interface_of(const struct sockaddr_storage *addr, char *name)
{
	struct ifaddrs *list, *i;
	bool found = false;

	if (getifaddrs(&list))
		return false;
	for (i = list; i && !found; i = i->ifa_next)
		if (same_addr(i->ifa_addr, addr)) {
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
			found = true;
		}
	freeifaddrs(list);
	return found;
}

/* The route, and with it the interface whose RDMA device is to carry it; @name "" for any */
static bool check_route(char *name)
{
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_storage src;

	if (!source_address(&src)) {
		tell(false, "route", "no route to %s: %s", peer_text, strerror(errno));
		return false;
	}
	addr_text(&src, text);
	if (!interface_of(&src, name)) {
		tell(false, "route", "%s, the source address, is on no interface", text);
		return false;
	}
	if (same_addr((struct sockaddr *)&src, &peer)) {
		tell(true, "route", "%s is this host's, so any RDMA device will do", peer_text);
		*name = 0;
		return true;
	}
	tell(true, "route", "by %s, from %s", name, text);
	return true;
}

static bool check_device(const char *ifname)
{
	struct rdma_port p;

	if (!device_find(*ifname ? ifname : NULL, &p)) {
		if (*ifname)
			tell(false, "device", "%s has no RDMA device; for soft-RoCE: rdma link add rxe_%s type rxe netdev %s",
			     ifname, ifname, ifname);
		else
			tell(false, "device", "this host has no RDMA device");
		return false;
	}
	if (strcmp(p.state, "ACTIVE")) {
		tell(false, "device", "%s port %u is %s, not ACTIVE: look at its link", p.name, p.port,
		     p.state);
		return false;
	}
	tell(true, "device", "%s port %u, ACTIVE", p.name, p.port);
	return true;
}

/* connect(), for as long as opt.timeout: 0, an errno, or -1 when that was not enough */
static int try_connect(int domain, unsigned int port, double *ms)
{
	int fd = socket(domain, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error = 0;
	struct timespec t0, t1;
	socklen_t len = sizeof(error);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	const int only_sdp = SDP_POLICY_SDP;

	if (fd < 0)
		return errno;
	/* Whatever net.sdp.policy says: TCP's answer is not the question */
	if ((domain == AF_INET_SDP || domain == AF_INET6_SDP) &&
	    setsockopt(fd, SOL_SDP, SDP_POLICY, &only_sdp, sizeof(only_sdp))) {
		error = errno;
		close(fd);
		return error;
	}
	set_port(&peer, port);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	if (connect(fd, (struct sockaddr *)&peer, peer_len)) {
		error = errno;
		if (error == EINPROGRESS && poll(&p, 1, opt.timeout * 1000) != 1)
			error = -1;
		else if (error == EINPROGRESS && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
			error = errno;
	}
	clock_gettime(CLOCK_MONOTONIC, &t1);
	*ms = (t1.tv_sec - t0.tv_sec) * 1e3 + (t1.tv_nsec - t0.tv_nsec) / 1e6;
	close(fd);
	return error;
}

static bool is_peer(const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return same_addr((struct sockaddr *)&v4, &peer);
	return inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 &&
	       same_addr((struct sockaddr *)&v6, &peer);
}

/*
 * What connect() remembers of attempts with policy both: a line is an address, a port or "*" for
 * all of the host, seconds left, connections decided, and "sdp" or "tcp" with a reason. What is
 * known of the port counts more. It decides for others, not for the attempt made here.
 */
static void check_cache(void)
{
	char line[128], addr[64], port[8], what[32], found[32] = "";
	FILE *f = fopen("/proc/net/sdp_cache", "re");
	unsigned int left, found_left = 0;
	bool by_port = false;

	while (f && !by_port && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %7s %u %*u %31[^\n]", addr, port, &left, what) != 4 ||
		    !left || !is_peer(addr))
			continue;
		by_port = opt.port && strtoul(port, NULL, 10) == opt.port;
		if (by_port || !strcmp(port, "*")) {
			snprintf(found, sizeof(found), "%s", what);
			found_left = left;
		}
	}
	if (f)
		fclose(f);
	if (!strncmp(found, "tcp ", 4))
		tell(false, "cache", "SDP has failed there before (%s): for %u s more, or until net.sdp.cache_flush is written, programs with the policy both use TCP",
		     found + 4, found_left);
}

/* Said only if it is what nobody expects */
static void check_policy(void)
{
	FILE *f = fopen("/proc/sys/net/sdp/policy", "re");

	if (f && fgetc(f) == '0' + SDP_POLICY_TCP)
		tell(false, "policy", "net.sdp.policy is %d: programs without a policy of their own use TCP",
		     SDP_POLICY_TCP);
	if (f)
		fclose(f);
}

static const char *explain(int error)
{
	switch (error) {
	case -1:
	case ETIMEDOUT:
		return "no connection manager answers there: the host has no RDMA device up at that address, something between drops it (RoCE v2 is UDP port 4791), or the listener's queue is full";
	case ECONNREFUSED:
		return "the peer's connection manager answers and refuses: no SDP listener on that port";
	case EHOSTUNREACH:
		return "nobody answers to ARP or ND there: the host is down, or not in this network";
	case ENETUNREACH:
		return "no RDMA device for the route, or none that works";
	case ECONNRESET:
	case ECONNABORTED:
		return "the peer gave up in the middle of the handshake";
	case EPROTO:
		return "the peer's answer is no SDP";
	case ENOMEM:
	case ENOBUFS:
		return "no memory, or the device is out of queue pairs";
	default:
		return strerror(error);
	}
}

/* Whether TCP would get there, for comparison */
static void check_tcp(void)
{
	double ms;
	int error = try_connect(peer.ss_family, opt.port, &ms);

	if (error)
		tell(false, "tcp", "port %u doesn't answer by TCP either: %s", opt.port,
		     strerror(error > 0 ? error : ETIMEDOUT));
	else
		tell(true, "tcp", "port %u answers by TCP", opt.port);
}

static enum verdict check_peer(void)
{
	int domain = peer.ss_family == AF_INET6 ? AF_INET6_SDP : AF_INET_SDP;
	unsigned int port = opt.port ?: PROBE_PORT;
	double ms;
	int error = try_connect(domain, port, &ms);

	if (!error) {
		tell(true, "peer", "an SDP connection to port %u, within %.1f ms", port, ms);
		return WOULD;
	}
	if (!opt.port && error == ECONNREFUSED) {
		tell(true, "peer", "its connection manager answers, within %.1f ms; name a port to know of SDP",
		     ms);
		return COULD;
	}
	tell(false, "peer", "port %u: %s", port, explain(error));
	if (opt.port)
		check_tcp();
	return WOULD_NOT;
}

static enum verdict check_all(const char *host)
{
	char ifname[IF_NAMESIZE] = "";
	bool here;

	if (!check_module() || !check_address(host) || !check_route(ifname))
		return WOULD_NOT;
	here = check_device(ifname);
	check_policy();
	check_cache();
	if (opt.no_connect)
		return here ? COULD : WOULD_NOT;
	/* Whatever the above says, connect() decides */
	return check_peer();
}

static double parse_timeout(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0.01 && v <= 3600))
		errx(EXIT_USAGE, "timeout: '%s' is no number of seconds from 0.01 to 3600", text);
	return v;
}

static unsigned int parse_port(const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (end == text || *end || v < 1 || v > 65535)
		errx(EXIT_USAGE, "port: '%s' is no number from 1 to 65535", text);
	return v;
}

static void parse_options(int argc, char **argv)
{
	int o;

	while ((o = getopt_long(argc, argv, "46nt:jh", options, NULL)) != -1) {
		switch (o) {
		case '4':
			opt.family = AF_INET;
			break;
		case '6':
			opt.family = AF_INET6;
			break;
		case 'n':
			opt.no_connect = true;
			break;
		case 't':
			opt.timeout = parse_timeout(optarg);
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
	if (argc - optind < 1 || argc - optind > 2) {
		fputs(usage_text, stderr);
		exit(EXIT_USAGE);
	}
	if (argc - optind == 2)
		opt.port = parse_port(argv[optind + 1]);
}

int main(int argc, char **argv)
{
	enum verdict verdict;

	parse_options(argc, argv);
	if (opt.json)
		printf("{\"checks\":[");
	verdict = check_all(argv[optind]);
	if (opt.json)
		printf("],\"sdp\":%s}\n", verdicts[verdict].json);
	else
		printf("A connection to %s %s.\n", argv[optind], verdicts[verdict].text);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "output");
	return verdicts[verdict].status;
}
