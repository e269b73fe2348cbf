/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When TCP takes over from SDP.
 */
#ifndef _SDP_FALLBACK_H
#define _SDP_FALLBACK_H

#include "sdp.h"

int sdp_fallback_init(void);
void sdp_fallback_exit(void);

int sdp_policy(const struct sock *sk);
int sdp_set_policy(struct sock *sk, int policy);
void sdp_fallback_take_over(struct sock *sk, int reason);
int sdp_fallback_turn(struct sock *sk);
int sdp_fallback_now(struct sock *sk, int reason);
void sdp_fallback_setup(struct sock *sk);
void sdp_fallback_watch(struct sock *sk, bool known);
bool sdp_falling(struct sock *sk);
bool sdp_fallback_take(struct sock *sk, int err, bool busy);
void sdp_fallback_start(struct sock *sk);
void sdp_fallback_won(struct sock *sk);
bool sdp_fallback_cancel(struct sock *sk, int err);
void sdp_fallback_release(struct sock *sk);

#endif /* _SDP_FALLBACK_H */
