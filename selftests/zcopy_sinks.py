# SPDX-License-Identifier: GPL-2.0
"""zcopy_sinks.py ADDRESS: with net.sdp.sink_thresh, receivers that wait first advertise their memory
by themselves, and stop doing so when nobody writes to it."""
import mmap
import os
import socket
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import (growth, sdp_accept, sdp_listen, sdp_socket, stats,     # noqa: E402
                     wait_asleep)

SIZE = 256 << 10
DATA = pattern(SIZE, 6)


def receiver(lst, flags):
    """Takes SIZE bytes at a time, for each of which it says that it is there"""
    s = sdp_accept(lst)
    s.setblocking(True)
    place = mmap.mmap(-1, SIZE)
    while True:
        s.send(b'!')
        got = 0
        while got < SIZE:
            n = s.recv_into(memoryview(place)[got:], SIZE - got, flags)
            if not n:
                sys.exit(got != 0)
            got += n
        if place[:] != DATA:
            sys.exit('the wrong bytes')


class Pair:
    """A sender and, in a child, a receiver"""

    def __init__(self, lst, flags):
        self.pid = os.fork()
        if not self.pid:
            receiver(lst, flags)
        self.s = sdp_socket()
        self.s.connect(lst.getsockname())
        self.s.setblocking(True)
        self.place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.place[:] = DATA

    def rounds(self, n, piece=SIZE):
        """So many times SIZE bytes, to a receiver that waits; how often it advertised, what for"""
        before = stats()
        for _ in range(n):
            self.s.recv(1)
            wait_asleep(self.pid)
            for off in range(0, SIZE, piece):
                self.s.sendall(memoryview(self.place)[off:off + piece])
        return growth(before, 'SinkAvailSent'), growth(before, 'SendZcopyW') / SIZE

    def end(self):
        self.s.shutdown(socket.SHUT_WR)
        if os.waitpid(self.pid, 0)[1]:
            sys.exit('the receiver has failed')


def expect(what, got, least, most):
    print(f'{what}: {got}')
    if not least <= got <= most:
        sys.exit(f'not {least} to {most}')


def thresh(n):
    with open('/proc/sys/net/sdp/sink_thresh', 'w', encoding='ascii') as f:
        f.write(str(n))


def main():
    lst = sdp_listen((sys.argv[1], 0))
    thresh(65536)
    for what, flags in ('MSG_WAITALL', socket.MSG_WAITALL), ('by habit', 0):
        p = Pair(lst, flags)
        expect(f'{what}: written', p.rounds(16)[1], 8, 16)
        sent, written = p.rounds(6, 8192)
        expect('data comes instead: adverts', sent, 1, 12)
        expect('... written', written, 0, 0)
        # the 64 recv()s that don't are over
        expect('written to again after a while', p.rounds(80)[1], 8, 80)
        p.end()
    for value, what in (0, 'off'), (524288, 'beyond what is received'):
        thresh(value)
        p = Pair(lst, socket.MSG_WAITALL)
        expect(f'{what}: adverts', p.rounds(8)[0], 0, 0)
        p.end()
    thresh(0)


main()
