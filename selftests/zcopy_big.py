# SPDX-License-Identifier: GPL-2.0
"""zcopy_big.py ADDRESS: one send() of a gigabyte, more than there is room for anywhere at a time:
it returns when all has been taken, and all of it arrives."""
import mmap
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import SLOW, growth, sdp_accept, sdp_listen, sdp_socket, stats     # noqa: E402

SIZE = 1 << (30 if SLOW == 1 else 26)
# Pages that aren't the zero page, which all others stay
STEP = (5 << 20) + 4096


def marks():
    return range(0, SIZE, STEP)


def sender(addr):
    m = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in marks():
        m[at] = at // STEP % 255 + 1
    s = sdp_socket()
    s.connect(addr)
    s.setblocking(True)
    n = s.send(m)
    s.close()
    os._exit(n != SIZE)


def main():
    lst = sdp_listen((sys.argv[1], 0))
    before = stats()
    pid = os.fork()
    if not pid:
        sender(lst.getsockname())
    s = sdp_accept(lst)
    s.setblocking(True)
    buf, got, found = bytearray(4 << 20), 0, 0
    want = iter(marks())
    mark = next(want)
    while n := s.recv_into(buf):
        while mark is not None and mark < got + n:
            if buf[mark - got] != mark // STEP % 255 + 1:
                sys.exit(f'byte {mark} is wrong')
            buf[mark - got] = 0
            found += 1
            mark = next(want, None)
        if buf.count(0, 0, n) != n:
            sys.exit(f'of the bytes from {got} on some are wrong')
        got += n
    if got != SIZE or mark is not None or os.waitpid(pid, 0)[1]:
        sys.exit(f'{got} bytes, {found} marks, or the sender has failed')
    print(f'{growth(before, "SendZcopy")} bytes sent without a copy')
    if growth(before, 'SendZcopy') < SIZE // 2:
        sys.exit('too few')


main()
