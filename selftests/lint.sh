#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lint.sh [all|quick]: read the sources with tools, TAP to stdout.  all: build the
# modules for every supported kernel with W=1 and sparse; checkpatch when the
# kernel's source package is there; shellcheck.  quick: not the building.
set -uo pipefail
. "$(dirname "$0")/vm/lib.sh"
cd "$lab_tree" || exit 2
n=0 bad=0
mkdir -p build/lint

# judge NAME: it fails when there is output on stdin
judge() {
	local findings=$lab_tree/build/lint/findings
	n=$((n + 1))
	sed 's/^/# /' >"$findings"
	if [ ! -s "$findings" ]; then echo "ok $n - $1"; return; fi
	cat "$findings"
	echo "not ok $n - $1"
	bad=$((bad + 1))
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }

# A build of its own, so that everything is compiled, and only for its warnings.
compile() {
	local kv
	kv=$(lab_kv "$1")
	if ! command -v sparse >/dev/null; then skip "sparse and W=1, $1" "not installed: sparse"; return; fi
	rm -rf "build/lint/$kv"
	${MAKE:-make} modules "KVER=$kv" B=build/lint kbuild_flags='C=1 W=1' 2>&1 |
		grep -aE 'warning:|error:|\*\*\* ' | sort -u | judge "sparse and W=1, $1"
}

# checkpatch.pl and its word lists, from the newest kernel source package
checkpatch_dir() {
	local tar d=$CACHE/checkpatch
	[ -e "$d/checkpatch.pl" ] && { echo "$d"; return; }
	for tar in /usr/src/linux-source-6.1.tar.xz /usr/src/linux-source-*.tar.xz; do [ -e "$tar" ] && break; done
	[ -e "$tar" ] || return 1
	mkdir -p "$d.new"
	tar -xf "$tar" -C "$d.new" --strip-components=2 --wildcards '*/scripts/checkpatch.pl' \
		'*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch' || return 1
	mv "$d.new" "$d"
	echo "$d"
}

checkpatch() {
	local d
	if ! d=$(checkpatch_dir); then skip checkpatch "not installed: a linux-source package"; return; fi
	git ls-files --cached --others --exclude-standard 'net/*.[ch]' 'include/*.h' 'selftests/peer/*.[ch]' |
		xargs -r "$d/checkpatch.pl" --no-tree --terse --no-summary --quiet --file \
			--ignore LINUX_VERSION_CODE,FILE_PATH_CHANGES |
		judge checkpatch
}

shells() {
	if ! command -v shellcheck >/dev/null; then skip shellcheck "not installed"; return; fi
	git ls-files --cached --others --exclude-standard | while read -r f; do
		case $f in
		*.sh | */guest-run | */guest-suites | .ci/run) [ ! -e "$f" ] || echo "$f" ;;
		esac
	done | xargs -r shellcheck -e SC2317 -x -P SCRIPTDIR | judge shellcheck
}

spdx() {
	git ls-files --cached --others --exclude-standard '*.[ch]' '*.sh' '*.py' Makefile Kbuild '*/Kbuild' |
		while read -r f; do
			[ ! -e "$f" ] || head -n 3 "$f" | grep -q SPDX-License-Identifier: || echo "$f has no SPDX line"
		done | judge "SPDX tags"
}

case ${1:-all} in
all) for k in ${K:-$(lab_series)}; do compile "$k"; done ;;
quick) ;;
*) lab_die "usage: lint.sh [all|quick]" ;;
esac
checkpatch
shells
spdx
echo "1..$n"
[ $bad = 0 ]
