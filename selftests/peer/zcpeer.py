# SPDX-License-Identifier: GPL-2.0
"""What tests of zero copy against sdp_peer.ko have in common."""
import errno
import os
import socket
import struct

from peer import Peer, crc, pattern
from sdpsock import SLOW, growth, sdp_accept, sdp_listen, sdp_socket, soon
from tap import cleanups, eq, true

ADDR = os.environ.get('LAB_IP', '10.9.0.1')
PORT, PEER_PORT = 5003, 6003
SOL_SDP, SDP_ZCOPY_THRESH, SDP_MODE = 1025, 80, 82
SDP_AZ_THRESH, SDP_AZ_POLICY, SDP_AZ_RECV = 86, 87, 88
SDP_AUTO, SDP_BCOPY, SDP_ZCOPY, SDP_AZ, SDP_ZCOPY_W = range(5)
SDP_AZ_BLOCK = 1
KB, MB = 1 << 10, 1 << 20
socks, listeners = [], []


def cleanup():
    Peer.end_all()
    while socks:
        socks.pop().close()


def patient(s, seconds=30):
    """A blocking socket in earnest: Python's own timeouts make it non-blocking. 64 KB aren't
    copied"""
    s.setblocking(True)
    s.setsockopt(SOL_SDP, SDP_ZCOPY_THRESH, 64 * KB)
    for name in socket.SO_RCVTIMEO, socket.SO_SNDTIMEO:
        s.setsockopt(socket.SOL_SOCKET, name, struct.pack('ll', seconds * SLOW, 0))
    socks.append(s)
    return s


def listener():
    if not listeners:
        listeners.append(sdp_listen((ADDR, PORT)))
    return listeners[0]


def outbound(**keys):
    """sdp.ko connects"""
    p, s = Peer(), sdp_socket()
    p.do('listen', PEER_PORT)
    t = p.start('accept', **keys)
    s.connect((ADDR, PEER_PORT))
    eq(t.join().word, 'established', 'accept')
    return p, patient(s)


def inbound(**keys):
    """The peer connects"""
    listener()
    p = Peer()
    p.do('connect', ADDR, PORT, **keys)
    return p, patient(sdp_accept(listener()))


def recv_into(s, n, flags=socket.MSG_WAITALL, fill=0):
    """recv() of n bytes in one call, into memory of its own"""
    buf = bytearray([fill]) * n
    got = s.recv_into(buf, n, flags)
    return bytes(buf[:got])


def send_timeout(s, seconds):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO,
                 struct.pack('ll', int(seconds), int(seconds % 1 * 1e6)))


def failure(call, *args):
    """The errno's name a call fails with, or what it returned"""
    try:
        return call(*args)
    except OSError as e:
        return errno.errorcode[e.errno]


def expect(p, name, past=(), **fields):
    """The next message but for credit updates, and those @past which to look"""
    for _ in range(50):
        r = p.do('recv', 15000 * SLOW)  # longer than SDP waits for an answer
        if r.word not in past and (r.word != 'Data' or r['payload']):
            break
    eq(r.word, name, r)
    eq(r['judge'], 'good', r)
    for key, value in fields.items():
        eq(r[key], value, r)
    return r


def good(p):
    eq(p.status()['bad'], 'none', p.status())


def sunk(p, n, data):
    """The peer has taken n bytes, and they are these"""
    soon(lambda: p.status()['rx_bytes'] >= n, True)
    st = p.status()
    eq((st['rx_bytes'], st.kv['rx_crc'], st['bad']), (n, crc(data), 'none'), st)


def goes_on(p, s, way=b'after'):
    """The stream still works, in both directions"""
    s.sendall(way)
    r = expect(p, 'Data', payload=len(way))
    eq(r.kv['crc'], crc(way), r)
    p.do('send', payload='pat:77:100')
    eq(recv_into(s, 100), pattern(100, 77), 'goes on')
    good(p)


def broken(s, result):
    """A send() that the end of the connection has ended, after a few bytes or none, or that was
    over before anybody knew of the end"""
    gone = ['ECONNRESET', 'EPROTO', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT']
    if isinstance(result, int):
        true(soon(lambda: failure(s.send, b'x') in gone, True), 'sends after the end fail')
    else:
        true(result in gone, result)


def peer_reads(p, advert, data):
    """RDMA READ of all that is advertised finds this there"""
    for off in range(0, len(data), 65536):
        part = data[off:off + 65536]
        r = p.do('rread', advert['rkey'], advert['va'] + off, len(part))
        eq(r.kv['crc'], crc(part), f'from byte {off}')


def pipelined(p):
    p.do('send', mid='ModeChange', mode=0x20)


def bad(before, what, n=1):
    """The connection has ended for this reason"""
    eq((growth(before, what), growth(before, 'Bad')), (n, n), f'{what} counts')


cleanups.append(cleanup)
