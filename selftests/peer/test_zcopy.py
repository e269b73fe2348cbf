# SPDX-License-Identifier: GPL-2.0
"""Zero copy against peers that are hostile, as OFED was, or take all there is."""
import mmap
import os
import select
import signal
import socket
import sys
import tempfile
import time

from peer import Peer, Task, pattern, crc
from sdpsock import Sysctl, growth, sdp_accept, sdp_listen, sdp_pair, stats
from tap import add, case, eq, run, true
from zcpeer import (ADDR, KB, MB, PORT, SDP_AZ, SDP_AZ_RECV, SDP_BCOPY, SDP_MODE, SDP_ZCOPY, SLOW,
                    SOL_SDP, broken, expect, failure, goes_on, good, inbound, listener, outbound,
                    patient, peer_reads, pipelined, recv_into, send_timeout, sunk)

# ---- we are the source ----

def read_by_peer(keys, n, copied):
    """The peer reads all, by RDMA"""
    p, s = outbound(**keys)
    data = pattern(n, 3)
    p.do('auto', 'sink', srcavail='read')
    before = stats()
    eq(s.send(data), n, 'send')
    sunk(p, n, data)
    true(growth(before, 'SendCopied') <= copied, f'copied: {growth(before, "SendCopied")}')
    true(growth(before, 'SendZcopy') >= n - copied, f'not copied: {growth(before, "SendZcopy")}')
    p.do('auto', 'off')
    goes_on(p, s)


def refused_by_peer(keys, n):
    """SendSm to every advert: the same bytes as Data, still out of the program's memory"""
    p, s = outbound(**keys)
    data = pattern(n, 4)
    p.do('auto', 'sink', srcavail='sendsm')
    before = stats()
    eq(s.send(data), n, 'send')
    sunk(p, n, data)
    true(growth(before, 'SendCopied') <= 16, 'copied')
    true(growth(before, 'SendSmRcvd') >= 1, 'SendSm')
    p.do('auto', 'off')
    goes_on(p, s)


@case
def advert_as_ofed_wants_it():
    """Combined mode: a byte inline, Len and VA of all, and no more before it is answered"""
    p, s = outbound()
    t = Task(s.send, pattern(3 * MB, 5))
    r = expect(p, 'SrcAvail', payload=1, alen=MB)
    p.do('rread', r['rkey'], r['va'] + 1, 5000)
    eq(p.ask('recv', 300).word, 'timeout', 'one at a time')
    for _ in range(2):
        p.do('send', mid='RdmaRdCompl', num=MB - 1)
        r = expect(p, 'SrcAvail', payload=1, alen=MB)
    p.do('send', mid='RdmaRdCompl', num=MB - 1)
    eq(t.join(), 3 * MB, 'send')
    goes_on(p, s)


@case
def bytes_of_an_advert():
    """What RDMA READ finds there is what is sent, to the last byte"""
    p, s = outbound()
    data = pattern(100001, 6)
    t = Task(s.send, data)
    r = expect(p, 'SrcAvail', payload=1, alen=100001)
    peer_reads(p, r, data)
    eq(p.do('rread', r['rkey'], r['va'] + 100000, 1).kv['crc'], crc(data[-1:]), 'the last')
    p.do('send', mid='RdmaRdCompl', num=100000)
    eq(t.join(), 100001, 'send')
    goes_on(p, s)


def beyond(off, n):
    """The key is good for the bytes advertised and no others"""
    p, s = outbound()
    t = Task(failure, s.send, pattern(100001, 6))
    r = expect(p, 'SrcAvail')
    eq(p.ask('rread', r['rkey'], r['va'] + off, n).word, 'failed', 'READ')
    broken(s, t.join())


def not_written():
    """The key is not good for writing"""
    p, s = outbound()
    buf = bytearray(pattern(100001, 6))
    t = Task(failure, s.send, buf)
    r = expect(p, 'SrcAvail')
    eq(p.ask('rwrite', r['rkey'], r['va'], 4096).word, 'failed', 'WRITE')
    t.join()
    eq(crc(buf), crc(pattern(100001, 6)), 'the program\'s memory')


