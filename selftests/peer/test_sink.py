# SPDX-License-Identifier: GPL-2.0
"""Receivers that advertise their memory (SinkAvail), and senders that write there, against peers
that keep the rules or break them."""
import socket
import struct
import sys
import time

from peer import Task, crc, pattern
from sdpsock import growth, info, soon, stats
from tap import add, case, eq, run, true
from zcpeer import (KB, MB, SDP_MODE, SDP_ZCOPY, SDP_ZCOPY_W, SLOW, SOL_SDP, bad, broken, expect,
                    failure, goes_on, good, inbound, outbound, peer_reads, pipelined, recv_into)

N = 100000


def mode(s, value=SDP_ZCOPY_W):
    s.setsockopt(SOL_SDP, SDP_MODE, value)


def recv_timeout(s, seconds):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                 struct.pack('ll', int(seconds), int(seconds % 1 * 1e6)))


# ---- we are the sink ----

def sink(connect=inbound, how=SDP_ZCOPY_W):
    """A peer that takes several adverts, and has changed to Pipelined mode"""
    p, s = connect(adverts=8)
    mode(s, how)
    pipelined(p)
    p.do('send', payload='pat:1:5')
    eq(recv_into(s, 5), pattern(5, 1), 'the first bytes')
    return p, s


def waiting(p, s, n=N, flags=socket.MSG_WAITALL):
    """A recv() in a thread of its own, and its SinkAvail"""
    t = Task(failure, recv_into, s, n, flags)
    r = expect(p, 'SinkAvail', alen=n, payload=0)
    return t, r


def write(p, r, n, seed, off=0):
    """RDMA WRITE of a stretch of a pattern, from the start of what is advertised on"""
    for i in range(0, n, 65536):
        p.do('rwrite', r['rkey'], r['va'] + i, min(n - i, 65536), seed=seed, off=off + i)


def arrived(p):
    """What the peer has sent has been seen"""
    p.do('flush')
    time.sleep(0.2 * SLOW)


def silence(p):
    """Nothing comes but credit updates"""
    for _ in range(5):
        r = p.ask('recv', 300)
        if r.word != 'Data' or r['payload']:
            break
    eq(r.word, 'timeout', 'no message')


def written(connect, n):
    p, s = sink(connect)
    before = stats()
    t, r = waiting(p, s, n)
    eq(info(s)['sink_adverts'], 1, 'SDP_INFO')
    write(p, r, n, 3)
    p.do('send', mid='RdmaWrCompl', num=n)
    eq(crc(t.join()), crc(pattern(n, 3)), 'bytes')
    eq((growth(before, 'RecvZcopyW'), growth(before, 'RecvCopied')), (n, 0), 'not copied')
    eq((info(s)['sink_adverts'], info(s)['rcv_zcopy_w']), (0, n), 'SDP_INFO')
    goes_on(p, s)


@case
def partly_written():
    """recv() returns what there is"""
    p, s = sink()
    t, r = waiting(p, s, flags=0)
    write(p, r, N, 4)
    p.do('send', mid='RdmaWrCompl', num=60001)
    eq(crc(t.join()), crc(pattern(60001, 4)), 'bytes')
    goes_on(p, s)


@case
def partly_written_wait_for_all():
    """... or advertises the rest"""
    p, s = sink()
    t, r = waiting(p, s)
    write(p, r, 60001, 4)
    p.do('send', mid='RdmaWrCompl', num=60001)
    q = expect(p, 'SinkAvail', alen=N - 60001)
    true(q['rkey'] != r['rkey'], 'a new key')
    write(p, q, N - 60001, 4, 60001)
    p.do('send', mid='RdmaWrCompl', num=N - 60001)
    eq(crc(t.join()), crc(pattern(N, 4)), 'bytes')
    goes_on(p, s)


@case
def small_rest_is_not_advertised():
    p, s = sink()
    t, r = waiting(p, s)
    write(p, r, N - 100, 4)
    p.do('send', mid='RdmaWrCompl', num=N - 100)
    silence(p)
    p.do('send', payload=f'pat:4:100:{N - 100}')
    eq(crc(t.join()), crc(pattern(N, 4)), 'bytes')
    goes_on(p, s)


