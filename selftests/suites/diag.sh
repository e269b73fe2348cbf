# SPDX-License-Identifier: GPL-2.0
# sock_diag and sdpstat: what they tell is exact, with many sockets and while these come and
# go; filters, JSON, rates, namespaces, and connections reset by an administrator.
# topology: one
# time: 240
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

fails_with() { local text=$1; shift; ! "$@" 2>"$TMP/err" && grep -qF "$text" "$TMP/err"; }
if ! lsmod | grep -q '^sdp '; then
	check "without the module sdpstat says so" fails_with "sdp.ko isn't loaded" sdpstat
	check "... counters as well" fails_with "sdp.ko isn't loaded" sdpstat -s
fi
sdp_load || exit
n=150

raw() { within 30 python3 -B "$LAB_TREE/selftests/diag_raw.py" "$1" "$LAB_IP"; }
count() { sdpstat -H "$@" | wc -l; }

# hold NAME [sdp_cycle options]: connections that stay open until let_go
hold() {
	local name=$1; shift
	mkfifo "$TMP/$name.stdin"
	sdp_cycle --self --idle -w $((30 * SLOW)) "$@" <"$TMP/$name.stdin" >"$TMP/$name.log" 2>&1 &
	bg_pid[$name]=$!
	exec 5>"$TMP/$name.stdin"
	bg_ready "$name" 'connections open' 60
}
let_go() { exec 5>&-; bg_wait "$1" 60; }

# py NAME CODE: python with the sockets of sdpstat -j -a -p as `socks` on stdin
py() {
	sdpstat -j -a -p >"$TMP/json" || return
	python3 -c "import json; socks = json.load(open('$TMP/json'))['sockets']
$1"
}

# ---- the interface ----

check "malformed requests are refused, each with its errno" raw malformed
check "one socket can be asked for by its cookie, of either entry" raw get_one
check "a dump that rests meets no socket twice and misses none that stays" raw dump_rests
check "a dump nobody reads keeps no port" raw dump_unread
check "dumps don't disturb each other" raw two_at_once
check "anybody may look, and not destroy" raw unprivileged

# ---- many ----

hold many -o $n "$LAB_IP" || exit
equal "$n connections, both ends" "$(count)" $((2 * n))
port=$(sdpstat -lH | awk '{ sub(/.*:/, "", $4); print $4 }')
equal "each once" "$(sdpstat -eH | grep -o 'sk:[0-9a-f]*' | sort -u | wc -l)" $((2 * n))
equal "as many as /proc/net/sdp has" "$(count -a)" $(($(wc -l </proc/net/sdp) - 1))
equal "all established" "$(count state established)" $((2 * n))
equal "all on the device" "$(count device rxe0)" $((2 * n))
equal "the clients'" "$(count dport = "$port")" "$n"
equal "the listener's" "$(count sport = "$port")" "$n"
equal "the listener" "$(count -l)" 1
equal "the listener is among the servers' sockets" "$(count -a sport "$port")" $((n + 1))
equal "both ways: what a filter says and what its contrary says is all" \
	"$(($(count sport gt 40000) + $(count not sport gt 40000)))" $((2 * n))
equal "an address" "$(count dst "$LAB_IP")" $((2 * n))
equal "a prefix, port and or" "$(count dst "$LAB_IP/8" "(" sport "$port" or dport "$port" ")")" $((2 * n))
equal "no IPv6" "$(count -6)" 0
every_socket_has_an_owner() {
	py "
conns = [s for s in socks if s['state'] == 'established']
assert len(conns) == 2 * $n
assert all(len(s['processes']) == 1 and s['processes'][0]['name'] == 'sdp_cycle' for s in conns)
assert len({(p['pid'], p['fd']) for s in conns for p in s['processes']}) == 2 * $n
assert len({s['inode'] for s in conns}) == len({s['cookie'] for s in conns}) == 2 * $n
assert all(s['device'] == 'rxe0' and s['tx']['credits'] >= 3 and s['rx']['posted'] >= s['rx']['credits'] >= 3
           and s['tx']['size'] == 4096 and s['memory']['rcvbuf'] for s in conns)
ends = {(s['local']['port'], s['peer']['port']) for s in conns}
assert {(b, a) for a, b in ends} == ends
"
}
check "JSON: every socket has its owner, device, credits and the other end" every_socket_has_an_owner
says() { local re=$1; shift; "$@" | grep -qE "$re"; }
check "text: a process" says 'users:\(\("sdp_cycle",pid=[0-9]+,fd=[0-9]+\)\)$' sdpstat -p

