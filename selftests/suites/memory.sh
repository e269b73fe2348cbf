# SPDX-License-Identifier: GPL-2.0
# What net.sdp.mem allows all sockets together: with little, streams go on; with next to
# nothing, connections can't be made; and all is well again when there is more.
# topology: one
# time: 60
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# protocols COLUMN: of /proc/net/protocols, where both kinds of sockets share memory and pressure
protocols() { awk -v c="$1" '$1 == "SDP" { print $c }' /proc/net/protocols; }
pressed() { [ "$(protocols 5)" = yes ]; }
mb=$((SLOW > 1 ? 2 : 8))
xfer() { within 30 sdp_xfer --self "$LAB_IP" -q -w $((25 * SLOW)) -P 8 -b $((mb << 17)) "$@"; }

mem=$(sysctl -n net.sdp.mem)
# Eight connections' sixteen ends have 96 pages when they are idle
sysctl -qw net.sdp.mem="110 140 400"
bg pressed until_true 20 pressed
check "streams go on when all have 400 pages" xfer
check "... which is pressure" bg_wait pressed
sysctl -qw net.sdp.mem="1 2 3"
check_fails "no connection without memory" 1 xfer
sysctl -qw net.sdp.mem="$mem"
check "streams go on when there is enough" xfer
equal "no pressure then" "$(protocols 5)" no
# Each processor may keep a megabyte in reserve, of TCP's too
at_most "all of it has been given back" "$(protocols 4)" $((256 * $(nproc)))
