#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shell.sh: an interactive shell in a guest with soft-RoCE up and sdp.ko loaded.
# K= chooses the kernel, CPUS= and MEM= the guest's size.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

kv=$(lab_kv "${K:-$(lab_series | tail -n1)}")
"$lab_dir/setup.sh" build lab
${MAKE:-make} -C "$lab_tree" modules "KVER=$kv"
${MAKE:-make} -C "$lab_tree" tools tests
job=$(mktemp); trap 'rm -f "$job"' EXIT
cat >"$job" <<'EOF'
dmesg -n 5
lab_rxe_dummy && lab_sdp
echo "kernel $LAB_KV, soft-RoCE on $LAB_IP and $LAB_IP6; programs are in the path; exit or ctrl-a x leaves"
export PATH=$LAB_TREE/build:$PATH PS1='\u@\h:\w\$ ' TERM=vt220
cd "$LAB_TREE" || cd /
bash --norc -i
exit 0
EOF
"$lab_dir/run.sh" -i -k "$kv" -c "${CPUS:-2}" -m "${MEM:-2G}" "$job"
