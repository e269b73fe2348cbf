#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# siw.sh KERNEL: build soft-iWARP, which Debian leaves out of its kernels, for one of
# the lab's, from Debian's linux-source; afterwards "modprobe siw" works in guests with
# that kernel.  It lies in the cache and nowhere else.  Does nothing when it is there;
# debug kernels have it anyway (debug.config).
set -euo pipefail
. "$(dirname "$0")/lib.sh"

sub=drivers/infiniband/sw/siw

build() {
	local headers=/usr/src/linux-headers-$kv
	[ -e "$headers/Makefile" ] || lab_die "$headers is missing: apt-get install linux-headers-$kv"
	echo "building siw for $kv"
	"$lab_dir/source.sh" "$series" "$sub" "*" "$t/siw"
	make -s -C "$headers" M="$t/siw" CONFIG_RDMA_SIW=m modules
	install -D -m 644 "$t/siw/siw.ko" "$k/lib/modules/$kv/extra/siw.ko"
	depmod -b "$k" "$kv"
}

[ $# = 1 ] || lab_die "usage: siw.sh KERNEL"
kv=$(lab_kv "$1") series=$(lab_name "$kv")
k=$("$lab_dir/kernel.sh" "$kv")
exec 9>"$CACHE/$kv.siw.lock"; flock 9
[ -z "$(find "$k/lib/modules/$kv/" -name 'siw.ko*')" ] || exit 0
t=$(mktemp -d "$CACHE/siw.XXXXXX"); trap 'rm -rf "$t"' EXIT
build 9>&-
