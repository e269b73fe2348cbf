# SPDX-License-Identifier: GPL-2.0
# Is an SDP socket like a TCP socket? The same questions to both, by both ways to an SDP
# socket, in all modes of transfer, and by a program of 32 bits; io_uring; security modules;
# users within the kernel. Where the answers may differ is told in Documentation/socket-api.rst.
# topology: one
# time: 400
# needs: python3
# allow: tries to set negative timeout
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# The first socket with SO_TIMESTAMP and the last make the kernel rewrite code that other
# processors are running, and QEMU may show them neither the old nor the new ("Oops: int3"):
# let there be one all the time.
bg stamps python3 -c 'import socket, time; s = socket.socket(); s.setsockopt(1, 29, 1); print("ready", flush=True); time.sleep(3600)'
bg_ready stamps ready

# Most of a run is waiting, so all go on at the same time
# start NAME [sdp_contract options]
start() { start_as sdp_contract "$@"; }
start_as() { bg "$2" "$1" --slow $((SLOW * 4)) "${@:3}"; }

# judge NAME: what isn't as TCP has it nor as the table says is told; the rest is one line
judge() {
	local rc=0
	bg_wait "$1" 180 || rc=$?
	grep -E -B 4 '^not ok' "$TMP/$1.log" | while IFS= read -r line; do note "${line#\# }"; done
	note "$(tail -n 1 "$TMP/$1.log")"
	equal "$1: as TCP" $rc 0
	at_least "$1: enough has been asked" "$(grep -c '^\(not \)\?ok' "$TMP/$1.log")" "${2:-800}"
}

start "family 27" -a "$LAB_IP" --table "$TMP/answers"
start "protocol 257, IPv6" -f ipproto -a "$LAB_IP6"
start_as sdp_contract32 "a program of 32 bits" -a "$LAB_IP"
judge "family 27"
judge "protocol 257, IPv6"
judge "a program of 32 bits"
# ... and what the documentation says of them. The table is the newest kernel's.
if [[ $LAB_KV = 6.12.* ]]; then
	check "the table in socket-api.rst is right (else selftests/contract/table.sh writes it)" \
		"$LAB_TREE/selftests/contract/table.sh" --check answers "$TMP/answers"
fi

hosts=([1]=127.0.0.1 [2]=$LAB_IP6 [3]=127.0.0.1)
for mode in 1 2 3; do
	start "mode $mode" -f ipproto -a "${hosts[mode]}" --mode $mode -t '[!I]*'
done
for mode in 1 2 3; do judge "mode $mode" 500; done

for fam in sdp ipproto; do
	within 30 sdp_uring_ops tcp 127.0.0.1 >"$TMP/uring.tcp" 2>&1
	within 30 sdp_uring_ops $fam "$LAB_IP" >"$TMP/uring.$fam" 2>&1
	check "io_uring, $fam: as TCP" diff "$TMP/uring.tcp" "$TMP/uring.$fam"
done
at_least "io_uring: enough has been asked" "$(wc -l <"$TMP/uring.tcp")" 25

cgroup2_mount
check "security modules and cgroups: asked as with TCP" within 60 \
	python3 -B "$LAB_TREE/selftests/lsm_hooks.py" "$LAB_IP"
check "BPF programs of a cgroup refuse, and redirect connects" within 60 \
	python3 -B "$LAB_TREE/selftests/cgroup_bpf.py" "$LAB_IP"

# kernel_user NAME PARAMETERS...
kernel_user() {
	local name=$1; shift
	check "kernel users: $name" insmod "$BUILD/$LAB_KV/sdp_kuser.ko" "$@"
	rmmod sdp_kuser 2>/dev/null || note "$(dmesg | grep sdp_kuser | tail -n 3)"
}
kernel_user "TCP" family=2
kernel_user "family 27" family=27 addr="$LAB_IP"
kernel_user "protocol 257" family=2 protocol=257 addr="$LAB_IP"
bg_stop stamps
