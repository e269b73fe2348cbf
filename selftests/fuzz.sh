#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fuzz.sh SECONDS FUZZER...: run each of the libFuzzer programs that long.  What
# they find interesting is kept in build/fuzz/corpus, seeds are in selftests/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1; shift
rc=0
for f; do
	n=$(basename "$f")
	c=build/fuzz/corpus/$n
	mkdir -p "$c"
	dirs=("$c")
	[ ! -d "selftests/fuzz/corpus/$n" ] || dirs+=("selftests/fuzz/corpus/$n")
	echo "# $n: $seconds s"
	"$f" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="build/fuzz/$n-" "${dirs[@]}" || rc=1
done
exit $rc
