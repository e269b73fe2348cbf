/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels this module builds for, in one place. The
 * other files are written for the newest one.
 */
#ifndef _SDP_COMPAT_H
#define _SDP_COMPAT_H

#include <linux/version.h>
#include <linux/bpf-cgroup.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/sysctl.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/net_namespace.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#include <net/proto_memory.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "sdp needs Linux 6.1 or later"
#endif

/* 6.7: BPF programs of a cgroup may change an address's length */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define sdp_bpf_connect4(sk, uaddr, len) ((void)(len), BPF_CGROUP_RUN_PROG_INET4_CONNECT(sk, uaddr))
#define sdp_bpf_connect6(sk, uaddr, len) ((void)(len), BPF_CGROUP_RUN_PROG_INET6_CONNECT(sk, uaddr))
#else
#define sdp_bpf_connect4	BPF_CGROUP_RUN_PROG_INET4_CONNECT
#define sdp_bpf_connect6	BPF_CGROUP_RUN_PROG_INET6_CONNECT
#endif

/* 6.10: accept() takes its arguments in a struct */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define SDP_ACCEPT_ARGS		int sdp_accept_flags, bool sdp_accept_kern
#define SDP_ACCEPT_FLAGS	sdp_accept_flags
#define SDP_ACCEPT_PASS		sdp_accept_flags, sdp_accept_kern
#define SDP_ACCEPT_KERN		sdp_accept_kern
#define sdp_ops_accept(ops, sock, newsock, flags, kern) ((ops)->accept(sock, newsock, flags, kern))
#else
#define SDP_ACCEPT_ARGS		struct proto_accept_arg *sdp_accept_arg
#define SDP_ACCEPT_FLAGS	(sdp_accept_arg->flags)
#define SDP_ACCEPT_PASS		sdp_accept_arg
#define SDP_ACCEPT_KERN		(sdp_accept_arg->kern)
#define sdp_ops_accept(ops, sock, newsock, aflags, akern)				\
	((ops)->accept(sock, newsock,							\
		       &(struct proto_accept_arg) { .flags = aflags, .kern = akern }))
#endif

/* 6.4: a protocol can have SOL_SOCKET's options for itself */
#ifndef SOCK_CUSTOM_SOCKOPT
#define SDP_SOCKOPTS_OURS	0
#define sdp_own_sockopts(sock)	do { } while (0)
#define sdp_disown_sockopts(sock) do { } while (0)
#else
#define SDP_SOCKOPTS_OURS	1
#define sdp_own_sockopts(sock)	set_bit(SOCK_CUSTOM_SOCKOPT, &(sock)->flags)
#define sdp_disown_sockopts(sock) clear_bit(SOCK_CUSTOM_SOCKOPT, &(sock)->flags)
#endif

/* 6.4: the iovec of an iterator has an accessor */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define iter_iov(iter)		((iter)->iov)
#endif

/*
 * 6.5: pages that may be sent as they are come several at a time, to sendmsg()
 * with MSG_SPLICE_PAGES; before, one at a time to sendpage(), which often knows
 * that the next one follows. Until then programs can set both flags, so they
 * mean nothing in front of a program's memory.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define SDP_SENDPAGE_OPS	.sendpage = sdp_sendpage,
#define MSG_SPLICE_PAGES	0x8000000

int sdp_sendmsg(struct socket *sock, struct msghdr *msg, size_t len);

static inline ssize_t sdp_sendpage(struct socket *sock, struct page *page, int off, size_t len,
				   int flags)
{
	struct msghdr msg = {
		.msg_flags = flags | (flags & MSG_SENDPAGE_NOTLAST ? MSG_MORE : 0) |
			     MSG_SPLICE_PAGES,
	};
	struct bio_vec bvec = { .bv_page = page, .bv_offset = off, .bv_len = len };

	iov_iter_bvec(&msg.msg_iter, WRITE, &bvec, 1, len);
	return sdp_sendmsg(sock, &msg, len);
}
#else
#define SDP_SENDPAGE_OPS
#define MSG_SENDPAGE_NOTLAST	0
#endif

/* 6.6: flags of an inet_sock are bits of a word instead of fields */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define sdp_inet_bit(sk, bit, field)	(inet_sk(sk)->field)
#else
#define sdp_inet_bit(sk, bit, field)	inet_test_bit(bit, sk)
#endif

/* 6.6, 6.7: options of IP and IPv6 that are bits moved into a word with atomic access */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define sdp_init_mc(sk)		(inet_sk(sk)->mc_loop = 1, inet_sk(sk)->mc_all = 1)
#define sdp_init_mc6(sk)	(inet6_sk(sk)->mc_loop = 1, inet6_sk(sk)->mc_all = 1)
#else
#define sdp_init_mc(sk)		(inet_set_bit(MC_LOOP, sk), inet_set_bit(MC_ALL, sk))
#define sdp_init_mc6(sk)	(inet6_set_bit(MC6_LOOP, sk), inet6_set_bit(MC6_ALL, sk))
#endif

/* 6.6: the place of struct ipv6_pinfo in a sock is told, not computed */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define SDP_IPV6_PINFO_OFFSET(type, member)
#else
#define SDP_IPV6_PINFO_OFFSET(type, member) .ipv6_pinfo_offset = offsetof(type, member),
#endif

