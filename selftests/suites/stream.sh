# SPDX-License-Identifier: GPL-2.0
# A gigabyte of pseudo-random data, both ways on several connections at once, in calls of
# 1 byte to 4 MB, with all sizes of buffers and ways of waiting; every byte verified.
# topology: one
# time: 300
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

total=0

# xfer NAME MEGABYTES CONNECTIONS ADDRESS [sdp_xfer options]: MEGABYTES in all on both kernels
# together, half each way
xfer() {
	local name=$1 mb=$2 n=$3 addr=$4 bytes; shift 4
	bytes=$((mb * 1048576 / (SLOW > 1 ? 16 : 2) / 2 / n))
	total=$((total + bytes * 2 * n))
	check "$name" within 100 sdp_xfer --self "$addr" -q -w $((30 * SLOW)) -P "$n" -b $bytes "$@"
}

stat_mark
rnr=$(rnr)
xfer "blocking, 4 connections" 256 4 "$LAB_IP"
xfer "poll, 8 connections, IPv6" 160 8 "$LAB_IP6" -m poll --seed 2
xfer "epoll, 16 connections, loopback" 192 16 127.0.0.1 -m epoll --seed 3
xfer "edge-triggered epoll, 4 connections, IPPROTO_SDP" 192 4 "$LAB_IP" -m edge --seed 4 -f ipproto
xfer "smallest socket buffers" 64 4 "$LAB_IP" --sndbuf 1 --rcvbuf 1 --seed 5
xfer "smallest socket buffers, edge-triggered" 32 3 ::1 -m edge --sndbuf 1 --rcvbuf 1 --seed 6
xfer "4 MB socket buffers" 128 2 "$LAB_IP" --sndbuf 4M --rcvbuf 4M --seed 7
xfer "small send buffer, large receive buffer" 32 2 "$LAB_IP" --sndbuf 4K --rcvbuf 4M --seed 8
xfer "large send buffer, small receive buffer" 32 2 "$LAB_IP" --sndbuf 4M --rcvbuf 4K --seed 9
xfer "calls of 1 to 300 bytes" 8 2 "$LAB_IP" -S 1:300 --seed 10
xfer "calls of 1 byte" 1 2 "$LAB_IP" -S 1:1 --seed 11
xfer "calls of 4 MB" 64 1 "$LAB_IP" -S 4M:4M --seed 12

note "$((total >> 20)) MB in $SECONDS s"
[ "$SLOW" != 1 ] || at_least "half a gigabyte has moved, the other half is the other kernel's" $total $((1 << 29))
at_least "counted: bytes of all streams" "$(stat_delta SendBytes)" $total
equal "counted: as many received as sent" "$(stat_delta RecvBytes)" "$(stat_delta SendBytes)"
equal "counted: as many data messages received as sent" "$(stat_delta RecvData)" "$(stat_delta SendData)"
equal "a buffer was there for every message: sdp.ko's word" "$(stat Rnr)" 0
equal "a buffer was there for every message: the device's word" "$(rnr)" "$rnr"
equal "no connection was reset" "$(stat_delta Resets) $(stat_delta AbortsSent)" "0 0"
