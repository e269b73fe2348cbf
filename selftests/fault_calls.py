# SPDX-License-Identifier: GPL-2.0
"""fault_calls.py ADDRESS MODE...: of the allocations a call makes, and its copies from and to the
program, one after another fails, in each mode of moving data. The call fails or not; what it has
taken arrives, what it hasn't doesn't, and the connection goes on or ends with an error. Needs a
kernel with fault injection, and root."""
import ctypes
import errno
import mmap
import os
import socket
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import recv_exactly, sdp_accept, sdp_listen, sdp_pair, sdp_socket   # noqa: E402

SOL_SDP, SDP_MODE, SDP_ZEROCOPY, MSG_ZEROCOPY = 1025, 82, 83, 0x4000000
SIZE = 300 << 10
MOST = 300      # allocations of a call
LONG = 60

libc = ctypes.CDLL(None, use_errno=True)
libc.send.restype = libc.recv.restype = libc.sendfile.restype = ctypes.c_ssize_t
libc.send.argtypes = libc.recv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t,
                                           ctypes.c_int]
libc.sendfile.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
DATA = pattern(SIZE, 5)


class Faults:
    """Lets the n-th allocation of a call fail"""

    def __init__(self):
        self.fd = os.open('/proc/thread-self/fail-nth', os.O_RDWR)
        self.count = {}

    def call(self, n, name, *args):
        """Result and errno of the call, and whether it made so many allocations"""
        fn = getattr(libc, name)
        os.pwrite(self.fd, b'%d' % n, 0)
        ret = fn(*args)
        err = ctypes.get_errno()
        # These make copies as well: if one of them fails, it wasn't the call
        try:
            left = int(os.pread(self.fd, 16, 0))
            os.pwrite(self.fd, b'0', 0)
        except OSError:
            left = 1
            os.pwrite(self.fd, b'0', 0)
        if not left:
            self.count[name] = self.count.get(name, 0) + 1
        return ret, err if ret < 0 else 0, not left


def child(work, *args):
    """Another process: a thread would keep the interpreter busy with locks, whose faults end it"""
    pid = os.fork()
    if not pid:
        try:
            work(*args)
        finally:
            os._exit(0)
    return pid


class Reader:
    """A child that collects what comes, in memory it shares; its first word is how much, its
    second whether that is all"""

    def __init__(self, s, other):
        self.place, self.taken = mmap.mmap(-1, MOST * SIZE), 0
        self.state = (ctypes.c_uint64 * 2).from_buffer(self.place)
        self.pid = child(self.collect, s, other)
        s.close()

    def collect(self, s, other):
        other.close()
        try:
            while True:
                at = self.got()
                n = s.recv_into(memoryview(self.place)[16 + at:], SIZE)
                if not n:
                    break
                self.state[0] = at + n
        finally:
            self.state[1] = 1

    def got(self):
        return self.state[0]

    def take(self, n):
        """The n bytes that have come, None if the connection is over before"""
        end = time.monotonic() + LONG
        while self.got() < self.taken + n and not self.state[1]:
            if time.monotonic() > end:
                sys.exit(f'{self.got() - self.taken} bytes of {n} have come')
            time.sleep(0.001)
        if self.got() < self.taken + n:
            return None
        self.taken += n
        return self.place[16 + self.taken - n:16 + self.taken]

    def end(self):
        os.waitpid(self.pid, 0)


def pair(lst, mode):
    a, b = sdp_pair(lst)
    for s in a, b:
        s.setsockopt(SOL_SDP, SDP_MODE, mode)
    a.setsockopt(SOL_SDP, SDP_ZEROCOPY, 1)
    return a, b


def alive(a, reader):
    """The connection goes on where it was: nothing but the mark comes"""
    try:
        a.send(b'!')
    except OSError:
        return False
    mark = reader.take(1)
    if mark not in (b'!', None) or reader.got() > reader.taken:
        sys.exit('bytes have come that no call has taken')
    return mark is not None


