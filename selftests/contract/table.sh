#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# table.sh: write what sdp_contract says into Documentation/socket-api.rst, between its markers;
# boots a guest with the newest kernel for the answers.
# table.sh --check PART FILE: does the .rst have that as PART ("answers" or "deviations")?
# FILE is what sdp_contract --table or --deviations has written; the difference is printed.
# Of the answers only the questions are compared: where TCP's and ours agree, or may differ,
# is the test's to judge, and what some of them are depends on how busy the machine is.
set -euo pipefail
. "$(dirname "$0")/../vm/lib.sh"
rst=$lab_tree/Documentation/socket-api.rst

# part NAME: what is between its markers
part() { sed -n "/^\.\. begin $1\$/,/^\.\. end $1\$/p" "$rst" | sed '1,2d;$d' | sed '$d'; }

# questions: the first column of the table, the names of cases among it
questions() { sed -nE 's/^   ("([^"]|"")*"), .*/\1/p'; }

# put NAME FILE
put() {
	awk -v name="$1" -v file="$2" '
		$0 == ".. end " name { skip = 0 }
		!skip { print }
		$0 == ".. begin " name {
			print ""
			while ((getline line < file) > 0)
				print line
			print ""
			skip = 1
		}' "$rst" >"$rst.new"
	mv "$rst.new" "$rst"
}

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ "${1:-}" = --check ]; then
	columns="cat"
	[ "$2" = deviations ] || columns="questions"
	part "$2" | $columns >"$out/rst"
	$columns <"$3" | diff "$out/rst" -
	exit
fi

${MAKE:-make} -C "$lab_tree" modules build/sdp_contract "KVER=$(lab_series | tail -n 1)" >&2
"$lab_dir/run.sh" -o "$out" - <<'JOB'
lab_rxe_dummy && lab_sdp && "$LAB_TREE/build/sdp_contract" --slow 4 -j 4 -a "$LAB_IP" --table /run/lab/answers
JOB
"$lab_tree/build/sdp_contract" --deviations >"$out/deviations"
put answers "$out/answers"
put deviations "$out/deviations"
