# SPDX-License-Identifier: GPL-2.0
# For suites (selftests/suites/*.sh), which source it first: TAP output, the
# module, background programs.  A suite is a bash script that prints TAP; it
# runs as root in a guest where soft-RoCE is up, or on the host.  Its head says
#   # topology: one | pair | host     in which surroundings
#   # time: SECONDS                   what it takes; its limit is twice that (debug kernels: twelve times)
#   # soak: SECONDS                   it has a long variant, for LONG seconds each, with that limit
#   # debug: no                       to leave it out of check-debug; "only": nowhere else
#   # set: apps                       only for check-apps
#   # kernels: 6.12                   only there
#   # needs: PROGRAM...               skipped without them
#   # allow: ERE                      kernel messages it provokes on purpose
#   # boot: PARAMETERS                alone in a guest booted with these parameters
# In a pair the suite runs on both nodes, a and b; lab_barrier keeps them in step.
# Whatever is left behind after it (module in use, RDMA objects, kernel
# complaints, leaked memory) fails it.
# shellcheck shell=bash

BUILD=$LAB_TREE/build
TMP=${TMPDIR:-/tmp}/suite.$$; mkdir -p "$TMP"
PATH=$BUILD:$PATH
export LAB_SLOW=${LAB_SLOW:-1}	# how many times slower than a stock kernel this one is
SLOW=$LAB_SLOW
tap_n=0 tap_bad=0
declare -A bg_pid

# ---- TAP ----

ok() { echo "ok $((++tap_n)) - $1"; }
not_ok() { echo "not ok $((++tap_n)) - $1"; tap_bad=$((tap_bad + 1)); }
skip() { echo "ok $((++tap_n)) - $1 # SKIP ${2:-}"; }
note() { local l; while IFS= read -r l; do echo "# $l"; done <<<"$*"; }

# skip_all REASON: nothing of this suite can run
skip_all() { echo "1..0 # SKIP $1"; tap_n=-1; exit 0; }

# check NAME COMMAND...: ok if it succeeds; its output is shown when it doesn't.
# Exit status 4 means skipped, as in kselftest; the last line is the reason.
check() {
	local name=$1 rc=0; shift
	"$@" >"$TMP/check" 2>&1 || rc=$?
	case $rc in
	0) ok "$name" ;;
	4) skip "$name" "$(tail -n 1 "$TMP/check")" ;;
	*) note "$*: exit status $rc"; tail -n 40 "$TMP/check" | sed 's/^/# /'; not_ok "$name" ;;
	esac
	return 0
}

# check_fails NAME STATUS COMMAND...: ok if it fails with that status
check_fails() {
	local name=$1 want=$2 rc=0; shift 2
	"$@" >"$TMP/check" 2>&1 || rc=$?
	if [ "$rc" = "$want" ]; then ok "$name"; return; fi
	note "$*: exit status $rc, not $want"; tail -n 40 "$TMP/check" | sed 's/^/# /'
	not_ok "$name"
}

# equal NAME GOT WANTED
equal() {
	if [ "$2" = "$3" ]; then ok "$1"; else note "got '$2', wanted '$3'"; not_ok "$1"; fi
}

# at_most NAME GOT LIMIT, at_least NAME GOT LIMIT: integers
at_most() { if [ "$2" -le "$3" ]; then ok "$1"; else note "got $2, limit $3"; not_ok "$1"; fi; }
at_least() { if [ "$2" -ge "$3" ]; then ok "$1"; else note "got $2, needed $3"; not_ok "$1"; fi; }

# on_one_cpu COMMAND...: while the other processor is out of service. Where a static key turns, the
# kernel rewrites code that other processors are running, and QEMU may go on with what it has
# translated in the middle of it ("Oops: int3").
on_one_cpu() {
	local cpu=/sys/devices/system/cpu/cpu1/online rc=0
	[ ! -e $cpu ] || echo 0 >$cpu
	"$@" || rc=$?
	[ ! -e $cpu ] || echo 1 >$cpu
	return $rc
}

# within SECONDS COMMAND...: as timeout(1), stretched on slow kernels
within() { local s=$1; shift; timeout -k 5 $((s * SLOW)) "$@"; }

