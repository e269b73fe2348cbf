/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of destinations: SDP there, or not.
 */
#ifndef _SDP_DEST_H
#define _SDP_DEST_H

#include "sdp.h"

/**
 * enum sdp_dest_verdict - what is known of a destination
 * @SDP_DEST_UNKNOWN:	nothing, or nothing any more
 * @SDP_DEST_SDP:	it has taken an SDP connection
 * @SDP_DEST_TCP:	an attempt by SDP has failed
 */
enum sdp_dest_verdict {
	SDP_DEST_UNKNOWN,
	SDP_DEST_SDP,
	SDP_DEST_TCP,
};

enum sdp_dest_verdict sdp_dest_find(struct sock *sk);
void sdp_dest_store(struct sock *sk, int reason);
void sdp_dest_forget(struct sock *sk);
void sdp_dest_flush(struct sdp_net *sn);
int sdp_dest_net_init(struct net *net);
void sdp_dest_net_exit(struct net *net);

#endif /* _SDP_DEST_H */
