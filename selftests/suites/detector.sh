# SPDX-License-Identifier: GPL-2.0
# The lab sees what it must see: kernel complaints in a log, tainting, and guests
# that oops, complain or hang in earnest.
# topology: host
# time: 300
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
vm=$LAB_TREE/selftests/vm

# sees TEXT: the scanner finds fault with a log that has TEXT in it
sees() {
	printf '[    1.0] all is well\n[    2.0] %s\n[    2.1] Call Trace:\n' "$1" >"$TMP/log"
	if "$vm/scan.sh" "$TMP/log" >"$TMP/report"; then
		note "not seen"
	elif ! grep -qF -- "$1" "$TMP/report"; then
		note "seen, not reported"
	else
		ok "seen: $1"; return
	fi
	not_ok "seen: $1"
}

# passes TEXT: the scanner does not mind TEXT
passes() {
	printf '[    2.0] %s\n' "$1" >"$TMP/log"
	check "passes: $1" "$vm/scan.sh" "$TMP/log"
}

while read -r line; do sees "$line"; done <<'EOF'
WARNING: CPU: 1 PID: 512 at net/sdp/conn.c:120 sdp_post+0x1c/0x80 [sdp]
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
WARNING: suspicious RCU usage
INFO: trying to register non-static key.
BUG: kernel NULL pointer dereference, address: 0000000000000010
BUG: unable to handle page fault for address: ffffc90000123000
BUG: KASAN: slab-use-after-free in sdp_release+0x30/0x90 [sdp]
BUG: KFENCE: use-after-free read in sdp_poll+0x12/0x40 [sdp]
BUG: Bad page state in process sdp_xfer  pfn:1a2b3
BUG: Bad rss-counter state mm:00000000f3 type:MM_ANONPAGES val:3
BUG: sleeping function called from invalid context at include/linux/sched/mm.h:274
BUG: scheduling while atomic: sdp_xfer/512/0x00000002
BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!
BUG: soft lockup - CPU#0 stuck for 22s! [sdp_xfer:512]
BUG sdp_sock (Tainted: G OE): Redzone overwritten
BUG sdp_sock (Tainted: G OE): Objects remaining in sdp_sock on __kmem_cache_shutdown()
kernel BUG at net/core/skbuff.c:112!
Oops: 0000 [#1] PREEMPT SMP NOPTI
general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1]
Kernel panic - not syncing: Fatal exception
refcount_t: underflow; use-after-free.
list_del corruption. prev->next should be ffff888, but was 0000
INFO: task sdp_xfer:512 blocked for more than 120 seconds.
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
kmem_cache_destroy sdp_sock: Slab cache still has objects when called from sdp_exit+0x1c/0x40 [sdp]
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
UBSAN: array-index-out-of-bounds in net/sdp/tx.c:41:9
DMA-API: rxe rxe0: device driver frees DMA memory with different size
ODEBUG: free active (active state 0) object type: work_struct hint: sdp_work
unregister_netdevice: waiting for dummy0 to become free. Usage count = 3
page_alloc: sdp_xfer: page allocation failure: order:4, mode:0x40dc0
cm_destroy_id_wait_timeout: cm_id=ffff888005167000 timed out. state 10 -> 0, refcnt=1
EOF
while read -r line; do passes "$line"; done <<'EOF'
sdp: loading out-of-tree module taints kernel.
sdp: module verification failed: signature and/or required key missing - tainting kernel
rcu: RCU callback double-/use-after-free debug is enabled.
DMA-API: preallocated 65536 debug entries
kmemleak: Kernel memory leak detector initialized (mem pool available: 14973)
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
dummy0 speed is unknown, defaulting to 1000
EOF

taint() { echo "$1" >"$TMP/taint"; "$vm/scan.sh" -t "$TMP/taint"; }
check "taint by an unsigned out-of-tree module passes" taint 12288
check_fails "taint by a warning is seen" 1 taint $((12288 + 512))
check_fails "taint by a bad page is seen" 1 taint 32
printf 'WARNING: asked for\n' >"$TMP/log"
check "a complaint that is allowed passes" "$vm/scan.sh" -a 'asked for' "$TMP/log"

# guest SECONDS SCRIPT: in a guest; everything it says is shown on failure
guest() { "$vm/run.sh" -c 1 -m 1G -t "$1" -o "$TMP/guest" - <<<"$2"; }
check "a guest without complaints passes" guest 90 'echo fine'
check_fails "a job's exit status arrives" 7 guest 90 'exit 7'
check_fails "a guest's complaint fails a job that succeeds" 99 \
	guest 90 'echo "WARNING: CPU: 0 PID: 1 at test" >/dev/kmsg'
check_fails "a guest that oopses fails" 98 guest 90 'echo c >/proc/sysrq-trigger; sleep 60'
check "... and the oops was seen" grep -q 'sysrq_handle_crash\|Kernel panic' "$TMP/guest/one.bad"
check_fails "a guest that hangs is killed" 98 guest 20 'echo alive >/dev/kmsg; sleep 600'
check "... and its console is kept" test -e "$TMP/guest/one.console"
