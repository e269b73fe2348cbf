// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: who else moves data to and from sockets: splice(), sendfile(), vmsplice(),
 * descriptors passed on, /proc.
 */
#include "contract.h"
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static char buf[1 << 20];

static bool same_bytes(const char *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != (char)(i * 7))
			return false;
	return true;
}

static void pattern(void)
{
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = i * 7;
}

static void splicing(void)
{
	struct pair p = pair();
	int pipe1[2];

	if (pipe(pipe1))
		die("pipe");
	pattern();
	nonblock(p.s);
	answer("splice() from a socket, nothing there", "%s",
	       res(splice(p.s, NULL, pipe1[1], NULL, 4096, 0)));
	fcntl(p.s, F_SETFL, 0);
	send(p.c, buf, 5000, 0);
	settle(60);
	answer("splice() from a socket", "%d",
	       splice(p.s, NULL, pipe1[1], NULL, 5000, 0) > 0);
	memset(buf, 0, 5000);
	while (inq(p.s, FIONREAD) > 0)
		splice(p.s, NULL, pipe1[1], NULL, 5000, 0);
	answer("... what came", "%s", res(read(pipe1[0], buf, 5000)));
	answer("... it is right", "%d", same_bytes(buf, 5000));
	if (write(pipe1[1], buf, 3000) != 3000)
		die("write");
	answer("splice() to a socket", "%s", res(splice(pipe1[0], NULL, p.c, NULL, 3000, 0)));
	memset(buf, 0, 5000);
	answer("... what came", "%s", res(recv(p.s, buf, 3000, MSG_WAITALL)));
	answer("... it is right", "%d", same_bytes(buf, 3000));
	{
		struct iovec iov = { buf, 8192 };

		pattern();
		answer("vmsplice()", "%s", res(vmsplice(pipe1[1], &iov, 1, 0)));
		answer("... then splice()", "%s", res(splice(pipe1[0], NULL, p.c, NULL, 8192, 0)));
		answer("... what came", "%s", res(recv(p.s, buf, 8192, MSG_WAITALL)));
		answer("... it is right", "%d", same_bytes(buf, 8192));
	}
	answer("tee() of a socket", "%s", res(tee(p.s, pipe1[1], 10, SPLICE_F_NONBLOCK)));
	shutdown(p.c, SHUT_WR);
	settle(60);
	answer("splice() at the end", "%s", res(splice(p.s, NULL, pipe1[1], NULL, 4096, 0)));
	if (write(pipe1[1], "abc", 3) != 3)
		die("write");
	answer("splice() to a shut socket", "%s", res(splice(pipe1[0], NULL, p.c, NULL, 3, 0)));
}

static void files(void)
{
	struct pair p = pair();
	int fd = memfd_create("contract", 0);
	off_t off = 100;
	ssize_t n;

	pattern();
	if (write(fd, buf, 200000) != 200000)
		die("write");
	memset(buf, 0, sizeof(buf));
	n = sendfile(p.c, fd, &off, 50000);
	answer("sendfile()", "%s, offset %ld", res(n), off);
	answer("... what came", "%s", res(recv(p.s, buf + 100, 50000, MSG_WAITALL)));
	for (int i = 0; i < 100; i++)
		buf[i] = i * 7;
	answer("... it is right", "%d", same_bytes(buf, 50100));
	off = 200000;
	answer("sendfile() behind the file's end", "%s", res(sendfile(p.c, fd, &off, 10)));
	answer("sendfile() from a socket", "%s", res(sendfile(p.c, p.s, NULL, 10)));
	answer("copy_file_range() to a socket", "%s", res(copy_file_range(fd, NULL, p.c, NULL, 10, 0)));
	nonblock(p.c);
	fill(p.c);
	off = 0;
	answer("sendfile(), no room", "%s", res(sendfile(p.c, fd, &off, 100)));
	shutdown(p.c, SHUT_WR);
	answer("sendfile() after shutdown()", "%s", res(sendfile(p.c, fd, &off, 100)));
}

static void descriptors(void)
{
	struct pair p = pair();
	struct stat st;
	char name[64], text[64] = "";
	ssize_t n;
	int fd;

	fstat(p.c, &st);
	answer("fstat(): mode", "%o", st.st_mode);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", p.c);
	n = readlink(name, text, sizeof(text) - 1);
	answer("/proc/self/fd", "%.8s", n > 0 ? text : errno_name(errno));
	answer("open() of it", "%s", res(open(name, O_RDWR)));
	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", p.c);
	fd = open(name, O_RDONLY);
	answer("/proc/self/fdinfo", "%d", read(fd, buf, 4096) > 0);
	answer("fchmod()", "%s", res(fchmod(p.c, 0600)));
	answer("dup() shares: send()", "%s", res(send(dup(p.c), "a", 1, 0)));
	answer("dup() shares: recv()", "%s", res(recv(dup(p.s), buf, 1, 0)));
}