/* 6.6: sysctl tables are counted; before, an empty entry ends them */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define SDP_SYSCTL_SENTINEL	{ }
#define SDP_SYSCTL_SENTINELS	1
#define sdp_register_sysctl(net, path, table, size) register_net_sysctl(net, path, table)
#else
#define SDP_SYSCTL_SENTINEL
#define SDP_SYSCTL_SENTINELS	0
#define sdp_register_sysctl(net, path, table, size) \
	register_net_sysctl_sz(net, path, table, size)
#endif

/* 6.10: a ubuf_info has operations */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define sdp_ubuf_complete(uarg, success)	((uarg)->callback(NULL, uarg, success))
#else
#define sdp_ubuf_complete(uarg, success)	((uarg)->ops->complete(NULL, uarg, success))
#endif

/* 6.11: sysctl handlers take a const table */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define sdp_ctl_table		struct ctl_table
#else
#define sdp_ctl_table		const struct ctl_table
#endif

/* 6.12: a time stamp may be another socket's doing, which a program can ask not to get */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define SOF_TIMESTAMPING_OPT_RX_FILTER	0
#endif

/*
 * Page tables. What az_track.c does to them was proven on these kernels and
 * this architecture, which also says whether a TLB flush has taken place.
 */
#define SDP_AZ_PROVEN							\
	(IS_ENABLED(CONFIG_X86_64) &&					\
	 (LINUX_VERSION_CODE >> 8 == KERNEL_VERSION(6, 1, 0) >> 8 ||	\
	  LINUX_VERSION_CODE >> 8 == KERNEL_VERSION(6, 12, 0) >> 8))
#ifdef CONFIG_X86
#define sdp_tlb_gen_moves	true
#define sdp_tlb_gen(mm)		((u64)atomic64_read(&(mm)->context.tlb_gen))
#else
#define sdp_tlb_gen_moves	false
#define sdp_tlb_gen(mm)		0ULL
#endif

/* 6.3: zapping several VMAs in a row isn't for modules any more */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define sdp_zap_nothing(vma)	zap_page_range(vma, (vma)->vm_start, 0)
#else
#define sdp_zap_nothing(vma)	zap_page_range_single(vma, (vma)->vm_start, 0, NULL)
#endif

/* 6.3: a VMA's flags are changed by functions */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define sdp_vm_flags_mod(vma, set, clear) ((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(clear))
#else
#define sdp_vm_flags_mod(vma, set, clear) vm_flags_mod(vma, set, clear)
#endif

/* 6.4: faults may take a VMA's own lock instead of the mmap lock */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define sdp_vma_start_write(vma)	do { } while (0)
#define sdp_release_fault_lock(vmf)	mmap_read_unlock((vmf)->vma->vm_mm)
#else
#define sdp_vma_start_write(vma)	vma_start_write(vma)
#define sdp_release_fault_lock(vmf)	release_fault_lock(vmf)
#endif

/* 6.5: nobody wants the VMAs */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define sdp_get_user_pages(addr, n, flags, pages) get_user_pages(addr, n, flags, pages, NULL)
#else
#define sdp_get_user_pages(addr, n, flags, pages) get_user_pages(addr, n, flags, pages)
#endif

/* 6.6: shadow stacks, whose entries look dirty and aren't writable */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define SDP_VM_SHADOW_STACK	0
#define sdp_pte_mkwrite(pte)	pte_mkwrite(pte)
#define sdp_pmd_mkwrite(pmd)	pmd_mkwrite(pmd)
#elif defined(CONFIG_X86)
#define SDP_VM_SHADOW_STACK	VM_SHADOW_STACK
#define sdp_pte_mkwrite(pte)	pte_clear_saveddirty(pte_mkwrite_novma(pte))
#define sdp_pmd_mkwrite(pmd)	pmd_clear_saveddirty(pmd_mkwrite_novma(pmd))
#else
#define SDP_VM_SHADOW_STACK	VM_SHADOW_STACK
#define sdp_pte_mkwrite(pte)	pte_mkwrite_novma(pte)
#define sdp_pmd_mkwrite(pmd)	pmd_mkwrite_novma(pmd)
#endif

/* 6.8: anonymous rmap has a function for each size of mapping */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define sdp_share_pte(folio, page)	page_try_share_anon_rmap(page)
#define sdp_share_pmd(folio, page)	page_try_share_anon_rmap(page)
#else
#define sdp_share_pte(folio, page)	folio_try_share_anon_rmap_pte(folio, page)
#define sdp_share_pmd(folio, page)	folio_try_share_anon_rmap_pmd(folio, page)
#endif

/* 6.11: only folios tell how often they are mapped; for single pages that is the same */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define sdp_mapcount(page)	page_mapcount(page)
#else
#define sdp_mapcount(page)	folio_mapcount(page_folio(page))
#endif

/* 6.11: memory that may be dropped under pressure */
#ifdef VM_DROPPABLE
#define SDP_VM_DROPPABLE	VM_DROPPABLE
#else
#define SDP_VM_DROPPABLE	0
#endif

/* 6.6: an option that asks whether it is MPTCP */
#ifndef TCP_IS_MPTCP
#define TCP_IS_MPTCP		43
#endif

/* 6.7: TCP's authentication option */
#ifndef TCP_AO_ADD_KEY
#define TCP_AO_ADD_KEY		38
#define TCP_AO_REPAIR		42
#endif

#endif /* _SDP_COMPAT_H */
