# SPDX-License-Identifier: GPL-2.0
# For check.sh: from what suites print to one numbered stream of results.
# Needs $out, the run's directory.  Sourced, never run.
# shellcheck shell=bash disable=SC2154

# emit ok|fail|skip NAME [REASON]: one result; diagnostics of a failure come on
# stdin.  Runs that go on at the same time share the numbering.
emit() {
	local n
	{
		flock 8
		n=$(($(cat "$out/count") + 1))
		echo $n >"$out/count"
		case $1 in
		ok) echo "ok $n - $2" ;;
		skip) echo "ok $n - $2 # SKIP ${3:-}" ;;
		fail) echo "not ok $n - $2"; sed 's/^\(# \)\?/#   /' ;;
		esac
		echo "$1 $2" >>"$out/results"
	} 8>"$out/lock"
}

# parse PREFIX DIR: TAP and LAB- lines of a run on stdin, into results.  A pair's
# lines start with "a| " or "b| ".  DIR/begun collects the suites that started,
# DIR/run.err what is said outside of any.
parse() {
	local prefix=$1 dir=$2 line node at
	local -A suite=() cases=() bad=() plan=() skipped=() context=() remains=() began=()
	while IFS= read -r line; do
		node=one
		if [[ $line =~ ^([ab])\|\ (.*)$ ]]; then node=${BASH_REMATCH[1]} line=${BASH_REMATCH[2]}; fi
		at=$(title "$node")
		case $line in
		"LAB-SUITE "*) suite_begins "$node" "${line#* }" ;;
		"LAB-RC "*) suite_ends "$node" "${line#* }" ;;
		"LAB-LEFT "*) remains[$node]+=${line#* }$'\n' ;;
		LAB-CLEAN) emit ok "$at: leaves nothing behind" </dev/null; suite[$node]='' ;;
		LAB-DIRTY)
			emit fail "$at: leaves nothing behind" <<<"${remains[$node]}"
			suite[$node]=''
			: >"$dir/blamed" ;;
		LAB-OVER) suite[$node]='' ;;
		LAB-*) ;;
		*)
			if [ -n "${suite[$node]:-}" ]; then
				tap_line "$node" "$line"
			else
				echo "$line" >>"$dir/run.err"
			fi ;;
		esac
	done
	for node in "${!suite[@]}"; do
		[ -n "${suite[$node]}" ] || continue
		emit fail "$(title "$node"): the guest outlives the suite" < <(
			tail -n 20 <<<"${context[$node]}"; postmortem "$dir" "$node")
		: >"$dir/blamed"
	done
}

# The next four work on parse's variables.
title() {
	local t=$prefix/${suite[$1]:-}
	[ "$1" = one ] || t+=@$1
	echo "$t"
}

suite_begins() {
	suite[$1]=${2%% *} began[$1]=$SECONDS cases[$1]=0 bad[$1]=0 plan[$1]='' skipped[$1]=''
	context[$1]='' remains[$1]=''
	echo "${suite[$1]}" >>"$dir/begun"
	title "$1" >>"$out/begun"
}

tap_line() {
	local node=$1 line=$2 name
	case $line in
	"ok "* | "not ok "*)
		name=${line#*ok } name=${name#*[0-9] } name=${name#- }
		cases[$node]=$((${cases[$node]} + 1))
		if [[ $line = not* ]]; then
			bad[$node]=$((${bad[$node]} + 1))
			emit fail "$at: $name" < <(tail -n 40 <<<"${context[$node]}")
		elif [[ $name =~ ^(.*)\ \#\ [Ss][Kk][Ii][Pp]\ ?(.*)$ ]]; then
			emit skip "$at: ${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
		else
			emit ok "$at: $name"
		fi
		context[$node]='' ;;
	"1..0 # SKIP"*)
		plan[$node]=0 skipped[$node]=1
		emit skip "$at" "${line#*SKIP }" ;;
	"1.."*) plan[$node]=${line#1..} ;;
	*)
		context[$node]+=$line$'\n'
		[ ${#context[$node]} -lt 20000 ] || context[$node]=${context[$node]: -10000} ;;
	esac
}

# suite_ends NODE STATUS: what its cases didn't tell
suite_ends() {
	local node=$1 rc=$2 why=''
	echo "# $at: $((SECONDS - ${began[$node]})) s"
	if [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
		why="ends within its time limit"
	elif [ -z "${plan[$node]}" ]; then
		why="runs to its end (exit status $rc)"
	elif [ "${plan[$node]}" != "${cases[$node]}" ]; then
		why="runs the ${plan[$node]} tests it planned (ran ${cases[$node]})"
	elif [ "$rc" != 0 ] && [ "${bad[$node]}" = 0 ]; then
		why="exits with status 0 (was $rc)"
	elif [ "${cases[$node]}" = 0 ] && [ -z "${skipped[$node]}" ]; then
		why="tests anything"
	fi
	[ -z "$why" ] || emit fail "$at: $why" < <(tail -n 40 <<<"${context[$node]}")
	context[$node]=''
}

# postmortem DIR NODE: what a dead guest said last
postmortem() {
	local f=$1/$2
	if [ -s "$f.bad" ]; then
		head -n 60 "$f.bad"
	else
		echo "console:"; tail -n 30 "$f.console"
	fi 2>/dev/null
	echo "(logs: ${f#"$lab_tree/"}.*)"
}
