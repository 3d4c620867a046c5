"""Work done by several processes of a gloo group on this machine. Imports little: every process imports it anew."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

Work = Callable[[int, int, Path], None]


def spawned(work: Work, directory: Path, size: int = 2) -> None:
    """`work(rank, size, directory)` in processes that form a gloo group on this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mp.spawn(_joined, (size, port, work, directory), nprocs=size)


def _joined(rank: int, size: int, port: int, work: Work, directory: Path) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
    try:
        work(rank, size, directory)
    finally:
        dist.destroy_process_group()
