/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP socket beside an SDP socket whose policy knows of TCP, and the step
 * by which it takes the SDP socket's place.
 */
#ifndef _SDP_COMPANION_H
#define _SDP_COMPANION_H

#include "sdp.h"

struct sock *sdp_lock(struct socket *sock);
bool sdp_is_sdp(const struct sock *sk);
struct sock *sdp_transport(struct sock *sk);
const struct proto_ops *sdp_tcp_ops(const struct sock *sk);

int sdp_companion_make(struct sock *sk);
int sdp_companion_bind(struct sock *sk);
int sdp_companion_connect(struct sock *sk);
int sdp_companion_listen(struct sock *sk, int backlog);
void sdp_companion_unlisten(struct sock *sk);
void sdp_companion_sync(struct sock *sk);
struct sock *sdp_companion_get(struct sock *sk);
void sdp_companion_drop(struct sock *sk);
void sdp_companion_graft(struct sock *sk);
int sdp_companion_accept(struct sock *sk, struct socket *newsock, int flags, bool kern);
bool sdp_companion_pending(const struct sock *sk);
u32 sdp_companion_backlog(const struct sock *sk);
void sdp_companion_limit(struct sock *sk);
bool sdp_companion_refuses(int level, int optname);

#endif /* _SDP_COMPANION_H */
