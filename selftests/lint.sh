#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lint.sh [all|quick]: read the sources with tools, TAP to stdout.  all: build the
# modules for every supported kernel with W=1 and sparse; checkpatch when the
# kernel's source package is there; kernel-doc; shellcheck; mandoc; the table of deviations.
# quick: not the building.
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
	judge "sparse and W=1, $1" < <(
		${MAKE:-make} modules "KVER=$kv" B=build/lint kbuild_flags='C=1 W=1' 2>&1 |
			grep -aE 'warning:|error:|\*\*\* ' | sed "s#$lab_tree/build/lint/$kv/##" | sort -u)
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

# Not asked for: what newer checkpatch dropped (comment style of net/), what it
# can't know (positive errnos in sk_err, lists as X macros, versions compared,
# headers shared with user space, operations that are a changed copy), its mere
# hints (CHECK).
ignored=NETWORKING_BLOCK_COMMENT_STYLE,USE_NEGATIVE_ERRNO,COMPLEX_MACRO,CONST_STRUCT
ignored+=,BRACKET_SPACE,LINUX_VERSION_CODE,CONSTANT_COMPARISON,FILE_PATH_CHANGES,PREFER_DEFINED_ATTRIBUTE_MACRO
checkpatch() {
	local d
	if ! d=$(checkpatch_dir); then skip checkpatch "not installed: a linux-source package"; return; fi
	judge checkpatch < <(
		look 'net/*.[ch]' 'include/*.h' 'selftests/peer/*.[ch]' selftests/az/device.c \
			selftests/az/az_track.c selftests/az/az_test.h -- \
			xargs "$d/checkpatch.pl" --no-tree --terse --no-summary --quiet --show-types \
				--ignore "$ignored" --file | grep -v ' CHECK:')
}

shells() {
	if ! command -v shellcheck >/dev/null; then skip shellcheck "not installed"; return; fi
	judge shellcheck < <(
		look '*.sh' .ci/run selftests/vm/guest-run selftests/vm/guest-suites -- \
			xargs shellcheck -s bash -e SC2317 -x -P SCRIPTDIR)
}

pages() {
	if ! command -v mandoc >/dev/null; then skip "man pages" "not installed: mandoc"; return; fi
	judge "man pages" < <(look '*.[1-8]' -- xargs mandoc -T lint -W warning 2>&1)
}

kernel_doc() {
	local tool
	tool=$(printf '%s\n' /usr/lib/linux-kbuild-*/scripts/kernel-doc | sort -V | tail -n 1)
	if [ ! -e "$tool" ]; then skip kernel-doc "not installed: linux-kbuild"; return; fi
	judge kernel-doc < <(look 'net/*.[ch]' 'include/*.h' -- xargs "$tool" -none -Wall 2>&1)
	judge "kernel-doc for each struct and function that isn't static" < <(
		look 'net/*.[ch]' 'include/*.h' -- undocumented)
}
undocumented() {
	while read -r f; do
		awk -v f="$f" '
			/^\/\*\*/ { documented = 1 }
			/^ \*/ { next }
			/^(struct|union) [a-z_0-9]+ \{$/ ||
			(f ~ /c$/ && /^[a-z].*[ *][a-z_0-9]+\(/ && !/^(static|module_|subsys_)/ && !/;$/) {
				if (!documented) print f ":" NR ": " $0
			}
			/^}|;$/ { documented = 0 }' "$f"
	done
}

# checkpatch's --file takes them for a matter of taste. What is printed isn't broken, so that it can
# be searched for.
widths() {
	judge "100 columns at most" < <(look '*.[ch]' '*.py' -- too_wide)
}
too_wide() {
	while read -r f; do
		expand -t8 "$f" | awk -v f="$f" 'length > 100 && !/"/ { print f ":" NR ": " length }'
	done
}

spdx() {
	judge "SPDX tags" < <(
		look '*.[ch]' '*.sh' '*.py' '*.[1-8]' Makefile Kbuild '*/Kbuild' -- without_spdx)
}
without_spdx() {
	while read -r f; do
		head -n 3 "$f" | grep -q SPDX-License-Identifier: || echo "$f has no SPDX line"
	done
}

# The table of deviations; that of the answers takes a guest, and is suite contract's
tables() {
	judge "deviations in socket-api.rst (else selftests/contract/table.sh writes them)" < <(
		${MAKE:-make} -s build/sdp_contract 2>&1 &&
			build/sdp_contract --deviations >build/lint/deviations &&
			selftests/contract/table.sh --check deviations build/lint/deviations 2>&1)
}

# make demo, make vm and a plain make install less than make check: setup.sh, sets build and lab
plain() {
	judge "tools and tests need no more than a compiler, libc and libmnl" < <(
		${MAKE:-make} -nB tools tests 2>&1 | grep -oE -- ' -(l[a-z0-9]+|m32)' | sort -u |
			grep -vxE -- ' -l(pthread|m|mnl)')
}

# look PATTERN... -- COMMAND...: what COMMAND finds, given the names of these files of the tree,
# committed or not. It would find nothing if there were none.
look() {
	local f files patterns=()
	while [ "$1" != -- ]; do patterns+=("$1"); shift; done
	shift
	files=$(git ls-files --cached --others --exclude-standard -- "${patterns[@]}" |
		while read -r f; do [ ! -e "$f" ] || echo "$f"; done)
	if [ -n "$files" ]; then "$@" <<<"$files"; else echo "no files: ${patterns[*]}"; fi
}

case ${1:-all} in
all) for k in ${K:-$(lab_series)}; do compile "$k"; done ;;
quick) ;;
*) lab_die "usage: lint.sh [all|quick]" ;;
esac
checkpatch
shells
pages
kernel_doc
widths
spdx
tables
plain
echo "1..$n"
[ $bad = 0 ]
