#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""diag_raw.py CASE ADDRESS: sock_diag asked by hand, where sdpstat is too polite"""
import errno
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'peer'))
from sdpsock import AF_INET6_SDP, AF_INET_SDP, sdp_accept, sdp_listen, sdp_socket  # noqa: E402

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY, SOCK_DESTROY = 20, 21
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
SO_COOKIE = 57
ALL = 0xffe


def check(got, wanted, what=''):
    assert got == wanted, f'{what}: {got!r} is not {wanted!r}'


def cookie(s):
    return struct.unpack('Q', s.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))[0]


class Diag:
    """A netlink socket whose replies come in pieces as small as the kernel makes them"""
    def __init__(self):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
        self.s.settimeout(20)
        self.left = []

    def ask(self, kind, flags, family=AF_INET_SDP, which=0, states=ALL, ext=0xff, sport=0, dport=0,
            protocol=0, cut=None):
        req = struct.pack('=BBBBI', family, protocol, ext, 0, states)
        req += struct.pack('!HH', sport, dport) + bytes(32) + struct.pack('=IQ', 0, which)
        self.raw(kind, flags, req[:cut])

    def raw(self, kind, flags, req):
        self.s.send(struct.pack('=IHHII', 16 + len(req), kind, NLM_F_REQUEST | flags, 1, 0) + req)

    def message(self):
        if not self.left:
            data = self.s.recv(1 << 16)
            while data:
                n, kind = struct.unpack('=IH', data[:6])
                self.left.append((kind, data[16:n]))
                data = data[(n + 3) & ~3:]
        return self.left.pop(0)

    def errno(self):
        kind, body = self.message()
        check(kind, NLMSG_ERROR, 'kind of reply')
        return -struct.unpack('=i', body[:4])[0]

    def cookies(self):
        """The cookies of a dump"""
        while True:
            kind, body = self.message()
            if kind == NLMSG_DONE:
                return
            check(kind, SOCK_DIAG_BY_FAMILY, 'kind of reply')
            yield struct.unpack('=Q', body[44:52])[0]


def refused(what, number, *args, **kw):
    d = Diag()
    d.ask(*args, **kw)
    got = d.errno()
    check(errno.errorcode.get(got, got), errno.errorcode[number], what)


def malformed(addr):
    s = sdp_listen((addr, 0))
    for n in (4, 8, 55):
        refused(f'{n} bytes, dump', errno.EINVAL, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, cut=n)
        refused(f'{n} bytes, get', errno.EINVAL, SOCK_DIAG_BY_FAMILY, 0, cut=n)
        refused(f'{n} bytes, destroy', errno.EINVAL, SOCK_DESTROY, 0, cut=n)
    refused('a protocol', errno.EINVAL, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, protocol=6)
    for kind in SOCK_DIAG_BY_FAMILY, SOCK_DESTROY:
        refused('no cookie', errno.EINVAL, kind, 0)
        refused('INET_DIAG_NOCOOKIE', errno.EINVAL, kind, 0, which=(1 << 64) - 1)
        refused('nobody', errno.ENOENT, kind, 0, which=1 << 60)
        refused('the other family', errno.ENOENT, kind, 0, which=cookie(s), family=AF_INET6_SDP)
        tcp = socket.socket()
        refused("a TCP socket's", errno.ENOENT, kind, 0, which=cookie(tcp))
    sdp_socket(addr).connect(s.getsockname())


def get_one(addr):
    for family, protocol in ((AF_INET_SDP, 0), (socket.AF_INET, 257)):
        s = socket.socket(family, socket.SOCK_STREAM, protocol)
        d = Diag()
        d.ask(SOCK_DIAG_BY_FAMILY, 0, which=cookie(s), states=0)
        kind, body = d.message()
        check(kind, SOCK_DIAG_BY_FAMILY, 'kind')
        check(body[0], family, 'family')
        check(body[1], 7, 'state')
        check(struct.unpack('=Q', body[44:52])[0], cookie(s), 'cookie')
        check(struct.unpack('=II', body[64:72]), (os.getuid(), os.fstat(s.fileno()).st_ino),
              'uid, inode')


def dump_rests(addr):
    """Sockets go and come while a dump isn't read on; those that stay are told of once"""
    socks = [sdp_socket(addr) for _ in range(600)]
    d = Diag()
    d.ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP)
    told = d.cookies()
    seen = [next(told) for _ in range(10)]
    for s in socks[::2]:
        s.close()
    stay = [cookie(s) for s in socks[1::2]]
    new = [sdp_socket(addr) for _ in range(300)]
    seen += list(told)
    check(len(seen), len(set(seen)), 'told of twice')
    check(set(stay) - set(seen), set(), 'not told of')
    check(set(seen) <= {cookie(s) for s in new} | set(stay) | set(seen[:400]), True, 'strangers')


def dump_unread(addr):
    """A dump nobody reads on keeps no socket: its port is free"""
    socks = [sdp_socket(addr) for _ in range(300)]
    ports = []
    for s in socks:
        s.bind((addr, 0))
        ports.append(s.getsockname()[1])
    d = Diag()
    d.ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP)
    d.message()
    for s in socks:
        s.close()
    for port in ports:
        sdp_socket(addr).bind((addr, port))


def unprivileged(addr):
    """Anybody may look, nobody but an administrator may destroy or see marks"""
    lst = sdp_listen((addr, 0))
    c = sdp_socket(addr)
    c.connect(lst.getsockname())
    s = sdp_accept(lst)
    os.setuid(65534)
    refused('destroy', errno.EPERM, SOCK_DESTROY, NLM_F_ACK, which=cookie(c))
    d = Diag()
    d.ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP)
    check({cookie(c), cookie(s)} <= set(d.cookies()), True, 'sockets seen')
    c.sendall(b'x')
    check(s.recv(1), b'x', 'data')


def two_at_once(addr):
    socks = [sdp_socket(addr) for _ in range(200)]
    all_of = {cookie(s) for s in socks}
    dumps = [Diag() for _ in range(8)]
    for d in dumps:
        d.ask(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP)
    told = [d.cookies() for d in dumps]
    seen = [[] for _ in dumps]
    for _ in socks:
        for t, to in zip(told, seen):
            to += [c for c in [next(t, None)] if c]
    for t, to in zip(told, seen):
        to += list(t)
        check(sorted(to), sorted(set(to)), 'twice')
        check(all_of <= set(to), True, 'all')


globals()[sys.argv[1]](sys.argv[2])
