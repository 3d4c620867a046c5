"""CPU time and memory of the driver for each cell and point of a study, without Ray and training.

python -m tests.benchmarks.driver_cost [CELLS ...] [--kinds grid search ...] [--last 100] [--points 7] [--profile]

Everything of a driver but Tune runs for real: the study's run, searcher, queue, ledger, sidecars, payloads and progress
lines. All cells but the last ones are in the ledger beforehand, complete: the last ones cost what each costs in a study
of this size. Cells leave a result and scores like workers do; that is not counted. Times are CPU times of the process,
so another load changes them little. Each study runs in a process of its own, forked after the imports.
"""

import argparse
import cProfile
import io
import os
import pstats
import tempfile
import time
from collections import deque
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
from ray.tune.search import Searcher
from rich.console import Console

from rse_study.cli.terminal.cell_names import names_in_ledger
from rse_study.cli.terminal.progress import ProgressBoard
from rse_study.cli.verbs.run import num_planned
from rse_study.data import builtin
from rse_study.on_ray.nodes.lost_cells import Losses
from rse_study.on_ray.queue.cell import Cell
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.stages import grid_cells
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.on_ray.stored.folders import StudyFolders
from rse_study.on_ray.study_run import StudyRun
from rse_study.on_ray.workers.coordinator import Coordinator
from rse_study.on_ray.workers.materials_cache import MaterialsCache
from rse_study.on_ray.workers.payload import CellPayload
from rse_study.on_ray.workers.payloads import Payloads
from rse_study.results.files import writes
from rse_study.results.files.evaluation_file import write_evaluations
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.records import EvaluationRow
from rse_study.sampling.samplers import quasi_random_point
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.materials import Materials
from tests.on_ray.world import STUDY, checked_of, few

AT_A_TIME = 100
GROWING = ("decided", "confirm")  # all cells that are known at the start are complete; they ask for others
SHM = Path("/dev/shm")  # what is written is counted in CPU time, not in the time that a disk takes
KINDS = ("grid", "rows", "search", "budget", *GROWING)


class NoCoordinator(Coordinator):
    """A coordinator that nobody asks."""

    name = "none"

    def __init__(self) -> None: ...

    def keep_groups(self, has_cells: bool) -> None: ...

    def expect(self, cell: str) -> None: ...

    def decide(self, cell: str, t: int, verdict: Any) -> None: ...

    def num_groups(self) -> int:
        return 0


class Enough(BaseException):
    """The cells to be measured have run."""


