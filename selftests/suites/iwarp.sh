# SPDX-License-Identifier: GPL-2.0
# iWARP, by soft-iWARP on an interface of its own: connections made, used and ended, devices,
# interfaces and addresses that come and go, other namespaces, soft-RoCE beside it and not.
# siw_qp_llp_data_ready() takes sk_callback_lock with softirqs on, where a softirq takes it with
# the lock of the socket held: siw's own fault, and the end of lockdep in this guest, so nobody else
# is to run there.
# topology: one
# time: 300
# needs: python3
# boot: lab_alone=iwarp
# allow: possible irq lock inversion dependency detected
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

modprobe siw 2>/dev/null || skip_all "no siw for $LAB_KV; selftests/vm/siw.sh $LAB_KV tells why"
sdp_load || exit

IP=10.9.2.1 IP6=fd09:2::1 NEW=10.9.2.9 NEW6=fd09:2::9

transfer() { within 30 sdp_try client "$1" 1002 both 1000000; }
one_way() { within 30 sdp_try client "$1" 1002 "$2" 1000000 | grep -q "^fate $2:done"; }
xfer() { within 60 sdp_xfer --self "$1" -q -w $((20 * SLOW)) "${@:2}"; }
cycles() { within 60 sdp_cycle --self -w $((20 * SLOW)) -n 50 -j 4 "${@:2}" "$1"; }
connects() { within 10 sdp_try connect "$1" 1002 | grep -q '^ok '; }
# A connect to nowhere would keep siw busy for TCP's two minutes, so ask who listens
deaf() { ! ss -Hltn | grep -qF "$1:1002"; }

# What siw0 has of a connection
state() { echo "qp=$(rdma_count qp siw0) mr=$(rdma_count mr siw0) pd=$(rdma_count pd siw0) cm_id=$(rdma_count cm_id siw0)"; }
state_is() { [ "$(state)" = "$1" ]; }

ip link add dummy1 type dummy
ip addr add $IP/24 dev dummy1
ip addr add $IP6/64 dev dummy1 nodad
ip link set dummy1 up

# A device comes under a listener; the other one is soft-RoCE
bg server sdp_try server :: 1002
bg_ready server ready
outcome "no device, no way" "ENETUNREACH EHOSTUNREACH ECONNREFUSED" $NEW 1002
check "siw0 comes" plug siw0 siw dummy1
empty="qp=0 mr=0 pd=0 cm_id=0"
for addr in $IP $IP6; do
	check "the listener is reachable over it, $addr" transfer "$addr"
	check "... by one that only sends" one_way "$addr" send
	check "... by one that only receives" one_way "$addr" recv
done
at_least "rdma_cm's handles are siw0's: $(state)" "$(rdma_count cm_id siw0)" 3
check "soft-RoCE is reachable as before" transfer "$LAB_IP"
check "... on loopback addresses" transfer 127.0.0.1
equal "devices are chosen by address" "$(sdp_try client $IP 1002 both >"$TMP/c" &
	until_true 10 grep -q going "$TMP/c"; rdma_count qp siw0; kill $!)" 2

# The stream
stat_mark
check "a stream socket's contract, IPv4" within 100 sdp_basic -a $IP --slow $((SLOW * 3))
note "$(tail -n 1 "$TMP/check")"
check "a stream socket's contract, IPv6" within 100 sdp_basic -a $IP6 -f ipproto --slow $((SLOW * 3))
note "$(tail -n 1 "$TMP/check")"
check "data arrives, 4 connections both ways" xfer $IP -P 4 -b 8M
check "data arrives, IPv6" xfer $IP6 -P 4 -b 4M -m edge --seed 2
check "data arrives, smallest buffers" xfer $IP -P 2 -b 1M --sndbuf 1 --rcvbuf 1 --seed 3
check "data arrives, small calls" xfer $IP6 -P 2 -b 1M -S 1:300 --seed 4
stat_mark
set_mode 3
check "data arrives, AZ-SDP chosen" xfer $IP -P 2 -b 4M --seed 5
set_mode 0
equal "... copied, as the peer can't read, and nothing protected for that" \
	"$(stat_delta AzSends) $(stat_delta AzProtected)" "0 0"
