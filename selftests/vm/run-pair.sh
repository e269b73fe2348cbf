#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run-pair.sh [run.sh options] JOB-A JOB-B [FILE...]
# Two guests, two hosts to each other: joined by one virtual cable (virtio-net
# over unix datagram sockets), each running its own job; lab_rxe_nic and
# lab_barrier (guest-lib.sh) set up soft-RoCE and synchronise.  -k may be
# KERNEL-A,KERNEL-B to mix kernels.  Both see the same /run/lab.
# Exit status: that of the first node that failed, as from run.sh.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# net ME OTHER LAST-MAC-DIGIT: QEMU's arguments for one end of the cable
net() {
	echo "-netdev dgram,id=n0,local.type=unix,local.path=$s/$1,remote.type=unix,remote.path=$s/$2" \
	     "-device virtio-net-pci,netdev=n0,mac=52:54:00:09:01:0$3,host_mtu=4200,romfile="
}

opts=() out='' quiet='' ka=${LAB_KV:-$(lab_series | tail -n1)} kb=$ka
while getopts k:m:c:t:o:a:q f; do
	case $f in
	k) ka=${OPTARG%,*} kb=${OPTARG#*,} ;;
	o) out=$OPTARG ;;
	q) quiet=-q ;;
	*) opts+=("-$f" "$OPTARG") ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || lab_die "usage: run-pair.sh [run.sh options] JOB-A JOB-B [FILE...]"
ja=$1 jb=$2; shift 2
s=$(mktemp -d); trap 'rm -rf "$s"' EXIT
[ -n "$out" ] || out=$s/out
mkdir -p "$out"; rm -f "$out"/barrier-* "$out"/ended-* "$out"/a.rc "$out"/b.rc
"$lab_dir/kernel.sh" "$ka" >/dev/null; "$lab_dir/kernel.sh" "$kb" >/dev/null
LAB_NODE=b LAB_NET=$(net b a 2) "$lab_dir/run.sh" -k "$kb" -o "$out" $quiet "${opts[@]}" "$jb" "$@" > >(sed -u 's/^/b| /') 2>&1 & pb=$!
rc=0
LAB_NODE=a LAB_NET=$(net a b 1) "$lab_dir/run.sh" -k "$ka" -o "$out" $quiet "${opts[@]}" "$ja" "$@" > >(sed -u 's/^/a| /') 2>&1 || rc=$?
wait $pb || { b=$?; [ $rc != 0 ] || rc=$b; }
exit $rc
