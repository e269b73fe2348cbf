// SPDX-License-Identifier: GPL-2.0
/*
 * sdp_contract: is an SDP socket like a TCP socket? Each case runs over TCP first, which is
 * the reference, then over SDP, each time in a process group of its own. Its answers, an item
 * and a text each, must be the same but for what deviations.c lists. TAP; with --table the
 * answers as a table, too. --deviations prints that of deviations.c (see table.sh).
 */
#include "contract.h"
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <sys/utsname.h>

#define LIMIT		12		/* seconds for a case */
#define CASES_MAX	100
#define ANSWERS_MAX	192
#define ITEM_LEN	72
#define TEXT_LEN	160

struct contract run = { .fam = FAM_SDP, .host = "127.0.0.1", .slow = 1 };

static const struct contract_topic *const topics[] = {
	&topic_calls, &topic_connect, &topic_listen, &topic_ending, &topic_poll, &topic_urgent,
	&topic_queues, &topic_options, &topic_users, &topic_threads,
};

/* What one run of a case said; shared with its process */
struct answers {
	int n;
	bool over;
	char died[TEXT_LEN];
	struct {
		char item[ITEM_LEN];
		char text[TEXT_LEN];
	} of[ANSWERS_MAX];
};

/**
 * struct one_run - a case over one kind of socket
 * @c:		case
 * @fam:	kind
 * @said:	its answers
 * @pid:	its process, 0 before and after
 * @start:	when it began
 */
struct one_run {
	const struct contract_case *c;
	enum fam fam;
	struct answers *said;
	pid_t pid;
	uint64_t start;
};

static struct one_run runs[2 * CASES_MAX];
static int n_runs;
static struct answers *cur;
static FILE *table;
static int jobs = 8, number, failed, deviating;

/**
 * answer() - write down what a socket said
 * @item:	the question; also the first column of the table
 * @fmt:	the answer, printf()
 */
void answer(const char *item, const char *fmt, ...)
{
	va_list ap;

	if (cur->n == ANSWERS_MAX)
		die("more than %d answers", ANSWERS_MAX);
	snprintf(cur->of[cur->n].item, ITEM_LEN, "%s", item);
	va_start(ap, fmt);
	vsnprintf(cur->of[cur->n].text, TEXT_LEN, fmt, ap);
	va_end(ap);
	cur->n++;
}

/**
 * die() - end a case that can't go on
 * @fmt:	why, printf()
 */
void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cur->died, TEXT_LEN, fmt, ap);
	va_end(ap);
	_exit(EXIT_FAILURE);
}

static void *map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(EXIT_FAILURE, "mmap");
	return p;
}

static void add_run(const struct contract_case *c, enum fam fam)
{
	if (n_runs == 2 * CASES_MAX)
		errx(EXIT_FAILURE, "more than %d cases", CASES_MAX);
	runs[n_runs++] = (struct one_run){ .c = c, .fam = fam, .said = map(sizeof(*cur)) };
}

static void begin(struct one_run *r)
{
	fflush(stdout);
	r->start = now_ns();
	r->pid = fork();
	if (r->pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!r->pid) {
		setpgid(0, 0);
		signal(SIGPIPE, SIG_IGN);
		cur = r->said;
		run.fam = r->fam;
		r->c->fn();
		cur->over = true;
		_exit(0);
	}
	setpgid(r->pid, r->pid);
}

/* Is it over, or has it been for too long? */
static bool ended(struct one_run *r)
{
	bool late = seconds_since(r->start) > LIMIT * run.slow;
	int status = 0;

	if (!late && waitpid(r->pid, &status, WNOHANG) == 0)
		return false;
	kill(-r->pid, SIGKILL);			/* children it may have left, too */
	if (late) {
		waitpid(r->pid, &status, 0);
		snprintf(r->said->died, TEXT_LEN, "not over after %d s", LIMIT * run.slow);
	}
	if (!r->said->over && !r->said->died[0])
		snprintf(r->said->died, TEXT_LEN, "ended with status %#x", status);
	r->pid = 0;
	return true;
}

