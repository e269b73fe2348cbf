# SPDX-License-Identifier: GPL-2.0
"""az_program.py ADDRESS KIND: how AZ-SDP treats a program that uses its buffer in one way or
another, by sdp.ko's counters."""
import ctypes
import errno
import mmap
import os
import select
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import (SO_SNDBUFFORCE, errno_of, growth, private_memory,   # noqa: E402
                     sdp_accept, sdp_listen, sdp_socket, stats)

SIZE = 256 << 10
PAGES = SIZE // mmap.PAGESIZE
WAITALL = 0x100


def connected(addr, read):
    """A socket connected to a child that does read(socket)"""
    lst = sdp_listen((addr, 0))
    pid = os.fork()
    if not pid:
        s = sdp_accept(lst)
        s.setblocking(True)
        read(s)
        os._exit(0)
    s = sdp_socket(addr)
    s.connect(lst.getsockname())
    s.setblocking(True)
    return s, pid


def finish(s, pid):
    s.close()
    if os.waitpid(pid, 0)[1]:
        sys.exit('the receiver has failed')


def want(what, got, low, high):
    print(f'{what}: {got}')
    if not low <= got <= high:
        sys.exit(f'{what}: {got} is not from {low} to {high}')


def checking_reader(times, seed):
    def read(s):
        place = mmap.mmap(-1, SIZE)
        for i in range(times):
            got = s.recv_into(place, SIZE, WAITALL)
            if got != SIZE or place[:] != pattern(SIZE, seed(i)):
                sys.exit(f'round {i}: {got} bytes, or the wrong ones')
            s.send(b'!')
    return read


def resend(addr):
    """What isn't written to stays protected: no entry is changed, no TLB flushed"""
    times = 60
    s, pid = connected(addr, checking_reader(times, lambda i: 5))
    place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place[:] = pattern(SIZE, 5)
    for i in range(times):
        if i == times // 2:
            before = stats()
        s.send(place)
        s.recv(1)
        time.sleep(0.005)       # let the worker do what it would
    n = times - times // 2
    want('pages found protected', growth(before, 'AzShared'), n * PAGES, n * PAGES)
    want('flushes', growth(before, 'AzFlushes'), 0, 0)
    finish(s, pid)


