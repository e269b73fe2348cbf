# SPDX-License-Identifier: GPL-2.0
"""races.py ADDRESS CASE: with some of the kernel's functions made slow by sdp_delay.ko, what
happens at the same time. Nothing hangs; that nothing is freed too early is the kernel's to say."""
import errno
import mmap
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import Peer                                               # noqa: E402
from sdpsock import (SLOW, MemInfo, Sysctl, growth, sdp_listen, sdp_pair, sdp_socket,  # noqa: E402
                     soon, stats)

SOL_SDP, SDP_MODE, SDP_BCOPY, SDP_ZCOPY = 1025, 82, 1, 2
SDP_POLICY, SDP_POLICY_SDP, SDP_POLICY_BOTH = 84, 0, 2
IP_MSFILTER = 41
SIZE = 300 << 10


def background(func, *args):
    t = threading.Thread(target=func, args=args, daemon=True)
    t.start()
    return t


def finish(threads, what):
    for t in threads:
        t.join(20 * SLOW)
        if t.is_alive():
            print(f'{what} never returns', flush=True)
            os._exit(1)


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()


# ---- timeouts: senders whose time is over take back what the connection's end is giving back ----

def time_out(s, place, counts):
    try:
        while True:
            try:
                s.send(place)
            except BlockingIOError:
                counts[0] += 1
    except OSError:
        pass


def timeouts_round(lst, rng, counts):
    a, b = sdp_pair(lst)
    a.setsockopt(SOL_SDP, SDP_MODE, SDP_ZCOPY)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 0, 4000))
    place = mmap.mmap(-1, SIZE)
    place[:] = b'z' * SIZE
    threads = [background(time_out, a, place, counts) for _ in range(8)]
    time.sleep(0.001 + 0.014 * rng.random())
    reset(b)
    finish(threads, 'a send()')
    a.close()


def timeouts(lst):
    rng, counts = random.Random(7), [0]
    with Sysctl('net.sdp.read_ahead', 0):       # what is advertised and not received is refused
        for _ in range(30):
            timeouts_round(lst, rng, counts)
    print(f'{counts[0]} timeouts')
    if not counts[0]:
        sys.exit('none of them timed out')


# ---- growing: a source that grows while its connection ends ----

def send_file(s, f):
    try:
        while True:
            os.sendfile(s.fileno(), f.fileno(), 0, mmap.PAGESIZE)
    except OSError:
        pass


def growing(lst):
    rng = random.Random(8)
    with tempfile.TemporaryFile() as f:
        f.write(b'g' * mmap.PAGESIZE)
        f.flush()
        for _ in range(10):
            a, b = sdp_pair(lst)
            b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 10)
            a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
            t = background(send_file, a, f)
            time.sleep(0.3 + 0.3 * rng.random())
            reset(b)
            finish([t], 'sendfile()')
            a.close()


# ---- old: memory regions are given back as their last user goes ----

def regions():
    out = subprocess.run(['rdma', 'resource', 'show', 'mr', 'dev', 'rxe0'], check=True,
                         capture_output=True, text=True).stdout
    return out.count('[sdp]') or out.count('mrn')


def old(lst):
    a, b = sdp_pair(lst)
    b.setblocking(True)
    a.setsockopt(SOL_SDP, SDP_MODE, SDP_ZCOPY)
    place = mmap.mmap(-1, SIZE)
    threads = [background(a.send, place) for _ in range(6)]
    left = 6 * SIZE
    while left:
        left -= len(b.recv(left))
    finish(threads, 'a send()')
    had = regions()
    if not soon(lambda: regions() < had, True, 40, 0.1):
        sys.exit(f'{had} regions stay')
    a.close()
    b.close()
    print(f'{had} regions, {regions()} left when the sockets were closed')


# ---- room: another sender takes the room one has been woken for ----