/* Runs all, some at a time: most of it is waiting */
static void run_all(void)
{
	int begun = 0, running = 0;

	while (begun < n_runs || running) {
		while (begun < n_runs && running < jobs) {
			begin(&runs[begun++]);
			running++;
		}
		for (int i = 0; i < begun; i++)
			if (runs[i].pid && ended(&runs[i]))
				running--;
		usleep(2000);
	}
}

static const struct deviation *deviation_of(const struct contract_case *c, const char *item,
					    const char *text)
{
	struct utsname u;

	uname(&u);
	for (const struct deviation *d = deviations; d->case_name; d++)
		if ((!d->kernel || !fnmatch(d->kernel, u.release, 0)) &&
		    !fnmatch(d->case_name, c->name, 0) && !fnmatch(d->item, item, 0) &&
		    !fnmatch(d->ours, text, 0))
			return d;
	return NULL;
}

/* A field of a csv-table; what would be markup is shown as it is */
static void print_field(FILE *f, const char *text, bool last)
{
	putc('"', f);
	for (; *text; text++) {
		if (strchr("*`|\\", *text))
			putc('\\', f);
		if (*text == '"')
			putc('"', f);
		putc(*text, f);
	}
	fputs(last ? "\"\n" : "\", ", f);
}

static void print_row(FILE *f, const char *a, const char *b, const char *c, const char *d)
{
	fputs("   ", f);
	print_field(f, a, false);
	print_field(f, b, false);
	print_field(f, c, false);
	print_field(f, d, true);
}

static void print_result(bool ok, const struct contract_case *c, const char *item)
{
	number++;
	failed += !ok;
	printf("%sok %d - %s: %s\n", ok ? "" : "not ", number, c->name, item);
}

static void compare_answer(const struct contract_case *c, const struct answers *theirs,
			   const struct answers *ours, int i)
{
	const char *item = i < theirs->n ? theirs->of[i].item : ours->of[i].item;
	const char *tcp = i < theirs->n ? theirs->of[i].text : "(none)";
	const char *sdp = i < ours->n ? ours->of[i].text : "(none)";
	const struct deviation *d = NULL;
	bool same = i < theirs->n && i < ours->n && !strcmp(ours->of[i].item, item) &&
		    !strcmp(tcp, sdp);

	/* That ours may differ is no excuse for a question TCP wasn't asked */
	if (!same && i < theirs->n)
		d = deviation_of(c, item, sdp);
	deviating += !!d;
	if (table)
		print_row(table, item, tcp, same ? "same" : sdp, d ? d->reason : "");
	if (!same) {
		printf("# %s: %s\n#   TCP:  %s\n#   ours: %s\n", c->name, item, tcp, sdp);
		if (d)
			printf("#   because: %s\n", d->reason);
	}
	print_result(same || d, c, item);
}

static void compare(const struct contract_case *c, const struct answers *theirs,
		    const struct answers *ours)
{
	if (table)
		fprintf(table, "   \"**%s**\", \"\", \"\", \"\"\n", c->name);
	for (int i = 0; i < theirs->n || i < ours->n; i++)
		compare_answer(c, theirs, ours, i);
	if (!theirs->over || !ours->over) {
		printf("# TCP: %s\n# ours: %s\n", theirs->over ? "complete" : theirs->died,
		       ours->over ? "complete" : ours->died);
		print_result(false, c, "runs to its end");
	}
}

