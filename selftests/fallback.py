# SPDX-License-Identifier: GPL-2.0
"""fallback.py ADDRESS ADDRESS6 SILENT PLAIN DARK [CASE]: SDP_POLICY and what TCP takes over, as
TAP. ADDRESS and ADDRESS6 are an RDMA device's; SILENT is behind such a device on a host without
RDMA, PLAIN where no RDMA device leads to, and `fallback.py serve` runs at both; at DARK nobody
answers. `fallback.py serve ADDRESS`: echo by TCP at port 1100."""
import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
import tap                                                          # noqa: E402
from sdpsock import (AF_INET_SDP, AF_INET6_SDP, SLOW, errno_of, growth, recv_exactly,  # noqa: E402
                     soon, stats, sysctl)
from tap import case, eq, true                                      # noqa: E402

IPPROTO_SDP, SOL_SDP, SDP_POLICY, SDP_INFO = 257, 1025, 84, 85
SDP_ZEROCOPY, MSG_ZEROCOPY, MSG_ERRQUEUE = 83, 0x4000000, 0x2000
MSG_FASTOPEN, TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE = 0x20000000, 30, 34
SDP, TCP, BOTH = 0, 1, 2
SO_PROTOCOL, SO_DOMAIN, SO_COOKIE = 38, 39, 57
ECHO = 1100


def cleanup():
    for s in opened:
        s.close()
    opened.clear()
    # Last, as what is still trying could add to it
    sysctl('net.sdp.cache_flush', 1)
    sysctl('net.sdp.policy', SDP)
    sysctl('net.sdp.fallback_timeout', 1000 * SLOW)


def cached():
    with open('/proc/net/sdp_cache', encoding='ascii') as f:
        return 'destinations known:\n' + f.read()


opened = []
tap.cleanups.append(cleanup)
tap.witnesses.append(cached)


def family(addr):
    return socket.AF_INET6 if ':' in addr else socket.AF_INET


def sock(addr='', policy=None, timeout=20, entry=None):
    """An SDP socket by protocol number, or of family 27 or 28 if @entry says so"""
    if entry:
        fd = socket.socket(AF_INET6_SDP if ':' in addr else AF_INET_SDP, socket.SOCK_STREAM,
                           0).detach()
        s = socket.socket(family(addr), socket.SOCK_STREAM, 0, fileno=fd)
    else:
        s = socket.socket(family(addr), socket.SOCK_STREAM, IPPROTO_SDP)
    opened.append(s)
    s.settimeout(timeout * SLOW if timeout else timeout)
    if policy is not None:
        s.setsockopt(SOL_SDP, SDP_POLICY, policy)
    return s


def tcp(addr='', timeout=20):
    s = socket.socket(family(addr), socket.SOCK_STREAM)
    opened.append(s)
    s.settimeout(timeout * SLOW)
    return s


def listen(s, addr, port=0, backlog=16):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((addr, port))
    s.listen(backlog)
    return s.getsockname()[1]


def protocol(s):
    return {6: 'tcp', 257: 'sdp', 0: 'sdp'}[s.getsockopt(socket.SOL_SOCKET, SO_PROTOCOL)]


def accept(lst):
    s, _ = lst.accept()
    opened.append(s)
    s.settimeout(20 * SLOW)
    return s


def talk(a, b):
    for x, y in ((a, b), (b, a)):
        data = os.urandom(100000)
        t = threading.Thread(target=x.sendall, args=(data,))
        t.start()
        true(recv_exactly(y, len(data)) == data, 'bytes differ')
        t.join()


def echo(s, text=b'hello'):
    s.sendall(text)
    eq(recv_exactly(s, len(text)), text, 'echo')


def so_error(s):
    e = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode.get(e, 'ok')


def connected_both(lst_policy, con_policy, addr=None, entry=None):
    """A connection; both ends. A policy of None is a plain TCP socket"""
    addr = addr or ADDR
    lst = tcp(addr) if lst_policy is None else sock(addr, lst_policy, entry=entry)
    port = listen(lst, addr)
    c = tcp(addr) if con_policy is None else sock(addr, con_policy, entry=entry)
    c.connect((addr, port))
    s = accept(lst)
    talk(c, s)
    return protocol(c), protocol(s), c, s


# ---- policy ----

@case
def policy_option():
    s = sock()
    get = lambda: struct.unpack('i', s.getsockopt(SOL_SDP, SDP_POLICY, 4))[0]   # noqa: E731
    eq(get(), -1)
    for value in (BOTH, TCP, SDP, -1):
        s.setsockopt(SOL_SDP, SDP_POLICY, value)
        eq(get(), value)
    for value in (-2, 3):
        eq(errno_of(s.setsockopt, SOL_SDP, SDP_POLICY, value), 'EINVAL')
    s.setsockopt(SOL_SDP, SDP_POLICY, BOTH)
    listen(s, ADDR)
    eq(errno_of(s.setsockopt, SOL_SDP, SDP_POLICY, TCP), 'EISCONN')
    eq(get(), BOTH)


@case
def policy_stays_with_tcp():
    s = sock('', TCP)
    s.bind((ADDR, 0))
    eq(protocol(s), 'tcp')
    eq(struct.unpack('i', s.getsockopt(SOL_SDP, SDP_POLICY, 4))[0], TCP)
    eq(errno_of(s.setsockopt, SOL_SDP, SDP_POLICY, TCP), 'ok')
    eq(errno_of(s.setsockopt, SOL_SDP, SDP_POLICY, SDP), 'EISCONN')


def patient():
    """SDP answers before its time is over, also on a busy machine"""
    sysctl('net.sdp.fallback_timeout', 20000)


