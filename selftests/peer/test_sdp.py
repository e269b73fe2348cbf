# SPDX-License-Identifier: GPL-2.0
"""sdp.ko against peers that are hostile, or as OFED was."""
import errno
import os
import random
import select
import socket
import sys
import time

from peer import Peer, Task, pattern, crc
from sdpsock import (FATAL, SLOW, Sysctl, fate, growth, info, recv_exactly, rnr, sdp_accept,
                     sdp_listen, sdp_socket, soon, stats)
from tap import add, case, cleanups, eq, note, run, true

ADDR = os.environ.get('LAB_IP', '10.9.0.1')
ADDR6 = os.environ.get('LAB_IP6', 'fd09::1')
PORT, PORT6, PEER_PORT = 5001, 5002, 6001
FATAL_NAMES = [errno.errorcode[e] for e in FATAL]
socks = []


def keep(sock):
    """Closed when the case is over"""
    socks.append(sock)
    return sock


def drained(lst):
    try:
        lst.accept()[0].close()
        return False
    except OSError as e:
        return e.errno != errno.ECONNABORTED


def cleanup():
    """Whatever a case has left, lest the next one finds it"""
    Peer.end_all()
    for lst in listener, listener6:
        lst.settimeout(0)
        while not drained(lst):
            pass
    while socks:
        socks.pop().close()


# ---- the two ways to a connection, and one that must outlive all others ----

def inbound(**keys):
    """A peer connects to sdp.ko"""
    p = Peer()
    p.do('connect', ADDR, PORT, **keys)
    return p, keep(sdp_accept(listener))


def outbound(addr=ADDR, **keys):
    """sdp.ko connects to a peer"""
    p, s = Peer(), keep(sdp_socket(addr))
    p.do('listen', PEER_PORT)
    t = p.start('accept', **keys)
    s.connect((addr, PEER_PORT))
    hello = t.join()
    eq((hello.word, hello['judge'], hello['dstip']), ('established', 'good', addr), hello)
    eq(hello['port'], s.getsockname()[1], hello)
    return p, s


def inbound6(**keys):
    p = Peer()
    p.do('connect', ADDR6, PORT6, **keys)
    return p, keep(sdp_accept(listener6))


def outbound6(**keys):
    return outbound(ADDR6, **keys)


class Witness:
    """A connection that must not notice what happens to others"""

    def __init__(self):
        self.peer = Peer()
        Peer.opened.remove(self.peer)
        self.peer.do('connect', ADDR, PORT)
        self.sock = sdp_accept(listener)
        self.peer.do('auto', 'echo')
        self.round = 0

    def check(self):
        self.round += 1
        data = pattern(1000, self.round & 0xff)
        self.sock.sendall(data)
        eq(crc(recv_exactly(self.sock, 1000)), crc(data), 'the other connection lives')
        eq(self.peer.status()['bad'], 'none', 'the other connection')


def all_is_well():
    """Another connection lives, and new ones can be made"""
    witness.check()
    p, s = inbound()
    p.do('send', payload='pat:7:50')
    eq(recv_exactly(s, 50), pattern(50, 7), 'a new connection')
    eq(p.status()['bad'], 'none', p.status())
    p.end()
    s.close()


# ---- Hello and HelloAck ----