for ending in client server both client-reset server-reset; do
	check "cycles that end by $ending" cycles $IP -e $ending
done
check "cycles, IPv6" cycles $IP6
equal "no message was found malformed" "$(grep -c '^Bad.* [1-9]' /proc/net/sdpstats)" 0

# Refusals
bg_stop server
for addr in $IP $IP6; do
	outcome "a closed port refuses, $addr" ECONNREFUSED "$addr" 1002
done
# The acceptor may not speak before the first message (MPA); here it is to speak first
server_first() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$1" <<-'PYTHON'
	import sys
	from sdpsock import sdp_listen, sdp_socket

	listener = sdp_listen((sys.argv[1], 1002), 1)
	c = sdp_socket(sys.argv[1])
	c.settimeout(20)
	c.connect((sys.argv[1], 1002))
	listener.settimeout(20)
	s = listener.accept()[0]
	s.sendall(b'hello')
	assert c.recv(9) == b'hello'
	PYTHON
}
for addr in $IP $IP6; do
	check "a server may be the first to send, $addr" server_first "$addr"
done
# A listener for both, on a port that iWARP takes of TCP's as well
listens_for_both() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$1" "$2" <<-'PYTHON'
	import socket, sys
	from sdpsock import SLOW

	reuse = int(sys.argv[2])
	addr = sys.argv[1], 1010 + reuse    # what is in TIME_WAIT keeps its port from the other
	family = socket.AF_INET6 if ':' in addr[0] else socket.AF_INET
	s = socket.socket(family, socket.SOCK_STREAM, 257)
	s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
	s.setsockopt(1025, 84, 2)
	s.bind(addr)
	s.listen()
	s.settimeout(10 * SLOW)
	c = socket.create_connection(addr, 10 * SLOW)
	s.accept()[0].sendall(b'hello')
	assert c.recv(9) == b'hello'
	PYTHON
}
for addr in $IP $IP6; do
	check "a listener for both, $addr" listens_for_both "$addr" 0
	check "... with SO_REUSEADDR" listens_for_both "$addr" 1
done
# One of those who wait has enough of it
full_backlog() { within 60 python3 -B "$LAB_TREE/selftests/backlog.py" "$1" 8 1; }
stat_mark
for addr in $IP $IP6; do
	check "connects beyond the backlog wait for accept(), all get their turn, $addr" full_backlog "$addr"
done
at_least "counted: the full queue" "$(stat_delta RejBacklog)" 4