@case
def nothing_written():
    """RdmaWrCompl of nothing ends the advert and no more"""
    p, s = sink()
    t, r = waiting(p, s)
    p.do('send', mid='RdmaWrCompl', num=0)
    silence(p)
    p.do('mr', N, seed=5)
    p.do('send', mid='SrcAvail', mr=1)
    expect(p, 'RdmaRdCompl', num=N)
    eq(crc(t.join()), crc(pattern(N, 5)), 'bytes')
    goes_on(p, s)


@case
def data_instead():
    """Data discards the advert, and isn't counted as a non-discard then"""
    p, s = sink()
    before = stats()
    t, r = waiting(p, s, flags=0)
    eq(r['nd'], 1, 'non-discards: the first bytes')
    p.do('send', payload='pat:6:1000')
    eq(t.join(), pattern(1000, 6), 'bytes')
    eq(growth(before, 'SinkDiscarded'), 1, 'counted')
    t, r = waiting(p, s, flags=0)
    eq(r['nd'], 1, 'non-discards')
    write(p, r, N, 7)
    p.do('send', mid='RdmaWrCompl', num=N)
    eq(crc(t.join()), crc(pattern(N, 7)), 'bytes')
    p.do('send', payload='pat:6:1000')
    eq(recv_into(s, 1000), pattern(1000, 6), 'bytes')
    t, r = waiting(p, s, flags=0)
    eq(r['nd'], 2, 'non-discards')
    p.do('send', payload='pat:6:1000', flags=1)     # urgent
    eq(t.join(), pattern(1000, 6)[:999], 'up to the urgent byte')
    eq(s.recv(1, socket.MSG_OOB), pattern(1000, 6)[999:], 'the urgent byte')
    goes_on(p, s)


@case
def data_instead_wait_for_all():
    """The rest is advertised again"""
    p, s = sink()
    t, r = waiting(p, s)
    p.do('send', payload='pat:6:1000')
    r = expect(p, 'SinkAvail', alen=N - 1000)
    write(p, r, N - 1000, 6, 1000)
    p.do('send', mid='RdmaWrCompl', num=N - 1000)
    eq(crc(t.join()), crc(pattern(N, 6)), 'bytes')
    goes_on(p, s)


@case
def timeout_takes_it_back():
    p, s = sink()
    recv_timeout(s, 0.3)
    t, r = waiting(p, s)
    expect(p, 'SinkAvailCancel')
    time.sleep(0.2)
    true(t.is_alive(), 'recv() waits for the answer')
    p.do('send', mid='SinkCancelAck')
    eq(t.join(), 'EAGAIN', 'recv')
    recv_timeout(s, 30 * SLOW)
    goes_on(p, s)


@case
def written_while_we_take_back():
    p, s = sink()
    recv_timeout(s, 0.3)
    t, r = waiting(p, s)
    expect(p, 'SinkAvailCancel')
    write(p, r, N, 8)
    p.do('send', mid='RdmaWrCompl', num=N)
    eq(crc(t.join()), crc(pattern(N, 8)), 'bytes')
    recv_timeout(s, 30 * SLOW)
    goes_on(p, s)


@case
def data_while_we_take_back():
    p, s = sink()
    recv_timeout(s, 0.3)
    t, r = waiting(p, s)
    expect(p, 'SinkAvailCancel')
    p.do('send', payload='pat:6:1000')
    eq(t.join(), pattern(1000, 6), 'bytes')
    silence(p)
    recv_timeout(s, 30 * SLOW)
    goes_on(p, s)


@case
def peer_never_gives_it_back():
    p, s = sink()
    recv_timeout(s, 0.3)
    t, r = waiting(p, s)
    expect(p, 'SinkAvailCancel')
    expect(p, 'AbortConn')
    true(t.join() in ['EAGAIN', 'ETIMEDOUT'], t.result)
    true(failure(s.recv, 1) in ['ETIMEDOUT', b''], 'the next recv()')


@case
def shutdown_takes_it_back():
    p, s = sink()
    t, r = waiting(p, s)
    s.shutdown(socket.SHUT_RD)
    expect(p, 'SinkAvailCancel')
    p.do('send', mid='SinkCancelAck')
    eq(t.join(), b'', 'recv')


@case
def end_of_stream():
    p, s = sink()
    t, r = waiting(p, s)
    p.do('disconn')
    eq(t.join(), b'', 'recv')
    s.sendall(b'and back')
    expect(p, 'Data', payload=8)
    good(p)


