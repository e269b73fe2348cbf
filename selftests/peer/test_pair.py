# SPDX-License-Identifier: GPL-2.0
"""sdp.ko on one host, a peer on another that lies about who and where it is.

test_pair.py server: accepts and echoes until told to stop by a connection that says so.
test_pair.py peer SERVER SELF: the peer.
"""
import sys

from peer import Peer, crc, pattern
from sdpsock import recv_exactly, sdp_listen
from tap import add, case, cleanups, eq, run

PORT = 5001


def serve(addr):
    listener = sdp_listen((addr, PORT))
    print('serving', flush=True)
    while True:
        s, _ = listener.accept()
        s.settimeout(60)
        try:
            data = recv_exactly(s, 4)
            if data == b'stop':
                return
            size = int.from_bytes(data, 'big')
            s.sendall(recv_exactly(s, size))
            recv_exactly(s, 1)
        except OSError:
            pass
        s.close()


def liar(keys):
    p = Peer()
    r = p.ask('connect', SERVER, PORT, **keys)
    eq(r.word, 'rejected', r)
    honest(10)


def honest(size):
    p = Peer()
    p.do('connect', SERVER, PORT)
    p.do('auto', 'sink')
    p.do('send', payload=size.to_bytes(4, 'big').hex())
    p.do('source', size, seed=1, timeout=60000)
    for _ in range(600):
        if p.status()['rx_bytes'] >= size:
            break
        p.ask('await', 'gone', 100)
    st = p.status()
    eq((st['rx_bytes'], st.kv['rx_crc'], st['bad']), (size, crc(pattern(size, 1)), 'none'), st)
    p.do('disconn')
    p.do('await', 'drep,dreq,timewait')


@case
def stream_and_back():
    honest(300000)


def stop():
    p = Peer()
    p.do('connect', SERVER, PORT)
    p.do('send', payload=b'stop'.hex())
    p.do('flush')


if sys.argv[1] == 'server':
    serve(sys.argv[2])
    sys.exit(0)
SERVER, SELF = sys.argv[2:4]
for name, lie in {
        'DstIP 127.0.0.1': {'dstip': '127.0.0.1'},
        'both 127.0.0.1': {'srcip': '127.0.0.1', 'dstip': '127.0.0.1'},
        'SrcIP 127.0.0.1': {'srcip': '127.0.0.1'},
        "the host's own SrcIP": {'srcip': SERVER},
        "another's SrcIP": {'srcip': '10.9.1.77'},
        "the peer's own DstIP": {'dstip': SELF}}.items():
    add(f'a lie: {name}', liar, lie)
cleanups.append(Peer.end_all)
try:
    run()
finally:
    stop()
