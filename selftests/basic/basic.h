/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of sdp_basic share.
 *
 * A case checks with CHECK (a condition), CHECK_EQ (two numbers) and CHECK_ERR (a call that
 * must fail with an errno); the first that does not hold ends it. What the peer does shows
 * here only after some time, so masks and counters are awaited (poll_becomes, ioctl_becomes),
 * never just read.
 */
#ifndef BASIC_H
#define BASIC_H

#include "sdp_test.h"
#include <fcntl.h>
#include <getopt.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

struct basic_options {
	enum fam fam;
	const char *host;
	int limit;			/* seconds for one case */
	int slow;			/* factor on every upper bound of time */
};

extern struct basic_options opt;
extern char *skip_reason;		/* shared with the case's process */

#define SKIP_LEN	128

#define FAIL(fmt, ...)							\
	do {								\
		printf("# %s:%d: " fmt "\n", __FILE__, __LINE__, ##__VA_ARGS__);	\
		fflush(stdout);						\
		_exit(EXIT_FAILURE);					\
	} while (0)

#define CHECK(cond)							\
	do {								\
		if (!(cond))						\
			FAIL("%s is not so (errno %d, %s)", #cond, errno, strerror(errno)); \
	} while (0)

#define CHECK_EQ(expr, want)						\
	do {								\
		long long got_ = (expr), want_ = (want);		\
									\
		if (got_ != want_)					\
			FAIL("%s is %lld, not %lld (errno %d, %s)", #expr, got_, want_,	\
			     errno, strerror(errno));			\
	} while (0)

#define CHECK_ERR(call, want)						\
	do {								\
		errno = 0;						\
		long long rc_ = (call);					\
									\
		if (rc_ != -1 || errno != (want))			\
			FAIL("%s gives %lld with errno %d (%s), not %s", #call, rc_, errno,	\
			     strerror(errno), #want);			\
	} while (0)

#define SKIP(reason)							\
	do {								\
		snprintf(skip_reason, SKIP_LEN, "%s", reason);		\
		_exit(EXIT_SKIP);					\
	} while (0)

#define CASE(fn)	{ #fn, fn }

/* Ended by one without a name */
struct test_case {
	const char *name;
	void (*fn)(void);
};

extern const struct test_case cases_socket[], cases_connect[], cases_data[], cases_options[],
	cases_ending[], cases_poll[], cases_process[];

/* util.c */
struct pair {
	int c, s;			/* client's and server's end */
};

extern volatile sig_atomic_t signals;	/* that on_signal()'s handler has seen */

struct addr test_addr(void);
int test_af(void);
int new_socket(int flags);
struct addr name_of(int fd);
struct addr peer_of(int fd);
bool same_addr(const struct addr *a, const struct addr *b);
void bind_to(int fd, const struct addr *a);
int listen_at(struct addr *a);
int connect_to(const struct addr *a);
struct pair pair_at(struct addr a);
struct pair new_pair(void);
struct addr closed_port(void);
void msleep(int ms);
void settle(int ms);
bool readable_soon(int fd);
int getint(int fd, int level, int name);
void setint(int fd, int level, int name, int val);
void set_nonblock(int fd);
void set_timeo(int fd, int name, int ms);
void close_with_reset(int fd);
const char *mask_str(unsigned int mask);
unsigned int poll_now(int fd);
void poll_becomes(int fd, unsigned int mask);
void ioctl_becomes(int fd, unsigned long cmd, int want);
pid_t start_child(void);
void wait_child(pid_t pid);
void check_echo(int from, int to);
void check_alive(const struct pair *p);
void send_stream(int fd, struct stream *st, size_t len);
void recv_stream(int fd, struct stream *st, size_t len);
size_t fill_socket(int fd, struct stream *st);
unsigned char *two_pages_one_mapped(void);
void on_signal(int sig, int flags);

#endif
