// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: sockets made, and what they say put into words.
 */
#include "contract.h"

/**
 * errno_name() - an errno as programs write it
 * @err:	errno
 *
 * Return: its name.
 */
const char *errno_name(int err)
{
	return strerrorname_np(err) ?: "?";
}

/**
 * res() - what a call returned, in a word
 * @rc:	its return value, -1 with errno
 *
 * Return: number or name of the errno, good for eight more calls.
 */
const char *res(long rc)
{
	static __thread char buf[8][24];
	static __thread int next;
	char *s = buf[next++ % 8];

	if (rc == -1)
		return errno_name(errno);
	snprintf(s, sizeof(buf[0]), "%ld", rc);
	return s;
}

/**
 * mask_name() - events of poll()
 * @mask:	POLL*
 *
 * Return: their names, good for four more calls.
 */
const char *mask_name(unsigned int mask)
{
	static __thread char buf[4][64];
	static __thread int next;
	char *s = buf[next++ % 4];

	snprintf(s, sizeof(buf[0]), "%s%s%s%s%s%s", mask & POLLIN ? "IN " : "",
		 mask & POLLPRI ? "PRI " : "", mask & POLLOUT ? "OUT " : "",
		 mask & POLLERR ? "ERR " : "", mask & POLLHUP ? "HUP " : "",
		 mask & POLLRDHUP ? "RDHUP " : "");
	if (!*s)
		return "none";
	s[strlen(s) - 1] = 0;
	return s;
}

/**
 * own_addr() - the address under test
 *
 * Return: it, with port 0.
 */
struct addr own_addr(void)
{
	return addr_parse(run.host, 0);
}

/**
 * own_af() - its family
 *
 * Return: AF_INET or AF_INET6.
 */
int own_af(void)
{
	return own_addr().sa.sa_family;
}

/**
 * own_socket() - a socket of the kind under test, of any address family
 * @af:		AF_INET or AF_INET6
 * @flags:	SOCK_*
 *
 * Return: descriptor, or -1 and errno.
 */
int own_socket(int af, int flags)
{
	int fd = fam_socket(run.fam, af, flags);

	if (fd >= 0 && run.mode && run.fam != FAM_TCP)
		xsetsockopt_int(fd, SOL_SDP, SDP_MODE, run.mode, "SDP_MODE");
	return fd;
}

/**
 * sock() - a socket of the kind under test
 * @flags:	SOCK_*
 *
 * Return: descriptor.
 */
int sock(int flags)
{
	int fd = own_socket(own_af(), flags);

	if (fd < 0)
		die("socket: %s", strerror(errno));
	return fd;
}

/**
 * name_of() - getsockname()
 * @fd:	socket
 *
 * Return: its address.
 */
struct addr name_of(int fd)
{
	struct addr a = { .len = sizeof(a.ss) };

	if (getsockname(fd, &a.sa, &a.len))
		die("getsockname: %s", strerror(errno));
	return a;
}

/**
 * listener() - a socket that listens
 * @a:		where; its port becomes the real one
 * @backlog:	length of its queue
 *
 * Return: descriptor.
 */
int listener(struct addr *a, int backlog)
{
	int fd = own_socket(a->sa.sa_family, 0);
	struct addr name;

	if (fd < 0 || bind(fd, &a->sa, a->len) || listen(fd, backlog))
		die("listen at %s: %s", addr_str(a), strerror(errno));
	name = name_of(fd);
	addr_set_port(a, addr_port(&name));
	return fd;
}

/**
 * connected() - a new socket, connected
 * @a:	where to
 *
 * Return: descriptor.
 */
int connected(const struct addr *a)
{
	int fd = own_socket(a->sa.sa_family, 0);

	if (fd < 0 || connect(fd, &a->sa, a->len))
		die("connect to %s: %s", addr_str(a), strerror(errno));
	return fd;
}

/**
 * pair() - both ends of a new connection
 *
 * Return: descriptors.
 */
struct pair pair(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 4);
	struct pair p = { .c = connected(&a), .s = accept(l, NULL, NULL) };

	if (p.s < 0)
		die("accept: %s", strerror(errno));
	close(l);
	return p;
}

/**
 * closed_port() - a port where nobody listens
 *
 * Return: address.
 */
struct addr closed_port(void)
{
	struct addr a = own_addr();

	close(listener(&a, 1));
	return a;
}

/**
 * settle() - let others do what takes them some time
 * @ms:	milliseconds, on a fast machine
 */
