// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: calls that move data, and their flags.
 */
#include "contract.h"
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <sys/syscall.h>
#include <sys/time.h>

static char big[1 << 20];

/* What recv() gives, with the text */
static const char *got(int fd, char *buf, size_t len, int flags)
{
	static char text[64];
	ssize_t n = recv(fd, buf, len, flags);

	if (n < 0)
		return errno_name(errno);
	snprintf(text, sizeof(text), "%zd %.*s", n, (int)n, buf);
	return text;
}

static void put(int fd, const char *text)
{
	if (send(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		die("send: %s", strerror(errno));
}

static void peeking(void)
{
	struct pair p = pair();
	char b[16];

	put(p.s, "abc");
	await(p.c, 3);
	put(p.s, "def");
	await(p.c, 6);
	answer("MSG_PEEK of a part", "%s", got(p.c, b, 2, MSG_PEEK));
	answer("MSG_PEEK over two messages", "%s", got(p.c, b, 16, MSG_PEEK));
	answer("MSG_PEEK | MSG_WAITALL of what there is", "%s", got(p.c, b, 6, MSG_PEEK | MSG_WAITALL));
	answer("MSG_PEEK | MSG_TRUNC", "%s", res(recv(p.c, NULL, 16, MSG_PEEK | MSG_TRUNC)));
	answer("then all of it", "%s", got(p.c, b, 16, 0));
	answer("MSG_PEEK of nothing", "%s", got(p.c, b, 16, MSG_PEEK | MSG_DONTWAIT));
	put(p.s, "x");
	shutdown(p.s, SHUT_WR);
	await(p.c, 1);
	settle(50);
	answer("MSG_PEEK | MSG_WAITALL before the end", "%s", got(p.c, b, 4, MSG_PEEK | MSG_WAITALL));
	answer("then all of it, before the end", "%s", got(p.c, b, 4, 0));
	answer("MSG_PEEK at the end", "%s", got(p.c, b, 16, MSG_PEEK));
}

static void peek_offset(void)
{
	struct pair p = pair();
	char b[16];
	int rc = setsockopt(p.c, SOL_SOCKET, SO_PEEK_OFF, &(int){ 0 }, sizeof(int));

	answer("SO_PEEK_OFF 0", "%s", res(rc));
	put(p.s, "abcdef");
	await(p.c, 6);
	answer("first MSG_PEEK", "%s", got(p.c, b, 2, MSG_PEEK));
	answer("second MSG_PEEK", "%s", got(p.c, b, 2, MSG_PEEK));
	answer("offset", "%s", res(get_int(p.c, SOL_SOCKET, SO_PEEK_OFF)));
	answer("recv()", "%s", got(p.c, b, 1, 0));
	answer("offset after it", "%s", res(get_int(p.c, SOL_SOCKET, SO_PEEK_OFF)));
	answer("MSG_PEEK after it", "%s", got(p.c, b, 16, MSG_PEEK));
	answer("MSG_PEEK beyond the data", "%s", got(p.c, b, 16, MSG_PEEK | MSG_DONTWAIT));
	answer("recv() of the rest", "%s", got(p.c, b, 16, 0));
	answer("offset after that", "%s", res(get_int(p.c, SOL_SOCKET, SO_PEEK_OFF)));
}

static void truncating(void)
{
	struct pair p = pair();
	char b[16] = "";

	put(p.s, "abcdef");
	await(p.c, 6);
	answer("MSG_TRUNC drops data", "%s", res(recv(p.c, NULL, 4, MSG_TRUNC)));
	answer("the rest", "%s", got(p.c, b, 16, 0));
	put(p.s, "abcdef");
	await(p.c, 6);
	answer("recv(NULL, 4)", "%s", res(recv(p.c, NULL, 4, 0)));
	answer("nothing was lost", "%s", got(p.c, b, 16, 0));
}

static void flags_harmless(void)
{
	static const struct { const char *name; int flag; } rx[] = {
		{ "MSG_NOSIGNAL", MSG_NOSIGNAL }, { "MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC },
		{ "MSG_CTRUNC", MSG_CTRUNC }, { "MSG_EOR", MSG_EOR }, { "MSG_WAITFORONE", MSG_WAITFORONE },
		{ "MSG_DONTROUTE", MSG_DONTROUTE }, { "MSG_CONFIRM", MSG_CONFIRM }, { "MSG_RST", MSG_RST },
		{ "MSG_SYN", MSG_SYN }, { "MSG_PROXY", MSG_PROXY }, { "MSG_BATCH", MSG_BATCH },
	};
	struct pair p = pair();
	char b[16];

	for (size_t i = 0; i < ARRAY_SIZE(rx); i++) {
		char item[64];

		snprintf(item, sizeof(item), "send(%s)", rx[i].name);
		answer(item, "%s", res(send(p.c, "abc", 3, rx[i].flag)));
		drain(p.s);
		put(p.s, "abc");
		await(p.c, 3);
		snprintf(item, sizeof(item), "recv(%s)", rx[i].name);
		answer(item, "%s", got(p.c, b, 3, rx[i].flag));
	}
}

static void flags_out(void)
{
	struct pair p = pair();
	char b[16], ctl[64];
	struct iovec iov = { b, 4 };
	struct sockaddr_storage from;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			    .msg_controllen = sizeof(ctl), .msg_name = &from,
			    .msg_namelen = sizeof(from), .msg_flags = -1 };
	socklen_t len = sizeof(from);

	put(p.s, "abcdefgh");
	await(p.c, 8);
	answer("recvmsg()", "%s", res(recvmsg(p.c, &m, 0)));
	answer("... flags", "%#x", m.msg_flags);
	answer("... length of control data", "%d", (int)m.msg_controllen);
	answer("... length of the name", "%d", m.msg_namelen);
	answer("recvfrom()", "%s", res(recvfrom(p.c, b, 4, 0, (void *)&from, &len)));
	answer("... length of the name", "%d", len);
	m = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1, .msg_name = &from,
			     .msg_namelen = sizeof(from) };
	memset(&from, 0, sizeof(from));
	answer("sendmsg() with an address", "%s", res(sendmsg(p.c, &m, 0)));
	m = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			     .msg_controllen = sizeof(ctl) };
	memset(ctl, 0xff, sizeof(ctl));
	answer("sendmsg() with bad control data", "%s", res(sendmsg(p.c, &m, 0)));
	{
		union { struct cmsghdr h; char b[CMSG_SPACE(sizeof(int))]; } c = {
			.h = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SO_MARK } };

		m.msg_control = &c;
		m.msg_controllen = sizeof(c);
		answer("sendmsg() with SO_MARK", "%s", res(sendmsg(p.c, &m, 0)));
		c.h.cmsg_type = 99;
		answer("sendmsg() with an unknown kind of control data", "%s", res(sendmsg(p.c, &m, 0)));
		c.h.cmsg_level = SOL_IP;
		c.h.cmsg_type = IP_TTL;
		answer("sendmsg() with IP_TTL", "%s", res(sendmsg(p.c, &m, 0)));
	}
}

