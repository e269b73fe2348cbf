// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_basic: what a stream socket does, one function for each behaviour, in TAP. The same code
 * runs over TCP (-f tcp), which is the reference: a case that fails there is wrong.
 *
 * Each case runs in a process group of its own with a time limit.
 */
#include "basic.h"
#include <getopt.h>

struct basic_options opt = { .fam = FAM_SDP, .host = "127.0.0.1", .limit = 10, .slow = 1 };
char *skip_reason;

#define CASES_MAX	256

static const struct test_case *const topics[] = {
	cases_socket, cases_connect, cases_data, cases_options, cases_ending, cases_poll,
	cases_process,
};

static struct test_case cases[CASES_MAX];
static size_t n_cases;

/* Waits for @pid, at most for the limit; returns its status, or -1 when it had to be killed. */
static int wait_limited(pid_t pid)
{
	uint64_t start = now_ns();
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (seconds_since(start) > opt.limit * opt.slow) {
			kill(-pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		usleep(1000);
	}
	kill(-pid, SIGKILL);			/* children it may have left */
	return status;
}

/* Runs one case; returns EXIT_SUCCESS, EXIT_FAILURE or EXIT_SKIP. */
static int run_case(const struct test_case *t, int number)
{
	int status;
	pid_t pid;

	skip_reason[0] = 0;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid) {
		setpgid(0, 0);
		t->fn();
		fflush(stdout);
		_exit(EXIT_SUCCESS);
	}
	setpgid(pid, pid);
	status = wait_limited(pid);
	if (status < 0)
		printf("# not done after %d seconds\n", opt.limit * opt.slow);
	else if (WIFSIGNALED(status))
		printf("# killed by signal %d (%s)\n", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	if (status == EXIT_SUCCESS) {
		printf("ok %d %s\n", number, t->name);
		return EXIT_SUCCESS;
	}
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP) {
		printf("ok %d %s # SKIP %s\n", number, t->name, skip_reason);
		return EXIT_SKIP;
	}
	printf("not ok %d %s\n", number, t->name);
	return EXIT_FAILURE;
}

static const char usage_text[] =
"usage: sdp_basic [options]\n"
"Tests what a stream socket does, in TAP; -f tcp is the reference.\n"
"  -f, --family FAM   " FAM_HELP " (default sdp)\n"
"  -a, --addr ADDR    address to bind and connect to, IPv4 or IPv6 (default 127.0.0.1)\n"
"  -t, --test NAME    run this case only (may be given more than once)\n"
"  -x, --exclude NAME skip this case (may be given more than once)\n"
"  -l, --list         list the cases\n"
"  -T, --limit SECS   time limit of a case (default 10)\n"
"      --slow N       multiply every time limit by N, for slow machines\n"
"Exit status: 0 all passed, 1 some failed, 2 wrong usage.\n";

enum { OPT_SLOW = 256 };

static const struct option options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "addr", required_argument, NULL, 'a' },
	{ "test", required_argument, NULL, 't' },
	{ "exclude", required_argument, NULL, 'x' },
	{ "list", no_argument, NULL, 'l' },
	{ "limit", required_argument, NULL, 'T' },
	{ "slow", required_argument, NULL, OPT_SLOW },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static size_t case_index(const char *name)
{
	for (size_t i = 0; i < n_cases; i++)
		if (!strcmp(cases[i].name, name))
			return i;
	errx(EXIT_USAGE, "no test case '%s': see --list", name);
}

static void gather_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		for (const struct test_case *t = topics[i]; t->name; t++) {
			if (n_cases == CASES_MAX)
				errx(EXIT_FAILURE, "more than %d cases", CASES_MAX);
			cases[n_cases++] = *t;
		}
}

int main(int argc, char **argv)
{
	bool only[CASES_MAX] = { }, excluded[CASES_MAX] = { };
	int o, number = 0, failed = 0, skipped = 0, chosen = 0, plan = 0;

	gather_cases();
	while ((o = getopt_long(argc, argv, "f:a:t:x:lT:h", options, NULL)) != -1) {
		switch (o) {
		case 'f':
			opt.fam = fam_parse(optarg);
			break;
		case 'a':
			opt.host = optarg;
			break;
		case 't':
			only[case_index(optarg)] = true;
			chosen++;
			break;
		case 'x':
			excluded[case_index(optarg)] = true;
			break;
		case 'l':
			for (size_t i = 0; i < n_cases; i++)
				puts(cases[i].name);
			return EXIT_SUCCESS;
		case 'T':
			opt.limit = parse_size("limit", optarg, 1, 3600);
			break;
		case OPT_SLOW:
			opt.slow = parse_size("slow", optarg, 1, 1000);
			break;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(usage_text, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fputs(usage_text, stderr);
		return EXIT_USAGE;
	}
	test_addr();				/* complains about a bad -a */
	skip_reason = mmap(NULL, SKIP_LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	if (skip_reason == MAP_FAILED)
		err(EXIT_FAILURE, "mmap");

	for (size_t i = 0; i < n_cases; i++)
		plan += (!chosen || only[i]) && !excluded[i];
	printf("TAP version 13\n1..%d\n", plan);
	for (size_t i = 0; i < n_cases; i++) {
		if ((chosen && !only[i]) || excluded[i])
			continue;
		switch (run_case(&cases[i], ++number)) {
		case EXIT_FAILURE:
			failed++;
			break;
		case EXIT_SKIP:
			skipped++;
		}
	}
	printf("# %d passed, %d failed, %d skipped\n", number - failed - skipped, failed, skipped);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
