#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# az-track.sh: what AZ-SDP's page tracking costs, as a job in one guest: protecting a buffer and
# giving it back, beside copying it and beside the two calls of mprotect() that protecting it
# from user space takes. bench.sh starts it under QEMU's -icount, where an instruction is 2 ns.
# A load or store of memory counts as one instruction, so a real copy is cheaper than it seems.
# Prints a table in instructions, writes bench.json to /run/lab.
set -u
# shellcheck source=lib.sh
. "$LAB_TREE/tools/bench/lib.sh"

# of KEY PAGES [WHAT]: instructions
of() {
	awk -v k="$1" -v p="$2" -v w="${3:-small}" '{
		for (i = 1; i <= NF; i++) { n = index($i, "="); v[substr($i, 1, n - 1)] = substr($i, n + 1) }
		if (v["what"] == w && v["pages"] == p) printf "%.0f", v[k] / 2
	}' "$TMP/cost"
}

# line TITLE KEY: fixed part and part per page, by 1 page and 256
line() {
	local one many
	one=$(of "$2" 1) many=$(of "$2" 256)
	awk -v t="$1" -v a="$one" -v b="$many" 'BEGIN {
		per = (b - a) / 255
		printf "%-44s%10.0f%10.0f\n", t, a - per < 0 ? 0 : a - per, per
	}'
}

sum() { local v s=0; for v; do s=$((s + v)); done; echo "$s"; }

insmod "$LAB_TREE/build/$LAB_KV/sdp_az_test.ko" || exit 1
rc=0
"$B/az_cost" >"$TMP/cost" || rc=1

printf '%-44s%10s%10s\n' "instructions" fixed "per page"
line "protect" protect
line "restore" restore
line "release" release
line "sent again unwritten, with its release" resend
line "copy" copy
line "get_user_pages_fast() and put_page()" gup
line "mprotect() pair" mprotect
line "next write: restored" write_restored
line "next write: not restored" write_reused
line "write in flight" write_copied
echo
printf '%-44s%10s%10s%10s%10s%10s\n' "instructions, KB" protect restore release mprotect copy
for p in 1 16 64 256 512; do
	what=small
	[ "$p" != 512 ] || what=huge
	printf '%-44s' "$((p * 4)) $what"
	for k in protect restore release mprotect copy; do printf '%10s' "$(of $k $p $what)"; done
	echo
done
echo
target "protect and restore of 64 KB <= 0.5 x mprotect() pair" \
	"$(sum "$(of protect 16)" "$(of restore 16)" "$(of release 16)")" "$(of mprotect 16)" "<=" 0.5
target "a whole huge page <= 0.1 x its copy" \
	"$(sum "$(of protect 512 huge)" "$(of restore 512 huge)" "$(of release 512 huge)")" \
	"$(of copy 512 huge)" "<=" 0.1
target "sent again unwritten <= 200 instructions a page" \
	"$(($(of resend 256) - $(of resend 1)))" 255 "<=" 200
awk -v k="$(uname -r)" -v a="${LAB_ACCEL:-}" 'BEGIN { printf "{\"kernel\":\"%s\",\"accel\":\"%s\",\"ns\":[", k, a }
{
	printf "%s{", (NR > 1 ? ",\n" : "")
	for (i = 1; i <= NF; i++) {
		n = index($i, "=")
		v = substr($i, n + 1)
		printf "%s\"%s\":%s", (i > 1 ? "," : ""), substr($i, 1, n - 1), (i == 1 ? "\"" v "\"" : v)
	}
	printf "}"
}
END { print "]}" }' "$TMP/cost" >"$OUT"
rmmod sdp_az_test
rm -rf "$TMP"
exit $rc