/* Control data that comes with data */
static void control_data(void)
{
	struct pair p = pair();
	char b[16], ctl[256];
	struct iovec iov = { b, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl };
	struct cmsghdr *c;
	int inq = -1;

	set_int(p.c, SOL_TCP, TCP_INQ, 1);
	put(p.s, "abcd");
	await(p.c, 4);
	m.msg_controllen = sizeof(ctl);
	answer("TCP_INQ: recvmsg()", "%s", res(recvmsg(p.c, &m, 0)));
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_TCP && c->cmsg_type == TCP_CM_INQ)
		memcpy(&inq, CMSG_DATA(c), sizeof(inq));
	answer("... what is left", "%d", inq);
}

/* A time stamp's age in seconds; those of 64 and of old types look alike here */
static double stamp_age(const struct cmsghdr *c, bool nano)
{
	struct timespec now, t;

	memcpy(&t, CMSG_DATA(c), sizeof(t));
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - t.tv_sec + (now.tv_nsec - t.tv_nsec * (nano ? 1.0 : 1000.0)) / 1e9;
}

/* What came with data: kinds and lengths, and whether the time is that of its coming */
static void answer_stamps(const char *item, int fd, void *to, size_t len, int flags)
{
	char ctl[256], text[120] = "";
	struct iovec iov = { to, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			    .msg_controllen = sizeof(ctl) };
	int rc = recvmsg(fd, &m, flags), n = snprintf(text, sizeof(text), "%s", res(rc));

	for (struct cmsghdr *c = rc < 0 ? NULL : CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		bool stamp = c->cmsg_level == SOL_SOCKET;
		bool nano = c->cmsg_type != SO_TIMESTAMP_OLD && c->cmsg_type != SO_TIMESTAMP_NEW;
		double age = stamp ? stamp_age(c, nano) : 0;

		n += snprintf(text + n, sizeof(text) - n, ", %d/%d length %d %s", c->cmsg_level,
			      c->cmsg_type, (int)c->cmsg_len,
			      !stamp ? "" : age >= 0 && age < 10 * run.slow ? "now" : "another time");
	}
	answer(item, "%s", text);
}

