# SPDX-License-Identifier: GPL-2.0
"""zcopy_timeouts.py ADDRESS ROUNDS: threads whose zero-copy send() times out, and takes back what
the peer has refused to read, at the very moment the connection ends. All of them come back."""
import mmap
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import Sysctl, sdp_listen, sdp_pair                    # noqa: E402

SOL_SDP, SDP_MODE, SDP_ZCOPY = 1025, 82, 2
THREADS, SIZE = 8, 300 << 10


def sender(s, place, counts):
    try:
        while True:
            try:
                s.send(place)
            except BlockingIOError:
                counts[0] += 1
    except OSError:
        pass


def one_round(lst, rng, counts):
    a, b = sdp_pair(lst)
    a.setsockopt(SOL_SDP, SDP_MODE, SDP_ZCOPY)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 0, 4000))
    place = mmap.mmap(-1, SIZE)
    place[:] = b'z' * SIZE
    threads = [threading.Thread(target=sender, args=(a, place, counts), daemon=True)
               for _ in range(THREADS)]
    for t in threads:
        t.start()
    time.sleep(0.001 + 0.014 * rng.random())
    b.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    b.close()
    for t in threads:
        t.join(20)
        if t.is_alive():
            print('a send() never returns', flush=True)
            os._exit(1)
    a.close()


def main(addr, rounds):
    rng, counts = random.Random(7), [0]
    lst = sdp_listen((addr, 0))
    with Sysctl('net.sdp.read_ahead', 0):       # what is advertised and not received is refused
        for _ in range(int(rounds)):
            one_round(lst, rng, counts)
    print(f'{counts[0]} timeouts')
    if not counts[0]:
        sys.exit('none of them timed out')


main(*sys.argv[1:])
