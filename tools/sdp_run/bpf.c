// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_run -k: a program's sockets by the kernel itself, so for programs that don't
 * call the C library. From 6.6 on the kernel lets a BPF program change the protocol
 * that socket() is asked for, in update_socket_protocol(). This one does for
 * the processes of a cgroup of the program's own, and lives as long as sdp_run,
 * which waits for the last of them.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/sdp.h>

#include "sdp_run.h"

#define BTF_FILE	"/sys/kernel/btf/vmlinux"
#define HOOK		"update_socket_protocol"

#define INSN(...)	((struct bpf_insn) { __VA_ARGS__ })
#define MOV_REG(d, s)	INSN(.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (d), .src_reg = (s))
#define MOV_IMM(d, i)	INSN(.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (d), .imm = (i))
#define AND_IMM(d, i)	INSN(.code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = (d), .imm = (i))
#define LOAD_ARG(d, n)	INSN(.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = (d), .src_reg = 6, \
			     .off = (n) * 8)
#define JUMP_IF(op, d, i, o) INSN(.code = BPF_JMP32 | (op) | BPF_K, .dst_reg = (d), .imm = (i), \
				  .off = (o))
#define CALL(f)		INSN(.code = BPF_JMP | BPF_CALL, .imm = (f))
#define EXIT		INSN(.code = BPF_JMP | BPF_EXIT)

static int cgroup;
static char cgroup_path[PATH_MAX];

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* ---- where to hook in ---- */

static void *read_all(const char *path, size_t *len)
{
	size_t room = 1 << 23, n;
	char *buf = malloc(room);
	FILE *f = fopen(path, "r");

	if (!f || !buf)
		err(EXIT_CANT_RUN, "%s", path);
	for (*len = 0; (n = fread(buf + *len, 1, room - *len, f)) > 0;) {
		*len += n;
		if (*len == room)
			buf = realloc(buf, room *= 2);
		if (!buf)
			err(EXIT_CANT_RUN, NULL);
	}
	fclose(f);
	return buf;
}

/* Bytes behind a struct btf_type, which depend on its kind */
static size_t btf_extra(const struct btf_type *t)
{
	unsigned int n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

/* The number of a function in the kernel's own description; 0 if it has no such */
static unsigned int find_function(const char *name)
{
	unsigned int id = 0, found = 0;
	const struct btf_header *h;
	const char *p, *end, *names;
	size_t len;
	void *btf;

	if (access(BTF_FILE, F_OK))
		return 0;
	btf = read_all(BTF_FILE, &len);
	h = btf;
	if (len < sizeof(*h) || h->magic != BTF_MAGIC ||
	    h->hdr_len + (size_t)h->type_off + h->type_len > len ||
	    h->hdr_len + (size_t)h->str_off + h->str_len > len)
		errx(EXIT_CANT_RUN, "%s: not understood", BTF_FILE);
	p = (char *)btf + h->hdr_len + h->type_off;
	end = p + h->type_len;
	names = (char *)btf + h->hdr_len + h->str_off;
	while (!found && p + sizeof(struct btf_type) <= end) {
		const struct btf_type *t = (const void *)p;

		id++;
		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC && t->name_off < h->str_len &&
		    !strcmp(names + t->name_off, name))
			found = id;
		p += sizeof(*t) + btf_extra(t);
	}
	free(btf);
	return found;
}

/* ---- the BPF program ---- */

/* A map with the cgroup in it */
static int cgroup_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_CGROUP_ARRAY,
		.key_size = 4, .value_size = 4, .max_entries = 1,
	};
	uint32_t key = 0, value = cgroup;
	int map = bpf(BPF_MAP_CREATE, &attr);

	if (map < 0)
		err(EXIT_CANT_RUN, "-k needs root: BPF");
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		err(EXIT_CANT_RUN, "BPF cgroup map");
	return map;
}

/* (family, type, protocol): what is returned, if not 0, is the protocol */
static int load(int map, unsigned int function)
{
	const struct bpf_insn insns[] = {
		MOV_REG(6, 1),
		INSN(.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD,
		     .imm = map),
		INSN(),
		MOV_IMM(2, 0),
		CALL(BPF_FUNC_current_task_under_cgroup),
		JUMP_IF(BPF_JNE, 0, 1, 11),
		LOAD_ARG(1, 0),
		JUMP_IF(BPF_JEQ, 1, AF_INET, 1),
		JUMP_IF(BPF_JNE, 1, AF_INET6, 8),
		LOAD_ARG(1, 1),
		AND_IMM(1, 0xf),
		JUMP_IF(BPF_JNE, 1, SOCK_STREAM, 5),
		LOAD_ARG(1, 2),
		JUMP_IF(BPF_JEQ, 1, 0, 1),
		JUMP_IF(BPF_JNE, 1, IPPROTO_TCP, 2),
		MOV_IMM(0, IPPROTO_SDP),
		EXIT,
		MOV_IMM(0, 0),
		EXIT,
	};
	static char log[4096];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_MODIFY_RETURN,
		.attach_btf_id = function,
		.insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
		.prog_name = "sdp_run",
	};
	int prog = bpf(BPF_PROG_LOAD, &attr);

	if (prog < 0)
		err(EXIT_CANT_RUN, "the kernel refuses the BPF program: %s", log);
	return prog;
}

/* In force until sdp_run ends */
static void attach(int prog)
{
	union bpf_attr attr = { .raw_tracepoint.prog_fd = prog };

	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) < 0)
		err(EXIT_CANT_RUN, "the BPF program can't be attached");
}

