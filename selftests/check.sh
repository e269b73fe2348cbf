#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [--debug] [--soak] [--apps]: build everything and run the suites, TAP to stdout, with
# "N passed, N failed, N skipped" as the last line.
#   --soak  only suites that have a long variant, and that; LONG=60 is its measure in seconds
#   T="NAME..."  only these suites (shell patterns)     K=6.1  only this kernel
# Suites that want the same surroundings share one guest, which is booted anew
# when a suite has spoilt or killed it.  Logs are left in build/check/.
# --apps: those with other people's programs instead, which take long.
# How suites look is told in lib.sh.
set -euo pipefail
. "$(dirname "$0")/vm/lib.sh"
. "$(dirname "$0")/results.sh"
suites=$lab_tree/selftests/suites
debug=false soak=false set=''
for o; do
	case $o in
	--debug) debug=true ;;
	--soak) soak=true ;;
	--apps) set=apps ;;
	*) lab_die "usage: check.sh [--debug] [--soak] [--apps]" ;;
	esac
done
jobs=${JOBS:-$(nproc)}

# ---- what to run ----

# head_of SUITE KEY: a line of its head
head_of() { sed -n "/^[^#]/q; s/^# $2: *//p" "$suites/$1.sh" | head -n 1; }

named() {
	local p
	[ -n "${T:-}" ] || return 0
	# shellcheck disable=SC2053
	for p in $T; do [[ $1 = $p ]] && return; done
	return 1
}

# suited SUITE TOPOLOGY KERNEL: it is to run in these surroundings
suited() {
	local k
	[ "$(head_of "$1" topology)" = "$2" ] && [ "$(head_of "$1" set)" = "$set" ] && named "$1" || return
	! $soak || [ -n "$(head_of "$1" soak)" ] || return
	case $(head_of "$1" debug) in
	no) ! $debug || return ;;
	only) $debug || return ;;
	esac
	k=$(head_of "$1" kernels)
	[ -z "$k" ] || [ -z "$3" ] || [[ " $k " = *" ${3%-debug} "* ]]
}

