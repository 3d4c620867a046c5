"""What a study of the papers' true size costs: figure 4's 136 cells of 62,500 steps, with 15 metrics a point.

    python -m tests.benchmarks.report_figure4 [--rows 17] [--every 200] [--keep FOLDER]

The ledger is made up, by the ledger's own writer: its process has the memory of a driver, without Ray. The report is
written by the command, in a process of its own. A page is open once all its figures are drawn in Chromium. Ends with 1
over 12 MB or 5 s.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from math import exp
from pathlib import Path

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.study_record import AxisRecord, StudyRecord
from tests.analysis.searched import measure, planned, run
from tests.analysis.tabled import OBJECTIVE
from tests.benchmarks.report_1000 import in_a_browser

MOST_MB, MOST_OPEN_S = 12.0, 5.0
NUM_STEPS, LOOK, NUM_SEEDS, VALUES = 62_500, 250, 8, (1e-6, 1e-5, 1e-4, 1e-3)
NAMES = (
    "loss",
    "loss/contrastive",
    "loss/adversarial",
    "loss/rtd",
    "rtd/accuracy",
    "delta/norm",
    "delta/moved",
)
NAMES += (
    "delta/moved_fgsm",
    "delta/on_bound_pgd",
    "delta/on_bound_fgsm",
    "eta/on_bound",
    "eta/starved",
    "lr",
)
AXES = tuple(
    AxisRecord(name=name, symbol=name, paths=(name,), kind="choice", choices=VALUES)
    for name in ("alpha", "beta")
)
STUDY = StudyRecord(
    name="figure4",
    question="Which step sizes suit best?",
    kind="grid",
    objective=OBJECTIVE,
    axes=AXES,
    evaluations=("STS-B/test",),
    resolved={
        "name": "figure4",
        "grid": {"axes": {axis.name: list(VALUES) for axis in AXES}, "rows": {"SimCSE": {}}},
    },
)


def make(folder: Path, num_rows: int, every: int) -> None:
    """Enter the result of every cell."""
    draw = random.Random(0)
    pairs = [("", {"alpha": alpha, "beta": beta}) for alpha in VALUES for beta in VALUES]
    rows = [*pairs[: num_rows - 1], ("SimCSE", {})]
    with Ledger.open(folder) as ledger:
        ledger.freeze(STUDY.model_copy(update={"num_cells": len(rows) * NUM_SEEDS}))
        for trial, (label, proposal) in enumerate(rows):
            for seed in range(NUM_SEEDS):
                cell = planned(trial, seed, "grid", label, proposal)
                ledger.plan([cell])
                times = sorted({*range(0, NUM_STEPS + 1, every), *range(0, NUM_STEPS + 1, LOOK)})
                points = tuple(Point(t=t, metrics=point(t, trial, draw)) for t in times)
                run(ledger, cell, "complete", points, duration_s=10_000.0)
                ledger.record_evaluations(
                    [measure(cell.identity, "STS-B/test", 76 + trial / 10 + draw.gauss(0, 0.3))]
                )


def point(t: int, trial: int, draw: random.Random) -> dict[str, float]:
    """What a cell reports: all diagnostics, and a dev score wherever one is due."""
    is_look = t % LOOK == 0
    dev = {"dev": 80 + trial / 10 - 20 * exp(-t / 9000) + draw.gauss(0, 0.3), "dev/degenerate": 0.0}
    return {name: draw.random() for name in NAMES} | (dev if is_look else {})


def peak_mb(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def main() -> int:
    """Print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=17, help="of them SimCSE")
    parser.add_argument("--every", type=int, default=200, help="optimiser steps between two points")
    parser.add_argument("--keep", type=Path, help="a folder for ledger and report")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.keep or Path(temporary)) / STUDY.name
        if not folder.exists():
            make(folder, given.rows, given.every)
        page, began = folder / "report.html", time.perf_counter()
        main = "from rse_study.cli import main; main()"
        command = [sys.executable, "-c", main, "report", STUDY.name, "--store", str(folder.parent)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = {
            "cells": given.rows * NUM_SEEDS,
            "every": given.every,
            "ledger_mb": sum(one.stat().st_size for one in folder.glob("ledger.sqlite*")) / 1e6,
            "page_mb": page.stat().st_size / 1e6,
            "report_s": time.perf_counter() - began,
            "report_memory_mb": peak_mb(resource.RUSAGE_CHILDREN),
            "driver_memory_mb": peak_mb(resource.RUSAGE_SELF),
            "load": os.getloadavg()[0],
        } | in_a_browser(page, sorts=False)
    print(json.dumps(found, indent=2))
    return int(found["page_mb"] > MOST_MB or found.get("drawn_s", 0.0) > MOST_OPEN_S)


if __name__ == "__main__":
    sys.exit(main())