def matrix(addr, entry):
    patient()
    for lst, con, want in ((SDP, SDP, ('sdp', 'sdp')), (BOTH, SDP, ('sdp', 'sdp')),
                           (BOTH, BOTH, ('sdp', 'sdp')), (SDP, BOTH, ('sdp', 'sdp')),
                           (BOTH, TCP, ('tcp', 'tcp')), (BOTH, None, ('tcp', 'tcp')),
                           (TCP, BOTH, ('tcp', 'tcp')), (None, BOTH, ('tcp', 'tcp')),
                           (TCP, TCP, ('tcp', 'tcp')), (None, TCP, ('tcp', 'tcp'))):
        eq(connected_both(lst, con, addr, entry)[:2], want, f'{lst} {con}')
        cleanup()
        patient()


@case
def policy_sysctl():
    patient()
    for value, want in ((TCP, ('tcp', 'tcp')), (BOTH, ('sdp', 'sdp')), (SDP, ('sdp', 'sdp'))):
        sysctl('net.sdp.policy', value)
        eq(connected_both(-1, -1)[:2], want, f'policy {value}')
    sysctl('net.sdp.policy', BOTH)
    eq(connected_both(None, -1)[:2], ('tcp', 'tcp'))
    eq(connected_both(-1, None)[:2], ('tcp', 'tcp'))
    eq(errno_of(sysctl, 'net.sdp.policy', 3), 'EINVAL')


@case
def policy_late_bind():
    """A policy that is set when the socket is bound binds in TCP, too, or says why not"""
    s, t = sock('', SDP), tcp()
    s.bind((ADDR, 0))
    where = s.getsockname()
    s.setsockopt(SOL_SDP, SDP_POLICY, BOTH)
    eq(errno_of(t.bind, where), 'EADDRINUSE')
    s.setsockopt(SOL_SDP, SDP_POLICY, SDP)
    t.bind(where)
    eq(errno_of(s.setsockopt, SOL_SDP, SDP_POLICY, BOTH), 'EADDRINUSE')
    eq(struct.unpack('i', s.getsockopt(SOL_SDP, SDP_POLICY, 4))[0], SDP)
    eq(s.getsockname(), where)


# ---- ports ----

@case
def bind_takes_both():
    s = sock('', BOTH)
    s.bind((ADDR, 0))
    where = s.getsockname()
    true(where[1])
    eq(errno_of(tcp().bind, where), 'EADDRINUSE', 'tcp')
    eq(errno_of(sock('', SDP).bind, where), 'EADDRINUSE', 'sdp')
    s.close()
    tcp().bind(where)
    sock('', SDP).bind(where)


@case
def bind_without_port():
    """The port comes with listen(), and is one for both"""
    s = sock('', BOTH)
    s.setsockopt(socket.SOL_IP, 24, 1)          # IP_BIND_ADDRESS_NO_PORT
    s.bind((ADDR, 0))
    s.listen(4)
    for c in tcp(), sock('', SDP):
        c.connect(s.getsockname())
        accept(s)


@case
def bind_fails_for_both():
    for other in (tcp(), sock('', SDP)):
        other.bind((ADDR, 0))
        where = other.getsockname()
        s = sock('', BOTH)
        eq(errno_of(s.bind, where), 'EADDRINUSE')
        eq(s.getsockname()[1], 0)
        other.close()
        s.bind(where)
        s.close()


@case
def bind_any_port_many():
    held = [sock('', BOTH) for _ in range(100)]
    for s in held:
        s.bind((ADDR, 0))
        eq(errno_of(tcp().bind, s.getsockname()), 'EADDRINUSE')


@case
def bind_without_right():
    pid = os.fork()
    if not pid:
        try:
            os.setuid(65534)
            got = [errno_of(sock('', p).bind, (ADDR, 80)) for p in (BOTH, TCP)]
            os._exit(got != ['EACCES'] * 2)
        finally:
            os._exit(2)
    eq(os.waitpid(pid, 0)[1], 0)


@case
def bound_address_is_kept():
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH)
    c.setsockopt(socket.SOL_IP, 24, 1)          # IP_BIND_ADDRESS_NO_PORT
    c.bind((ADDR, 0))
    c.connect((ADDR, port))
    eq((protocol(c), c.getsockname()[0]), ('tcp', ADDR))
    eq(accept(lst).getpeername(), c.getsockname())
    c = sock('', BOTH)
    c.bind((ADDR, 0))
    where = c.getsockname()
    c.connect((ADDR, port))
    eq((protocol(c), c.getsockname()), ('tcp', where))


# ---- connect ----

@case
def refused_both_ways():
    port = tcp()
    port.bind((ADDR, 0))
    where = port.getsockname()
    c = sock('', BOTH, None)
    eq(errno_of(c.connect, where), 'ECONNREFUSED')
    # ... as TCP, again and again
    eq(errno_of(c.connect, where), 'ECONNREFUSED')
    port.listen()
    c.connect(where)


