"""Seconds to validate and plan studies of 10,000 cells.

    python -m benchmarks.plan_10000

Prints wall, user and system seconds of the whole command, imports included: a grid of 2,500 rows and 4 seeds, a search
of 10,000 trials, and the grid again with three of the seeds in its ledger. To stay below: 5 s on two cores.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rse_study.data import builtin
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result
from rse_study.results.records import CellRecord
from rse_study.spec import fingerprint_of
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.study.record import study_record

JOINT = Path(__file__).parents[1] / "search_spaces" / "joint.yaml"
GRID = f"""
extends: {JOINT}
name: many-rows
grid:
  axes:
    rho: [{", ".join(str(i / 50) for i in range(50))}]
    lambda2: [{", ".join(str(i / 100) for i in range(50))}]
search: null
sampler: null
early_stopping: null
confirm: null
num_trials: null
search_seed: null
seeds: [0, 1, 2, 3]
"""
SEARCH = f"""
extends: {JOINT}
name: many-trials
num_trials: 10000
"""


def main() -> None:
    """Three studies, three times each."""
    with tempfile.TemporaryDirectory() as folder:
        grid, search = Path(folder) / "grid.yaml", Path(folder) / "search.yaml"
        grid.write_text(GRID)
        search.write_text(SEARCH)
        for verb in ("validate", "plan"):
            measure(f"{verb}, grid", [verb, str(grid)], folder)
            measure(f"{verb}, search", [verb, str(search)], folder)
        fill(Path(folder) / "studies" / "many-rows", read_study(grid))
        measure("plan, grid with 7,500 cells complete", ["plan", str(grid)], folder)


def measure(what: str, arguments: list[str], folder: str) -> None:
    """Print what the command takes."""
    command = [sys.executable, "-c", "from rse_study.cli import main; main()", *arguments]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    for _ in range(3):
        before, begun = os.times(), time.perf_counter()
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - begun, os.times()
        user = after.children_user - before.children_user
        system = after.children_system - before.children_system
        print(f"{what}: wall {wall:.2f} s, user {user:.2f} s, system {system:.2f} s", flush=True)


def fill(study_dir: Path, checked: CheckedStudy) -> None:
    """A ledger in which every row is complete with the first three seeds."""
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(study_record(checked, builtin.graded_pairs("dev")))
        cells = []
        for number, row in enumerate(checked.rows):
            about = {"trial": number, "config": row.trial.model_dump(mode="json"), "proposal": row.proposal}
            for seed in (0, 1, 2):
                identity = fingerprint_of([number, seed])
                cells.append(CellRecord(identity=identity, seed=seed, stage="grid", **about))
        ledger.plan(cells)
        for cell in cells:
            ledger.start(cell.identity, executor="inline", workers=1, threads=1)
            where = {"device_type": "cpu", "workers": 1, "threads": 1}
            found = {"history": (Point(t=60, metrics={"dev": 50.0, "loss": 1.0}),), "duration_s": 30.0}
            about = {"identity": cell.identity, "seed": cell.seed, "config": cell.config}
            ledger.record_result(Result(**about, **found, provenance=where))


if __name__ == "__main__":
    main()
