# SPDX-License-Identifier: GPL-2.0
# What the module shows: /proc/net/sdp as OFED had it, counters, tracepoints, sysctls;
# and that it says nothing in the kernel's log.
# topology: one
# time: 150
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

echo "observe: begin" >/dev/kmsg

# ---- /proc/net/sdp ----

sockets() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$LAB_IP" "$LAB_IP6" <<-'EOF'
	import os, re, socket, struct, sys
	from sdpsock import sdp_listen, sdp_socket, soon

	def check(got, wanted):
	    assert got == wanted, f'{got!r} is not {wanted!r}'

	def hexaddr(addr):
	    v6 = ':' in addr
	    raw = socket.inet_pton(socket.AF_INET6 if v6 else socket.AF_INET, addr)
	    return ''.join('%08X' % w for w in struct.unpack(f'={len(raw) // 4}I', raw))

	ROW = re.compile(r' *(\d+): ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) +(\d+) (\d+)'
	                 r'\t([0-9A-F]{8}):([0-9A-F]{8}) ([0-9A-F]+) *')

	def table():
	    with open('/proc/net/sdp') as f:
	        head, *rows = f.read().split('\n')[:-1]
	    check(head.split(), 'sl local_address rem_address uid inode rx_queue tx_queue state'.split())
	    check({len(line.expandtabs(1)) for line in [head] + rows}, {148})
	    rows = [ROW.fullmatch(r) or check(r, 'a row') for r in rows]
	    check([int(r[1]) for r in rows], list(range(len(rows))))
	    return {int(r[7]): r for r in rows}

	def entry(sock):
	    r = table()[os.fstat(sock.fileno()).st_ino]
	    return r[2], r[3], r[4], r[5], int(r[6]), int(r[8], 16), int(r[9], 16), int(r[10], 16)

	def row(sock, local, lport, remote, rport, rx, tx, state):
	    wanted = (hexaddr(local), '%04X' % lport, hexaddr(remote), '%04X' % rport,
	              os.getuid(), rx, tx, state)
	    check(soon(lambda: entry(sock), wanted), wanted)

	def family(addr, any):
	    lst = sdp_listen((any, 1003))
	    row(lst, any, 1003, any, 0, 0, 0, 10)
	    c = sdp_socket(addr)
	    c.connect((addr, 1003))
	    port = c.getsockname()[1]
	    row(lst, any, 1003, any, 0, 1, 0, 10)
	    s, _ = lst.accept()
	    c.sendall(b'x' * 1234)
	    row(c, addr, port, addr, 1003, 0, 0, 1)
	    row(s, addr, 1003, addr, port, 1234, 0, 1)
	    c.shutdown(socket.SHUT_WR)
	    row(c, addr, port, addr, 1003, 0, 0, 5)
	    row(s, addr, 1003, addr, port, 1234, 0, 8)
	    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	    s.setblocking(False)
	    sent = 0
	    try:
	        while True:
	            sent += s.send(b'y' * 4096)
	    except BlockingIOError:
	        pass
	    check(soon(lambda: entry(s)[6] + entry(c)[5], sent), sent)
	    while s.recv(4096):
	        pass
	    s.close()
	    while c.recv(65536):
	        pass
	    c.close()
	    lst.close()

	family(sys.argv[1], '0.0.0.0')
	family(sys.argv[2], '::')
	idle = sdp_socket('')
	row(idle, '0.0.0.0', 0, '0.0.0.0', 0, 0, 0, 7)
	EOF
}
check "/proc/net/sdp: header, rows of listeners and connections, IPv4 and IPv6" sockets
ends() { ! awk 'NR > 1' /proc/net/sdp | grep -q .; }
check "/proc/net/sdp: nothing of what was closed stays" until_true 10 ends
walk() { for _ in $(seq $((SLOW > 1 ? 20 : 100))); do cat /proc/net/sdp; done >/dev/null; }
bg cycles sdp_cycle --self -n $((SLOW > 1 ? 40 : 150)) -j 4 "$LAB_IP"
check "/proc/net/sdp: can be read while sockets come and go" walk
check "... which they do" bg_wait cycles 30

# ---- counters ----

sysctl -qw net.sdp.mode=1
stat_mark
check "traffic" sdp_xfer --self "$LAB_IP" -q -P 2 -b 1M
for c in ActiveOpens PassiveOpens SendData RecvData SendCredits RecvCredits SendCtrl RecvCtrl \
	BufAlloc BufReuse RxRecycle; do
	at_least "$c counts" "$(stat_delta $c)" 1
done
equal "as many opened as accepted" "$(stat_delta ActiveOpens)" "$(stat_delta PassiveOpens)"
equal "Established counts both ends" "$(stat_delta Established)" $(($(stat_delta ActiveOpens) * 2))
equal "SendBytes is what was sent, but for what sdp_xfer tells its server" \
	"$(($(stat_delta SendBytes) >> 12))" $((4 << 20 >> 12))
