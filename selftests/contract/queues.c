// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: what ioctl() tells of queues, and when data leaves: TCP_CORK, MSG_MORE.
 */
#include "contract.h"
#include <net/if.h>

static char buf[64 << 10];

static void counting(void)
{
	struct pair p = pair();

	answer("FIONREAD, nothing there", "%s", res(inq(p.s, FIONREAD)));
	send(p.c, buf, 1000, 0);
	settle(60);
	answer("FIONREAD", "%s", res(inq(p.s, FIONREAD)));
	answer("SIOCOUTQ when all has arrived", "%s", res(inq(p.c, SIOCOUTQ)));
	answer("SIOCOUTQNSD", "%s", res(inq(p.c, SIOCOUTQNSD)));
	recv(p.s, buf, 300, 0);
	answer("FIONREAD after a part", "%s", res(inq(p.s, FIONREAD)));
	recv(p.s, buf, 700, 0);
	shutdown(p.c, SHUT_WR);
	settle(60);
	answer("FIONREAD at the end", "%s", res(inq(p.s, FIONREAD)));
	answer("SIOCOUTQ after shutdown()", "%s", res(inq(p.c, SIOCOUTQ)));
	answer("SIOCATMARK", "%s", res(inq(p.s, SIOCATMARK)));
	fill(p.s);
	answer("SIOCOUTQ when the peer doesn't read", "%d", inq(p.s, SIOCOUTQ) > 0);
	answer("SIOCOUTQNSD is no more", "%d", inq(p.s, SIOCOUTQ) >= inq(p.s, SIOCOUTQNSD));
	answer("FIONREAD to nowhere", "%s", res(ioctl(p.s, FIONREAD, 16)));
	answer("an ioctl that doesn't exist", "%s", res(ioctl(p.s, 0x4711, buf)));
}

static void others(void)
{
	struct pair p = pair();
	struct ifreq r = { .ifr_name = "lo" };
	struct timespec ts;

	answer("SIOCGIFINDEX", "%s", res(ioctl(p.c, SIOCGIFINDEX, &r)));
	answer("SIOCGIFMTU", "%s", res(ioctl(p.c, SIOCGIFMTU, &r)));
	strcpy(r.ifr_name, "nosuch");
	answer("SIOCGIFINDEX of none", "%s", res(ioctl(p.c, SIOCGIFINDEX, &r)));
	answer("SIOCGSTAMP", "%s", res(ioctl(p.c, SIOCGSTAMP, &ts)));
	answer("FIONBIO", "%s", res(ioctl(p.c, FIONBIO, &(int){ 1 })));
	answer("... recv()", "%s", res(recv(p.c, buf, 1, 0)));
	answer("mmap()", "%s", mmap(NULL, 4096, PROT_READ, MAP_SHARED, p.c, 0) == MAP_FAILED ?
	       errno_name(errno) : "mapped");
	answer("lseek()", "%s", res(lseek(p.c, 0, SEEK_SET)));
	answer("pread()", "%s", res(pread(p.c, buf, 1, 0)));
	answer("fsync()", "%s", res(fsync(p.c)));
	answer("ftruncate()", "%s", res(ftruncate(p.c, 0)));
	answer("socketpair()", "%s", res(socketpair(fam_domain(run.fam, own_af()), SOCK_STREAM,
						    fam_protocol(run.fam, own_af()), (int[2]){ })));
}

/* How soon there are @n bytes at @fd; a slow machine can't tell at once from a fifth of a second */
static const char *when(int fd, int n)
{
	uint64_t start = now_ns();

	while (inq(fd, FIONREAD) < n)
		if (seconds_since(start) > 0.6 * run.slow)
			return "held back";
		else
			usleep(1000);
	return run.slow > 1 || seconds_since(start) < 0.1 ? "soon" : "later";
}

static void corked(void)
{
	struct pair p = pair();

	send(p.c, "abc", 3, MSG_MORE);
	answer("MSG_MORE, 3 bytes", "%s", when(p.s, 3));
	send(p.c, "d", 1, 0);
	answer("... 1 without", "%s", when(p.s, 4));
	drain(p.s);
	set_int(p.c, SOL_TCP, TCP_CORK, 1);
	send(p.c, "abc", 3, 0);
	answer("TCP_CORK, 3 bytes", "%s", when(p.s, 3));
	drain(p.s);
	send(p.c, "abc", 3, 0);
	set_int(p.c, SOL_TCP, TCP_CORK, 0);
	answer("... taken off", "%s", when(p.s, 3));
	drain(p.s);
	set_int(p.c, SOL_TCP, TCP_CORK, 1);
	send(p.c, "abc", 3, 0);
	set_int(p.c, SOL_TCP, TCP_NODELAY, 1);
	answer("TCP_CORK, then TCP_NODELAY", "%s", when(p.s, 3));
	drain(p.s);
	set_int(p.c, SOL_TCP, TCP_CORK, 0);
	send(p.c, "abc", 3, MSG_MORE);
	answer("TCP_NODELAY, MSG_MORE", "%s", when(p.s, 3));
	drain(p.s);
	send(p.c, "abc", 3, MSG_MORE);
	shutdown(p.c, SHUT_WR);
	answer("MSG_MORE, then shutdown()", "%s", when(p.s, 3));
	p = pair();
	send(p.c, "abc", 3, MSG_MORE);
	close(p.c);
	answer("MSG_MORE, then close()", "%s", when(p.s, 3));
	answer("... and the end", "%s", res(recv(p.s, buf, 3, MSG_WAITALL)));
	answer("... of it", "%s", res(recv(p.s, buf, 3, 0)));
	p = pair();
	for (int i = 0; i < 100; i++)
		send(p.c, buf, 1000, MSG_MORE);
	answer("MSG_MORE, 100 KB: most of it", "%s", when(p.s, 20000));
	send(p.c, buf, 1, 0);
	settle(50);
	answer("... all of it", "%zu", drain(p.s));
}

static const struct contract_case cases[] = {
	{ "ioctls of queues", counting },
	{ "other calls", others },
	{ "TCP_CORK and MSG_MORE", corked },
	{ }
};

const struct contract_topic topic_queues = { "Queues", cases };