@case
def refused_non_blocking():
    port = tcp()
    port.bind((ADDR, 0))
    for watch_first in (True, False):
        c = sock('', BOTH, None)
        c.setblocking(False)
        ep = select.epoll()
        if watch_first:
            ep.register(c, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
            ep.poll(0)
        eq(errno_of(c.connect, port.getsockname()), 'EINPROGRESS')
        if not watch_first:
            ep.register(c, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        events = ep.poll(20)
        true(events and events[0][1] & select.EPOLLERR, f'events {events}')
        eq(so_error(c), 'ECONNREFUSED')
        ep.close()


@case
def non_blocking_states():
    """As long as SDP and then TCP are tried: EALREADY, and nothing to poll for"""
    sysctl('net.sdp.fallback_timeout', 3000 * SLOW)     # longer than we may be kept from looking
    c = sock('', BOTH)
    c.setblocking(False)
    ep = select.epoll()
    ep.register(c, select.EPOLLIN | select.EPOLLOUT)
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EINPROGRESS')
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EALREADY')
    eq(ep.poll(0.3), [])
    eq(errno_of(c.recv, 1), 'EAGAIN')
    eq(so_error(c), 'ok')
    eq([e for _, e in ep.poll(20 * SLOW)], [select.EPOLLOUT])
    eq(errno_of(c.connect, (SILENT, ECHO)), 'ok')
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EISCONN')
    c.settimeout(20)
    echo(c)
    eq(protocol(c), 'tcp')


@case
def epoll_edges():
    """Registered before connect(): every edge comes, also from TCP"""
    c = sock('', BOTH)
    c.setblocking(False)
    ep = select.epoll()
    ep.register(c, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET)
    ep.poll(0)
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EINPROGRESS')
    true([e for _, e in ep.poll(20 * SLOW) if e & select.EPOLLOUT], 'out')
    for _ in range(3):
        c.send(b'x')
        true([e for _, e in ep.poll(20) if e & select.EPOLLIN], 'in')
        eq(c.recv(10), b'x')
    eq(ep.poll(0.1), [])
    c.shutdown(socket.SHUT_WR)
    end = time.time() + 20
    while not [e for _, e in ep.poll(1) if e & select.EPOLLRDHUP]:
        true(time.time() < end, 'rdhup')
    # Nested: an epoll in an epoll, and poll() and select() by others
    eq(select.select([c], [], [], 1)[0], [c])


@case
def sigio():
    got = []
    signal.signal(signal.SIGIO, lambda *_: got.append(1))
    c = sock('', BOTH, None)
    fcntl.fcntl(c, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(c, fcntl.F_SETFL, fcntl.fcntl(c, fcntl.F_GETFL) | os.O_ASYNC)
    c.connect((SILENT, ECHO))
    got.clear()
    c.send(b'x')
    end = time.time() + 10
    while not got and time.time() < end:
        time.sleep(0.05)
    true(got, 'SIGIO')
    signal.signal(signal.SIGIO, signal.SIG_IGN)


def reason(name, where, timeout=None):
    before = stats()
    c = sock(where[0], BOTH)
    if timeout:
        sysctl('net.sdp.fallback_timeout', timeout)
    result = errno_of(c.connect, where)
    grown = [k for k in stats() if k.startswith('Fallback') and growth(before, k)]
    return result, grown == [name] or f'{grown}, not {name}', c


@case
def reason_refused():
    patient()
    lst = tcp()
    port = listen(lst, ADDR)
    eq(reason('FallbackRefused', (ADDR, port))[:2], ('ok', True))
    lst = tcp(ADDR6)
    port = listen(lst, ADDR6)
    eq(reason('FallbackRefused', (ADDR6, port))[:2], ('ok', True))
    lst = tcp()
    port = listen(lst, '127.0.0.1')
    eq(reason('FallbackRefused', ('127.0.0.1', port))[:2], ('ok', True))


@case
def reason_no_device():
    result, ok, c = reason('FallbackNoDevice', (PLAIN, ECHO), timeout=20000)
    eq((result, ok), ('ok', True))
    echo(c)


@case
def reason_timeout():
    begin = time.time()
    result, ok, c = reason('FallbackTimeout', (SILENT, ECHO), timeout=500)
    eq((result, ok), ('ok', True))
    true(time.time() - begin > 0.45, 'too soon')
    echo(c)


@case
def reason_no_route():
    nobody = SILENT.rsplit('.', 1)[0] + '.77'
    result, ok, _ = reason('FallbackNoRoute', (nobody, ECHO), timeout=20000)
    eq((result, ok), ('EHOSTUNREACH', True))


@case
def reason_busy():
    lst = sock('', SDP)
    port = listen(lst, ADDR, backlog=0)
    first = sock('', SDP)
    first.connect((ADDR, port))
    other = tcp()
    listen(other, ADDR, port)
    result, ok, c = reason('FallbackBusy', (ADDR, port), timeout=1000)
    eq((result, ok, protocol(c)), ('ok', True, 'tcp'))
    eq(open('/proc/net/sdp_cache', encoding='ascii').read(), '')


@case
def reason_policy():
    before = stats()
    eq(connected_both(None, TCP)[:2], ('tcp', 'tcp'))
    eq(growth(before, 'FallbackPolicy'), 1)


@case
def tcp_fails_at_once():
    """What TCP knows at once, connect() says, and the socket is as it was"""
    patient()
    c = sock('', BOTH)
    eq(errno_of(c.connect, ('240.0.0.1', 1)), errno_of(tcp().connect, ('240.0.0.1', 1)))
    eq(protocol(c), 'sdp')
    eq(c.getsockname(), ('0.0.0.0', 0))
    lst = sock('', SDP)
    port = listen(lst, ADDR)
    c.connect((ADDR, port))
    talk(c, accept(lst))
    eq(protocol(c), 'sdp')


@case
def connect_timeo():
    """SO_SNDTIMEO is for both attempts together"""
    sdp = 3 * SLOW
    for which in (0.3, sdp + 0.5):
        sysctl('net.sdp.fallback_timeout', 1000 * sdp)
        c = sock('', BOTH, None)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO,
                     struct.pack('ll', int(which), int(which % 1 * 1e6)))
        begin = time.time()
        # Nobody answers there, neither by SDP nor by TCP
        eq(errno_of(c.connect, (DARK, 1)), 'EINPROGRESS')
        took = time.time() - begin
        # Each for itself, they would take as long as SDP has more
        true(which * 0.9 < took < which + 0.9 * sdp, f'{which} s took {took}')


@case
def fastopen_message():
    """sendto() connects, and what it sends isn't lost whoever connects"""
    for policy, host in (BOTH, PLAIN), (TCP, PLAIN), (BOTH, SILENT), (BOTH, SILENT):
        c = sock('', policy, None)
        eq(c.sendto(b'abc', MSG_FASTOPEN, (host, ECHO)), 3, f'{policy} {host}')
        c.settimeout(20 * SLOW)
        eq((recv_exactly(c, 3), protocol(c)), (b'abc', 'tcp'), f'{policy} {host}')
        c = sock('', policy)
        c.setblocking(False)
        eq(errno_of(c.sendto, b'abc', MSG_FASTOPEN, (host, ECHO)), 'EINPROGRESS')
        true(select.select([], [c], [], 20 * SLOW)[1], 'writable')
        c.settimeout(20 * SLOW)
        echo(c)


@case
def fastopen_connect():
    """connect() returns where TCP leaves it to the first write() to connect"""
    for host in SILENT, PLAIN:
        c = sock('', BOTH, None)
        c.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
        c.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, 1)
        eq(in_thread(c.connect, (host, ECHO))(), 'ok', host)
        c.settimeout(20 * SLOW)
        echo(c)


@case
def ended_by_an_administrator():
    """sdpstat -K ends all of it, and nobody is remembered as one without SDP"""
    sysctl('net.sdp.fallback_timeout', 20000)
    c = sock('', BOTH)
    c.setblocking(False)
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EINPROGRESS')
    sdpstat('-K', '-H', 'state', 'syn-sent', f'dport = :{ECHO}')
    eq(soon(lambda: so_error(c), 'ECONNABORTED'), 'ECONNABORTED')
    eq(cache(), [])


# ---- sdpstat ----

def sdpstat(*args):
    return subprocess.run(['sdpstat', *args], check=True, stdout=subprocess.PIPE, text=True,
                          timeout=60 * SLOW).stdout


def shown(s):
    """What sdpstat says of a socket"""
    inode = os.fstat(s.fileno()).st_ino
    one, = [x for x in json.loads(sdpstat('-j', '-a'))['sockets'] if x['inode'] == inode]
    return one


def end_shown(end):
    return end['address'], end['port']


@case
def sdpstat_says_why():
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH)
    eq((shown(c)['transport'], shown(c)['fallback']), ('sdp', 'none'))
    c.connect((ADDR, port))
    s = accept(lst)
    s.sendall(bytes(100))
    eq(soon(lambda: shown(c)['recv_q'], 100), 100)
    what = shown(c)
    eq((what['transport'], what['fallback'], what['state'], what['family']),
       ('tcp', 'refused', 'established', socket.AF_INET))
    eq((end_shown(what['local']), end_shown(what['peer'])), (c.getsockname(), c.getpeername()))
    eq(what['cookie'], struct.unpack('Q', c.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))[0])
    eq(sdpstat('-H', f'dport = :{port}').split()[5:], ['tcp:refused'])
    with open('/proc/net/sdp', encoding='ascii') as f:
        true(f'{port:04X}' not in f.read(), '/proc/net/sdp has it')
    true('mode:auto\n' in sdpstat('-d', f'dport = :{port}'), 'details SDP alone has')

    eq(len(sdpstat('-H', '-K', f'dport = :{port}').splitlines()), 1)
    eq(so_error(c), 'ECONNABORTED')
    c.close()
    eq(sdpstat('-H', '-a', f'dport = :{port}'), '')


