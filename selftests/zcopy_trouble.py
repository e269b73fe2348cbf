# SPDX-License-Identifier: GPL-2.0
"""zcopy_trouble.py ADDRESS SECONDS: zero-copy streams while their memory and their programs are
being disturbed: signals and timeouts in send() and recv(), fork(), children that write to their
copies of the buffers, and other threads that unmap, move, replace and protect the very buffers.
The first streams must arrive as they are; of the last nothing may arrive that was never in the
program's buffers."""
import ctypes
import errno
import mmap
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import sdp_listen, sdp_pair                            # noqa: E402

SIZE = 300 << 10
PERIOD = 65521
sys.setswitchinterval(0.0005)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.send.restype = libc.recv.restype = ctypes.c_ssize_t
libc.send.argtypes = libc.recv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                           ctypes.c_int]
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int,
                        ctypes.c_void_p]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
ANON, FIXED = 0x22, 0x10
MOVE = 3    # MREMAP_MAYMOVE | MREMAP_FIXED
RW = 3
# What is in the buffers now and then; everybody else's memory is full of CANARY
MINE, CANARY = 0x5a, 0xcc
AGAIN = (errno.EINTR, errno.EAGAIN)


def timeout(s, name, usec):
    s.setsockopt(socket.SOL_SOCKET, name, struct.pack('ll', 0, usec))


def sent_part(s, data):
    """One send(), as much as it takes before it is disturbed"""
    try:
        return s.send(data)
    except OSError as e:
        if e.errno in AGAIN:
            return 0
        raise


# ---- signals, timeouts, fork: every byte arrives once ----

def disturbed_sender(s, stop):
    rng = random.Random(1)
    off = 0
    timeout(s, socket.SO_SNDTIMEO, 20000)
    while time.monotonic() < stop:
        off += sent_part(s, memoryview(TEXT)[off % PERIOD:][:rng.randrange(1, SIZE)])
        if rng.random() < 0.1:
            pid = os.fork()
            if not pid:
                os._exit(0)
            os.waitpid(pid, 0)
    s.shutdown(1)
    s.recv(1)
    return off


def disturbed_receiver(s):
    rng = random.Random(2)
    off = 0
    timeout(s, socket.SO_RCVTIMEO, 10000)
    while True:
        try:
            data = s.recv(rng.randrange(1, SIZE))
        except OSError as e:
            if e.errno in AGAIN:
                continue
            raise
        if not data:
            return off
        if data != TEXT[off % PERIOD:][:len(data)]:
            sys.exit(f'wrong bytes at {off}')
        off += len(data)
        if rng.random() < 0.05:
            time.sleep(0.02)


