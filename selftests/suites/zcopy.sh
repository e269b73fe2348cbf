# SPDX-License-Identifier: GPL-2.0
# Zero copy between two sockets: streams of all shapes verified, how much was copied, limits
# (memory regions, RLIMIT_MEMLOCK), and that nothing is left: regions, pins, locked pages.
# topology: one
# time: 390
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit
# From the smallest size on that is said to do without copies; and send() is to wait, suite az has
# the one that doesn't
sysctl -qw net.sdp.zcopy_thresh=65536 net.sdp.az_thresh=0
# Pins of all of the machine that are still held
pins() { awk '/^nr_foll_pin_acquired/ { n += $2 } /^nr_foll_pin_released/ { n -= $2 } END { print n + 0 }' /proc/vmstat; }
pinned=$(pins)

# xfer NAME MEGABYTES CONNECTIONS [sdp_xfer options]
xfer() {
	local name=$1 mb=$2 n=$3 bytes; shift 3
	bytes=$((mb * 1048576 / (SLOW > 1 ? 8 : 2) / 2 / n))
	check "$name" within 100 sdp_xfer --self "$LAB_IP" -q -w $((30 * SLOW)) -P "$n" -b $bytes "$@"
}
read_ahead() { sysctl -qw net.sdp.read_ahead="$1"; }

# ---- streams ----

set_mode 2
stat_mark
xfer "1 MB calls, one connection" 128 1 -S 1M:1M -v 1
xfer "1 byte to 4 MB in up to 8 pieces, 4 connections" 128 4 --seed 21
xfer "200 bytes to 20 KB, 4 connections" 32 4 -S 200:20K --seed 22
xfer "the peer polls" 64 4 -m epoll --seed 23
xfer "smallest socket buffers" 32 2 --sndbuf 1 --rcvbuf 1 --seed 24
read_ahead 0
xfer "never read ahead" 64 4 --seed 25
read_ahead 2
ahead=$(stat_delta RecvAhead)
xfer "read ahead behind a recv()" 32 2 -S 300K:2M --seed 26
at_least "... really" "$(($(stat_delta RecvAhead) - ahead))" 1
read_ahead 1
equal "counted: as many received as sent" "$(stat_delta RecvBytes)" "$(stat_delta SendBytes)"
equal "no connection was reset" "$(stat_delta Resets) $(stat_delta AbortsSent)" "0 0"

# A send() that may not wait can't be one that waits for the peer
stat_mark
xfer "non-blocking sends" 16 2 -m epoll -S 1M:1M --seed 28
equal "... are copied" "$(stat_delta SrcAvailSent) $(stat_delta SendZcopy)" "0 0"

# The same where receivers advertise
set_mode 4
stat_mark
xfer "sinks: 1 MB calls, one connection" 64 1 -S 1M:1M -v 1
xfer "sinks: 1 byte to 4 MB in up to 8 pieces, 4 connections" 64 4 --seed 31
xfer "sinks: 200 bytes to 20 KB, 2 connections" 8 2 -S 200:20K --seed 32
xfer "sinks: the peer polls" 32 4 -m epoll --seed 33
xfer "sinks: smallest socket buffers" 16 2 --sndbuf 1 --rcvbuf 1 --seed 34
equal "sinks: as many bytes received as sent" "$(stat_delta RecvBytes)" "$(stat_delta SendBytes)"
equal "sinks: as many written as received so" "$(stat_delta RecvZcopyW)" "$(stat_delta SendZcopyW)"
at_least "sinks: they are used" "$(stat_delta SendZcopyW)" 1
equal "sinks: no connection was reset" "$(stat_delta Resets) $(stat_delta AbortsSent)" "0 0"
set_mode 0

# ---- what is copied ----

for size in 65536 262144 1048576 4194304; do
	check "aligned sends of $size bytes into a recv() that waits are copied nowhere" \
		copies none $size 8
done
check "... nor do they cost more memory regions the more there are" copies none 65536 200
set_mode 4
stat_mark
for size in 65536 1048576 4194304; do
	check "sinks: neither are $size bytes written to it" copies none $size 8
