# SPDX-License-Identifier: GPL-2.0
"""lsm_hooks.py ADDRESS: a security module is asked about each call on an SDP socket as it is
about the same call on a TCP socket, and so are the BPF programs of cgroups. What is asked is seen
by ftrace; needs root, and cgroup2 in /sys/fs/cgroup.

The hooks of TCP's packets (security_inet_*, security_sock_rcv_skb) have nothing to be asked
about here, and a connection's struct sock (security_sk_alloc, security_sk_free) is made and
ended at another time."""
import contextlib
import os
import re
import socket
import sys
import tempfile

from cgroup_bpf import ADDR_TYPES, SOCK_TYPES, Attached, answer, made

TRACING = '/sys/kernel/tracing/'
HOOKS = ('security_socket_*', 'security_sock_graft', '__cgroup_bpf_run_filter_sk',
         '__cgroup_bpf_run_filter_sock_addr')
WAYS = {'TCP': (socket.AF_INET, 0), 'family 27': (27, 0), 'protocol 257': (socket.AF_INET, 257)}


def trace(name, value, flags='w'):
    with open(TRACING + name, flags, encoding='ascii') as f:
        f.write(value)


def mark(call):
    trace('trace_marker', f'call {call}\n')


def calls(way, addr):
    """Each call once, the one process being both ends"""
    mark('socket')
    lst = made(*WAYS[way])
    mark('setsockopt')
    lst.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    mark('getsockopt')
    lst.getsockopt(socket.SOL_TCP, socket.TCP_NODELAY)
    mark('bind')
    lst.bind((addr, 0))
    mark('listen')
    lst.listen(4)
    mark('getsockname')
    name = lst.getsockname()
    c = made(*WAYS[way])
    mark('connect')
    c.connect(name)
    mark('accept')
    fd, _ = lst._accept()               # pylint: disable=protected-access
    mark('getpeername')
    c.getpeername()
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=fd)
    mark('send')
    c.send(b'1')
    mark('sendto, with a name')
    try:
        c.sendto(b'2', name)
    except OSError:
        pass
    mark('sendmsg')
    c.sendmsg([b'3'])
    mark('write')
    os.write(c.fileno(), b'4')
    mark('sendfile')
    with tempfile.TemporaryFile() as f:
        f.write(b'5' * 5000)
        f.flush()
        os.sendfile(c.fileno(), f.fileno(), 0, 5000)
    mark('recv')
    s.recv(1)
    mark('recvmsg')
    s.recvmsg(1)
    mark('read')
    os.read(s.fileno(), 1)
    mark('shutdown')
    s.shutdown(socket.SHUT_RDWR)
    mark('close')
    os.close(s.detach())
    trace('tracing_on', '0')


def asked(way, addr):
    """Call: hooks it makes, in their order"""
    trace('trace', '')
    pid = os.fork()
    if not pid:
        try:
            trace('set_ftrace_pid', str(os.getpid()))
            trace('current_tracer', 'function')
            calls(way, addr)
            os._exit(0)
        finally:
            os._exit(1)
    status = os.waitpid(pid, 0)[1]
    with open(TRACING + 'trace', encoding='ascii') as f:
        lines = [line for line in f if f'-{pid} ' in line]
    trace('current_tracer', 'nop')
    trace('tracing_on', '1')
    if status:
        sys.exit(f'{way}: the calls failed')
    hooks, call = {}, None
    for line in lines:
        if 'tracing_mark_write: call ' in line:
            call = line.split('call ', 1)[1].strip()
            hooks[call] = []
        elif call:
            hooks[call] += re.findall(r': ((?:security|__cgroup_bpf_run)_\w+)', line)
    return hooks


def main(addr):
    if not os.path.exists(TRACING + 'trace'):
        os.system(f'mount -t tracefs none {TRACING}')
    trace('set_ftrace_filter', '')
    try:
        for hook in HOOKS:
            trace('set_ftrace_filter', hook + '\n', 'a')
    except OSError:
        print('the kernel has no security hooks that can be traced')
        return 4
    with contextlib.ExitStack() as programs:
        for kind in SOCK_TYPES + ADDR_TYPES:
            programs.enter_context(Attached(kind, answer(1)))
        got = {way: asked(way, addr) for way in WAYS}
    tcp = got.pop('TCP')
    differences = 0
    for way, sdp in got.items():
        for call, hooks in tcp.items():
            if sdp.get(call) != hooks:
                print(f'{way}, {call}(): {sdp.get(call)}, TCP: {hooks}')
                differences += 1
    trace('set_ftrace_filter', '')
    trace('set_ftrace_pid', '')
    asks = sum(len(hooks) for hooks in tcp.values())
    print(f'{len(tcp)} calls, {asks} hooks, {differences} calls differ')
    return 1 if differences or asks < len(tcp) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