BAD_HELLOS = {
    'Len 91': {'len': 91}, 'Len 93': {'len': 93}, 'Len 0': {'len': 0},
    'Len -1': {'len': 0xffffffff},
    'MID HelloAck': {'mid': 1}, 'MID Data': {'mid': 255},
    'version 0': {'version': 0}, 'version 1.1': {'version': 0x11}, 'version 3': {'version': 0x30},
    'IPV 0': {'ipvcap': 0}, 'IPV 2': {'ipvcap': 0x20}, 'IPV 5': {'ipvcap': 0x50},
    'IPV 15': {'ipvcap': 0xf0},
    'IPV 6 with IPv4 addresses': {'ipvcap': 0x60},
    'IPV 6 with mapped addresses':
    {'ipvcap': 0x60, 'srcip': f'::ffff:{ADDR}', 'dstip': f'::ffff:{ADDR}'},
    'MaxAdverts 0': {'adverts': 0},
    'LocalRcvSz 0': {'rcvsz': 0}, 'LocalRcvSz 16': {'rcvsz': 16}, 'LocalRcvSz 35': {'rcvsz': 35},
    'Bufs 0': {'bufs': 0}, 'Bufs 1': {'bufs': 1}, 'Bufs 2': {'bufs': 2},
    "somebody else's DstIP": {'dstip': '10.9.0.77'}, 'DstIP 0.0.0.0': {'dstip': '0.0.0.0'},
    'DstIP 255.255.255.255': {'dstip': '255.255.255.255'},
    'DstIP multicast': {'dstip': '224.0.0.1'},
    "somebody else's SrcIP": {'srcip': '8.8.8.8'}, 'SrcIP 0.0.0.0': {'srcip': '0.0.0.0'},
    'port 0': {'port': 0},
    'no private data': {'plen': 0}, 'half of it': {'plen': 40}, 'all ones': {'raw': 'ff' * 92},
}

GOOD_HELLOS = {
    'LocalRcvSz huge': {'rcvsz': 0xffffffff}, 'Bufs 65535': {'bufs': 65535},
    'DesRemRcvSz 0': {'des': 0}, 'DesRemRcvSz huge': {'des': 0xffffffff},
    'minor version 0': {'version': 0x20}, 'minor version 15': {'version': 0x2f},
    'capabilities': {'ipvcap': 0x4f, 'extadverts': 300},
    'reserved bytes set': {'at': '68:' + 'ee' * 24}, 'flags, MSeq, MSeqAck set':
    {'flags': 255, 'mseq': 9, 'ack': 77}, 'smallest buffers': {'rcvsz': 36, 'bufs': 3},
}

BAD_HELLO_ACKS = {
    'Len 195': {'len': 195}, 'Len 0': {'len': 0}, 'Len -1': {'len': 0xffffffff},
    'MID Hello': {'mid': 0}, 'MID Data': {'mid': 255},
    'version 1.1': {'version': 0x11}, 'version 3': {'version': 0x30},
    'MaxAdverts 0': {'adverts': 0}, 'ActRcvSz 0': {'rcvsz': 0}, 'ActRcvSz 16': {'rcvsz': 16},
    'ActRcvSz 35': {'rcvsz': 35}, 'Bufs 0': {'bufs': 0}, 'Bufs 2': {'bufs': 2},
    'no private data': {'plen': 0}, 'all ones': {'raw': 'ff' * 196},
}


def bad_hello6(keys):
    bad_hello(keys, ADDR6, PORT6)


def bad_hello(keys, addr=ADDR, port=PORT):
    before = stats()
    p = Peer()
    r = p.ask('connect', addr, port, **keys)
    eq(r.word, 'rejected', r)
    true(growth(before, 'Rej') == 1, 'one refusal is counted')
    all_is_well()


def good_hello(keys):
    p, s = inbound(**keys)
    p.do('send', payload='pat:1:300')
    eq(recv_exactly(s, 300), pattern(300, 1), 'in')
    s.sendall(pattern(30, 2))
    got = 0
    while got < 30:
        got += p.do('expect', 'Data')['payload']
    eq(p.status().kv['rx_crc'], crc(pattern(30, 2)), p.status())
    eq(p.status()['bad'], 'none', p.status())
    all_is_well()


def bad_hello_ack(keys):
    before = stats()
    p, s = Peer(), keep(sdp_socket())
    p.do('listen', PEER_PORT)
    t = p.start('accept', **keys)
    r = s.connect_ex((ADDR, PEER_PORT))
    true(r in FATAL + (errno.ECONNREFUSED,), f'connect: {errno.errorcode.get(r, r)}')
    t.join()
    true(growth(before, 'BadHelloAck') == 1, 'it is counted')
    all_is_well()


@case
def random_hellos():
    rng = random.Random(4711)
    for n in range(30):
        p = Peer()
        if n % 2:
            keys = {'raw': rng.randbytes(92).hex()}
        else:
            keys = {'at': f'{rng.randrange(92)}:{rng.randrange(256):02x}'}
        if p.do_or_reject('connect', ADDR, PORT, **keys).word == 'established':
            sdp_accept(listener).close()
        p.end()
    all_is_well()


