/* SPDX-License-Identifier: GPL-2.0 */
/* What the peer has advertised, and reading it; see read.c */
#ifndef _SDP_READ_H
#define _SDP_READ_H

#include "sdp.h"

enum sdp_bad sdp_read_advert(struct sdp_conn *conn, const struct sdp_msg *m);
void sdp_read_cancel(struct sdp_conn *conn);
void sdp_read_acked(struct sdp_conn *conn, u32 mseq_ack);
bool sdp_read_open(const struct sdp_conn *conn);
u32 sdp_read_report(const struct sdp_conn *conn);
bool sdp_read_reported(struct sdp_conn *conn);

void sdp_read_ahead(struct sdp_conn *conn);
void sdp_read_ahead_all(struct sdp_conn *conn);
void sdp_read_ahead_some(struct sdp_conn *conn);
void sdp_read_poll(struct sock *sk);
void sdp_read_rest(struct sock *sk);
bool sdp_read_can_direct(const struct sock *sk, const struct iov_iter *iter, size_t want);
int sdp_read_direct(struct sock *sk, struct iov_iter *iter, size_t want);
int sdp_read_away(struct sock *sk, struct iov_iter *iter, size_t want, bool wait);
void sdp_read_settled(struct sock *sk);

void sdp_read_init(struct sdp_conn *conn);
void sdp_read_stop(struct sdp_conn *conn);
void sdp_read_purge(struct sdp_conn *conn);

#endif /* _SDP_READ_H */
