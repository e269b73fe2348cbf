// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trouble.h"

#define PG	4096UL

static void trouble_bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void trouble_bad(const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	trouble_failed(text);
}

/* A random number's beginning; it must not be 0 */
static uint64_t seed(void *arg)
{
	return 88172645463325252ULL + (uintptr_t)arg * 7919;
}

static uint64_t sum_of(const char *m, size_t bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i + 8 <= bytes; i += 3 * 8)
		sum = sum * 31 + *(const volatile uint64_t *)(m + i);
	return sum;
}

void *trouble_fork(void *arg)
{
	uint64_t s = seed(arg);

	while (!trouble_over()) {
		size_t bytes;
		char *m = trouble_some(&s, SIZE_MAX / PG, &bytes);
		pid_t pid = fork();
		int status;

		if (!pid) {
			uint64_t sum = sum_of(m, bytes);

			usleep(3000);
			if (sum != sum_of(m, bytes))
				_exit(1);	/* the parent's writes have reached the child */
			memset(m, 0x55, bytes < 4 * PG ? bytes : 4 * PG);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (status)
			trouble_bad("a child's memory has changed, or it died: status %#x", status);
		usleep(3000);
	}
	return NULL;
}

void *trouble_advise(void *arg)
{
	uint64_t s = seed(arg);

	while (!trouble_over()) {
		size_t bytes;
		char *m = trouble_some(&s, 16, &bytes);

		madvise(m, bytes, (intptr_t)arg);
		usleep(1000);
	}
	return NULL;
}

void *trouble_mlock(void *arg)
{
	uint64_t s = seed(arg);

	while (!trouble_over()) {
		size_t bytes;
		char *m = trouble_some(&s, 64, &bytes);

		mlock(m, bytes);
		usleep(2000);
		munlock(m, bytes);
	}
	return NULL;
}

void *trouble_vmsplice(void *arg)
{
	uint64_t s = seed(arg);
	static char sink[8 * PG];
	int p[2];

	if (pipe(p)) {
		trouble_bad("pipe: %s", strerror(errno));
		return NULL;
	}
	while (!trouble_over()) {
		struct iovec v;
		ssize_t n, got;

		v.iov_base = trouble_some(&s, 8, &v.iov_len);
		n = vmsplice(p[1], &v, 1, 0);
		usleep(s % 2000);
		for (; n > 0; n -= got) {
			got = read(p[0], sink, n);
			if (got <= 0) {
				trouble_bad("read from a pipe: %s", strerror(errno));
				break;
			}
		}
	}
	close(p[0]);
	close(p[1]);
	return NULL;
}

/* Writes a word to a file of the kernel's again and again */
static void *poke(const char *path, const char *word, useconds_t us)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		trouble_bad("%s: %s", path, strerror(errno));
	while (fd >= 0 && !trouble_over()) {
		if (write(fd, word, strlen(word)) < 0)
			trouble_bad("%s: %s", path, strerror(errno));
		usleep(us);
	}
	close(fd);
	return NULL;
}

void *trouble_soft_dirty(void *arg)
{
	(void)arg;
	return poke("/proc/self/clear_refs", "4", 5000);
}

void *trouble_compact(void *arg)
{
	(void)arg;
	return poke("/proc/sys/vm/compact_memory", "1", 300000);
}

void *trouble_migrate(void *arg)
{
	uint64_t s = seed(arg);

	for (int k = 0; !trouble_over(); k++) {
		void *at[16];
		int node[16], status[16];
		size_t bytes;

		for (int i = 0; i < 16; i++) {
			at[i] = trouble_some(&s, 1, &bytes);
			node[i] = k % 2;
		}
		syscall(SYS_move_pages, 0, 16UL, at, node, status, 2 /* MPOL_MF_MOVE */);
		usleep(2000);
	}
	return NULL;
}

void *trouble_uffd(void *arg)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	uint64_t s = seed(arg);
	size_t bytes;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api)) {
		trouble_bad("userfaultfd: %s", strerror(errno));
		return NULL;
	}
	while (!trouble_over()) {
		struct uffdio_range range = { .start = (uintptr_t)trouble_some(&s, 32, &bytes) };
		struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_WP };
		struct uffdio_writeprotect wp = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };

		range.len = bytes;
		reg.range = range;
		wp.range = range;
		if (ioctl(fd, UFFDIO_REGISTER, &reg)) {
			trouble_bad("UFFDIO_REGISTER: %s", strerror(errno));
			break;
		}
		ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
		usleep(1000);
		wp.mode = 0;
		while (ioctl(fd, UFFDIO_WRITEPROTECT, &wp) && errno == EAGAIN)
			;
		ioctl(fd, UFFDIO_UNREGISTER, &range);
		usleep(2000);
	}
	close(fd);
	return NULL;
}

void *trouble_uring(void *arg)
{
	uint64_t s = seed(arg), *shadow, value;
	int fd = memfd_create("trouble", 0);
	struct io_uring_cqe *cqe;
	struct io_uring ring;

	if (fd < 0 || io_uring_queue_init(4, &ring, 0)) {
		trouble_bad("no io_uring");
		return NULL;
	}
	while (!trouble_over()) {
		struct iovec v;

		v.iov_base = trouble_some(&s, 4, &v.iov_len);
		if (io_uring_register_buffers(&ring, &v, 1))
			continue;
		for (size_t i = 0; i < 8; i++) {
			char *page = (char *)v.iov_base + i * PG % v.iov_len;
			volatile uint64_t *word = trouble_word(&s, page, &shadow);

			value = *shadow + 1;
			if (pwrite(fd, &value, sizeof(value), 0) != sizeof(value))
				trouble_bad("memfd: %s", strerror(errno));
			io_uring_prep_read_fixed(io_uring_get_sqe(&ring), fd, (void *)word,
						 sizeof(value), 0, 0);
			io_uring_submit_and_wait(&ring, 1);
			if (io_uring_wait_cqe(&ring, &cqe) || cqe->res != sizeof(value))
				trouble_bad("read into a registered buffer: %d", cqe->res);
			else
				*shadow = value;
			io_uring_cqe_seen(&ring, cqe);
		}
		usleep(s % 1000);
		io_uring_unregister_buffers(&ring);
	}
	io_uring_queue_exit(&ring);
	close(fd);
	return NULL;
}
