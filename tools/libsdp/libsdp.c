// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * LD_PRELOAD=libsdp.so: a program's TCP sockets become SDP sockets, as
 * libsdp.conf has it.
 *
 * socket(AF_INET or AF_INET6, SOCK_STREAM, 0 or IPPROTO_TCP) is called with
 * IPPROTO_SDP instead, which is all there is to it if the rules have the same
 * answer for whatever the socket will do. It is one descriptor for a real
 * socket, so there is nothing to be done for dup(), fork(), exec(), epoll or
 * passing it on, nor a table of sockets here.
 *
 * Where the answer depends on addresses, the socket starts with the policy
 * "both", and connect() and listen() first ask the rules and set the socket
 * option SDP_POLICY. bind() leaves it so, because nobody knows yet which of the
 * two will follow. If the socket is SDP's they ask the kernel, since it may have
 * been made by another program, before exec(), or elsewhere and passed on.
 *
 * A module without SDP_POLICY can't fall back to TCP. There only programs whose
 * every connection is to be SDP get SDP sockets, others stay on TCP.
 *
 * socket(), connect() and listen() are async-signal-safe, so the rules are read
 * when the library is loaded, and are constant then.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <linux/sdp.h>

#include "config.h"
#include "log.h"

#define EXPORT		__attribute__((visibility("default")))
/* Without the module, each attempt has the kernel look for it; seconds until the next */
#define ABSENT_TIME	60
#define ONLY(use)	(1U << (use))

static struct sdp_config config;
static const char *config_path;
static unsigned int possible;	/* ONLY(use) of each possible answer */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static atomic_int_least64_t absent_until;	/* seconds of CLOCK_MONOTONIC */
static atomic_bool no_policy;			/* the module is one without SDP_POLICY */

static int (*next_socket)(int domain, int type, int protocol);
static int (*next_connect)(int fd, const struct sockaddr *addr, socklen_t len);
static int (*next_listen)(int fd, int backlog);

EXPORT int socket(int domain, int type, int protocol);
EXPORT int connect(int fd, const struct sockaddr *addr, socklen_t len);
EXPORT int listen(int fd, int backlog);

/* The C library's, or another preloaded library's */
static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function) {
		fprintf(stderr, "libsdp: there is no %s() but this library's\n", name);
		abort();
	}
	return function;
}

/* strerror() for signal handlers: it has no lock to wait for */
static const char *error_text(void)
{
	return strerrordesc_np(errno) ?: "unknown error";
}

static void tell_error(void *arg, const char *message)
{
	(void)arg;
	libsdp_log(SDP_LOG_ERROR, "%s", message);
}

static void tell_odd_level(const char *name)
{
	if (config.odd_level)
		libsdp_log(SDP_LOG_WARNING, "%s:%u: min-level is 1 to 9, so %d counts", name,
			   config.odd_level, config.level);
	config.odd_level = 0;
}

/* What an error leaves is a program that works, over TCP */
static void read_rules(void)
{
	const char *path = secure_getenv("LIBSDP_CONFIG_FILE") ?: LIBSDP_CONF;
	unsigned int errors;

	/* A copy, as servers write their titles over the environment */
	config_path = strdup(path);
	errors = sdp_config_read(&config, path, tell_error, NULL);
	tell_odd_level(path);
	if (!errors)
		return;
	libsdp_log(SDP_LOG_ERROR, "%s is not used because of these errors: no SDP", path);
	sdp_config_force(&config, SDP_USE_TCP);
}

static bool readable_rules(void)
{
	return secure_getenv("LIBSDP_CONFIG_FILE") || !access(LIBSDP_CONF, F_OK);
}

/* LIBSDP_LOG is what may follow "log" in libsdp.conf, and counts more */
static void log_from_environment(void)
{
	const char *log = secure_getenv("LIBSDP_LOG");
	char line[512];

	if (!log)
		return;
	snprintf(line, sizeof(line), "log %s", log);
	line[strcspn(line, "\n")] = '\0';
	sdp_config_parse(&config, "LIBSDP_LOG", line, strlen(line), tell_error, NULL);
	tell_odd_level("LIBSDP_LOG");
}

