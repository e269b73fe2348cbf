#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What demo.sh does in the guest.
set -uo pipefail
PATH=$LAB_TREE/build:$PATH
failed=0

row() { printf '  %-34s %-22s %s\n' "$@"; }

# measure TEST TITLE: qperf's own figure
measure() {
	local v
	if v=$(timeout 120 qperf -t 3 "$LAB_IP" "$1" 2>&1) && [[ $v = *=* ]]; then
		row "qperf $1" "$2" "$(sed -n 's/.*= *//p' <<<"$v" | tail -n1)"
	else
		row "qperf $1" "$2" "FAILED: ${v//$'\n'/ }"
		failed=1
	fi
}

serving() { ss -Hltn "sport = :$1" | grep -q .; }

# in_mode MODE: net.sdp.mode of what follows
in_mode() { sysctl -qw net.sdp.mode="$1"; }

count() { awk -v n="$1" '$1 == n { print $2 }' /proc/net/sdpstats; }

# transfer TITLE COUNTER SDP_XFER-ARGUMENTS...: as COUNTER shows, in the way it is to be
transfer() {
	local title=$1 counter=$2 v t0=${EPOCHREALTIME/./} ms mb; shift 2
	mb=$(count "$counter")
	if v=$(timeout 300 sdp_xfer --self "$@" 2>&1); then
		ms=$(((${EPOCHREALTIME/./} - t0) / 1000))
		mb=$((($(count "$counter") - mb) >> 20))
		v="every byte verified, $((ms / 1000)).$((ms % 1000 / 100)) s, $counter $mb MiB"
		[ $mb -ge 1 ] || { v="FAILED: $v"; failed=1; }
		row "sdp_xfer ${*: -1}" "$title" "$v"
	else
		row "sdp_xfer ${*: -1}" "$title" "FAILED: $(tail -n1 <<<"$v")"
		failed=1
	fi
}

if ! lab_rxe_dummy || ! lab_sdp; then
	echo "soft-RoCE or sdp.ko can't be set up"
	exit 1
fi
echo "== guest: kernel $LAB_KV, soft-RoCE on $LAB_IP, sdp.ko loaded"
qperf >/tmp/qperf.log 2>&1 & server=$!
lab_wait 10 serving 19765
echo
row program what result
in_mode 1
measure sdp_bw "SDP, copying (BCopy)"
measure sdp_lat "SDP, 1 byte"
in_mode 2
measure sdp_bw "SDP, no copy (ZCopy)"
measure tcp_bw "TCP, to compare"
measure tcp_lat "TCP, to compare"
kill $server 2>/dev/null
in_mode 1
transfer "BCopy, 2 x 32 MB" SendCopied -P 2 -b 16M "$LAB_IP"
in_mode 2
transfer "ZCopy, 2 x 32 MB" SendZcopy -P 2 -b 16M "$LAB_IP"
in_mode 3
transfer "AZ-SDP, 2 x 32 MB" AzBytes -P 2 -b 16M "$LAB_IP"
in_mode 4
transfer "ZCopy-W, 2 x 32 MB" SendZcopyW -P 2 -b 16M "$LAB_IP"
in_mode 0
transfer "by size, IPv6" SendBytes -P 2 -b 16M "$LAB_IP6"
echo
echo "The module's own count of what it did (/proc/net/sdpstats):"
grep -vE '[: ]0$' /proc/net/sdpstats | head -n 60 | sed 's/^/  /'
exit $failed
