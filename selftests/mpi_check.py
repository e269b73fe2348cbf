# SPDX-License-Identifier: GPL-2.0
"""mpi_check.py, to be run by mpirun: all ranks exchange messages of several sizes with all others,
at once and one after another, and look at every byte."""
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
UNIT = bytes(range(251))


def message(source, to, size):
    return bytearray((UNIT * (size // 251 + 2))[source * 16 + to:][:size])


def exchange(size):
    """Everybody with everybody, without waiting in between"""
    others = [r for r in range(ranks) if r != rank]
    got = {r: bytearray(size) for r in others}
    pending = [comm.Irecv(got[r], r) for r in others]
    pending += [comm.Isend(message(rank, r, size), r) for r in others]
    MPI.Request.Waitall(pending)
    for r in others:
        if got[r] != message(r, rank, size):
            sys.exit(f'rank {rank}: {size} bytes from {r} are not what it has sent')


def ring(size):
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    got = bytearray(size)
    for _ in range(20):
        comm.Sendrecv(message(rank, right, size), right, 0, got, left, 0)
        if got != message(left, rank, size):
            sys.exit(f'rank {rank}: {size} bytes from {left} are not what it has sent')


for n in 1, 1000, 65536, 1000001, 4 << 20:
    exchange(n)
    ring(min(n, 1000001))
    comm.Barrier()
if comm.allreduce(rank) != ranks * (ranks - 1) // 2:
    sys.exit('allreduce')
if not rank:
    print('all right')
