# SPDX-License-Identifier: GPL-2.0
"""bound.py tcp|sdp -s ADDRESS DEVICE, or bound.py tcp|sdp ADDRESS DEVICE: SO_BINDTODEVICE.

The server listens at three ports: unbound, bound to DEVICE, and bound to lo, where nothing
from another host can arrive. The client connects to them, unbound, bound to DEVICE and to
lo, and says what came of it.
"""
import os
import socket
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from sdpsock import SLOW, errno_of, sdp_socket                  # noqa: E402

PORT = 7475
IS_SERVER = sys.argv[2] == '-s'
FAMILY, ADDRESS, DEVICE = sys.argv[1], *sys.argv[-2:]


def bound(device):
    if FAMILY == 'sdp':
        s = sdp_socket(ADDRESS)
    else:
        s = socket.socket(socket.AF_INET6 if ':' in ADDRESS else socket.AF_INET)
    if device:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    s.settimeout(3 * SLOW)
    return s


def serve():
    listeners = []
    for i, device in enumerate(('lo', DEVICE, '')):
        s = bound(device)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((ADDRESS, PORT + i))
        s.listen(8)
        listeners.append(s)
    print('ready', flush=True)
    listeners[2].settimeout(60 * SLOW)
    for _ in range(2):
        s, _ = listeners[2].accept()
        assert s.recv(1) == b'x'
    # What has come to the bound one is the bound one's
    s, _ = listeners[1].accept()
    name = s.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
    print(f'accepted: bound to {name.rstrip(bytes(1)).decode()}')


def outcome(device, port):
    s = bound(device)
    result = errno_of(s.connect, (ADDRESS, port))
    if result == 'ok' and port == PORT + 2:
        s.sendall(b'x')
    # How long nothing comes of it is the route's affair
    return result if result in ('ok', 'ECONNREFUSED') else 'no way'


if IS_SERVER:
    serve()
else:
    print(f'to a listener at lo: {outcome("", PORT)}')
    print(f'to one at the device: {outcome("", PORT + 1)}')
    print(f'from the device: {outcome(DEVICE, PORT + 2)}')
    print(f'from lo: {outcome("lo", PORT + 2)}')
    print(f'unbound: {outcome("", PORT + 2)}')
