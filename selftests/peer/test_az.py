# SPDX-License-Identifier: GPL-2.0
"""AZ-SDP against peers that take one advert at a time, as OFED did, or several; that are slow,
hostile, or die. Whatever they do: they find what send() has seen, and the program, which always
writes to what it has sent, has its memory."""
import mmap
import os
import select
import socket
import struct
import sys
import tempfile

from peer import Task, pattern
from sdpsock import SO_SNDBUFFORCE, MemInfo, growth, soon, stats
from tap import add, case, eq, run, true
from zcpeer import (KB, MB, SDP_AUTO, SDP_AZ, SDP_AZ_BLOCK, SDP_AZ_POLICY, SDP_AZ_THRESH, SDP_MODE,
                    SDP_ZCOPY_THRESH, SLOW, SOL_SDP, broken, expect, failure, goes_on, good,
                    outbound, peer_reads, sunk)

TCP_USER_TIMEOUT = 18
N = 200000      # its end isn't that of a page
PAGES = N // mmap.PAGESIZE


def az(**keys):
    p, s = outbound(**keys)
    s.setsockopt(SOL_SDP, SDP_MODE, SDP_AZ)
    s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 8 * MB)
    return p, s


def place(n=N, seed=0):
    m = mmap.mmap(-1, n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m[:] = pattern(n, seed)
    return m


def scribble(m):
    m[:] = b'\xee' * len(m)


def sent(s, seed=0, n=N):
    """Memory that has been sent, and written to since"""
    m = place(n, seed)
    eq(s.send(m), n, 'send')
    scribble(m)
    return m


def untouched(m):
    eq(m[:], b'\xee' * len(m), 'the program\'s memory')
    scribble(m)


def silent(p, what, ms=300):
    eq(p.ask('recv', ms).word, 'timeout', what)


def all_is_read(p, r):
    """The peer reads what it hasn't got with the advert yet, and says so"""
    peer_reads(p, r, pattern(N, 3))
    p.do('send', mid='RdmaRdCompl', num=N - r['payload'])


def in_flight(adverts=1, seed=3):
    """One send that has been advertised"""
    p, s = az(adverts=adverts)
    m = sent(s, seed)
    if adverts > 1:
        expect(p, 'ModeChange')
    r = expect(p, 'SrcAvail', alen=N)
    return p, s, m, r


# ---- what is sent ----

@case
def returns_at_once_one_at_a_time():
    p, s = az()
    before = stats()
    places = [sent(s, i) for i in range(3)]
    for i, m in enumerate(places):
        r = expect(p, 'SrcAvail', payload=1, alen=N)
        silent(p, 'one advert at a time')
        peer_reads(p, r, pattern(N, i))
        p.do('send', mid='RdmaRdCompl', num=N - 1)
        untouched(m)
    soon(lambda: growth(before, 'AzWritten'), 3 * PAGES)
    eq(growth(before, 'AzWritten'), 3 * PAGES, 'pages written in flight')
    goes_on(p, s)


@case
def returns_at_once_several_at_a_time():
    p, s = az(adverts=3)
    places = [sent(s, i) for i in range(5)]
    expect(p, 'ModeChange')
    adverts = [expect(p, 'SrcAvail', payload=0, alen=N) for _ in range(3)]
    silent(p, 'no more than it takes')
    # The last first: a peer may read in any order, only its answers have one
    for i in 2, 1, 0:
        peer_reads(p, adverts[i], pattern(N, i))
    for i in 3, 4:
        p.do('send', mid='RdmaRdCompl', num=N)
        peer_reads(p, expect(p, 'SrcAvail', payload=0, alen=N), pattern(N, i))
    for _ in range(3):
        p.do('send', mid='RdmaRdCompl', num=N)
    for m in places:
        untouched(m)
    goes_on(p, s)


@case
def same_memory_again_in_flight():
    """What is sent the second time is what is there the second time"""
    p, s = az(adverts=4)
    m = place(seed=1)
    eq(s.send(m), N, 'send')
    m[:] = pattern(N, 2)
    eq(s.send(m), N, 'send')
    m[:N // 2] = pattern(N // 2, 3)
    eq(s.send(m), N, 'send')
    scribble(m)
    expect(p, 'ModeChange')
    for data in pattern(N, 1), pattern(N, 2), pattern(N // 2, 3) + pattern(N, 2)[N // 2:]:
        peer_reads(p, expect(p, 'SrcAvail', alen=N), data)
        p.do('send', mid='RdmaRdCompl', num=N)
    untouched(m)
    goes_on(p, s)


def unread(sends, adverts, timeout=0):
    """Sends, as many of them advertised as the peer takes, and none read"""
    p, s = az(adverts=adverts)
    s.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, timeout)
    places = [sent(s, i) for i in range(sends)]
    if adverts > 1:
        expect(p, 'ModeChange')
    for _ in range(min(adverts, sends)):
        expect(p, 'SrcAvail', alen=N)
    return p, s, places


def go_as_data(p, s, places, **auto):
    """The peer wants Data instead, and gets the bytes that were there at send()"""
    p.do('auto', 'sink', **auto)
    p.do('send', mid='SendSm')
    sunk(p, len(places) * N, b''.join(pattern(N, i) for i in range(len(places))))
    for m in places:
        untouched(m)
    p.do('auto', 'off')
    goes_on(p, s)


def refused(adverts):
    go_as_data(*unread(3, adverts), srcavail='sendsm')


@case
def partly_read_then_refused():
    p, s, m, _ = in_flight()
    p.do('send', mid='RdmaRdCompl', num=50000)
    p.do('send', mid='RdmaRdCompl', num=9999)
    p.do('send', mid='SendSm')
    p.do('auto', 'sink')
    sunk(p, N - 59999, pattern(N, 3)[:1] + pattern(N, 3)[60000:])
    untouched(m)
    p.do('auto', 'off')
    goes_on(p, s)


@case
def peer_takes_its_time():
    """As with a peer of TCP that doesn't read: for a while it is not asked to hurry"""
    p, s, m, r = in_flight()
    silent(p, 'no SrcAvailCancel', 1500)
    all_is_read(p, r)
    untouched(m)
    goes_on(p, s)


def taken_back_by_itself(timeout=0):
    """A peer that leaves adverts unread has room for their bytes all the same"""
    p, s, places = unread(6, 4, timeout)
    expect(p, 'SrcAvailCancel')
    go_as_data(p, s, places)


@case
def slow_reader():
    taken_back_by_itself()


@case
def slow_reader_and_user_timeout():
    """Taken back in time for it to arrive before the peer would be given up"""
    taken_back_by_itself(3000 * SLOW)


@case
def non_blocking_until_it_is_full():
    p, s = az()
    s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 256 * KB)
    s.setblocking(False)
    poll = select.poll()
    poll.register(s, select.POLLOUT)
    places = []
    while (got := failure(s.send, place(seed=len(places)))) != 'EAGAIN':
        eq(got, N, 'send')
        places.append(got)
    true(2 <= len(places) <= 4, f'{len(places)} sends')
    eq(poll.poll(0), [], 'POLLOUT')
    for i in range(len(places)):
        peer_reads(p, expect(p, 'SrcAvail', alen=N), pattern(N, i))
        p.do('send', mid='RdmaRdCompl', num=N - 1)
    true(poll.poll(10000 * SLOW), 'POLLOUT comes back')
    s.setblocking(True)
    goes_on(p, s)


def sdp_memory():
    """Pages that all SDP sockets together have taken"""
    with open('/proc/net/protocols', encoding='ascii') as f:
        return next(int(line.split()[3]) for line in f if line.split()[0] == 'SDP')


@case
def no_socket_memory():
    """The program has its pages anyway: they fill the send buffer, but don't count as the socket's
    (1 MB for each CPU is counted late)"""
    p, s = az()
    before = sdp_memory()
    m = place(8 * MB)
    eq(s.send(m), 8 * MB, 'send')
    queued = MemInfo(s).queued
    true(queued >= 8 * MB, f'{queued} bytes in the send buffer')
    grown = sdp_memory() - before
    true(grown < 4 * MB // mmap.PAGESIZE, f'{grown} pages of socket memory')


@case
def two_mappings_of_one_buffer():
    """Pages that others can write to aren't left to the peer alone: send() waits for it"""
    p, s = az()
    before = stats()
    with tempfile.TemporaryFile() as f:
        f.truncate(N)
        one, twin = mmap.mmap(f.fileno(), N), mmap.mmap(f.fileno(), N)
    one[:] = pattern(N, 6)
    t = Task(s.send, one)
    r = expect(p, 'SrcAvail', alen=N)
    silent(p, 'nothing more')
    true(t.is_alive(), 'send() waits')
    peer_reads(p, r, pattern(N, 6))
    p.do('send', mid='RdmaRdCompl', num=N - 1)
    eq(t.join(), N, 'send')
    scribble(twin)
    eq(growth(before, 'AzNoVma'), 1, 'counted')
    goes_on(p, s)


# ---- writers that wait (policy block) ----

def writer_waits(adverts, sends=1):
    """A process that writes to a region from which is sent; its peer, socket, region, number"""
    p, s = az(adverts=adverts)
    s.setsockopt(SOL_SDP, SDP_AZ_POLICY, SDP_AZ_BLOCK)
    m = mmap.mmap(s.fileno(), N)
    m[:] = pattern(N, 3)
    for _ in range(sends):
        eq(s.send(m), N, 'send')
    if adverts > 1:
        expect(p, 'ModeChange')
    # It waits with the interpreter's lock held, so it is a process
    pid = os.fork()
    if not pid:
        m[:] = b'\xee' * N
        os._exit(0)
    return p, s, m, pid


def writer_goes_on(m, pid):
    eq(os.waitpid(pid, 0)[1], 0, 'writer')
    eq(m[:], b'\xee' * N, 'what it wrote')


def taken_back(adverts, sends):
    """The peer's program doesn't read, but its SDP has room: SrcAvailCancel, and it goes as Data"""
    before = stats()
    p, s, m, pid = writer_waits(adverts, sends)
    for _ in range(min(adverts, sends)):
        expect(p, 'SrcAvail', alen=N)
    expect(p, 'SrcAvailCancel')
    p.do('auto', 'sink', srcavail='sendsm')
    p.do('send', mid='SendSm')
    sunk(p, sends * N, pattern(N, 3) * sends)
    writer_goes_on(m, pid)
    p.do('auto', 'off')
    if SLOW == 1:
        eq(growth(before, 'AzRegionCopies'), 0, 'pages copied')
    goes_on(p, s)


@case
def read_as_it_is_taken_back():
    """The peer's answer to SrcAvailCancel is that it has read all of it"""
    before = stats()
    p, s, m, pid = writer_waits(1)
    r = expect(p, 'SrcAvail', alen=N)
    expect(p, 'SrcAvailCancel')
    all_is_read(p, r)
    writer_goes_on(m, pid)
    if SLOW == 1:
        eq(growth(before, 'AzRegionCopies'), 0, 'pages copied')
    goes_on(p, s)


@case
def never_given_back():
    """A peer that doesn't even answer: the writer gets copies, and what is in flight stays"""
    before = stats()
    p, s, m, pid = writer_waits(1)
    r = expect(p, 'SrcAvail', alen=N)
    expect(p, 'SrcAvailCancel')
    writer_goes_on(m, pid)
    eq((growth(before, 'AzBlockedLong'), growth(before, 'SrcCancelSent')), (1, 1), 'counted')
    all_is_read(p, r)
    goes_on(p, s)


@case
def hurried_sends_go_another_way_next():
    p, s, m, pid = writer_waits(4)
    r = expect(p, 'SrcAvail', alen=N)
    expect(p, 'SrcAvailCancel')
    p.do('send', mid='RdmaRdCompl', num=N - r['payload'])
    writer_goes_on(m, pid)
    s.setsockopt(SOL_SDP, SDP_MODE, SDP_AUTO)
    s.setsockopt(SOL_SDP, SDP_AZ_THRESH, 64 * KB)
    s.setsockopt(SOL_SDP, SDP_ZCOPY_THRESH, 0)
    before = stats()
    p.do('auto', 'sink')
    eq(soon(lambda: s.send(m) and growth(before, 'AzSkipped') > 0, True), True, 'AzSkipped')
    p.do('auto', 'off')


# ---- endings ----

def given_up(s):
    s.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 500)
    eq(soon(lambda: failure(s.send, b'x'), 'ETIMEDOUT'), 'ETIMEDOUT', 'send')


@case
def shutdown_with_data_in_flight():
    p, s, m, r = in_flight()
    s.shutdown(socket.SHUT_WR)
    silent(p, 'DisConn waits')
    all_is_read(p, r)
    expect(p, 'DisConn')
    untouched(m)
    good(p)


@case
def close_with_data_in_flight():
    """... and the memory unmapped: all arrives, though the socket is gone"""
    p, s, m, r = in_flight()
    s.close()
    m.close()
    silent(p, 'DisConn waits')
    all_is_read(p, r)
    expect(p, 'DisConn')
    good(p)


@case
def close_lingers_for_data_in_flight():
    p, s, m, r = in_flight()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 30 * SLOW))
    t = Task(s.close)
    silent(p, 'DisConn waits')
    true(t.is_alive(), 'close() waits')
    all_is_read(p, r)
    expect(p, 'DisConn')
    t.join()
    untouched(m)