@case
def sdpstat_shows_a_listener_by_tcp():
    s = sock('', TCP)
    port = listen(s, ADDR, backlog=7)
    what = shown(s)
    eq((what['transport'], what['fallback'], what['state'], what['send_q']),
       ('tcp', 'policy', 'listening', 7))
    eq(sdpstat('-H', '-l', f'sport = :{port}').split()[5:], ['tcp:policy'])


@case
def sdpstat_while_sockets_fall_and_end():
    lst = tcp()
    port = listen(lst, ADDR, backlog=100)
    over = threading.Event()

    def come_and_go():
        while not over.is_set():
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SDP) as c:
                c.setsockopt(SOL_SDP, SDP_POLICY, BOTH)
                c.settimeout(20 * SLOW)
                c.connect((ADDR, port))
            lst.accept()[0].close()
    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for t in threads:
        t.start()
    try:
        for _ in range(30):
            for s in json.loads(sdpstat('-j', '-a', f'dport = :{port}'))['sockets']:
                true(s['transport'] == 'sdp' or s['fallback'] in ('refused', 'cached'), s)
    finally:
        over.set()
        for t in threads:
            t.join()
    eq(sdpstat('-H', '-a', f'dport = :{port}'), '')


# ---- the cache ----

def cache():
    with open('/proc/net/sdp_cache', encoding='ascii') as f:
        return [line.split() for line in f]


@case
def cache_negative():
    patient()
    lst = tcp()
    port = listen(lst, ADDR)
    before = stats()
    for n in range(3):
        c = sock('', BOTH)
        c.connect((ADDR, port))
        talk(c, accept(lst))
        eq(growth(before, 'FallbackCached'), n)
    eq(growth(before, 'FallbackRefused'), 1)
    eq([(r[0], r[1], r[3], r[4], r[5]) for r in cache()],
       [(ADDR, str(port), '2', 'tcp', 'refused')])
    true(0 < int(cache()[0][2]) <= 60)
    sysctl('net.sdp.cache_flush', 1)
    eq(cache(), [])
    sock('', BOTH).connect((ADDR, port))
    eq(growth(before, 'FallbackRefused'), 2)


@case
def cache_positive():
    patient()
    lst = sock('', BOTH)
    port = listen(lst, ADDR)
    for _ in range(2):
        sock('', BOTH).connect((ADDR, port))
    eq([(r[1], r[3], r[4]) for r in cache()], [(str(port), '1', 'sdp')])


@case
def cache_silence_is_the_hosts():
    sysctl('net.sdp.fallback_timeout', 300)
    sock('', BOTH).connect((SILENT, ECHO))
    eq([r[:2] for r in cache()], [[SILENT, '*']])
    before = stats()
    eq(errno_of(sock('', BOTH).connect, (SILENT, ECHO + 1)), 'ECONNREFUSED')
    eq(growth(before, 'FallbackCached'), 1)


@case
def cache_not_for_port_0():
    """Nobody can listen there, and it stands for all of a host's ports"""
    c = sock('', BOTH)
    eq(errno_of(c.connect, (ADDR, 0)), 'ECONNREFUSED')
    eq(cache(), [])


