/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the user space tests and sdpbench share: choice of the socket family, addresses,
 * whole-buffer I/O, numbers on the command line, clocks, and the pseudo-random stream with
 * its hash. Everything a single program needs alone stays in that program.
 */
#ifndef SDP_TEST_H
#define SDP_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <linux/sdp.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Exit codes, beside EXIT_SUCCESS and EXIT_FAILURE. */
#define EXIT_USAGE	2
#define EXIT_SKIP	4	/* as kselftest's KSFT_SKIP */

#ifndef SOL_TCP
#define SOL_TCP		IPPROTO_TCP	/* all that <netinet/tcp.h> has over <linux/tcp.h> */
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- family: how `-f` turns into the arguments of socket() ---- */

enum fam { FAM_TCP, FAM_SDP, FAM_IPPROTO, FAM_SMC };

#define FAM_HELP	"tcp, sdp (AF_INET_SDP), ipproto (IPPROTO_SDP) or smc (AF_SMC)"

static const char *const fam_names[] = { "tcp", "sdp", "ipproto", "smc" };

static inline enum fam fam_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fam_names); i++)
		if (!strcmp(name, fam_names[i]))
			return i;
	errx(EXIT_USAGE, "unknown family '%s': use " FAM_HELP, name);
}

/* The first argument of socket() for an address of family @af (AF_INET or AF_INET6). */
static inline int fam_domain(enum fam fam, int af)
{
	switch (fam) {
	case FAM_SDP:
		return af == AF_INET ? AF_INET_SDP : AF_INET6_SDP;
	case FAM_SMC:
		return AF_SMC;
	default:
		return af;
	}
}

/* The last argument of socket(). AF_SMC's says only which IP version it is. */
static inline int fam_protocol(enum fam fam, int af)
{
	switch (fam) {
	case FAM_IPPROTO:
		return IPPROTO_SDP;
	case FAM_SMC:
		return af == AF_INET6;
	default:
		return 0;
	}
}

static inline int fam_socket(enum fam fam, int af, int flags)
{
	return socket(fam_domain(fam, af), SOCK_STREAM | flags, fam_protocol(fam, af));
}

/* ---- addresses ---- */

struct addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage ss;
	};
	socklen_t len;
};

static inline void addr_set_port(struct addr *a, unsigned int port)
{
	if (a->sa.sa_family == AF_INET6)
		a->in6.sin6_port = htons(port);
	else
		a->in.sin_port = htons(port);
}

static inline unsigned int addr_port(const struct addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

static inline struct addr addr_parse(const char *host, unsigned int port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *res;
	struct addr a = { .len = 0 };
	int rc = getaddrinfo(host, NULL, &hints, &res);

	if (rc)
		errx(EXIT_USAGE, "address '%s': %s", host, gai_strerror(rc));
	memcpy(&a.ss, res->ai_addr, res->ai_addrlen);
	a.len = res->ai_addrlen;
	freeaddrinfo(res);
	addr_set_port(&a, port);
	return a;
}

static inline const char *addr_str(const struct addr *a)
{
	static __thread char str[INET6_ADDRSTRLEN + 16];
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->in6.sin6_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET, &a->in.sin_addr, host, sizeof(host));
	snprintf(str, sizeof(str), "%s port %u", host, addr_port(a));
	return str;
}

/* ---- sockets that must work: the program ends with a message otherwise ---- */

static inline int xsocket(enum fam fam, int af, int flags)
{
	int fd = fam_socket(fam, af, flags);

	if (fd < 0)
		err(EXIT_FAILURE, "socket(%d, SOCK_STREAM, %d) for -f %s", fam_domain(fam, af),
		    fam_protocol(fam, af), fam_names[fam]);
	return fd;
}

static inline void xsetsockopt_int(int fd, int level, int opt, int val, const char *name)
{
	if (setsockopt(fd, level, opt, &val, sizeof(val)))
		err(EXIT_FAILURE, "setsockopt(%s, %d)", name, val);
}

/* Buffer sizes of 0 mean: leave the default. To be called before connect() or listen(). */
static inline void xset_buffers(int fd, int sndbuf, int rcvbuf)
{
	if (sndbuf)
		xsetsockopt_int(fd, SOL_SOCKET, SO_SNDBUF, sndbuf, "SO_SNDBUF");
	if (rcvbuf)
		xsetsockopt_int(fd, SOL_SOCKET, SO_RCVBUF, rcvbuf, "SO_RCVBUF");
}

/* Listens on @a and, if its port was 0, fills in the one chosen. */
static inline int xlisten(enum fam fam, struct addr *a, int backlog, int sndbuf, int rcvbuf)
{
	int fd = xsocket(fam, a->sa.sa_family, 0);
	struct addr name = { .len = sizeof(name.ss) };

	xsetsockopt_int(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	xset_buffers(fd, sndbuf, rcvbuf);
	if (bind(fd, &a->sa, a->len))
		err(EXIT_FAILURE, "bind %s (-f %s)", addr_str(a), fam_names[fam]);
	if (listen(fd, backlog))
		err(EXIT_FAILURE, "listen %s (-f %s)", addr_str(a), fam_names[fam]);
	if (getsockname(fd, &name.sa, &name.len))
		err(EXIT_FAILURE, "getsockname");
	addr_set_port(a, addr_port(&name));
	return fd;
}

static inline int xaccept(int lfd)
{
	int fd;

	do {
		fd = accept(lfd, NULL, NULL);
	} while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		err(EXIT_FAILURE, "accept");
	return fd;
}

static inline int xconnect(enum fam fam, const struct addr *a, int sndbuf, int rcvbuf)
{
	int fd = xsocket(fam, a->sa.sa_family, 0);

	xset_buffers(fd, sndbuf, rcvbuf);
	if (connect(fd, &a->sa, a->len))
		err(EXIT_FAILURE, "connect %s (-f %s)", addr_str(a), fam_names[fam]);
	return fd;
}

/* ---- whole buffers: 0, or -1 with errno (ENODATA: the stream ended early) ---- */

static inline int send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

static inline int recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENODATA;
		if (n <= 0)
			return -1;
		p += n;
		len -= n;
	}
	return 0;
}