static const char usage_text[] =
"usage: sdp_contract [options]\n"
"Asks a TCP socket and an SDP socket the same questions and compares the answers; TAP.\n"
"  -f, --family FAM   sdp (AF_INET_SDP) or ipproto (IPPROTO_SDP); default sdp\n"
"  -a, --addr ADDR    address to bind and connect to, IPv4 or IPv6 (default 127.0.0.1)\n"
"  -t, --test NAME    only cases that match this pattern\n"
"  -j, --jobs N       so many cases at a time (default 8)\n"
"  -l, --list         list the cases\n"
"      --table FILE   write the answers there as a table (reStructuredText)\n"
"      --deviations   print which answers may differ, as a table, and ask nothing\n"
"      --mode N       SDP_MODE, one way of moving data for all there is\n"
"      --slow N       multiply all times by N, for slow machines\n"
"Exit status: 0 all answers are TCP's or known deviations, 1 not so, 2 wrong usage.\n";

enum { OPT_SLOW = 256, OPT_TABLE, OPT_DEVIATIONS, OPT_MODE };

static const struct option options[] = {
	{ "family", required_argument, NULL, 'f' },
	{ "addr", required_argument, NULL, 'a' },
	{ "test", required_argument, NULL, 't' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "list", no_argument, NULL, 'l' },
	{ "table", required_argument, NULL, OPT_TABLE },
	{ "deviations", no_argument, NULL, OPT_DEVIATIONS },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "slow", required_argument, NULL, OPT_SLOW },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static void print_head(const char *title)
{
	static const char line[] = "-----------------------------------------------------------";

	fprintf(table, "\n%s\n%.*s\n\n.. csv-table::\n   :header: item, TCP, SDP, note\n"
		"   :widths: 30, 25, 25, 20\n\n", title, (int)strlen(title), line);
}

static void print_deviations(void)
{
	char note[TEXT_LEN];

	printf(".. csv-table::\n   :header: of, item, SDP, note\n   :widths: 20, 25, 15, 40\n\n");
	for (const struct deviation *d = deviations; d->case_name; d++) {
		snprintf(note, sizeof(note), "%s%s%s", d->kernel ?: "", d->kernel ? ": " : "",
			 d->reason);
		print_row(stdout, d->case_name, d->item, d->ours, note);
	}
}

static void choose(const char *pattern, enum fam fam, bool list)
{
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		for (const struct contract_case *c = topics[i]->cases; c->name; c++) {
			if (fnmatch(pattern, c->name, 0))
				continue;
			if (list) {
				puts(c->name);
				continue;
			}
			add_run(c, FAM_TCP);
			add_run(c, fam);
		}
}

static void report(void)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(topics); i++) {
		const struct contract_case *c = topics[i]->cases;

		if (table)
			print_head(topics[i]->title);
		for (; c->name; c++)
			if (r < n_runs && runs[r].c == c) {
				compare(c, runs[r].said, runs[r + 1].said);
				r += 2;
			}
	}
}

int main(int argc, char **argv)
{
	const char *pattern = "*";
	enum fam fam = FAM_SDP;
	bool list = false;
	int o;

	while ((o = getopt_long(argc, argv, "f:a:t:j:lh", options, NULL)) != -1) {
		switch (o) {
		case 'f':
			fam = fam_parse(optarg);
			break;
		case 'a':
			run.host = optarg;
			break;
		case 't':
			pattern = optarg;
			break;
		case 'j':
			jobs = parse_size("jobs", optarg, 1, 1000);
			break;
		case 'l':
			list = true;
			break;
		case OPT_TABLE:
			table = fopen(optarg, "w");
			if (!table)
				err(EXIT_FAILURE, "%s", optarg);
			break;
		case OPT_DEVIATIONS:
			print_deviations();
			return EXIT_SUCCESS;
		case OPT_MODE:
			run.mode = parse_size("mode", optarg, SDP_AUTO, SDP_ZCOPY_W);
			break;
		case OPT_SLOW:
			run.slow = parse_size("slow", optarg, 1, 1000);
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
	own_addr();				/* complains about a bad -a */
	choose(pattern, fam, list);
	run_all();
	report();
	if (table && fclose(table))
		err(EXIT_FAILURE, "writing the table");
	if (!list)
		printf("1..%d\n# %d compared, %d failed, %d known deviations\n", number, number,
		       failed, deviating);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
