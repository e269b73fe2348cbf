# SPDX-License-Identifier: GPL-2.0
# The ground the other suites stand on: soft-RoCE in one guest, no module of ours.
# topology: one
# time: 60
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

rping_over() { # ADDRESS
	bg rping rping -s -a "$1" -C 3
	until_true 10 cm_listens
	within 20 rping -c -a "$1" -C 3 && bg_wait rping 10
}

cm_listens() { rdma resource show cm_id | grep -q LISTEN; }

check "rxe0 is active" grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state
check "rping over IPv4" rping_over "$LAB_IP"
check "rping over IPv6" rping_over "$LAB_IP6"
equal "no queue pair but the device's own is left" "$(rdma_count qp)" 1
