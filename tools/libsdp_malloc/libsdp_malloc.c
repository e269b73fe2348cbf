// SPDX-License-Identifier: GPL-2.0
/*
 * libsdp_malloc.so: large blocks of malloc() come from a region, which is what
 * mmap() on an SDP socket gives. So a program gets by itself what AZ-SDP can do
 * with memory of its own only: writers that wait instead of being given copies,
 * and a recv() that returns before the data is there.
 *
 * There is one region, mapped when the first large block is wanted. A block has
 * whole pages of it, as both of these are about pages. Smaller blocks are
 * libc's, as is whatever the region has no room for, and all of them where there
 * is no sdp.ko or no right to so much locked memory.
 *
 * fork() shares a region, but a child may write to what malloc() gave its parent
 * without the parent's seeing that. So the region isn't inherited
 * (MADV_DONTFORK); the child gets ordinary memory with the same contents in its
 * place. A child of clone() itself, which calls no handlers, has nothing there.
 *
 * malloc() and what it gave work in other libraries' fork() handlers. So ours
 * have to be the first that are registered: the library is linked to have its
 * constructor called before all others, libc's included.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/sdp.h>

#define PAGE		4096ul
#define DEFAULT_SIZE	(64ul << 20)
#define DEFAULT_MIN	(64ul << 10)
#define SMALLEST	(1ul << 20)	/* no region is worth less */
#define LARGEST		(1ul << 30)	/* a region's limit */

/* A run of pages, told at the first of them: how many, and whether a block has them */
#define RUN_USED	0x80000000u

/* What glibc calls its own when they are interposed */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *p);

/**
 * struct arena - the region and who has what of it; @lock but for @base, @span and @min
 * @base:	where it begins; set once
 * @span:	bytes it has, or had; set before @base
 * @pages:	pages to be had, 0 if there is no region
 * @runs:	of each page, if it is a run's first: its run
 * @fresh:	from this page on nobody has had any, so they are zeros
 * @copy:	while fork() is under way: what the child is to have, or MAP_FAILED
 * @tried:	it is there, or is not going to be
 * @size:	bytes to ask for
 * @min:	what a large block is, bytes
 * @log:	say what has become of it
 */
static struct {
	char		*base;
	size_t		span;
	size_t		pages;
	uint32_t	*runs;
	size_t		fresh;
	char		*copy;
	bool		tried;
	size_t		size;
	size_t		min;
	bool		log;
} arena = { .size = DEFAULT_SIZE, .min = DEFAULT_MIN };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- settings ---- */

static void say(const char *text, const char *about)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "libsdp_malloc: %s%s\n", text, about);

	/* stdio would call malloc() */
	if (write(STDERR_FILENO, line, n < (int)sizeof(line) ? n : (int)sizeof(line) - 1) < 0)
		return;
}

/* secure_getenv() of @envp, as libc has no environment yet */
static const char *setting_text(char **envp, const char *name)
{
	size_t n = strlen(name);

	for (; *envp && !getauxval(AT_SECURE); envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

/* Bytes of an environment variable, with K, M or G behind the number; @dflt if there is none */
static size_t setting(char **envp, const char *name, size_t dflt, size_t min, size_t max)
{
	const char *text = setting_text(envp, name);
	unsigned long long v;
	char *end;

	if (!text)
		return dflt;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (end != text && *end && !end[1]) {
		v <<= *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
		end += !!strchr("KMG", *end);
	}
	if (end == text || *end || errno || v < min || v > max) {
		say(name, " is no number of bytes such as 64M, or out of range: ignored");
		return dflt;
	}
	return v;
}

/* ---- the region ---- */

/* Not by libc's functions, which may be libsdp's */
static void *map_region(size_t size)
{
	void *p = MAP_FAILED;
	int fd = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SDP);

	if (fd < 0)
		return p;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p != MAP_FAILED && madvise(p, size, MADV_DONTFORK)) {
		munmap(p, size);
		p = MAP_FAILED;
	}
	syscall(SYS_close, fd);
	return p;
}

