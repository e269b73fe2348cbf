#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh: build the module, boot a guest with Debian's own kernel and soft-RoCE,
# load sdp.ko, move real data through SDP sockets, show a table.  K= chooses the kernel.
set -euo pipefail
. "$(dirname "$0")/vm/lib.sh"

step() { echo "== $*"; }

kv=$(lab_kv "${K:-$(lab_series | tail -n1)}")
out=$lab_tree/build/demo
mkdir -p "$out"
step "building the module for kernel $kv, and the test programs"
${MAKE:-make} -C "$lab_tree" modules tools tests "KVER=$kv" >"$out/build.log" 2>&1 || {
	tail -n 30 "$out/build.log"
	lab_die "building failed; all of it is in build/demo/build.log"
}
step "booting a guest"
rc=0
"$lab_dir/run.sh" -q -k "$kv" -t 600 -o "$out" "$lab_tree/selftests/demo-guest.sh" || rc=$?
grep -v '^LAB-' "$out/one.out" || :
[ $rc = 0 ] || lab_die "the demo failed ($rc); the guest's console is build/demo/one.console"