class WithoutRay(RayRuntime):
    """Runs a queue's cells as Tune would; counts the CPU time of the driver's part."""

    def __init__(
        self, files: StudyFiles, materials: MaterialsCache, board: Any, points: int, last: int
    ) -> None:
        self.last = last
        super().__init__(ExitStack(), files, materials, board, num_cpus=0, address="")
        self.points, self.folder = points, files.folders.study
        self.cpu = {"first": 0.0, "suggest": 0.0, "point": 0.0, "end": 0.0}
        self.num_points = self.num_cells = 0
        self.profile: cProfile.Profile | None = None
        self.memory: list[tuple[int, float]] = []

    def run(self, queue: CellQueue, resources: Any, callback: Any) -> None:
        losses = Losses(callback, lambda cell: set(), hold_seconds=0.0)
        payloads = Payloads(self._files, self._materials, "none")
        concurrency = lambda: AT_A_TIME  # noqa: E731
        searcher = CellSearcher(queue, payloads, NoCoordinator(), callback, concurrency, losses, self)
        running: deque[tuple[str, CellPayload]] = deque()
        asked = 0
        while True:
            # The first start reads the names of all cells, once.
            config = self._counted("suggest" if asked else "first", searcher.suggest, f"trial{asked}")
            if isinstance(config, dict):
                running.append((f"trial{asked}", CellPayload.from_config(config)))
                asked += 1
            elif running:
                self._live(searcher, queue, *running.popleft())
            elif config == Searcher.FINISHED:
                break

    def _live(self, searcher: CellSearcher, queue: CellQueue, trial: str, payload: CellPayload) -> None:
        """Let the oldest cell report all its points, and end."""
        for t in range(self.points):
            result = {"t": t, "num_steps": self.points - 1}
            found = metrics_of(payload.number, payload.seed, t)
            result |= {f"metrics/{name}": value for name, value in found.items()}
            self._counted("point", searcher.on_trial_result, trial, result)
            self.num_points += 1
        metrics = [metrics_of(payload.number, payload.seed, t) for t in range(self.points)]
        history = tuple(Point(t=t, metrics=found) for t, found in enumerate(metrics))
        about = {
            "identity": payload.cell,
            "seed": payload.seed,
            "config": payload.trial.model_dump(mode="json"),
        }
        result = Result(**about, history=history, final=history[-1].metrics, duration_s=1.0)
        rows = []
        for one in queue.evaluations:
            of = {"task": "builtin", "split": "test"}
            value = {"value": float(payload.number % 97), "num_examples": 40, "fingerprint": one.fingerprint}
            rows.append(EvaluationRow(subject=payload.cell, **of, **value))
        if rows:
            write_evaluations(Path(payload.folder), rows)
        write_result(Path(payload.folder), result)
        end = {"final": True, "for_good": False}
        self._counted("end", searcher.on_trial_result, trial, end)
        self._counted("end", searcher.on_trial_complete, trial, end)
        self.num_cells += 1
        if self.num_cells % 10 == 0:  # the first cells import modules
            self.memory.append((self.num_cells, memory_mb()))
        if self.num_cells == self.last:
            raise Enough

    def _counted(self, kind: str, call: Any, *arguments: Any) -> Any:
        if self.profile is not None:
            self.profile.enable()
        begun = time.process_time()
        try:
            return call(*arguments)
        finally:
            self.cpu[kind] += time.process_time() - begun
            if self.profile is not None:
                self.profile.disable()


def metrics_of(number: int, seed: int, t: int) -> dict[str, float]:
    value = float(number % 97 + seed % 7 + t)
    return {"loss": 1.0 / (1 + t), "dev": value, **{f"metric{n}": 0.5 for n in range(6)}}


