# SPDX-License-Identifier: GPL-2.0
"""A connection of a service type, with some bytes there and back.

wire_tos.py -s ADDRESS      one side: accept, send back what comes
wire_tos.py ADDRESS TOS     the other: connect with IP_TOS or IPV6_TCLASS TOS
"""
import os
import socket
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import recv_exactly, sdp_accept, sdp_listen, sdp_socket    # noqa: E402

PORT, DATA = 7474, bytes(range(250)) * 12


def serve(addr):
    s = sdp_accept(sdp_listen((addr, PORT)), 60)
    s.sendall(recv_exactly(s, len(DATA)))
    assert not s.recv(1)


def connect(addr, tos):
    s = sdp_socket(addr)
    if ':' in addr:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, tos)
    else:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    s.connect((addr, PORT))
    s.sendall(DATA)
    assert recv_exactly(s, len(DATA)) == DATA


if sys.argv[1] == '-s':
    serve(sys.argv[2])
else:
    connect(sys.argv[1], int(sys.argv[2], 0))