/* ---- the cgroup ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_DP)
		rmdir(path);
	return 0;
}

/* Whichever way sdp_run exits; with those the program has made below it */
static void remove_cgroup(void)
{
	nftw(cgroup_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A new one below this process's */
static void make_cgroup(void)
{
	static const char * const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char line[PATH_MAX], *own = NULL, probe[PATH_MAX];
	FILE *f = fopen("/proc/self/cgroup", "r");
	unsigned int i;

	while (f && !own && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0::", 3))
			own = line + 3;
	}
	for (i = 0; own && i < 2; i++) {
		snprintf(probe, sizeof(probe), "%s/cgroup.procs", mounts[i]);
		if (!access(probe, F_OK))
			break;
	}
	if (!own || i == 2)
		errx(EXIT_CANT_RUN, "-k needs a cgroup2 file system at %s", mounts[0]);
	fclose(f);
	if (snprintf(cgroup_path, sizeof(cgroup_path), "%s%s/sdp_run.%d", mounts[i],
		     strcmp(own, "/") ? own : "", getpid()) >= (int)sizeof(cgroup_path))
		errx(EXIT_CANT_RUN, "%s: too long", own);
	if (mkdir(cgroup_path, 0755))
		err(EXIT_CANT_RUN, errno == EACCES ? "-k needs root: %s" : "%s", cgroup_path);
	atexit(remove_cgroup);
	cgroup = open(cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup < 0)
		err(EXIT_CANT_RUN, "%s", cgroup_path);
}

static void enter_cgroup(void)
{
	int fd = openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		err(EXIT_CANT_RUN, "cgroup.procs");
	close(fd);
}

/* A process is left there, or in a cgroup made below it */
static bool populated(int events)
{
	char text[256];
	ssize_t n = pread(events, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "populated 1");
}

static int passed_on;

/* To the processes of one cgroup; those of another PID namespace are 0 there */
static int signal_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char name[PATH_MAX];
	FILE *f = NULL;
	int pid;

	(void)st;
	(void)ftw;
	if (type == FTW_D && snprintf(name, sizeof(name), "%s/cgroup.procs", path) < PATH_MAX)
		f = fopen(name, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 0)
			kill(pid, passed_on);
	if (f)
		fclose(f);
	return 0;
}

/* The program decides about what it has started, as long as it is there */
static void pass_on(int sig, pid_t child)
{
	if (child) {
		kill(child, sig);
		return;
	}
	passed_on = sig;
	nftw(cgroup_path, signal_one, 8, FTW_PHYS);
}

/* Passes on what comes on @signals until all have ended; the status of @child */
static int wait_for_all(int signals, pid_t child)
{
	int events = openat(cgroup, "cgroup.events", O_RDONLY | O_CLOEXEC), status = 0;
	struct pollfd p[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = events, .events = POLLPRI },
	};
	struct signalfd_siginfo info;

	/* It has to be read for poll() to wait for a change */
	while (populated(events) || child) {
		poll(p, 2, -1);
		if (!(p[0].revents & POLLIN) || read(signals, &info, sizeof(info)) < 0)
			continue;
		if (info.ssi_signo != SIGCHLD)
			pass_on(info.ssi_signo, child);
		else if (child && waitpid(child, &status, WNOHANG) == child)
			child = 0;
	}
	return status;
}

/* Its sockets don't have libsdp's policy, which is both */
static void warn_if_only_sdp(void)
{
	/* Who reads the sysctl needs the module, which this loads */
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SDP);
	FILE *f = fopen("/proc/sys/net/sdp/policy", "r");

	if (f && fgetc(f) == '0')
		warnx("SDP only: sysctl net.sdp.policy=2 is for TCP to peers without SDP");
	if (f)
		fclose(f);
	if (fd >= 0)
		close(fd);
}

/**
 * run_by_kernel() - run a program whose TCP sockets the kernel makes SDP sockets
 * @argv:	program and arguments
 *
 * Doesn't return: exits as the program did, when all that it started has ended.
 */
void run_by_kernel(char **argv)
{
	unsigned int function = find_function(HOOK);
	sighandler_t interrupt, quit, ended;
	sigset_t taken, before;
	int signals, status;
	pid_t child;

	if (!function)
		errx(EXIT_CANT_RUN, "-k needs a kernel that has %s(): 6.6 or newer", HOOK);
	warn_if_only_sdp();

	/* From here on none ends this process, which has a cgroup to remove */
	sigemptyset(&taken);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGCHLD);
	sigprocmask(SIG_BLOCK, &taken, &before);
	signals = signalfd(-1, &taken, SFD_CLOEXEC);
	if (signals < 0)
		err(EXIT_CANT_RUN, "signalfd");
	interrupt = signal(SIGINT, SIG_IGN);	/* the terminal tells the program as well */
	quit = signal(SIGQUIT, SIG_IGN);
	ended = signal(SIGCHLD, SIG_DFL);	/* or there is nothing to wait for */
	make_cgroup();
	attach(load(cgroup_map(), function));
	child = fork();
	if (child < 0)
		err(EXIT_CANT_RUN, "fork");
	if (!child) {
		*cgroup_path = '\0';	/* it is the parent's to remove */
		signal(SIGCHLD, ended);
		signal(SIGINT, interrupt);
		signal(SIGQUIT, quit);
		sigprocmask(SIG_SETMASK, &before, NULL);
		enter_cgroup();
		run(argv);
	}
	status = wait_for_all(signals, child);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