def content_of(kind: str, num_cells: int) -> dict[str, Any]:
    base = {name: STUDY[name] for name in ("question", "base")} | {"name": "many", "baselines": []}
    base["resources"] = {"executor": "inline"}
    base["base"] = base["base"] | {"encoder": {"name": "tiny-vectors", "pooling": "mean"}}
    search = {"search": STUDY["search"], "num_trials": num_cells, "sampler": {"name": "random"}}
    seeds = 10
    rates = [1e-6 * (n + 1) for n in range(num_cells // seeds)]
    match kind:
        case "rows":
            rates = [1e-6 * (n + 1) for n in range(num_cells)]
            return base | {"grid": {"axes": {"optimizer.lr": rates}}}
        case "grid":
            return base | {
                "grid": {"axes": {"optimizer.lr": rates}},
                "seeds": list(range(seeds)),
                "evaluations": ["builtin/test"],
            }
        case "decided":
            grid = {"axes": {"optimizer.lr": rates}, "baseline": "optimizer.lr = 1e-06"}
            return base | {"grid": grid, "seeds": {"until": "decided", "at_least": 3, "at_most": seeds}}
        case "confirm":
            until = {"until": "decided", "at_least": 3, "at_most": 20}
            return base | search | {"confirm": {"num_best": 5, "seeds": until}}
        case "budget":
            return base | search | {"search_budget": {"steps": 10**9}}
        case _:
            return base | search


def fill(ledger: Ledger, checked: CheckedStudy, cells: list[Cell], points: int) -> None:
    """Enter complete cells, each with an attempt and a score, in one transaction and without their files."""
    fingerprint = few("builtin/test").fingerprint
    about = {"task": "builtin", "split": "test", "num_examples": 40, "fingerprint": fingerprint}
    with ledger._db:
        for cell in cells:
            value = float(cell.number % 89 + cell.seed)
            writes.add_evaluations(ledger._db, [EvaluationRow(subject=cell.identity, value=value, **about)])
            writes.add_cell(ledger._db, cell.record().model_copy(update={"duration_s": 1.0}))
            writes.begin_attempt(ledger._db, cell.identity, "inline", 1, 1)
            for t in range(points):
                writes.add_metrics(ledger._db, cell.identity, t, metrics_of(cell.number, cell.seed, t))
            writes.end_attempt(ledger._db, cell.identity, "complete", "")


def cells_of(checked: CheckedStudy, ledger: Ledger, cache: MaterialsCache) -> list[Cell]:
    """All cells of the study; of a search, with points that no sampler had to propose."""
    if checked.study.grid is not None:
        return grid_cells(checked, ledger, cache.identify)
    domains = {axis.name: axis.domain for axis in checked.space.axes}
    cells = []
    for number in range(checked.study.num_trials):
        proposal = quasi_random_point(domains, 0, number)
        trial = checked.space.apply(proposal)
        (seed,) = checked.study.all_seeds
        cells.append(Cell(number, seed, cache.identify(trial, seed), trial, proposal))
    return cells


def materials_in(root: Path) -> Materials:
    """Materials of which only the names and the pairs count here."""
    pairs = builtin.graded_pairs("dev")
    fingerprints = {"corpus": "tiny", "base": "tiny"}
    return Materials(corpus=root / "corpus", base=str(root / "base"), dev=pairs, fingerprints=fingerprints)


def measure(kind: str, num_cells: int, last: int, points: int, profiles: bool) -> None:
    checked = checked_of(content_of(kind, num_cells))
    with tempfile.TemporaryDirectory(dir=SHM if SHM.exists() else None) as root, ExitStack() as stack:
        store = Path(root) / "studies"
        folder, materials = store / "many", materials_in(Path(root))
        files, cache = StudyFiles(StudyFolders(folder)), MaterialsCache(lambda trial: materials)
        study = checked.study
        may_need_fewer = study.may_spare_cells or study.search_budget or study.ablation_path
        board = ProgressBoard(
            checked.num_cells,
            console=Console(file=io.StringIO()),
            read_names=partial(names_in_ledger, folder),
            read_planned=partial(num_planned, folder) if may_need_fewer else int,
            shows_seeds=study.may_spare_cells,
        )
        ledger = stack.enter_context(Ledger.open(folder))
        run = StudyRun(checked, files, ledger, cache, few, board)
        runtime = WithoutRay(files, cache, board, points, last)
        if profiles:
            runtime.profile = cProfile.Profile()
        run.prepare()
        known = cells_of(checked, ledger, cache)
        fill(ledger, checked, known if kind in GROWING else known[: max(0, len(known) - last)], points)
        with suppress(Enough):
            run.all_stages(runtime)
        if not runtime.num_cells:
            print(f"{kind}, {num_cells} cells: none was left to run")
            return
        cells, cpu, load = runtime.num_cells, runtime.cpu, os.getloadavg()[0]
        of_cell = {name: 1000 * cpu[name] / cells for name in ("suggest", "end")}
        seen = runtime.memory or [(0, 0.0)]
        grown = (seen[-1][1] - seen[0][1]) / max(1, seen[-1][0] - seen[0][0])
        print(
            f"{kind}, the last {cells} of {len(known)} cells: {sum(of_cell.values()):.2f} ms a cell", end=""
        )
        print(f" (start {of_cell['suggest']:.2f}, end {of_cell['end']:.2f})", end="")
        print(f", {1000 * cpu['point'] / runtime.num_points:.3f} ms a point", end="")
        print(
            f"; first start {cpu['first']:.2f} s; +{1000 * grown:.1f} KB a cell; load {load:.1f}", flush=True
        )
        if runtime.profile is not None:
            pstats.Stats(runtime.profile).sort_stats("cumulative").print_stats(45)


def memory_mb() -> float:
    """Memory of this process alone, in MB."""
    return float(psutil.Process().memory_full_info().uss) / 1e6


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("num_cells", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["grid"])
    parser.add_argument(
        "--last", type=int, default=100, help="cells that run; the others are complete before"
    )
    parser.add_argument("--points", type=int, default=7)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    for kind in given.kinds:
        for number in given.num_cells:
            arguments = (kind, number, given.last, given.points, given.profile)
            process = get_context("fork").Process(target=measure, args=arguments)
            process.start()
            process.join()
