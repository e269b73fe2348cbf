#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# apps-table.sh FILE...: from what the suites that run programs have printed (build/check/*/*.out
# after make check-apps), a table of how much of what each program sent wasn't copied by the CPU,
# in each mode: what the peer has read out of the program's memory or page cache. For
# Documentation/applications.rst.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: apps-table.sh FILE..." >&2; exit 2; }

cat -- "$@" | awk '
BEGIN {
	n = split("bcopy zcopy az auto", modes)
	for (m = 1; m <= n; m++)
		known[modes[m]] = 1
	line = "==================  =====  =====  =====  ====="
}
match($0, /moved by [^:]*: [0-9]+ bytes/) {
	what = substr($0, RSTART + 9)
	sub(/:.*/, "", what)
	mode = "auto"
	for (i = split(what, said, /, /); i > 1; i--)
		if (said[i] in known)
			mode = said[i]
		else if (said[i] ~ /SDP/)
			next
	what = said[1]
	bytes = $0; sub(/.*: /, "", bytes)
	split(bytes, f, / /)
	sent[what, mode] += f[1]
	copied[what, mode] += f[3]
	if (!(what in seen)) {
		seen[what] = 1
		names[++rows] = what
	}
}
END {
	print line
	printf "%-18s  %-5s  %-5s  %-5s  %s\n", "program", "BCopy", "ZCopy", "AZ", "auto"
	print line
	for (i = 1; i <= rows; i++) {
		printf "%-18s", names[i]
		for (m = 1; m <= n; m++) {
			s = sent[names[i], modes[m]]
			left = s - copied[names[i], modes[m]]
			printf "  %-5s", s ? int(100 * (left > 0 ? left : 0) / s + 0.5) " %" : "-"
		}
		print ""
	}
	print line
}' | sed 's/ *$//'