@case
def cache_not_for_bound():
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH)
    c.bind((ADDR, 0))
    c.connect((ADDR, port))
    eq(cache(), [])


@case
def cache_expires():
    patient()
    lst = tcp()
    port = listen(lst, ADDR)
    sysctl('net.sdp.cache_timeout', 1)
    before = stats()
    sock('', BOTH).connect((ADDR, port))
    time.sleep(1.2)
    sock('', BOTH).connect((ADDR, port))
    sysctl('net.sdp.cache_timeout', 0)
    sysctl('net.sdp.cache_flush', 1)
    sock('', BOTH).connect((ADDR, port))
    eq(cache(), [])
    sysctl('net.sdp.cache_timeout', 60)
    eq(growth(before, 'FallbackRefused'), 3)
    eq(growth(before, 'FallbackCached'), 0)


@case
def cache_bounded():
    patient()
    sysctl('net.sdp.cache_max', 5)
    listeners = [tcp() for _ in range(20)]
    ports = [listen(lst, ADDR) for lst in listeners]
    for port in ports:
        sock('', BOTH).connect((ADDR, port))
    eq([r[1] for r in cache()], [str(p) for p in ports[15:]])
    sysctl('net.sdp.cache_max', 1024)


def refused_by_both(port, timeout):
    c = sock('', BOTH)
    c.settimeout(timeout)
    eq(errno_of(c.connect, (ADDR, port)), 'ECONNREFUSED')
    c.close()


@case
def cache_not_of_who_is_not_there():
    """A client tries until its server has started: that isn't one without SDP"""
    patient()
    lst = sock('', BOTH)
    lst.bind((ADDR, 0))
    port = lst.getsockname()[1]
    for timeout in None, 20 * SLOW:
        refused_by_both(port, timeout)
        eq(cache(), [], f'timeout {timeout}')
    # ... nor is one that was there, without SDP
    before = tcp()
    where = listen(before, ADDR)
    sock('', BOTH).connect((ADDR, where))
    eq([(r[1], r[4]) for r in cache()], [(str(where), 'tcp')])
    before.close()
    refused_by_both(where, None)
    eq(cache(), [])
    lst.listen(4)
    c = sock('', BOTH)
    c.connect((ADDR, port))
    eq(protocol(c), 'sdp')


# ---- the same socket as TCP's ----

OPTIONS = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.SOL_SOCKET, socket.SO_SNDBUF, 40000),
    (socket.SOL_SOCKET, socket.SO_RCVBUF, 50000), (socket.SOL_SOCKET, socket.SO_PRIORITY, 3),
    (socket.SOL_SOCKET, socket.SO_MARK, 77), (socket.SOL_SOCKET, socket.SO_RCVLOWAT, 5),
    (socket.SOL_SOCKET, socket.SO_OOBINLINE, 1), (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
    (socket.SOL_SOCKET, 29, 1),                  # SO_TIMESTAMP
    (socket.SOL_SOCKET, 37, 0x58),               # SO_TIMESTAMPING
    (socket.SOL_SOCKET, 47, 1000000),            # SO_MAX_PACING_RATE
    (socket.SOL_SOCKET, 74, 0),                  # SO_TXREHASH
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.IPPROTO_TCP, socket.TCP_CORK, 1),
    (socket.IPPROTO_IP, socket.IP_TOS, 0x10), (socket.IPPROTO_IP, socket.IP_TTL, 33),
]
TCP_ONLY = [
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77), (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 7),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 5000),
    (socket.IPPROTO_TCP, socket.TCP_SYNCNT, 4), (socket.IPPROTO_TCP, socket.TCP_LINGER2, 11),
]
STRUCTS = [
    (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 7)),
    (socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 3, 0)),
    (socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 4, 0)),
    (socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'reno'),
]


def set_all(s, options):
    for level, name, value in options:
        s.setsockopt(level, name, value)


def get_all(s):
    return [s.getsockopt(level, name, 16) for level, name, _ in OPTIONS + TCP_ONLY + STRUCTS]


def options_like_tcp(before_policy, after_policy):
    lst = tcp()
    port = listen(lst, ADDR)
    seen = []
    for s in tcp(), sock('', None):
        ours = s.getsockopt(socket.SOL_SOCKET, SO_PROTOCOL) == IPPROTO_SDP
        set_all(s, before_policy)
        if ours:
            s.setsockopt(SOL_SDP, SDP_POLICY, BOTH)
        set_all(s, after_policy)
        s.setblocking(True)
        s.setsockopt(*STRUCTS[1])
        s.setsockopt(*STRUCTS[2])
        early = get_all(s)
        s.connect((ADDR, port))
        eq(protocol(s), 'tcp')
        seen.append((early[-len(TCP_ONLY + STRUCTS):], get_all(s)))
    for n, (level, name, _) in enumerate(OPTIONS + TCP_ONLY + STRUCTS):
        eq(seen[1][1][n], seen[0][1][n], f'option {level} {name}')
    eq(seen[1][0], seen[0][0], 'before connect()')


@case
def options_set_after_policy():
    options_like_tcp([], OPTIONS + TCP_ONLY + STRUCTS)


@case
def options_set_before_policy():
    options_like_tcp(OPTIONS + STRUCTS[:3], TCP_ONLY + STRUCTS[3:])


@case
def options_errors():
    """What TCP refuses is refused, as by TCP"""
    for level, name, value in ((socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'nosuch'),
                               (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 0),
                               (socket.IPPROTO_TCP, 999, 1),
                               (socket.IPPROTO_IP, socket.IP_TTL, 999)):
        eq(errno_of(sock('', BOTH).setsockopt, level, name, value),
           errno_of(tcp().setsockopt, level, name, value), f'{level} {name}')
    # These would take the socket's operations away
    _, _, c, _ = connected_both(None, BOTH)
    eq(errno_of(c.setsockopt, socket.IPPROTO_TCP, 31, b'tls'), 'ENOENT')


