# SPDX-License-Identifier: GPL-2.0
"""cgroup_bpf.py ADDRESS: BPF programs of a cgroup may refuse and redirect connects of SDP sockets,
and refuse the sockets, as they do TCP's. Needs root, and cgroup2 in /sys/fs/cgroup.

Programs that look at addresses aren't run for family 27, whose sockets aren't of a family they
know; the family can be refused."""
import ctypes
import os
import socket
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import errno_of                                        # noqa: E402

CGROUP = '/sys/fs/cgroup'
PROG_LOAD, PROG_ATTACH, PROG_DETACH = 5, 8, 9
CGROUP_SOCK, CGROUP_SOCK_ADDR = 9, 18       # kinds of program
# Attach types: sockets made, bound, released; and addresses
SOCK_CREATE, POST_BIND4, POST_BIND6, SOCK_RELEASE = 2, 12, 13, 34
BIND4, BIND6, CONNECT4, CONNECT6 = 8, 9, 10, 11
GETPEERNAME4, GETPEERNAME6 = 29, 30
SOCK_TYPES = SOCK_CREATE, POST_BIND4, POST_BIND6, SOCK_RELEASE
# Not getsockname()'s, by which a security module of the kernel finds out about some families
ADDR_TYPES = BIND4, BIND6, CONNECT4, CONNECT6, GETPEERNAME4, GETPEERNAME6
# Offsets in struct bpf_sock_addr and bpf_sock
ADDR_PORT, SOCK_FAMILY, SOCK_PROTOCOL = 24, 4, 12
SOL_SDP, SDP_POLICY, POLICY_BOTH = 1025, 84, 2
libc = ctypes.CDLL(None, use_errno=True)
NR_BPF = {'x86_64': 321, 'aarch64': 280}[os.uname().machine]


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack('<BBhi', code, src << 4 | dst, off, imm)


def load(off):
    """r2 = the 32 bits there"""
    return insn(0x61, 2, 1, off)


def store(off):
    return insn(0x63, 1, 2, off)


def unless(value, skip):
    """Skips so many instructions unless r2 is that"""
    return insn(0x55, 2, 0, skip, value)


def let(reg, value):
    return insn(0xb7, reg, 0, 0, value)


def answer(allow):
    return let(0, allow) + insn(0x95)


def bpf(cmd, attr):
    buf = ctypes.create_string_buffer(attr, 128)
    ret = libc.syscall(NR_BPF, cmd, buf, 128)
    if ret < 0:
        raise OSError(ctypes.get_errno(), f'bpf({cmd}): {os.strerror(ctypes.get_errno())}')
    return ret


class Attached:
    """A program at the cgroup of all, as long as the context lasts"""

    def __init__(self, kind, code):
        self.kind, self.cgroup = kind, os.open(CGROUP, os.O_RDONLY)
        code = ctypes.create_string_buffer(code, len(code))
        gpl = ctypes.create_string_buffer(b'GPL')
        self.prog = bpf(PROG_LOAD, struct.pack(
            '<IIQQIIQII16sII', CGROUP_SOCK if kind in SOCK_TYPES else CGROUP_SOCK_ADDR,
            len(code) // 8, ctypes.addressof(code), ctypes.addressof(gpl), 0, 0, 0, 0, 0, b'', 0,
            kind))

    def __enter__(self):
        bpf(PROG_ATTACH, struct.pack('<IIII', self.cgroup, self.prog, self.kind, 0))
        return self

    def __exit__(self, *_):
        bpf(PROG_DETACH, struct.pack('<IIII', self.cgroup, self.prog, self.kind, 0))
        os.close(self.prog)
        os.close(self.cgroup)


def made(family, proto, policy=None):
    """A socket that Python takes for one it knows; @policy: SDP_POLICY"""
    like = {27: socket.AF_INET, 28: socket.AF_INET6}.get(family, family)
    fd = socket.socket(family, socket.SOCK_STREAM, proto).detach()
    s = socket.socket(like, socket.SOCK_STREAM, proto, fileno=fd)
    if policy is not None:
        s.setsockopt(SOL_SDP, SDP_POLICY, policy)
    return s


def connects(addr, family, proto, policy=None):
    """Refused: the socket is as good as before. Redirected: the peer is another, and so named"""
    v6 = family == socket.AF_INET6
    lsts = []
    # What falls back finds nobody but TCP's
    for _ in range(2):
        lst = made(family, 0 if policy else proto)
        lst.bind(('::1' if v6 else addr, 0))
        lst.listen(4)
        lsts.append(lst)
    here, there = (lst.getsockname()[1] for lst in lsts)
    kind = CONNECT6 if v6 else CONNECT4
    to = lsts[0].getsockname()
    s = made(family, proto, policy)
    with Attached(kind, answer(0)):
        refused = errno_of(s.connect, to)
    code = (load(ADDR_PORT) + unless(socket.htons(here), 2) + let(2, socket.htons(there)) +
            store(ADDR_PORT) + answer(1))
    with Attached(kind, code):
        moved = errno_of(s.connect, to)
    if moved != 'ok':
        return f'refused: {refused}, redirected: {moved}'
    peer = s.getpeername()[1]
    peer = 'the other' if peer == there else 'it' if peer == here else peer
    lsts[1].settimeout(20)
    got = errno_of(lsts[1].accept)
    return f'refused: {refused}, redirected to {peer}: {got}'


def refused(field, value, family, proto):
    """Sockets with this value are refused, others aren't"""
    code = load(field) + unless(value, 2) + answer(0) + answer(1)
    with Attached(SOCK_CREATE, code):
        return f'{errno_of(made, family, proto)}, {errno_of(made, socket.AF_INET, 0)}'


def main(addr):
    differences = 0

    def same(what, got, want):
        nonlocal differences
        if got != want:
            print(f'{what}: {got}; TCP: {want}')
            differences += 1

    for family in socket.AF_INET, socket.AF_INET6:
        tcp = connects(addr, family, 0)
        same(f'{family.name}, protocol 257', connects(addr, family, 257), tcp)
        same(f'{family.name}, that falls back', connects(addr, family, 257, POLICY_BOTH), tcp)
        print(f'{family.name}: {tcp}')
    for family, proto in (27, 0), (28, 0), (2, 257), (10, 257):
        field, value = (SOCK_PROTOCOL, proto) if proto else (SOCK_FAMILY, family)
        same(f'sockets of family {family}, protocol {proto} refused',
             refused(field, value, family, proto), 'EPERM, ok')
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
