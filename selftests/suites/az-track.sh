# SPDX-License-Identifier: GPL-2.0
# Page tracking for AZ-SDP by itself (net/sdp/az_track.c in sdp_az_test.ko): its rules one by one,
# a crowd of writers beside all that can happen to memory, processes that end, and whether it is
# noticed when a rule is broken.
# topology: one
# time: 600
# soak: 4000
# boot: numa=fake=2 transparent_hugepage=always
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

knobs=/sys/module/sdp_az_test/parameters
thp=/sys/kernel/mm/transparent_hugepage
ksm=/sys/kernel/mm/ksm
numa=/sys/kernel/debug/sched/numa_balancing
balancing=/proc/sys/kernel/numa_balancing
seconds=${LONG:-2} sends=10000
[ -z "${LONG:-}" ] || sends=500000

# put FILE VALUE: where the kernel has it
put() { [ ! -w "$1" ] || echo "$2" >"$1"; }

# Swap, KSM, huge pages and NUMA balancing, all as busy as they can be
surroundings() {
	modprobe -q zram num_devices=1
	put /sys/block/zram0/disksize 512M
	mkswap /dev/zram0 >/dev/null
	swapon /dev/zram0 || note "no swap"
	truncate -s 1M /dev/shm/disk
	modprobe -q loop
	disk=$(losetup --show -f /dev/shm/disk)
	cgroup2_mount || note "no cgroup2"
	modprobe -q kvm_amd || modprobe -q kvm_intel || note "no KVM"
	put $ksm/pages_to_scan 2000
	put $ksm/sleep_millisecs 1
	put $ksm/run 1
	put $thp/enabled always
	put $numa/scan_delay_ms 10
	put $numa/scan_period_min_ms 100
}

# balance 0|1: NUMA balancing
balance() { [ "$(cat $balancing 2>/dev/null)" = "$1" ] || on_one_cpu put $balancing "$1"; }

# What happens behind a program's back does so by itself all the time from now on
restless() {
	put $thp/khugepaged/scan_sleep_millisecs 10
	put $thp/khugepaged/alloc_sleep_millisecs 10
	balance 1
}

rules() {
	local rule says alone
	az_rules >"$TMP/rules"
	while read -r rule says <&3; do
		# It would take away what others count
		if [ "$rule" = numa ]; then balance 1; else balance 0; fi
		alone=()
		# As a guest of its own turns a key of the scheduler
		[ "$rule" != refuse-notifier ] || alone=(on_one_cpu)
		check "$rule: $says" "${alone[@]}" within 60 az_rules "$rule"
	done 3<"$TMP/rules"
}

# stress NAME TEST [ARGUMENT...]
stress() {
	check "$1" within $((seconds * 2 + 180 + sends / 500)) az_stress -t "$seconds" "${@:2}"
	grep -hE '^sends|^looked|writes|charged|killed|processes' "$TMP/check" | while read -r l; do note "$l"; done
}

# integrity FEATURE...
integrity() { stress "written to in flight${*:+, and $*}" integrity "$@"; }

# caught NAME KNOB VALUE TEST...: with this rule broken the test fails
caught() {
	local name=$1 knob=$2 value=$3; shift 3
	echo "$value" >$knobs/"$knob"
	check_fails "noticed: $name" 1 within 150 az_stress -t 60 -x "$@"
	grep -h '^FAIL' "$TMP/check" | tail -n 1 | while read -r l; do note "$l"; done
	echo 0 >$knobs/"$knob"
}

broken() {
	local series
	series=$(cut -d. -f1,2 <<<"$LAB_KV")
	caught "TLBs not flushed" break_flush 1 integrity
	echo 2000 >$knobs/break_delay
	stress "more time before the flush does no harm" integrity
	caught "mmap lock for reading only" break_lock 1 integrity
	if [ "$series" = 6.1 ]; then
		skip "noticed: no VMA locks" "this kernel has none"
	else
		caught "no VMA locks" break_lock 2 integrity
	fi
	echo 0 >$knobs/break_delay
	if [ "$series" = 6.1 ]; then
		caught "pages others read into" break_refs 1 odirect "$disk"
	else
		skip "noticed: pages others read into" "direct I/O pins them on this kernel"
	fi
}

insmod "$BUILD/$LAB_KV/sdp_az_test.ko" || exit
surroundings
rules
restless
integrity
integrity norestore
integrity fork
integrity pageout cold ksm
integrity thp fork collapse
integrity aligned
integrity thp migrate compact
integrity memcg mlock
integrity soft vmsplice procmem
integrity uring vm
integrity uffd
integrity fork pageout ksm thp collapse migrate mlock vmsplice soft procmem vm uring
[ -z "${LONG:-}" ] || integrity thp fork hog
stress "the address space changes all the time" chaos
stress "direct reads into the pages" odirect "$disk"
stress "processes end" exit
stress "processes are killed for want of memory" oom
stress "$sends sends leave nothing" leak $sends
[ -z "${LONG:-}" ] || stress "$sends more leave nothing" leak $sends
broken
note "$(grep -E 'pswp|thp_(fault_alloc|collapse_alloc|split_pmd) |cow_ksm|numa_(hint_faults|pages_migrated) |pgmigrate|oom_kill' /proc/vmstat | tr '\n' ' ')"
note "$(grep . $ksm/pages_shared $ksm/full_scans | tr '\n' ' ')"
check "it can be unloaded" rmmod sdp_az_test
# The same of the whole, where there are two nodes to move between
balance 0
sdp_load
check "sent by SDP, written to in flight, and migrated" within 100 \
	sdp_az -W $((90 * SLOW)) -b $((8 * 1048576 / (SLOW > 1 ? 4 : 1))) "$LAB_IP" migrate thp
at_least "... from pages protected" "$(stat AzBytes)" 1000000
sdp_unload
swapoff -a
losetup -d "$disk"
