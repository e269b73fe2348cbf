#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [-k KERNEL] [-m MEM] [-c CPUS] [-t SECONDS] [-o OUTDIR] [-a CMDLINE] [-q] [-i] JOB [FILE...]
# Boot a QEMU guest on the host's own root (read-only, changes go to a tmpfs),
# run the bash script JOB (- is standard input) in it as root, end it.
#   -k  6.1, 6.12, 6.1-debug or a full kernel version (default: the newest supported)
#   -t  limit for the whole run; the guest is killed then (default 600)
#   -o  keep console, dmesg, output and what the job left in /run/lab here
#   -a  more kernel command line;  -q  don't copy the job's output to stdout
#   -i  interactive: the job has the terminal; leave with exit, or ctrl-a x
# FILEs are copied to /run/lab beside the job; anything in the source tree or
# installed on the host is at its usual path.  In the job: $LAB_NODE (one, a, b),
# $LAB_KV, $LAB_TREE, and the functions of guest-lib.sh.
# Exit status: the job's; 99 if it succeeded but the kernel complained (scan.sh);
# 98 if the guest died or ran out of time.
# LAB_ACCEL: tcg, kvm or icount (guest time counts instructions, 2 ns each);
# default: kvm if a probe has shown that it runs guests, else tcg.
# LAB_CPU: CPU model.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

usage() { sed -n '3,/^set/{s/^# \?//p}' "$0" >&2; exit 2; }

accel() {
	case ${LAB_ACCEL:-$("$lab_dir/accel.sh")} in
	kvm)	echo "-accel kvm -cpu ${LAB_CPU:-host}" ;;
	icount)	echo "-accel tcg,thread=single,tb-size=512 -icount shift=1,sleep=off -cpu ${LAB_CPU:-max}" ;;
	*)	echo "-accel tcg,thread=multi,tb-size=512 -cpu ${LAB_CPU:-max}" ;;
	esac
}

stage() {
	mkdir -p "$out"; out=$(cd "$out" && pwd)
	rm -f "$out/$node".*
	# A pair's guests share it
	exec 7>"$out/stage.lock"
	flock 7
	cp "$lab_dir/guest-run" "$lab_dir/guest-lib.sh" "$out/"
	[ $# = 0 ] || cp -r "$@" "$out/"
	exec 7>&-
	cat "$job" >"$out/job-$node"
}

boot() {
	local tty=ttyS1 serial size='' watchdog=(timeout -k 5 "$limit")
	serial=(-serial "file:$out/$node.console" -serial stdio)
	if $interactive; then
		tty=ttyS0
		serial=(-serial mon:stdio)
		size=$(stty size 2>/dev/null) || size="24 80"
		[ "$size" != "0 0" ] || size="24 80"
		size=lab_size=${size/ /x}
		watchdog=()
	fi
	: >"$out/$node.console"
	# shellcheck disable=SC2046,SC2086
	exec "${watchdog[@]}" qemu-system-x86_64 $(accel) -smp "$cpus,sockets=$cpus" -m "$mem" \
		-nodefaults -display none -no-reboot "${serial[@]}" ${net:--nic none} \
		-pidfile "$out/$node.pid" \
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=hostroot \
		-fsdev local,id=lab,path="${out//,/,,}",security_model=none \
		-device virtio-9p-pci,fsdev=lab,mount_tag=lab \
		-kernel "$k/kernel" -initrd "$k/initrd" \
		-append "console=ttyS0 loglevel=5 panic=-1 oops=panic sysrq_always_enabled \
			watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 mitigations=off lab_kdir=$k lab_tree=$lab_tree lab_node=$node lab_tty=$tty $size $append"
}

verdict() {
	local rc
	rc=$(cat "$out/$node.rc" 2>/dev/null || echo 98)
	"$lab_dir/scan.sh" ${LAB_ALLOW:+-a "$LAB_ALLOW"} -t "$out/$node.taint" \
		"$out/$node.console" "$out/$node.dmesg" >"$out/$node.bad" || {
		echo "LAB-KERNEL-COMPLAINT:"; cat "$out/$node.bad"
		[ "$rc" != 0 ] || rc=99
	} >&2
	[ "$rc" != 98 ] || [ -s "$out/$node.bad" ] || {
		echo "LAB-DIED: the guest ended or was killed before its job did; its console:"
		tail -n 20 "$out/$node.console"
	} >&2
	return "$rc"
}

kv=${LAB_KV:-$(lab_series | tail -n1)} mem=2G cpus=2 limit=600 out='' append='' node=${LAB_NODE:-one} net=${LAB_NET:-}
interactive=false quiet=false
while getopts k:m:c:t:o:a:qih f; do
	case $f in
	k) kv=$OPTARG ;; m) mem=$OPTARG ;; c) cpus=$OPTARG ;; t) limit=$OPTARG ;;
	o) out=$OPTARG ;; a) append=$OPTARG ;; q) quiet=true ;; i) interactive=true ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
job=$1; shift
[ "$job" != - ] || job=/dev/stdin
[ -e "$job" ] || lab_die "no such job: $job"
lab_need qemu-system-x86_64
k=$("$lab_dir/kernel.sh" "$kv")
# Interpreting ACPI's tables takes a debug kernel minutes.  Sockets, not cores,
# since only they are in the MP table that it uses instead.
# no5lvl: while identify_cpu() has cleared the boot CPU's features, KASAN doesn't
# know of 5 levels of page tables, and an interrupt then is a "wild-memory-access".
case $k in *-debug) append="acpi=off tsc=reliable no5lvl $append" ;; esac
if [ -z "$out" ]; then out=$(mktemp -d); trap 'rm -rf "$out"' EXIT; fi
stage "$@"
if $interactive; then
	(boot) || true
elif $quiet; then
	(boot) </dev/null >"$out/$node.out" 2>&1 || true
else
	(boot) </dev/null 2>&1 | tee "$out/$node.out" || true
fi
rc=0; verdict || rc=$?
exit $rc
