# SPDX-License-Identifier: GPL-2.0
# Regions, memory from mmap() on an SDP socket: what an address space may do with them; programs
# that write to what they send, under both policies; and that touch what recv() hasn't waited for.
# topology: one
# time: 200
# shellcheck shell=bash disable=SC2119,SC2086
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

region() { within 30 sdp_region "$LAB_IP" "$1"; }

# ---- the address space ----

check "what mmap() takes, mprotect(), madvise()" region map
check "fork() shares it" region fork
check "munmap() of a part, mremap()" region unmap
check "/proc/PID/mem, files, pipes" region kernel
check "RLIMIT_MEMLOCK" as_nobody "$BUILD/sdp_region" "$LAB_IP" limit

# ---- sending ----

stat_mark
check "policy cow: a writer gets a copy" region cow
equal "... of each page it writes to" "$(stat_delta AzRegionCopies)" 2
equal "... without waiting" "$(stat_delta AzBlocked)" 0
stat_mark
check "policy block: a writer waits" region block
equal "... once" "$(stat_delta AzBlocked)" 1
stat_mark
check "... a second at most, if the peer doesn't read" region patience
equal "... and then gets a copy" "$(stat_delta AzBlockedLong) $(stat_delta AzRegionCopies)" "1 64"
stat_mark
check "... whatever signals come meanwhile" region nagged
equal "... and then gets a copy" "$(stat_delta AzBlockedLong) $(stat_delta AzRegionCopies)" "1 64"
stat_mark
check "... not if it can't: /proc/PID/mem" region mem
equal "... which is copied at once" "$(stat_delta AzBlocked) $(stat_delta AzRegionCopies)" "0 1"
check "two sends of the same pages" region twice
modprobe -q loop
truncate -s 1M "$TMP/disk"
disk=$(losetup --show -f "$TMP/disk")
stat_mark
check "direct I/O, from and to what is being sent" within 30 sdp_region "$LAB_IP" direct "$disk"
at_least "... which isn't sent so while it is read into" "$(stat_delta AzNoRefs)" 1
losetup -d "$disk"
check "no fixed buffers of io_uring" region fixed
stat_mark
check "data sent again and again" region resend
equal "... is protected once" "$(stat_delta AzFlushes)" 1
equal "... and not copied" "$(stat_delta SendCopied)" 0
check "munmap() in flight" region gone
check "a writer killed while it waits" region killed

# hammer NAME MEGABYTES [sdp_az options] [trouble]
hammer() {
	local name=$1 mb=$2; shift 2
	stat_mark
	check "$name" within 60 sdp_az -W $((50 * SLOW)) -b $((mb * 1048576 / (SLOW > 1 ? 4 : 1))) "$@" \
		"$LAB_IP" $trouble
	note "$(stat_delta AzBytes) bytes; pages copied: $(stat_delta AzRegionCopies), waits:" \
		"$(stat_delta AzBlocked); refused: $(stat_delta AzNoRefs)"
	at_least "... from pages protected" "$(stat_delta AzBytes)" \
		$(($(stat_delta SendBytes) * most / 100))
}
for policy in cow block; do
	most=50 trouble=
	hammer "$policy: a program that scribbles over what it sends" 8 -M $policy
	hammer "$policy: one region sent on two connections" 4 -M $policy -F -P 2
	most=10 trouble="mem mlock soft"
	hammer "$policy: trouble: $trouble" 4 -M $policy -P 2
	trouble=unmap
	hammer "$policy: trouble: $trouble" 4 -M $policy
	trouble=
	for e in exit exec kill; do
		hammer "$policy: the sender's $e right after send()" 1 -M $policy -e $e
	done
done

# ---- receiving ----

stat_mark
check "recv() doesn't wait, who touches a page does" region recv
note "$(stat_delta AzRecvs) reads of $(stat_delta AzRecvBytes) bytes, faults that waited:" \
	"$(stat_delta AzAwaited); bytes copied: $(stat_delta RecvCopied)"