def rejected(reason):
    p, s = Peer(), keep(sdp_socket())
    p.do('listen', PEER_PORT)
    t = p.start('reject', reason, data='ff' * 148)
    eq(s.connect_ex((ADDR, PEER_PORT)), errno.ECONNREFUSED, f'reason {reason}')
    t.join()


@case
def rej_is_connection_refused():
    for reason in (28, 8, 1, 0, 255, 65535):
        rejected(reason)
        cleanup()
    eq(sdp_socket().connect_ex((ADDR, 6999)), errno.ECONNREFUSED, 'nobody there')
    all_is_well()


@case
def no_answer_and_close():
    p, s = Peer(), keep(sdp_socket())
    p.do('listen', PEER_PORT)
    s.settimeout(1)
    try:
        s.connect((ADDR, PEER_PORT))
        true(False, 'connected')
    except TimeoutError:
        pass
    p.do('await', 'req')
    s.close()
    all_is_well()


@case
def rep_after_the_socket_is_closed():
    p, s = Peer(), keep(sdp_socket())
    p.do('listen', PEER_PORT)
    s.setblocking(False)
    eq(s.connect_ex((ADDR, PEER_PORT)), errno.EINPROGRESS, 'connect')
    p.do('await', 'req')
    s.close()
    p.ask('accept', timeout=3000)
    all_is_well()


@case
def no_rtu_but_data():
    p = Peer()
    p.do('connect', ADDR, PORT, nortu=1)
    p.do('send', payload='pat:3:500')
    s = keep(sdp_accept(listener))
    eq(recv_exactly(s, 500), pattern(500, 3), 'data before RTU')
    s.sendall(b'x')
    p.do('expect', 'Data')
    eq(p.status()['bad'], 'none', p.status())
    all_is_well()


@case
def no_rtu_nothing():
    p = Peer()
    p.do('connect', ADDR, PORT, nortu=1)
    p.do('kill')
    p.end()
    all_is_well()


def takes_others(lst):
    """Its backlog has room"""
    p = Peer()
    eq(soon(lambda: p.do_or_reject('connect', *lst.getsockname()).word, 'established'),
       'established', 'another peer')
    keep(sdp_accept(lst))
    p.end()
    lst.close()
    all_is_well()


def refuses_the_reply(reason):
    """A REJ instead of the RTU, for whatever reason, leaves nothing behind"""
    lst = sdp_listen((ADDR, 0), 1)
    for _ in range(4):
        p = Peer()
        r = soon(lambda p=p: p.do_or_reject('connect', *lst.getsockname(), nortu=1).word,
                 'established')
        eq(r, 'established', 'a peer that refuses our REP')
        p.ask('reject', reason)
        p.end()
    takes_others(lst)


@case
def never_says_that_it_is_ready():
    """A peer gets as long for its RTU as one to which we connect, whatever its REQ asks for"""
    lst = sdp_listen((ADDR, 0), 1)
    with Sysctl('net.sdp.cm_timeout', 16), Sysctl('net.sdp.connect_retries', 3):
        peers = [Peer(), Peer()]
        for p in peers:
            p.do('connect', *lst.getsockname(), nortu=1, cmtimeout=24, retries=15)
    takes_others(lst)
    for p in peers:
        p.end()


@case
def dead_before_accept():
    p = Peer()
    p.do('connect', ADDR, PORT)
    p.do('send', payload='pat:3:500')
    p.do('flush')
    p.end()
    s = keep(sdp_accept(listener))
    got = fate(s)
    true(got in FATAL_NAMES + ['EPIPE', 'eof'], got)
    all_is_well()


# ---- malformed, misplaced and mistimed messages ----

def send(**keys):
    return lambda p, s: p.do('send', **keys)


def raw(hexbytes):
    return lambda p, s: p.do('sendraw', hexbytes)


def adverts_cross(p, _s):
    p.do('mr', 1 << 20)       # more than is read ahead, so the first one stays open
    p.do('send', mid='SrcAvail', mr=1, inline=64, ack=0)
    p.do('send', mid='SrcAvail', mr=1, inline=64, ack=0)


