#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh [JOB]: run a benchmark, run.sh or JOB.sh beside it, in a guest whose time counts
# instructions, so that a run repeats on a busy machine. Figures land in
# build/bench/KERNEL[-JOB].json.  K= chooses the kernel.
# shellcheck source=selftests/vm/lib.sh
set -euo pipefail
. "$(dirname "$0")/../../selftests/vm/lib.sh"

kv=$(lab_kv "${K:-$(lab_series | head -n1)}")
job=${1:-run}
out=$lab_tree/build/bench
mkdir -p "$out"
${MAKE:-make} -C "$lab_tree" modules tools build/az_cost build/sdp_conns "KVER=$kv" >"$out/build.log" 2>&1 || {
	tail -n 30 "$out/build.log"
	lab_die "building failed; all of it is in build/bench/build.log"
}
${CC:-cc} -O2 -Wall -Wextra -shared -fPIC -o "$lab_tree/build/cq_yield.so" \
	"$lab_tree/tools/bench/preload/cq_yield.c"

# a copy by rep movs is absurdly slow when emulated
export LAB_ACCEL=${LAB_ACCEL-icount} LAB_CPU=${LAB_CPU:-max,-erms,-fsrm}
rc=0
"$lab_dir/run.sh" -q -k "$kv" -c 1 -t "${BENCH_TIME:-1800}" -o "$out" "$lab_tree/tools/bench/$job.sh" || rc=$?
grep -v '^LAB-' "$out/one.out" || :
json=$out/$(lab_name "$kv")${1:+-$1}.json
[ ! -e "$out/bench.json" ] || mv "$out/bench.json" "$json"
[ "$job" != zcopy ] || [ $rc != 0 ] || "$(dirname "$0")/zcopy-plot.sh" "$json"
[ $rc = 0 ] || lab_die "the benchmark failed ($rc); the guest's console is build/bench/one.console"