/*
 * TCP has time stamps some time after the first socket has asked for them: have one that does,
 * until it gets them, and for as long as this case runs.
 */
static void begin_stamps(void)
{
	char b[4], ctl[64];
	struct iovec iov = { b, 1 };
	enum fam fam = run.fam;
	struct pair p;

	run.fam = FAM_TCP;
	p = pair();
	run.fam = fam;
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMP, 1);
	for (int i = 0; i < 300; i++) {
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
				    .msg_controllen = sizeof(ctl) };

		put(p.s, "x");
		if (recvmsg(p.c, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
			return;
		settle(10);
	}
	die("no time stamps from TCP");
}

static void ask_stamp(const char *item, int opt, int val, struct pair *p)
{
	char name[72], b[16];

	snprintf(name, sizeof(name), "set %s", item);
	answer(name, "%s", res(setsockopt(p->c, SOL_SOCKET, opt, &val, sizeof(val))));
	put(p->s, "abcdef");
	await(p->c, 6);
	snprintf(name, sizeof(name), "%s: MSG_PEEK", item);
	answer_stamps(name, p->c, b, 1, MSG_PEEK);
	snprintf(name, sizeof(name), "%s: MSG_TRUNC", item);
	answer_stamps(name, p->c, b, 1, MSG_TRUNC);
	snprintf(name, sizeof(name), "%s: a part", item);
	answer_stamps(name, p->c, b, 2, 0);
	snprintf(name, sizeof(name), "%s: the rest", item);
	answer_stamps(name, p->c, b, 16, 0);
	snprintf(name, sizeof(name), "%s: nothing there", item);
	answer_stamps(name, p->c, b, 16, MSG_DONTWAIT);
}

static void time_stamps(void)
{
	static const struct { const char *name; int opt, val; } opts[] = {
		{ "SO_TIMESTAMP", SO_TIMESTAMP_OLD, 1 },
		{ "SO_TIMESTAMPNS", SO_TIMESTAMPNS_OLD, 1 },
		{ "SO_TIMESTAMP_NEW", SO_TIMESTAMP_NEW, 1 },
		{ "SO_TIMESTAMPNS_NEW", SO_TIMESTAMPNS_NEW, 1 },
		{ "SO_TIMESTAMPING",  SO_TIMESTAMPING_OLD,
		  SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE },
		{ "SO_TIMESTAMPING_NEW", SO_TIMESTAMPING_NEW,
		  SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE },
		{ "SO_TIMESTAMPING, not to be told", SO_TIMESTAMPING_OLD, SOF_TIMESTAMPING_RX_SOFTWARE },
	};

	begin_stamps();
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		struct pair p = pair();

		ask_stamp(opts[i].name, opts[i].opt, opts[i].val, &p);
		close(p.c);
		close(p.s);
	}
}

static void *send_large(void *fd)
{
	send((long)fd, big, sizeof(big), MSG_NOSIGNAL);
	return NULL;
}

