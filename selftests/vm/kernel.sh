#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel.sh KERNEL: make a kernel bootable and print its directory, which then
# holds kernel, initrd and lib/modules.  KERNEL is a version or a name from
# ./kernels.  A stock kernel is Debian's linux-image package, unpacked in the
# cache and never installed; a debug kernel must have been built (debug-kernel.sh).
set -euo pipefail
. "$(dirname "$0")/lib.sh"

fetch() {
	lab_need apt-get dpkg-deb depmod
	local t
	t=$(mktemp -d "$CACHE/fetch.XXXXXX")
	echo "fetching linux-image-$kv"
	(cd "$t" && apt-get -q -o APT::Sandbox::User=root download "linux-image-$kv") || {
		rm -rf "$t"
		lab_die "cannot download linux-image-$kv: run apt-get update, or correct $lab_dir/kernels"
	}
	dpkg-deb -x "$t"/*.deb "$t/root"
	# usrmerge images keep their modules under usr/lib
	[ -e "$t/root/lib" ] || ln -s usr/lib "$t/root/lib"
	depmod -b "$t/root" "$kv"
	mkdir -p "$k"
	cp -a "$t/root/." "$k/"
	rm -rf "$t"
}

# An uncompressed kernel boots through its PVH entry: emulated decompression
# would take seconds.
extract() {
	local z=$k/boot/vmlinuz-$kv
	unpack "$z" '\xfd7zXZ\x00' xz -dc || unpack "$z" '\x28\xb5\x2f\xfd' zstd -dc ||
		ln -sf "boot/vmlinuz-$kv" "$k/kernel"
}

# unpack FILE MAGIC COMMAND...: the ELF image behind the first MAGIC
unpack() {
	local z=$1 magic=$2 at; shift 2
	command -v "$1" >/dev/null || return 1
	at=$(LC_ALL=C grep -aboP -m1 "$magic" "$z" | head -n1 | cut -d: -f1) || true
	[ -n "$at" ] || return 1
	tail -c "+$((at + 1))" "$z" | "$@" >"$k/kernel.new" 2>/dev/null || true
	[ "$(head -c4 "$k/kernel.new" | tail -c3)" = ELF ] || return 1
	mv "$k/kernel.new" "$k/kernel"
}

# Busybox, the modules that reach the root file system, and guest-init.
initrd() {
	lab_need busybox modprobe cpio
	local m f
	t=$(mktemp -d); trap 'rm -rf "$t"' EXIT
	mkdir -p "$t/bin" "$t/mods"
	cp "$(command -v busybox)" "$t/bin/busybox"
	install -m 755 "$lab_dir/guest-init" "$t/init"
	: >"$t/mods/order"
	for m in virtio_pci 9p 9pnet_virtio overlay; do
		modprobe -d "$k" -S "$kv" --show-depends "$m"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r f; do
		cp "$f" "$t/mods/"; basename "$f" .xz >>"$t/mods/order"
	done
	xz -dq "$t"/mods/*.xz 2>/dev/null || true
	(cd "$t" && find . | cpio -o -H newc --quiet | gzip -1) >"$1.new"
	mv "$1.new" "$1"
}

prepare() {
	case $kv in
	*-debug) [ -e "$k/kernel" ] || lab_die "no debug kernel yet: $lab_dir/debug-kernel.sh" ;;
	*) [ -d "$k/lib/modules/$kv" ] || fetch; [ -e "$k/kernel" ] || extract ;;
	esac
	# Trees that share the cache may differ in guest-init.
	local i
	i=initrd-$(cksum <"$lab_dir/guest-init" | cut -d' ' -f1)
	[ -e "$k/$i" ] || initrd "$k/$i"
	[ "$(readlink "$k/initrd" || true)" = "$i" ] || ln -sfn "$i" "$k/initrd"
}

[ $# = 1 ] || lab_die "usage: kernel.sh KERNEL"
kv=$(lab_kv "$1") k=$CACHE/$kv
exec 3>&1 1>&2
mkdir -p "$CACHE"
exec 9>"$CACHE/$kv.lock"; flock 9
prepare 9>&-
echo "$k" >&3
