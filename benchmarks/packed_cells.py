"""Several cells at once on one device, each in its own process."""

import time
from collections.abc import Sequence
from itertools import count
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from queue import Empty
from typing import Any

import torch

from benchmarks.cases import Case
from benchmarks.contenders import StepShape, open_ours
from benchmarks.device import Device

WARM_UP = 3  # steps before counting begins, and between two looks at the clock


def steps_a_second(
    shape: StepShape, case: Case, folder: Path, num_cells: int, seconds: float, warm_up: int = WARM_UP
) -> float:
    """Return the steps per second of all cells together, once all are warm."""
    context = SpawnContext()
    ready, counts = context.Barrier(num_cells), context.Queue()
    given = (shape, case, folder / f"{shape.encoder.name}-materials", seconds, warm_up, ready, counts)
    processes = [context.Process(target=_count_steps, args=given) for _ in range(num_cells)]
    open_ours(case, shape, given[2])  # writes the corpus, once
    for process in processes:
        process.start()
    try:
        found = [_taken(counts, processes) for _ in processes]
        for process in processes:
            process.join(timeout=60)
    finally:
        for process in processes:
            process.kill()
    return sum(found)


def _taken(counts: Any, processes: Sequence[SpawnProcess]) -> float:
    """Wait for a cell's count; raise RuntimeError if a cell ended without one."""
    while True:
        try:
            return float(counts.get(timeout=1))
        except Empty:  # the others would wait for it until they are killed
            if any(process.exitcode for process in processes):
                raise RuntimeError("a cell ended with an error") from None


def _count_steps(
    shape: StepShape, case: Case, folder: Path, seconds: float, warm_up: int, ready: Any, counts: Any
) -> None:
    torch.set_num_threads(1)
    session = open_ours(case, shape, folder)
    for number in range(warm_up):
        session.advance(number)
    Device(shape.device).wait()
    ready.wait()
    begun = time.perf_counter()
    for done in count(1):
        session.advance(warm_up + done)
        if done % WARM_UP == 0:
            Device(shape.device).wait()
            if time.perf_counter() - begun >= seconds:
                counts.put(done / (time.perf_counter() - begun))
                return