def room(lst):
    a, b = sdp_pair(lst)
    a.setsockopt(SOL_SDP, SDP_MODE, SDP_BCOPY)
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 10)
    before, sent = stats(), [0]

    def fill():
        a.setblocking(True)
        sent[0] += a.send(bytes(1 << 20))

    t = background(fill)
    while not growth(before, 'MemWait') or MemInfo(a).queued < MemInfo(a).sndbuf:
        time.sleep(0.01)
    time.sleep(1)
    b.setblocking(True)
    got, mine = 0, 0
    while MemInfo(a).queued > MemInfo(a).sndbuf // 2:
        got += len(b.recv(4 << 10))
    # The other one has been woken, and is slow to look
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        try:
            mine += a.send(bytes(mmap.PAGESIZE), socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
    time.sleep(0.5)     # now it has
    reader = background(lambda: [b.recv(1 << 16, socket.MSG_WAITALL) for _ in range(16)])
    finish([t], f'a send(), after {got} bytes read and {mine} sent,')
    a.close()
    finish([reader], 'the reader')
    print(f'{got} bytes read, {mine} sent in between')


# ---- again: a socket whose connect() has failed listens at once ----

def again(lst):
    addr = lst.getsockname()[0]
    with sdp_socket() as s:
        s.bind((addr, 0))
        closed = s.getsockname()
    for _ in range(5):
        with sdp_socket() as s, sdp_socket() as c:
            s.setblocking(False)
            while s.connect_ex(closed) != errno.ECONNREFUSED:
                pass
            s.listen()
            port = s.getsockname()[1]
            if not port:
                sys.exit('it listens at no port')
            time.sleep(0.3 * SLOW)
            c.settimeout(20 * SLOW)
            c.connect((addr, port))


# ---- starting: a connection is ended while connect() makes it ----

def connect_often(addr, count):
    for _ in range(count):
        with sdp_socket() as s:
            s.settimeout(20 * SLOW)
            try:
                s.connect(addr)
            except OSError:
                pass


def starting(lst):
    lst.listen(100)
    addr = lst.getsockname()
    t = background(connect_often, addr, 6)
    while t.is_alive():
        subprocess.run(['sdpstat', '-K', '-H', f'dport = :{addr[1]}'], check=True,
                       stdout=subprocess.DEVNULL)
    finish([t], 'connect()')


# ---- late: a connection ends as soon as its RTU, which is late, has been overtaken by data ----

def queue_pairs():
    words = subprocess.run(['rdma', 'resource', 'show', 'rxe0'], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    return int(words[words.index('qp') + 1])


def answer(lst):
    while True:
        with lst.accept()[0] as s:
            try:
                while s.recv(100):
                    pass
                s.send(b'y')
            except OSError:
                pass


def connection(addr, polite, bad):
    c = sdp_socket()
    c.settimeout(20 * SLOW)
    c.connect(addr)
    c.send(b'x')
    if polite:
        c.shutdown(socket.SHUT_WR)
        try:
            if c.recv(100) != b'y' or c.recv(100):
                bad.append('not what was sent')
        except OSError as e:
            bad.append(str(e))
    reset(c)


def late(lst):
    lst.listen(100)
    lst.setblocking(True)
    before, bad = queue_pairs(), []
    background(answer, lst)
    for _ in range(4):
        finish([background(connection, lst.getsockname(), i % 2, bad) for i in range(8)],
               'a short connection')
    if bad:
        sys.exit(f'{bad}')
    if not soon(lambda: queue_pairs() <= before, True, 15):      # others' may go meanwhile
        sys.exit('queue pairs stay')


# ---- dropped: an option is on its way to the TCP socket beside, which goes meanwhile ----

def bbr_users():
    with open('/proc/modules', encoding='ascii') as f:
        return next(int(line.split()[2]) for line in f if line.startswith('tcp_bbr '))


def dropped(lst):
    for _ in range(20):
        with sdp_socket() as s:
            s.setsockopt(SOL_SDP, SDP_POLICY, SDP_POLICY_BOTH)
            before = bbr_users()
            pid = os.fork()     # as Python has one setsockopt() at a time
            if not pid:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'reno')
                os._exit(0)
            time.sleep(0.05)
            s.setsockopt(SOL_SDP, SDP_POLICY, SDP_POLICY_SDP)
            os.waitpid(pid, 0)
        if bbr_users() != before - 1:
            sys.exit(f'{bbr_users()} use bbr, not {before - 1}')


# ---- vain: the CM has given up, and says so while what it speaks of is being ended ----

def vain(lst):
    lst.listen(100)
    addr, port = lst.getsockname()
    before, was = queue_pairs(), stats()
    for _ in range(10):
        p = Peer()
        p.do('connect', addr, port, nortu=1, cmtimeout=8, retries=1)
        time.sleep(0.1 * SLOW)
        p.end()
    if not soon(lambda: queue_pairs() <= before, True, 15):      # others' may go meanwhile
        sys.exit('queue pairs stay')
    if not growth(was, 'AttemptFails'):
        sys.exit('the CM has not given up')


# ---- unplugged: a device goes while connect() asks for the way to the peer ----

def connect_always(addr, over):
    while not over:
        with sdp_socket() as s:
            try:
                s.connect(addr)
            except OSError:
                pass


def unplugged(lst):
    host, port = lst.getsockname()
    lst.listen(1000)
    over = []
    threads = [background(connect_always, (ip, port), over) for ip in (host, '127.0.0.1')]
    for _ in range(4):
        time.sleep(random.random() / 2)
        subprocess.run(['rdma', 'link', 'delete', 'rxe0'], check=True)
        time.sleep(random.random() / 2)
        subprocess.run(['rdma', 'link', 'add', 'rxe0', 'type', 'rxe', 'netdev',
                        os.environ['LAB_DEV']], check=True)
    over.append(True)
    finish(threads, 'connect()')


# ---- lowat, groups: options of a socket that may become TCP's, just when it does ----

def of_both():
    s = sdp_socket()
    s.setsockopt(SOL_SDP, SDP_POLICY, SDP_POLICY_BOTH)
    return s


def lowat(lst):
    with socket.socket() as tcp:
        tcp.bind((lst.getsockname()[0], 0))
        tcp.listen(20)
        for i in range(10):
            s = of_both()
            t = background(s.connect, tcp.getsockname())
            time.sleep(0.04 * i * SLOW)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 5000)
            finish([t], 'connect()')
            got = s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)
            if got != 5000:
                sys.exit(f'SO_RCVLOWAT is {got} after {i}')
            s.close()


def again_and_again(n, call, *args):
    for _ in range(n):
        try:
            call(*args)
        except OSError:
            pass


def groups(lst):
    host = socket.inet_aton(lst.getsockname()[0])
    group = socket.inet_aton('239.1.2.3') + host
    s = of_both()
    threads = [background(again_and_again, 10, s.setsockopt, socket.IPPROTO_IP,
                          socket.IP_ADD_MEMBERSHIP, group),
               background(again_and_again, 1000, s.getsockopt, socket.IPPROTO_IP,
                          IP_MSFILTER, 100)]
    finish(threads, 'an option')
    subprocess.run(['ip', 'link'], check=True, stdout=subprocess.DEVNULL, timeout=20 * SLOW)


CASES = {'timeouts': timeouts, 'growing': growing, 'old': old, 'room': room, 'again': again,
         'starting': starting, 'late': late, 'dropped': dropped,
         'vain': vain, 'unplugged': unplugged, 'lowat': lowat, 'groups': groups}


def main(addr, case):
    CASES[case](sdp_listen((addr, 0)))


main(*sys.argv[1:])
