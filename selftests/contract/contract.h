/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of sdp_contract share: a case asks a socket questions and writes down the
 * answers; the same case runs over TCP and over SDP, and the answers are compared.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "sdp_test.h"
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE	51
#endif

/**
 * struct contract - how the case that runs is to make its sockets
 * @fam:	what kind
 * @host:	address to bind and connect to
 * @mode:	SDP_MODE of SDP's sockets
 * @slow:	factor on all waiting
 */
struct contract {
	enum fam fam;
	const char *host;
	int mode;
	int slow;
};

extern struct contract run;

/**
 * struct contract_case - questions that belong together
 * @name:	for -t and the table
 * @fn:		asks them
 */
struct contract_case {
	const char *name;
	void (*fn)(void);
};

/**
 * struct contract_topic - a file of cases
 * @title:	heading in the table
 * @cases:	ended by one without a name
 */
struct contract_topic {
	const char *title;
	const struct contract_case *cases;
};

extern const struct contract_topic topic_options, topic_calls, topic_connect, topic_listen,
	topic_ending, topic_poll, topic_urgent, topic_queues, topic_threads, topic_users;

/**
 * struct deviation - an answer that is not TCP's, and why
 * @case_name:	of the case
 * @item:	pattern, as fnmatch(3) has it
 * @ours:	pattern of our answer
 * @reason:	for the table
 * @kernel:	pattern of the kernels where it is so, NULL for all
 */
struct deviation {
	const char *case_name;
	const char *item;
	const char *ours;
	const char *reason;
	const char *kernel;
};

extern const struct deviation deviations[];

/* main.c */
void answer(const char *item, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* util.c */
struct pair {
	int c, s;			/* client's and server's end */
};

const char *res(long rc);
const char *errno_name(int err);
const char *mask_name(unsigned int mask);
struct addr own_addr(void);
int own_af(void);
int own_socket(int af, int flags);
int sock(int flags);
struct addr name_of(int fd);
int listener(struct addr *a, int backlog);
int connected(const struct addr *a);
struct pair pair(void);
struct addr closed_port(void);
void settle(int ms);
void wait_asleep(pid_t thread);
unsigned int poll_now(int fd);
unsigned int poll_settled(int fd);
bool readable_soon(int fd);
void await(int fd, int bytes);
void set_int(int fd, int level, int name, int val);
int get_int(int fd, int level, int name);
void set_timeo(int fd, int name, int ms);
void set_linger(int fd, int on, int seconds);
void nonblock(int fd);
size_t fill(int fd);
size_t drain(int fd);
int inq(int fd, unsigned long cmd);

#endif