# Those that stay are told of exactly once, always, whatever else comes and goes
churn() {
	local end=$((SECONDS + 10 * SLOW)) got i=0
	while [ $SECONDS -lt $end ]; do
		got=$(sdpstat -H -e "(" sport "$port" or dport "$port" ")" | grep -o 'sk:[0-9a-f]*')
		[ "$(wc -l <<<"$got")" = $((2 * n)) ] || { echo "$(wc -l <<<"$got") sockets"; return 1; }
		[ "$(sort <<<"$got")" = "$kept" ] || { echo "others"; return 1; }
		i=$((i + 1))
	done
	echo "$i times"
}
proc_churn() {
	local p i
	p=$(printf ':%04X ' "$port")
	for i in $(seq $((SLOW > 1 ? 10 : 30))); do
		[ "$(grep -c "$p" /proc/net/sdp)" = $((2 * n + 1)) ] || { grep -c "$p" /proc/net/sdp; return 1; }
	done
}
kept=$(sdpstat -H -e | grep -o 'sk:[0-9a-f]*' | sort)
bg cycles sdp_cycle --self -n 100000 -j 4 -w $((30 * SLOW)) "$LAB_IP"
check "with others that come and go, those that stay are told of once each" churn
check "... by /proc/net/sdp as well" proc_churn
others() { [ "$(count -a not sport "$port" and not dport "$port")" -gt 0 ]; }
check "... and there are others" until_true 10 others
bg_stop cycles
check "an exchange on each, after that" let_go many

# ---- what it tells of one ----

one() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$LAB_IP" "$LAB_IP6" <<-'EOP'
	import json, os, socket, subprocess, sys
	from sdpsock import sdp_accept, sdp_listen, sdp_socket, soon

	def check(got, wanted, what):
	    assert got == wanted, f'{what}: {got!r} is not {wanted!r}'

	def sockets(*args):
	    out = subprocess.run(['sdpstat', '-j', '-a', *args], check=True, capture_output=True).stdout
	    return {s['inode']: s for s in json.loads(out)['sockets']}

	def told(s, *args):
	    return sockets(*args)[os.fstat(s.fileno()).st_ino]

	def queues(s):
	    t = told(s)
	    return t['recv_q'], t['send_q']

	def until(what, fn, wanted):
	    check(soon(fn, wanted), wanted, what)

	def pair(addr, backlog=7):
	    lst = sdp_listen((addr, 0), backlog)
	    c = sdp_socket(addr)
	    c.connect(lst.getsockname()[:2])
	    return lst, c

	for addr in sys.argv[1:]:
	    lst, c = pair(addr)
	    until('accept queue and backlog', lambda: queues(lst), (1, 7))
	    s = sdp_accept(lst)
	    check(queues(lst), (0, 7), 'accepted')
	    t = told(c)
	    check((t['local']['address'], t['local']['port']), c.getsockname()[:2], 'local')
	    check((t['peer']['address'], t['peer']['port']), lst.getsockname()[:2], 'peer')
	    check(t['family'], 28 if ':' in addr else 27, 'family')
	    check(told(s)['peer'], t['local'], "the other end's peer")

	    c.sendall(b'x' * 12345)
	    until('sent and unread', lambda: queues(s), (12345, 0))
	    until('... acknowledged', lambda: queues(c), (0, 0))
	    s.recv(345)
	    check(queues(s), (12000, 0), 'read in part')
	    check(told(s)['rx']['unread'], 12000, 'unread')
	    check((told(c)['sent']['bcopy'], told(s)['received']['bcopy']), (12345, 12345), 'counts')
	    c.shutdown(socket.SHUT_WR)
	    until('states', lambda: (told(c)['state'], told(s)['state']), ('fin-wait-2', 'close-wait'))
	    check(told(c)['shutdown'], 2, 'shutdown')

	# Zero copy: advertised is unread there and not sent here
	lst, c = pair(sys.argv[1])
	c.setsockopt(1025, 82, 2)
	c.settimeout(None)	# only a send() that may wait
	s = sdp_accept(lst)
	pid = os.fork()
	if not pid:
	    try:
	        c.sendall(bytes(200000))
	    finally:
	        os._exit(0)
	until('advertised', lambda: told(s)['rx']['advertised'] > 0 or told(s)['rx']['unread'] > 0, True)
	t = told(c)
	check(t['mode'], 'zcopy', 'mode')
	n = 0
	while n < 200000:
	    n += len(s.recv(65536))
	os.waitpid(pid, 0)
	check(queues(s), (0, 0), 'all read')
	sent, rcvd = told(c)['sent'], told(s)['received']
	check(sent['bcopy'] + sent['direct'] + sent['zcopy'], 200000, 'sent')
	check(rcvd['bcopy'] + rcvd['zcopy'] + rcvd['ahead'], 200000, 'received')
	check(sent['zcopy'], rcvd['zcopy'] + rcvd['ahead'], 'without a copy')
	assert sent['zcopy'] and sent['adverts'] == rcvd['adverts'], (sent, rcvd)

	# /proc tells the same of a descriptor
	def fdinfo(s):
	    with open(f'/proc/self/fdinfo/{s.fileno()}') as f:
	        return dict(line.rstrip().split(':\t', 1) for line in f if line.startswith('sdp-'))

	t = fdinfo(c)
	check((t['sdp-transport'], t['sdp-mode']), ('sdp', 'zcopy'), 'transport and mode in fdinfo')
	for info, way, wanted in ((t, 'sdp-sent', sent), (fdinfo(s), 'sdp-received', rcvd)):
	    words = info[way].split()
	    for name, n in zip(words[::2], words[1::2]):
	        if name != 'az':
	            check(int(n), wanted[name.replace('-', '_')], f'{name} in fdinfo')
	fallen = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 257)
	fallen.setsockopt(1025, 84, 1)
	fallen.bind((sys.argv[1], 0))
	fallen.listen()
	check(fdinfo(fallen)['sdp-transport'], 'tcp', 'fdinfo of one TCP has taken over')

	# The second entry is listed as well
	t = told(socket.socket(socket.AF_INET, socket.SOCK_STREAM, 257))
	check((t['family'], t['state']), (2, 'closed'), 'IPPROTO_SDP')
	t = told(socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 257))
	check((t['family'], t['state']), (10, 'closed'), 'IPPROTO_SDP, IPv6')

	# Owner, mark
	u = sdp_socket('')
	u.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 77)
	os.fchown(u.fileno(), 1234, 0)
	t = told(u, '-p')
	check(t['mark'], 77, 'mark')
	check(t['uid'], 1234, 'uid')
	check([(p['pid'], p['fd']) for p in t['processes']], [(os.getpid(), u.fileno())], 'processes')

	# A name is any bytes
	with open('/proc/self/comm', 'wb') as f:
	    f.write(b'a"b\\c\xff')
	check(told(u, '-p')['processes'][0]['name'], 'a"b\\c\xff', 'name')

	# An orphan's timer
	lst, c = pair(sys.argv[1])
	s = sdp_accept(lst)
	check([told(x).get('timer') for x in (c, s)], [None, None], 'nothing is due once connected')
	port = c.getsockname()[1]
	c.close()
	until("an orphan waits for the peer's end", lambda: [
	    (t['state'], t.get('timer', {}).get('name'), t['inode']) for t in sockets().values()
	    if t['local']['port'] == port], [('fin-wait-2', 'fin', 0)])
	EOP
}
check "queues, addresses, states, modes, owners and timers are the socket's" one

