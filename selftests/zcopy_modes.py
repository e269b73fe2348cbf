# SPDX-License-Identifier: GPL-2.0
"""zcopy_modes.py ADDRESS: both ends change SDP_MODE between calls, while data is under way in the
mode before; every byte arrives, in its order."""
import mmap
import os
import random
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import SLOW, growth, sdp_listen, sdp_pair, stats       # noqa: E402

SOL_SDP, SDP_MODE = 1025, 82
MODES = range(5)        # auto, BCopy, ZCopy, AZ-SDP, ZCopy by sinks
ROUNDS = 300 // SLOW


def sizes():
    """The same at both ends"""
    rng = random.Random(42)
    for i in range(ROUNDS):
        yield i & 255, rng.choice((1, 500, 20000, 100000, 300000, 700000)) + rng.randrange(500)


def sender(s, rng):
    places = [mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(3)]
    for seed, n in sizes():
        m = rng.choice(places)
        m[:n] = pattern(n, seed)
        s.setsockopt(SOL_SDP, SDP_MODE, rng.choice(MODES))
        view, off = memoryview(m), 0
        while off < n:
            off += s.send(view[off:n])
            if rng.randrange(4) == 0:
                s.setsockopt(SOL_SDP, SDP_MODE, rng.choice(MODES))
    s.close()


def receiver(s, rng):
    place = mmap.mmap(-1, 1 << 20)
    for seed, n in sizes():
        view, off = memoryview(place), 0
        while off < n:
            s.setsockopt(SOL_SDP, SDP_MODE, rng.choice(MODES))
            want = rng.choice((n - off, min(n - off, 70000)))
            got = s.recv_into(view[off:], want, 0x100 if rng.randrange(2) else 0)
            if not got:
                sys.exit('the stream has ended')
            off += got
        if place[:n] != pattern(n, seed):
            sys.exit(f'{n} bytes of pattern {seed} are others')
    if s.recv(1):
        sys.exit('more than was sent')


def main():
    before = stats()
    a, b = sdp_pair(sdp_listen((sys.argv[1], 0)))
    pid = os.fork()
    if not pid:
        b.close()
        sender(a, random.Random(1))
        os._exit(0)
    a.close()
    receiver(b, random.Random(2))
    if os.waitpid(pid, 0)[1]:
        sys.exit('the sender has failed')
    for name in 'SendCopied', 'SendZcopy', 'SendZcopyW', 'AzBytes':
        print(name, growth(before, name))
        if not growth(before, name):
            sys.exit(f'no {name}')


main()