def unacked_then(**keys):
    """sdp.ko has three messages under way that the peer then speaks of wrongly"""
    def script(p, s):
        for _ in range(3):
            s.sendall(b'x' * 10)
            p.do('recv')
        p.do('send', **keys)
    return script


def after_disconn(**keys):
    def script(p, _s):
        p.do('disconn')
        p.do('send', **keys)
    return script


def too_large(p, s):
    """Larger than the buffers sdp.ko said it has: a matter of the QP"""
    p.do('send', payload=f'pat:0:{p.status()["peer_size"]}')


MALFORMED = {
    'Len too small': send(payload='pat:0:100', len=100),
    'Len too large': send(payload='pat:0:100', len=120),
    'Len 0': send(payload='pat:0:100', len=0),
    'Len -1': send(payload='pat:0:100', len=0xffffffff),
    '0 bytes': raw(''), '1 byte': raw('ff'), '15 bytes': raw('ff' * 15),
    'header cut short': send(mid='SrcAvail', alen=100, trunc=24, len=24),
    'MID 0x0f': send(mid=0x0f), 'MID 0x77': send(mid=0x77), 'MID 0xfc': send(mid=0xfc),
    'SuspComm': send(mid='SuspComm', sid=77), 'SuspCommAck': send(mid='SuspCommAck'),
    'Hello': send(mid=0, ext='00' * 76), 'HelloAck': send(mid=1, ext='00' * 180),
    'MSeq skips one': send(mseq=2), 'MSeq 0': send(mseq=0), 'MSeq -1': send(mseq=0xffffffff),
    'MSeqAck of the unsent': send(ack=1), 'MSeqAck far ahead': send(ack=0x7fffffff),
    'MSeqAck behind': send(ack=0xffffffff),
    'MSeqAck goes back': unacked_then(ack=0, bufs=2),
    'fewer buffers than promised': unacked_then(ack=1, bufs=1),
    'OOB_PRES on control': send(mid='SrcAvailCancel', flags=1),
    'OOB_PRES without payload': send(flags=1),
    'payload on control': send(mid='SrcAvailCancel', payload='00'),
    'RdmaRdCompl of nothing': send(mid='RdmaRdCompl', num=100),
    'RdmaWrCompl of nothing': send(mid='RdmaWrCompl', num=100),
    'SendSm of nothing': send(mid='SendSm'),
    'SinkCancelAck of nothing': send(mid='SinkCancelAck'),
    'ChRcvBufAck of nothing': send(mid='ChRcvBufAck', num=65536),
    'ChRcvBuf 0': send(mid='ChRcvBuf', num=0), 'ChRcvBuf 35': send(mid='ChRcvBuf', num=35),
    'ModeChange to 3': send(mid='ModeChange', mode=0x30),
    'ModeChange to 7': send(mid='ModeChange', mode=0xf0),
    'ModeChange to the present': send(mid='ModeChange', mode=0x10),
    'ModeChange of a half not theirs': send(mid='ModeChange', mode=0xa0),
    'SrcAvail of nothing': send(mid='SrcAvail', alen=0, rkey=1, va=4096, payload='00'),
    'SrcAvail all inline': send(mid='SrcAvail', alen=8, rkey=1, va=4096, payload='00' * 8),
    'SrcAvail that wraps': send(mid='SrcAvail', alen=8192, rkey=1, va=0xfffffffffffff000,
                                payload='00'),
    'SrcAvail without payload in Combined': send(mid='SrcAvail', alen=8192, rkey=1, va=4096),
    'SinkAvail of nothing': send(mid='SinkAvail', alen=0, rkey=1, va=4096),
    'two SrcAvails in Combined': adverts_cross,
    'Data after DisConn': after_disconn(payload='00'),
    'DisConn after DisConn': after_disconn(mid='DisConn'),
    'SrcAvail after DisConn': after_disconn(mid='SrcAvail', alen=99, rkey=1, va=4096, payload='00'),
    'larger than the buffers': too_large,
    'AbortConn': send(mid='AbortConn'),
}