/* LIBSDP_POLICY, or OFED's variables for "everything": one answer instead of rules */
static bool use_from_environment(enum sdp_use *use)
{
	const char *policy = secure_getenv("LIBSDP_POLICY");

	if (policy) {
		if (sdp_use_parse(policy, use))
			return true;
		libsdp_log(SDP_LOG_ERROR, "LIBSDP_POLICY '%s' is none of sdp, tcp, both: no SDP",
			   policy);
		*use = SDP_USE_TCP;
		return true;
	}
	*use = SDP_USE_SDP;
	return secure_getenv("SIMPLE_LIBSDP") || secure_getenv("ALWAYS_USE_SDP");
}

static void init(void)
{
	enum sdp_use use;

	next_socket = next("socket");
	next_connect = next("connect");
	next_listen = next("listen");

	sdp_config_init(&config);
	libsdp_log_init(&config);
	if (use_from_environment(&use))
		sdp_config_force(&config, use);
	else if (readable_rules())
		read_rules();
	else
		sdp_config_force(&config, SDP_USE_BOTH);
	log_from_environment();
	sdp_config_for_program(&config, program_invocation_short_name);
	possible = sdp_config_possible(&config, SDP_ROLE_SERVER) |
		   sdp_config_possible(&config, SDP_ROLE_CLIENT);
	libsdp_log(SDP_LOG_DEBUG, "%zu rules of %s, possible:%s%s%s", config.n_rules,
		   config_path ?: "the environment",
		   possible & ONLY(SDP_USE_SDP) ? " sdp" : "",
		   possible & ONLY(SDP_USE_TCP) ? " tcp" : "",
		   possible & ONLY(SDP_USE_BOTH) ? " both" : "");
}

/* Others' constructors may make sockets before ours has run */
static void init_once(void)
{
	pthread_once(&once, init);
}

/* When the program starts, as it may leave for another root directory or user later */
__attribute__((constructor))
static void start(void)
{
	init_once();
}

/* The rules differ in what they want, so that an address decides */
static bool is_open(void)
{
	return possible & (possible - 1);
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec;
}

static bool wanted(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
	       (!protocol || protocol == IPPROTO_TCP) && possible != ONLY(SDP_USE_TCP) &&
	       (possible == ONLY(SDP_USE_SDP) || !no_policy) && now() >= absent_until;
}

static bool set_policy(int fd, enum sdp_use use)
{
	int policy = use;

	return !setsockopt(fd, SOL_SDP, SDP_POLICY, &policy, sizeof(policy));
}

static enum sdp_use first_policy(void)
{
	return possible == ONLY(SDP_USE_SDP) ? SDP_USE_SDP : SDP_USE_BOTH;
}

/* A new socket with its first policy, or -1 if there is no such thing here */
static int sdp_socket(int domain, int type)
{
	int fd = next_socket(domain, type, IPPROTO_SDP);

	if (fd < 0) {
		if (errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT) {
			absent_until = now() + ABSENT_TIME;
			libsdp_log(SDP_LOG_WARNING, "the kernel has no SDP (is sdp.ko installed?)");
		} else {
			libsdp_log(SDP_LOG_WARNING, "no SDP socket: %s", error_text());
		}
		return -1;
	}
	if (set_policy(fd, first_policy()) || possible == ONLY(SDP_USE_SDP))
		return fd;
	if (errno == ENOPROTOOPT) {
		no_policy = true;
		libsdp_log(SDP_LOG_WARNING,
			   "this sdp.ko can't fall back to TCP, and not all is to be SDP");
	} else {
		libsdp_log(SDP_LOG_WARNING, "no socket that could fall back to TCP: %s",
			   error_text());
	}
	close(fd);
	return -1;
}

