// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: listen() and accept().
 */
#include "contract.h"

static void listening(void)
{
	struct addr a = own_addr();
	int l = sock(0), one;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	char b[4];

	answer("SO_ACCEPTCONN before", "%s", res(get_int(l, SOL_SOCKET, SO_ACCEPTCONN)));
	answer("listen() unbound", "%s", res(listen(l, 4)));
	answer("... has a port", "%d", addr_port(&(struct addr){ .ss = name_of(l).ss }) != 0);
	answer("listen() again", "%s", res(listen(l, 8)));
	answer("SO_ACCEPTCONN", "%s", res(get_int(l, SOL_SOCKET, SO_ACCEPTCONN)));
	answer("send()", "%s", res(send(l, "x", 1, MSG_NOSIGNAL)));
	answer("recv()", "%s", res(recv(l, b, 4, 0)));
	answer("recv(MSG_PEEK)", "%s", res(recv(l, b, 4, MSG_PEEK)));
	answer("recv() of 0 bytes", "%s", res(recv(l, b, 0, 0)));
	answer("getpeername()", "%s", res(getpeername(l, (void *)&ss, &len)));
	answer("bind()", "%s", res(bind(l, &a.sa, a.len)));
	answer("FIONREAD", "%s", res(inq(l, FIONREAD)));
	answer("SIOCOUTQ", "%s", res(inq(l, SIOCOUTQ)));
	answer("SIOCATMARK", "%s", res(inq(l, SIOCATMARK)));
	answer("events", "%s", mask_name(poll_now(l)));
	answer("shutdown(SHUT_WR)", "%s", res(shutdown(l, SHUT_WR)));
	answer("... events", "%s", mask_name(poll_now(l)));
	answer("shutdown(SHUT_RD)", "%s", res(shutdown(l, SHUT_RD)));
	answer("... events", "%s", mask_name(poll_now(l)));
	answer("... accept()", "%s", res(accept(l, NULL, NULL)));
	answer("... SO_ACCEPTCONN", "%s", res(get_int(l, SOL_SOCKET, SO_ACCEPTCONN)));
	answer("... listen() again", "%s", res(listen(l, 4)));
	one = sock(0);
	answer("listen(-1)", "%s", res(listen(one, -1)));
}

static void accepting(void)
{
	struct addr a = own_addr(), peer = { .len = sizeof(peer.ss) };
	int l = listener(&a, 4), c, s;
	socklen_t len;

	nonblock(l);
	answer("accept(), nobody there", "%s", res(accept(l, NULL, NULL)));
	c = connected(&a);
	poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, 3000 * run.slow);
	answer("events of the listener", "%s", mask_name(poll_now(l)));
	s = accept(l, &peer.sa, &peer.len);
	answer("accept()", "%d, length %d, right name %d", s >= 0, peer.len,
	       addr_port(&peer) == addr_port(&(struct addr){ .ss = name_of(c).ss }));
	answer("accepted inherits O_NONBLOCK", "%d", !!(fcntl(s, F_GETFL) & O_NONBLOCK));
	connected(&a);
	poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, 3000 * run.slow);
	s = accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	answer("accept4() flags", "%d %d", !!(fcntl(s, F_GETFL) & O_NONBLOCK),
	       !!(fcntl(s, F_GETFD) & FD_CLOEXEC));
	answer("accept4() with wrong flags", "%s", res(accept4(l, NULL, NULL, 1 << 20)));
	connected(&a);
	poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, 3000 * run.slow);
	len = 2;
	s = accept(l, &peer.sa, &len);
	answer("accept() with 2 bytes for the name", "%d, length %d", s >= 0, len);
	connected(&a);
	poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, 3000 * run.slow);
	len = -1;
	answer("accept() with a length of -1", "%s", res(accept(l, &peer.sa, &len)));
	connected(&a);
	poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, 3000 * run.slow);
	answer("accept() of the name to nowhere", "%s", res(accept(l, (void *)16, &len)));
}

static void accept_dead(void)
{
	struct addr a = own_addr(), peer = { .len = sizeof(peer.ss) };
	int l = listener(&a, 4), c = connected(&a), s;
	char b[8];

	send(c, "abc", 3, 0);
	close(c);
	settle(100);
	s = accept(l, &peer.sa, &peer.len);
	answer("closed by the peer: accept()", "%d", s >= 0);
	answer("... recv()", "%s", res(recv(s, b, 8, 0)));
	answer("... the end", "%s", res(recv(s, b, 8, 0)));
	c = connected(&a);
	set_linger(c, 1, 0);
	close(c);
	settle(100);
	peer.len = sizeof(peer.ss);
	s = accept(l, &peer.sa, &peer.len);
	answer("reset by the peer: accept()", "%d, length %d", s >= 0, peer.len);
	answer("... events", "%s", mask_name(poll_settled(s)));
	peer.len = sizeof(peer.ss);
	answer("... getpeername()", "%s", res(getpeername(s, &peer.sa, &peer.len)));
	answer("... recv()", "%s", res(recv(s, b, 8, 0)));
	answer("... recv() again", "%s", res(recv(s, b, 8, 0)));
}

