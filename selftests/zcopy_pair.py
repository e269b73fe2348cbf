# SPDX-License-Identifier: GPL-2.0
"""zcopy_pair.py ADDRESS none|all SIZE TIMES: sends SIZE bytes, aligned, TIMES times to a recv()
that waits for them in a place of whole pages; checks what arrives and, by sdp.ko's counters, that
none of it was copied, or all."""
import mmap
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import (growth, private_memory, sdp_accept, sdp_listen, sdp_socket,     # noqa: E402
                     stats, wait_asleep)

# Go-aheads, one byte each, and for a peer that takes one advert at a time its inline byte
OVERHEAD = 16
# AZ-SDP parts memory where huge pages begin; a part of one page wouldn't be worth a read
ALIGN = 64 << 10


def receiver(lst, size, times):
    s = sdp_accept(lst)
    s.setblocking(True)
    place = mmap.mmap(-1, size)
    for i in range(times):
        s.send(b'!')
        got = s.recv_into(place, size, 0x100)   # MSG_WAITALL
        if got != size or place[:] != pattern(size, i & 255):
            sys.exit(f'round {i}: {got} bytes, or the wrong ones')
    s.close()


def sender(addr, size, times, pid):
    s = sdp_socket(addr[0])
    s.connect(addr)
    s.setblocking(True)
    place = private_memory(size, ALIGN)
    for i in range(times):
        s.recv(1)                               # it has what was there
        place[:] = pattern(size, i & 255)
        wait_asleep(pid)
        if s.send(place) != size:
            sys.exit('send() took less than all')
    s.recv(1)
    s.close()


def main():
    addr, want, size, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    lst = sdp_listen((addr, 0))
    before = stats()
    pid = os.fork()
    if not pid:
        receiver(lst, size, times)
        os._exit(0)
    sender(lst.getsockname(), size, times, pid)
    if os.waitpid(pid, 0)[1]:
        sys.exit('the receiver has failed')
    sent, received = growth(before, 'SendCopied'), growth(before, 'RecvCopied')
    total = size * times
    print(f'{total} bytes: {sent} copied sending, {received} receiving')
    few = OVERHEAD * (times + 1)
    ok = sent <= few and received <= few if want == 'none' else sent >= total <= received
    sys.exit(not ok)


main()
