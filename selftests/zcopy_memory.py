# SPDX-License-Identifier: GPL-2.0
"""zcopy_memory.py ADDRESS KIND: sends from memory of a kind, and receives into it where it can be
written, both without a copy where that is possible and right in any case."""
import mmap
import os
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import growth, sdp_accept, sdp_listen, sdp_socket, stats   # noqa: E402

SIZE = 512 << 10
MAP_HUGETLB = 0x40000
ROM, ROM_SIZE = 0xe0000, 128 << 10      # the BIOS, in any PC


def huge():
    m = mmap.mmap(-1, 8 << 20)
    m.madvise(mmap.MADV_HUGEPAGE)
    return m


def hugetlb():
    with open('/proc/sys/vm/nr_hugepages', 'r+', encoding='ascii') as f:
        f.write('8')
    try:
        return mmap.mmap(-1, 2 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
    except OSError as e:
        print(f'no huge pages to be had: {e}')
        sys.exit(4)


def of_file(**kwargs):
    f = tempfile.TemporaryFile()
    f.write(pattern(SIZE, 9))
    f.flush()
    return mmap.mmap(f.fileno(), SIZE, **kwargs)


def device():
    if not os.path.exists('/dev/mem'):
        print('this kernel has no /dev/mem')
        sys.exit(4)
    with open('/dev/mem', 'rb') as f:
        return mmap.mmap(f.fileno(), ROM_SIZE, prot=mmap.PROT_READ, offset=ROM)


# how it is made, and whether the program may write to it
KINDS = {
    'anonymous': (lambda: mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), True),
    'huge': (huge, True),
    'hugetlb': (hugetlb, True),
    'shared': (lambda: mmap.mmap(-1, SIZE), True),
    'file': (lambda: of_file(flags=mmap.MAP_SHARED), True),
    'private-file': (lambda: of_file(flags=mmap.MAP_PRIVATE), True),
    'read-only': (lambda: of_file(flags=mmap.MAP_SHARED, prot=mmap.PROT_READ), False),
    'device': (device, False),
}
# the core lets nobody pin these: they are copied
COPIED = ('device',)


def transfer(lst, out, to):
    """All of @out arrives; in @to, if that is given"""
    pid = os.fork()
    if not pid:
        s = sdp_socket()
        s.connect(lst.getsockname())
        s.setblocking(True)
        s.sendall(out)
        s.shutdown(1)
        s.recv(1)
        os._exit(0)
    s = sdp_accept(lst)
    s.setblocking(True)
    to = bytearray(len(out)) if to is None else to
    got = s.recv_into(to, len(out), 0x100)
    if got != len(out) or bytes(to[:got]) != bytes(out):
        sys.exit(f'{got} bytes, or the wrong ones')
    if s.recv(1) != b'':
        sys.exit('no end of the stream')
    s.close()
    if os.waitpid(pid, 0)[1]:
        sys.exit('the sender has failed')


def main():
    addr, kind = sys.argv[1:]
    make, writable = KINDS[kind]
    lst = sdp_listen((addr, 0))
    before = stats()
    m = make()
    if writable:
        m[:] = pattern(len(m), 3)
    transfer(lst, m, None)
    sent = growth(before, 'SendZcopy', 'SrcBySend')
    if (sent == 0) != (kind in COPIED):
        sys.exit(f'{sent} bytes sent without a copy')
    if writable:
        before = stats()
        transfer(lst, pattern(len(m), 4), m)
        if growth(before, 'RecvZcopy', 'RecvAhead') == 0:
            sys.exit('nothing was read by RDMA')


main()
