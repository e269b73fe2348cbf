/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection management: what a transport provides and what it calls.
 *
 * cm.c knows Hello and HelloAck, listeners and backlog; a transport (cm_ib.c,
 * cm_iw.c) knows how to carry them. resolve.c finds the device and route.
 */
#ifndef _SDP_CM_H
#define _SDP_CM_H

#include "sdp.h"

/**
 * struct sdp_cm_ops - a transport's connection management
 * @name:	for people
 * @per_net:	one @listen for each namespace a port is listened on in; else one for all
 * @one_shot:	a refused request can't be sent again: that takes a new connection
 * @reads:	RDMA READ may be used over it
 * @usable:	does the device speak it?
 * @listen:	listen on one device and TCP-style port, in @net or (NULL) in all namespaces;
 *		handle or ERR_PTR
 * @relisten:	addresses of this host have changed; NULL if that is of no concern
 * @unlisten:	stop, wait for handlers
 * @connect:	make ready and send the connection request over the route resolved, now or
 *		by @request; a handler of the resolver
 * @request:	send it, perhaps again after it was refused; called by sdp_cm_work()
 * @early:	a message came before the handshake's last step did; called by sdp_cm_work()
 * @disconnect:	end an established connection; true if timewait follows, whose end the
 *		transport reports by sdp_conn_timewait_over()
 * @drained:	the queue pair has been drained: wait for what may complete yet; optional
 * @destroy:	drop the handle, wait for handlers; rejects an unfinished handshake
 *
 * All are called in process context with no lock held but sdp_cm_mutex
 * (@listen, @relisten, @unlisten).
 */
struct sdp_cm_ops {
	const char *name;
	bool per_net;
	bool one_shot;
	bool reads;
	bool (*usable)(struct ib_device *ib);
	void *(*listen)(struct sdp_dev *dev, struct net *net, u16 port);
	void (*relisten)(void *handle);
	void (*unlisten)(void *handle);
	int (*connect)(struct sdp_conn *conn, struct rdma_cm_id *route);
	void (*request)(struct sdp_conn *conn);
	void (*early)(struct sdp_conn *conn);
	bool (*disconnect)(struct sdp_conn *conn);
	void (*drained)(struct sdp_conn *conn);
	void (*destroy)(struct sdp_conn *conn);
};

extern const struct sdp_cm_ops sdp_cm_ib;
extern const struct sdp_cm_ops sdp_cm_iw;

/**
 * enum sdp_refusal - why a request is refused, as far as the peer is told
 * @SDP_REFUSED_CLOSED:	nobody listens there
 * @SDP_REFUSED_BUSY:	there is no room now: to be tried again
 * @SDP_REFUSED_BAD:	the request isn't one that can be accepted
 */
enum sdp_refusal {
	SDP_REFUSED_CLOSED,
	SDP_REFUSED_BUSY,
	SDP_REFUSED_BAD,
};

/**
 * struct sdp_cm_req - a connection request that has arrived
 * @dev:	device, a reference of the caller
 * @cm_id:	the transport's handle of it
 * @net:	namespace it arrived in
 * @ifindex:	interface it arrived on
 * @port:	port asked for
 * @hello:	private data
 * @hello_len:	bytes of it
 * @src:	the peer's address as the path has it, v4-mapped; NULL if it has none
 * @local:	the peer is on this host
 */
struct sdp_cm_req {
	struct sdp_dev		*dev;
	void			*cm_id;
	struct net		*net;
	int			ifindex;
	u16			port;
	const void		*hello;
	u32			hello_len;
	const struct in6_addr	*src;
	bool			local;
};

const struct sdp_cm_ops *sdp_cm_for(struct ib_device *ib);
int sdp_cm_init(void);
void sdp_cm_exit(void);
void sdp_cm_relisten(unsigned long delay);
void sdp_cm_add_device(struct sdp_dev *dev);
void sdp_cm_del_device(struct sdp_dev *dev);
int sdp_cm_listen(struct net *net, u16 port);
void sdp_cm_unlisten(struct net *net, u16 port);

void sdp_cm_hello(struct sdp_conn *conn, void *buf);
void sdp_cm_hello_ack(struct sdp_conn *conn, void *buf);
struct sdp_conn *sdp_cm_request(const struct sdp_cm_req *req, enum sdp_refusal *why);
void sdp_cm_busy(struct sdp_conn *conn);
void sdp_cm_early(struct sdp_conn *conn);
void sdp_cm_work(struct work_struct *work);
u8 sdp_cm_order(const struct sock *sk);
int sdp_cm_replied(struct sdp_conn *conn, const void *hello_ack, u32 len);

bool sdp_addr_is_local(struct net *net, const struct in6_addr *a);
void sdp_set_sockaddr(struct sockaddr_storage *ss, const struct in6_addr *addr, int scope);
bool sdp_on_rdma_device(struct net *net, const struct in6_addr *addr, int scope,
			const struct ib_device *ib);
int sdp_resolve(struct sdp_conn *conn);

#endif /* _SDP_CM_H */
