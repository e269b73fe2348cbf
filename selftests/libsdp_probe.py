# SPDX-License-Identifier: GPL-2.0
"""libsdp_probe.py WHAT [ADDRESS [PORT]]: an unmodified program to be run with libsdp.so. What sockets
it gets in all the ways it may ask for one, what its connections are, and that they work. Prints a
line for each finding; the suite knows what it should be."""
import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import threading

NAMES = {6: 'tcp', 257: 'sdp', 17: 'udp', 0: 'none'}
INET, INET6, STREAM = socket.AF_INET, socket.AF_INET6, socket.SOCK_STREAM


def kind(s):
    """sdp or tcp, as the kernel sees it"""
    n = s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL)
    return NAMES.get(n, n)


def sockets():
    """Every way to ask for a socket"""
    for name, args in (('inet', (INET, STREAM)), ('inet6', (INET6, STREAM)),
                       ('inet,tcp', (INET, STREAM, socket.IPPROTO_TCP)),
                       ('inet6,tcp', (INET6, STREAM, socket.IPPROTO_TCP)),
                       ('dgram', (INET, socket.SOCK_DGRAM)),
                       ('unix', (socket.AF_UNIX, STREAM))):
        s = socket.socket(*args)
        print(name, kind(s), s.family == args[0], s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
        s.close()
    s = socket.socket(INET, STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    print('nonblock,cloexec', kind(s), not os.get_blocking(s.fileno()),
          not os.get_inheritable(s.fileno()))
    for args in ((INET, STREAM, 262), (INET, STREAM, 17), (INET, 77), (999, STREAM)):
        try:
            print(args[1:], kind(socket.socket(*args)))
        except OSError as e:
            print(args[1:], errno.errorcode[e.errno])


def exchange(a, b):
    """Bytes go both ways"""
    for x, y in ((a, b), (b, a)):
        x.sendall(b'x' * 10000)
        left = 10000
        while left:
            left -= len(y.recv(left))


def pair(addr, port=0, close=True):
    """A connection of this program with itself: listener, client, server"""
    family = INET6 if ':' in addr else INET
    lst = socket.create_server((addr, port), family=family)
    c = socket.create_connection(lst.getsockname()[:2], 20)
    s, _ = lst.accept()
    exchange(c, s)
    kinds = kind(lst), kind(c), kind(s)
    if close:
        for x in (c, s, lst):
            x.close()
        return kinds
    return lst, c, s


def connection(addr, port='0'):
    print(*pair(addr, int(port)))


def inherit(addr):
    """Descriptors in a forked child, and in another program that makes nothing but of them"""
    lst, c, s = pair(addr, close=False)
    pid = os.fork()
    if not pid:
        c.sendall(b'y' * 100)
        mine = socket.socket(INET, STREAM)
        os._exit(0 if kind(c) == kind(mine) == 'sdp' else 1)
    got = s.recv(100)
    print('fork', os.waitpid(pid, 0)[1], set(got) == set(b'y'))
    again = ('import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); s.listen(5);'
             'd = socket.socket(fileno=int(sys.argv[2])); d.sendall(b"z");'
             'print(s.getsockopt(1, 38), d.getsockopt(1, 38), socket.socket().getsockopt(1, 38))')
    out = subprocess.run([sys.executable, '-c', again, str(lst.fileno()), str(c.fileno())],
                         pass_fds=(lst.fileno(), c.fileno()), stdout=subprocess.PIPE, check=True)
    print('exec', out.stdout.decode().strip(), s.recv(1))
    left, right = socket.socketpair()
    socket.send_fds(left, [b'1'], [c.fileno()])
    _, fds, _, _ = socket.recv_fds(right, 1, 1)
    dup = socket.socket(fileno=fds[0])
    dup.sendall(b'w')
    print('passed', kind(dup), s.recv(1))


def spawned(addr):
    """A program started by vfork(), as posix_spawn() does"""
    argv = [sys.executable, '-B', __file__, 'connection', addr]
    pid = os.posix_spawn(sys.executable, argv, os.environ)
    print('status', os.waitpid(pid, 0)[1])


def plugin(path):
    """Code that comes by dlopen()"""
    with socket.socket(fileno=ctypes.CDLL(path).plugin_socket()) as s:
        print(kind(s))


def threads(addr):
    """Many threads at a time, some interrupted by signals"""
    signal.signal(signal.SIGALRM, lambda *a: socket.socket(INET, STREAM).close())
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    kinds, lock = [], threading.Lock()

    def work():
        for _ in range(5):
            k = pair(addr)
            with lock:
                kinds.append(k)

    ts = [threading.Thread(target=work) for _ in range(8)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(len(kinds), *sorted(set(kinds)))


def refused(addr):
    """connect() to where nobody listens"""
    s = socket.socket(INET6 if ':' in addr else INET, STREAM)
    try:
        s.connect((addr, 1))
    except OSError as e:
        print(kind(s), errno.errorcode[e.errno])


def stderr_is_a_socket(addr):
    """Messages don't go into a connection that has become descriptor 2"""
    lst, c, s = pair(addr, close=False)
    os.dup2(c.fileno(), 2)
    c.close()
    try:
        pair(addr)
    finally:
        os.close(2)
    s.settimeout(20)
    print(s.recv(100))
    lst.close()


globals()[sys.argv[1]](*sys.argv[2:])
