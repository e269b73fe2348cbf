// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_run [-p POLICY | -f CONF] [-m] [-v] PROGRAM...: run a program whose TCP sockets
 * libsdp.so makes SDP sockets; or the kernel, bpf.c. sdp_run --check: what a
 * libsdp.conf means.
 */
#include <arpa/inet.h>
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "config.h"
#include "sdp_run.h"

/* LIBSDP_DIR for the loader, which knows $LIB: a package may have one for each architecture */
#ifndef LIBSDP_LD_DIR
#define LIBSDP_LD_DIR	LIBSDP_DIR
#endif

static const char usage_text[] =
"usage: sdp_run [-p sdp|tcp|both | -f CONF] [-m] [-v] PROGRAM [ARGUMENT...]\n"
"       sdp_run -k [-m] PROGRAM [ARGUMENT...]\n"
"       sdp_run --check CONF [PROGRAM [ADDRESS PORT]]\n"
"\n"
"Runs PROGRAM so that its TCP connections become SDP connections where rules\n"
"say so, those of " LIBSDP_CONF " or both SDP and TCP without that file.\n"
"\n"
"  -p, --policy POLICY  sdp, tcp or both for all connections, instead of rules\n"
"  -f, --file CONF      rules to use\n"
"  -m, --malloc         large blocks of malloc() from a region, for AZ-SDP (libsdp_malloc.so)\n"
"  -v, --verbose        a line on stderr for each connect() and listen()\n"
"  -k, --kernel         without libsdp.so and rules, for programs it can't reach\n"
"  -c, --check CONF     look for errors in CONF; tell which of its rules are for\n"
"                       PROGRAM, or which one is for it at ADDRESS and PORT\n"
"  -h, --help           this\n";

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		err(EXIT_CANT_RUN, "%s", name);
}

/* ---- running ---- */

/* Beside this program, as in a build directory, or else where it is installed; for the loader */
static void find_library(const char *name, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		n = slash ? slash + 1 - path : 0;
		if (snprintf(path + n, size - n, "%s", name) < (int)(size - n) && !access(path, R_OK))
			return;
	}
	snprintf(path, size, "%s/%s", LIBSDP_DIR, name);
	if (access(path, R_OK))
		err(EXIT_CANT_RUN, "the library %s", path);
	snprintf(path, size, "%s/%s", LIBSDP_LD_DIR, name);
}

/* Before what is to be loaded already */
static void preload(const char *name)
{
	const char *others = getenv("LD_PRELOAD");
	char lib[PATH_MAX], *value;

	find_library(name, lib, sizeof(lib));
	if (strpbrk(lib, " :"))
		errx(EXIT_CANT_RUN, "%s: the loader takes no path with a blank or colon", lib);
	if (asprintf(&value, "%s%s%s", lib, others ? ":" : "", others ?: "") < 0)
		err(EXIT_CANT_RUN, NULL);
	set("LD_PRELOAD", value);
	free(value);
}

/* An absolute path, since the program may go elsewhere */
static void use_file(const char *name)
{
	char *path = realpath(name, NULL);

	if (!path)
		err(EXIT_USAGE, "%s", name);
	set("LIBSDP_CONFIG_FILE", path);
	free(path);
	unsetenv("LIBSDP_POLICY");	/* any of these would be instead of rules */
	unsetenv("SIMPLE_LIBSDP");
	unsetenv("ALWAYS_USE_SDP");
}

static void use_policy(const char *word)
{
	enum sdp_use use;

	if (!sdp_use_parse(word, &use))
		errx(EXIT_USAGE, "policy '%s' is none of sdp, tcp, both", word);
	set("LIBSDP_POLICY", word);
}

/* The file execvp() will find, in @path; false if there is none */
static bool find_program(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH") ?: "/usr/bin:/bin";
	size_t n;

	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name) < (int)size;
	for (; *dirs; dirs += n + !!dirs[n]) {
		n = strcspn(dirs, ":");
		snprintf(path, size, "%.*s%s%s", (int)n, dirs, n ? "/" : "", name);
		if (!access(path, X_OK))
			return true;
	}
	return false;
}

/* The program is ELF, and the kernel needs no loader to start it */
static bool is_static(int fd)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	unsigned int i;

	if (pread(fd, &ehdr, sizeof(ehdr), 0) != sizeof(ehdr) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (pread(fd, &phdr, sizeof(phdr), ehdr.e_phoff + i * sizeof(phdr)) !=
		    sizeof(phdr) || phdr.p_type == PT_INTERP)
			return false;
	}
	return true;
}

/* What of the file gives who starts it rights that he hasn't, NULL if nothing does */
static const char *privileged_by(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
				(st.st_mode & S_ISGID && st.st_gid != getgid())))
		return "mode";
	/* root has them all */
	if (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "capabilities";
	return NULL;
}

/* What the loader, or there being none, makes of LD_PRELOAD: it says nothing itself */
static void warn_if_deaf(const char *name)
{
	char path[PATH_MAX];
	const char *by;
	int fd;

	if (!find_program(name, path, sizeof(path)))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (is_static(fd))
		warnx("%s is statically linked: libsdp.so can't reach it", path);
	else if ((by = privileged_by(fd)))
		warnx("%s gets other rights by its %s: the loader ignores libsdp.so", path, by);
	close(fd);
}

/**
 * run() - become a program
 * @argv:	program and arguments
 */
