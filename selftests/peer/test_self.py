# SPDX-License-Identifier: GPL-2.0
"""The test peer against itself: what the other tests rest on."""
import errno
import os
import subprocess
import sys

from peer import Peer, pattern, crc
from sdpsock import soon
from tap import add, cleanups, run, eq, true

ADDRS = sys.argv[1:] or ['10.9.0.1']
ADDR = ADDRS[0]
tests = []


def case(func):
    tests.append(func)
    return func


def over(addr, func):
    global ADDR  # pylint: disable=global-statement
    ADDR = addr
    func()


def pair(port=6001, connect=None, accept=None):
    a, b = Peer(), Peer()
    b.do('listen', port)
    t = b.start('accept', **(accept or {}))
    ra = a.ask('connect', ADDR, port, **(connect or {}))
    rb = t.join()
    return a, b, ra, rb


def finish(*peers):
    for p in peers:
        st = p.status()
        eq(st['bad'], 'none', 'breaches')
        p.end()


@case
def hello_and_hello_ack():
    a, b, ra, rb = pair(connect={'post': 7, 'adverts': 3}, accept={'post': 5, 'bufsz': 4096})
    eq((ra.word, ra['bufs'], ra['rcvsz'], ra['judge']), ('established', 5, 4096, 'good'), ra)
    eq((rb.word, rb['bufs'], rb['adverts'], rb['judge']), ('established', 7, 3, 'good'), rb)
    eq(rb['dstip'], ADDR, rb)
    finish(a, b)


@case
def raw_hello():
    a, b, _, rb = pair(connect={'raw': '00aabbcc', 'at': '90:beef', 'srcip': '1.2.3.4'})
    eq((rb['flags'], rb['bufs']), (0xaa, 0xbbcc), rb)
    true(rb['srcip'].endswith('1.2.3.4') or rb['srcip'] == '::102:304', rb)
    finish(a, b)


@case
def data_and_credits():
    a, b, _, _ = pair()
    a.do('send', payload='pat:1:1000')
    r = b.do('recv')
    eq((r.word, r['payload'], r['mseq'], r['crc']), ('Data', 1000, 1, crc(pattern(1000, 1))), r)
    b.do('credit')
    r = a.do('recv')
    eq((r['ack'], r['bufs'], r['payload']), (1, 16, 0), r)
    finish(a, b)


@case
def every_kind():
    a, b, _, _ = pair()
    for mid, keys in (('SendSm', {}), ('RdmaWrCompl', {'num': 5}), ('RdmaRdCompl', {'num': 6}),
                      ('ModeChange', {'mode': 0x20}), ('SrcAvailCancel', {}),
                      ('SinkAvailCancel', {}), ('SinkCancelAck', {}), ('ChRcvBuf', {'num': 4096}),
                      ('ChRcvBufAck', {'num': 4096}), ('SuspComm', {'sid': 77}),
                      ('SuspCommAck', {}), ('AbortConn', {}), ('DisConn', {})):
        a.do('send', mid=mid, **keys)
        r = b.do('recv')
        eq((r.word, r['judge']), (mid, 'good'), r)
        for k, v in keys.items():
            eq(r[k], v, r)
        b.do('credit')
        a.do('recv')
    finish(a, b)


@case
def anything_else():
    a, b, _, _ = pair()
    a.do('send', mid=0x77, payload='00ff', mseq=9, ack=3, bufs=1, flags=0xff)
    r = b.do('recv', hex=1)
    eq((r['mid'], r['mseq'], r['ack'], r['bufs'], r['flags'], r['judge']),
       (0x77, 9, 3, 1, 255, 'mid'), r)
    a.do('sendraw', '0102')
    eq(b.do('recv')['bytes'], 2, '2 bytes')
    a.do('sendraw')
    eq(b.do('recv')['bytes'], 0, '0 bytes')
    a.do('send', mid='Data', len=99)
    eq(b.do('recv')['judge'], 'len', 'len')
    a.do('send', mid='SrcAvail', ext='0011', trunc=17)
    eq(b.do('recv')['bytes'], 17, 'trunc')
    st = b.status()
    eq(st['bad_count'] >= 3, True, st)


@case
def breaches_are_seen():
    a, b, _, _ = pair(accept={'post': 4, 'bufs': 3})
    a.do('send', payload='00', force=1, times=2)
    b.do('recv')
    b.do('recv')
    eq(b.status()['bad'], 'Data_mseq_2_with_2_credits', b.status())
    eq(a.ask('send', payload='00', timeout=100).word, 'timeout', 'no credits')


@case
def rnr_waits():
    a, b, _, _ = pair(accept={'post': 0, 'bufs': 9})
    a.do('send', payload='pat:0:100')
    eq(a.ask('flush', 300).word, 'timeout', 'no buffer there')
    b.do('post', 1)
    eq(a.ask('flush').word, 'ok', 'flush')
    eq(b.do('recv')['payload'], 100, 'recv')


@case
def rdma():
    a, b, _, _ = pair()
    mr = a.do('mr', 100000, seed=3)
    r = b.do('rread', mr['rkey'], mr['va'], 65536)
    eq(r['crc'], crc(pattern(65536, 3)), r)
    b.do('rwrite', mr['rkey'], mr['va'] + 10, 5000, seed=9)
    eq(a.do('mrcrc', 1, 10, 5000)['crc'], crc(pattern(5000, 9)), 'rwrite')
    a.do('send', mid='SrcAvail', mr=1, inline=64)
    r = b.do('recv', hex=1)
    eq((r.word, r['alen'], r['rkey'], r['payload']), ('SrcAvail', 100000, mr['rkey'], 64), r)
    a.do('inv', 1)
    r = b.ask('rread', mr['rkey'], mr['va'], 16)
    eq(r.word, 'failed', r)
    finish(a, b)


