# SPDX-License-Identifier: GPL-2.0
# What net.sdp.mem allows all sockets together: with little, streams go on, and all is well
# again when there is more. (It isn't exact: each processor has a reserve of a megabyte.) And
# whose memory it is: both ends' is their cgroup's.
# topology: one
# time: 150
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# protocols COLUMN: of /proc/net/protocols, where both kinds of sockets share memory and pressure
protocols() { awk -v c="$1" '$1 == "SDP" { print $c }' /proc/net/protocols; }
xfer() { within 90 sdp_xfer --self "$LAB_IP" -q -w $((80 * SLOW)) -P 8 -b 512K; }

# Sixteen ends have 96 pages when they are idle. Where that is what the kernel's own count may be
# wrong by, a megabyte for each processor, hardly anything could be had, and nothing proven.
wrong=$((256 * $(nproc)))
limits="$((wrong + 200)) $((wrong + 300)) $((wrong + 500))"
mem=$(sysctl -n net.sdp.mem)
sysctl -qw net.sdp.mem="$limits"
for round in 1 2; do check "streams go on when all have few pages ($limits), $round" xfer; done
sysctl -qw net.sdp.mem="$mem"
check "streams go on when there is enough" xfer

# Buffers of idle connections, which have 24 KiB at each end
cg=/sys/fs/cgroup/sdp-memory
cgroup2_mount
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $cg
in_cgroup() { echo $BASHPID >$cg/cgroup.procs; exec "$@"; }
bg open in_cgroup sdp_conns --self -o 100 -i 600 "$LAB_IP"
charged() { [ "$(awk '$1 == "sock" { print $2 }' $cg/memory.stat)" -ge $((180 * 24576)) ]; }
check "the cgroup has both ends' memory" until_true 20 charged
bg_stop open
until_true 10 rmdir $cg
equal "... and nothing is left of it" "$(ls -d $cg 2>/dev/null)" ""
equal "no pressure then" "$(protocols 5)" no
# Each processor may keep a megabyte in reserve, of TCP's too
at_most "all of it has been given back" "$(protocols 4)" $((256 * $(nproc)))
