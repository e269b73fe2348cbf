// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_malloc region|libc TEST: what libsdp_malloc.so, preloaded, makes of malloc(). Large blocks
 * are expected to be a region's or not, as said.
 *
 *	blocks	each function that gives, changes and frees blocks
 *	full	more than there is room for
 *	fork	a child has what its parent had, and neither sees what the other writes
 *	threads	all at once, with contents verified, and children now and then
 *	exec	programs are started in all ways
 */
#include "sdp_test.h"
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define KB	1024ul
#define MB	(1024 * KB)

static bool want_region;

#define CHECK(cond) do {								\
	if (!(cond))									\
		errx(EXIT_FAILURE, "line %d: not so: %s", __LINE__, #cond);		\
} while (0)

/* Does the kernel call the memory at @p a region? */
static bool in_region(const void *p)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	bool is = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= (unsigned long)p &&
		    (unsigned long)p < to)
			is = strstr(line, "sdp-region");
	if (f)
		fclose(f);
	return is;
}

static bool all(const unsigned char *p, unsigned char value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != value)
			return false;
	return true;
}

static void *filled(size_t size, unsigned char value)
{
	void *p = malloc(size);

	CHECK(p);
	memset(p, value, size);
	return p;
}

static void blocks(void)
{
	static volatile size_t huge = 1ul << 40;	/* or the compiler says so */
	unsigned char *p, *q, *r;
	void *v;

	p = filled(100, 1);
	CHECK(!in_region(p));
	p = realloc(p, 200 * KB);		/* from libc's to the region */
	CHECK(p && all(p, 1, 100) && in_region(p) == want_region);
	memset(p, 2, 200 * KB);
	q = filled(64 * KB, 3);
	CHECK(in_region(q) == want_region && malloc_usable_size(q) >= 64 * KB);
	p = realloc(p, 100 * KB);
	CHECK(p && all(p, 2, 100 * KB));
	p = realloc(p, 2 * MB);
	CHECK(p && all(p, 2, 100 * KB) && in_region(p) == want_region);
	memset(p, 4, 2 * MB);
	p = realloc(p, 5);
	CHECK(p && all(p, 4, 5));
	CHECK(all(q, 3, 64 * KB));
	free(p);
	free(q);

	free(filled(1 * MB, 5));
	p = calloc(64, 16 * KB);		/* zeros, though somebody has had that memory */
	CHECK(p && all(p, 0, 1 * MB) && in_region(p) == want_region);
	q = calloc(1000, 10);
	CHECK(q && all(q, 0, 10000) && !in_region(q));
	CHECK(!calloc(huge, huge) && !reallocarray(q, huge, huge));
	r = reallocarray(q, 100, 1 * KB);
	CHECK(r && all(r, 0, 10000));
	free(r);
	free(p);

	CHECK(!posix_memalign(&v, 2 * MB, 300 * KB) && !((uintptr_t)v % (2 * MB)));
	CHECK(in_region(v) == want_region);
	p = aligned_alloc(64, 100 * KB);
	CHECK(p && !((uintptr_t)p % 64) && in_region(p) == want_region);
	q = memalign(64 * KB, 128);
	CHECK(q && !((uintptr_t)q % (64 * KB)) && !in_region(q));
	CHECK(posix_memalign(&v, 24, 100) == EINVAL);
	errno = 0;
	CHECK(!pvalloc(SIZE_MAX) && errno == ENOMEM);
	free(q);
	free(p);
	free(NULL);
	CHECK(!malloc_usable_size(NULL));
	free(malloc(0));
}

static void full(void)
{
	unsigned char *p[200];
	unsigned int i, in = 0;

	for (i = 0; i < 200; i++) {
		p[i] = filled(1 * MB, i);
		in += in_region(p[i]);
	}
	for (i = 0; i < 200; i++)
		CHECK(all(p[i], i, 1 * MB));
	printf("%u of 200 MiB from a region\n", in);
	CHECK(want_region ? in && in < 200 : !in);
	for (i = 0; i < 200; i += 2)
		free(p[i]);
	for (i = 1; i < 200; i += 2)
		free(p[i]);
	/* What was freed is one piece again */
	p[0] = filled(want_region ? in * MB : 1 * MB, 9);
	CHECK(in_region(p[0]) == want_region);
	CHECK(!malloc(1ul << 60));
}

