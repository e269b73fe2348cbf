// SPDX-License-Identifier: GPL-2.0
/* Output: a table for people, JSON for programs. */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../json.h"
#include "owner.h"
#include "show.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* "[address]:port" at most */
#define END_MAX		(INET6_ADDRSTRLEN + 16)

static const char *name_of(const char *const *names, size_t n, unsigned int i)
{
	return i < n ? names[i] : "unknown";
}

static const char *mode_name(unsigned int mode)
{
	static const char *const names[] = {
		[SDP_AUTO] = "auto", [SDP_BCOPY] = "bcopy", [SDP_ZCOPY] = "zcopy", [SDP_AZ] = "az",
		[SDP_ZCOPY_W] = "zcopy-w",
	};

	return name_of(names, ARRAY_SIZE(names), mode);
}

static const char *flow_name(unsigned int flow)
{
	static const char *const names[] = {
		[SDP_FLOW_BUFFERED] = "buffered", [SDP_FLOW_COMBINED] = "combined",
		[SDP_FLOW_PIPELINED] = "pipelined",
	};

	return name_of(names, ARRAY_SIZE(names), flow);
}

/* Why a socket has become TCP's */
static const char *fallback_name(unsigned int reason)
{
	static const char *const names[] = {
		[SDP_FALLBACK_NONE] = "none", [SDP_FALLBACK_POLICY] = "policy",
		[SDP_FALLBACK_CACHED] = "cached", [SDP_FALLBACK_NO_DEVICE] = "no-device",
		[SDP_FALLBACK_NO_ROUTE] = "no-route", [SDP_FALLBACK_REFUSED] = "refused",
		[SDP_FALLBACK_TIMEOUT] = "timeout", [SDP_FALLBACK_BUSY] = "busy",
		[SDP_FALLBACK_PROTOCOL] = "protocol", [SDP_FALLBACK_LOCAL] = "local",
	};

	return name_of(names, ARRAY_SIZE(names), reason);
}

static bool is_tcp(const struct sock_info *s)
{
	return s->has_info && s->info.sdpi_transport == SDP_INFO_TCP;
}

static const char *timer_name(unsigned int timer)
{
	static const char *const names[] = {
		[SDP_DIAG_TIMER_NONE]		= "none",
		[SDP_DIAG_TIMER_CONNECT]	= "connect",
		[SDP_DIAG_TIMER_FIN]		= "fin",
		[SDP_DIAG_TIMER_AHEAD]		= "ahead",
	};

	return name_of(names, ARRAY_SIZE(names), timer);
}

/* ---- text ---- */

static void addr_text(char *text, const struct sock_info *s, const __be32 *addr)
{
	inet_ntop(sock_is_v6(s) ? AF_INET6 : AF_INET, addr, text, INET6_ADDRSTRLEN);
}

static void end_text(char *text, const struct sock_info *s, const __be32 *addr, __be16 port)
{
	char host[INET6_ADDRSTRLEN], number[8] = "*";

	addr_text(host, s, addr);
	if (port)
		snprintf(number, sizeof(number), "%u", ntohs(port));
	snprintf(text, END_MAX, sock_is_v6(s) ? "[%s]:%s" : "%s:%s", host, number);
}

/* What carries the connection */
static void device_text(char *text, const struct sock_info *s)
{
	if (is_tcp(s))
		sprintf(text, "tcp:%s", fallback_name(s->info.sdpi_fallback));
	else
		strcpy(text, *s->device ? s->device : "-");
}

/* A process has the name that it likes, which is not to get at the terminal */
static void show_name(const char *name)
{
	for (; *name; name++)
		putchar(isprint((unsigned char)*name) ? *name : '?');
}

static void show_processes(const struct sock_info *s)
{
	size_t n;
	const struct owner *o = owner_find(s->msg.idiag_inode, &n);

	if (!n)
		return;
	printf(" users:(");
	for (size_t i = 0; i < n; i++) {
		printf("%s(\"", i ? "," : "");
		show_name(o[i].comm);
		printf("\",pid=%d,fd=%d)", o[i].pid, o[i].fd);
	}
	printf(")");
}