@case
def close_without_linger():
    """SO_LINGER with 0: what is in flight is dropped, and the program's memory its own"""
    p, s, m, _ = in_flight()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()
    expect(p, 'AbortConn')
    untouched(m)


@case
def user_timeout():
    """A peer that takes nothing for so long is given up, as by TCP"""
    _, s, m, _ = in_flight()
    given_up(s)
    untouched(m)


@case
def dies_before_it_reads():
    """Nothing is in flight that would tell, so the peer is asked if it lives"""
    p, s, m, _ = in_flight()
    p.do('kill')
    eq(failure(s.recv, 1), 'ETIMEDOUT', 'recv')
    untouched(m)


# ---- hostile peers ----

def wrong_answer(adverts, *answers):
    p, s, m, _ = in_flight(adverts)
    before = stats()
    for keys in answers:
        p.ask('send', **keys)
    broken(s, N)
    eq(growth(before, 'Bad'), 1, 'counted')
    untouched(m)


def dies(adverts, *steps):
    p, s, m, r = in_flight(adverts)
    more = sent(s, 4)
    for step in steps:
        step(p, r)
    p.end()
    broken(s, N)
    untouched(m)
    untouched(more)


def beyond(off, n):
    """That puts the peer's own queue pair out of service: nothing more can come of it"""
    p, s, m, r = in_flight()
    eq(p.ask('rread', r['rkey'], r['va'] + off, n).word, 'failed', 'READ')
    given_up(s)
    untouched(m)


