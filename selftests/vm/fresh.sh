#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fresh.sh [COMMAND...]: run commands (default: "make demo") in the source tree
# on a Debian 12 where nothing is installed, as a newcomer would.  The system is a
# minimal debootstrap in a chroot, made anew each time from a cached base;
# only make is added by hand.  As root; needs debootstrap.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

base=$CACHE/fresh-base.tar root=$CACHE/fresh.$$

make_base() {
	local t=$CACHE/fresh-base.$$
	echo "== making a minimal Debian"
	debootstrap --variant=minbase bookworm "$t" >"$CACHE/fresh-base.log" 2>&1 || {
		tail -n 20 "$CACHE/fresh-base.log"
		rm -rf "$t"
		lab_die "debootstrap failed"
	}
	tar -C "$t" -cf "$base.new" .
	mv "$base.new" "$base"
	rm -rf "$t"
}

unpack() {
	mkdir -p "$root"
	tar -C "$root" -xpf "$base"
	# All suites of the release; the host's resolver and proxy.
	cat >"$root/etc/apt/sources.list" <<-EOF
	deb http://deb.debian.org/debian bookworm main
	deb http://deb.debian.org/debian bookworm-updates main
	deb http://deb.debian.org/debian-security bookworm-security main
	EOF
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	apt-config dump | grep -i '^acquire::http' >"$root/etc/apt/apt.conf.d/99proxy" || :
	mkdir -p "$root/src/af-sdp"
	git -C "$lab_tree" ls-files -z --cached --others --exclude-standard |
		(cd "$lab_tree" && tar --null -T - --ignore-failed-read -cf - 2>/dev/null) |
		tar -C "$root/src/af-sdp" -xf -
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount --make-rslave "$root/dev"
}

cleanup() {
	umount -l "$root/dev" "$root/proc" 2>/dev/null
	if ! grep -q " $root/" /proc/mounts; then rm -rf --one-file-system "$root"; fi
}

inside() {
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
		DEBIAN_FRONTEND=noninteractive bash -c "cd /src/af-sdp && $1"
}

[ "$(id -u)" = 0 ] || lab_die "chroot needs root"
"$lab_dir/setup.sh" fresh
[ $# -gt 0 ] || set -- "make demo"
mkdir -p "$CACHE"
[ -e "$base" ] || make_base
trap cleanup EXIT
unpack
inside 'apt-get -q update && apt-get -qy install --no-install-recommends make' >"$CACHE/fresh.log" 2>&1 || {
	tail -n 20 "$CACHE/fresh.log"
	lab_die "apt-get failed in the chroot"
}
for c; do
	echo "== $c"
	SECONDS=0 rc=0
	inside "$c" </dev/null || rc=$?
	echo "== exit status $rc after $SECONDS s"
	[ $rc = 0 ] || exit $rc
done
