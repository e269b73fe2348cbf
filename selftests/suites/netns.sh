# SPDX-License-Identifier: GPL-2.0
# Another network namespace: without an RDMA device nothing goes in or out, ports are its
# own, and it can go with sockets in it. Devices shared by all namespaces, or each one's own.
# topology: one
# time: 150
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

begin_there

bg here sdp_try server 0.0.0.0 1004
bg_ready here ready
no_way() { outcome "$1" "ENETUNREACH EHOSTUNREACH" "$2" 1004 "${there[@]}"; }
no_way "the first namespace's loopback isn't ours" 127.0.0.1
no_way "... nor in IPv6" ::1
no_way "its device's address is no use over a plain interface" "$LAB_IP"
no_way "its plain address neither" 10.9.8.1
no_way "nor the own plain address" 10.9.8.2

bg there "${there[@]}" sdp_try server 0.0.0.0 1004
check "a port taken in one namespace is free in the other" bg_ready there ready
equal "/proc/net/sdp shows the own sockets only" "$(grep -c :03EC /proc/net/sdp)" 1
equal "... there, too" "$("${there[@]}" grep -c :03EC /proc/net/sdp)" 1
works() { within 30 sdp_try client "$LAB_IP" 1004 both 100000; }
check "a connect here reaches the listener here" works
check "... by another address of this host, one without RDMA" \
	within 30 sdp_try client 10.9.8.1 1004 both 100000
equal "the listener there got nothing of it" "$(cat "$TMP/there.log")" ready

# Counters and sysctls
counter() { "${there[@]}" grep "^$1 " /proc/net/sdpstats | tr -s ' ' | cut -d' ' -f2; }
echo 3 >/proc/sys/net/sdp/connect_retries
equal "sysctls are the namespace's own" "$("${there[@]}" cat /proc/sys/net/sdp/connect_retries)" 15
echo 15 >/proc/sys/net/sdp/connect_retries
equal "counters are the namespace's own" "$(counter PassiveOpens)" 0
at_least "... and count" "$(counter AttemptFails)" 1

# A namespace lives as long as a process in it, and goes with the last one's sockets
check "the namespace can be deleted" ip netns delete sdp-test
bg_kill there
gone() { ! ip link show veth0 2>/dev/null; }
check "... and goes when its processes do" until_true 15 gone
check "the first one's listener lives" works

# Devices of one namespace only, which can be chosen when there is no other
exclusive() { rdma system set netns exclusive; }
check "each device in a namespace of its own" until_true 15 exclusive
begin_there
no_way "what isn't ours isn't used: another namespace's device" "$LAB_IP"
no_way "... nor by its loopback" 127.0.0.1
check "... and is, where it is" works
ip netns delete sdp-test
check "... and goes as before" until_true 15 gone
shared() { rdma system set netns shared; }
check "and shared again" until_true 15 shared
