# SPDX-License-Identifier: GPL-2.0
"""limits.py ADDRESS: what bounds a socket that nobody looks after. TAP."""
import ctypes
import errno
import hashlib
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
import tap                                                          # noqa: E402
from peer import pattern                                            # noqa: E402
from sdpsock import (SLOW, Sysctl, errno_of, fate, growth, recv_exactly, sdp_accept,    # noqa: E402
                     sdp_listen, sdp_pair, sdp_socket, soon, stats)

SO_RESERVE_MEM = 73
ADDR = sys.argv[1]


def until(what, true):
    tap.true(soon(true, True), f'not in time: {what}')


def has_error(s):
    p = select.poll()
    p.register(s, 0)
    return any(events & select.POLLERR for _, events in p.poll(0))


def pair():
    """Both ends of a connection, the accepted one last"""
    return sdp_pair(sdp_listen((ADDR, 0)), 20 * SLOW)


def fill(s):
    """Sends until there is no more room"""
    s.setblocking(False)
    try:
        while True:
            s.send(bytes(1 << 16))
    except BlockingIOError:
        pass


def tcp_socket(_):
    return socket.socket()


def most_connected(make):
    """How many connections a listener has that accepts none of seven"""
    lst = make(ADDR)
    lst.bind((ADDR, 0))
    lst.listen(100)
    clients = [make(ADDR) for _ in range(7)]
    for c in clients:
        c.setblocking(False)
        tap.eq(c.connect_ex(lst.getsockname()), errno.EINPROGRESS, 'connect')
        time.sleep(0.05 * SLOW)
    # ... when there have been no more for a while
    n, since = 0, time.monotonic()
    while time.monotonic() < since + SLOW:
        if (now := len(select.select([], clients, [], 0)[1])) != n:
            n, since = now, time.monotonic()
        time.sleep(0.02)
    return n


@tap.case
def somaxconn_is_the_largest_backlog():
    with Sysctl('net.core.somaxconn', 2):
        tcp = most_connected(tcp_socket)
        tap.eq(most_connected(sdp_socket), tcp, 'connections of a listen(100)')
    tap.true(most_connected(sdp_socket) == 7, 'all of them with the default')


@tap.case
def half_closed_and_100_mb_come_back():
    chunk, n = pattern(1 << 20, 7), 10 if SLOW > 1 else 100
    c, s = pair()
    c.sendall(b'all, please')
    c.shutdown(socket.SHUT_WR)
    tap.eq(recv_exactly(s, 100), b'all, please', 'the request, and its end')

    def serve():
        for _ in range(n):
            s.sendall(chunk)
        s.close()
    t = threading.Thread(target=serve)
    t.start()
    want, got, length = hashlib.md5(), hashlib.md5(), 0
    for _ in range(n):
        want.update(chunk)
    while True:
        part = c.recv(1 << 18)
        if not part:
            break
        got.update(part)
        length += len(part)
    t.join()
    tap.eq(length, n << 20, 'bytes')
    tap.eq(got.hexdigest(), want.hexdigest(), 'contents')


@tap.case
def orphans_are_limited():
    before = stats()
    with Sysctl('net.sdp.max_orphans', 2):
        pairs = [pair() for _ in range(4)]
        for c, _ in pairs:
            c.close()
        tap.eq(growth(before, 'AbortOrphans'), 2, 'counted')
        until('reset', lambda: all(has_error(s) for _, s in pairs[2:]))
        tap.eq(growth(before, 'AbortsRcvd'), 2, 'resets')
        # As with TCP, whose RST comes behind the FIN
        tap.eq([fate(s) for _, s in pairs], ['eof'] * 4, 'what the peers read')
        tap.eq([s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) for _, s in pairs],
               [0, 0, errno.EPIPE, errno.EPIPE], 'their errors')
        for _, s in pairs:
            s.close()

        # Those that are over, make room
        def fits():
            was = stats()
            c, _ = pair()
            c.close()
            return not growth(was, 'AbortOrphans')
        until('an orphan again', fits)


@tap.case
def orphans_have_no_memory_beyond_the_limit():
    before = stats()
    # So many, as each processor may keep a megabyte back when memory is counted
    pairs = [pair() for _ in range(8 * os.cpu_count())]
    for c, _ in pairs:
        fill(c)
    c, s = pairs[0]
    with Sysctl('net.sdp.mem', '1\t1\t1'):
        c.close()
    tap.eq(growth(before, 'AbortOrphans'), 1, 'counted')
    tap.eq(fate(s), 'ECONNRESET', 'what the peer sees')