def senders(faults, lst, mode, name, args):
    """Calls of @name, which send"""
    a = reader = None
    for n in range(1, MOST):
        if a is None:
            a, b = pair(lst, mode)
            reader = Reader(b, a)
        ret, err, hit = faults.call(n, name, a.fileno(), *args())
        if ret > 0 and reader.take(ret) not in (DATA[:ret], None):
            sys.exit(f'{name}, mode {mode}, fault {n}: the wrong bytes')
        if ret == 0 or err not in (0, errno.ENOMEM, errno.ENOBUFS, errno.ECONNRESET, errno.EPIPE,
                                   errno.EFAULT, errno.EAGAIN):
            sys.exit(f'{name}, mode {mode}, fault {n}: {ret}, {errno.errorcode.get(err)}')
        if not alive(a, reader) or not hit:
            a.close()
            reader.end()
            a = None
        if not hit:
            return
    sys.exit(f'{name} allocates without end')


def receivers(faults, lst, mode):
    """recv() of what is being sent"""
    place = mmap.mmap(-1, SIZE)
    addr = ctypes.addressof(ctypes.c_char.from_buffer(place))
    for n in range(1, MOST):
        a, b = pair(lst, mode)
        sender = child(a.sendall, DATA)
        ret, err, hit = faults.call(n, 'recv', b.fileno(), addr, SIZE, 0)
        got = place[:max(ret, 0)]
        if ret == 0 or err not in (0, errno.ENOMEM, errno.ECONNRESET, errno.EFAULT):
            sys.exit(f'recv(), mode {mode}, fault {n}: {ret}, {errno.errorcode.get(err)}')
        try:
            got += recv_exactly(b, SIZE - len(got))
        except OSError:
            pass
        if got != DATA[:len(got)] or (len(got) < SIZE and not err):
            sys.exit(f'recv(), mode {mode}, fault {n}: {len(got)} bytes, or the wrong ones')
        os.waitpid(sender, 0)
        a.close()
        b.close()
        if not hit:
            return
    sys.exit('recv() allocates without end')


def connects(faults, addr):
    """A listener of its own each time, as a connection may or may not be there in the end"""
    for n in range(1, MOST):
        lst = sdp_listen((addr, 0))
        s = sdp_socket()
        port = lst.getsockname()[1]
        where = (ctypes.c_uint8 * 16).from_buffer_copy(
            socket.AF_INET.to_bytes(2, sys.byteorder) + port.to_bytes(2, 'big') +
            socket.inet_aton(addr) + bytes(8))
        s.setblocking(True)
        ret, _, hit = faults.call(n, 'connect', s.fileno(), where, 16)
        if ret == 0:
            b = sdp_accept(lst)
            s.send(b'x')
            if b.recv(1) != b'x':
                sys.exit('connected, and not')
            b.close()
        s.close()
        lst.close()
        if not hit:
            return
    sys.exit('connect() allocates without end')


def main():
    addr = sys.argv[1]
    lst, faults = sdp_listen((addr, 0)), Faults()
    place = mmap.mmap(-1, SIZE)
    place[:] = DATA
    at = ctypes.addressof(ctypes.c_char.from_buffer(place))
    with tempfile.TemporaryFile() as f:
        f.write(DATA)
        f.flush()
        for mode in map(int, sys.argv[2:]):
            senders(faults, lst, mode, 'send', lambda: (at, SIZE, 0))
            senders(faults, lst, mode, 'send', lambda: (at, SIZE, MSG_ZEROCOPY))
            senders(faults, lst, mode, 'sendfile',
                    lambda: (f.fileno(), ctypes.byref(ctypes.c_long(0)), SIZE))
            receivers(faults, lst, mode)
        connects(faults, addr)
    print(faults.count)
    if min(faults.count.get(k, 0) for k in ('send', 'sendfile', 'recv', 'connect')) == 0:
        sys.exit('a call never failed to allocate')


main()
