/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages of libsdp, to where libsdp.conf or LIBSDP_LOG wants them.
 */
#ifndef LIBSDP_LOG_H
#define LIBSDP_LOG_H

#include "config.h"

void libsdp_log_init(const struct sdp_config *cfg);
bool libsdp_logs(enum sdp_log_level level);
__attribute__((format(printf, 2, 3)))
void libsdp_log(enum sdp_log_level level, const char *format, ...);

#endif /* LIBSDP_LOG_H */