@case
def written_then_end_of_stream():
    p, s = sink()
    t, r = waiting(p, s)
    write(p, r, 5000, 9)
    p.do('send', mid='RdmaWrCompl', num=5000)
    p.do('disconn')
    eq(t.join(), pattern(5000, 9), 'recv')


@case
def half_closed():
    """The other direction goes on in its mode"""
    p, s = sink()
    s.shutdown(socket.SHUT_WR)
    expect(p, 'DisConn')
    t, r = waiting(p, s)
    write(p, r, N, 9)
    p.do('send', mid='RdmaWrCompl', num=N)
    eq(crc(t.join()), crc(pattern(N, 9)), 'bytes')
    good(p)


@case
def dies_with_a_sink():
    p, s = sink()
    t, r = waiting(p, s)
    p.end()
    true(t.join() in ['ECONNRESET', b''], t.result)


@case
def srcavail_crosses():
    """It is void; the peer writes instead"""
    p, s = sink()
    p.do('mr', N, seed=10)
    t, r = waiting(p, s)
    p.do('send', mid='SrcAvail', mr=1, ack=r['mseq'] - 1)
    p.do('send', mid='SrcAvailCancel')
    silence(p)
    write(p, r, N, 11)
    p.do('send', mid='RdmaWrCompl', num=N)
    eq(crc(t.join()), crc(pattern(N, 11)), 'bytes')
    p.do('send', mid='SrcAvail', mr=1)
    arrived(p)
    eq(crc(recv_into(s, N)), crc(pattern(N, 10)), 'the next one is good')
    expect(p, 'RdmaRdCompl', num=N)
    goes_on(p, s)


@case
def data_then_srcavail_cross():
    """Data discards the advert, so the SrcAvail behind it is good"""
    p, s = sink()
    p.do('mr', N - 100, seed=12, off=100)
    t, r = waiting(p, s)
    p.do('send', payload='pat:12:100', ack=r['mseq'] - 1)
    p.do('send', mid='SrcAvail', mr=1, ack=r['mseq'] - 1)
    r = p.do('recv', 15000 * SLOW)
    while r.word == 'Data' and not r['payload']:
        r = p.do('recv', 15000 * SLOW)
    if r.word == 'SinkAvail':
        # The reader was quick enough to advertise the rest: that is what the SrcAvail has crossed
        write(p, r, N - 100, 12, off=100)
        p.do('send', mid='RdmaWrCompl', num=N - 100)
    else:
        eq((r.word, r['num']), ('RdmaRdCompl', N - 100), r)
    eq(crc(t.join()), crc(pattern(N, 12)), 'bytes')
    goes_on(p, s)


def wrong_sink(what, *answers):
    """What no honest peer does with a SinkAvail"""
    p, s = sink()
    before = stats()
    p.do('mr', N)
    t, r = waiting(p, s)
    for keys in answers:
        p.ask('send', **keys)
    true(t.join() in ['EPROTO', 'ECONNRESET'] or len(t.result) == N, t.result)
    true(failure(recv_into, s, 100) in ['EPROTO', b''], 'the next recv()')
    bad(before, what)


@case
def written_without_an_advert():
    p, s = sink()
    before = stats()
    p.ask('send', mid='RdmaWrCompl', num=10)
    true(failure(s.recv, 10) in ['EPROTO', 'ECONNRESET'], 'recv')
    bad(before, 'BadState')


@case
def given_back_without_an_advert():
    p, s = sink()
    before = stats()
    p.ask('send', mid='SinkCancelAck')
    true(failure(s.recv, 10) in ['EPROTO', 'ECONNRESET'], 'recv')
    bad(before, 'BadState')


def outside(off, n):
    """The key is good for the bytes advertised and no others"""
    p, s = sink()
    t, r = waiting(p, s)
    eq(p.ask('rwrite', r['rkey'], r['va'] + off, n).word, 'failed', 'WRITE')
    p.end()     # its queue pair has failed, ours may not know
    true(t.join() in ['ECONNRESET', 'EPROTO', b''], t.result)


@case
def not_readable():
    """The key is not good for reading"""
    p, s = sink()
    t, r = waiting(p, s)
    eq(p.ask('rread', r['rkey'], r['va'], 4096).word, 'failed', 'READ')
    p.end()
    t.join()