@case
def options_only_tcps_are_not_taken():
    """A key or a policy that SDP's connection wouldn't have isn't taken by TCP's half alone"""
    lst = sock('', BOTH)
    key = struct.pack('HH124xBxH4x80s', socket.AF_INET, 0, 0, 3, b'key')
    for s in sock('', BOTH), lst:
        eq(errno_of(s.setsockopt, socket.IPPROTO_TCP, 14, key) != 'ok', True, 'TCP_MD5SIG')
        eq(errno_of(s.setsockopt, socket.IPPROTO_TCP, 19, 1) != 'ok', True, 'TCP_REPAIR')
    tcp().connect((ADDR, listen(lst, ADDR)))
    eq(protocol(accept(lst)), 'tcp')


@case
def congestion_control_of_tcp():
    """A name that only TCP knows"""
    if subprocess.run(['modprobe', '-q', 'tcp_bbr'], check=False).returncode:
        raise tap.Skip('no tcp_bbr')
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH)
    for _ in range(2):
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'bbr')
        eq(c.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b'\0'), b'bbr')
        if protocol(c) != 'tcp':
            c.connect((ADDR, port))
    eq(protocol(c), 'tcp')


@case
def options_only_tcp_has_work_with_sdp():
    patient()
    lst, c = sock('', BOTH), sock('', BOTH)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'reno')
    port = listen(lst, ADDR)
    c.connect((ADDR, port))
    talk(c, accept(lst))
    eq(protocol(c), 'sdp')


@case
def zerocopy_asked_for_later():
    """SDP_ZEROCOPY of a socket that TCP has taken over: the program is told when it may go on"""
    _, _, c, s = connected_both(None, BOTH)
    eq(protocol(c), 'tcp')
    c.setsockopt(SOL_SDP, SDP_ZEROCOPY, 1)
    data = os.urandom(50000)
    eq(c.send(data, MSG_ZEROCOPY), len(data), 'send')
    eq(recv_exactly(s, len(data)) == data, True, 'bytes')
    p = select.poll()
    p.register(c, 0)
    true(p.poll(10000 * SLOW), 'completion')
    _, anc, _, _ = c.recvmsg(0, 256, MSG_ERRQUEUE)
    eq(struct.unpack('IBBBBII', anc[0][2][:16])[1], 5, 'SO_EE_ORIGIN_ZEROCOPY')
    c.setsockopt(SOL_SDP, SDP_ZEROCOPY, 0)
    eq(c.getsockopt(socket.SOL_SOCKET, 60), 0, 'SO_ZEROCOPY')


@case
def multicast_groups_are_no_streams():
    lst = sock('', BOTH)
    group = socket.inet_aton('239.1.2.3') + socket.inet_aton(ADDR)
    for s in lst, tcp():
        eq(errno_of(s.setsockopt, socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group), 'EPROTO')


@case
def identity():
    """The descriptor is what it was: inode, owner; and /proc/net/tcp knows it, not /proc/net/sdp"""
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH)
    inode = os.fstat(c.fileno()).st_ino
    c.connect((ADDR, port))
    eq(os.fstat(c.fileno()).st_ino, inode)
    for name, want in (('tcp', 1), ('sdp', 0)):
        with open('/proc/net/' + name, encoding='ascii') as f:
            eq(sum(line.split()[9 if name == 'tcp' else 6:].count(str(inode)) for line in f),
               want, name)
    eq(c.getsockopt(socket.SOL_SOCKET, SO_DOMAIN), socket.AF_INET)
    eq(c.getpeername(), (ADDR, port))
    # SDP_INFO: TCP carries it, established, as SDP was refused
    info = c.getsockopt(SOL_SDP, SDP_INFO, 8)
    eq((info[0], info[1], info[3]), (1, 5, 1), 'SDP_INFO')


@case
def dup_fork_pass():
    """All descriptors of the socket become TCP's, whoever has them"""
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH)
    d = c.dup()
    a, b = socket.socketpair()
    socket.send_fds(a, [b'x'], [c.fileno()])
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.read(r, 1)
            c.send(b'child')
            os._exit(0)
        finally:
            os._exit(1)
    c.connect((ADDR, port))
    s = accept(lst)
    os.write(w, b'x')
    eq(recv_exactly(s, 5), b'child')
    eq(os.waitpid(pid, 0)[1], 0)
    p = socket.socket(fileno=socket.recv_fds(b, 10, 1)[1][0])
    for other in (d, p):
        eq(protocol(other), 'tcp')
        other.send(b'other')
        eq(recv_exactly(s, 5), b'other')
    c.close()
    d.close()
    p.send(b'last')
    eq(recv_exactly(s, 4), b'last')
    p.close()
    eq(s.recv(1), b'')
    os.close(r)
    os.close(w)


def in_thread(func, *args):
    result = []
    t = threading.Thread(target=lambda: result.append(errno_of(func, *args)))
    t.start()
    return lambda: (t.join(30 * SLOW), result[0] if result else 'hangs')[1]


@case
def threads_waiting():
    """Calls of other threads that wait while SDP is tried go on by TCP"""
    c = sock('', BOTH, None)
    got = []
    con = in_thread(c.connect, (SILENT, ECHO))
    time.sleep(0.2)
    waits = [in_thread(c.connect, (SILENT, ECHO)), in_thread(c.sendall, b'hello'),
             in_thread(lambda: got.append(recv_exactly(c, 5))),
             in_thread(lambda: got.append(select.select([], [c], [], 20 * SLOW)[1] == [c]))]
    eq(con(), 'ok')
    eq([w() for w in waits], ['ok'] * 4)
    true(b'hello' in got and True in got, f'{got}')
    eq(protocol(c), 'tcp')


@case
def options_while_connecting():
    c = sock('', BOTH, None)
    con = in_thread(c.connect, (SILENT, ECHO))
    n = 0
    end = time.time() + 0.7
    while time.time() < end:
        n += 1
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 100 + n % 50)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, n % 5)
    eq(con(), 'ok')
    eq(c.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE), 100 + n % 50)
    eq(c.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY), n % 5)