HARMLESS = {
    'reserved flags': send(flags=0xf8), 'OOB_PEND': send(flags=2), 'REQ_PIPE': send(flags=4),
    'SrcAvailCancel of nothing': send(mid='SrcAvailCancel'),
    'ChRcvBuf huge': send(mid='ChRcvBuf', num=0xffffffff),
    'ChRcvBuf as it is': send(mid='ChRcvBuf', num=4112),
    'Bufs 65535': send(bufs=65535),
}


def late_error(s):
    for _ in range(50 * SLOW):
        e = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if e:
            return errno.errorcode[e]
        time.sleep(0.1)
    return 'eof'


def ends_it(p):
    """The peer is told, by AbortConn or the CM or both"""
    r = p.ask('expect', 'AbortConn', 3000)
    if r.word == 'AbortConn':
        eq(r['judge'], 'good', r)
    p.do('await', 'dreq,flushed,qperr,senderr')


def malformed(connect, script):
    p, s = connect()
    script(p, s)
    got = fate(s)
    if got == 'eof':        # of a DisConn before it
        got = late_error(s)
    true(got in FATAL_NAMES, f'the program sees {got}')
    ends_it(p)
    p.end()
    s.close()
    all_is_well()


def harmless(script):
    p, s = inbound()
    script(p, s)
    p.do('send', payload='pat:9:100')
    eq(recv_exactly(s, 100), pattern(100, 9), 'goes on')
    s.sendall(b'y')
    p.do('expect', 'Data')
    all_is_well()


@case
def bad_messages_are_counted():
    for counter, script in (('BadLen', MALFORMED['Len 0']), ('BadMid', MALFORMED['MID 0x77']),
                            ('BadSeq', MALFORMED['MSeq 0']),
                            ('BadAck', MALFORMED['MSeqAck of the unsent']),
                            ('BadShort', MALFORMED['1 byte']),
                            ('BadFlags', MALFORMED['OOB_PRES without payload']),
                            ('BadCredit', MALFORMED['fewer buffers than promised'])):
        before = stats()
        p, s = inbound()
        script(p, s)
        fate(s)
        eq(growth(before, counter), 1, counter)


@case
def more_messages_than_credits():
    p, s = inbound()
    r = p.ask('send', payload='pat:0:4096', times=100, force=1)
    true(r.word in ('ok', 'closed'), r)     # sdp.ko may end it before the last
    got = fate(s, 5)
    note(f'flooded by 100 messages: {got}')
    p.end()
    all_is_well()


@case
def two_credits_stay():
    """The reader has stopped. OFED wants two credits for what isn't an update, and sends one"""
    p, s = inbound()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    while p.ask('send', payload='pat:0:4096', timeout=500).word != 'timeout':
        pass
    eq(p.status()['credits'], 2, p.status())
    p.do('send')
    eq(soon(lambda: p.status()['credits'], 2), 2, 'after an update')
    all_is_well()


@case
def flood_of_credits():
    p, s = inbound()
    p.do('auto', 'sink')
    for _ in range(50):     # two are answered by one, so a command takes some round trips
        p.do('send', times=10)
    p.do('send', payload='pat:9:100')
    eq(recv_exactly(s, 100), pattern(100, 9), 'goes on')
    eq(p.status()['bad'], 'none', p.status())
    all_is_well()


@case
def flood_of_questions():
    """ChRcvBuf and SrcAvail want answers; nothing may pile up"""
    p, s = inbound()
    for _ in range(100):
        p.ask('send', mid='ChRcvBuf', num=70000, timeout=1000)
        p.ask('recv', 0)
    p.do('auto', 'sink')
    s.sendall(b'z' * 100)
    eq(soon(lambda: p.status()['rx_bytes'], 100), 100, p.status())
    all_is_well()


@case
def random_messages():
    rng = random.Random(815)
    for n in range(40):
        p, s = inbound()
        kind = n % 4
        if kind == 0:
            p.ask('sendraw', rng.randbytes(rng.randrange(1, 200)).hex())
        elif kind == 1:
            mid = rng.choice([*range(15), 0xfd, 0xfe, 0xff])
            p.ask('send', mid=mid, ext=rng.randbytes(rng.randrange(0, 40)).hex(), force=1)
        elif kind == 2:
            p.ask('send', payload='pat:0:50', at=f'{rng.randrange(16)}:{rng.randrange(256):02x}')
        else:
            p.ask('send', mid='SrcAvail', alen=rng.getrandbits(32), rkey=rng.getrandbits(32),
                  va=rng.getrandbits(64), payload='pat:0:40')
        p.ask('flush', 1000)
        p.end()
        fate(s, 20)
        s.close()
    all_is_well()