@case
def key_is_void_when_send_returns():
    p, s = outbound()
    keys, places = set(), set()
    for _ in range(3):
        t = Task(s.send, pattern(100000, 6))
        r = expect(p, 'SrcAvail')
        keys.add(r['rkey'])
        places.add(r['va'] // mmap.PAGESIZE)
        p.do('send', mid='RdmaRdCompl', num=99999)
        t.join()
    eq(len(keys), 3, 'a new key each time')
    eq(len(places), 3, 'and another address, as the next key is easily guessed')
    eq(p.ask('rread', r['rkey'], r['va'], 100).word, 'failed', 'READ after send()')


@case
def key_is_of_one_user():
    """Who learns the key of another user's connection gets nothing with it"""
    p, s = outbound()
    os.seteuid(65534)
    try:
        lst = sdp_listen((ADDR, PORT + 1))
    finally:
        os.seteuid(0)
    thief = Peer()
    thief.do('connect', ADDR, PORT + 1)
    patient(sdp_accept(lst))
    lst.close()
    data = pattern(100001, 6)
    t = Task(s.send, data)
    r = expect(p, 'SrcAvail')
    eq(thief.ask('rread', r['rkey'], r['va'], 1000).word, 'failed', 'READ')
    peer_reads(p, r, data)
    p.do('send', mid='RdmaRdCompl', num=100000)
    eq(t.join(), 100001, 'send')
    goes_on(p, s)


@case
def partly_read_then_refused():
    p, s = outbound()
    data = pattern(200000, 7)
    t = Task(s.send, data)
    expect(p, 'SrcAvail')
    p.do('send', mid='RdmaRdCompl', num=50000)
    p.do('send', mid='RdmaRdCompl', num=9999)
    p.do('send', mid='SendSm')
    p.do('auto', 'sink')
    eq(t.join(), 200000, 'send')
    # the inline byte, then what had not been read
    sunk(p, 140001, data[:1] + data[60000:])
    p.do('auto', 'off')
    goes_on(p, s)


@case
def peer_does_not_read():
    """Taken back after a second, and copied: send() returns as TCP's would"""
    p, s = outbound(post=64)
    data = pattern(200000, 8)
    before = stats()
    t = Task(s.send, data)
    expect(p, 'SrcAvail')
    expect(p, 'SrcAvailCancel')
    p.do('send', mid='SendSm')
    p.do('auto', 'sink')
    eq(t.join(), 200000, 'send')
    sunk(p, 200000, data)
    eq(growth(before, 'ZcopyStall'), 1, 'counted')
    true(growth(before, 'SendCopied') >= 199999, 'copied')
    before = stats()
    eq(s.send(data), 200000, 'the next one')
    eq(growth(before, 'SrcAvail'), 0, 'does not even try')


@case
def peer_reads_while_we_take_back():
    """RdmaRdCompl of all crosses SrcAvailCancel"""
    p, s = outbound(post=64)
    data = pattern(200000, 8)
    t = Task(s.send, data)
    expect(p, 'SrcAvail')
    expect(p, 'SrcAvailCancel')
    p.do('send', mid='RdmaRdCompl', num=199999)
    eq(t.join(), 200000, 'send')
    goes_on(p, s)


@case
def peer_never_answers():
    p, s = outbound()
    t = Task(failure, s.send, pattern(200000, 8))
    expect(p, 'SrcAvail')
    expect(p, 'SrcAvailCancel')
    broken(s, t.join())


@case
def send_timeout_takes_it_back():
    """What was read counts, the rest was never sent"""
    p, s = outbound()
    send_timeout(s, 0.3)
    data = pattern(200000, 9)
    t = Task(failure, s.send, data)
    expect(p, 'SrcAvail')
    p.do('send', mid='RdmaRdCompl', num=10000)
    expect(p, 'SrcAvailCancel')
    p.do('send', mid='SendSm')
    eq(t.join(), 10001, 'send')
    goes_on(p, s)


@case
def shutdown_waits_for_adverts():
    p, s = outbound()
    t = Task(s.send, pattern(100000, 9))
    expect(p, 'SrcAvail')
    s.shutdown(socket.SHUT_WR)
    eq(p.ask('recv', 300).word, 'timeout', 'DisConn waits')
    p.do('send', mid='RdmaRdCompl', num=99999)
    expect(p, 'DisConn')
    eq(t.join(), 100000, 'send')
    good(p)


@case
def several_at_a_time():
    """A peer that takes several gets them in Pipelined mode, without inline bytes"""
    p, s = outbound(adverts=3)
    n = 5 * 256 * KB
    t = Task(s.send, pattern(n, 10))
    expect(p, 'ModeChange')
    for _ in range(3):
        expect(p, 'SrcAvail', payload=0, alen=256 * KB)
    eq(p.ask('recv', 300).word, 'timeout', 'no more than it takes')
    for _ in range(2):
        p.do('send', mid='RdmaRdCompl', num=256 * KB)
        expect(p, 'SrcAvail', payload=0, alen=256 * KB)
    for _ in range(3):
        p.do('send', mid='RdmaRdCompl', num=256 * KB)
    eq(t.join(), n, 'send')
    goes_on(p, s)


@case
def several_refused_at_once():
    """One SendSm is for all of them"""
    p, s = outbound(adverts=3)
    data = pattern(3 * 256 * KB, 11)
    t = Task(s.send, data)
    expect(p, 'ModeChange')
    for _ in range(3):
        expect(p, 'SrcAvail')
    p.do('send', mid='RdmaRdCompl', num=256 * KB)
    p.do('send', mid='RdmaRdCompl', num=1000)
    p.do('send', mid='SendSm')
    p.do('auto', 'sink')
    eq(t.join(), len(data), 'send')
    sunk(p, 2 * 256 * KB - 1000, data[256 * KB + 1000:])
    p.do('auto', 'off')
    goes_on(p, s)


def wrong_answer(adverts, *answers):
    """Answers to an advert that no honest peer gives"""
    p, s = outbound(adverts=adverts)
    t = Task(failure, s.send, pattern(100000, 12))
    if adverts > 1:
        expect(p, 'ModeChange')
    expect(p, 'SrcAvail')
    before = stats()
    for keys in answers:
        p.ask('send', **keys)
    broken(s, t.join())
    eq(growth(before, 'Bad'), 1, 'counted')


def dies_as_reader(adverts, *steps):
    """The peer is gone at once, after some answers to our adverts"""
    p, s = outbound(adverts=adverts)
    t = Task(failure, s.send, pattern(200000, 12))
    if adverts > 1:
        expect(p, 'ModeChange')
    expect(p, 'SrcAvail')
    for step in steps:
        step(p)
    p.end()
    broken(s, t.join())


def dies_as_sender(n, inline):
    """... with an advert out of which n bytes have been read; those stay, and nothing else comes"""
    p, s = inbound()
    data = pattern(MB, 27)
    p.do('mr', MB, seed=27)
    if not inline:
        pipelined(p)
    p.do('send', mid='SrcAvail', mr=1, inline=inline)
    got = recv_into(s, n, socket.MSG_WAITALL) if n else b''
    eq(len(got), n, 'bytes')
    p.end()
    while True:
        more = failure(s.recv, 65536)
        if not isinstance(more, bytes) or not more:
            break
        got += more
    true(got == data[:len(got)], 'bytes')
    broken(s, more)


# ---- we are the sink ----

def direct(connect, n, inline):
    """A recv() that waits gets it without a copy"""
    p, s = connect()
    p.do('mr', n, seed=20)
    before = stats()
    t = Task(recv_into, s, n)
    time.sleep(0.2 * SLOW)
    p.do('send', mid='SrcAvail', mr=1, inline=inline)
    expect(p, 'RdmaRdCompl', num=n - inline)
    eq(crc(t.join()), crc(pattern(n, 20)), 'bytes')
    eq(growth(before, 'RecvCopied'), inline, 'copied')
    eq(growth(before, 'RecvZcopy'), n - inline, 'not copied')
    p.do('inv', 1)
    goes_on(p, s)


@case
def several_direct():
    """A ring full of adverts into one recv()"""
    p, s = inbound()
    pipelined(p)
    n = 100000
    before = stats()
    t = Task(recv_into, s, 8 * n)
    time.sleep(0.2 * SLOW)
    for i in range(8):
        p.do('mr', n, seed=30 + i)
        p.do('send', mid='SrcAvail', mr=i + 1)
    for i in range(8):
        expect(p, 'RdmaRdCompl', num=n)
    eq(crc(t.join()), crc(b''.join(pattern(n, 30 + i) for i in range(8))), 'bytes')
    eq(growth(before, 'RecvZcopy'), 8 * n, 'not copied')
    goes_on(p, s)


def nine_adverts():
    p, s = inbound()
    pipelined(p)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    p.do('mr', MB)
    before = stats()
    for _ in range(9):
        if p.ask('send', mid='SrcAvail', mr=1, timeout=3000).word == 'timeout':
            return False    # reading ahead has closed the window before
    failure(recv_into, s, 9 * MB)
    eq(growth(before, 'BadState'), 1, 'counted')
    return True


def updates_in_rounds(p, s, n, rounds):
    before = stats()
    for _ in range(rounds):
        t = Task(recv_into, s, 6 * n)
        for _ in range(6):
            p.do('send', mid='SrcAvail', mr=1)
        for _ in range(6):
            expect(p, 'RdmaRdCompl', num=n)
        eq(len(t.join()), 6 * n, 'recv')
    return growth(before, 'SendCredits')


@case
def answers_tell_of_buffers():
    """Adverts that use more than half of the window, and no message for nothing but credits"""
    p, s = inbound()
    pipelined(p)
    n = 100000
    p.do('mr', n, seed=22)
    updates_in_rounds(p, s, n, 5)                   # until the window has all its width
    # Without that rule it is one a round. A pause of this machine halves the window, which then
    # takes one or two until it has grown again.
    got = [updates_in_rounds(p, s, n, 10)]
    while got[-1] and len(got) < 3:
        got.append(updates_in_rounds(p, s, n, 10))
    eq((got[-1], max(got) < 5), (0, True), f'updates: {got}')
    goes_on(p, s)


@case
def one_advert_too_many():
    true(any(nine_adverts() for _ in range(5)), 'nine could be sent')


def small_reads(size):
    p, s = inbound()
    n = 150000
    p.do('mr', n, seed=21)
    p.do('send', mid='SrcAvail', mr=1, inline=10)
    parts, left = [], n
    while left:
        part = s.recv(min(size, left))
        parts.append(part)
        left -= len(part)
    eq(crc(b''.join(parts)), crc(pattern(n, 21)), 'bytes')
    expect(p, 'RdmaRdCompl', num=n - 10)
    goes_on(p, s)


@case
def peek():
    p, s = inbound()
    data = pattern(50000, 22)
    p.do('mr', 50000, seed=22)
    p.do('send', mid='SrcAvail', mr=1, inline=1)
    eq(crc(recv_into(s, 30000, socket.MSG_PEEK | socket.MSG_WAITALL)), crc(data[:30000]), 'peek')
    eq(crc(recv_into(s, 50000)), crc(data), 'read')
    expect(p, 'RdmaRdCompl', num=49999)
    goes_on(p, s)


@case
def peek_over_adverts_and_data():
    """What is looked at first may have come in any way, and all of it stays"""
    p, s = inbound(adverts=3)
    pipelined(p)
    data = pattern(3000, 23) + pattern(40000, 24) + pattern(40000, 25)
    p.do('send', payload='pat:23:3000')
    for seed in 24, 25:
        mr = p.do('mr', 40000, seed=seed)
        p.do('send', mid='SrcAvail', rkey=mr['rkey'], va=mr['va'], alen=40000)
    for n in 2000, 50000, len(data):
        eq(crc(recv_into(s, n, socket.MSG_PEEK | socket.MSG_WAITALL)), crc(data[:n]), f'peek {n}')
    eq(crc(recv_into(s, len(data))), crc(data), 'read')
    for _ in range(2):
        expect(p, 'RdmaRdCompl', num=40000)
    goes_on(p, s)


@case
def nobody_reads():
    """No recv() at all: the peer's sender gets on all the same"""
    p, s = inbound()
    p.do('mr', 100000, seed=23)
    before = stats()
    p.do('send', mid='SrcAvail', mr=1, inline=1)
    expect(p, 'RdmaRdCompl', num=99999)
    eq(growth(before, 'RecvAhead'), 99999, 'read ahead')
    eq(crc(recv_into(s, 100000)), crc(pattern(100000, 23)), 'bytes')
    goes_on(p, s)


@case
def poll_of_a_blocking_socket():
    p, s = inbound()
    p.do('mr', 100000, seed=23)
    waiter = select.poll()
    waiter.register(s, select.POLLIN)
    eq(waiter.poll(0), [], 'nothing yet')
    pipelined(p)
    p.do('send', mid='SrcAvail', mr=1)
    eq([r[1] for r in waiter.poll(10000)], [select.POLLIN], 'readable')
    eq(crc(recv_into(s, 100000)), crc(pattern(100000, 23)), 'bytes')
    expect(p, 'RdmaRdCompl', num=100000)
    goes_on(p, s)


@case
def poll_of_a_nonblocking_socket():
    """Readable means that recv() does not fail"""
    p, s = inbound()
    s.setblocking(False)
    pipelined(p)
    p.do('mr', 300000, seed=24)
    p.do('send', mid='SrcAvail', mr=1)
    waiter, got = select.poll(), b''
    waiter.register(s, select.POLLIN)
    while len(got) < 300000:
        eq([r[1] for r in waiter.poll(10000)], [select.POLLIN], 'readable')
        got += s.recv(65536)
    eq(crc(got), crc(pattern(300000, 24)), 'bytes')
    expect(p, 'RdmaRdCompl', num=300000)
    patient(s)
    goes_on(p, s)


@case
def cancelled_unread():
    """Taken back before anybody reads: SendSm, and nothing of it is ever seen"""
    p, s = inbound()
    with Sysctl('net.sdp.read_ahead', 0):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        p.do('mr', MB, seed=25)
        pipelined(p)
        t = Task(recv_into, s, 100, 0)
        p.do('send', mid='SrcAvail', mr=1)
        expect(p, 'SendSm')
        p.do('send', mid='SrcAvailCancel')
        p.do('send', payload='pat:1:100')
        eq(t.join(), pattern(100, 1), 'bytes')
        goes_on(p, s)


@case
def cancelled_half_read():
    """A reader that has stopped: what is read is reported, then SendSm for the rest"""
    p, s = inbound()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
    n = MB
    p.do('mr', n, seed=26)
    pipelined(p)
    p.do('send', mid='SrcAvail', mr=1)
    time.sleep(0.5 * SLOW)
    p.do('send', mid='SrcAvailCancel')
    read = expect(p, 'RdmaRdCompl')['num']
    true(0 < read < n, f'read {read}')
    expect(p, 'SendSm')
    p.do('send', payload='pat:1:100')
    eq(crc(recv_into(s, read + 100)), crc(pattern(n, 26)[:read] + pattern(100, 1)), 'bytes')
    goes_on(p, s)


@case
def void_after_refusal():
    """An advert that crosses SendSm is void"""
    p, s = inbound()
    with Sysctl('net.sdp.read_ahead', 0):
        pipelined(p)
        p.do('mr', 100000, seed=27)
        t = Task(recv_into, s, 200, 0)
        p.do('send', mid='SrcAvail', mr=1)
        r = expect(p, 'SendSm')
        p.do('send', mid='SrcAvail', mr=1, ack=r['mseq'] - 1)
        eq(p.ask('recv', 300).word, 'timeout', 'no answer')
        p.do('send', payload='pat:2:200')
        eq(t.join(), pattern(200, 2), 'bytes')
        goes_on(p, s)


@case
def data_overtakes():
    """Data while an advert is unread breaks the order of the stream"""
    p, s = inbound()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    pipelined(p)
    p.do('mr', MB)
    before = stats()
    p.do('send', mid='SrcAvail', mr=1)
    p.do('send', payload='pat:1:10')
    failure(recv_into, s, 2 * MB)
    eq(growth(before, 'BadState'), 1, 'counted')


def looked_at(region):
    """The signal that a process gets which reads the first byte"""
    pid = os.fork()
    if not pid:
        os._exit(region[0])
    return os.WTERMSIG(os.waitpid(pid, 0)[1])


def bad_memory(keys):
    """An advert of memory there isn't: the connection ends, our memory stays as it was"""
    p, s = inbound()
    p.do('mr', 100000)
    pipelined(p)
    t = Task(failure, recv_into, s, 100000)
    time.sleep(0.1 * SLOW)
    p.do('send', mid='SrcAvail', alen=100000, **keys)
    true(t.join() in ['ECONNRESET', 'EPROTO', 'EPIPE'], t.result)


def more_than_an_int(n):
    """An advert of more bytes than FIONREAD can tell: a reader that waits asks for Data"""
    p, s = inbound()
    pipelined(p)
    t = Task(recv_into, s, 20000)
    time.sleep(0.2 * SLOW)
    p.do('send', mid='SrcAvail', alen=n, rkey=0x4711, va=0)
    expect(p, 'SendSm')
    for i in range(5):
        p.do('send', payload=f'pat:{i}:4000')
    eq(crc(t.join()), crc(b''.join(pattern(4000, i) for i in range(5))), 'bytes')
    goes_on(p, s)


def refused_by_calls(region):
    """Nothing of it leaves the process by a system call, how often one tries"""
    a, b = socket.socketpair()
    c, d = sdp_pair(listener())
    patient(c, 5)
    with tempfile.TemporaryFile(buffering=0) as f, a, b, c, d:
        for mode in 0, SDP_BCOPY, SDP_ZCOPY, SDP_AZ:
            c.setsockopt(SOL_SDP, SDP_MODE, mode)
            for _ in range(2):
                eq(failure(c.send, memoryview(region)), 'EFAULT', f'SDP, mode {mode}')
        for _ in range(2):
            eq(failure(a.send, memoryview(region)), 'EFAULT', 'another socket')
            eq(failure(f.write, memoryview(region)[100:]), 'EFAULT', 'a file')


@case
def lost_after_recv():
    """... and recv() hasn't waited for it: SIGBUS for who looks, once, and an error for who asks"""
    p, s = inbound()
    s.setsockopt(SOL_SDP, SDP_AZ_RECV, 1)
    region = mmap.mmap(s.fileno(), MB)
    p.do('mr', MB)
    pipelined(p)
    before = stats()
    t = Task(s.recv_into, region)
    time.sleep(0.1 * SLOW)
    p.do('send', mid='SrcAvail', alen=MB, rkey=0x4711, va=0)
    eq(t.join(), MB, 'recv')
    refused_by_calls(region)
    eq(looked_at(region), signal.SIGBUS, 'who looks first')
    eq(looked_at(region), 0, 'who looks then')
    eq(growth(before, 'AzLost'), MB // mmap.PAGESIZE, 'pages lost')
    broken(s, failure(s.recv, 1))


@case
def both_send():
    """Both ends send and none receives: neither waits for ever"""
    p, s = inbound()
    data = pattern(150000, 28)
    p.do('mr', 150000, seed=29)
    t = Task(s.send, data)
    r = expect(p, 'SrcAvail', alen=150000)
    p.do('send', mid='SrcAvail', mr=1, inline=1)
    expect(p, 'RdmaRdCompl', num=149999)
    peer_reads(p, r, data)
    p.do('send', mid='RdmaRdCompl', num=149999)
    eq(t.join(), 150000, 'send')
    eq(crc(recv_into(s, 150000)), crc(pattern(150000, 29)), 'theirs')
    goes_on(p, s)


@case
def close_with_an_advert_unread():
    """As with unread data, the peer is told"""
    p, s = inbound()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    pipelined(p)
    p.do('mr', MB)
    p.do('send', mid='SrcAvail', mr=1)
    p.do('flush')
    s.close()
    eq(p.do('expect', 'AbortConn').word, 'AbortConn', p.status())


@case
def forced_to_copy():
    p, s = outbound()
    s.setsockopt(SOL_SDP, SDP_MODE, SDP_BCOPY)
    p.do('auto', 'sink')
    before = stats()
    eq(s.send(pattern(MB, 1)), MB, 'send')
    sunk(p, MB, pattern(MB, 1))
    eq(growth(before, 'SrcAvail'), 0, 'adverts')


@case
def forced_not_to_copy():
    p, s = outbound()
    s.setsockopt(SOL_SDP, SDP_MODE, SDP_ZCOPY)
    p.do('auto', 'sink')
    before = stats()
    data = pattern(1000, 1)
    for _ in range(10):
        eq(s.send(data), 1000, 'send')
    sunk(p, 10000, data * 10)
    eq(growth(before, 'SrcAvailSent'), 10, 'adverts')


OFED, MAXIMAL = {'post': 64}, {'post': 64, 'adverts': 255}


def add_all():
    for name, keys in ('OFED', OFED), ('maximal', MAXIMAL):
        for n in 65536, 100001, MB, 3 * MB + 7:
            # a byte with each advert in Combined mode, and a rest that is below the threshold
            rest = n % (256 * KB) if n > MB else 0
            add(f'{name} peer reads {n} bytes', read_by_peer, keys, n,
                rest + (0 if keys is MAXIMAL else n // MB + 1))
        add(f'{name} peer wants Data', refused_by_peer, keys, 700001)
    for adverts in 1, 4:
        mode = 'Combined' if adverts == 1 else 'Pipelined'
        for what, *steps in (
                ('nothing',),
                ('a READ', lambda p: p.do('send', mid='RdmaRdCompl', num=1000)),
                ('SendSm', lambda p: p.do('send', mid='SendSm')),
                ('a READ and SendSm', lambda p: p.do('send', mid='RdmaRdCompl', num=1000),
                 lambda p: p.do('send', mid='SendSm')),
                ('SrcAvailCancel', lambda p: expect(p, 'SrcAvailCancel'))):
            add(f'{mode}: dies after {what}', dies_as_reader, adverts, *steps)
    for n in 0, 100, 20000, MB:
        for inline in 0, 64:
            add(f'dies when {n} bytes are read, {inline} inline', dies_as_sender, n, inline)
    add('READ before the advert', beyond, -1, 10)
    add('READ beyond the advert', beyond, 100000, 2)
    add('READ far beyond', beyond, 4096 * 40, 1)
    add('WRITE to an advert', not_written)
    for adverts in 1, 4:
        mode = 'Combined' if adverts == 1 else 'Pipelined'
        add(f'{mode}: more read than there is', wrong_answer, adverts,
            {'mid': 'RdmaRdCompl', 'num': 100001})
        add(f'{mode}: more read in two answers', wrong_answer, adverts,
            {'mid': 'RdmaRdCompl', 'num': 60000}, {'mid': 'RdmaRdCompl', 'num': 60000})
        add(f'{mode}: read before it was seen', wrong_answer, adverts,
            {'mid': 'RdmaRdCompl', 'num': 10, 'ack': 0, 'bufs': 64})
    for way, connect in ('peer connects', inbound), ('peer accepts', outbound):
        for n, inline in (16384, 1), (65536, 1000), (MB, 64), (MB - 3, 1):
            add(f'{way}: {n} bytes, {inline} inline', direct, connect, n, inline)
    for size in 1000, 5000, 20000:
        add(f'recv() of {size} bytes', small_reads, size)
    for n in 1 << 31, (1 << 32) - 1:
        add(f'advert of {n} bytes', more_than_an_int, n)
    add('advert with a wrong key', bad_memory, {'rkey': 0x12345678, 'va': 0})
    add('advert of key 0', bad_memory, {'rkey': 0, 'va': 4096})


add_all()
run(*sys.argv[1:])
