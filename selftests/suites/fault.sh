# SPDX-License-Identifier: GPL-2.0
# Faults injected where zero copy allocates, pins and posts: what can go another way does, what
# can't ends its connection, and nothing hangs, leaks or is left behind. The debug kernel alone
# has the means.
# topology: one
# time: 240
# debug: only
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
cd /sys/kernel/debug || exit
[ -e fail_function/inject ] || skip_all "no fault injection in this kernel"

echo -1 >fail_function/times
for f in fail*/verbose; do echo 0 >"$f"; done

# inject FUNCTION RETURN-VALUE PERCENT; heal
inject() {
	echo "$1" >fail_function/inject || return
	printf '%#x\n' "$2" >"fail_function/$1/retval" && echo "$3" >fail_function/probability
}
heal() {
	echo >fail_function/inject
	echo 0 >fail_function/probability
}

# What hangs is ended by the time limit, which is told from an error
xfer() { within 12 sdp_xfer --self -q -P 2 -b 2M -S 1K:1M -w $((20 * SLOW)) "$@" "$LAB_IP"; }
ends() { xfer "$@" || [ $? -lt 124 ]; }		# well or not, but by itself

for mode in 0 2 4; do
	set_mode $mode
	stat_mark
	inject sdp_mr_alloc 0 50
	check "mode $mode: half of all memory regions can't be made: copied" xfer --seed 41
	heal
	inject sdp_mr_pin_user -14 20
	check "mode $mode: memory can't be pinned now and then: copied" xfer --seed 42
	heal
	inject sdp_mr_map -5 20
	check "mode $mode: ... nor mapped: copied" xfer --seed 43
	heal
	at_least "mode $mode: that is counted" "$(stat_delta ZcopyNoMr)" 1
	equal "mode $mode: and ends no connection" "$(stat_delta Resets) $(stat_delta AbortsSent)" "0 0"
	for percent in 1 5; do
		inject sdp_post_send -12 $percent
		check "mode $mode: $percent % of what is posted fails: connections end" ends --seed 44
		heal
		check "... entirely" until_true 20 none_left
		check "... and the next one works" xfer --seed 45
	done
done

# Every allocation and every copy of a call in turn; on x86 there is no telling those of sdp.ko from
# others. But not the interpreter's own locks.
echo 1 >fail_futex/ignore-private
echo 0 >failslab/ignore-gfp-wait
echo 0 >fail_page_alloc/ignore-gfp-wait
echo 0 >fail_page_alloc/ignore-gfp-highmem
echo 0 >fail_page_alloc/min-order
for mode in 0 1 3 4; do
	check "mode $mode: an allocation of a call fails, each in its turn" \
		within 60 python3 -B "$LAB_TREE/selftests/fault_calls.py" "$LAB_IP" $mode
done
check "... and connections end" until_true 20 none_left
check "... and the next one works" xfer --seed 54
set_mode 0
cd / || exit