def void_after(ends, flags=socket.MSG_WAITALL):
    """Whatever ends recv(), the key is void then"""
    p, s = sink()
    recv_timeout(s, 1 * SLOW)
    t, r = waiting(p, s, flags=flags)
    ends(p, r)
    t.join()
    eq(p.ask('rwrite', r['rkey'], r['va'], 100).word, 'failed', 'WRITE after recv()')


def ends_by_write(p, r):
    write(p, r, N, 1)
    p.do('send', mid='RdmaWrCompl', num=N)


def ends_by_data(p, _):
    p.do('send', payload='pat:6:1000')


def ends_by_disconn(p, _):
    p.do('disconn')


def ends_by_timeout(p, _):
    expect(p, 'SinkAvailCancel')
    p.do('send', mid='SinkCancelAck')


def never(connect, keys, flow, how=SDP_ZCOPY_W, n=N, flags=0):
    """No SinkAvail is sent"""
    p, s = connect(**keys)
    mode(s, how)
    if flow:
        pipelined(p)
    p.do('send', payload='pat:1:5')
    recv_into(s, 5)
    recv_timeout(s, 0.5)
    eq(failure(recv_into, s, n, flags), 'EAGAIN', 'recv')
    silence(p)
    recv_timeout(s, 30 * SLOW)
    goes_on(p, s)


# ---- we are the source ----

def source(how=SDP_ZCOPY_W):
    """A peer whose sinks we write to, in Pipelined mode already"""
    p, s = outbound(adverts=8)
    mode(s, SDP_ZCOPY)
    t = Task(s.send, pattern(1000, 1))
    expect(p, 'ModeChange')
    expect(p, 'SrcAvail', alen=1000)
    p.do('send', mid='RdmaRdCompl', num=1000)
    t.join()
    mode(s, how)
    return p, s


def avail(p, n, seed=99, **keys):
    """Memory of the peer's, advertised; its number"""
    mr = p.do('mr', n, seed=seed).words[1]
    p.ask('send', mid='SinkAvail', mr=mr, nd=keys.pop('nd', 0), **keys)
    return mr


def sending(s, data):
    return Task(failure, s.send, data)


def holds(p, mr, data):
    r = p.do('mrcrc', mr, 0, len(data))
    eq(r.kv['crc'], crc(data), r)


def writes(n):
    """Straight from the program's memory to the peer's"""
    p, s = source()
    data = pattern(n, 3)
    parts = [data[off:off + MB] for off in range(0, n, MB)]
    before, was = stats(), info(s)
    mrs = [avail(p, MB) for _ in parts]
    arrived(p)
    eq(info(s)['peer_sink_adverts'], len(parts), 'SDP_INFO')
    t = sending(s, data)
    for mr, part in zip(mrs, parts):
        expect(p, 'RdmaWrCompl', num=len(part))
        holds(p, mr, part)
    eq(t.join(), n, 'send')
    eq((growth(before, 'SendZcopyW'), growth(before, 'SendCopied')), (n, 0), 'not copied')
    eq((growth(before, 'SrcAvail'), info(s)['snd_zcopy_w'] - was['snd_zcopy_w']), (0, n),
       'not advertised')
    goes_on(p, s)


@case
def writes_small_sinks():
    """Each is filled, in their order; what is left when no more come is advertised"""
    p, s = source()
    data = pattern(N, 4)
    mrs = [avail(p, 20000) for _ in range(3)]
    arrived(p)
    t = sending(s, data)
    for i, mr in enumerate(mrs):
        expect(p, 'RdmaWrCompl', num=20000)
        holds(p, mr, data[i * 20000:][:20000])
    r = expect(p, 'SrcAvail', alen=N - 60000)
    peer_reads(p, r, data[60000:])
    p.do('send', mid='RdmaRdCompl', num=N - 60000)
    eq(t.join(), N, 'send')
    goes_on(p, s)


@case
def small_data_discards():
    """It goes as Data, and both ends agree on what that means"""
    p, s = source()
    avail(p, N)
    arrived(p)
    s.send(b'small')
    expect(p, 'Data', payload=5)
    mr = avail(p, N)
    arrived(p)
    t = sending(s, pattern(N, 6))
    expect(p, 'RdmaWrCompl', num=N)
    holds(p, mr, pattern(N, 6))
    eq(t.join(), N, 'send')
    goes_on(p, s)