equal "RecvBytes is as much" "$(stat_delta RecvBytes)" "$(stat_delta SendBytes)"
equal "SendCopied is as much" "$(stat_delta SendCopied)" "$(stat_delta SendBytes)"
at_least "receive buffers have grown with it" "$(stat_delta RxResize)" 1
equal "/proc/net/sdpstats can be read by anybody" "$(command stat -c %a /proc/net/sdpstats)" 444
# AZ-SDP's ends of buffers, copied for the peer to read, would count as both
sysctl -qw net.sdp.mode=0 net.sdp.az_thresh=0
stat_mark
check "traffic that isn't copied" sdp_xfer --self "$LAB_IP" -q -P 1 -b 4M -S 1M:1M -v 1
for c in SrcAvailSent RdmaReads SendZcopy RecvZcopy; do at_least "$c counts" "$(stat_delta $c)" 1; done
equal "as many adverts received as sent" "$(stat_delta SrcAvailRcvd)" "$(stat_delta SrcAvailSent)"
equal "SendBytes is what was sent either way" "$(($(stat_delta SendBytes) >> 12))" $((8 << 20 >> 12))
equal "RecvBytes is as much" "$(stat_delta RecvBytes)" "$(stat_delta SendBytes)"
equal "... which was copied or not" "$(($(stat_delta SendCopied) + $(stat_delta SendZcopy)))" \
	"$(stat_delta SendBytes)"
sysctl -qw net.sdp.az_thresh=262144
equal "nothing was reset, refused, failed or malformed" "$(awk '
	/^(AttemptFails|Resets|Aborts|Rej|Bad|BufFail|Rnr)/ { old = was[$1]; if (NR != FNR && $2 != old) print }
	NR == FNR { was[$1] = $2 }' "$TMP/stats" /proc/net/sdpstats)" ""

# ---- SDP_INFO ----

check "SDP_INFO" within 60 python3 -B "$LAB_TREE/selftests/sdp_info.py" "$LAB_IP"

# ---- tracepoints ----

cd /sys/kernel/tracing || exit
echo 1 >events/sdp/enable
echo >trace
sdp_cycle --self -n 3 -e client -b 100 "$LAB_IP" >/dev/null
echo 0 >events/sdp/enable
cp trace "$TMP/trace"
cd - >/dev/null || exit
traced() { grep -qE "$1" "$TMP/trace"; }
check "traced: a listener" traced 'sdp_state: sk=[0-9a-f]+ sport=[0-9]+ dport=0 CLOSE -> LISTEN'
check "traced: a connect" traced 'sdp_state: .* dport=[1-9][0-9]* CLOSE -> SYN_SENT'
check "traced: an accept" traced 'sdp_state: .* SYN_RECV -> ESTABLISHED'
check "traced: an active close" traced 'sdp_state: .* FIN_WAIT2 -> TIME_WAIT'
check "traced: a passive close" traced 'sdp_state: .* CLOSE_WAIT -> LAST_ACK'
check "traced: data sent" traced 'sdp_tx: .* mid=0xff .*bufs=[1-9].*payload=[1-9].*credits='
check "traced: data received" traced 'sdp_rx: .* mid=0xff .*bufs=[1-9].*payload=[1-9].*credits='
check "traced: DisConn sent and received" traced 'sdp_tx: .* mid=0x2 '
equal "traced: every message sent is received" "$(grep -c 'sdp_rx:' "$TMP/trace")" \
	"$(grep -c 'sdp_tx:' "$TMP/trace")"

# Zero copy: sends of 300000 bytes into a recv() that waits; one that isn't read for a second
echo 1 >/sys/kernel/tracing/events/sdp/enable
echo >/sys/kernel/tracing/trace
copies none 300000 2 >/dev/null
python3 -B "$LAB_TREE/selftests/sdp_info.py" "$LAB_IP" stall >/dev/null
echo 0 >/sys/kernel/tracing/events/sdp/enable
cp /sys/kernel/tracing/trace "$TMP/trace"
check "traced: an advert sent" traced 'sdp_advert_sent: .* SrcAvail va=0x[0-9a-f]+ rkey=0x[0-9a-f]+ len=262144'
check "traced: ... received" traced 'sdp_advert_rcvd: .* SrcAvail va=0x[0-9a-f]+ rkey=0x[0-9a-f]+ len=262144'
check "traced: ... over, at its sender" traced "sdp_advert_over: .* our SrcAvail len=262144 done=262144"
check "traced: ... and its receiver" traced "sdp_advert_over: .* peer's SrcAvail len=262144 done=262144"
check "traced: an RDMA READ" traced 'sdp_rdma_begin: .* read va=0x[0-9a-f]+ rkey=0x[0-9a-f]+ len=262144'
check "traced: ... and its end" traced 'sdp_rdma_end: .* read len=262144 status=0'
check "traced: adverts taken back" traced 'sdp_cancel: .* our SrcAvail'
check "traced: ... as the other end sees it" traced "sdp_cancel: .* peer's SrcAvail"
check "traced: SendSm and why" traced 'sdp_sendsm: .* sent reason: cancelled'
check "traced: ... received" traced 'sdp_sendsm: .* received'
check "traced: a memory region taken" traced 'sdp_mr_get: dev=rxe0 key=0x[0-9a-f]+'
check "traced: ... its key changed" traced 'sdp_mr_renew: dev=rxe0 key=0x[0-9a-f]+ was=0x[0-9a-f]+ len=262144'
check "traced: ... given back" traced 'sdp_mr_put: dev=rxe0 key=0x[0-9a-f]+'
equal "traced: every RDMA operation begun has ended" "$(grep -c 'sdp_rdma_end:' "$TMP/trace")" \
	"$(grep -c 'sdp_rdma_begin:' "$TMP/trace")"