# What the wire sees: a peer made of a TCP socket
by_hand() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$1" <<-'PYTHON'
	import socket, struct, sys, time
	from sdpsock import sdp_listen

	ADDR = (sys.argv[1], 1002)
	REJECT = 0x2000

	def hello(version=0x22):
	    ip = bytes(12) + socket.inet_aton(ADDR[0])
	    return (struct.pack('>BBHIII', 0, 0, 4, 92, 0, 0) +
	            struct.pack('>BBBBIIHH', version, 0x40, 0, 1, 4112, 4112, 999, 0) +
	            ip + ip + bytes(28))

	def mpa_request(private):
	    s = socket.create_connection(ADDR, 20)
	    s.sendall(b'MPA ID Req Frame' + struct.pack('>HH', 1, len(private)) + private)
	    return s

	def mpa_reply(s):
	    head = s.recv(20, socket.MSG_WAITALL)
	    assert head[:16] == b'MPA ID Rep Frame', head
	    bits, size = struct.unpack('>HH', head[16:])
	    return bits, s.recv(size, socket.MSG_WAITALL) if size else b''

	listener = sdp_listen(ADDR, 1)
	s = mpa_request(hello(version=0x12))
	assert mpa_reply(s) == (1 | REJECT, b'SDPR'), 'a bad Hello is refused'
	s = mpa_request(b'')
	assert mpa_reply(s) == (1 | REJECT, b'SDPR'), 'no Hello is refused'

	start = time.time()
	silent = [mpa_request(hello()) for _ in range(2)]
	for s in silent:
	    bits, ack = mpa_reply(s)
	    assert bits == 1 and len(ack) == 196 and ack[0] == 1, (bits, ack)
	s = mpa_request(hello())
	assert mpa_reply(s) == (1 | REJECT, b'SDPB'), 'the queue is full of handshakes'
	listener.settimeout(0)
	try:
	    listener.accept()
	    sys.exit('accepted without a message')
	except BlockingIOError:
	    pass
	for s in silent:
	    s.settimeout(60)
	    assert s.recv(1) == b''
	took = time.time() - start
	print('silent peers were given up after %.1f s' % took)
	assert took > 8
	PYTHON
}
stat_mark
check "peers that break rules or say nothing are turned away" by_hand $IP
note "$(cat "$TMP/check")"
equal "counted: bad Hellos, full queue" "$(stat_delta RejBadHello) $(stat_delta RejBacklog)" "2 1"

# A listener made of a TCP socket: siw misses an answer that comes together with the end
lost_answers() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$1" "$2" <<-'PYTHON'
	import errno, select, socket, struct, sys, time
	from sdpsock import SLOW, sdp_socket

	TCP_CORK = 3
	REJECT, ENHANCED = 0x2000, 0x1000
	lst = socket.create_server((sys.argv[1], 1004))
	s = sdp_socket(sys.argv[1])
	s.setblocking(False)
	assert s.connect_ex(lst.getsockname()) == errno.EINPROGRESS
	lst.settimeout(10 * SLOW)
	for way in sys.argv[2].split():
	    c = lst.accept()[0]
	    head = c.recv(20, socket.MSG_WAITALL)
	    assert head[:16] == b'MPA ID Req Frame', head
	    bits, size = struct.unpack('>HH', head[16:])
	    private = c.recv(size, socket.MSG_WAITALL)
	    ctrl = private[:4] if bits & ENHANCED else b''
	    if way == 'together':
	        c.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 1)
	    word = {'nothing': None, 'empty': b'', 'refused': b'SDPR'}.get(way, b'SDPB')
	    if word is not None:
	        c.sendall(b'MPA ID Rep Frame' + struct.pack('>HH', bits | REJECT, len(ctrl + word)) +
	                  ctrl + word)
	    if way != 'together':
	        time.sleep(0.2 * SLOW)
	    c.close()
	    print('answered by', way)
	assert select.select([], [s], [], 10 * SLOW)[1], 'still waits'
	assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
	assert not select.select([lst], [], [], 1)[0], 'asks again'
	PYTHON
}
check "an answer that is lost is asked for again" lost_answers $IP "nothing together busy together refused"
check "... twice, then it is a refusal" lost_answers $IP "busy nothing empty together"

until_true 20 state_is "$empty"
equal "nothing is left of all those" "$(state)" "$empty"

# Addresses
bg server sdp_try server :: 1002
bg_ready server ready
ip addr add $NEW/24 dev dummy1
check "a new address is listened on" until_true 10 connects $NEW
ip addr add $NEW6/64 dev dummy1
check "a new IPv6 address is, once it is no duplicate" until_true 20 connects $NEW6
ip addr del $NEW/24 dev dummy1
ip addr del $NEW6/64 dev dummy1
check "one that has gone is not" until_true 10 deaf $NEW
check "... in IPv6" until_true 10 deaf "[$NEW6]"
check "the others are" transfer $IP
ip link set dummy1 down
check "an interface that is down has none" until_true 10 deaf $IP
ip link set dummy1 up
check "... until it is up again" until_true 10 connects $IP
ip addr add $IP6/64 dev dummy1 nodad