@case
def close_while_trying():
    for delay in (0, 0.1, 0.5):
        sysctl('net.sdp.fallback_timeout', 500)
        c = sock('', BOTH)
        c.setblocking(False)
        eq(errno_of(c.connect, (SILENT, ECHO)), 'EINPROGRESS')
        time.sleep(delay)
        c.close()


@case
def shutdown_while_trying():
    c = sock('', BOTH)
    c.setblocking(False)
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EINPROGRESS')
    eq(errno_of(c.shutdown, socket.SHUT_RDWR), 'ok')
    time.sleep(1.5 * SLOW)
    eq(protocol(c), 'sdp')
    true(so_error(c) != 'ok')


@case
def unconnect_while_trying():
    c = sock('', BOTH)
    c.setblocking(False)
    eq(errno_of(c.connect, (SILENT, ECHO)), 'EINPROGRESS')
    libc_connect(c, b'\0' * 16)
    time.sleep(1.3 * SLOW)
    c.settimeout(20)
    lst = sock('', SDP)
    port = listen(lst, ADDR)
    c.connect((ADDR, port))
    talk(c, accept(lst))
    eq(protocol(c), 'sdp')


def libc_connect(s, raw):
    import ctypes                                   # pylint: disable=import-outside-toplevel
    eq(ctypes.CDLL(None).connect(s.fileno(), raw, len(raw)), 0)


@case
def signal_while_trying():
    """A connect() that a signal ends goes on by itself"""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, True)
    c = sock('', BOTH, None)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    c.connect((SILENT, ECHO))
    echo(c)


@case
def family_27():
    """A socket of family 27 goes on to take such addresses when it is TCP's"""
    lst = tcp()
    port = listen(lst, ADDR)
    raw = struct.pack('=HH4s8x', AF_INET_SDP, socket.htons(port), socket.inet_aton(ADDR))
    for policy in (TCP, BOTH):
        c = sock('', policy, None, True)
        libc_connect(c, raw)
        talk(c, accept(lst))
        eq(protocol(c), 'tcp')


@case
def tcp_again():
    """As TCP's, the socket can be disconnected, connect again, listen"""
    lst = tcp()
    port = listen(lst, ADDR)
    c = sock('', BOTH, None)
    c.connect((ADDR, port))
    libc_connect(c, b'\0' * 16)
    c.connect((ADDR, port))
    libc_connect(c, b'\0' * 16)
    c.bind((ADDR, 0))
    c.listen()
    d = tcp()
    d.connect(c.getsockname())
    s = accept(c)
    talk(d, s)
    eq(protocol(s), 'tcp')


# ---- listeners ----

@case
def listener_both():
    lst = sock('', BOTH)
    port = listen(lst, ADDR)
    ep = select.epoll()
    ep.register(lst, select.EPOLLIN)
    before = stats()
    for n in range(6):
        c = sock('', SDP) if n % 2 else tcp()
        eq(ep.poll(0), [])
        c.connect((ADDR, port))
        eq([e for _, e in ep.poll(10)], [select.EPOLLIN])
        s = accept(lst)
        eq(protocol(s), protocol(c))
        eq(s.getpeername(), c.getsockname())
        talk(c, s)
    eq(growth(before, 'TcpAccepts'), 3)
    # Whose TCP's half is: firewall rules and ss ask that
    inode = str(os.fstat(lst.fileno()).st_ino)
    with open('/proc/net/tcp', encoding='ascii') as f:
        eq([r.split()[9] for r in f if f':{port:04X} 00000000:0000 0A' in r], [inode], 'inode')


@case
def listener_waiting():
    """A thread that waits in accept() is woken by either"""
    lst = sock('', BOTH, None)
    port = listen(lst, ADDR)
    for c in (tcp(), sock('', SDP)):
        got = []
        wait = in_thread(lambda: got.append(protocol(accept(lst))))
        time.sleep(0.1)
        c.connect((ADDR, port))
        eq((wait(), got), ('ok', [protocol(c)]))


@case
def listeners_share_a_port():
    """SO_REUSEPORT: each of the listeners gets connections of both kinds"""
    lst = [sock('', BOTH), sock('', BOTH)]
    port = 0
    for s in lst:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        port = listen(s, ADDR, port, 64)
    clients = [tcp() if i % 2 else sock('', BOTH) for i in range(48)]
    for c in clients:
        c.connect((ADDR, port))
    got = {'sdp': [0, 0], 'tcp': [0, 0]}
    while sum(map(sum, got.values())) < len(clients):
        ready = select.select(lst, [], [], 20 * SLOW)[0]
        true(ready, f'some are missing: {got}')
        for s in ready:
            got[protocol(accept(s))][lst.index(s)] += 1
    eq([sum(n) for n in got.values()], [24, 24], got)
    true(all(n[0] and n[1] for n in got.values()), got)


@case
def listener_takes_turns():
    """Neither kind keeps the other out"""
    lst = sock('', BOTH)
    port = listen(lst, ADDR, backlog=20)
    clients = [p() for p in (tcp, lambda: sock('', SDP)) for _ in range(4)]
    for c in clients:
        c.connect((ADDR, port))
    time.sleep(0.5)
    order = [protocol(accept(lst)) for _ in clients]
    eq(sorted(order[:2]), ['sdp', 'tcp'], f'{order}')
    eq(sorted(order[2:4]), ['sdp', 'tcp'], f'{order}')