# choose PREFIX TOPOLOGY KERNEL: into $chosen; says which can't run here
choose() {
	local f s p lacking
	chosen=()
	for f in "$suites"/*.sh; do
		s=$(basename "$f" .sh)
		suited "$s" "$2" "$3" || continue
		lacking=''
		for p in $(head_of "$s" needs); do command -v "$p" >/dev/null || lacking+=" $p"; done
		if [ -n "$lacking" ]; then
			emit skip "$1/$s" "not installed:$lacking"
		else
			chosen+=("$s")
			case $2 in
			pair) printf '%s\n' "$1/$s@a" "$1/$s@b" ;;
			*) echo "$1/$s" ;;
			esac >>"$out/chosen"
		fi
	done
}

# Twice what a suite says it takes, as others run at the same time: this is to find
# what hangs, not what is slow
limit_of() {
	local t
	if $soak; then t=$(head_of "$1" soak); else t=$(head_of "$1" time); fi
	t=$((2 * ${t:-60}))
	if $debug; then t=$((t * 6)); fi
	echo "$t"
}

# ---- running ----

run_host() {
	local s rc dir=$out/host
	mkdir -p "$dir"
	for s; do
		rc=0
		echo "LAB-SUITE $s $(limit_of "$s")"
		LAB_TREE=$lab_tree timeout -k 5 "$(limit_of "$s")" \
			bash "$suites/$s.sh" </dev/null 2>&1 || rc=$?
		echo "LAB-RC $rc"
		echo "LAB-OVER"
	done | tee "$dir/out" | parse host "$dir"
}

# guests NAME LANE ONE|PAIR KERNELS SUITE...: boot guests until each suite has had its turn
guests() {
	local name=$1 lane=$2 kind=$3 kv=$4 dir boot=0 params; shift 4
	local -a left=("$@") now=()
	while [ ${#left[@]} -gt 0 ]; do
		dir=$out/${name//\//-}$lane.$((boot += 1))
		params=$(head_of "${left[0]}" boot)
		mapfile -t now < <(together "$params" "${left[@]}")
		mkdir -p "$dir"
		: >"$dir/begun"
		! $soak || echo "${LONG:-60}" >"$dir/soak"
		boot "$name" "$kind" "$kv" "$dir" "$params" "${now[@]}"
		[ -s "$dir/begun" ] || return 0
		mapfile -t left < <(printf '%s\n' "${left[@]}" | grep -vxF -f "$dir/begun")
	done
}

# together PARAMETERS SUITE...: those that can share a guest booted with them
together() {
	local s params=$1; shift
	for s; do [ "$(head_of "$s" boot)" != "$params" ] || echo "$s"; done
}

boot() {
	local name=$1 kind=$2 kv=$3 dir=$4 append=$5 s mem=2G total=1000 nodes=one; shift 5
	local -a cmd=("$lab_dir/run.sh") job=("$lab_dir/guest-suites")
	for s; do
		echo "$s $(limit_of "$s") $(head_of "$s" allow)"
	done | tee "$dir/plan-a" "$dir/plan-b" >"$dir/plan-one"
	for s; do total=$((total + $(limit_of "$s") + 90)); done
	if [ "$kind" = pair ]; then cmd=("$lab_dir/run-pair.sh") job+=("${job[@]}") nodes="a b"; fi
	if $debug; then mem=2560M; else append="slub_debug=FZP,SDP*,sdp* $append"; fi
	"${cmd[@]}" -k "$kv" -m "$mem" -t "$total" -o "$dir" -a "$append" "${job[@]}" 2>>"$dir/run.err" |
		watch_time "$dir" | parse "$name" "$dir" || :
	for s in $nodes; do aftermath "$name" "$dir" "$s"; done
}

# Pass lines on; when a suite is long past its limit, the guest doesn't answer
# any more: kill it.
watch_time() {
	local line end=$((SECONDS + 300)) rc
	while :; do
		rc=0
		IFS= read -r -t $((end > SECONDS ? end - SECONDS : 1)) line || rc=$?
		if [ $rc = 0 ]; then
			printf '%s\n' "$line"
			if [[ $line =~ LAB-SUITE\ [^\ ]+\ ([0-9]+) ]]; then end=$((SECONDS + BASH_REMATCH[1] + 90)); fi
		elif [ $rc -le 128 ]; then
			return 0
		else
			kill_guests "$1"
			end=$((SECONDS + 30))
		fi
	done
}

# kill_guests DIR...: those that run from there
kill_guests() {
	local d f pid
	for d; do
		for f in "$d"/*.pid; do
			[ -e "$f" ] || continue
			pid=$(cat "$f")
			grep -qsF "$f" "/proc/$pid/cmdline" || continue
			kill -9 "$pid" 2>/dev/null || :
		done
	done
}

# aftermath NAME DIR NODE: what is to say of a guest as a whole, if no suite has
# been blamed yet: complaints at boot and at the end count too.
aftermath() {
	local name=$1 dir=$2 node=$3 allowed
	if [ ! -e "$dir/$node.console" ]; then
		emit fail "$name: a guest starts ($node)" < <(tail -n 20 "$dir/run.err")
		return
	fi
	[ ! -e "$dir/blamed" ] || return 0
	if [ ! -s "$dir/begun" ]; then
		emit fail "$name: a guest gets ready ($node)" < <(
			grep -h '^\(. \|\)LAB-LOST' "$dir/$node.out" || :
			tail -n 5 "$dir/run.err"; postmortem "$dir" "$node")
		return
	fi
	allowed=$(cut -s -d' ' -f3- "$dir/plan-$node" | grep . | paste -sd'|') || :
	if "$lab_dir/scan.sh" ${allowed:+-a "$allowed"} -t "$dir/$node.taint" "$dir/$node.console" "$dir/$node.dmesg" >"$dir/$node.bad"; then
		emit ok "$name: the kernel never complains ($node)"
	else
		emit fail "$name: the kernel never complains ($node)" <"$dir/$node.bad"
	fi
}

# ---- as many at once as there are processors; a pair counts twice ----

declare -A weight=()
used=0
spawn() {
	local w=$1; shift
	while [ $used -gt 0 ] && [ $((used + w)) -gt "$jobs" ]; do reap; done
	"$@" &
	weight[$!]=$w used=$((used + w))
}
reap() {
	local pid=''
	wait -n -p pid || :
	used=$((used - ${weight[${pid:-0}]:-$used}))
}

build() {
	local m=${MAKE:-make} k
	$m -C "$lab_tree" -j"$jobs" tools tests unit fuzzers uring compat az || return
	for k in $kernels; do $m -C "$lab_tree" modules "KVER=$k" || return; done
	# Suite iwarp does without, by being skipped
	# ... and zcopy without the kernel's own test
	! named zcopy || "$lab_tree/selftests/kernel/build.sh" || :
	! named iwarp || for k in $kernels; do "$lab_dir/siw.sh" "$k" || :; done
}

# in_lanes NAME KERNEL SUITE...: in as many guests at once as there are processors for a kernel,
# the longest first to where the least is waiting
in_lanes() {
	local name=$1 kv=$2 i s t min; shift 2
	local n=$((jobs / $(wc -w <<<"$kernels")))
	local -a lanes=() load=()
	[ $n -gt 0 ] || n=1
	for ((i = 0; i < n; i++)); do load[i]=0; done
	while read -r t s; do
		min=0
		for i in "${!load[@]}"; do [ "${load[i]}" -ge "${load[min]}" ] || min=$i; done
		lanes[min]+=" $s"
		load[min]=$((load[min] + t))
	done < <(for s; do echo "$(limit_of "$s") $s"; done | sort -k1,1nr -k2)
	for i in "${!lanes[@]}"; do
		# shellcheck disable=SC2086
		spawn 1 guests "$name" "$([ $n = 1 ] || echo "-$((i + 1))")" one "$kv" ${lanes[i]}
	done
}

run_all() {
	local k pair=${kernels%% *},${kernels##* }
	if ! $debug; then
		choose host host ''
		[ ${#chosen[@]} = 0 ] || spawn 1 run_host "${chosen[@]}"
	fi
	for k in $kernels; do
		choose "$k/one" one "$k"
		[ ${#chosen[@]} = 0 ] || in_lanes "$k/one" "$k" "${chosen[@]}"
	done
	choose "${pair/,/+}/pair" pair ''
	[ ${#chosen[@]} = 0 ] || spawn 2 guests "${pair/,/+}/pair" '' pair "$pair" "${chosen[@]}"
	while [ $used -gt 0 ]; do reap; done
}

# Whatever goes wrong on the way to a suite, here or in a guest, it isn't left out in silence
missing() {
	local s
	while read -r s; do
		emit fail "$s: begins" </dev/null
	done < <(grep -vxF -f "$out/begun" "$out/chosen")
}

summary() {
	local p f s
	p=$(grep -c '^ok ' "$out/results") || :
	f=$(grep -c '^fail ' "$out/results") || :
	s=$(grep -c '^skip ' "$out/results") || :
	echo "1..$((p + f + s))"
	sed -n 's/^fail /# failed: /p' "$out/results"
	echo "# $((SECONDS / 60)) min $((SECONDS % 60)) s, logs in ${out#"$lab_tree/"}"
	echo "$p passed, $f failed, $s skipped"
	[ "$f" = 0 ] && [ "$p" != 0 ]
}

# Runs in the same tree don't share their logs.
claim() {
	local n=0
	mkdir -p "$lab_tree/build"
	while :; do
		out=$lab_tree/build/check
		[ $n = 0 ] || out+=-$n
		exec 7>"$out.lock"
		! flock -n 7 || break
		n=$((n + 1))
	done
	rm -rf "$out"
	mkdir -p "$out"
	echo 0 >"$out/count"
	touch "$out/results" "$out/chosen" "$out/begun"
}

kernels=${K:-$(lab_series | paste -sd' ')}
if $debug; then kernels=6.1-debug; fi
claim
# shellcheck disable=SC2046
trap 'kill $(jobs -p) 2>/dev/null || :; kill_guests "$out"/*' EXIT
trap 'exit 130' INT TERM HUP
echo "TAP version 13"
if build >"$out/build.log" 2>&1; then
	run_all
	missing
else
	emit fail "build" < <(tail -n 40 "$out/build.log")
fi
summary
