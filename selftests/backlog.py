# SPDX-License-Identifier: GPL-2.0
"""backlog.py ADDRESS CLIENTS [QUITTERS]: connects beyond a listener's backlog wait for accept(),
and all get their turn but for so many, which have enough of waiting."""
import os
import select
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import SLOW, sdp_listen, sdp_socket, soon              # noqa: E402

BACKLOG = 2


def connecting(addr):
    s = sdp_socket(addr[0])
    s.setblocking(False)
    s.connect_ex(addr)
    return s


def main(addr, clients, quitters='0'):
    lst = sdp_listen((addr, 0), BACKLOG)
    socks = [connecting(lst.getsockname()[:2]) for _ in range(int(clients))]

    def connected():
        return select.select([], socks, [], 0)[1]

    soon(lambda: len(connected()) >= BACKLOG, True)
    time.sleep(SLOW)    # no others follow
    first = connected()
    print('connected before accept:', len(first))
    assert BACKLOG <= len(first) <= BACKLOG + 1, len(first)
    assert not any(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) for s in socks)
    for s in [s for s in socks if s not in first][:int(quitters)]:
        socks.remove(s)
        s.close()
    lst.settimeout(30 * SLOW)
    accepted = [lst.accept()[0] for _ in socks]
    for i, s in enumerate(accepted):
        s.sendall(bytes([i]))
    got = []
    for s in socks:
        s.settimeout(30 * SLOW)
        got.append(s.recv(2)[0])
    assert sorted(got) == list(range(len(socks))), got


main(*sys.argv[1:])