/* Beside other options, and by other ways */
static void more_time_stamps(void)
{
	int both = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE;
	struct addr a = own_addr();
	struct pair p = pair();
	struct timespec ts;
	struct timeval tv;
	pthread_t t;
	char b[16];
	int l;

	begin_stamps();
	answer("SIOCGSTAMP", "%s", res(ioctl(p.s, SIOCGSTAMP_OLD, &tv)));
	answer("SIOCGSTAMPNS", "%s", res(ioctl(p.s, SIOCGSTAMPNS_OLD, &ts)));
	put(p.c, "abc");
	await(p.s, 3);
	answer_stamps("... are nothing that comes with data", p.s, b, 16, 0);
	answer("SIOCGSTAMP after data", "%s", res(ioctl(p.s, SIOCGSTAMP_OLD, &tv)));
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMPING, both);
	set_int(p.c, SOL_TCP, TCP_INQ, 1);
	put(p.s, "abcdef");
	await(p.c, 6);
	answer_stamps("SO_TIMESTAMPNS, SO_TIMESTAMPING and TCP_INQ", p.c, b, 2, 0);
	answer("recv() without room for them", "%s", got(p.c, b, 16, 0));
	put(p.s, "abcdef");
	await(p.c, 6);
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMPNS, 0);
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMPING, 0);
	answer_stamps("turned off when data has come", p.c, b, 16, 0);
	set_int(p.c, SOL_TCP, TCP_INQ, 0);
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMP, 1);
	pthread_create(&t, NULL, send_large, (void *)(long)p.s);
	answer_stamps("SO_TIMESTAMP, 1 MiB", p.c, big, sizeof(big), MSG_WAITALL);
	pthread_join(t, NULL);
	shutdown(p.s, SHUT_WR);
	readable_soon(p.c);
	answer_stamps("SO_TIMESTAMP at the end", p.c, b, 16, 0);
	l = listener(&a, 1);
	set_int(l, SOL_SOCKET, SO_TIMESTAMP, 1);
	p.c = connected(&a);
	p.s = accept(l, NULL, NULL);
	put(p.c, "abc");
	await(p.s, 3);
	answer_stamps("SO_TIMESTAMP of the listener", p.s, b, 16, 0);
	set_int(p.c, SOL_SOCKET, SO_TIMESTAMPING,
		SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_TX_SOFTWARE);
	put(p.c, "abc");
	await(p.s, 3);
	settle(20);
	answer("of sent data, in the error queue", "%d",
	       recv(p.c, b, sizeof(b), MSG_ERRQUEUE | MSG_DONTWAIT) >= 0);
}

static void error_queue(void)
{
	struct pair p = pair();
	char b[64], ctl[128];
	struct iovec iov = { b, sizeof(b) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			    .msg_controllen = sizeof(ctl) };

	answer("MSG_ERRQUEUE, nothing there", "%s", res(recvmsg(p.c, &m, MSG_ERRQUEUE)));
	answer("send(MSG_ERRQUEUE)", "%s", res(send(p.c, "x", 1, MSG_ERRQUEUE)));
	drain(p.s);
	shutdown(p.s, SHUT_WR);
	settle(50);
	answer("MSG_ERRQUEUE at the end", "%s", res(recvmsg(p.c, &m, MSG_ERRQUEUE)));
}

static void lengths(void)
{
	struct pair p = pair();
	char b[16];
	struct iovec iov[1025], none = { NULL, 0 };
	struct msghdr m = { .msg_iov = iov };

	for (int i = 0; i < 1025; i++)
		iov[i] = (struct iovec){ (char *)"x", 1 };
	answer("send() of 0 bytes", "%s", res(send(p.c, "", 0, 0)));
	answer("write() of 0 bytes", "%s", res(write(p.c, "", 0)));
	answer("recv() of 0 bytes, nothing there", "%s", res(recv(p.s, b, 0, MSG_DONTWAIT)));
	answer("read() of 0 bytes", "%s", res(read(p.s, b, 0)));
	answer("writev() of an empty iovec", "%s", res(writev(p.c, &none, 1)));
	answer("writev() of no iovec", "%s", res(writev(p.c, iov, 0)));
	answer("writev() of 1024", "%s", res(writev(p.c, iov, 1024)));
	answer("writev() of 1025", "%s", res(writev(p.c, iov, 1025)));
	answer("writev() of -1", "%s", res(syscall(SYS_writev, p.c, iov, -1L)));
	m.msg_iovlen = 1025;
	answer("sendmsg() of 1025", "%s", res(sendmsg(p.c, &m, 0)));
	answer("received", "%zu", drain(p.s));
	answer("recv() of 0 bytes", "%s", res(recv(p.s, b, 0, MSG_DONTWAIT)));
	put(p.c, "abc");
	await(p.s, 3);
	answer("recv() of 0 bytes, some there", "%s", res(recv(p.s, b, 0, 0)));
	answer("they still are", "%s", got(p.s, b, 16, 0));
	shutdown(p.c, SHUT_WR);
	settle(50);
	answer("recv() of 0 bytes at the end", "%s", res(recv(p.s, b, 0, 0)));
	answer("send() of 0 bytes after shutdown(SHUT_WR)", "%s", res(send(p.c, "", 0, MSG_NOSIGNAL)));
}