# until_true SECONDS COMMAND...: wait for it, stretched on slow kernels
until_true() { local s=$1; shift; lab_wait $((s * SLOW)) "$@"; }

# as_nobody COMMAND...: by a user without rights, within a minute
as_nobody() { within 60 setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"; }

cgroup2_mount() { mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup; }

# ---- the module ----

sdp_load() { lsmod | grep -q '^sdp ' || lab_sdp "$@"; }
sdp_unload() { rmmod sdp; }
peer_load() { lsmod | grep -q '^sdp_peer ' || insmod "$BUILD/$LAB_KV/sdp_peer.ko" "$@"; }

# stat NAME [FILE]: a counter of /proc/net/sdpstats, 0 when there is none of that name. It stays
# text, as mawk prints numbers beyond 2^31 in parts.
stat() {
	awk -v n="$1" 'BEGIN { v = "0" } { k = $1; sub(/:$/, "", k) } k == n { v = $2 } END { print v }' \
		"${2:-/proc/net/sdpstats}"
}

# stat_mark, stat_delta NAME: how much a counter has grown since the mark
stat_mark() { cp /proc/net/sdpstats "$TMP/stats"; }
stat_delta() { echo $(($(stat "$1") - $(stat "$1" "$TMP/stats"))); }

set_mode() { sysctl -qw net.sdp.mode="$1"; }

# ---- the device ----

# plug, unplug [DEVICE [TYPE INTERFACE]]: soft-RoCE's, if not said
plug() { rdma link add "${1:-rxe0}" type "${2:-rxe}" netdev "${3:-$LAB_DEV}"; }
unplug() { within 20 rdma link delete "${1:-rxe0}"; }

# begin_there: another network namespace, sdp-test, where 10.9.8.2 is; veth0 here has 10.9.8.1.
# ${there[@]} before a command runs it in that.
# shellcheck disable=SC2034	# by suites
there=(ip netns exec sdp-test)
begin_there() {
	ip netns add sdp-test
	ip -n sdp-test link set lo up
	ip link add veth0 type veth peer name veth1 netns sdp-test
	ip addr add 10.9.8.1/24 dev veth0
	ip link set veth0 up
	ip -n sdp-test addr add 10.9.8.2/24 dev veth1
	ip -n sdp-test link set veth1 up
	ip -n sdp-test route add default via 10.9.8.1
}

# rnr: how often a Send has met no buffer
rnr() { awk '{ n += $1 } END { print n + 0 }' /sys/class/infiniband/rxe0/ports/1/hw_counters/*rnr*; }

# rdma_count OBJECT [DEV]: qp, cq, mr, pd, cm_id, ctx on rxe0; the kernel's shared
# completion queues stay counted when nobody uses them
rdma_count() {
	rdma resource show "${2:-rxe0}" | tr -s ' ' '\n' | awk -v o="$1" 'p == o { print; exit } { p = $0 }'
}

# none_left: no socket, and no queue pair but the device's own
none_left() { [ "$(rdma_count qp)" -le 1 ] && [ "$(wc -l </proc/net/sdp)" = 1 ]; }

# slab NAME: objects in use of a slab cache
slab() { awk -v n="$1" '$1 == n { v = $2 } END { print v + 0 }' /proc/slabinfo; }

# ---- programs in the background ----

# bg NAME COMMAND...: output goes to $TMP/NAME.log
bg() {
	local name=$1; shift
	"$@" >"$TMP/$name.log" 2>&1 </dev/null &
	bg_pid[$name]=$!
}

# bg_ready NAME ERE [SECONDS]: until its output matches
bg_ready() {
	until_true "${3:-15}" bg_says "$1" "$2" && grep -qE -- "$2" "$TMP/$1.log" && return
	note "$1 isn't ready: $(tail -n 10 "$TMP/$1.log")"
	return 1
}
bg_says() { grep -qE -- "$2" "$TMP/$1.log" || ! kill -0 "${bg_pid[$1]}" 2>/dev/null; }

# bg_wait NAME [SECONDS]: its exit status; 124 when it doesn't end in time
bg_wait() {
	local pid=${bg_pid[$1]}
	until_true "${2:-30}" bg_gone "$pid" || { bg_stop "$1"; return 124; }
	unset "bg_pid[$1]"
	wait "$pid"
}
bg_gone() { ! kill -0 "$1" 2>/dev/null || [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = Z ]; }

# bg_fails NAME [SECONDS]: it ends by itself, in time and with an error
bg_fails() {
	local rc=0
	bg_wait "$@" || rc=$?
	[ $rc = 0 ] || [ $rc -ge 124 ] || return 0
	echo "$1: exit status $rc"; cat "$TMP/$1.log"
	return 1
}

# bg_kill NAME: kill -9
bg_kill() { kill -9 "${bg_pid[$1]}"; wait "${bg_pid[$1]}" 2>/dev/null; unset "bg_pid[$1]"; }

bg_stop() {
	local pid=${bg_pid[$1]:-}
	[ -n "$pid" ] || return 0
	unset "bg_pid[$1]"
	kill "$pid" 2>/dev/null
	lab_wait 5 bg_gone "$pid" || kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	return 0
}

# pass_on NAME SECONDS [PREFIX]: the TAP of a program in the background as ours
pass_on() {
	local line name rc=0 plan='' n=$tap_n bad=$tap_bad
	bg_wait "$1" "$2" || rc=$?
	while IFS= read -r line; do
		name=${line#*ok } name=${name#*[0-9] } name=${3:+$3: }${name#- }
		case $line in
		"ok "*" # SKIP "*) skip "${name% # SKIP *}" "${line#* # SKIP }" ;;
		"ok "*) ok "$name" ;;
		"not ok "*) not_ok "$name" ;;
		1..*) plan=${line#1..} ;;
		"TAP version "*) ;;
		*) note "${line#\# }" ;;
		esac
	done <"$TMP/$1.log"
	n=$((tap_n - n)) bad=$((tap_bad > bad))
	[ "$rc" = $bad ] && [ "$plan" = $n ] && return
	not_ok "${3:-$1}: runs to its end (exit status $rc, $n of ${plan:-?} tests)"
}

# listening PORT: a listener of ours is in /proc/net/sdp
listening() {
	awk -v p="$(printf ':%04X$' "$1")" '$NF == "A" && $2 ~ p { f = 1 } END { exit !f }' /proc/net/sdp
}

# up PORT: somebody listens there, whether by SDP or TCP
up() { listening "$1" || ss -Htln "sport = :$1" | grep -q .; }

# ---- what several suites ask ----

# outcome NAME WORDS ADDRESS PORT [COMMAND...]: what connect() says, by COMMAND in another namespace
outcome() { outcome_in "$1" "$2" 0 30000 "${@:3}"; }

# outcome_in NAME WORDS MIN-MS MAX-MS ADDRESS PORT [COMMAND...]: ... and after how long
outcome_in() {
	local got ms
	read -r got ms <<<"$(within 100 "${@:7}" sdp_try connect "$5" "$6")"
	note "$5: $got after $ms ms"
	if [[ " $2 " = *" ${got:-?} "* ]] && [ "$ms" -ge "$3" ] && [ "$ms" -le $(($4 * SLOW)) ]; then
		ok "$1"
	else
		note "wanted: $2 after $3 to $4 ms"; not_ok "$1"
	fi
}

# copies none|all BYTES TIMES: a reader that waits, aligned buffers; prints how much either end copied
copies() { within 60 python3 -B "$LAB_TREE/selftests/zcopy_pair.py" "$LAB_IP" "$@"; }

# readme_program: the C program in README.md
# shellcheck disable=SC2016
readme_program() { sed -n '/^```c$/,/^```$/p' "$LAB_TREE/README.md" | sed '1d;$d'; }

# ---- the end ----

suite_end() {
	local rc=$? name
	for name in "${!bg_pid[@]}"; do bg_stop "$name"; done
	rm -rf "$TMP"
	[ $tap_n -lt 0 ] || echo "1..$tap_n"
	[ $rc != 0 ] || [ $tap_bad = 0 ] || rc=1
	exit $rc
}
trap suite_end EXIT