static void show_extended(const struct sock_info *s)
{
	printf(" uid:%u ino:%u sk:%" PRIx64, s->msg.idiag_uid, s->msg.idiag_inode, sock_cookie(s));
	printf(" entry:%s", s->msg.idiag_family == AF_INET_SDP ||
	       s->msg.idiag_family == AF_INET6_SDP ? "AF_SDP" : "IPPROTO_SDP");
	if (s->has_cgroup)
		printf(" cgroup:%" PRIx64, s->cgroup);
	if (s->has_mark && s->mark)
		printf(" fwmark:0x%x", s->mark);
	if (s->shutdown)
		printf(" shutdown:%s%s", s->shutdown & 1 ? "r" : "", s->shutdown & 2 ? "w" : "");
}

/* There is, or was, a connection whose state and doings are worth telling */
static bool has_conn(const struct sock_info *s)
{
	return s->has_info && s->msg.idiag_state != TCP_LISTEN;
}

static void show_details(const struct sock_info *s)
{
	const struct sdp_info *i = &s->info;

	printf(" mode:%s", mode_name(i->sdpi_mode));
	if (!has_conn(s) || is_tcp(s))
		return;
	printf(" tx:(unsent:%u,unacked:%u,advertised:%u,adverts:%u/%u,credits:%u,size:%u,%s)",
	       i->sdpi_unsent, i->sdpi_unacked, i->sdpi_snd_advertised, i->sdpi_src_adverts,
	       i->sdpi_peer_max_adverts, i->sdpi_snd_credits, i->sdpi_snd_size,
	       flow_name(i->sdpi_snd_flow));
	printf(" rx:(unread:%u,advertised:%u,adverts:%u/%u,reads:%u,credits:%u,posted:%u,size:%u,%s)",
	       i->sdpi_unread, i->sdpi_rcv_advertised, i->sdpi_peer_src_adverts,
	       i->sdpi_max_adverts, i->sdpi_rdma_reads, i->sdpi_rcv_credits, i->sdpi_rcv_posted,
	       i->sdpi_rcv_size, flow_name(i->sdpi_rcv_flow));
	printf("\n\t sent:(bcopy:%llu,direct:%llu,zcopy:%llu,zcopy-w:%llu,messages:%llu,adverts:%llu,refused:%llu)",
	       i->sdpi_snd_bcopy, i->sdpi_snd_direct, i->sdpi_snd_zcopy, i->sdpi_snd_zcopy_w,
	       i->sdpi_snd_data, i->sdpi_src_avail_sent, i->sdpi_sendsm_rcvd);
	printf(" received:(bcopy:%llu,zcopy:%llu,zcopy-w:%llu,ahead:%llu,messages:%llu,adverts:%llu,refused:%llu)",
	       i->sdpi_rcv_bcopy, i->sdpi_rcv_zcopy, i->sdpi_rcv_zcopy_w, i->sdpi_rcv_ahead,
	       i->sdpi_rcv_data, i->sdpi_src_avail_rcvd, i->sdpi_sendsm_sent);
	if (i->sdpi_az_sends || i->sdpi_az_rcv)
		printf(" az:(sends:%llu,bytes:%llu,protected:%llu,written:%llu,restored:%llu,usec:%llu,received:%llu)",
		       i->sdpi_az_sends, i->sdpi_az_bytes, i->sdpi_az_protected,
		       i->sdpi_az_written, i->sdpi_az_restored, i->sdpi_az_usec, i->sdpi_az_rcv);
}

static void show_memory(const struct sock_info *s)
{
	if (s->has_mem)
		printf(" skmem:(r%u,rb%u,t%u,tb%u,f%u,w%u,o%u,bl%u,d%u)",
		       s->mem[SK_MEMINFO_RMEM_ALLOC], s->mem[SK_MEMINFO_RCVBUF],
		       s->mem[SK_MEMINFO_WMEM_ALLOC], s->mem[SK_MEMINFO_SNDBUF],
		       s->mem[SK_MEMINFO_FWD_ALLOC], s->mem[SK_MEMINFO_WMEM_QUEUED],
		       s->mem[SK_MEMINFO_OPTMEM], s->mem[SK_MEMINFO_BACKLOG],
		       s->mem[SK_MEMINFO_DROPS]);
}

static void show_timer(const struct sock_info *s)
{
	if (s->msg.idiag_timer)
		printf(" timer:(%s,%.1fs)", timer_name(s->msg.idiag_timer),
		       s->msg.idiag_expires / 1000.0);
}

