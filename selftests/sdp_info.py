# SPDX-License-Identifier: GPL-2.0
"""sdp_info.py ADDRESS [CASE...]: SDP_INFO says what happens to a socket."""
import mmap
import os
import socket
import struct
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import (SDP_INFO, SOL_SDP, growth, info, info_layout, recv_exactly,    # noqa: E402
                     sdp_accept, sdp_listen, sdp_socket, soon, stats)

ADDR = sys.argv[1]
SDP_ZCOPY_THRESH, SDP_MODE, SDP_AZ_THRESH = 80, 82, 86
ESTABLISHED, CLOSE, CLOSE_WAIT, LISTEN = 1, 7, 8, 10
KB = 1 << 10


def eq(got, wanted, what):
    assert got == wanted, f'{what}: {got!r} is not {wanted!r}'


def has(s, **fields):
    now = info(s)
    for name, wanted in fields.items():
        eq(now[name], wanted, f'{name} of {now}')
    return now


def settled(s, **fields):
    """These values are reached soon"""
    soon(lambda: {k: info(s)[k] for k in fields}, fields)
    return has(s, **fields)


def connected():
    with sdp_listen((ADDR, 0)) as lst:
        c = sdp_socket()
        c.connect(lst.getsockname())
        s = sdp_accept(lst)
    for sock in c, s:
        sock.setblocking(True)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 60, 0))
    return c, s


def begin(func, *args):
    """In a thread that doesn't keep this program from ending when something is wrong"""
    t = threading.Thread(target=func, args=args, daemon=True)
    t.start()
    return t


def length():
    """As with TCP_INFO: as much as there is room for"""
    size = struct.calcsize(info_layout()[1])
    s = sdp_socket()
    for room, gets in (1024, size), (size, size), (10, 10), (1, 1):
        eq(len(s.getsockopt(SOL_SDP, SDP_INFO, room)), gets, f'{room} bytes of room')
    try:
        s.setsockopt(SOL_SDP, SDP_INFO, bytes(size))
        raise AssertionError('can be set')
    except OSError as e:
        eq(e.strerror, os.strerror(92), 'setsockopt()')     # ENOPROTOOPT


def states():
    s = sdp_socket()
    now = has(s, transport=0, fallback=0, mode=0, state=CLOSE, snd_credits=0, zcopy_thresh=131072)
    eq(sum(now.values()), CLOSE + 131072, 'all else is 0')
    s.setsockopt(SOL_SDP, SDP_MODE, 1)
    s.setsockopt(SOL_SDP, SDP_ZCOPY_THRESH, 0)
    has(s, mode=1, zcopy_thresh=0)
    # As OFED's programs set it
    s.setsockopt(socket.SOL_TCP, SDP_ZCOPY_THRESH, 65536)
    has(s, zcopy_thresh=65536)
    s.setsockopt(SOL_SDP, SDP_ZCOPY_THRESH, 0)
    with sdp_listen((ADDR, 0)) as lst:
        has(lst, state=LISTEN, unread=0)
        s.connect(lst.getsockname())
        settled(lst, unread=1)
        now = settled(s, state=ESTABLISHED)
        eq((now['snd_flow'], now['rcv_flow']), (1, 1), 'Combined')
        eq((now['max_adverts'], now['peer_max_adverts']), (8, 8), 'MaxAdverts')
        eq((now['snd_size'], now['rcv_size']), (4096, 4096), 'buffers')
        eq((now['snd_credits'], now['rcv_credits'], now['rcv_posted']), (4, 4, 6), 'credits')
        sdp_accept(lst).close()
        settled(s, state=CLOSE_WAIT)