@case
def listener_backlog_shared():
    for first in ('tcp', 'sdp'):
        lst = sock('', BOTH)
        port = listen(lst, ADDR, backlog=2)
        kinds = {'tcp': tcp, 'sdp': lambda: sock('', SDP)}
        other = 'sdp' if first == 'tcp' else 'tcp'
        for _ in range(3):                          # one more than said, as TCP has it
            kinds[first]().connect((ADDR, port))
        before = stats()
        if other == 'tcp':                          # TCP can't be kept from one
            tcp().connect((ADDR, port))
        late = kinds[other]()
        late.settimeout(1)
        eq(errno_of(late.connect, (ADDR, port)), 'timed out', first)
        late.close()
        if other == 'sdp':
            true(growth(before, 'RejBacklog'), 'RejBacklog')
        taken = [protocol(accept(lst)) for _ in range(2 if other == 'tcp' else 1)]
        true(first in taken, f'{taken}')
        late = kinds[other]()
        late.connect((ADDR, port))
        cleanup()


@case
def listener_closes_all():
    lst = sock('', BOTH)
    port = listen(lst, ADDR)
    clients = [tcp(), sock('', SDP)]
    for c in clients:
        c.connect((ADDR, port))
    lst.close()
    for c in clients:
        eq(errno_of(c.recv, 1), 'ECONNRESET', protocol(c))
    eq(errno_of(tcp().connect, (ADDR, port)), 'ECONNREFUSED')
    eq(errno_of(sock('', SDP).connect, (ADDR, port)), 'ECONNREFUSED')


@case
def listener_shutdown():
    lst = sock('', BOTH, None)
    port = listen(lst, ADDR)
    wait = in_thread(lst.accept)
    time.sleep(0.1)
    lst.shutdown(socket.SHUT_RD)
    eq(wait(), 'EINVAL')
    eq(errno_of(tcp().connect, (ADDR, port)), 'ECONNREFUSED')
    lst.listen()
    for c in (tcp(), sock('', SDP)):
        c.connect((ADDR, port))
        talk(c, accept(lst))


@case
def accept_in_vain():
    """An accept() that fails, on a listener that is TCP's"""
    lst = sock('', TCP, None)
    listen(lst, ADDR)
    lst.settimeout(0)
    eq(errno_of(lst.accept), 'EAGAIN')


@case
def listener_unconnected():
    """connect(AF_UNSPEC) ends both kinds of listening"""
    lst = sock('', BOTH, None)
    port = listen(lst, ADDR)
    libc_connect(lst, b'\0' * 16)
    eq(errno_of(tcp().connect, (ADDR, port)), 'ECONNREFUSED')
    eq(errno_of(sock('', SDP).connect, (ADDR, port)), 'ECONNREFUSED')


@case
def listener_autobind():
    lst = sock('', BOTH)
    lst.listen()
    port = lst.getsockname()[1]
    for c in (tcp(), sock('', SDP)):
        c.connect((ADDR, port))
        talk(c, accept(lst))


@case
def listener_any_v6():
    lst = sock('::', BOTH)
    port = listen(lst, '::')
    for addr in (ADDR, ADDR6, '127.0.0.1', '::1'):
        for c in (tcp(addr), sock(addr, SDP)):
            c.connect((addr, port))
            s = accept(lst)
            eq(protocol(s), protocol(c))
            talk(c, s)


def options_inherited(late):
    lst = sock('', BOTH)
    port = listen(lst, ADDR) if late else 0
    for level, name, value in OPTIONS[:3] + OPTIONS[11:12]:
        lst.setsockopt(level, name, value)
    if late:        # the core sets some without telling us, so it takes an accept() to see them
        lst.settimeout(0)
        eq(errno_of(lst.accept), 'EAGAIN')
        lst.settimeout(20 * SLOW)
    port = port or listen(lst, ADDR)
    tcp().connect((ADDR, port))
    s = accept(lst)
    eq(protocol(s), 'tcp')
    for level, name, value in OPTIONS[:3] + OPTIONS[11:12]:
        got = s.getsockopt(level, name)
        true(got in (value, value * 2), f'{level} {name}: {got}')


@case
def listener_options_inherited():
    options_inherited(False)


@case
def listener_options_set_late():
    options_inherited(True)


@case
def listener_by_tcp():
    """Listening by policy tcp, it accepts TCP sockets that have nothing of ours"""
    lst = sock('', TCP)
    port = listen(lst, ADDR)
    c = tcp()
    c.connect((ADDR, port))
    s = accept(lst)
    talk(c, s)
    eq(errno_of(s.getsockopt, SOL_SDP, SDP_POLICY), errno_of(c.getsockopt, SOL_SDP, SDP_POLICY))


@case
def many_fall():
    """Hundreds at a time, some closed in between"""
    sysctl('net.sdp.fallback_timeout', 500)
    lst = tcp()
    port = listen(lst, ADDR, backlog=500)
    socks = []
    for n in range(200):
        c = sock('', BOTH)
        c.setblocking(False)
        if n % 3 == 0:
            errno_of(c.connect, (SILENT, ECHO))
        else:
            sysctl('net.sdp.cache_flush', 1)
            errno_of(c.connect, (ADDR, port))
        if n % 5 == 0:
            c.close()
        else:
            socks.append(c)
    for c in socks:
        true(select.select([], [c], [], 30 * SLOW)[1], 'writable')
        eq((so_error(c), protocol(c)), ('ok', 'tcp'))


def serve(addr):
    def one(s):
        with s:
            while data := s.recv(65536):
                s.sendall(data)

    lst = socket.create_server((addr, ECHO), backlog=500)
    print('ready', flush=True)
    while True:
        s, _ = lst.accept()
        threading.Thread(target=one, args=(s,), daemon=True).start()


if sys.argv[1] == 'serve':
    serve(sys.argv[2])
ADDR, ADDR6, SILENT, PLAIN, DARK = sys.argv[1:6]
tap.add('matrix', matrix, ADDR, None)
tap.add('matrix_family_27', matrix, ADDR, True)
tap.add('matrix_v6', matrix, ADDR6, None)
tap.add('matrix_loopback', matrix, '127.0.0.1', None)
tap.add('matrix_loopback_v6', matrix, '::1', True)
cleanup()
tap.run(*sys.argv[6:7])