static void ends_well(pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void forks(void)
{
	unsigned char *p = filled(1 * MB, 1), *q = filled(200 * KB, 2), *r;
	int fds[2];
	char c;
	pid_t pid;

	CHECK(!pipe(fds));
	pid = fork();
	if (!pid) {
		CHECK(read(fds[0], &c, 1) == 1);	/* the parent has written to it meanwhile */
		CHECK(all(p, 1, 1 * MB) && all(q, 2, 200 * KB) && !in_region(p));
		memset(p, 7, 1 * MB);
		p = realloc(p, 2 * MB);
		CHECK(p && all(p, 7, 1 * MB));
		r = filled(300 * KB, 8);
		free(q);
		free(p);
		CHECK(all(r, 8, 300 * KB));
		pid = fork();			/* and so on */
		if (!pid)
			_exit(!all(r, 8, 300 * KB));
		ends_well(pid);
		_exit(0);
	}
	memset(p, 3, 1 * MB);
	CHECK(write(fds[1], "x", 1) == 1);
	ends_well(pid);
	CHECK(all(p, 3, 1 * MB) && all(q, 2, 200 * KB) && in_region(p) == want_region);
	free(p);
	free(q);
}

static void *anything(void *arg)
{
	uint64_t state = (uintptr_t)arg;
	struct { unsigned char *p; size_t len; unsigned char value; } has[16] = { };
	pid_t pid;

	for (int i = 0; i < 400; i++) {
		unsigned int at = rnd_range(&state, 0, 15);

		if (has[at].p) {
			size_t len = rnd_range(&state, 1, 300 * KB);

			CHECK(all(has[at].p, has[at].value, has[at].len));
			if (rnd(&state) % 2) {
				free(has[at].p);
				has[at].p = NULL;
				continue;
			}
			has[at].p = realloc(has[at].p, len);
			CHECK(all(has[at].p, has[at].value, len < has[at].len ? len : has[at].len));
			has[at].len = len;
		} else {
			has[at].len = rnd_range(&state, 1, 500 * KB);
			has[at].p = malloc(has[at].len);
		}
		has[at].value = rnd(&state);
		memset(has[at].p, has[at].value, has[at].len);
		if (i % 100 == 50) {
			pid = fork();
			if (!pid)
				_exit(!all(has[at].p, has[at].value, has[at].len));
			ends_well(pid);
		}
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, anything, (void *)(i + 1)));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void execs(void)
{
	char *argv[] = { "true", NULL };
	void *p = filled(1 * MB, 1);
	pid_t pid;

	ends_well(posix_spawnp(&pid, "true", NULL, NULL, argv, environ) ? -1 : pid);
	CHECK(!system("true"));
	pid = vfork();
	if (!pid) {
		execvp("true", argv);
		_exit(1);
	}
	ends_well(pid);
	CHECK(all(p, 1, 1 * MB));
}

/* LIBSDP_MALLOC_SIZE=8M */
static void sized(void)
{
	CHECK(in_region(filled(4 * MB, 1)) == want_region);
	CHECK(!in_region(filled(9 * MB, 1)));
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "blocks", blocks }, { "full", full }, { "fork", forks }, { "threads", threads },
	{ "exec", execs }, { "8M", sized },
};

int main(int argc, char **argv)
{
	want_region = argc == 3 && !strcmp(argv[1], "region");
	if (argc == 3 && (want_region || !strcmp(argv[1], "libc"))) {
		for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
			if (strcmp(argv[2], tests[i].name))
				continue;
			tests[i].run();
			return EXIT_SUCCESS;
		}
	}
	fprintf(stderr, "usage: sdp_malloc region|libc blocks|full|fork|threads|exec|8M\n");
	return EXIT_USAGE;
}
