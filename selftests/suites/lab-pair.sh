# SPDX-License-Identifier: GPL-2.0
# The ground the other suites stand on: two guests on one cable, no module of ours.
# topology: pair
# time: 90
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

rping_over() { # ADDRESS-OF-A
	if [ "$LAB_NODE" = a ]; then
		bg rping rping -s -a "$1" -C 3
		until_true 10 cm_listens
		lab_barrier "serving-$1" && bg_wait rping 30
	else
		lab_barrier "serving-$1" && within 20 rping -c -a "$1" -C 3
	fi
}

cm_listens() { rdma resource show cm_id | grep -q LISTEN; }

a4=$LAB_IP a6=$LAB_IP6
[ "$LAB_NODE" = a ] || { a4=$LAB_PEER a6=$LAB_PEER6; }
check "ping" ping -c 2 -W 5 "$LAB_PEER"
check "rping over IPv4" rping_over "$a4"
check "rping over IPv6" rping_over "$a6"
check "netem can be had" tc qdisc replace dev "$LAB_DEV" root netem delay 1ms
tc qdisc del dev "$LAB_DEV" root