def refill(addr):
    """What is written to after the peer has it is made writable before that: no page is copied"""
    times = 60
    s, pid = connected(addr, checking_reader(times, lambda i: i & 255))
    place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    before = stats()
    for i in range(times):
        place[:] = pattern(SIZE, i & 255)
        s.send(place)
        s.recv(1)
        time.sleep(0.01)
    n = times * PAGES
    want('pages written in flight', growth(before, 'AzWritten'), 0, n // 10)
    want('pages made writable again', growth(before, 'AzRestored'), n * 2 // 3, n)
    finish(s, pid)


def late_reader(go, times):
    """Reads nothing, nor ahead, before there is something in the pipe"""
    def read(s):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.send(b'!')
        os.read(go[0], 1)
        checking_reader(times, lambda i: 5)(s)
    return read


def shared(addr):
    """What two connections send at a time is protected once"""
    go = os.pipe()
    pairs = [connected(addr, late_reader(go, 1)) for _ in range(2)]
    place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place[:] = pattern(SIZE, 5)
    for s, _ in pairs:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * SIZE)
        s.recv(1)
    before = stats()
    for s, _ in pairs:
        s.send(place)
    want('pages found protected', growth(before, 'AzShared'), PAGES, PAGES)
    want('entries changed', growth(before, 'AzProtected'), PAGES, PAGES)
    os.write(go[1], b'!!')
    for s, pid in pairs:
        s.recv(1)
        finish(s, pid)


def impatient(addr):
    """Who always writes in flight soon sends another way, and comes back when it has stopped"""
    place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    times = 100
    s, pid = connected(addr, checking_reader(2 * times, lambda i: i & 255))

    def go(i, wait):
        place[:] = pattern(SIZE, i & 255)
        s.send(place)
        if not wait:
            place[:] = bytes(SIZE)
        s.recv(1)
        if wait:
            time.sleep(0.005)

    before = stats()
    for i in range(times):
        go(i, False)
    want('sends that went another way', growth(before, 'AzSkipped'), times // 2, times)
    for i in range(times):
        if i == times - 20:
            before = stats()
        go(i + times, True)
    want('... of the last 20', growth(before, 'AzSkipped'), 0, 10)
    finish(s, pid)


def nonblocking(addr):
    """A socket that may not wait takes what its send buffer holds, and copies nothing"""
    count = 40

    def read(s):
        time.sleep(0.5)
        place = mmap.mmap(-1, SIZE)
        for i in range(count):
            got = s.recv_into(place, SIZE, WAITALL)
            if got != SIZE or place[:] != pattern(SIZE, 7):
                sys.exit(f'round {i}: {got} bytes, or the wrong ones')

    s, pid = connected(addr, read)
    s.setblocking(False)
    place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place[:] = pattern(SIZE, 7)
    before = stats()
    refused, off, n = 0, 0, 0
    poll = select.poll()
    poll.register(s, select.POLLOUT)
    while n < count:
        try:
            off += s.send(memoryview(place)[off:])
        except OSError as e:
            if e.errno != errno.EAGAIN:
                raise
            refused += 1
            poll.poll()
        if off == SIZE:
            off, n = 0, n + 1
    want('times it would have had to wait', refused, 1, 1 << 20)
    want('bytes sent from pages protected', growth(before, 'AzBytes'), SIZE * count * 9 // 10,
         SIZE * count)
    finish(s, pid)


def huge(addr):
    """Huge pages that lie wholly in a buffer are one entry each"""
    times, step = 4, 2 << 20
    view = private_memory(times * step, step, mmap.MADV_HUGEPAGE)

    def read(s):
        place = mmap.mmap(-1, times * step)
        got = s.recv_into(place, times * step, WAITALL)
        if got != times * step or place[:] != pattern(times * step, 5):
            sys.exit(f'{got} bytes, or the wrong ones')

    s, pid = connected(addr, read)
    view[:] = pattern(times * step, 5)      # now, or fork() would have protected it
    before = stats()
    s.sendall(view)
    finish(s, pid)
    want('huge pages', growth(before, 'AzHuge'), times, times)
    want('entries changed', growth(before, 'AzProtected'), times, times)


def keys(addr):
    """What a protection key keeps the thread from reading isn't sent"""
    libc = ctypes.CDLL(None, use_errno=True)
    key = libc.pkey_alloc(0, 1)         # PKEY_DISABLE_ACCESS
    if key < 0:
        sys.exit('pkey_alloc() fails')
    s, pid = connected(addr, lambda s: sys.exit(len(s.recv(1))))
    region = mmap.mmap(s.fileno(), SIZE)
    region[:] = pattern(SIZE, 5)
    for view in private_memory(SIZE, mmap.PAGESIZE), memoryview(region):
        view[:] = pattern(SIZE, 5)
        at = ctypes.addressof(ctypes.c_char.from_buffer(view))
        if libc.pkey_mprotect(ctypes.c_void_p(at), SIZE, 3, key):
            sys.exit('pkey_mprotect() fails')
        if errno_of(s.send, view) != 'EFAULT':
            sys.exit('it is sent')
    s.shutdown(socket.SHUT_WR)          # mmap() has a descriptor of its own
    finish(s, pid)


def beyond(addr):
    """Beyond RLIMIT_MEMLOCK it goes another way"""
    times = 4
    s, pid = connected(addr, checking_reader(times, lambda i: 5))
    before = stats()
    for _ in range(times):
        s.send(pattern(SIZE, 5))
        s.recv(1)
    want('sends from pages protected', growth(before, 'AzSends'), 0, 0)
    want('refused for the limit', growth(before, 'AzNoMem'), times, times)
    finish(s, pid)


def half(addr):
    """Of eight memory regions the device has (mr_max) it takes four where that isn't forced"""
    go = os.pipe()
    pairs = [connected(addr, late_reader(go, 2)) for _ in range(3)]
    place = private_memory(SIZE, SIZE)
    place[:] = pattern(SIZE, 5)
    before = stats()
    for s, _ in pairs:
        s.recv(1)
        s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 * SIZE)
        s.setblocking(False)
        for _ in range(2):
            if s.send(place) != SIZE:
                sys.exit('send() took less than all')
    want('sends from pages protected', growth(before, 'AzSends'), 4, 4)
    os.write(go[1], b'!!!')
    for s, pid in pairs:
        s.setblocking(True)
        for _ in range(2):
            s.recv(1)
        finish(s, pid)


def main():
    kinds = {f.__name__: f for f in (resend, refill, shared, impatient, nonblocking, huge, keys,
                                     beyond, half)}
    kinds[sys.argv[2]](sys.argv[1])


main()
