/* SPDX-License-Identifier: GPL-2.0 */
/* What the tools share to print JSON. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdio.h>

/* @text may hold any bytes: those beyond ASCII are told as numbers. */
static inline void json_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

#endif
