"""Simulated cells at a time on one machine: real Tune, ledger and storage, no training.

[SECONDS_BETWEEN=20] python -m tests.benchmarks.concurrent_cells [CELLS] [--at-a-time N] [--processes] [--storage DIR]

A trial of Tune is a process of some 130 MB. 500 of them do not fit on a small machine, so trials are packed, as objects
with a thread each, into a few actors of Ray; everything else is what a study runs: Tune's loop, placement groups, our
searcher and queue, the ledger, the storage with the ledger's copies, and the adoption of results that
cells wrote there. With --processes each trial is a process of its own.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
import ray
from ray import tune
from ray.air.execution.resources import placement_group

from rse_study.on_ray import runtime
from rse_study.on_ray.driver import run_study
from rse_study.on_ray.nodes.launch import ray_session
from rse_study.on_ray.workers.payload import CellPayload
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import ledger_path
from rse_study.storage.storage import Storage
from rse_study.study.checking.validation import check_study
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from tests.on_ray.listener import Listener
from tests.on_ray.world import STUDY, few, make_materials

NUM_REPORTS = 6
SECONDS_BETWEEN = float(os.environ.get("SECONDS_BETWEEN", "20"))  # the processes of cells read it, too
NUM_HOSTS = int(os.environ.get("NUM_HOSTS", "4"))


class SimulatedCell(tune.Trainable):
    """Reports like a cell, and leaves a result like one."""

    def setup(self, config: dict[str, Any]) -> None:
        self._payload, self._reports = CellPayload.from_config(config), 0

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        self.setup(new_config)
        return True

    def step(self) -> dict[str, Any]:
        if self._reports == NUM_REPORTS:
            self._leave_result()
            return {"for_good": False, "final": True, "cell": self._payload.cell, "done": True}
        time.sleep(SECONDS_BETWEEN if self._reports else 0.0)
        t, self._reports = self._reports, self._reports + 1
        return {"t": t, "num_steps": NUM_REPORTS - 1, "metrics": _metrics(t)}

    def save_checkpoint(self, checkpoint_dir: str) -> dict[str, Any]:
        return {}  # Tune asks a class for one at its end; a cell's own checkpoints are nothing of Tune's

    def _leave_result(self) -> None:
        history = tuple(Point(t=t, metrics=_metrics(t)) for t in range(NUM_REPORTS))
        payload = self._payload
        about = {
            "identity": payload.cell,
            "seed": payload.seed,
            "config": payload.trial.model_dump(mode="json"),
        }
        found = {"final": history[-1].metrics, "duration_s": NUM_REPORTS * SECONDS_BETWEEN}
        result = Result(**about, history=history, **found)
        with tempfile.TemporaryDirectory() as folder:
            written = write_result(Path(folder), result)
            Storage(payload.storage, 60.0).upload(written, f"{payload.folder}/{written.name}")


class Host:
    """Holds many trials in one process, each called in a thread of its own."""

    def __init__(self) -> None:
        self._trials: dict[str, Any] = {}

    def make(self, name: str, kind: type, arguments: dict[str, Any]) -> None:
        self._trials[name] = kind(**arguments)

    def call(self, name: str, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return getattr(self._trials[name], method)(*arguments, **named)

    def drop(self, name: str) -> None:
        del self._trials[name]


class PackedTrial:
    """Looks to Tune like the actor of a trial."""

    def __init__(self, host: Any, name: str, ready: Any) -> None:
        self._host, self._name, self._ready = host, name, ready

    def __getattr__(self, method: str) -> "PackedMethod":
        return PackedMethod(self._host, self._name, method, self._ready)


class PackedMethod:
    """One method of it."""

    def __init__(self, host: Any, name: str, method: str, ready: Any) -> None:
        self._host, self._name, self._method, self._ready = host, name, method, ready

    def options(self, **settings: Any) -> "PackedMethod":
        return self

    def remote(self, *arguments: Any, **named: Any) -> Any:
        if self._method == "__ray_ready__":
            return self._ready
        if self._method == "__ray_terminate__":
            return self._host.drop.remote(self._name)
        return self._host.call.remote(self._name, self._method, arguments, named)


class Packed:
    """Makes packed trials where Tune would start a process each."""

    def __init__(self) -> None:
        actor = ray.remote(Host).options(num_cpus=0, max_concurrency=2000)
        self._hosts, self._number = [actor.remote() for _ in range(NUM_HOSTS)], 0

    def annotate(self, acquired: Any, entities: list[Any]) -> list[Any]:
        return [self._maker(entity.__ray_metadata__.modified_class) for entity in entities]

    def _maker(self, kind: type) -> Any:
        class Maker:
            @staticmethod
            def remote(**arguments: Any) -> PackedTrial:
                self._number += 1
                host, name = self._hosts[self._number % NUM_HOSTS], str(self._number)
                return PackedTrial(host, name, host.make.remote(name, kind, arguments))

        return Maker


class Counter(Listener):
    """A callback that knows how many cells ran at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.num_ended, self.memory = 0, dict[int, tuple[float, float]]()
        self.running, self.peak, self.lost_cells, self.full_after = 0, 0, 0, 0.0
        self._begun = time.monotonic()

    def started(self, cell: Any) -> None:
        self.running += 1
        if self.running > self.peak:
            self.peak, self.full_after = self.running, time.monotonic() - self._begun

    def progressed(self, cell: Any, t: int, num_steps: int, metrics: dict[str, float]) -> None: ...

    def ended(self, cell: Any, record: Any) -> None:
        self.running, self.num_ended = self.running - 1, self.num_ended + 1
        if self.num_ended % 50 == 0:
            used = psutil.Process().memory_full_info().uss / 1e6
            self.memory[self.num_ended] = (round(used, 1), round(time.process_time(), 1))

    def lost(self, cell: Any, reason: str) -> None:
        self.running, self.lost_cells = self.running - 1, self.lost_cells + 1
        print("lost:", reason, flush=True)

    def node_lost(self, node: str, cells: int) -> None:
        print("node lost:", node, flush=True)

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None: ...

    def message(self, text: str) -> None:
        print(text, flush=True)


