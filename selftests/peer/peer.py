# SPDX-License-Identifier: GPL-2.0
"""Scripting of /dev/sdp_peer: one Peer is one open file; README has the commands."""
import os
import threading
import zlib

PERIOD = 65521
TABLE = bytes((j * 2654435761 & 0xffffffff) >> 24 for j in range(PERIOD))


class PeerError(Exception):
    pass


class Reply:
    """'word key=value ...' as .word, .kv and text; r['bufs'] is an int where it can be"""

    def __init__(self, text):
        self.text = text
        words = text.split()
        self.word = words[0] if words else ''
        self.words = [w for w in words if '=' not in w]
        self.kv = dict(w.split('=', 1) for w in words if '=' in w)

    def __getitem__(self, key):
        value = self.kv[key]
        try:
            return int(value, 0)
        except ValueError:
            return value

    def __repr__(self):
        return self.text


class Peer:
    opened = []

    def __init__(self):
        Peer.opened.append(self)
        self.fd = os.open('/dev/sdp_peer', os.O_RDWR | os.O_CLOEXEC)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()

    def end(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    @classmethod
    def end_all(cls):
        while cls.opened:
            cls.opened.pop().end()

    def ask(self, *words, **keys):
        """The reply, whatever it is"""
        line = ' '.join([str(w) for w in words] + [f'{k}={v}' for k, v in keys.items()])
        os.write(self.fd, line.encode())
        text = b''
        while not text.endswith(b'\n'):
            part = os.read(self.fd, 1 << 16)
            if not part:
                break
            text += part
        return Reply(text.decode().rstrip('\n'))

    def do(self, *words, **keys):
        """The reply, which must not be a refusal"""
        reply = self.ask(*words, **keys)
        if reply.word in ('error', 'timeout', 'closed', 'rejected', 'failed'):
            raise PeerError(f'{" ".join(map(str, words))}: {reply}')
        return reply

    def do_or_reject(self, *words, **keys):
        """The reply, which may be that the connection was rejected"""
        reply = self.ask(*words, **keys)
        if reply.word not in ('established', 'rejected'):
            raise PeerError(f'{" ".join(map(str, words))}: {reply}')
        return reply

    def start(self, *words, **keys):
        """Runs the command beside us; .join() returns its reply"""
        return Task(self.ask, *words, **keys)

    def status(self):
        return self.do('status')


class Task(threading.Thread):
    """A call in a thread of its own; join() returns its result or raises what it raised"""

    def __init__(self, call, *args, **kwargs):
        super().__init__(daemon=True)
        self.call, self.args, self.kwargs = call, args, kwargs
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self.call(*self.args, **self.kwargs)
        except Exception as e:  # pylint: disable=broad-except
            self.error = e

    def join(self, timeout=60):
        super().join(timeout)
        if self.is_alive():
            raise PeerError('still at it')
        if self.error:
            raise self.error
        return self.result


def pattern(length, seed=0, off=0):
    """The stretch of the stream that 'source', 'pat:' and 'mr' make"""
    off %= PERIOD
    data = (TABLE * ((off + length) // PERIOD + 1))[off:off + length]
    return data if not seed else data.translate(bytes(i ^ seed for i in range(256)))


def crc(data):
    return f'{zlib.crc32(data):08x}'