int socket(int domain, int type, int protocol)
{
	int err = errno, fd;

	init_once();
	if (wanted(domain, type, protocol)) {
		fd = sdp_socket(domain, type);
		libsdp_log(SDP_LOG_CALL, "socket(%d, %#x, %d) = %d by SDP", domain, type, protocol,
			   fd);
		errno = err;
		if (fd >= 0)
			return fd;
	}
	return next_socket(domain, type, protocol);
}

static bool is_sdp(int fd)
{
	socklen_t len = sizeof(int);
	int protocol;

	return !getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) &&
	       protocol == IPPROTO_SDP;
}

/* An address decides about this socket, or is to be told of */
static bool is_decided(int fd)
{
	return (is_open() || libsdp_logs(SDP_LOG_SUMMARY)) && is_sdp(fd);
}

/* As the kernel reads it: a bad pointer is EFAULT and no SIGSEGV */
static bool read_address(const struct sockaddr *sa, socklen_t len, struct sockaddr_storage *copy)
{
	struct iovec to = { copy, len }, from = { (void *)sa, len };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n < 0 && errno != EFAULT) {
		/* Sandboxes may forbid it */
		memcpy(copy, sa, len);
		n = len;
	}
	if (n == (ssize_t)len)
		return true;
	errno = EFAULT;
	return false;
}

/*
 * A socket that is connecting, connected or listening keeps its policy, which is for the call to
 * complain about. Else a rule that wants one of SDP and TCP must not end with the other. Sockets
 * of a module without SDP_POLICY are SDP's.
 */
static bool may_go_on(enum sdp_use use)
{
	return errno == EISCONN || use == SDP_USE_BOTH ||
	       (use == SDP_USE_SDP && errno == ENOPROTOOPT);
}

/**
 * decide() - ask the rules, and give the socket the policy they want
 * @fd:		SDP socket
 * @role:	what is about to happen
 * @sa:		the address that counts
 * @len:	of @sa
 *
 * Return: false, and errno says why, if that can't be done and the call is not to go on.
 */
static bool decide(int fd, enum sdp_role role, const struct sockaddr_storage *sa, socklen_t len)
{
	const struct sockaddr *addr = (const struct sockaddr *)sa;
	const char *what = role == SDP_ROLE_SERVER ? "listen on" : "connect to";
	const struct sdp_rule *rule;
	char text[512], where[64];
	enum sdp_use use;

	/* Without: an error, or AF_UNSPEC, which ends a connection */
	if (!sdp_address_format(addr, len, where, sizeof(where)))
		return true;
	rule = sdp_config_match(&config, role, addr, len);
	use = sdp_config_use(&config, rule);
	if (is_open() && !set_policy(fd, use)) {
		bool on = may_go_on(use);

		libsdp_log(on ? SDP_LOG_CALL : SDP_LOG_ERROR, "%s %s: policy %s can't be set: %s",
			   what, where, sdp_use_str(use), error_text());
		if (!on)
			return false;
	}
	if (!libsdp_logs(SDP_LOG_SUMMARY))
		return true;
	libsdp_log(SDP_LOG_SUMMARY, "%s %s: %s", what, where, sdp_use_str(use));
	if (rule) {
		sdp_rule_format(rule, text, sizeof(text));
		libsdp_log(SDP_LOG_MATCH, "... by %s:%u: %s", config_path, rule->line, text);
	} else {
		libsdp_log(SDP_LOG_NOMATCH, "... as no rule matches");
	}
	return true;
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_storage copy;
	int err = errno;

	init_once();
	/* A longer one is none */
	if (len <= sizeof(copy) && is_decided(fd) &&
	    !(read_address(addr, len, &copy) && decide(fd, SDP_ROLE_CLIENT, &copy, len)))
		return -1;
	errno = err;
	return next_connect(fd, addr, len);
}

int listen(int fd, int backlog)
{
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof(own);
	int err = errno;

	init_once();
	if (is_decided(fd) && !getsockname(fd, (struct sockaddr *)&own, &len) &&
	    !decide(fd, SDP_ROLE_SERVER, &own, len))
		return -1;
	errno = err;
	return next_listen(fd, backlog);
}