void settle(int ms)
{
	usleep(ms * 1000 * run.slow);
}

/**
 * wait_asleep() - wait until another thread or process waits in a call
 * @thread:	its number
 *
 * For 10 s at most.
 */
void wait_asleep(pid_t thread)
{
	char path[64], line[256];
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", thread);
	for (int i = 0; i < 1000 * run.slow; i++) {
		usleep(10000);
		f = fopen(path, "r");
		if (!f)
			return;
		state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		fclose(f);
		if (state && state[2] == 'S')
			return;
	}
}

/**
 * poll_now() - events of a socket
 * @fd:	socket
 *
 * Return: POLL*.
 */
unsigned int poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };

	if (poll(&p, 1, 0) < 0)
		die("poll: %s", strerror(errno));
	return p.revents;
}

/**
 * poll_settled() - events of a socket when they have stopped changing
 * @fd:	socket
 *
 * Return: POLL*.
 */
unsigned int poll_settled(int fd)
{
	unsigned int mask, same = 0, last = ~0U;

	for (int i = 0; i < 40 && same < 8; i++) {
		mask = poll_now(fd);
		same = mask == last ? same + 1 : 0;
		last = mask;
		settle(10);
	}
	return last;
}

/**
 * readable_soon() - wait for data, the end or an error
 * @fd:	socket
 *
 * Return: true if there is one.
 */
bool readable_soon(int fd)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 3000 * run.slow) == 1;
}

/**
 * await() - wait until all that was sent is there to be read
 * @fd:		socket
 * @bytes:	how many
 */
void await(int fd, int bytes)
{
	for (int i = 0; i < 300 && inq(fd, FIONREAD) < bytes; i++)
		settle(10);
}

/**
 * set_int() - setsockopt() that must work
 * @fd:		socket
 * @level:	SOL_*
 * @name:	option
 * @val:	value
 */
void set_int(int fd, int level, int name, int val)
{
	if (setsockopt(fd, level, name, &val, sizeof(val)))
		die("setsockopt(%d, %d, %d): %s", level, name, val, strerror(errno));
}

/**
 * get_int() - getsockopt()
 * @fd:		socket
 * @level:	SOL_*
 * @name:	option
 *
 * Return: value, or -1 with errno.
 */
int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int val = 0;

	if (getsockopt(fd, level, name, &val, &len))
		return -1;
	return len == sizeof(int) ? val : *(char *)&val;
}

/**
 * set_timeo() - SO_RCVTIMEO or SO_SNDTIMEO
 * @fd:		socket
 * @name:	which
 * @ms:		milliseconds
 */
void set_timeo(int fd, int name, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	if (setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)))
		die("timeout: %s", strerror(errno));
}

/**
 * set_linger() - SO_LINGER
 * @fd:		socket
 * @on:		whether
 * @seconds:	how long
 */
void set_linger(int fd, int on, int seconds)
{
	struct linger l = { on, seconds };

	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)))
		die("SO_LINGER: %s", strerror(errno));
}

/**
 * nonblock() - make a socket non-blocking
 * @fd:	socket
 */
void nonblock(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		die("O_NONBLOCK: %s", strerror(errno));
}

/**
 * fill() - send until nothing more is taken
 * @fd:	socket
 *
 * Return: bytes.
 */
size_t fill(int fd)
{
	static char buf[64 << 10];
	size_t sum = 0;

	/*
	 * The peer may take more after a moment: full means it stays so. TCP has room
	 * for a byte when it has none for more.
	 */
	for (int full = 0; full < 5;) {
		ssize_t n = send(fd, buf, full == 4 ? 1 : sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			die("send: %s", strerror(errno));
		full = n < 0 ? full + 1 : 0;
		if (n < 0)
			settle(20);
		else
			sum += n;
	}
	return sum;
}

/**
 * drain() - read what there is
 * @fd:	socket
 *
 * Return: bytes.
 */
size_t drain(int fd)
{
	static char buf[64 << 10];
	size_t sum = 0;
	ssize_t n;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, 100 * run.slow) <= 0)
			return sum;
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		/* What was only advertised so far is being read */
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			return sum;
		sum += n;
	}
}

/**
 * inq() - an ioctl that gives a number
 * @fd:		socket
 * @cmd:	SIOC*
 *
 * Return: it, or -1 with errno.
 */
int inq(int fd, unsigned long cmd)
{
	int val = 0;

	return ioctl(fd, cmd, &val) ? -1 : val;
}
