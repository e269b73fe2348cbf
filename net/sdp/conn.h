/* SPDX-License-Identifier: GPL-2.0 */
/* Life of a connection, for the files that see more of it than the stream does */
#ifndef _SDP_CONN_H
#define _SDP_CONN_H

#include "sdp.h"

void sdp_conn_kick(struct sdp_conn *conn);
int sdp_post_send(struct sdp_conn *conn, struct ib_send_wr *wr);
void sdp_conn_dev_gone(struct sdp_conn *conn);
int sdp_conn_rtr_rts(struct sdp_conn *conn, struct ib_qp_attr *rtr, int rtr_mask,
		     struct ib_qp_attr *rts, int rts_mask);

#endif /* _SDP_CONN_H */