static void many_messages(void)
{
	struct pair p = pair();
	char b[3][4] = { "" };
	struct iovec o[3] = { { "ab", 2 }, { "cde", 3 }, { "", 0 } }, in[3];
	struct mmsghdr m[3] = { };

	for (int i = 0; i < 3; i++) {
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &o[i], .msg_iovlen = 1 };
		in[i] = (struct iovec){ b[i], 2 };
	}
	answer("sendmmsg()", "%s", res(sendmmsg(p.c, m, 3, 0)));
	answer("... lengths", "%u %u %u", m[0].msg_len, m[1].msg_len, m[2].msg_len);
	await(p.s, 5);
	for (int i = 0; i < 3; i++)
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &in[i], .msg_iovlen = 1 };
	answer("recvmmsg()", "%s", res(recvmmsg(p.s, m, 3, MSG_DONTWAIT, NULL)));
	answer("... lengths", "%u %u %u", m[0].msg_len, m[1].msg_len, m[2].msg_len);
	answer("recvmmsg(), nothing there", "%s", res(recvmmsg(p.s, m, 3, MSG_DONTWAIT, NULL)));
}

/* A page, and behind it none */
static char *cliff(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 8192, (1 << 20) - 8192);
	return p;
}

static void bad_memory(void)
{
	struct pair p = pair();
	char *mem = cliff(), b[16];
	int n;
	struct iovec iov[2] = { { "abc", 3 }, { (void *)16, 5 } };

	answer("send() from nowhere", "%s", res(send(p.c, (void *)16, 5, 0)));
	n = send(p.c, mem, 16384, 0);
	answer("send() of 8 KiB and what is not mapped", "%s", res(n));
	await(p.s, n);
	answer("received", "%zu", drain(p.s));
	n = send(p.c, mem, 200 << 10, 0);
	answer("send() of 8 KiB and 200 KiB that are not mapped", "%s", res(n));
	await(p.s, n);
	answer("received then", "%zu", drain(p.s));
	answer("writev(), second part nowhere", "%s", res(writev(p.c, iov, 2)));
	answer("received of it", "%zu", drain(p.s));
	put(p.c, "abcde");
	await(p.s, 5);
	answer("recv() to nowhere", "%s", res(recv(p.s, (void *)16, 5, 0)));
	answer("nothing was lost", "%s", got(p.s, b, 16, 0));
	put(p.c, "abcde");
	await(p.s, 5);
	iov[0] = (struct iovec){ b, 2 };
	answer("readv(), second part nowhere", "%s", res(readv(p.s, iov, 2)));
	answer("the rest", "%s", got(p.s, b, 16, 0));
	memset(big, 'x', sizeof(big));
	send(p.c, big, 40000, 0);
	await(p.s, 40000);
	answer("recv() of 40000 into 8 KiB", "%d", recv(p.s, mem, 40000, 0) > 0);
	answer("nothing stuck", "%d", drain(p.s) > 0);
}

static void no_pipe(void)
{
	struct pair p = pair();
	int sp[2];
	sigset_t pending, set;

	shutdown(p.c, SHUT_WR);
	answer("send(MSG_NOSIGNAL) after shutdown()", "%s", res(send(p.c, "x", 1, MSG_NOSIGNAL)));
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_DFL);
	send(p.c, "x", 1, MSG_NOSIGNAL);
	sigpending(&pending);
	answer("... no SIGPIPE", "%d", sigismember(&pending, SIGPIPE));
	send(p.c, "x", 1, 0);
	sigpending(&pending);
	answer("SIGPIPE without the flag", "%d", sigismember(&pending, SIGPIPE));
	(void)sp;
}