# Who has TCP's port has it
port_taken() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$1" <<-'PYTHON'
	import errno, socket, sys
	from sdpsock import sdp_listen
	s = socket.create_server((sys.argv[1], 1003))
	try:
	    sdp_listen((sys.argv[1], 1003), 1)
	except OSError as e:
	    assert e.errno == errno.EADDRINUSE, e
	    sys.exit(0)
	sys.exit('could listen')
	PYTHON
}
check "a port of TCP's can't be listened on" port_taken $IP

# Another namespace
begin_there
outcome "the device is no use to another namespace" "ENETUNREACH EHOSTUNREACH" \
	$IP 1002 "${there[@]}"
bg there "${there[@]}" sdp_try server :: 1002
check "a port taken in one namespace is free in the other" bg_ready there ready
check "a connect here reaches the listener here" transfer $IP
equal "the listener there got nothing of it" "$(cat "$TMP/there.log")" ready
# ... which is another host to this one, once it has a device
plug siw1 siw veth0
check "a device comes in the other namespace" "${there[@]}" rdma link add siw2 type siw netdev veth1
until_true 10 connects 10.9.8.2
check "the listener there is reachable over it" transfer 10.9.8.2
check "... by one that only receives" one_way 10.9.8.2 recv
at_least "... as a program there sees" "$(grep -c ^going "$TMP/there.log")" 1
bg_stop there
outcome "a closed port refuses there, too" ECONNREFUSED 10.9.8.2 1002
unplug siw2
unplug siw1
check "the listener here stays" transfer $IP6
ip netns delete sdp-test

# The device goes under traffic
for addr in $IP $IP6; do
	bg "c$addr" sdp_try client "$addr" 1002 both
	bg_ready "c$addr" going 40
done
start=$SECONDS
check "siw0 goes under traffic" unplug siw0
at_most "... soon" $((SECONDS - start)) $((10 * SLOW))
for addr in $IP $IP6; do
	bg_wait "c$addr" 20
	note "$(grep '^fate' "$TMP/c$addr.log")"
	check "the program is told, $addr" grep -qE \
		'^fate( (send|recv):(ENETDOWN|ECONNRESET|EPIPE|eof))+$' "$TMP/c$addr.log"
done
equal "only the listener is left" "$(awk 'NR > 1 { print $NF }' /proc/net/sdp)" A
check "soft-RoCE doesn't mind" transfer "$LAB_IP"
check "siw0 comes again" plug siw0 siw dummy1
check "the same listener is reachable again" transfer $IP
check "... over IPv6" transfer $IP6
check "soft-RoCE goes" unplug
check "loopback is siw0's then" transfer 127.0.0.1
check "... and ::1" transfer ::1
check "soft-RoCE comes again" plug

# The interface goes under traffic, and takes the device with it
bg c sdp_try client $IP 1002 both
bg_ready c going 40
check "the interface goes under traffic" within 20 ip link delete dummy1
bg_wait c 20
check "the program is told" grep -qE '^fate( (send|recv):(ENETDOWN|ECONNRESET|EPIPE|eof))+$' "$TMP/c.log"
ip link add dummy1 type dummy
ip addr add $IP/24 dev dummy1
ip link set dummy1 up
gone() { ! rdma link show siw0/1 2>/dev/null; }
until_true 10 gone
check "... and comes again" plug siw0 siw dummy1
check "the same listener is reachable once more" transfer $IP

# The module
bg_stop server
check "traffic" cycles $IP -e both
check "the module goes, the device stays" until_true 15 sdp_unload
equal "nothing is left at the device" "$(state)" "$empty"
check "the module comes again" sdp_load
check "traffic" cycles $IP
until_true 20 state_is "$empty"
check "the device goes" unplug siw0
check "the module goes after it" until_true 15 sdp_unload
ip link delete dummy1
