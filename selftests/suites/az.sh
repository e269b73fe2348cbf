# SPDX-License-Identifier: GPL-2.0
# AZ-SDP: programs that scribble over what they send, with trouble of all kinds in their address
# space; what is protected, restored and refused; when it is used at all.
# topology: one
# time: 300
# needs: python3
# shellcheck shell=bash disable=SC2119,SC2086
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

knob() { echo "$2" >"/sys/kernel/mm/$1"; }

# hammer NAME MEGABYTES [sdp_az options] [trouble]: and by far the most went from protected pages
hammer() {
	local name=$1 mb=$2; shift 2
	stat_mark
	check "$name" within 100 "${inside[@]}" sdp_az -W $((90 * SLOW)) \
		-b $((mb * 1048576 / (SLOW > 1 ? 4 : 1))) "$@" "$LAB_IP" $trouble
	note "$(stat_delta AzBytes) bytes, $(stat_delta AzWritten) pages written in flight"
	at_least "... from pages protected" "$(stat_delta AzBytes)" \
		$(($(stat_delta SendBytes) * most / 100))
}
most=80 cg=/sys/fs/cgroup/sdp-az
trouble=
inside=()

# Swap in memory, and KSM as fast as it goes
if modprobe -q zram num_devices=1; then
	echo 512M >/sys/block/zram0/disksize
	mkswap /dev/zram0 >/dev/null && swapon /dev/zram0
fi
knob ksm/run 1
knob ksm/sleep_millisecs 0
knob ksm/pages_to_scan 2000

hammer "a program that scribbles over what it sends" 24
hammer "three connections, a thread each" 24 -P 3
hammer "one buffer sent on two connections" 16 -F -P 2
hammer "small messages, and threads that count" 8 -S 8K:64K -w 6
# Some of it writes to so many pages that AZ-SDP is left for a while, more where all takes longer
most=$((SLOW > 1 ? 25 : 50))
trouble=thp hammer "up to 8 MB, huge pages" 32 -S 64K:8M
for trouble in fork pageout ksm mlock vmsplice soft compact mem unmap; do
	hammer "trouble: $trouble" 8
done
# What is registered with either of these can't be protected
most=10
for trouble in uring uffd; do
	hammer "trouble: $trouble" 8
done
trouble=
most=$((SLOW > 1 ? 25 : 50))
truncate -s 1M /dev/shm/disk
modprobe -q loop
disk=$(losetup --show -f /dev/shm/disk)
hammer "what is sent is read from a disk, by O_DIRECT" 8 -D "$disk"
losetup -d "$disk"
# Both ends have less than their memory, so that all of it is swapped again and again
cgroup2_mount
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $cg
echo $((10 << 20)) >$cg/memory.max
# shellcheck disable=SC2016
inside=(bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$cg")
hammer "in a memory cgroup that is too small" 8 -P 2
inside=()
note "$(grep -E '^(max|oom|oom_kill) ' $cg/memory.events | tr '\n' ' ')"
rmdir $cg
trouble="fork pageout ksm mlock vmsplice compact mem"
hammer "all of that at once" 16 -P 2
trouble=
for e in exit exec kill; do
	hammer "the sender's $e right after send(): all arrives" 2 -e $e -r 5
done
knob ksm/run 2
swapoff -a

# ---- one program at a time ----

program() { within 60 python3 -B "$LAB_TREE/selftests/az_program.py" "$LAB_IP" "$1"; }
set_mode 3
check "a buffer that isn't written to stays protected" program resend
check "one that is filled again is made writable before" program refill
check "one that is sent on two connections is protected once" program shared
check "a non-blocking socket need not copy" program nonblocking
stat_mark
# What the reader is late for would be read ahead of it, into buffers
sysctl -qw net.sdp.read_ahead=0
for size in 65536 1048576 4194304; do
	check "aligned sends of $size bytes are copied nowhere" copies none $size 8
done
sysctl -qw net.sdp.read_ahead=1
at_least "... all by AZ" "$(stat_delta AzBytes)" $((8 * (65536 + 1048576 + 4194304)))
# shellcheck disable=SC2016
check "a user beyond RLIMIT_MEMLOCK" as_nobody bash -c 'ulimit -l 64; exec "$@"' - \
	python3 -B "$LAB_TREE/selftests/az_program.py" "$LAB_IP" beyond
stat_mark
for kind in shared file private-file read-only; do
	check "memory: $kind" within 60 \
		python3 -B "$LAB_TREE/selftests/zcopy_memory.py" "$LAB_IP" $kind
done
at_least "... is refused by kind" "$(stat_delta AzNoVma)" 4
check "a huge page is protected as one" program huge
if grep -qw ospke /proc/cpuinfo; then
	check "what a protection key forbids to read isn't sent" program keys
else
	skip "what a protection key forbids to read isn't sent" "the processor has none"
fi

# ---- not forced ----

set_mode 0
stat_mark
check "below the threshold a send waits" copies none 253952 8
equal "... nothing is protected" "$(stat_delta AzSends)" 0
sysctl -qw net.sdp.read_ahead=0
check "from 256 KiB on it doesn't" copies none 262144 8
sysctl -qw net.sdp.read_ahead=1
at_least "... all by AZ" "$(stat_delta AzBytes)" $((8 * 262144))
check "a non-blocking socket need not copy, without being told" program nonblocking
echo 8 >/sys/module/sdp/parameters/mr_max
check "half of the device's memory regions are left to others" program half
echo 1024 >/sys/module/sdp/parameters/mr_max
sysctl -qw net.sdp.az_thresh=65536
check "who writes in flight is sent another way, until he stops" program impatient
stat_mark
check "a small send is copied" copies all 32768 4
equal "... nothing is protected" "$(stat_delta AzSends)" 0
sysctl -qw net.sdp.az_thresh=0
stat_mark
check "0 is never" copies none 1048576 4
equal "... nothing is protected" "$(stat_delta AzSends)" 0

# ---- off ----

sdp_unload
sdp_load az=0
set_mode 3
stat_mark
check "without page tracking" within 60 sdp_az -b 4M "$LAB_IP"
equal "... nothing is protected" "$(stat_delta AzSends)" 0
sdp_unload
sdp_load