static void *shut_soon(void *arg)
{
	settle(100);
	shutdown(*(int *)arg, SHUT_RDWR);
	return NULL;
}

static void *poll_soon(void *arg)
{
	struct pollfd p = { .fd = *(int *)arg, .events = POLLIN };

	poll(&p, 1, 3000 * run.slow);
	return (void *)(long)p.revents;
}

static void listener_ends(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 4), c;
	pthread_t t, u;
	void *events;
	char b[4];

	pthread_create(&u, NULL, poll_soon, &l);
	pthread_create(&t, NULL, shut_soon, &l);
	answer("shutdown() while in accept()", "%s", res(accept(l, NULL, NULL)));
	pthread_join(t, NULL);
	pthread_join(u, &events);
	answer("... while in poll()", "%s", mask_name((long)events));
	a = own_addr();
	l = listener(&a, 4);
	c = connected(&a);
	settle(50);
	close(l);
	poll(&(struct pollfd){ .fd = c, .events = POLLIN }, 1, 3000 * run.slow);
	answer("closed with a connection not accepted: recv()", "%s", res(recv(c, b, 4, 0)));
	c = sock(0);
	answer("... connect()", "%s", res(connect(c, &a.sa, a.len)));
	a = own_addr();
	l = listener(&a, 4);
	c = connected(&a);
	settle(50);
	shutdown(l, SHUT_RD);
	poll(&(struct pollfd){ .fd = c, .events = POLLIN }, 1, 3000 * run.slow);
	answer("shut with a connection not accepted: recv()", "%s", res(recv(c, b, 4, 0)));
	answer("... its accept()", "%s", res(accept(l, NULL, NULL)));
}

static void listener_forked(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 8), c, s, status;
	pid_t pid = fork();

	if (!pid) {
		s = accept(l, NULL, NULL);
		_exit(s >= 0 && send(s, "x", 1, 0) == 1 ? 0 : 1);
	}
	c = connected(&a);
	waitpid(pid, &status, 0);
	answer("a child accepts", "%d", status);
	answer("... and its parent after it", "%s", "asked below");
	c = connected(&a);
	s = accept(l, NULL, NULL);
	answer("... accept()", "%d", s >= 0);
	pid = fork();
	if (!pid) {
		settle(100);
		_exit(0);
	}
	close(l);
	c = sock(0);
	answer("closed here, not in the child: connect()", "%s", res(connect(c, &a.sa, a.len)));
	waitpid(pid, &status, 0);
	settle(50);
	c = sock(0);
	answer("... after the child's end", "%s", res(connect(c, &a.sa, a.len)));
}

static void backlog(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 1), fds[4], n = 0;

	for (int i = 0; i < 4; i++) {
		fds[i] = sock(SOCK_NONBLOCK);
		connect(fds[i], &a.sa, a.len);
		settle(60);
	}
	for (int i = 0; i < 4; i++)
		n += poll_settled(fds[i]) == POLLOUT;
	answer("backlog 1: connected at once", "%d", n);
	answer("... accept()", "%d", accept(l, NULL, NULL) >= 0);
	answer("... accept()", "%d", accept(l, NULL, NULL) >= 0);
	for (int i = 0; i < 4; i++)
		poll(&(struct pollfd){ .fd = fds[i], .events = POLLOUT }, 1, 4000 * run.slow);
	n = 0;
	for (int i = 0; i < 4; i++)
		n += poll_now(fds[i]) == POLLOUT;
	answer("... all connected in the end", "%d", n);
}

static void defer_accept(void)
{
	struct addr a = own_addr();
	int l = listener(&a, 4), c;
	char b[8];

	set_int(l, SOL_TCP, TCP_DEFER_ACCEPT, 5);
	c = connected(&a);
	answer("connected", "%s", mask_name(poll_settled(c)));
	answer("nothing sent: listener", "%s", mask_name(poll_settled(l)));
	send(c, "abc", 3, 0);
	poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, 3000 * run.slow);
	answer("sent: listener", "%s", mask_name(poll_settled(l)));
	answer("accepted, recv()", "%s", res(recv(accept(l, NULL, NULL), b, 8, MSG_DONTWAIT)));
}

static const struct contract_case cases[] = {
	{ "listener", listening },
	{ "accept", accepting },
	{ "accept of what has ended", accept_dead },
	{ "end of a listener", listener_ends },
	{ "listener and fork", listener_forked },
	{ "backlog", backlog },
	{ "TCP_DEFER_ACCEPT", defer_accept },
	{ }
};

const struct contract_topic topic_listen = { "Listening and accepting", cases };
