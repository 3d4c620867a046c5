"""CPU seconds of `status`, `plan` and `report` for a study of thousands of complete cells, and the page's megabytes.

python -m tests.benchmarks.readers_10000 [CELLS ...] [--kinds grid ...] [--keep FOLDER] [--profile NAME]

The ledgers are those of `driver_cost`, with an attempt and a score for each cell. Imports are not counted.
"""

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from analysis.report import report_path, write_report
from rse_study.cli.verbs.status.content import state_of
from rse_study.data import builtin
from rse_study.on_ray.workers.materials_cache import MaterialsCache
from rse_study.results.files.ledger import Ledger
from rse_study.study.planning.plan import plan_study
from rse_study.study.record import study_record
from tests.benchmarks.driver_cost import KINDS, SHM, cells_of, content_of, fill, materials_in
from tests.on_ray.world import checked_of


def measure(kind: str, num_cells: int, keep: Path | None, profiled: str) -> None:
    checked = checked_of(content_of(kind, num_cells))
    with tempfile.TemporaryDirectory(dir=SHM if SHM.exists() else None) as root:
        store = keep or Path(root)
        folder, materials = store / "many", materials_in(Path(root))
        with Ledger.open(folder) as ledger:
            ledger.freeze(study_record(checked, builtin.graded_pairs("dev")))
            cells = cells_of(checked, ledger, MaterialsCache(lambda trial: materials))
            fill(ledger, checked, cells, points=7)
        calls: dict[str, Callable[[], Any]] = {
            "status": lambda: state_of(folder),
            "plan": lambda: plan_study(checked, store),
            "report": lambda: write_report(folder),
        }
        print(f"{kind}, {len(cells)} cells:", end="", flush=True)
        for name, call in calls.items():
            print(f" {name} {seconds_of(call, name == profiled):.2f} s,", end="", flush=True)
        size = report_path(folder).stat().st_size / 1e6
        print(f" page {size:.1f} MB; load {os.getloadavg()[0]:.1f}", flush=True)


def seconds_of(call: Callable[[], Any], is_profiled: bool) -> float:
    """CPU seconds of a call; modules are imported by then."""
    profile = cProfile.Profile()
    begun = time.process_time()
    if is_profiled:
        profile.runcall(call)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
    else:
        call()
    return time.process_time() - begun


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("num_cells", type=int, nargs="*", default=[100, 1000, 10000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["grid", "search"])
    parser.add_argument("--keep", type=Path, help="folder in which the studies stay")
    parser.add_argument("--profile", default="", choices=["", "status", "plan", "report"])
    given = parser.parse_args()
    measure("grid", 20, None, "")  # imports
    for kind in given.kinds:
        for number in given.num_cells:
            arguments = (kind, number, given.keep and given.keep / f"{kind}-{number}", given.profile)
            process = get_context("fork").Process(target=measure, args=arguments)
            process.start()
            process.join()
