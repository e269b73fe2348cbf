// SPDX-License-Identifier: GPL-2.0
/*
 * A user of sockets within the kernel, for tests: connects to itself with
 * sock_create_kern() and friends, moves data, and has callbacks of its own, as
 * block devices over a network do. The module loads if all went well; what
 * didn't is in the log.
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

static char *addr = "127.0.0.1";
module_param(addr, charp, 0444);
MODULE_PARM_DESC(addr, "IPv4 address to bind and connect to");

static int family = 27;
module_param(family, int, 0444);
MODULE_PARM_DESC(family, "socket family");

static int protocol;
module_param(protocol, int, 0444);
MODULE_PARM_DESC(protocol, "socket protocol");

#define KUSER_BYTES	300000

/* Ends the function if a step gives something else than it should */
#define EXPECT(expr, want)							\
	do {									\
		long long got_ = (expr);					\
										\
		if (got_ != (long long)(want)) {				\
			pr_info("sdp_kuser: %s is %lld, not %lld\n", #expr,	\
				got_, (long long)(want));			\
			err = -EINVAL;						\
			goto out;						\
		}								\
	} while (0)

static DECLARE_COMPLETION(ready);
static DECLARE_COMPLETION(changed);

/* Nobody who sleeps in recv() is woken, as that would take the callback this one replaces */
static void kuser_data_ready(struct sock *sk)
{
	complete(&ready);
}

static void kuser_state_change(struct sock *sk)
{
	complete(&changed);
}

static int kuser_send(struct socket *sock, void *data, size_t len, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_NOSIGNAL };
	struct kvec vec = { data, len };

	return kernel_sendmsg(sock, &msg, &vec, 1, len);
}

static int kuser_recv(struct socket *sock, void *data, size_t len, int flags)
{
	struct msghdr msg = { };
	struct kvec vec = { data, len };

	return kernel_recvmsg(sock, &msg, &vec, 1, len, flags);
}

static void kuser_hook(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = kuser_data_ready;
	sk->sk_state_change = kuser_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
}

static int kuser_pair(struct socket **c, struct socket **s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = in_aton(addr) };
	struct socket *l;
	int err;

	err = sock_create_kern(&init_net, family, SOCK_STREAM, protocol, &l);
	if (err)
		return err;
	EXPECT(kernel_bind(l, (struct sockaddr *)&at, sizeof(at)), 0);
	EXPECT(kernel_listen(l, 4), 0);
	EXPECT(kernel_getsockname(l, (struct sockaddr *)&at), sizeof(at));
	EXPECT(kernel_accept(l, s, O_NONBLOCK), -EAGAIN);
	EXPECT(sock_create_kern(&init_net, family, SOCK_STREAM, protocol, c), 0);
	EXPECT(kernel_connect(*c, (struct sockaddr *)&at, sizeof(at), 0), 0);
	EXPECT(kernel_accept(l, s, 0), 0);
	EXPECT(kernel_getpeername(*c, (struct sockaddr *)&at), sizeof(at));
out:
	sock_release(l);
	return err;
}

static int kuser_move(struct socket *c, struct socket *s, u8 *out, u8 *in)
{
	int err = 0, i, n, sent = 0, got = 0;

	for (i = 0; i < KUSER_BYTES; i++)
		out[i] = i * 7;
	EXPECT(kuser_recv(s, in, 10, MSG_DONTWAIT), -EAGAIN);
	while (got < KUSER_BYTES) {
		n = kuser_send(c, out + sent, KUSER_BYTES - sent, MSG_DONTWAIT);
		if (n > 0)
			sent += n;
		else if (sent < KUSER_BYTES)
			EXPECT(n, -EAGAIN);
		n = kuser_recv(s, in + got, min(KUSER_BYTES - got, 70000), MSG_DONTWAIT);
		if (n > 0) {
			got += n;
			continue;
		}
		EXPECT(n, -EAGAIN);
		EXPECT(wait_for_completion_timeout(&ready, 30 * HZ) > 0, 1);
	}
	EXPECT(memcmp(in, out, KUSER_BYTES), 0);
	EXPECT(kuser_send(s, out, 100, 0), 100);
	EXPECT(kuser_recv(c, in, 100, MSG_WAITALL), 100);
out:
	return err;
}

static int kuser_end(struct socket *c, struct socket *s, u8 *in)
{
	int err = 0;

	EXPECT(kernel_sock_shutdown(c, SHUT_WR), 0);
	EXPECT(kuser_send(c, in, 1, 0), -EPIPE);
	EXPECT(wait_for_completion_timeout(&changed, 5 * HZ) > 0, 1);
	EXPECT(kuser_recv(s, in, 10, 0), 0);
	EXPECT(kuser_send(s, in, 10, 0), 10);
	EXPECT(kuser_recv(c, in, 10, MSG_WAITALL), 10);
out:
	return err;
}

static int __init kuser_init(void)
{
	u8 *out = kvmalloc(KUSER_BYTES, GFP_KERNEL), *in = kvmalloc(KUSER_BYTES, GFP_KERNEL);
	struct socket *c = NULL, *s = NULL;
	int err = -ENOMEM;

	if (!out || !in)
		goto free;
	err = kuser_pair(&c, &s);
	if (!err) {
		kuser_hook(s->sk);
		err = kuser_move(c, s, out, in) ?: kuser_end(c, s, in);
	}
	if (c)
		sock_release(c);
	if (s)
		sock_release(s);
	/* A callback may be at work yet */
	msleep(100);
free:
	kvfree(in);
	kvfree(out);
	return err;
}

static void __exit kuser_exit(void)
{
}

module_init(kuser_init);
module_exit(kuser_exit);

MODULE_DESCRIPTION("In-kernel user of sockets, for tests");
MODULE_LICENSE("GPL");
