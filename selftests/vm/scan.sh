#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# scan.sh [-a ALLOWED-ERE] [-t TAINT-FILE] LOG...: look for kernel complaints.
# Prints each with the lines after it (at most 60 in all) and exits 1 when there is
# one, or when the taint has bits other than O and E, those of an unsigned
# out-of-tree module.  What counts as a complaint is in ./complaints.
set -uo pipefail
allowed='' taint=''
while getopts a:t: f; do
	case $f in a) allowed=$OPTARG ;; t) taint=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
patterns=${LAB_COMPLAINTS:-$(dirname "$0")/complaints}
rc=0
for log; do
	[ -e "$log" ] || continue
	first=$(grep -naE -f "$patterns" -- "$log" | grep -vaE -- "${allowed:-^$}" | cut -d: -f1 | head -n 20)
	last=0
	[ -n "$first" ] || continue
	rc=1
	for n in $first; do
		[ "$n" -gt "$last" ] || continue
		last=$((n + 30))
		sed -n "${n},${last}p" -- "$log"
	done | tr -d '\r' | head -n 60
done
if [ -n "$taint" ]; then
	t=$(cat "$taint" 2>/dev/null || echo 0)
	if [ $((t & ~(4096 | 8192))) != 0 ]; then
		echo "kernel is tainted: $t"
		rc=1
	fi
fi
exit $rc