/* As much as is wanted, or as RLIMIT_MEMLOCK leaves */
static void arena_make(void)
{
	size_t size = arena.size;
	void *p;

	arena.tried = true;
	while ((p = map_region(size)) == MAP_FAILED && errno == EAGAIN && size / 2 >= SMALLEST)
		size = size / 2 & -PAGE;
	if (p != MAP_FAILED) {
		arena.runs = mmap(NULL, size / PAGE * sizeof(*arena.runs), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (arena.runs == MAP_FAILED) {
			munmap(p, size);
			p = MAP_FAILED;
		}
	}
	if (p == MAP_FAILED) {
		if (arena.log)
			say("no region, malloc() is libc's: ", strerrordesc_np(errno) ?: "?");
		return;
	}
	arena.pages = size / PAGE;
	arena.runs[0] = arena.pages;
	arena.span = size;
	__atomic_store_n(&arena.base, p, __ATOMIC_RELEASE);
	if (arena.log)
		say("large blocks come from a region", size < arena.size ?
		    ", smaller than wanted because of RLIMIT_MEMLOCK" : "");
}

static bool arena_has(const void *p)
{
	const char *base = __atomic_load_n(&arena.base, __ATOMIC_ACQUIRE);

	return base && (size_t)((const char *)p - base) < arena.span;
}

static size_t page_of(const void *p)
{
	return ((const char *)p - arena.base) / PAGE;
}

/* The free run at @i with all that are free behind it; its length */
static size_t join(size_t i)
{
	size_t n = arena.runs[i];

	while (i + n < arena.pages && !(arena.runs[i + n] & RUN_USED))
		n += arena.runs[i + n];
	arena.runs[i] = n;
	return n;
}

static void cut(size_t i, size_t n, size_t had, uint32_t used)
{
	arena.runs[i] = n | used;
	if (had > n)
		arena.runs[i + n] = had - n;
}

/* The first place where @n pages are free that begin at a multiple of @align; or @arena.pages */
static size_t find(size_t n, size_t align)
{
	size_t i, had, skip;

	for (i = 0; i < arena.pages; i += arena.runs[i] & ~RUN_USED) {
		if (arena.runs[i] & RUN_USED)
			continue;
		had = join(i);
		skip = -((uintptr_t)arena.base + i * PAGE) % align / PAGE;
		if (had < n + skip)
			continue;
		if (skip)
			cut(i, skip, had, 0);
		cut(i + skip, n, had - skip, RUN_USED);
		return i + skip;
	}
	return arena.pages;
}

/* A block of the region, of zeros if @zero; NULL if it has to be libc's */
static void *arena_get(size_t size, size_t align, bool zero)
{
	size_t n = (size + PAGE - 1) / PAGE, i, dirty = 0;
	char *p = NULL;

	if (size < arena.min || size > LARGEST)
		return NULL;
	pthread_mutex_lock(&lock);
	if (!arena.tried)
		arena_make();
	i = find(n, align);
	if (i < arena.pages) {
		p = arena.base + i * PAGE;
		if (i < arena.fresh)
			dirty = (arena.fresh - i < n ? arena.fresh - i : n) * PAGE;
		if (arena.fresh < i + n)
			arena.fresh = i + n;
	}
	pthread_mutex_unlock(&lock);
	if (p && zero)
		memset(p, 0, dirty);
	return p;
}

/* Where a block of the region is said to begin must be one */
static size_t block_at(const void *p)
{
	size_t i = page_of(p);

	if ((uintptr_t)p % PAGE || !(arena.runs[i] & RUN_USED)) {
		say("free() or realloc() of what malloc() never gave", "");
		abort();
	}
	return i;
}

static void arena_put(void *p)
{
	size_t i;

	pthread_mutex_lock(&lock);
	if (arena.pages) {
		i = block_at(p);
		arena.runs[i] &= ~RUN_USED;
	}
	pthread_mutex_unlock(&lock);
}

static size_t arena_size(const void *p)
{
	size_t n = 0;

	pthread_mutex_lock(&lock);
	if (arena.pages)
		n = (arena.runs[block_at(p)] & ~RUN_USED) * PAGE;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Makes a block shorter or, if what follows is free, longer; true if it could */
static bool arena_resize(void *p, size_t size)
{
	size_t n = (size + PAGE - 1) / PAGE, i, had;
	bool ok = false;

	pthread_mutex_lock(&lock);
	if (arena.pages && size <= LARGEST) {
		i = block_at(p);
		had = arena.runs[i] & ~RUN_USED;
		if (n > had && i + had < arena.pages && !(arena.runs[i + had] & RUN_USED))
			had += join(i + had);
		ok = n <= had;
		if (ok)
			cut(i, n ?: 1, had, RUN_USED);
		if (ok && arena.fresh < i + n)
			arena.fresh = i + n;
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

/* ---- fork() ---- */

/*
 * What the program hasn't looked at isn't looked at for it: of pages whose data
 * never arrived, which are a SIGBUS for who touches them, the child has zeros.
 */
static void fork_copy(size_t i, size_t n)
{
	struct iovec to, from;
	ssize_t got;

	while (n) {
		to = (struct iovec) { arena.copy + i * PAGE, n * PAGE };
		from = (struct iovec) { arena.base + i * PAGE, n * PAGE };
		got = process_vm_readv(gettid(), &to, 1, &from, 1, 0);
		if (got < 0 && errno != EFAULT) {
			memcpy(to.iov_base, from.iov_base, n * PAGE);
			break;
		}
		/* It ends before what can't be read; that one is passed by */
		got = got < (ssize_t)PAGE ? 1 : got / PAGE;
		i += got;
		n -= got;
	}
}

static void fork_prepare(void)
{
	size_t i, n;

	pthread_mutex_lock(&lock);
	if (!arena.pages)
		return;
	arena.copy = mmap(NULL, arena.span, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (i = 0; arena.copy != MAP_FAILED && i < arena.pages; i += n) {
		n = arena.runs[i] & ~RUN_USED;
		if (arena.runs[i] & RUN_USED)
			fork_copy(i, n);
	}
}

static void fork_parent(void)
{
	if (arena.pages && arena.copy != MAP_FAILED)
		munmap(arena.copy, arena.span);
	pthread_mutex_unlock(&lock);
}

/* Without a copy nothing is there, which whoever looks is told by SIGSEGV */
static void fork_child(void)
{
	if (arena.pages && (arena.copy == MAP_FAILED ||
			    mremap(arena.copy, arena.span, arena.span,
				   MREMAP_MAYMOVE | MREMAP_FIXED, arena.base) == MAP_FAILED))
		arena.pages = 0;
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void start(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	arena.log = setting_text(envp, "LIBSDP_MALLOC_LOG");
	arena.size = setting(envp, "LIBSDP_MALLOC_SIZE", DEFAULT_SIZE, SMALLEST, LARGEST) & -PAGE;
	arena.min = setting(envp, "LIBSDP_MALLOC_MIN", DEFAULT_MIN, PAGE, LARGEST);
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- what is interposed ---- */

void *malloc(size_t size)
{
	return arena_get(size, PAGE, false) ?: __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all))
		return __libc_calloc(n, size);
	return arena_get(all, PAGE, true) ?: __libc_calloc(n, size);
}

void free(void *p)
{
	if (arena_has(p))
		arena_put(p);
	else
		__libc_free(p);
}

size_t malloc_usable_size(void *p)
{
	static size_t (*next)(void *);

	if (!p)
		return 0;
	if (arena_has(p))
		return arena_size(p);
	if (!next)
		next = (size_t (*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
	return next(p);
}

/* By copying, to @q if there is one, from libc's memory to the region or the other way */
static void *move(void *p, size_t had, void *q, size_t size)
{
	if (q) {
		memcpy(q, p, had < size ? had : size);
		free(p);
	}
	return q;
}

void *realloc(void *p, size_t size)
{
	void *q;

	if (!p)
		return malloc(size);
	if (!arena_has(p)) {
		/* What stays libc's need not be copied: it moves pages */
		q = arena_get(size, PAGE, false);
		return q ? move(p, malloc_usable_size(p), q, size) : __libc_realloc(p, size);
	}
	if (!size) {
		free(p);
		return NULL;
	}
	if (arena_resize(p, size))
		return p;
	return move(p, arena_size(p), malloc(size), size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, all);
}

void *memalign(size_t align, size_t size)
{
	void *p = NULL;

	/* What glibc makes of other alignments depends on its version */
	if (!(align & (align - 1)))
		p = arena_get(size, align > PAGE ? align : PAGE, false);
	return p ?: __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	void *q;

	if (align % sizeof(void *) || !align || align & (align - 1))
		return EINVAL;
	q = memalign(align, size);
	if (!q)
		return ENOMEM;
	*p = q;
	return 0;
}

void *valloc(size_t size)
{
	return memalign(PAGE, size);
}

void *pvalloc(size_t size)
{
	size_t all;

	if (__builtin_add_overflow(size, PAGE - 1, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return memalign(PAGE, all & -PAGE);
}
