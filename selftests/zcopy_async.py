# SPDX-License-Identifier: GPL-2.0
"""zcopy_async.py ADDRESS: MSG_ZEROCOPY: every byte arrives, every send() that took something is
told of exactly once, when its memory is free again, also when the connection ends. Exit status 4
when the kernel refuses it."""
import mmap
import os
import select
import socket
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import growth, sdp_listen, sdp_pair, sdp_socket, stats     # noqa: E402

SOL_SDP, SDP_MODE, SDP_ZEROCOPY, SDP_BCOPY = 1025, 82, 83, 1
MSG_ZEROCOPY, MSG_ERRQUEUE = 0x4000000, 0x2000
SO_EE_ORIGIN_ZEROCOPY, COPIED = 5, 1
SIZES = (1, 100, 113, 4096, 5000, 65536, 70001, 262144, 1 << 20, 3)


class Completions:
    """What the error queue has told"""

    def __init__(self, s):
        self.s, self.told, self.copied, self.messages = s, [], 0, 0

    def take(self):
        """All there is now"""
        while True:
            try:
                _, anc, _, _ = self.s.recvmsg(0, 256, MSG_ERRQUEUE | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            for level, kind, data in anc:
                err, origin, _, code, _, low, high = struct.unpack('IBBBBII', data[:16])
                if (level, kind) != (0, 11) or err or origin != SO_EE_ORIGIN_ZEROCOPY:
                    sys.exit(f'odd completion: {level} {kind} {data.hex()}')
                self.told += range(low, high + 1)
                self.messages += 1
                self.copied += code == COPIED

    def all_of(self, n, ordered=True):
        """Waits until n sends have been told of"""
        poll = select.poll()
        poll.register(self.s, 0)
        while len(self.told) < n:
            if not poll.poll(20000):
                sys.exit(f'told of {self.told} only, of {n}')
            self.take()
        if (self.told if ordered else sorted(self.told)) != list(range(n)):
            sys.exit(f'told of {self.told}, not of 0 to {n - 1}')


def pair(lst):
    a, b = sdp_pair(lst)
    a.setsockopt(SOL_SDP, SDP_ZEROCOPY, 1)
    return a, b


def data_of(n):
    m = mmap.mmap(-1, max(n, 1))
    m[:n] = pattern(n, n & 255)
    return m


def reader(b, sizes):
    """A child that reads and verifies all of them"""
    pid = os.fork()
    if not pid:
        for n in sizes:
            buf = bytearray(n)
            if b.recv_into(buf, n, 0x100) != n or bytes(buf) != pattern(n, n & 255):
                os._exit(1)
        os._exit(0)
    return pid


def all_sizes(lst, nonblocking):
    a, b = pair(lst)
    pid = reader(b, SIZES)
    done, sends = Completions(a), 0
    a.setblocking(not nonblocking)
    poll = select.poll()
    poll.register(a, select.POLLOUT)
    before, keep = stats(), []
    for n in SIZES:
        m = data_of(n)
        keep.append(m)
        off = 0
        while off < n:
            try:
                off += a.send(memoryview(m)[off:], MSG_ZEROCOPY)
                sends += 1
            except BlockingIOError:
                poll.poll(10000)
            done.take()
    # What goes in a message may be free before what the peer still reads
    done.all_of(sends, ordered=False)
    if os.waitpid(pid, 0)[1]:
        sys.exit('the wrong bytes')
    if growth(before, 'SendCopied') > 2000:
        sys.exit(f'{growth(before, "SendCopied")} bytes were copied')


def merged(lst):
    """Those of one kind that nobody has looked for yet are one message"""
    a, b = pair(lst)
    sizes = (65536,) * 8
    pid = reader(b, sizes)
    keep = []
    for n in sizes:
        keep.append(data_of(n))
        a.send(keep[-1], MSG_ZEROCOPY)
    if os.waitpid(pid, 0)[1]:
        sys.exit('the wrong bytes')
    time.sleep(0.5)
    done = Completions(a)
    done.all_of(len(sizes))
    if done.messages >= len(sizes):
        sys.exit(f'{done.messages} messages')


def copied(lst):
    """Copied all the same, and said so"""
    a, b = pair(lst)
    a.setsockopt(SOL_SDP, SDP_MODE, SDP_BCOPY)
    pid = reader(b, (5000, 100000))
    done, keep = Completions(a), []
    for n in 5000, 100000:
        keep.append(data_of(n))
        a.send(keep[-1], MSG_ZEROCOPY)
    done.all_of(2)
    if not done.copied or os.waitpid(pid, 0)[1]:
        sys.exit('not said to be copied, or the wrong bytes')


def reset(lst):
    """The peer goes without reading: what was sent is told of"""
    a, b = pair(lst)
    m = data_of(1 << 20)
    a.setblocking(False)
    n = 0
    while n < 3:
        try:
            a.send(m, MSG_ZEROCOPY)
            n += 1
        except BlockingIOError:
            break
    b.close()
    Completions(a).all_of(n)


def closed_by_us(lst):
    """close() with sends under way: all arrives"""
    a, b = pair(lst)
    m = data_of(262144)
    a.send(m, MSG_ZEROCOPY)
    a.close()
    buf = bytearray(262144)
    if b.recv_into(buf, 262144, 0x100) != 262144 or bytes(buf) != m[:]:
        sys.exit('not all arrived')


def option(lst):
    """SO_ZEROCOPY itself, where the kernel lets us have it"""
    s = sdp_socket()
    try:
        s.setsockopt(socket.SOL_SOCKET, 60, 1)
    except OSError as e:
        print(f'SO_ZEROCOPY: {e}')
        return
    if s.getsockopt(SOL_SDP, SDP_ZEROCOPY) != 1:
        sys.exit('SO_ZEROCOPY has no effect')
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    if s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) != 131072:
        sys.exit('other options are lost')
    if pair(lst)[1].getsockopt(socket.SOL_SOCKET, 60) not in (0, 1):
        sys.exit('no SO_ZEROCOPY on an accepted socket')


def main():
    lst = sdp_listen((sys.argv[1], 0))
    all_sizes(lst, False)
    all_sizes(lst, True)
    merged(lst)
    copied(lst)
    reset(lst)
    closed_by_us(lst)
    option(lst)


if __name__ == '__main__':
    main()