def ports_run_out(make):
    """What bind(), connect() and listen() say when no port is left, and when one is"""
    lst = make(ADDR)
    lst.bind((ADDR, 0))
    lst.listen(8)
    to = lst.getsockname()
    with Sysctl('net.ipv4.ip_local_port_range', '50000\t50001'):
        held = [make(ADDR) for _ in range(2)]
        for s in held:
            s.bind((ADDR, 0))
        said = [errno_of(make(ADDR).bind, (ADDR, 0)), errno_of(make(ADDR).connect, to),
                errno_of(make(ADDR).listen, 1)]
        held.pop().close()
        said.append(errno_of(make(ADDR).connect, to))
    return said


@tap.case
def ephemeral_ports_run_out():
    tcp = ports_run_out(tcp_socket)
    tap.eq(ports_run_out(sdp_socket), tcp, 'as with TCP')
    tap.eq([tcp[0], tcp[3]], ['EADDRINUSE', 'ok'], 'as expected')


@tap.case
def a_peer_does_not_close_its_half():
    """... within fin_timeout, or TCP_LINGER2, after we have closed: it is told when it writes"""
    for fin_timeout, linger2 in (1, 0), (60, 1):
        with Sysctl('net.sdp.fin_timeout', fin_timeout):
            c, s = pair()
            if linger2:
                c.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, linger2)
            inode = os.fstat(c.fileno()).st_ino
            c.close()
            tap.eq(s.recv(1), b'', 'end of stream')

            def orphans(n=s.getpeername()[1]):
                rows = Path('/proc/net/sdp').read_text(encoding='ascii').splitlines()
                return [r for r in rows if f':{n:04X} ' in r]
            until(f'{inode} gone', lambda: len(orphans()) <= 1)
        until('told', lambda: errno_of(s.send, b'x') in ('EPIPE', 'ECONNRESET'))


def given_up(half_closed):
    """Closed with data for a peer that doesn't read, perhaps after that one's end of stream"""
    before = stats()
    with Sysctl('net.sdp.fin_timeout', 2):
        c, s = pair()
        if half_closed:
            s.shutdown(socket.SHUT_WR)
            tap.eq(c.recv(1), b'', 'end of stream')
        fill(c)
        c.close()
        until('given up', lambda: growth(before, 'AbortsSent') > 0)
    tap.eq(fate(s), 'ECONNRESET', 'what the peer sees')


@tap.case
def an_administrator_ends_a_close_that_lingers():
    """... which isn't in anybody's way meanwhile"""
    c, s = pair()
    fill(c)
    c.setblocking(True)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 600))
    port = c.getsockname()[1]
    t = threading.Thread(target=c.close, daemon=True)
    t.start()
    time.sleep(0.3 * SLOW)
    tap.true(t.is_alive(), 'close() waits')
    subprocess.run(['sdpstat', '-K', '-H', f'sport = :{port}'], check=True, timeout=20 * SLOW,
                   stdout=subprocess.DEVNULL)
    t.join(20 * SLOW)
    tap.true(not t.is_alive(), 'close() returns')
    s.close()


@tap.case
def what_was_accepted_may_listen():
    """... with a backlog of its own, though its listener had others queued when it was made"""
    lst = sdp_listen((ADDR, 0))
    lst.listen(16)
    clients = [sdp_socket() for _ in range(8)]
    for c in clients:
        c.settimeout(20 * SLOW)
        c.connect(lst.getsockname())
    last = [sdp_accept(lst) for _ in clients][-1]
    libc = ctypes.CDLL(None, use_errno=True)
    tap.eq(libc.connect(last.fileno(), bytes(16), 16), 0, 'connect(AF_UNSPEC)')
    lst.close()
    last.listen(1)
    again = sdp_socket()
    again.settimeout(10 * SLOW)
    again.connect((ADDR, last.getsockname()[1]))


@tap.case
def memory_is_not_reserved():
    """SO_RESERVE_MEM, in a group whose memory is limited"""
    if os.uname().release.startswith('6.1.'):
        raise tap.Skip('before 6.4 the core does not ask')
    group = Path('/sys/fs/cgroup/sdp-reserve')
    (group.parent / 'cgroup.subtree_control').write_text('+memory')
    group.mkdir()
    try:
        (group / 'cgroup.procs').write_text('0')
        with sdp_socket() as s, socket.socket() as tcp:
            tcp.setsockopt(socket.SOL_SOCKET, SO_RESERVE_MEM, 1 << 20)
            tap.eq(errno_of(s.setsockopt, socket.SOL_SOCKET, SO_RESERVE_MEM, 1 << 20),
                   'ENOTSUP', 'SDP')
    finally:
        (group.parent / 'cgroup.procs').write_text('0')
        group.rmdir()


tap.add('closed_with_data_for_a_peer_that_does_not_read', given_up, False)
tap.add('the_same_after_the_peer_has_closed_its_half', given_up, True)
tap.run()