done
at_least "sinks: that is what they were" "$(stat_delta SendZcopyW)" $((4194304 * 4))
check "sinks: nor are more regions used" copies none 65536 100
set_mode 0
check "sinks by themselves, where receivers wait first" within 60 \
	python3 -B "$LAB_TREE/selftests/zcopy_sinks.py" "$LAB_IP"
set_mode 1
check "none of them when copying is forced" copies all 262144 4
set_mode 0
sysctl -qw net.sdp.zcopy_thresh=0
check "... or the threshold is 0" copies all 262144 4
sysctl -qw net.sdp.zcopy_thresh=524288
check "... or above the size" copies all 262144 4
check "but not at the size" copies none 524288 4
sysctl -qw net.sdp.zcopy_thresh=65536

# ---- memory that isn't a plain buffer ----

for kind in anonymous huge hugetlb shared file private-file read-only device; do
	check "memory: $kind" within 60 \
		python3 -B "$LAB_TREE/selftests/zcopy_memory.py" "$LAB_IP" $kind
done

check "memory: the page cache, by sendfile() and splice()" within 60 \
	python3 -B "$LAB_TREE/selftests/zcopy_sendfile.py" "$LAB_IP"

check "a send() of a gigabyte" within 100 python3 -B "$LAB_TREE/selftests/zcopy_big.py" "$LAB_IP"
check "SDP_MODE changed at both ends while data flows" within 60 \
	python3 -B "$LAB_TREE/selftests/zcopy_modes.py" "$LAB_IP"

check "MSG_ZEROCOPY: told of once, when it is free" within 60 \
	python3 -B "$LAB_TREE/selftests/zcopy_async.py" "$LAB_IP"

