# SPDX-License-Identifier: GPL-2.0
# In the guest: helpers for job scripts (sourced by guest-run, exported to the job).
# shellcheck shell=bash

# One guest on its own: soft-RoCE over a dummy device, 10.9.0.1 and fd09::1.
lab_rxe_dummy() {
	export LAB_DEV=dummy0 LAB_IP=10.9.0.1 LAB_IP6=fd09::1
	export LAB_PEER=$LAB_IP LAB_PEER6=$LAB_IP6
	modprobe dummy numdummies=0 && ip link add dummy0 type dummy && lab_rxe 24 64
}

# Pair: soft-RoCE over the virtio NIC; node a is 10.9.1.1 and fd09:1::1, node b ...2.
lab_rxe_nic() {
	local n=1 o=2
	[ "$LAB_NODE" = a ] || { n=2 o=1; }
	export LAB_DEV=eth0 LAB_IP=10.9.1.$n LAB_IP6=fd09:1::$n
	export LAB_PEER=10.9.1.$o LAB_PEER6=fd09:1::$o
	modprobe virtio_net
	lab_wait 10 test -e /sys/class/net/eth0 || return 1
	lab_rxe 24 64
}

# lab_rxe PREFIX4 PREFIX6: addresses and soft-RoCE (rxe0) on LAB_DEV
lab_rxe() {
	ip addr add "$LAB_IP/$1" dev "$LAB_DEV" &&
	ip addr add "$LAB_IP6/$2" dev "$LAB_DEV" nodad &&
	ip link set "$LAB_DEV" mtu 4200 up &&
	modprobe rdma_rxe && rdma link add rxe0 type rxe netdev "$LAB_DEV" && lab_rdma_cm
}

lab_rdma_cm() { modprobe rdma_ucm && modprobe ib_uverbs && lab_wait 10 test -e /dev/infiniband/rdma_cm; }

# lab_wait SECONDS COMMAND...: until it succeeds
lab_wait() {
	local end=$((SECONDS + $1 + 1)); shift
	until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}

# lab_barrier NAME [SECONDS]: both nodes of a pair meet; fails if the other has ended
lab_barrier() {
	local other=a n=$1
	[ "$LAB_NODE" = a ] && other=b
	: >"/run/lab/barrier-$n-$LAB_NODE"
	lab_wait "${2:-$((120 * ${LAB_SLOW:-1}))}" lab_met "$n" $other
	[ -e "/run/lab/barrier-$n-$other" ]
}

lab_met() { [ -e "/run/lab/barrier-$1-$2" ] || [ -e "/run/lab/$2.rc" ] || [ -e "/run/lab/ended-$LAB_SUITE-$2" ]; }

# The module under test, built for the running kernel.
lab_sdp() { insmod "$LAB_TREE/build/$LAB_KV/sdp.ko" "$@"; }

export -f lab_rxe_dummy lab_rxe_nic lab_rxe lab_rdma_cm lab_wait lab_barrier lab_met lab_sdp