void run(char **argv)
{
	execvp(argv[0], argv);
	err(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANT_RUN, "%s", argv[0]);
}

/* ---- checking ---- */

static void tell_error(void *arg, const char *message)
{
	(void)arg;
	fprintf(stderr, "%s\n", message);
}

/* The address and port of the command line */
static socklen_t parse_address(const char *ip, const char *port, struct sockaddr_storage *sa)
{
	struct sockaddr_in6 *v6 = (void *)sa;
	struct sockaddr_in *v4 = (void *)sa;
	char *end;
	long n;

	memset(sa, 0, sizeof(*sa));
	errno = 0;
	n = strtol(port, &end, 10);
	if (end == port || *end || errno || n < 0 || n > 65535)
		errx(EXIT_USAGE, "port '%s' is no number from 0 to 65535", port);
	if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(n);
		return sizeof(*v4);
	}
	if (inet_pton(AF_INET6, ip, &v6->sin6_addr) != 1)
		errx(EXIT_USAGE, "'%s' is no IPv4 or IPv6 address", ip);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(n);
	return sizeof(*v6);
}

static void print_rule(const char *conf, const struct sdp_rule *rule)
{
	char text[512];

	sdp_rule_format(rule, text, sizeof(text));
	printf("%s:%u: %s\n", conf, rule->line, text);
}

static void explain(const struct sdp_config *cfg, const char *conf, enum sdp_role role,
		    const struct sockaddr_storage *sa, socklen_t len)
{
	const struct sdp_rule *rule = sdp_config_match(cfg, role, (const void *)sa, len);

	printf("%s: %s, ", role == SDP_ROLE_SERVER ? "listen()" : "connect()",
	       sdp_use_str(sdp_config_use(cfg, rule)));
	if (rule)
		print_rule(conf, rule);
	else
		printf("as %s\n", cfg->otherwise == SDP_USE_SDP ? "there are no rules at all" :
			       "no rule fits");
}

static void list(const struct sdp_config *cfg, const char *conf)
{
	size_t i;

	for (i = 0; i < cfg->n_rules; i++)
		print_rule(conf, &cfg->rules[i]);
	printf("otherwise: %s\n", sdp_use_str(cfg->otherwise));
}

/* What isn't wrong, and may not be what was meant */
static void warn_odd(const struct sdp_config *cfg, const char *conf)
{
	size_t i;

	if (cfg->odd_level)
		fprintf(stderr, "%s:%u: min-level is 1 to 9, the nearest counts\n", conf,
			cfg->odd_level);
	for (i = 0; i < cfg->n_rules; i++)
		if (sdp_rule_masked(&cfg->rules[i]))
			fprintf(stderr, "%s:%u: address bits beyond the prefix don't count\n",
				conf, cfg->rules[i].line);
}

static int check(const char *conf, int argc, char **argv)
{
	struct sockaddr_storage sa;
	struct sdp_config cfg;
	unsigned int errors;
	const char *name;
	socklen_t len;

	if (argc > 3 || argc == 2)
		errx(EXIT_USAGE, "--check CONF [PROGRAM [ADDRESS PORT]]");
	sdp_config_init(&cfg);
	errors = sdp_config_read(&cfg, conf, tell_error, NULL);
	warn_odd(&cfg, conf);
	if (errors) {
		fprintf(stderr, "%s: with errors, this file is not used at all\n", conf);
		return 1;
	}
	if (argc) {
		name = strrchr(argv[0], '/');
		sdp_config_for_program(&cfg, name ? name + 1 : argv[0]);
	}
	if (argc == 3) {
		len = parse_address(argv[1], argv[2], &sa);
		explain(&cfg, conf, SDP_ROLE_SERVER, &sa, len);
		explain(&cfg, conf, SDP_ROLE_CLIENT, &sa, len);
	} else {
		list(&cfg, conf);
	}
	sdp_config_free(&cfg);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "output");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "file", required_argument, NULL, 'f' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "malloc", no_argument, NULL, 'm' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "check", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *conf = NULL, *policy = NULL, *rules = NULL;
	bool kernel = false, region = false, verbose = false;
	int c;

	/* "+": what comes after PROGRAM is PROGRAM's */
	while ((c = getopt_long(argc, argv, "+p:f:mvkc:h", options, NULL)) >= 0) {
		switch (c) {
		case 'p':
			policy = optarg;
			break;
		case 'f':
			rules = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		case 'm':
			region = true;
			break;
		case 'k':
			kernel = true;
			break;
		case 'c':
			conf = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		default:
			fputs(usage_text, stderr);
			return EXIT_USAGE;
		}
	}
	argc -= optind;
	argv += optind;
	if (policy && rules)
		errx(EXIT_USAGE, "-p is instead of rules, so there is no -f with it");
	if (kernel && (policy || rules || verbose))
		errx(EXIT_USAGE, "-p, -f and -v are for libsdp.so, which -k does without");
	if (policy)
		use_policy(policy);
	if (rules)
		use_file(rules);
	if (verbose)
		set("LIBSDP_LOG", "destination stderr min-level 7");
	if (conf)
		return check(conf, argc, argv);
	if (!argc) {
		fputs(usage_text, stderr);
		return EXIT_USAGE;
	}
	if (region)
		preload("libsdp_malloc.so");
	if (kernel)
		run_by_kernel(argv);
	warn_if_deaf(argv[0]);
	preload("libsdp.so");
	run(argv);
}
