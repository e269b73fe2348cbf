# SPDX-License-Identifier: GPL-2.0
"""zcopy_sendfile.py ADDRESS: sendfile() and splice() send the pages themselves: nothing is copied,
every byte arrives, and what happens to the file meanwhile is nobody's harm."""
import mmap
import os
import select
import socket
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import growth, sdp_listen, sdp_pair, stats   # noqa: E402

SIZE = 3 << 20
TINY = 112      # what is always copied


def file_of(data):
    f = tempfile.TemporaryFile()
    f.write(data)
    f.flush()
    return f


def receiver(a, b, want):
    """A child that reads to the end and finds what is wanted"""
    pid = os.fork()
    if not pid:
        a.close()
        buf = bytearray(len(want) + 1)
        got = b.recv_into(buf, len(buf), socket.MSG_WAITALL)
        if got != len(want) or buf[:got] != want:
            print(f'{got} bytes, or the wrong ones', flush=True)
            os._exit(1)
        os._exit(0)
    b.close()
    return pid


def ended(pid):
    if os.waitpid(pid, 0)[1]:
        sys.exit('the receiver has failed')


def send_all(s, f, off, n, piece):
    """sendfile() by pieces, @s blocking or not"""
    poll = select.poll()
    poll.register(s, select.POLLOUT)
    end = off + n
    while off < end:
        try:
            off += os.sendfile(s.fileno(), f.fileno(), off, min(piece, end - off))
        except BlockingIOError:
            if not poll.poll(20000):
                sys.exit('no room for 20 s')


def stretch(lst, f, off, n, piece=1 << 30, blocking=True, sndbuf=0):
    """A stretch of the file arrives, of which nothing but a small rest is copied"""
    a, b = sdp_pair(lst)
    pid = receiver(a, b, pattern(SIZE, 8)[off:off + n])
    before, began = stats(), time.monotonic()
    a.setblocking(blocking)
    if sndbuf:
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
    send_all(a, f, off, n, piece)
    a.close()
    ended(pid)
    copied, spliced = growth(before, 'SendCopied'), growth(before, 'SpliceBytes')
    calls = (n + piece - 1) // piece
    print(f'{n} bytes from {off}: {copied} copied, {growth(before, "SrcAvailSent")} adverts, '
          f'{growth(before, "SendData")} messages, {time.monotonic() - began:.2f} s')
    # an advert brings its first byte with it to a peer that takes one at a time
    if copied > TINY * calls or copied + spliced != n:
        sys.exit(f'{copied} bytes were copied, {spliced} not')


def pieces_of_a_pipe(lst):
    """What lies in a pipe in odd pieces arrives, of which nothing but small ones are copied"""
    sizes = (1, 100, 113, 4095, 4096, 4097, 30000) * 8
    data = [pattern(n, i & 255) for i, n in enumerate(sizes)]
    a, b = sdp_pair(lst)
    pid = receiver(a, b, b''.join(data))
    r, w = os.pipe()
    before = stats()
    for d in data:
        os.write(w, d)
        left = len(d)
        while left:
            left -= os.splice(r, a.fileno(), left, flags=os.SPLICE_F_MORE)
    a.close()
    ended(pid)
    # each of them may begin and end in the middle of a page
    if growth(before, 'SpliceBytes') < sum(sizes) // 2:
        sys.exit('they were copied')


def changed(lst, how):
    """The file changes once it is sent and not read yet: the stream has as many bytes, old or new"""
    n = 192 << 10
    f = file_of(b'A' * n)
    a, b = sdp_pair(lst)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    a.setblocking(False)
    if os.sendfile(a.fileno(), f.fileno(), 0, n) != n:
        sys.exit('sendfile() took less than all')
    if how == 'written':
        os.pwrite(f.fileno(), b'B' * n, 0)
    else:
        f.truncate(0 if how == 'truncated' else 100)
    f.close()
    canary = mmap.mmap(-1, 64 << 20)
    canary[:] = b'C' * len(canary)
    a.shutdown(socket.SHUT_WR)
    buf = bytearray(n + 1)
    got = b.recv_into(buf, n + 1, socket.MSG_WAITALL)
    if got != n or set(buf[:n]) - set(b'AB\0'):
        sys.exit(f'{how}: {got} bytes, or other ones than the file ever had')


def main():
    lst = sdp_listen((sys.argv[1], 0))
    f = file_of(pattern(SIZE, 8))
    stretch(lst, f, 0, SIZE)
    stretch(lst, f, 100, SIZE - 1000)
    stretch(lst, f, 4096, SIZE - 8192, blocking=False)
    stretch(lst, f, 0, 400000, piece=5000)
    stretch(lst, f, 0, 200000, sndbuf=1)
    stretch(lst, f, 8192, 16384)
    pieces_of_a_pipe(lst)
    for how in ('written', 'truncated', 'cut'):
        changed(lst, how)


main()