@case
def data_crosses_sink():
    """The advert is stale: the next one is good"""
    p, s = source()
    before = stats()
    s.send(b'small')
    r = expect(p, 'Data', payload=5)
    avail(p, N, ack=r['mseq'] - 1)
    arrived(p)
    eq((growth(before, 'SinkStale'), info(s)['peer_sink_adverts']), (1, 0), 'void')
    mr = avail(p, N)
    arrived(p)
    t = sending(s, pattern(N, 7))
    expect(p, 'RdmaWrCompl', num=N)
    holds(p, mr, pattern(N, 7))
    eq(t.join(), N, 'send')
    goes_on(p, s)


@case
def our_srcavail_crosses():
    """It is taken back and written"""
    p, s = source(SDP_ZCOPY)
    data = pattern(N, 8)
    t = sending(s, data)
    r = expect(p, 'SrcAvail', alen=N)
    mr = avail(p, N, ack=r['mseq'] - 1)
    expect(p, 'RdmaWrCompl', num=N)
    holds(p, mr, data)
    eq(t.join(), N, 'send')
    eq(p.ask('rread', r['rkey'], r['va'], 100).word, 'failed', 'READ by the key it had')


@case
def several_srcavails_cross():
    p, s = source(SDP_ZCOPY)
    data = pattern(3 * 256 * KB, 8)
    mr = p.do('mr', MB).words[1]
    t = sending(s, data)
    first = expect(p, 'SrcAvail')
    for _ in range(2):
        expect(p, 'SrcAvail')
    p.do('send', mid='SinkAvail', mr=mr, nd=0, ack=first['mseq'] - 1)
    expect(p, 'RdmaWrCompl', num=256 * KB)
    holds(p, mr, data[:256 * KB])
    for part in data[256 * KB:512 * KB], data[512 * KB:]:
        r = expect(p, 'SrcAvail', alen=256 * KB)
        peer_reads(p, r, part)
        p.do('send', mid='RdmaRdCompl', num=256 * KB)
    eq(t.join(), len(data), 'send')
    goes_on(p, s)


@case
def srcavail_being_cancelled_crosses():
    """A send() that gives up while the peer advertises"""
    p, s = source(SDP_ZCOPY)
    mr = p.do('mr', N).words[1]
    t = sending(s, pattern(N, 8))
    r = expect(p, 'SrcAvail')
    expect(p, 'SrcAvailCancel')
    p.do('send', mid='SinkAvail', mr=mr, nd=0, ack=r['mseq'] - 1)
    # it goes on by copying, so as Data, which discards the advert
    was = p.status()['rx_bytes']
    p.do('auto', 'sink')
    eq(t.join(), N, 'send')
    eq(soon(lambda: p.status()['rx_bytes'], was + N), was + N, 'as Data')
    p.do('auto', 'off')
    goes_on(p, s)


@case
def taken_back():
    p, s = source()
    p.do('send', mid='SinkAvailCancel')
    silence(p)      # nothing was there: no answer
    for _ in range(2):
        avail(p, N)
    p.do('send', mid='SinkAvailCancel')
    expect(p, 'SinkCancelAck')
    s.send(b'small')
    expect(p, 'Data', payload=5)
    mr = avail(p, N, nd=1)
    arrived(p)
    t = sending(s, pattern(N, 6))
    expect(p, 'RdmaWrCompl')
    holds(p, mr, pattern(N, 6))
    eq(t.join(), N, 'send')
    goes_on(p, s)


@case
def sink_crosses_disconn():
    p, s = source()
    s.shutdown(socket.SHUT_WR)
    expect(p, 'DisConn')
    avail(p, N)
    p.do('send', mid='SinkAvailCancel')
    silence(p)
    p.do('send', payload='pat:1:5')
    eq(recv_into(s, 5), pattern(5, 1), 'theirs')
    good(p)


@case
def nobody_advertises():
    """After a while our own advert goes"""
    p, s = source()
    t = sending(s, pattern(N, 5))
    r = expect(p, 'SrcAvail', alen=N)
    peer_reads(p, r, pattern(N, 5))
    p.do('send', mid='RdmaRdCompl', num=N)
    eq(t.join(), N, 'send')
    goes_on(p, s)


@case
def peer_dies_with_a_write():
    p, s = source()
    avail(p, MB)
    arrived(p)
    t = sending(s, pattern(4 * MB, 5))
    p.end()
    broken(s, t.join())