def main(num_cells: int, at_a_time: int, processes: bool, location: str) -> None:
    with tempfile.TemporaryDirectory() as root, ray_session(at_a_time or num_cells):
        materials = make_materials(Path(root) / "materials")
        runtime.run_inline = SimulatedCell  # type: ignore[assignment]
        if not processes:
            packed = Packed()
            placement_group.PlacementGroupAcquiredResources.annotate_remote_entities = (
                lambda acquired, entities: packed.annotate(acquired, entities)
            )
        checked = _study(num_cells, location or f"{root}/storage")
        counter, begun, cpu = Counter(), time.monotonic(), time.process_time()
        memory = _memory()
        address = ray.get_runtime_context().gcs_address
        ray.shutdown = lambda: None  # the study joins this very Ray
        ray.init = lambda **settings: None
        folder = run_study(checked, Path(root) / "many", lambda _: materials, few, counter, address=address)
        wall, cpu, grown = time.monotonic() - begun, time.process_time() - cpu, _memory() - memory
        with Ledger.open(folder) as ledger:
            statuses = [cell.status for cell in ledger.cells()]
        print(
            f"cells: {num_cells}, complete {statuses.count('complete')}, lost attempts {counter.lost_cells}"
        )
        print(f"at a time: {counter.peak}, after {counter.full_after:.1f} s; wall {wall:.1f} s")
        print(f"driver: {1000 * cpu / num_cells:.0f} ms CPU a cell, {grown / num_cells:.2f} MB a cell")
        print("MB and CPU s by cells ended:", counter.memory)
        print(f"ledger: {ledger_path(folder).stat().st_size / 1e6:.2f} MB; load {os.getloadavg()[0]:.1f}")


def _study(num_cells: int, location: str) -> Any:
    content = {
        "name": "many",
        "question": "How many cells at a time?",
        "base": STUDY["base"],
        "grid": {"axes": {"optimizer.lr": [1e-6 * (n + 1) for n in range(num_cells)]}},
        "storage": location,
        "baselines": [],
        "resources": {"executor": "inline"},
    }
    return check_study(build(Study, content, where="many"), where="many")


def _metrics(t: int) -> dict[str, float]:
    return {"loss": 1.0 / (1 + t), "dev": float(t), **{f"metric{n}": 0.5 for n in range(6)}}


def _memory() -> float:
    """The driver's peak so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("num_cells", type=int, nargs="?", default=500)
    parser.add_argument("--at-a-time", type=int, default=0, help="0: all")
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("--storage", default="")
    given = parser.parse_args()
    main(given.num_cells, given.at_a_time, given.processes, given.storage)
