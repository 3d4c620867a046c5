"""Work done by several processes of a gloo group on this machine."""

import multiprocessing
import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist

Work = Callable[[int, int, Path], None]
FORK = multiprocessing.get_context("fork")
PATIENCE_SECONDS = 300.0


def in_group(work: Work, directory: Path, size: int = 2) -> None:
    """`work(rank, size, directory)` in forks of this process, which has imported everything."""
    pickled = pickle.dumps(work)  # as a process that begins anew would get it
    with TemporaryDirectory() as folder:
        ranks = range(size)
        members = [FORK.Process(target=_join, args=(pickled, r, size, directory, folder)) for r in ranks]
        try:
            for member in members:
                member.start()
            for member in members:
                member.join(PATIENCE_SECONDS)
            assert [member.exitcode for member in members] == [0] * size
        finally:
            for member in members:
                member.kill()


def _join(pickled: bytes, rank: int, size: int, directory: Path, folder: str) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = next(
        name for _, name in socket.if_nameindex() if name.startswith("lo")
    )
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", size), rank=rank, world_size=size)
    pickle.loads(pickled)(rank, size, directory)
    dist.barrier()  # a process that exits closes connections that others may still need