static void show_line(const struct sock_info *s, const struct show *show, const int *width)
{
	const struct inet_diag_sockid *id = &s->msg.id;
	char local[END_MAX], peer[END_MAX], device[sizeof(s->device)];

	end_text(local, s, id->idiag_src, id->idiag_sport);
	end_text(peer, s, id->idiag_dst, id->idiag_dport);
	device_text(device, s);
	printf("%-11s %9u %9u %*s %*s %-10s", filter_state_name(s->msg.idiag_state),
	       s->msg.idiag_rqueue, s->msg.idiag_wqueue, width[0], local, width[1], peer, device);
	if (show->timers)
		show_timer(s);
	if (show->processes)
		show_processes(s);
	if (show->extended)
		show_extended(s);
	if (show->memory)
		show_memory(s);
	if (show->details) {
		printf("\n\t");
		show_details(s);
	}
	putchar('\n');
}

static void widen(int *width, const char *text)
{
	int len = strlen(text);

	if (len > *width)
		*width = len;
}

void show_text(const struct sock_list *list, const struct show *show)
{
	static const char local_title[] = "Local Address:Port", peer_title[] = "Peer Address:Port";
	int width[2] = { sizeof(local_title) - 1, sizeof(peer_title) - 1 };
	char text[END_MAX];

	for (size_t i = 0; i < list->n; i++) {
		const struct inet_diag_sockid *id = &list->v[i].msg.id;

		end_text(text, &list->v[i], id->idiag_src, id->idiag_sport);
		widen(&width[0], text);
		end_text(text, &list->v[i], id->idiag_dst, id->idiag_dport);
		widen(&width[1], text);
	}
	if (!show->no_header)
		printf("%-11s %9s %9s %*s %*s Device\n", "State", "Recv-Q", "Send-Q",
		       width[0], local_title, width[1], peer_title);
	for (size_t i = 0; i < list->n; i++)
		show_line(&list->v[i], show, width);
}

/* ---- JSON ---- */

static void json_end(const char *name, const struct sock_info *s, const __be32 *addr, __be16 port)
{
	char host[INET6_ADDRSTRLEN];

	addr_text(host, s, addr);
	printf("\"%s\":{\"address\":\"%s\",\"port\":%u},", name, host, ntohs(port));
}

static void json_info(const struct sdp_info *i)
{
	printf(",\"mode\":\"%s\",\"zcopy_thresh\":%u,\"peer_caps\":%u", mode_name(i->sdpi_mode),
	       i->sdpi_zcopy_thresh, i->sdpi_peer_caps);
	printf(",\"transport\":\"%s\",\"fallback\":\"%s\"",
	       i->sdpi_transport == SDP_INFO_TCP ? "tcp" : "sdp", fallback_name(i->sdpi_fallback));
	printf(",\"tx\":{\"unsent\":%u,\"unacked\":%u,\"advertised\":%u,\"adverts\":%u,\"max_adverts\":%u,\"credits\":%u,\"size\":%u,\"flow\":\"%s\"}",
	       i->sdpi_unsent, i->sdpi_unacked, i->sdpi_snd_advertised, i->sdpi_src_adverts,
	       i->sdpi_peer_max_adverts, i->sdpi_snd_credits, i->sdpi_snd_size,
	       flow_name(i->sdpi_snd_flow));
	printf(",\"rx\":{\"unread\":%u,\"advertised\":%u,\"adverts\":%u,\"max_adverts\":%u,\"reads\":%u,\"credits\":%u,\"posted\":%u,\"size\":%u,\"flow\":\"%s\"}",
	       i->sdpi_unread, i->sdpi_rcv_advertised, i->sdpi_peer_src_adverts,
	       i->sdpi_max_adverts, i->sdpi_rdma_reads, i->sdpi_rcv_credits, i->sdpi_rcv_posted,
	       i->sdpi_rcv_size, flow_name(i->sdpi_rcv_flow));
	printf(",\"sent\":{\"bcopy\":%llu,\"direct\":%llu,\"zcopy\":%llu,\"zcopy_w\":%llu,\"messages\":%llu,\"adverts\":%llu,\"cancels\":%llu,\"refused\":%llu}",
	       i->sdpi_snd_bcopy, i->sdpi_snd_direct, i->sdpi_snd_zcopy, i->sdpi_snd_zcopy_w,
	       i->sdpi_snd_data, i->sdpi_src_avail_sent, i->sdpi_src_cancel_sent,
	       i->sdpi_sendsm_rcvd);
	printf(",\"received\":{\"bcopy\":%llu,\"zcopy\":%llu,\"zcopy_w\":%llu,\"ahead\":%llu,\"messages\":%llu,\"adverts\":%llu,\"cancels\":%llu,\"refused\":%llu,\"reads\":%llu}",
	       i->sdpi_rcv_bcopy, i->sdpi_rcv_zcopy, i->sdpi_rcv_zcopy_w, i->sdpi_rcv_ahead,
	       i->sdpi_rcv_data, i->sdpi_src_avail_rcvd, i->sdpi_src_cancel_rcvd,
	       i->sdpi_sendsm_sent, i->sdpi_reads);
	printf(",\"az\":{\"sends\":%llu,\"bytes\":%llu,\"protected\":%llu,\"written\":%llu,\"restored\":%llu,\"usec\":%llu,\"received\":%llu}",
	       i->sdpi_az_sends, i->sdpi_az_bytes, i->sdpi_az_protected, i->sdpi_az_written,
	       i->sdpi_az_restored, i->sdpi_az_usec, i->sdpi_az_rcv);
}

