// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Messages of libsdp. Nothing is kept open between them, as the descriptor
 * would be in the way of a program that closes or counts its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

static const struct sdp_config *config;
static char program[64];

/**
 * libsdp_log_init() - where messages go from now on
 * @cfg:	says it; must stay
 */
void libsdp_log_init(const struct sdp_config *cfg)
{
	config = cfg;
	/* A copy, as servers write their titles over what they were called with */
	snprintf(program, sizeof(program), "%s", program_invocation_short_name);
}

/**
 * libsdp_logs() - whether messages of a level are wanted
 * @level:	SDP_LOG_*
 */
bool libsdp_logs(enum sdp_log_level level)
{
	return config && (int)level >= config->level;
}

/* Who closed 2 may have a connection there by now, whose bytes are the program's business */
static int open_stderr(void)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (!getsockname(STDERR_FILENO, (struct sockaddr *)&sa, &len) && sa.ss_family != AF_UNIX)
		return -1;
	return STDERR_FILENO;
}

/* Only a file, or directory, that is the user's alone, as others might have put it there */
static bool is_private(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static int open_private(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC |
			O_NONBLOCK, 0600);

	if (fd >= 0 && !is_private(fd, S_IFREG)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Root's NAME is in /var/log, whatever directory it has: others could have made that one a link.
 * A user's is in a directory NAME.UID, which is in /tmp.
 */
static int open_file(const char *name)
{
	const char *slash = strrchr(name, '/');
	uid_t uid = geteuid();
	char path[4096];
	int dir, fd;

	if (!uid) {
		snprintf(path, sizeof(path), "/var/log/%s", slash ? slash + 1 : name);
		return open_private(AT_FDCWD, path);
	}
	snprintf(path, sizeof(path), "%s%s.%u", slash ? "" : "/tmp/", name, uid);
	mkdir(path, 0700);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = is_private(dir, S_IFDIR) ? open_private(dir, "log") : -1;
	close(dir);
	return fd;
}

/* As syslog() would, but that one keeps a descriptor, and a lock */
static void send_to_syslog(const char *line, size_t len)
{
	static const struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = _PATH_LOG };
	/* Not by socket(), which is libsdp.c's */
	int fd = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	sendto(fd, line, len, MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof(to));
	close(fd);
}

static int priority(enum sdp_log_level level)
{
	return LOG_USER | (level >= SDP_LOG_ERROR ? LOG_ERR :
			   level >= SDP_LOG_WARNING ? LOG_WARNING :
			   level >= SDP_LOG_SUMMARY ? LOG_INFO : LOG_DEBUG);
}

static void write_line(char *line, size_t len)
{
	bool file = config->dest == SDP_LOG_FILE;
	int fd = file ? open_file(config->log_file) : open_stderr();
	ssize_t n;

	if (fd < 0)
		return;
	line[len] = '\n';
	n = write(fd, line, len + 1);
	(void)n;	/* there is nobody to tell */
	if (file)
		close(fd);
}

/**
 * libsdp_log() - one message
 * @level:	SDP_LOG_*
 * @format:	as printf(), without newline
 *
 * Leaves errno alone. Async-signal-safe as far as vsnprintf() of strings and integers is.
 */
void libsdp_log(enum sdp_log_level level, const char *format, ...)
{
	int err = errno, head;
	char line[1024];
	va_list args;
	bool to_syslog;
	size_t len;

	if (!libsdp_logs(level))
		return;
	to_syslog = config->dest == SDP_LOG_SYSLOG;
	if (to_syslog)
		head = snprintf(line, sizeof(line), "<%d>%s[%d]: libsdp: ", priority(level),
				program, getpid());
	else
		head = snprintf(line, sizeof(line), "libsdp: %s[%d]: ", program, getpid());
	va_start(args, format);
	vsnprintf(line + head, sizeof(line) - head, format, args);
	va_end(args);
	len = strlen(line);
	if (len == sizeof(line) - 1)
		len--;	/* for the newline */
	if (to_syslog)
		send_to_syslog(line, len);
	else
		write_line(line, len);
	errno = err;
}