@case
def dreq_without_disconn():
    p, s = inbound()
    p.do('send', payload='pat:4:200')
    p.do('flush')
    p.do('dreq')
    eq(recv_exactly(s, 200), pattern(200, 4), 'what had come before')
    got = fate(s)
    true(got in FATAL_NAMES, got)
    all_is_well()


@case
def dead_peer():
    p, s = inbound()
    p.do('kill')
    s.sendall(b'x')
    got = fate(s, 60)
    true(got in FATAL_NAMES + ['ETIMEDOUT'], got)
    all_is_well()


# ---- a peer that says nothing ----

def dies_of(limit, *options):
    """The peer is gone and nobody was told: with these options that is noticed in time"""
    def test(before):
        p, s = inbound()
        for level, opt, val in options:
            s.setsockopt(level, opt, val)
        before(p, s)
        p.ask('kill')
        start = time.monotonic()
        eq(fate(s, limit * SLOW), 'ETIMEDOUT', 'the reader')
        note(f'after {time.monotonic() - start:.1f} s')
        all_is_well()
    return test


KEEPALIVE = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
             (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
             (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
             (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)]


@case
def keepalive_finds_a_dead_peer():
    dies_of(8, *KEEPALIVE)(lambda p, s: None)


@case
def keepalive_as_ofed_set_it():
    dies_of(8, (27, socket.SO_KEEPALIVE, 1), *KEEPALIVE[1:])(lambda p, s: None)


@case
def user_timeout_finds_a_dead_peer():
    def unanswered(p, s):
        p.do('repost', 0)
        p.do('kill')
        s.sendall(b'x')

    dies_of(5, (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000))(unanswered)


@case
def no_room_and_a_dead_peer():
    """Data waits for credits, all else has arrived: the device is asked now and then"""
    def full(p, s):
        p.do('repost', 0)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(40):
            s.sendall(b'x' * 500)

    dies_of(40)(full)


@case
def keepalive_leaves_a_live_peer_alone():
    p, s = inbound()
    before = stats()
    for level, opt, val in KEEPALIVE:
        s.setsockopt(level, opt, val)
    time.sleep(4.5)
    true(growth(before, 'Probes') >= 3, 'it has been asked')
    p.do('send', payload='pat:1:10')
    eq(recv_exactly(s, 10), pattern(10, 1), 'bytes')
    eq(p.status()['bad'], 'none', p.status())


# ---- urgent data ----

def payload(p):
    """The next message with payload"""
    while True:
        r = p.do('expect', 'Data')
        if r['payload']:
            return r


@case
def urgent_out():
    p, s = inbound()
    s.send(b'abc', socket.MSG_OOB)
    r = payload(p)
    eq((r['payload'], r['flags']), (3, 3), r)
    s.send(b'def')
    r = payload(p)
    eq((r['payload'], r['flags']), (3, 0), r)
    s.send(pattern(100000), socket.MSG_OOB)
    left = 100000
    while left:
        r = payload(p)
        left -= r['payload']
        eq(r['flags'] & 1, not left, f'{r}: the last byte of all')
    eq(p.status()['bad'], 'none', p.status())


@case
def urgent_in():
    p, s = inbound()
    p.do('send', payload='pat:1:10', flags=1)
    p.do('send', payload='pat:2:10')
    eq(select.select([], [], [s], 5)[2], [s], 'exception of select()')
    eq(s.recv(9, socket.MSG_OOB), pattern(10, 1)[9:], 'urgent')
    eq(s.recv(50), pattern(9, 1), 'before it')
    eq(recv_exactly(s, 10), pattern(10, 2), 'behind it')


@case
def urgent_announced():
    p, s = inbound()
    p.do('send', flags=2)
    s.settimeout(0)
    for _ in range(100):
        try:
            s.recv(1, socket.MSG_OOB)
        except OSError as e:
            if e.errno == errno.EAGAIN:
                break
        time.sleep(0.05)
    else:
        raise AssertionError('the announcement is not noticed')
    p.do('send', payload='pat:1:10', flags=3)
    eq(select.select([], [], [s], 5)[2], [s], 'exception of select()')
    eq(s.recv(9, socket.MSG_OOB), pattern(10, 1)[9:], 'urgent')
    eq(s.recv(50), pattern(9, 1), 'before it')


@case
def urgent_many():
    """One in each message, nobody reads them: only the last is urgent, all bytes are there"""
    p, s = inbound()
    for n in range(7):
        p.do('send', payload=f'pat:{n}:5', flags=3)
    p.do('flush')
    all_data = b''.join(pattern(5, n) for n in range(7))
    eq(soon(lambda: info(s)['unread'], 35), 35, 'arrived')
    eq(s.recv(1, socket.MSG_OOB), all_data[-1:], 'urgent')
    eq(recv_exactly(s, 34), all_data[:-1], 'bytes')


@case
def urgent_without_credit():
    p, s = inbound()
    p.do('repost', 0)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(40):
        s.sendall(b'x' * 100)
    s.send(b'!', socket.MSG_OOB)
    for _ in range(100):
        r = p.do('recv')
        if r['flags'] == 2 and not r['payload']:
            break
    else:
        raise AssertionError('not announced')
    eq(p.status()['bad'], 'none', p.status())


# ---- a peer as OFED was ----

def sunk(p, n, seed):
    soon(lambda: p.status()['rx_bytes'] >= n, True, 30)
    st = p.status()
    eq((st['rx_bytes'], st.kv['rx_crc'], st['bad']), (n, crc(pattern(n, seed)), 'none'), st)


def both_directions(connect, keys, n=400000):
    """The peer sends and takes in at the same time"""
    p, s = connect(**keys)
    rnrs = rnr()
    p.do('auto', 'sink')
    sender = Task(s.sendall, pattern(n, 6))
    source = p.start('source', n, seed=5, timeout=30000)
    eq(crc(recv_exactly(s, n)), crc(pattern(n, 5)), 'from the peer')
    eq(source.join().word, 'ok', p.status())
    sender.join()
    sunk(p, n, 6)
    eq(rnr(), rnrs, 'Sends that met no buffer')


def echo(connect, keys, n=200000):
    p, s = connect(**keys)
    p.do('auto', 'echo')
    sender = Task(s.sendall, pattern(n, 7))
    eq(crc(recv_exactly(s, n)), crc(pattern(n, 7)), p.status())
    sender.join()
    eq(p.status()['bad'], 'none', p.status())


def program_closes(connect):
    """The program is first: DisConn, theirs, DREQ from sdp.ko"""
    p, s = connect()
    p.do('auto', 'sink')
    s.sendall(pattern(5000, 1))
    s.close()
    sunk(p, 5000, 1)
    eq(p.do('await', 'dreq').word, 'dreq', p.status())
    st = p.status()
    eq((st.kv['disconn'], st['bad']), ('11', 'none'), st)


def peer_closes(connect):
    """The peer is first; the program reads to the end, still sends, and closes"""
    p, s = connect()
    p.do('source', 5000, seed=2)
    p.do('disconn')
    eq(recv_exactly(s, 6000), pattern(5000, 2), 'data, then EOF')
    p.do('auto', 'sink')
    s.sendall(pattern(3000, 3))
    s.close()
    sunk(p, 3000, 3)
    eq(p.do('await', 'drep,dreq').word in ('drep', 'dreq', 'dreq,drep'), True, p.status())
    eq(p.status()['bad'], 'none', p.status())


def both_close(connect):
    p, s = connect()
    p.do('disconn')
    s.close()
    p.do('auto', 'sink')
    p.do('await', 'drep,dreq')
    eq(p.status()['bad'], 'none', p.status())


def stingy(connect):
    """A peer that returns no credits: send() stops, and goes on when it gets some"""
    p, s = connect()
    p.do('repost', 0)
    s.setblocking(False)
    sent, idle = 0, 0
    data = pattern(8 << 20, 4)
    while idle < 20 and sent < len(data):
        try:
            sent += s.send(data[sent:sent + 65536])
            idle = 0
        except BlockingIOError:
            idle += 1
            time.sleep(0.05)
    true(sent < len(data), 'send() stops')
    eq(p.status()['bad'], 'none', p.status())
    p.do('repost', 1)
    p.do('post', 16)
    p.do('auto', 'sink')
    p.do('credit')
    sunk(p, sent, 4)
    p.do('source', 100000, seed=8)
    s.settimeout(20)
    eq(crc(recv_exactly(s, 100000)), crc(pattern(100000, 8)), 'and back')


def advert(connect):
    """OFED's SrcAvail: read, or refused by SendSm; RdmaRdCompl speaks of what was read"""
    p, s = connect()
    p.do('mr', 200000, seed=9)
    reader = Task(recv_exactly, s, 200000)
    p.do('send', mid='SrcAvail', mr=1, inline=1000)
    done = 1000
    while done < 200000:
        r = p.do('recv')
        if r.word == 'RdmaRdCompl':
            done += r['num']
            true(done <= 200000, r)
        elif r.word == 'SendSm':
            p.do('source', 200000 - done, seed=9, off=done)
            done = 200000
        else:
            eq((r.word, r['payload']), ('Data', 0), r)
    eq(crc(reader.join()), crc(pattern(200000, 9)), 'bytes')
    p.do('inv', 1)
    s.sendall(b'x')
    p.do('expect', 'Data')
    eq(p.status()['bad'], 'none', p.status())


WAYS = {'peer connects': inbound, 'peer accepts': outbound}
WAYS6 = {'peer connects, IPv6': inbound6, 'peer accepts, IPv6': outbound6}
BUFFERS = {'OFED buffers': {'post': 64}, '3 buffers': {'post': 3},
           '4 KiB buffers': {'post': 8, 'bufsz': 4112}, '3 tiny buffers': {'post': 3, 'bufsz': 64}}
ENDS = {'program closes': program_closes, 'peer closes': peer_closes, 'both close': both_close,
        'no credits for a while': stingy, 'SrcAvail': advert}


def add_all():
    for reason, name in (3, 'no resources'), (8, 'no such service'), (28, 'its own'):
        add(f'refuses our REP: {name}', refuses_the_reply, reason)
    for name, keys in BAD_HELLOS.items():
        add(f'bad Hello: {name}', bad_hello, keys)
    for name, keys in GOOD_HELLOS.items():
        add(f'odd Hello: {name}', good_hello, keys)
    for name, keys in BAD_HELLO_ACKS.items():
        add(f'bad HelloAck: {name}', bad_hello_ack, keys)
    for name, script in MALFORMED.items():
        add(f'bad message: {name}', malformed, inbound, script)
    for name in ('Len 0', 'MSeq 0', 'MID 0x77', 'AbortConn', 'Data after DisConn'):
        add(f'bad message from an acceptor: {name}', malformed, outbound, MALFORMED[name])
    for name, script in HARMLESS.items():
        add(f'harmless message: {name}', harmless, script)
    for way, connect in WAYS.items():
        for name, keys in BUFFERS.items():
            small = keys.get('bufsz', 4096) < 4096
            add(f'{way}, {name}: both directions', both_directions, connect, keys,
                8000 if small else 400000)
            add(f'{way}, {name}: echo', echo, connect, keys, 4000 if small else 200000)
        for name, func in ENDS.items():
            add(f'{way}: {name}', func, connect)
    for way, connect in WAYS6.items():
        add(f'{way}: both directions', both_directions, connect, {})
        add(f'{way}: peer closes', peer_closes, connect)
    add('bad Hello over IPv6: IPV 4', bad_hello6, {'ipvcap': 0x40})
    add("bad Hello over IPv6: somebody else's DstIP", bad_hello6, {'dstip': 'fd09::77'})
    add("bad Hello over IPv6: somebody else's SrcIP", bad_hello6, {'srcip': 'fd09::77'})


add_all()
cleanups.append(cleanup)
listener = sdp_listen((ADDR, PORT))
listener6 = sdp_listen((ADDR6, PORT6))
witness = Witness()
run(*sys.argv[1:])