static void json_memory(const uint32_t *mem)
{
	static const char *const names[SK_MEMINFO_VARS] = {
		[SK_MEMINFO_RMEM_ALLOC]		= "rmem_alloc",
		[SK_MEMINFO_RCVBUF]		= "rcvbuf",
		[SK_MEMINFO_WMEM_ALLOC]		= "wmem_alloc",
		[SK_MEMINFO_SNDBUF]		= "sndbuf",
		[SK_MEMINFO_FWD_ALLOC]		= "fwd_alloc",
		[SK_MEMINFO_WMEM_QUEUED]	= "wmem_queued",
		[SK_MEMINFO_OPTMEM]		= "optmem",
		[SK_MEMINFO_BACKLOG]		= "backlog",
		[SK_MEMINFO_DROPS]		= "drops",
	};

	printf(",\"memory\":{");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		printf("%s\"%s\":%u", i ? "," : "", names[i], mem[i]);
	printf("}");
}

static void json_processes(const struct sock_info *s)
{
	size_t n;
	const struct owner *o = owner_find(s->msg.idiag_inode, &n);

	printf(",\"processes\":[");
	for (size_t i = 0; i < n; i++) {
		printf("%s{\"name\":", i ? "," : "");
		json_string(o[i].comm);
		printf(",\"pid\":%d,\"fd\":%d}", o[i].pid, o[i].fd);
	}
	printf("]");
}

static void json_sock(const struct sock_info *s)
{
	const struct inet_diag_msg *m = &s->msg;

	printf("{\"family\":%u,\"state\":\"%s\",", m->idiag_family,
	       filter_state_name(m->idiag_state));
	json_end("local", s, m->id.idiag_src, m->id.idiag_sport);
	json_end("peer", s, m->id.idiag_dst, m->id.idiag_dport);
	printf("\"interface\":%u,\"recv_q\":%u,\"send_q\":%u,\"uid\":%u,\"inode\":%u,\"cookie\":%" PRIu64,
	       m->id.idiag_if, m->idiag_rqueue, m->idiag_wqueue, m->idiag_uid, m->idiag_inode,
	       sock_cookie(s));
	printf(",\"shutdown\":%u", s->shutdown);
	if (*s->device) {
		printf(",\"device\":");
		json_string(s->device);
		printf(",\"device_port\":%u", s->device_port);
	}
	if (m->idiag_timer)
		printf(",\"timer\":{\"name\":\"%s\",\"ms\":%u}", timer_name(m->idiag_timer),
		       m->idiag_expires);
	if (s->has_mark)
		printf(",\"mark\":%u", s->mark);
	if (s->has_cgroup)
		printf(",\"cgroup\":%" PRIu64, s->cgroup);
	if (s->has_info)
		json_info(&s->info);
	if (s->has_mem)
		json_memory(s->mem);
}

void show_json(const struct sock_list *list, bool processes)
{
	printf("{\"sockets\":[");
	for (size_t i = 0; i < list->n; i++) {
		printf("%s\n", i ? "," : "");
		json_sock(&list->v[i]);
		if (processes)
			json_processes(&list->v[i]);
		printf("}");
	}
	printf("\n]}\n");
}