# ---- an administrator ends them ----

destroys() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$LAB_IP" <<-'EOP'
	import errno, select, socket, subprocess, sys, threading
	from sdpsock import fate, sdp_accept, sdp_listen, sdp_socket

	addr = sys.argv[1]

	def kill(*args):
	    out = subprocess.run(['sdpstat', '-K', '-H', *args], check=True, capture_output=True, text=True).stdout
	    return len(out.splitlines())

	def fails(fn, *codes):
	    try:
	        got = fn()
	    except OSError as e:
	        assert e.errno in codes, e
	        return
	    assert False, got

	lst = sdp_listen((addr, 0))
	port = lst.getsockname()[1]
	c = sdp_socket(addr)
	c.connect((addr, port))
	s = sdp_accept(lst)
	result = []
	t = threading.Thread(target=lambda: result.append(fate(c, 20)))
	t.start()
	assert kill(f'dport = {port}') == 1
	t.join()
	assert result == ['ECONNABORTED'], result
	assert fate(s) == 'ECONNRESET'
	fails(lambda: c.send(b'x'), errno.EPIPE)

	# Nobody has accepted it yet
	c = sdp_socket(addr)
	c.connect((addr, port))
	assert kill('state established', f'sport = {port}') == 1
	assert fate(c) == 'ECONNRESET'
	a = sdp_accept(lst)
	assert fate(a) == 'ECONNABORTED'

	# A listener with one in its queue and somebody in accept()
	c = sdp_socket(addr)
	c.connect((addr, port))
	sdp_accept(lst)
	accepting = []
	def accept():
	    try:
	        accepting.append(lst.accept())
	    except OSError as e:
	        accepting.append(e.errno)
	t = threading.Thread(target=accept)
	t.start()
	while not t.is_alive():
	    pass
	assert kill('-l', f'sport = {port}') == 1
	t.join(20)
	assert accepting == [errno.EINVAL], accepting
	fails(lambda: sdp_socket(addr).connect((addr, port)), errno.ECONNREFUSED)
	assert lst.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNABORTED
	lst.close()
	sdp_listen((addr, port))

	# Nothing to end: no error, and nothing listed
	idle = sdp_socket(addr)
	assert kill('-a', 'state closed') == 0

	# A connect under way
	c = sdp_socket(addr)
	c.setblocking(False)
	fails(lambda: c.connect(('10.9.0.77', 1)), errno.EINPROGRESS)
	assert kill('state syn-sent') == 1
	select.select([], [c], [], 20)
	assert c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNABORTED
	EOP
}
check "connections, a child, a listener, a connect under way are ended" destroys

# All of them, while they are at work
bg busy sdp_xfer --self "$LAB_IP" -q -P 4 -b 1G -w $((60 * SLOW))
at_work() { [ "$(count)" = 8 ]; }
check "a transfer of 4 connections" until_true 20 at_work
slay() { sdpstat -aK && bg_fails busy 30; }
check "... is ended" slay

# Whatever comes and goes. The first reset ends the program, so it is started again and again
cycling() { [ "$(count)" -gt 0 ]; }
cycles() {
	bg_stop cycles
	bg cycles sdp_cycle --self -n 100000 -j 4 -w $((30 * SLOW)) "$LAB_IP"
	until_true 10 cycling && sleep 0.0$((RANDOM % 10))
}
hunt() {
	local hits=0
	for _ in $(seq 12); do
		if bg_gone "${bg_pid[cycles]}"; then cycles || return; fi
		sdpstat -aKH >"$TMP/killed" || return
		[ ! -s "$TMP/killed" ] || hits=$((hits + 1))
	done
	echo "$hits times there were some"
	[ $hits -ge 2 ]
}
cycles
check "sockets that come and go can be ended at any moment" hunt
bg_stop cycles
gone() { [ "$(count -a)" = 0 ]; }
check "nothing is left of them" until_true 20 gone

