#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# siw.sh KERNEL: build soft-iWARP, which Debian leaves out of its kernels, for one of
# the lab's, from Debian's linux-source; afterwards "modprobe siw" works in guests with
# that kernel.  It lies in the cache and nowhere else.  Does nothing when it is there;
# debug kernels have it anyway (debug.config).
set -euo pipefail
. "$(dirname "$0")/lib.sh"

sub=drivers/infiniband/sw/siw

# source_of TARBALL: siw alone
source_of() { tar -xf "$1" --strip-components=5 -C "$t/siw" --wildcards "*/$sub/*"; }

# The package is some 140 MB and not needed any longer than this
fetch() {
	lab_need apt-get dpkg-deb
	echo "fetching linux-source-$series"
	(cd "$t" && apt-get -q -o APT::Sandbox::User=root download "linux-source-$series") ||
		lab_die "cannot download linux-source-$series"
	dpkg-deb --fsys-tarfile "$t"/*.deb | tar -x -C "$t" "./usr/src/linux-source-$series.tar.xz"
	source_of "$t/usr/src/linux-source-$series.tar.xz"
}

sources() {
	local tar=/usr/src/linux-source-$series.tar.xz
	mkdir "$t/siw"
	if [ -e "$tar" ]; then source_of "$tar"; else fetch; fi
}

build() {
	local headers=/usr/src/linux-headers-$kv
	[ -e "$headers/Makefile" ] || lab_die "$headers is missing: apt-get install linux-headers-$kv"
	echo "building siw for $kv"
	sources
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
