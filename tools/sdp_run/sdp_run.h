/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of sdp_run share.
 */
#ifndef SDP_RUN_H
#define SDP_RUN_H

#define EXIT_USAGE	2
#define EXIT_CANT_RUN	126	/* as env(1), nice(1) and others */
#define EXIT_NOT_FOUND	127

__attribute__((noreturn)) void run(char **argv);
__attribute__((noreturn)) void run_by_kernel(char **argv);

#endif /* SDP_RUN_H */