# ---- namespaces ----

ip netns add diag-test
there() { ip netns exec diag-test "$@"; }
bg here sdp_try server 0.0.0.0 1004
bg_ready here ready
bg there ip netns exec diag-test sdp_try server 0.0.0.0 1005
bg_ready there ready
ports() { "$@" | awk '{ print $4 }'; }
equal "a namespace shows its own sockets" "$(ports there sdpstat -aH)" "0.0.0.0:1005"
equal "... and so does this one" "$(ports sdpstat -aH)" "0.0.0.0:1004"
cookie=$(sdpstat -aHe | grep -o 'sk:[0-9a-f]*')
elsewhere() {
	there python3 -B - "$((16#${cookie#sk:}))" <<-'EOP'
	import socket, struct, sys
	s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
	req = struct.pack('=BBBBI', 27, 0, 0, 0, 0) + bytes(40) + struct.pack('=Q', int(sys.argv[1]))
	s.send(struct.pack('=IHHII', 16 + len(req), 21, 5, 1, 0) + req)
	assert struct.unpack('=i', s.recv(4096)[16:20])[0] == -2
	EOP
}
check "one of another namespace can't be ended" elsewhere
equal "... and lives" "$(count -l)" 1
bg_stop there
bg_stop here
ip netns delete diag-test

# ---- counters ----

equal "counters are those of /proc/net/sdpstats" \
	"$(sdpstat -s -z | tr -s ' ')" "$(tr -s ' ' </proc/net/sdpstats)"
rates() {
	sdpstat -j -i 0.5 -c 4 >"$TMP/rates" &
	local pid=$!
	sdp_cycle --self -n 20 "$LAB_IP" || return
	wait $pid || return
	python3 - "$TMP/rates" <<-'EOP'
	import json, sys
	lines = [json.loads(l) for l in open(sys.argv[1])]
	assert len(lines) == 4, lines
	last = None
	for l in lines:
	    assert 0 < l['seconds'] < 60, l['seconds']
	    if last:
	        for k, v in l['counters'].items():
	            assert v == last['counters'][k] + l['growth'][k], k
	    last = l
	assert last['counters']['ActiveOpens'] >= 20
	EOP
}
check "rates: growth is what totals differ by" rates
check "... as text" says '^Counter +Total +/s$' sdpstat -i 0.1 -c 1

# ---- wrong usage ----

check_fails "an unknown option" 2 sdpstat --color
check_fails "a wrong filter" 2 sdpstat sport = http
check_fails "counters take no filter" 2 sdpstat -s sport 1
check_fails "a wrong interval" 2 sdpstat -i 0
check_fails "output that can't be written" 1 sh -c 'sdpstat -a >/dev/full'

# ---- sdp_check: why, or why not ----

