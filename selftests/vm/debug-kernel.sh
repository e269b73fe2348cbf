#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# debug-kernel.sh [6.1|6.12]: build the debug guest kernel (Debian's linux-source with
# debug.config, and debug-SERIES.patch if there is one) in the cache, laid out as
# kernel.sh leaves a stock one: afterwards -k 6.1-debug boots it, and modules build
# against its source tree, $CACHE/src-6.1.  Prints the kernel version.  Does nothing
# when it is there.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2154	# lab_dir is lib.sh's
made_of() { cat "$lab_dir/debug.config" ${patch:+"$patch"} | cksum; }

build() {
	local tar=/usr/src/linux-source-$series.tar.xz
	[ -e "$tar" ] || lab_die "$tar is missing: apt-get install linux-source-$series"
	lab_need gcc make bc flex bison cpio patch
	echo "building the debug kernel $series: some 10 minutes, once"
	mkdir -p "$src"
	[ -e "$src/Makefile" ] || tar -xf "$tar" --strip-components=1 -C "$src"
	if [ -n "$patch" ] && ! patch -d "$src" -p1 -R --dry-run -f <"$patch" >/dev/null; then
		patch -d "$src" -p1 -N <"$patch" || lab_die "$patch doesn't apply; remove $src"
	fi
	make -s -C "$src" tinyconfig
	(cd "$src" && ./scripts/kconfig/merge_config.sh -m .config "$lab_dir/debug.config" >/dev/null)
	echo 'CONFIG_LOCALVERSION="-debug"' >>"$src/.config"
	make -s -C "$src" olddefconfig
	make -s -C "$src" -j"$(nproc)" bzImage modules
	made_of >"$src/.built"
}

stage() {
	kv=$(make -s -C "$src" kernelrelease)
	k=$CACHE/$kv
	rm -rf "$k"; mkdir -p "$k"
	make -s -C "$src" INSTALL_MOD_PATH="$k" modules_install
	cp "$src/arch/x86/boot/bzImage" "$k/kernel"
	echo "$kv" >"$CACHE/$series-debug.version"
}

series=${1:-6.1} src=$CACHE/src-$series patch=$lab_dir/debug-$series.patch
[ -e "$patch" ] || patch=''
lab_series | grep -qx "$series" || lab_die "no such series: $series"
exec 3>&1 1>&2
mkdir -p "$CACHE"
exec 9>"$CACHE/src-$series.lock"; flock 9
{
	if ! made_of | cmp -s - "$src/.built"; then
		rm -f "$CACHE/$series-debug.version"
		build
	fi
	[ -e "$CACHE/$series-debug.version" ] || stage
} 9>&-
cat "$CACHE/$series-debug.version" >&3
