"""Two workers with half a batch each are one worker with the whole batch."""

import multiprocessing
import socket
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import load_file

from rse_study.collectives import Group
from rse_study.results.result_file import read_result
from rse_study.training.loop import train
from tests.training.world import World, small_trial

FORK = multiprocessing.get_context("fork")
EXACT = {"precision": "float64"}


def _worker(rank: int, port: int, world: World, directory: Path) -> None:
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    list(train(small_trial(**EXACT), 3, world.materials(dropout=0.0), directory, Group()))
    dist.destroy_process_group()


def test_two_gloo_workers_equal_one(world: World, tmp_path: Path) -> None:
    list(train(small_trial(**EXACT), 3, world.materials(dropout=0.0), tmp_path / "one"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    workers = [FORK.Process(target=_worker, args=(rank, port, world, tmp_path / "two")) for rank in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    one, two = read_result(tmp_path / "one"), read_result(tmp_path / "two")
    for alone, shared in zip(one.history, two.history, strict=True):
        assert alone.metrics.keys() == shared.metrics.keys()
        apart = {name: abs(shared.metrics[name] - value) for name, value in alone.metrics.items()}
        assert {name: far for name, far in apart.items() if far > 1e-9} == {}, alone.t
    for part in ("networks", "state"):
        file = Path("checkpoint/step-000000012") / f"{part}.safetensors"
        expected, found = load_file(tmp_path / "one" / file), load_file(tmp_path / "two" / file)
        worst = max(float((found[key] - expected[key]).abs().max()) for key in expected)
        assert worst < 1e-9, (part, worst)
        assert all(value.dtype == torch.float64 for value in expected.values() if value.is_floating_point())