# The kernel's own test of MSG_ZEROCOPY, its TCP sockets made ours (selftests/kernel)
# ktest 4|6 ADDRESS [OPTIONS]: as many notifications as sends, and no complaint
ktest() {
	local v=$1 addr=$2 rc=0
	shift 2
	bg krx msg_zerocopy "-$v" -t $((3 * SLOW)) -S "$addr" -D "$addr" -r tcp
	until_true 10 listening 8000 || return
	within 30 msg_zerocopy "-$v" -t 2 -S "$addr" -D "$addr" "$@" tcp 2>&1 || rc=$?
	bg_wait krx 60 && [ $rc = 0 ]
}
told() {
	local out
	out=$(ktest "$@" -z) || { echo "$out"; return 1; }
	echo "$out"
	[[ $out =~ tx=([0-9]+)\ .*\ txc=([0-9]+)\ zc=y ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
}
kernel_test() {
	command -v msg_zerocopy >/dev/null || { echo "not built: build/msg_zerocopy"; return 4; }
	"$@"
}
check "the kernel's msg_zerocopy, without -z" kernel_test ktest 4 "$LAB_IP"
check "... with it" kernel_test told 4 "$LAB_IP"
# Each send that isn't over yet has a notification of its own, and the test takes no ENOBUFS
optmem=$(sysctl -n net.core.optmem_max)
sysctl -qw net.core.optmem_max=1048576
check "... IPv6, small sends" kernel_test told 6 "$LAB_IP6" -s 2000
check "... notifications looked for late" kernel_test told 4 "$LAB_IP" -l 64
sysctl -qw net.core.optmem_max="$optmem"

stat_mark
check "io_uring: send_zc, sendmsg_zc, registered buffers, recv" within 60 sdp_uring "$LAB_IP"
at_least "... which don't copy what they send" "$(stat_delta SendZcopy)" $((3 << 20))
at_least "... nor what they receive" "$(stat_delta RecvZcopy)" $((1 << 20))

# ---- limits ----

no_mrs() { [ "$(rdma_count mr)" = 0 ]; }
mr_max() { echo "$1" >/sys/module/sdp/parameters/mr_max; }
stat_mark
mr_max 0
until_true 30 no_mrs
xfer "a device without memory regions" 16 2 -S 100K:1M --seed 26
equal "... sends nothing by RDMA" "$(stat_delta SendZcopy)" 0
at_least "... and says so" "$(stat_delta ZcopyNoMr)" 1
mr_max 3
xfer "one with three" 16 4 -S 100K:1M --seed 27
mr_max 1024
# shellcheck disable=SC2016
check "a user beyond RLIMIT_MEMLOCK" as_nobody bash -c 'ulimit -l 64; exec "$@"' - \
	python3 -B "$LAB_TREE/selftests/zcopy_pair.py" "$LAB_IP" all 262144 4
check "a user within it" as_nobody \
	python3 -B "$LAB_TREE/selftests/zcopy_pair.py" "$LAB_IP" none 262144 4
# shellcheck disable=SC2016
check "... who is charged for what is in flight only" as_nobody bash -c 'ulimit -l 700; exec "$@"' - \
	python3 -B "$LAB_TREE/selftests/zcopy_pair.py" "$LAB_IP" none 262144 40

# ---- trouble ----

check "signals, timeouts, fork, munmap, mremap, mprotect while it goes on" within 60 \
	python3 -B "$LAB_TREE/selftests/zcopy_trouble.py" "$LAB_IP" $((SLOW > 1 ? 5 : 8))
set_mode 4
check "... with sinks" within 60 \
	python3 -B "$LAB_TREE/selftests/zcopy_trouble.py" "$LAB_IP" 5
set_mode 0

# killed WHO TIMES: kill -9 of one end in the middle of it; the other one ends by itself
killed() {
	local i other=server
	[ "$1" = client ] || other=client
	for ((i = 0; i < $2; i++)); do
		bg server sdp_xfer -q -s -p 7500 -w $((60 * SLOW)) "$LAB_IP"
		until_true 10 listening 7500 || return 1
		bg client sdp_xfer -q -p 7500 -P 2 -b 1G -S 100K:2M -w $((60 * SLOW)) "$LAB_IP"
		until_true 20 connected 2 || return 1
		sleep 0.$((3 + i % 5))
		bg_kill "$1"
		bg_fails $other 30 || return 1
	done
	until_true 20 none_left
}
# connected N: there are so many connections, both ends of them
connected() { [ "$(awk '$NF == 1' /proc/net/sdp | wc -l)" = $((2 * $1)) ]; }
set_mode 2
check "a sender and receiver killed in the middle: client" killed client 2
check "... server" killed server 2
set_mode 4
check "sinks: killed in the middle: client" killed client 2
check "sinks: ... server" killed server 2
set_mode 2

# The device goes in the middle; programs get an error and end
pulled() {
	bg both sdp_xfer -q --self -P 3 -b 1G -S 100K:2M -w $((90 * SLOW)) "$LAB_IP"
	until_true 20 connected 3 || return 1
	sleep 1
	unplug && plug || return 1
	bg_fails both 60 || return 1
	until_true 20 back
}
back() { sdp_xfer --self -q -P 1 -b 1M -S 1M:1M "$LAB_IP"; }
for mode in 2 4; do
	set_mode $mode
	check "mode $mode: the device removed in the middle, and back" pulled
done
set_mode 0

stream_ends=(python3 -B "$LAB_TREE/selftests/stream_ends.py" "$LAB_IP")
stream_pulled() {
	bg stream "${stream_ends[@]}" "$1" device
	bg_ready stream going 30 || return 1
	unplug && plug || return 1
	bg_wait stream 60 || { cat "$TMP/stream.log"; return 1; }
	until_true 20 back
}
for kind in sendfile zerocopy az; do
	check "$kind: the reader killed in the middle" within 60 "${stream_ends[@]}" $kind killed
	check "$kind: the device removed in the middle" stream_pulled $kind
done

check "memory regions not used for a while are given back" until_true 40 no_mrs
unpinned() { [ "$(pins)" = "$pinned" ]; }
check "no page stays pinned" until_true 20 unpinned

sysctl -qw net.sdp.zcopy_thresh=131072
