# SPDX-License-Identifier: GPL-2.0
# Five hundred connections open at once, with an exchange on each, and what an idle one costs.
# topology: one
# time: 200
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

n=$((SLOW > 1 ? 200 : 500))

# Memory nobody but the kernel has, in kB, without stacks and page tables of processes
kernel_kb() {
	awk '$1 == "count:" { free += $2 * 4; next }	# pages on lists of the processors
		{ v[$1] = $2 }
		END {
			print v["MemTotal:"] - v["MemFree:"] - free - v["Buffers:"] - v["Cached:"] \
				- v["AnonPages:"] - v["KernelStack:"] - v["PageTables:"]
		}' /proc/meminfo /proc/zoneinfo
}

# open_idle NAME FAMILY: opens n connections that stay idle
open_idle() {
	mkfifo "$TMP/$1.stdin"
	sdp_cycle --self -f "$2" -o $n --idle -w $((30 * SLOW)) "$LAB_IP" \
		<"$TMP/$1.stdin" >"$TMP/$1.log" 2>&1 &
	bg_pid[$1]=$!
	exec 5>"$TMP/$1.stdin"
	bg_ready "$1" 'connections open' 40
}

# let_go NAME: has them do a second exchange, and end
let_go() { exec 5>&-; bg_wait "$1" 40; }

# measure: kernel memory without what can be dropped, in kB
measure() {
	sync; echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	kernel_kb
}

sdp_cycle --self -n 10 "$LAB_IP" >/dev/null
# The same program on TCP has the same threads and files: what those cost, and TCP's own
before=$(measure)
open_idle tcp tcp || exit
tcp=$(($(measure) - before))
let_go tcp
until_true 20 none_left

before=$(measure)
check "$n connections open at once" open_idle sdp sdp
sdp=$(($(measure) - before))
equal "sockets of them all" "$(awk '$1 == "SDP" { print $3 }' /proc/net/protocols)" $((2 * n + 1))
equal "all are in /proc/net/sdp, and established" "$(awk '$NF == 1' /proc/net/sdp | wc -l)" $((2 * n))
equal "a queue pair for each end" "$(rdma_count qp)" $((2 * n + 1))

per=$(((sdp - tcp) * 1024 / (2 * n)))
note "$n idle connections take $sdp kB of kernel memory, the same program's over TCP $tcp kB:"
note "one's end holds $per bytes beyond what a process and TCP take"
if [ "$SLOW" = 1 ]; then
	at_most "an idle connection's end holds at most 64 KB" $per 65536
else
	skip "an idle connection's end holds at most 64 KB" "this kernel's memory is padded"
fi
check "an exchange on each, after that" let_go sdp
equal "every message had a buffer" "$(stat Rnr)" 0
check "all queue pairs go" until_true 60 none_left
