#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# test.sh: install the packages "make deb" has built, look whether all is there, remove them
# again. As root, on a system that may be spoilt: "make check-deb" makes one.
set -euo pipefail
cd "$(dirname "$0")/../.."
. selftests/vm/lib.sh
export DEBIAN_FRONTEND=noninteractive
version=$(. ./dkms.conf; echo "$PACKAGE_VERSION")

ok() { echo "ok - $1"; }
die() { echo "not ok - $1"; exit 1; }
must() { local name=$1; shift; "$@" >build/deb/test.log 2>&1 || { tail -n 30 build/deb/test.log; die "$name"; }; ok "$name"; }
must_not() { local name=$1; shift; ! "$@" >/dev/null 2>&1 || die "$name"; ok "$name"; }

# built KERNEL: the module is there, for that kernel and with its aliases
built() {
	local ko
	ko=$(find "/lib/modules/$1/updates/dkms" -name 'sdp.ko*')
	[ "$(modinfo -F vermagic "$ko" | cut -d' ' -f1)" = "$1" ] &&
		modinfo -F alias "$ko" | grep -qx net-pf-27
}
usage() { "$1" --help | grep -q '^usage'; }

must "the packages can be installed" apt-get -qy install ./build/deb/*[1ds]_"$version"_*.deb
for k in $(lab_series); do
	kv=$(lab_kv "$k")
	must "DKMS builds the module for $kv" dkms install "af-sdp/$version" -k "$kv"
	must "... and it is that kernel's" built "$kv"
done
for t in sdpstat sdp_check sdp_run sdpbench; do
	must "$t runs" usage $t
	must "... and has a man page" test -e "$(echo /usr/share/man/man[18]/$t.[18]*)"
done
must "a program runs with the library" sdp_run grep -q /af-sdp/libsdp.so /proc/self/maps
# What its page says is a command to be typed
preload=$(zcat /usr/share/man/man7/libsdp.7.gz |
	sed -n "/^\.B LD_PRELOAD=/ { s/^\.B //; s/\\\\\[aq]/'/g; p }")
must "... preloaded as its page says" sh -c "$preload grep -q /af-sdp/libsdp.so /proc/self/maps"
must "... and with the rules of /etc" sdp_run --check /etc/libsdp.conf
must "a program finds the headers" cc -fsyntax-only -include linux/sdp.h -include linux/sdp_diag.h -x c /dev/null
must "the packages can be removed" apt-get -qy purge sdp-dkms sdp-tools libsdp1
must_not "... with the modules" grep -q . <(find /lib/modules -name 'sdp.ko*')
must_not "... the tools" command -v sdpstat
must_not "... the rules" test -e /etc/libsdp.conf
must_not "... and the sources" test -e "/usr/src/af-sdp-$version"