static void unconnected(void)
{
	int fd = sock(0);
	char b[4];
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	answer("send()", "%s", res(send(fd, "x", 1, MSG_NOSIGNAL)));
	answer("send() of 0 bytes", "%s", res(send(fd, "", 0, MSG_NOSIGNAL)));
	answer("recv()", "%s", res(recv(fd, b, 4, 0)));
	answer("recv() of 0 bytes", "%s", res(recv(fd, b, 0, 0)));
	answer("recv(MSG_PEEK)", "%s", res(recv(fd, b, 4, MSG_PEEK)));
	answer("recv(MSG_OOB)", "%s", res(recv(fd, b, 4, MSG_OOB)));
	answer("send(MSG_OOB)", "%s", res(send(fd, b, 4, MSG_OOB | MSG_NOSIGNAL)));
	answer("getpeername()", "%s", res(getpeername(fd, (void *)&ss, &len)));
	answer("shutdown()", "%s", res(shutdown(fd, SHUT_RDWR)));
	answer("shutdown(SHUT_RD)", "%s", res(shutdown(fd, SHUT_RD)));
	answer("shutdown(3)", "%s", res(shutdown(fd, 3)));
	answer("accept()", "%s", res(accept(fd, NULL, NULL)));
	answer("events", "%s", mask_name(poll_now(fd)));
	answer("FIONREAD", "%s", res(inq(fd, FIONREAD)));
	answer("SIOCOUTQ", "%s", res(inq(fd, SIOCOUTQ)));
	answer("sendto() an address", "%s", res(sendto(fd, "x", 1, MSG_NOSIGNAL, (void *)&ss, sizeof(ss))));
}

static void fast_open(void)
{
	struct addr a = own_addr(), no = closed_port();
	int l = listener(&a, 4), fd = sock(0);
	char b[8];

	answer("sendto(MSG_FASTOPEN)", "%s", res(sendto(fd, "abc", 3, MSG_FASTOPEN, &a.sa, a.len)));
	fd = accept(l, NULL, NULL);
	await(fd, 3);
	answer("... received", "%s", got(fd, b, 8, 0));
	fd = sock(0);
	answer("sendto(MSG_FASTOPEN), no address", "%s", res(send(fd, "abc", 3, MSG_FASTOPEN | MSG_NOSIGNAL)));
	fd = sock(0);
	answer("sendto(MSG_FASTOPEN), nobody there", "%s",
	       res(sendto(fd, "abc", 3, MSG_FASTOPEN | MSG_NOSIGNAL, &no.sa, no.len)));
}

/* Signals in calls that wait */
static void on_alarm(int sig) { (void)sig; }

static void alarm_soon(int flags)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval it = { .it_value = { run.slow * 60 / 1000, run.slow * 60 % 1000 * 1000 } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
}

static void interrupted(void)
{
	struct pair p = pair();
	struct addr a = own_addr();
	int l = listener(&a, 1);
	char b[8];

	alarm_soon(0);
	answer("recv()", "%s", res(recv(p.c, b, 1, 0)));
	set_timeo(p.c, SO_RCVTIMEO, 5000);
	alarm_soon(SA_RESTART);
	answer("recv() with SO_RCVTIMEO and SA_RESTART", "%s", res(recv(p.c, b, 1, 0)));
	put(p.s, "ab");
	await(p.c, 2);
	alarm_soon(0);
	answer("recv(MSG_WAITALL) after some data", "%s", res(recv(p.c, b, 8, MSG_WAITALL)));
	alarm_soon(0);
	answer("accept()", "%s", res(accept(l, NULL, NULL)));
	fill(p.c);
	alarm_soon(0);
	answer("send() when all is full", "%s", res(send(p.c, b, 8, 0)));
	fill(p.c);
	set_timeo(p.c, SO_SNDTIMEO, 50);
	answer("send() with SO_SNDTIMEO when all is full", "%s", res(send(p.c, b, 8, 0)));
	set_timeo(p.s, SO_RCVTIMEO, 50);
	drain(p.s);
	answer("recv() with SO_RCVTIMEO", "%s", res(recv(p.s, b, 8, 0)));
	set_timeo(l, SO_RCVTIMEO, 50);
	answer("accept() with SO_RCVTIMEO", "%s", res(accept(l, NULL, NULL)));
}

static const struct contract_case cases[] = {
	{ "MSG_PEEK", peeking },
	{ "SO_PEEK_OFF", peek_offset },
	{ "MSG_TRUNC and NULL", truncating },
	{ "flags without effect", flags_harmless },
	{ "flags, names and control data", flags_out },
	{ "control data received", control_data },
	{ "time stamps", time_stamps },
	{ "time stamps beside other things", more_time_stamps },
	{ "MSG_ERRQUEUE", error_queue },
	{ "lengths and iovecs", lengths },
	{ "sendmmsg and recvmmsg", many_messages },
	{ "EFAULT", bad_memory },
	{ "SIGPIPE", no_pipe },
	{ "not connected", unconnected },
	{ "MSG_FASTOPEN", fast_open },
	{ "signals and timeouts", interrupted },
	{ }
};

const struct contract_topic topic_calls = { "Calls and flags", cases };
