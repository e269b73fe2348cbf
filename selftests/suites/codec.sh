# SPDX-License-Identifier: GPL-2.0
# The wire codec in user space: unit tests, and a short run of the fuzzers.
# topology: host
# time: 300
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
shopt -s nullglob

for t in "$LAB_TREE"/selftests/unit/*_test.c; do
	n=$(basename "$t" .c)
	check "unit: $n" "$BUILD/unit/$n"
done
for t in "$LAB_TREE"/selftests/fuzz/*.c; do
	n=$(basename "$t" .c)
	check "fuzz: $n" "$LAB_TREE/selftests/fuzz.sh" 10 "$BUILD/fuzz/$n"
done
[ $tap_n != 0 ] || skip_all "no unit tests"