static void via_fork(void)
{
	struct pair p = pair();
	pid_t pid = fork();
	int status;
	char b[8];

	if (!pid) {
		send(p.c, "child", 5, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	answer("a child's send()", "%s", res(recv(p.s, b, 5, MSG_WAITALL)));
	answer("its end ends nothing", "%s", mask_name(poll_settled(p.s)));
	pid = fork();
	if (!pid) {
		shutdown(p.c, SHUT_WR);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	answer("its shutdown() does", "%s", mask_name(poll_settled(p.s)));
	answer("... here as well", "%s", res(send(p.c, "x", 1, MSG_NOSIGNAL)));
	p = pair();
	pid = fork();
	if (!pid) {
		recv(p.c, b, 1, 0);
		_exit(0);
	}
	wait_asleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	send(p.s, "y", 1, 0);
	answer("killed in recv(): nothing lost", "%s", res(recv(p.c, b, 8, 0)));
	pid = fork();
	if (!pid) {
		for (;;)
			send(p.c, buf, sizeof(buf), 0);
	}
	wait_asleep(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	drain(p.s);
	answer("killed in send(): still connected", "%d", !(poll_now(p.s) & (POLLHUP | POLLERR)));
	answer("... and can send", "%s", res(send(p.c, "z", 1, 0)));
	answer("... which arrives", "%s", res(recv(p.s, b, 8, 0)));
}

/* A sockmap's programs would take the place of our calls */
static void sockmap(void)
{
	union bpf_attr attr;
	struct pair p = pair();
	int key = 0, map;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_SOCKMAP;
	attr.key_size = sizeof(int);
	attr.value_size = sizeof(int);
	attr.max_entries = 1;
	map = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (unsigned long)&key;
	attr.value = (unsigned long)&p.c;
	answer("into a BPF sockmap", "%s", res(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr))));
}

static long aio_do(aio_context_t ctx, int op, int fd, void *mem, size_t len)
{
	struct iocb cb = { .aio_lio_opcode = op, .aio_fildes = fd, .aio_buf = (uintptr_t)mem,
			   .aio_nbytes = len }, *list = &cb;
	struct io_event done;
	long rc = syscall(SYS_io_submit, ctx, 1, &list);

	if (rc == 1)
		rc = syscall(SYS_io_getevents, ctx, 1, 1, &done, NULL) == 1 ? done.res : -1;
	if (rc < -1) {
		errno = -rc;
		rc = -1;
	}
	return rc;
}

/* libaio's calls: io_submit() waits with a socket as read() and write() do */
static void native_aio(void)
{
	struct pair p = pair();
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, 4, &ctx))
		die("io_setup: %s", strerror(errno));
	pattern();
	answer("IOCB_CMD_PWRITE", "%s", res(aio_do(ctx, IOCB_CMD_PWRITE, p.c, buf, 5000)));
	memset(buf, 0, 5000);
	await(p.s, 5000);
	answer("IOCB_CMD_POLL", "%s", mask_name(aio_do(ctx, IOCB_CMD_POLL, p.s,
						       (void *)(POLLIN | POLLOUT), 0)));
	answer("IOCB_CMD_PREAD", "%s", res(aio_do(ctx, IOCB_CMD_PREAD, p.s, buf, 5000)));
	answer("... it is right", "%d", same_bytes(buf, 5000));
	answer("IOCB_CMD_FSYNC", "%s", res(aio_do(ctx, IOCB_CMD_FSYNC, p.s, NULL, 0)));
	nonblock(p.s);
	answer("IOCB_CMD_PREAD, nothing there", "%s",
	       res(aio_do(ctx, IOCB_CMD_PREAD, p.s, buf, 5000)));
	close(p.c);
	answer("IOCB_CMD_PREAD at the end", "%d", readable_soon(p.s) &&
	       !aio_do(ctx, IOCB_CMD_PREAD, p.s, buf, 5000));
}

/* As systemd's RestrictAddressFamilies= does it: by the number of the family */
static void filtered(void)
{
	struct pair p = pair();
	struct addr a = own_addr(), name = { .len = sizeof(name.ss) };
	int domain = get_int(p.c, SOL_SOCKET, SO_DOMAIN), l = listener(&a, 4);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, domain, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };
	int later = sock(0);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &prog))
		die("seccomp: %s", strerror(errno));
	answer("a filter of the family: socket()", "%s", res(own_socket(own_af(), 0)));
	answer("... a socket there is: connect()", "%s", res(connect(later, &a.sa, a.len)));
	answer("... accept()", "%d", accept(l, &name.sa, &name.len) >= 0);
	answer("... send()", "%s", res(send(p.c, "abc", 3, 0)));
	answer("... recv()", "%s", res(recv(p.s, buf, 3, MSG_WAITALL)));
}

static const struct contract_case cases[] = {
	{ "splice", splicing },
	{ "sendfile", files },
	{ "descriptors", descriptors },
	{ "fork", via_fork },
	{ "BPF", sockmap },
	{ "io_submit", native_aio },
	{ "seccomp", filtered },
	{ }
};

const struct contract_topic topic_users = { "Other ways to a socket", cases };
