# SPDX-License-Identifier: GPL-2.0
"""stream_ends.py ADDRESS KIND killed|device: a stream sent without a copy ends in the middle, as
its reader is killed, or when somebody takes the device away, which the program asks for by a line
"going". Whichever KIND it is sent by (sendfile, zerocopy, az), the sender gets an error, what had
arrived until then is right, and the memory is the program's again."""
import errno
import mmap
import os
import signal
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(__file__), 'peer'))
from peer import pattern                                            # noqa: E402
from sdpsock import growth, sdp_listen, sdp_pair, stats             # noqa: E402
from zcopy_async import MSG_ZEROCOPY, SDP_ZEROCOPY, SOL_SDP, Completions    # noqa: E402

SDP_AZ_THRESH, SIZE = 86, 1 << 20
OVER = (errno.ECONNRESET, errno.EPIPE, errno.ENETDOWN, errno.ETIMEDOUT)


def sendfile(s, data):
    with tempfile.TemporaryFile() as f:
        f.write(data)
        f.flush()
        off = 0
        while True:
            off += os.sendfile(s.fileno(), f.fileno(), off % SIZE, SIZE)


def az(s, data):
    """The buffer is written to again while it is under way, with what it must contain next"""
    s.setsockopt(SOL_SDP, SDP_AZ_THRESH, 65536)
    place = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    place[:] = data
    off = 0
    try:
        while True:
            off = (off + s.send(memoryview(place)[off:])) % SIZE
            place[off:off + 5000] = data[off:off + 5000]
    finally:
        place[:] = bytes(SIZE)
        if any(place[:]):
            sys.exit('the buffer is not the program\'s any more')


def zerocopy(s, data):
    s.setsockopt(SOL_SDP, SDP_ZEROCOPY, 1)
    place = mmap.mmap(-1, SIZE)
    place[:] = data
    done, sends, off = Completions(s), 0, 0
    try:
        while True:
            off = (off + s.send(memoryview(place)[off:], MSG_ZEROCOPY)) % SIZE
            sends += 1
            done.take()
    finally:
        done.all_of(sends)


KINDS = {'sendfile': (sendfile, 'SpliceBytes'), 'zerocopy': (zerocopy, 'SendZcopy'),
         'az': (az, 'AzBytes')}


def reader(a, b, data):
    """A child that reads until the stream ends, however, and judges what it has read"""
    pid = os.fork()
    if pid:
        b.close()
        return pid
    a.close()
    off, twice = 0, data + data
    try:
        while part := b.recv(1 << 18):
            at = off % SIZE
            if part != twice[at:at + len(part)]:
                print(f'wrong bytes at {off}', flush=True)
                os._exit(1)
            off += len(part)
    except OSError as e:
        print(f'reader: {errno.errorcode[e.errno]} after {off} bytes', flush=True)
    os._exit(0)


def main(addr, kind, end):
    send, counter = KINDS[kind]
    data = pattern(SIZE, 3)
    before = stats()
    a, b = sdp_pair(sdp_listen((addr, 0)))
    pid = reader(a, b, data)
    sender = os.fork()
    if not sender:
        try:
            send(a, data)
        except OSError as e:
            print(f'sender: {errno.errorcode[e.errno]}', flush=True)
            os._exit(0 if e.errno in OVER else 1)
        except SystemExit as e:
            print(f'sender: {e}', flush=True)
        finally:
            os._exit(1)
    a.close()
    while growth(before, counter) < 2 * SIZE:
        time.sleep(0.01)
    print('going', flush=True)
    if end == 'killed':
        os.kill(pid, signal.SIGKILL)
    if os.waitpid(sender, 0)[1]:
        sys.exit('the sender ended otherwise')
    if os.waitpid(pid, 0)[1] not in (0, signal.SIGKILL):
        sys.exit('the reader ended otherwise')


main(*sys.argv[1:])