def wrong_source(what, *messages, wait=True):
    """What no honest peer sends to a source"""
    p, s = source() if wait else outbound(adverts=8)
    p.do('mr', N)
    before = stats()
    for keys in messages:
        p.ask('send', **keys)
    if what:
        true(failure(recv_into, s, 10) in ['EPROTO', 'ECONNRESET'], 'recv')
        bad(before, what)
    else:
        broken(s, failure(s.send, pattern(N, 5)))


@case
def sink_after_it_saw_our_srcavail():
    p, s = source(SDP_ZCOPY)
    before = stats()
    t = sending(s, pattern(N, 8))
    expect(p, 'SrcAvail')
    avail(p, N)
    broken(s, t.join())
    bad(before, 'BadState')


def add_all():
    compl = {'mid': 'RdmaWrCompl'}
    for way, connect in ('peer connects', inbound), ('peer accepts', outbound):
        # what connects has asked for receive buffers of 32 KiB, and a sink is no smaller
        for n in 32768 if connect is inbound else 8192, 65536, N + 1, MB:
            add(f'{way}: {n} bytes written to recv()', written, connect, n)
    add('more written than there is', wrong_sink, 'BadAdvert', {'num': N + 1, **compl})
    add('written twice', wrong_sink, 'BadState', {'num': N, **compl}, {'num': N, **compl})
    add('written before it was seen', wrong_sink, 'BadState',
        {'num': N, 'ack': 0, 'bufs': 64, **compl})
    add('given back unasked', wrong_sink, 'BadState', {'mid': 'SinkCancelAck'})
    add('SrcAvail of one who has seen it', wrong_sink, 'BadState', {'mid': 'SrcAvail', 'mr': 1})
    add('ModeChange of one who has seen it', wrong_sink, 'BadState',
        {'mid': 'ModeChange', 'mode': 0x10})
    add('WRITE before the sink', outside, -1, 10)
    add('WRITE beyond the sink', outside, N - 1, 2)
    add('WRITE far beyond', outside, 4096 * 40, 1)
    add('key is void after it was written', void_after, ends_by_write)
    add('key is void after Data', void_after, ends_by_data, 0)
    add('key is void after DisConn', void_after, ends_by_disconn)
    add('key is void after a timeout', void_after, ends_by_timeout)
    for way, connect in ('connects', inbound), ('accepts', outbound):
        add(f'OFED {way}: never advertised to', never, connect, {}, False)
        add(f'MaxAdverts 1 {way}: not even in Pipelined mode', never, connect, {'adverts': 1}, True)
    add('Combined mode: not advertised', never, inbound, {'adverts': 8}, False)
    add('MSG_PEEK: not advertised', never, inbound, {'adverts': 8}, True, SDP_ZCOPY_W, N,
        socket.MSG_PEEK)
    add('MSG_DONTWAIT: not advertised', never, inbound, {'adverts': 8}, True, SDP_ZCOPY_W, N,
        socket.MSG_DONTWAIT)
    add('small recv(): not advertised', never, inbound, {'adverts': 8}, True, SDP_ZCOPY_W, 8191)
    add('recv() below a receive buffer: not advertised', never, inbound, {'adverts': 8}, True,
        SDP_ZCOPY_W, 32767)
    add('SDP_ZCOPY: not advertised', never, inbound, {'adverts': 8}, True, SDP_ZCOPY)
    for n in 8192, N + 1, MB, 3 * MB + 7000:
        add(f'{n} bytes written to the peer', writes, n)
    sink_avail = {'mid': 'SinkAvail', 'mr': 1, 'nd': 0}
    add('non-discards that were not sent', wrong_source, 'BadAdvert', {**sink_avail, 'nd': 1})
    add('a sink of nothing', wrong_source, 'BadAdvert', {**sink_avail, 'alen': 0})
    add('a sink with a wrong key', wrong_source, '', {**sink_avail, 'rkey': 0x12345678})
    add('a sink shorter than it says', wrong_source, '', {**sink_avail, 'alen': 2 * N, 'va': 4 * N})
    add('one sink too many', wrong_source, 'BadState', *[sink_avail] * 9)
    add('sink in Combined mode', lambda: wrong_source('BadState', sink_avail, wait=False))


add_all()
run(*sys.argv[1:])