equal "traced: every region taken is given back" "$(grep -c 'sdp_mr_put:' "$TMP/trace")" \
	"$(grep -c 'sdp_mr_get:' "$TMP/trace")"
equal "traced: no key is used twice" "$(grep 'sdp_mr_renew:' "$TMP/trace" |
	sed 's/.* key=\([^ ]*\) .*/\1/' | sort | uniq -d)" ""

sysctl -qw net.sdp.mode=4
echo 1 >/sys/kernel/tracing/events/sdp/enable
echo >/sys/kernel/tracing/trace
copies none 300000 3 >/dev/null
echo 0 >/sys/kernel/tracing/events/sdp/enable
cp /sys/kernel/tracing/trace "$TMP/trace"
sysctl -qw net.sdp.mode=0
check "traced: a sink advertised" traced 'sdp_advert_sent: .* SinkAvail va=0x[0-9a-f]+ rkey=0x[0-9a-f]+ len=300000'
check "traced: ... received" traced 'sdp_advert_rcvd: .* SinkAvail va=0x[0-9a-f]+ rkey=0x[0-9a-f]+ len=300000'
check "traced: ... over, at its receiver" traced "sdp_advert_over: .* our SinkAvail len=300000 done=300000"
check "traced: ... and its sender" traced "sdp_advert_over: .* peer's SinkAvail len=300000 done=300000"
check "traced: an RDMA WRITE" traced 'sdp_rdma_begin: .* write va=0x[0-9a-f]+ rkey=0x[0-9a-f]+ len=300000'
check "traced: ... and its end" traced 'sdp_rdma_end: .* write len=300000 status=0'

# ---- sysctls ----

# takes NAME VALUE, refuses NAME VALUE
takes() {
	local f=/proc/sys/net/sdp/$1 old
	old=$(cat "$f") && echo "$2" >"$f" && [ "$(tr '\t' ' ' <"$f")" = "$2" ] && echo "$old" >"$f"
}
refuses() {
	local f=/proc/sys/net/sdp/$1 old
	old=$(cat "$f")
	! echo "$2" >"$f" 2>/dev/null && [ "$(cat "$f")" = "$old" ]
}
while read -r name good bad; do
	check "net.sdp.$name takes $good" takes "$name" "${good//_/ }"
	for v in ${bad//_/ }; do check "net.sdp.$name refuses $v" refuses "$name" "$v"; done
done <<-'EOF'
	connect_retries 3 -1_16
	cm_timeout 18 7_32
	retry_count 2 -1_8
	rcvbuf_initial_size 8192 1024_1048576
	fin_timeout 30 0_3601
	max_orphans 0 -1
	rmem_default 65536 1
	wmem_default 65536 1
	zcopy_thresh 4096 -1_1_4095_1048577
	mode 4 -1_5
	read_ahead 2 -1_3
	az_thresh 4096 -1_1_4095_1048577
	az_fault_max 100 -1_101
	policy 2 -1_3
	recv_poll 50 -1_10001
	cache_max 4096 -1_4097
	mem 100_200_300
EOF
equal "sysctls are these and no others" "$(cd /proc/sys/net/sdp && echo *)" \
	"az_fault_max az_policy az_recv az_thresh cache_flush cache_max cache_timeout cm_timeout \
connect_retries fallback_timeout fin_timeout max_orphans mem mode policy rcvbuf_initial_size read_ahead \
recv_poll retry_count rmem_default sink_thresh wmem_default zcopy_thresh"

# ---- and else silence ----

# ... of ours: a busy host makes the emulated machine's clock complain, and a guest that is new
# gets its random numbers now
said() {
	dmesg | awk '/observe: begin/ { p = 1; next } p' |
		grep -vE 'observe:|hrtimer: interrupt took|random: crng init done'
}
equal "the kernel's log says nothing" "$(said)" ""