def copied():
    c, s = connected()
    c.send(b'x' * 5000)
    settled(s, unread=5000, rcv_bcopy=5000, rcv_zcopy=0)
    has(c, snd_bcopy=5000, snd_zcopy=0, snd_direct=0, src_avail_sent=0)
    eq(info(s)['rcv_data'], info(c)['snd_data'], 'messages')
    recv_exactly(s, 2000)
    has(s, unread=3000, rcv_bcopy=5000)
    c.setsockopt(SOL_SDP, SDP_MODE, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    c.setblocking(False)
    sent = 5000
    try:
        while True:
            sent += c.send(b'y' * 4096)
    except BlockingIOError:
        pass
    time.sleep(0.5)
    here, there = info(c), info(s)
    eq(here['unsent'] + there['unread'], sent - 2000, 'what is queued somewhere')
    eq(here['unacked'], 0, 'unacknowledged')
    eq(here['snd_bcopy'], there['rcv_bcopy'], 'on its way')
    eq(here['snd_credits'], 2, 'credits the peer has left us')
    eq(there['rcv_credits'], 2, 'as it sees them')


def not_copied():
    c, s = connected()
    before = stats()
    n = 1000 * KB
    t = begin(lambda: s.recv_into(bytearray(n), n, socket.MSG_WAITALL))
    time.sleep(0.3)
    eq(c.send(bytes(n)), n, 'send')
    t.join()
    here, there = settled(c, src_adverts=0), has(s, peer_src_adverts=0, rdma_reads=0)
    eq((here['snd_flow'], there['rcv_flow']), (2, 2), 'Pipelined')
    eq(here['snd_zcopy'] + here['snd_bcopy'] + here['snd_direct'], n, 'all of it')
    eq(there['rcv_zcopy'] + there['rcv_ahead'] + there['rcv_bcopy'], n, 'there, too')
    assert here['snd_zcopy'] >= n - 64 * KB, here
    assert there['rcv_zcopy'] == here['snd_zcopy'], (here, there)
    for mine, theirs, counter in (('src_avail_sent', 'src_avail_rcvd', 'SrcAvailSent'),
                                  ('snd_zcopy', 'rcv_zcopy', 'SendZcopy')):
        eq(here[mine], there[theirs], mine)
        eq(here[mine], growth(before, counter), counter)
    eq(there['reads'], growth(before, 'RdmaReads'), 'reads')


def stall():
    """Nobody reads: advertised, taken back after a second, refused, copied"""
    c, s = connected()
    c.setsockopt(SOL_SDP, SDP_AZ_THRESH, 0)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    n = 600 * KB
    t = begin(c.sendall, bytes(n))
    here = settled(c, src_adverts=3)
    settled(s, peer_src_adverts=3)
    # What may be read ahead has been
    soon(lambda: info(s)['unread'] > 0, True)
    time.sleep(0.2)
    there = has(s, peer_src_adverts=3)
    eq(there['rcv_ahead'], there['unread'], 'read ahead')
    # What has been read ahead may have been reported already
    assert here['snd_advertised'] in (600 * KB, 600 * KB - there['rcv_ahead']), (here, there)
    eq(there['rcv_advertised'], 600 * KB - there['rcv_ahead'], 'not read yet')
    settled(c, src_cancel_sent=1, sendsm_rcvd=1)
    has(s, src_cancel_rcvd=1, sendsm_sent=1)
    recv_exactly(s, n)
    t.join()
    here, there = has(c, zcopy_skip=1, snd_advertised=0), has(s, unread=0, rcv_advertised=0)
    # What is pinned yet when it is refused goes in messages as it is
    messages = here['snd_bcopy'] + here['snd_direct']
    eq(here['snd_zcopy'] + messages, n, 'all of it')
    eq((there['rcv_ahead'], there['rcv_bcopy']), (here['snd_zcopy'], messages), 'as sent')


def tracked():
    """AZ-SDP: one buffer that is left alone, then one that is written to in flight"""
    c, s = connected()
    c.setsockopt(SOL_SDP, SDP_AZ_THRESH, 65536)
    before = stats()
    n = 256 * KB
    place = mmap.mmap(-1, n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place[:] = b'a' * n
    for text in b'ab':
        place[:] = bytes([text]) * n
        took = info(c)['az_usec']
        eq(c.send(place), n, 'send')
        if text == ord('b'):
            place[:] = b'c' * n
        eq(recv_exactly(s, n), bytes([text]) * n, 'what it was when it was sent')
        while info(c)['az_usec'] == took:   # until nothing is tracked any more
            time.sleep(0.01)
    here = has(c, az_sends=2, src_adverts=0)
    eq((here['az_bytes'], here['az_protected']), (2 * n, 2 * n // 4096), 'bytes and pages')
    eq(here['az_written'], n // 4096, 'pages written in flight')
    assert here['az_usec'] > 0, here
    for field, counter in (('az_sends', 'AzSends'), ('az_bytes', 'AzBytes'), ('az_usec', 'AzTime'),
                           ('az_protected', 'AzProtected'), ('az_written', 'AzWritten')):
        eq(here[field], growth(before, counter), counter)


CASES = length, states, copied, not_copied, stall, tracked
for case in CASES:
    if len(sys.argv) == 2 or case.__name__ in sys.argv[2:]:
        print(case.__name__, flush=True)
        case()