def disturbed(lst, seconds):
    a, b = sdp_pair(lst)
    pid = os.fork()
    if not pid:
        a.close()
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.siginterrupt(signal.SIGALRM, True)
        signal.setitimer(signal.ITIMER_REAL, 0.017, 0.013)
        print(f'{disturbed_receiver(b)} bytes', flush=True)
        os._exit(0)
    b.close()
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, True)
    signal.setitimer(signal.ITIMER_REAL, 0.011, 0.007)
    sent = disturbed_sender(a, time.monotonic() + seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if os.waitpid(pid, 0)[1]:
        sys.exit('the receiver has failed')
    print(f'{sent} bytes sent', flush=True)
    if sent < SIZE:
        sys.exit('hardly anything was sent')


# ---- children that write to what was the buffers: nobody but they sees that ----

def forked_send(s, place, stop):
    while not stop.is_set():
        s.sendall(place)
    s.shutdown(socket.SHUT_WR)


def forked_recv(s, place, result):
    while True:
        got = s.recv_into(place, SIZE, socket.MSG_WAITALL)
        if got != SIZE or place[:] != TEXT[:SIZE]:
            break
        result.append(got)
    result.append(got)


def forked(lst, seconds):
    a, b = sdp_pair(lst)
    out, into = (mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(2))
    out[:] = TEXT[:SIZE]
    stop, result = threading.Event(), []
    threads = [threading.Thread(target=forked_send, args=(a, out, stop)),
               threading.Thread(target=forked_recv, args=(b, into, result))]
    for t in threads:
        t.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end and threads[1].is_alive():
        pid = os.fork()
        if not pid:
            out[:] = into[:] = bytes([CANARY]) * SIZE
            os._exit(0)
        os.waitpid(pid, 0)
    stop.set()
    for t in threads:
        t.join()
    if result[-1] or len(result) < 2:
        sys.exit(f'{result[-1]} bytes, or the wrong ones')
    print(f'{len(result) - 1} times {SIZE} bytes while children wrote', flush=True)


# ---- buffers that go away ----


def vandal(addr, stop, seed):
    """Does to the buffer what a program may do to it at any time"""
    rng = random.Random(seed)
    aside = libc.mmap(None, SIZE, RW, ANON, -1, 0)
    while not stop.is_set():
        what = rng.randrange(6)
        at, n = addr + rng.randrange(0, SIZE >> 12 << 12, 4096), rng.randrange(1, 20) << 12
        n = min(n, addr + SIZE - at)
        if what == 0:
            libc.madvise(at, n, 4)                      # MADV_DONTNEED
        elif what == 1:
            libc.munmap(at, n)
            time.sleep(0.001)
            libc.mmap(at, n, RW, ANON | FIXED, -1, 0)
        elif what == 2:
            libc.mmap(at, n, RW, ANON | FIXED, -1, 0)
        elif what == 3:
            libc.mprotect(at, n, 0)
            time.sleep(0.001)
            libc.mprotect(at, n, RW)
        elif what == 4:
            libc.mremap(at, n, n, MOVE, aside)
            libc.mmap(at, n, RW, ANON | FIXED, -1, 0)
        else:
            libc.mprotect(at, n, 1)
            libc.mprotect(at, n, RW)
        if rng.random() < 0.3:
            time.sleep(0.002)


def moving(call, fd, seconds, seed, check):
    addr = libc.mmap(None, SIZE, RW, ANON, -1, 0)
    stop, calls = threading.Event(), 0
    thread = threading.Thread(target=vandal, args=(addr, stop, seed))
    thread.start()
    end = time.monotonic() + seconds
    rng = random.Random(seed)
    while time.monotonic() < end:
        n = rng.randrange(1, SIZE)
        got = call(fd, addr, n, 0)
        if got < 0 and ctypes.get_errno() not in (errno.EFAULT, errno.EAGAIN):
            break
        calls += got > 0
        if check and got == 0:
            break
    stop.set()
    thread.join()
    return calls


def canaries():
    """Fills memory that is free again at once: who reads freed pages reads these"""
    m = mmap.mmap(-1, 16 << 20)
    m[:] = bytes([CANARY]) * len(m)
    m.close()


def unmapped_sender(lst, seconds):
    a, b = sdp_pair(lst)
    pid = os.fork()
    if not pid:
        a.close()
        seen = set()
        while True:
            data = b.recv(SIZE)
            if not data:
                break
            seen |= set(data)
        os._exit(0 if seen <= {0, MINE} else 1)
    b.close()
    filler = threading.Thread(target=lambda: [canaries() for _ in range(int(seconds * 10))])
    filler.start()
    timeout(a, socket.SO_SNDTIMEO, 500000)
    calls = moving(libc.send, a.fileno(), seconds, 3, False)
    filler.join()
    a.close()
    if os.waitpid(pid, 0)[1]:
        sys.exit('bytes arrived that were never sent')
    print(f'{calls} sends out of a buffer that comes and goes', flush=True)


def unmapped_receiver(lst, seconds):
    a, b = sdp_pair(lst)
    pid = os.fork()
    if not pid:
        b.close()
        data = bytes([MINE]) * SIZE
        try:
            while True:
                a.send(data)
        except OSError:
            os._exit(0)
    a.close()
    guard = mmap.mmap(-1, 16 << 20)
    guard[:] = bytes([CANARY]) * len(guard)
    timeout(b, socket.SO_RCVTIMEO, 500000)
    calls = moving(libc.recv, b.fileno(), seconds, 4, True)
    b.close()
    os.waitpid(pid, 0)
    if guard[:] != bytes([CANARY]) * len(guard):
        sys.exit('something else was overwritten')
    print(f'{calls} receives into a buffer that comes and goes', flush=True)


TEXT = pattern(PERIOD + SIZE)


def main():
    addr, seconds = sys.argv[1], float(sys.argv[2]) / 4
    lst = sdp_listen((addr, 0))
    disturbed(lst, seconds)
    forked(lst, seconds)
    unmapped_sender(lst, seconds)
    unmapped_receiver(lst, seconds)


main()
