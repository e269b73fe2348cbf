#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# accel.sh: print how QEMU guests are to be run on this machine: kvm where KVM
# has really booted one, else tcg.  A /dev/kvm that opens may still hang, so the
# answer comes from a probe, which is made once per machine, kernel and QEMU.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

probe() {
	[ -w /dev/kvm ] || { echo tcg; return; }
	if echo true | LAB_ACCEL=kvm "$lab_dir/run.sh" -q -t 25 -m 512M -c 1 - >/dev/null 2>&1; then
		echo kvm
	else
		echo tcg
	fi
}

mkdir -p "$CACHE"
id=$( (cat /etc/machine-id /proc/version 2>/dev/null; qemu-system-x86_64 --version; ls -l /dev/kvm 2>&1) | cksum | cut -d' ' -f1)
f=$CACHE/accel-$id
exec 9>"$CACHE/accel.lock"; flock 9
[ -s "$f" ] || { probe 9>&- >"$f.new" && mv "$f.new" "$f"; }
cat "$f"