# finds NAME STATUS ERE sdp_check-arguments...: its exit status, and a line of what it says
finds() {
	local name=$1 status=$2 re=$3 rc=0; shift 3
	within 30 "${through[@]}" sdp_check "$@" >"$TMP/says" 2>&1 || rc=$?
	if [ $rc = "$status" ] && grep -qE -- "$re" "$TMP/says"; then ok "$name"; return; fi
	note "exit status $rc; $(cat "$TMP/says")"; not_ok "$name"
}
through=()
bg server sdp_try server 0.0.0.0 1006
bg_ready server ready
bg tcp python3 -c "import socket, time
s = socket.create_server(('', 1007)); print('ready', flush=True); time.sleep(300)"
bg_ready tcp ready
finds "a listener" 0 '^ok   peer     an SDP connection to port 1006' "$LAB_IP" 1006
finds "... has its device" 0 '^ok   device   rxe0 port 1, ACTIVE' "$LAB_IP" 1006
finds "... and a verdict" 0 '^A connection to .* would be SDP' "$LAB_IP" 1006
finds "no port" 3 '^ok   peer     its connection manager answers' "$LAB_IP"
finds "... which says nothing for sure" 3 '^A connection to .* could be SDP' "$LAB_IP"
finds "this host only, neither" 3 '^A connection to .* could be SDP' -n "$LAB_IP" 1006
finds "nobody listens" 1 '^no   peer .* refuses: no SDP listener' "$LAB_IP" 1008
finds "... by TCP neither" 1 "^no   tcp      port 1008 doesn't answer by TCP either" "$LAB_IP" 1008
finds "TCP listens" 1 '^ok   tcp      port 1007 answers by TCP' "$LAB_IP" 1007
# tries ADDRESS PORT: a program that may have TCP as well
tries() {
	within 30 python3 -c 'import socket, sys
s = socket.socket(2, 1, 257)
s.setsockopt(1025, 84, 2)
s.settimeout(8)
s.connect((sys.argv[1], int(sys.argv[2])))' "$@"
}
sysctl -qw net.sdp.cache_timeout=600
check "... which is remembered" tries "$LAB_IP" 1007
finds "... and told" 1 '^no   cache .*\(refused\): for [0-9]+ s' "$LAB_IP" 1007
equal "... of no other port" "$(sdp_check "$LAB_IP" 1006 | grep cache)" ""
sysctl -qw net.sdp.policy=2
finds "... whatever the policy" 1 '^no   peer .* refuses: no SDP listener' "$LAB_IP" 1007
sysctl -qw net.sdp.policy=1
finds "... but TCP's is told of" 0 '^no   policy   net.sdp.policy is 1' "$LAB_IP" 1006
sysctl -qw net.sdp.policy=0
finds "a host that isn't there" 1 '^no   peer .*(no connection manager|nobody) answers' -t 1 10.9.0.77 1006
tries 10.9.0.77 1006 2>/dev/null
finds "... is remembered for all ports" 1 '^no   cache .*\((timeout|no-route)\)' -t 1 10.9.0.77 1007
finds "... the route to which has a device" 3 '^ok   route    by dummy0, from 10.9.0.1' -n 10.9.0.77 1006
finds "IPv6" 3 "could be SDP" -6 "$LAB_IP6"
finds "no such host" 1 '^no   address' nowhere.invalid
ip link add plain0 type veth peer name plain1
ip addr add 10.9.7.1/24 dev plain0
ip link set plain0 up
ip link set plain1 up
finds "an interface without RDMA" 1 '^no   device   plain0 has no RDMA device' 10.9.7.2 1006
ip link delete plain0
ip netns add diag-test
through=(ip netns exec diag-test)
finds "no route" 1 '^no   route    no route' "$LAB_IP" 1006
ip netns delete diag-test
through=()
json_of_check() {
	{ sdp_check -j "$LAB_IP" 1006; sdp_check -j "$LAB_IP"; sdp_check -j "$LAB_IP" 1007; } | python3 -c '
import json, sys
would, could, not_so = (json.loads(l) for l in sys.stdin)
steps = lambda d: [c["step"] for c in d["checks"]]
local = ["module", "address", "route", "device"]
assert would["sdp"] is True and steps(would) == local + ["peer"]
assert could["sdp"] is None and steps(could) == local + ["peer"]
assert not_so["sdp"] is False and steps(not_so) == local + ["cache", "peer", "tcp"]'
}
check "JSON" json_of_check
sysctl -qw net.sdp.cache_flush=1 net.sdp.cache_timeout=60
finds "nothing is remembered" 1 '^ok   tcp' "$LAB_IP" 1007
equal "... and nothing told" "$(grep cache "$TMP/says")" ""
finds "no peer is wrong usage" 2 '^usage' --
finds "no port, either" 2 "'http' is no number" "$LAB_IP" http
bg_stop server
bg_stop tcp
unplug
finds "no device at all" 1 '^no   device   this host has no RDMA device' 127.0.0.1 1006

check "the module can go" sdp_unload
finds "no module" 1 "^no   module   sdp.ko isn't loaded" 127.0.0.1 1006
plug
