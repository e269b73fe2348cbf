// SPDX-License-Identifier: GPL-2.0
/* A plug-in, which comes into a program by dlopen() and has its sockets itself. */
#include <sys/socket.h>

int plugin_socket(void);

int plugin_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}