/* ---- numbers ---- */

/* A number with an optional suffix K, M or G (powers of 1024), ended by @end's character. */
static inline uint64_t parse_size_to(const char *what, const char *str, const char **end)
{
	char *p;
	uint64_t v;

	errno = 0;
	v = strtoull(str, &p, 0);
	if (p == str || errno || !isdigit((unsigned char)*str))
		errx(EXIT_USAGE, "%s: '%s' is not a number", what, str);
	switch (toupper((unsigned char)*p)) {
	case 'G':
		v <<= 10;
		/* fall through */
	case 'M':
		v <<= 10;
		/* fall through */
	case 'K':
		v <<= 10;
		p++;
	}
	*end = p;
	return v;
}

static inline uint64_t parse_size(const char *what, const char *str, uint64_t min, uint64_t max)
{
	const char *end;
	uint64_t v = parse_size_to(what, str, &end);

	if (*end)
		errx(EXIT_USAGE, "%s: trailing '%s' in '%s'", what, end, str);
	if (v < min || v > max)
		errx(EXIT_USAGE, "%s: %s is not within %llu..%llu", what, str,
		     (unsigned long long)min, (unsigned long long)max);
	return v;
}

/* ---- time ---- */

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline double seconds_since(uint64_t start)
{
	return (now_ns() - start) / 1e9;
}

/* ---- the machine ---- */

/* As many descriptors as may be */
static inline void raise_fd_limit(void)
{
	struct rlimit r;

	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* Seconds of all CPUs since boot that were neither idle nor waiting for a disk. */
static inline double machine_busy(void)
{
	unsigned long long v[8] = { 0 };
	FILE *f = fopen("/proc/stat", "r");
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu",
			   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
		fclose(f);
	}
	if (n < 8)
		return 0;
	return (double)(v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / sysconf(_SC_CLK_TCK);
}

/* ---- pseudo-random stream ---- */

/* splitmix64: a random-looking word for each @x, so a stream can be read from any offset. */
static inline uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* A sequence of random numbers; the state is the caller's, so each user has its own. */
static inline uint64_t rnd(uint64_t *state)
{
	return mix64((*state)++);
}

static inline uint64_t rnd_range(uint64_t *state, uint64_t min, uint64_t max)
{
	return min + rnd(state) % (max - min + 1);
}

/*
 * The stream of a seed: byte n is byte n % 8 (in memory order) of word n / 8. The hash goes
 * over the same words, so it does not depend on how the stream was cut into calls.
 */
struct stream {
	uint64_t seed;
	uint64_t off;		/* bytes so far */
	uint64_t hash;
	uint64_t word;		/* the word that offset lies in: expected */
	uint64_t seen;		/* ... and as found, up to the offset */
};

static inline void stream_init(struct stream *s, uint64_t seed)
{
	*s = (struct stream){ .seed = seed, .hash = seed };
}

static inline uint64_t stream_word(const struct stream *s, uint64_t off)
{
	return mix64(s->seed + (off / 8) * 0x2545f4914f6cdd1dull);
}

static inline uint64_t hash_step(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9fb21c651e98df25ull;
	return hash ^ (hash >> 29);
}

/* The hash of all bytes so far; a partial last word counts with zeros above. */
static inline uint64_t stream_hash(const struct stream *s)
{
	return hash_step(s->off % 8 ? hash_step(s->hash, s->seen) : s->hash, s->off);
}

static inline void stream_byte(struct stream *s, unsigned char byte)
{
	((unsigned char *)&s->seen)[s->off % 8] = byte;
	if (++s->off % 8 == 0) {
		s->hash = hash_step(s->hash, s->seen);
		s->seen = 0;
	}
}

static inline unsigned char stream_next(struct stream *s)
{
	if (s->off % 8 == 0)
		s->word = stream_word(s, s->off);
	return ((unsigned char *)&s->word)[s->off % 8];
}

/* Writes the next @len bytes of the stream to @buf. */
static inline void stream_fill(struct stream *s, unsigned char *buf, size_t len)
{
	unsigned char *end = buf + len;

	while (buf < end) {
		if (s->off % 8 || end - buf < 8) {
			*buf = stream_next(s);
			stream_byte(s, *buf++);
			continue;
		}
		uint64_t w = stream_word(s, s->off);

		memcpy(buf, &w, 8);
		s->hash = hash_step(s->hash, w);
		s->off += 8;
		buf += 8;
	}
}

/*
 * Takes the next @len bytes of the stream from @buf into the hash. Returns the offset in the
 * stream of the first byte that is not what the seed says, or -1.
 */
static inline int64_t stream_check(struct stream *s, const unsigned char *buf, size_t len)
{
	const unsigned char *end = buf + len;
	int64_t bad = -1;

	while (buf < end) {
		if (s->off % 8 == 0 && end - buf >= 8) {
			uint64_t w;

			memcpy(&w, buf, 8);
			if (w == stream_word(s, s->off)) {
				s->hash = hash_step(s->hash, w);
				s->off += 8;
				buf += 8;
				continue;
			}
		}
		if (*buf != stream_next(s) && bad < 0)
			bad = s->off;
		stream_byte(s, *buf++);
	}
	return bad;
}

#endif