@case
def not_written():
    p, s, m, r = in_flight()
    eq(p.ask('rwrite', r['rkey'], r['va'], 4096).word, 'failed', 'WRITE')
    given_up(s)
    untouched(m)


@case
def key_is_void_when_it_is_read():
    """The pages may be anybody's then"""
    p, s, m, r = in_flight()
    p.do('send', mid='RdmaRdCompl', num=N - r['payload'])
    s.send(b'x')
    expect(p, 'Data', payload=1)    # goes when the key has been invalidated
    eq(p.ask('rread', r['rkey'], r['va'], 100).word, 'failed', 'READ after RdmaRdCompl')
    untouched(m)


def add_all():
    for adverts in 1, 4:
        mode = 'Combined' if adverts == 1 else 'Pipelined'
        add(f'{mode}: refused after it was written to', refused, adverts)
        for what, *steps in (
                ('nothing',),
                ('a READ', lambda p, r: p.do('rread', r['rkey'], r['va'], 65536)),
                ('an answer', lambda p, r: p.do('send', mid='RdmaRdCompl', num=1000)),
                ('SendSm', lambda p, r: p.do('send', mid='SendSm'))):
            add(f'{mode}: dies after {what}', dies, adverts, *steps)
        add(f'{mode}: more read than there is', wrong_answer, adverts,
            {'mid': 'RdmaRdCompl', 'num': N + 1})
        add(f'{mode}: more read in two answers', wrong_answer, adverts,
            {'mid': 'RdmaRdCompl', 'num': N - 9}, {'mid': 'RdmaRdCompl', 'num': 10})
        add(f'{mode}: read before it was seen', wrong_answer, adverts,
            {'mid': 'RdmaRdCompl', 'num': 10, 'ack': 0, 'bufs': 64})
    for adverts, sends in (1, 1), (1, 3), (4, 3):
        add(f'taken back: {sends} sends, {adverts} at a time', taken_back, adverts, sends)
    add('READ before the advert', beyond, -1, 10)
    add('READ beyond the advert', beyond, N, 2)
    add('READ far beyond', beyond, 4096 * 60, 1)


add_all()
run(*sys.argv[1:])