at_least "... for all of it" "$(stat_delta AzRecvBytes)" $((8 << 20))
at_most "... nothing is copied but the go-aheads" "$(stat_delta RecvCopied)" 8
# 6.1's soft-RoCE has read all before that; peer-zcopy has peers that lose what they advertise
lost="lost:the sender resets the connection"
[[ $LAB_KV != 6.1.* ]] || lost=
for c in "signal:signals while pages are waited for" "look:system calls and debuggers look" \
	"forward:it is sent on at once, and received into while that lasts" \
	"pieces:pieces of all sizes, anywhere" "change:fork(), close(), munmap(), mremap()" \
	"end:the receiver exits, is killed, calls exec()" ${lost:+"$lost"}; do
	stat_mark
	check "${c#*:}" region "${c%%:*}"
	note "bytes not waited for: $(stat_delta AzRecvBytes), faults that waited: $(stat_delta AzAwaited)," \
		"pages lost: $(stat_delta AzLost)"
done
stat_mark
check "off by default" region default
equal "... recv() waits" "$(stat_delta AzRecvs)" 0
sysctl -qw net.sdp.az_recv=1
check "net.sdp.az_recv" region default
at_least "... it doesn't wait" "$(stat_delta AzRecvs)" 1
stat_mark
check "SDP_AZ_RECV 0 all the same" region never
equal "... it waits" "$(stat_delta AzRecvs)" 0
sysctl -qw net.sdp.az_recv=0

# ---- malloc() ----

# by_malloc KIND TEST, as_limited KILOBYTES KIND TEST: see sdp_malloc.c
by_malloc() { within 40 env LD_PRELOAD="$BUILD/libsdp_malloc.so" sdp_malloc "$@"; }
as_limited() {
	(ulimit -l "$1" && as_nobody env LD_PRELOAD="$BUILD/libsdp_malloc.so" "$BUILD/sdp_malloc" "${@:2}")
}
for t in "blocks:the functions that give memory" "full:more than there is" "fork:fork()" \
	"threads:threads and children" "exec:programs that are started"; do
	check "libsdp_malloc: ${t#*:}" by_malloc region "${t%%:*}"
done
# It gets memory, and forks, before and after others do who are loaded later
with_handlers() {
	within 40 env LD_PRELOAD="$BUILD/libsdp_malloc.so $BUILD/atfork.so" LIBSDP_MALLOC_SIZE=8M \
		LIBSDP_MALLOC_LOG=1 sdp_malloc "$@"
}
check "... beside a library whose fork() handlers use malloc()" with_handlers region fork
check "... which doesn't get it before its settings are known" with_handlers region 8M
check "... less than wanted with RLIMIT_MEMLOCK" as_limited 20000 region blocks
check "... none with hardly any" as_limited 900 libc blocks
says() { LIBSDP_MALLOC_SIZE=3x LD_PRELOAD=$BUILD/libsdp_malloc.so /bin/true 2>&1; }
equal "... a wrong size is told of" "$(says)" \
	"libsdp_malloc: LIBSDP_MALLOC_SIZE is no number of bytes such as 64M, or out of range: ignored"
sysctl -qw net.sdp.az_thresh=65536 net.sdp.az_policy=1 net.sdp.az_recv=1
stat_mark
check "... a program that knows nothing of it" within 60 sdp_run -m -p sdp \
	sdp_xfer -f tcp --self -q -w $((50 * SLOW)) -P 2 -b 16M -S 64K:1M -v 1 "$LAB_IP"
note "$(stat_delta AzBytes) bytes sent from pages protected, $(stat_delta AzRecvBytes) received" \
	"without waiting; $(stat_delta AzBlocked) writers waited, $(stat_delta AzRegionCopies) pages copied"
at_least "... its buffers are sent so" "$(stat_delta AzBytes)" $((4 << 20))
at_least "... and received into" "$(stat_delta AzRecvBytes)" $((1 << 20))
sysctl -qw net.sdp.az_thresh=0 net.sdp.az_policy=0 net.sdp.az_recv=0

sdp_unload
check "libsdp_malloc without the module: libc's" by_malloc libc blocks
sdp_load
