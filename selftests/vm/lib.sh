# SPDX-License-Identifier: GPL-2.0
# Host side of the lab: what its scripts share.  Sourced, never run.
# shellcheck shell=bash disable=SC2034

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lab_tree=$(cd "$lab_dir/../.." && pwd)
CACHE=${AF_SDP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/af-sdp}

lab_die() { echo "$(basename "$0"): $*" >&2; exit 2; }

# lab_need PROGRAM...: stop with one clear line when one is missing
lab_need() {
	local p
	for p; do
		command -v "$p" >/dev/null || lab_die "$p is missing; 'make setup' installs what the lab needs"
	done
}

# The supported series, oldest first (the list is in ./kernels).
lab_series() { awk '!/^#/ && NF { print $1 }' "$lab_dir/kernels"; }

# lab_kv NAME: full kernel version of a series (6.1), of its debug build
# (6.1-debug), or NAME itself.
lab_kv() {
	local kv
	case $1 in
	*-debug)
		cat "$CACHE/$1.version" 2>/dev/null || echo "$1" ;;
	*)
		kv=$(awk -v s="$1" '$1 == s { print $2 }' "$lab_dir/kernels")
		echo "${kv:-$1}" ;;
	esac
}

# lab_name KV: the short name results are printed under, reverse of lab_kv
lab_name() {
	local n
	n=$(awk -v k="$1" '$2 == k { print $1 }' "$lab_dir/kernels")
	echo "${n:-$1}"
}

# lab_src KV: the source tree a debug kernel was built from
lab_src() {
	local v
	for v in "$CACHE"/*-debug.version; do
		[ ! -e "$v" ] || [ "$(cat "$v")" != "$1" ] || {
			v=$(basename "$v" -debug.version)
			echo "$CACHE/src-$v/Makefile"
		}
	done
}