@case
def reject_with_data():
    a, b = Peer(), Peer()
    b.do('listen', 6002)
    t = b.start('reject', 28, data='cafe')
    r = a.ask('connect', ADDR, 6002)
    eq((r.words[:2], r.words[2][:4]), (['rejected', '28'], 'cafe'), r)
    eq(t.join()['judge'], 'good', 'hello')
    r = a.ask('connect', ADDR, 6003)
    eq(r.words[:2], ['rejected', '8'], r)


@case
def no_answer():
    a, b = Peer(), Peer()
    b.do('listen', 6002)
    eq(a.ask('connect', ADDR, 6002, timeout=200).word, 'timeout', 'no REP')
    a.do('close')
    b.do('close')
    t = b.start('accept', timeout=20000, nowait=1)
    r = a.do('connect', ADDR, 6002, nortu=1)
    eq(r.word, 'established', r)
    t.join()
    eq(b.ask('await', 'rtu', 300).word, 'timeout', 'no RTU')
    a.do('rtu')
    eq(b.ask('await', 'rtu').word, 'rtu', 'RTU')


@case
def endings():
    a, b, _, _ = pair()
    a.do('dreq')
    eq(b.ask('await', 'dreq').word, 'dreq', 'DREQ')
    eq(a.ask('await', 'drep').word, 'drep', 'DREP')
    b.do('close')
    t = b.start('accept')
    a.do('close')
    a.do('connect', ADDR, 6001)
    t.join()
    b.do('kill')
    a.do('send', payload='00')
    eq(a.ask('await', 'senderr', 30000).word, 'senderr', 'QP error')


@case
def ofed_streams():
    a, b, _, _ = pair(connect={'post': 3}, accept={'post': 4, 'bufsz': 4096})
    a.do('auto', 'echo')
    b.do('auto', 'sink')
    n = 300000
    r = b.ask('source', n, seed=5)
    eq(r.word, 'ok', f'{r}: {a.status()}; {b.status()}')
    soon(lambda: b.status()['rx_bytes'], n)
    eq((b.status()['rx_bytes'], b.status().kv['rx_crc']), (n, crc(pattern(n, 5))), b.status())
    b.do('disconn')
    eq(a.ask('await', 'dreq').word, 'dreq', a.status())
    finish(a, b)


@case
def ofed_advert():
    a, b, _, _ = pair()
    b.do('auto', 'sink')
    a.do('mr', 200000, seed=8)
    a.do('send', mid='SrcAvail', mr=1, inline=1000)
    r = a.do('expect', 'RdmaRdCompl')
    eq(r['num'], 199000, r)
    eq(b.status().kv['rx_crc'], crc(pattern(200000, 8)), b.status())
    b.do('auto', 'sink', srcavail='sendsm')
    a.do('send', mid='SrcAvail', mr=1, inline=1000)
    a.do('expect', 'SendSm')
    finish(a, b)


def unload_is_refused():
    a, b, _, _ = pair()
    eq(subprocess.run(['rmmod', 'sdp_peer'], stderr=subprocess.DEVNULL, check=False).returncode,
       1, 'rmmod')
    finish(a, b)


def owner_is_killed():
    """In the middle of a command, with a connection, memory and messages about"""
    b = Peer()
    b.do('listen', 6001)
    t = b.start('accept')
    script = f"""from peer import Peer
p = Peer()
p.do('connect', '{ADDR}', 6001)
p.do('mr', 100000)
p.do('auto', 'echo')
p.do('source', 1 << 30, timeout=60000)"""
    with subprocess.Popen([sys.executable, '-B', '-c', script],
                          cwd=os.path.dirname(os.path.abspath(__file__))) as proc:
        t.join()
        for _ in range(10):
            b.do('recv')
        proc.kill()
        proc.wait(20)
    eq(b.ask('await', 'dreq').word, 'dreq', b.status())
    eq(b.status()['bad'], 'none', 'breaches')


def device_goes_away():
    """With a connection, a listener, a wait, and somebody who knows nothing yet"""
    a, b, _, _ = pair()
    c, d = Peer(), Peer()
    c.do('listen', 6009)
    t = c.start('await', 'req', 20000)
    subprocess.run(['rdma', 'link', 'del', 'rxe0'], check=True)
    eq(t.join().text, f'error {-errno.ENODEV}', 'who waited')
    for p in a, b, c:
        eq(p.ask('await', 'gone', 0).word, 'gone', p.status())
    eq(d.ask('listen', 6009).text, f'error {-errno.ENODEV}', 'listen')
    subprocess.run(['rdma', 'link', 'add', 'rxe0', 'type', 'rxe', 'netdev',
                    os.environ.get('LAB_DEV', 'dummy0')], check=True)
    Peer.end_all()
    a, b, _, _ = pair()
    finish(a, b)


for a in ADDRS:
    for t in tests:
        add(f'{t.__name__} over {a}', over, a, t)
add('unload is refused while in use', unload_is_refused)
add('the owner is killed', owner_is_killed)
add('the device goes away', device_goes_away)
cleanups.append(Peer.end_all)
run()
