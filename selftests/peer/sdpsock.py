# SPDX-License-Identifier: GPL-2.0
"""SDP sockets, which Python knows nothing of, and sdp.ko's counters."""
import ctypes
import errno
import glob
import mmap
import os
import re
import socket
import struct
import sys
import time
from pathlib import Path

AF_INET_SDP, AF_INET6_SDP = 27, 28
SOL_SDP, SDP_INFO = 1025, 85
FATAL = (errno.ECONNABORTED, errno.EPROTO, errno.ECONNRESET)
SLOW = int(os.environ.get('LAB_SLOW', '1'))     # as in lib.sh
SO_SNDBUFFORCE, SO_MEMINFO = 32, 55


def soon(func, wanted, seconds=20, pause=0.02):
    """What func() returns: as soon as that is what is wanted, or when the time is over"""
    end = time.monotonic() + seconds * SLOW
    while (got := func()) != wanted and time.monotonic() < end:
        time.sleep(pause)
    return got


def errno_of(func, *args):
    """The errno's name a call fails with, or ok"""
    try:
        func(*args)
        return 'ok'
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))


class MemInfo:
    """What SO_MEMINFO tells of a socket: its send buffer, and the bytes in it"""

    def __init__(self, s):
        info = struct.unpack('=9I', s.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))
        self.sndbuf, self.queued = info[3], info[5]


def sysctl_file(name, mode='r'):
    return open('/proc/sys/' + name.replace('.', '/'), mode, encoding='ascii')


def sysctl(name, value):
    with sysctl_file(name, 'w') as f:
        f.write(str(value))


class Sysctl:
    """A kernel variable has a value as long as the with statement takes"""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def set(self, value):
        sysctl(self.name, value)

    def __enter__(self):
        with sysctl_file(self.name) as f:
            self.old = f.read().strip()
        self.set(self.value)

    def __exit__(self, *_):
        self.set(self.old)


def sdp_socket(addr='', timeout=20):
    """An SDP socket that takes and gives addresses of @addr's family, without SDP in it"""
    v6 = ':' in addr
    fd = socket.socket(AF_INET6_SDP if v6 else AF_INET_SDP, socket.SOCK_STREAM, 0).detach()
    s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    s.settimeout(timeout)
    return s


def sdp_listen(addr, backlog=16):
    s = sdp_socket(addr[0])
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(addr)
    s.listen(backlog)
    return s


def sdp_accept(listener, timeout=20):
    listener.settimeout(timeout)
    s, _ = listener.accept()
    s.settimeout(timeout)
    return s


def sdp_pair(lst, timeout=None):
    """A connection to a listener, both ends: who connected, and whom it accepted"""
    a = sdp_socket()
    a.connect(lst.getsockname())
    b = sdp_accept(lst)
    a.settimeout(timeout)
    b.settimeout(timeout)
    return a, b


def recv_exactly(s, n):
    parts = []
    while n:
        part = s.recv(min(n, 1 << 16))
        if not part:
            break
        parts.append(part)
        n -= len(part)
    return b''.join(parts)


def wait_asleep(pid):
    """Until the process waits for a socket, for good"""
    def wchan():
        with open(f'/proc/{pid}/wchan', encoding='ascii') as f:
            return f.read()

    if soon(wchan, 'wait_woken', pause=0.001) != 'wait_woken':
        sys.exit('the other process does not wait for a socket')


def private_memory(size, align, advice=None):
    """Private memory of @size bytes, from a multiple of @align on"""
    m = mmap.mmap(-1, size + align, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if advice is not None:
        m.madvise(advice)
    skip = -ctypes.addressof(ctypes.c_char.from_buffer(m)) % align
    return memoryview(m)[skip:skip + size]


def fate(s, timeout=10):
    """What a reader finds at the end of the stream: 'eof', an errno's name, or 'alive'"""
    s.settimeout(timeout)
    try:
        while s.recv(1 << 16):
            pass
        return 'eof'
    except OSError as e:
        # The timeout of settimeout() has no errno; ETIMEDOUT has
        return errno.errorcode.get(e.errno, 'alive')


def rnr():
    """How often a Send has met no buffer, on any device"""
    total = 0
    for name in glob.glob('/sys/class/infiniband/*/ports/*/hw_counters/*rnr*'):
        with open(name, encoding='ascii') as f:
            total += int(f.read())
    return total


def info_layout():
    """Names and format of struct sdp_info, from its header"""
    header = Path(__file__).parents[2] / 'include/uapi/linux/sdp.h'
    text = header.read_text(encoding='ascii')
    body = re.search(r'^struct sdp_info \{\n(.*?)^\};', text, re.S | re.M)[1]
    fields = re.findall(r'__u(8|16|32|64)\s+sdpi_(\w+);', body)
    codes = {'8': 'B', '16': 'H', '32': 'I', '64': 'Q'}
    return [name for _, name in fields], '@' + ''.join(codes[size] for size, _ in fields)


def info(s):
    """SDP_INFO as a dictionary, names without their prefix"""
    names, layout = info_layout()
    raw = s.getsockopt(SOL_SDP, SDP_INFO, 1024)
    return dict(zip(names, struct.unpack(layout, raw)))


def stats():
    counts = {}
    with open('/proc/net/sdpstats', encoding='ascii') as f:
        for line in f:
            words = line.replace(':', ' ').split()
            if len(words) == 2 and words[1].isdigit():
                counts[words[0]] = int(words[1])
    return counts


def growth(before, *prefixes):
    """By how much the counters of these prefixes have grown"""
    now = stats()
    return sum(v - before.get(k, 0) for k, v in now.items() if k.startswith(prefixes))
