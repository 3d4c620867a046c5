"""What a report of 1,000 trials on 8 axes costs: seconds to build, megabytes, seconds until it can be used.

    python -m tests.benchmarks.report_1000 [--trials 1000] [--keep FOLDER]

The ledger is made up: 12 points a trial, early stopping at 2 rungs, 3 confirmed trials with 5 seeds. A page can be used
once it has loaded, its main thread answers, the first figure is drawn and a click on a heading has sorted the table of
trials; that takes Chromium. Ends with 1 over 20 s, 12 MB or 3 s.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from analysis.report import write_report
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.records import RungRow
from tests.analysis import searched
from tests.analysis.browser import Browser

MOST_BUILD_S, MOST_MB, MOST_USABLE_S = 20.0, 12.0, 3.0
RUNGS, LAST_STEP = (30, 60), 180
SORT = "document.querySelector('#table-trials thead tr:last-child th:nth-child(2) button').click()"
SORTED = (
    "document.querySelector('#table-trials thead tr:last-child th:nth-child(2)').ariaSort === 'ascending'"
)


@dataclass(frozen=True)
class Found:
    """What was measured."""

    num_trials: int
    build_s: float
    build_cpu_s: float
    megabytes: float
    load: float
    """Of the machine, over the last minute."""
    usable_s: float | None = None
    """From the request of the page; None without Chromium."""
    usable_cpu_s: float | None = None
    """What the page's main thread worked until then."""
    drawn_s: float | None = None
    """Until all figures are drawn."""


def make(folder: Path, num_trials: int) -> Path:
    """A search in a real ledger."""
    confirm = searched.CONFIRM | {"num_best": 2, "seeds": [1, 2, 3, 4, 5]}
    changed = {"num_trials": num_trials, "rungs": RUNGS, "resolved": {"name": "joint", "confirm": confirm}}
    study = searched.STUDY.model_copy(update=changed)
    with Ledger.open(folder) as ledger:
        ledger.freeze(study)
        searched.baselines(ledger)
        draw = random.Random(0)
        heights = {trial: draw.gauss(60, 5) for trial in range(num_trials)}
        for trial, height in heights.items():
            search_one(ledger, trial, height, draw)
        best = sorted((trial for trial in heights if trial), key=lambda trial: -heights[trial])[:2]
        for trial in (0, *best):
            for seed in range(1, 6):
                cell = proposed(trial, seed, "confirm", draw)
                points = searched.history(LAST_STEP, lambda t, top=heights[trial]: top - (LAST_STEP - t) / 9)
                searched.run(ledger, cell, "complete", points)
                score = heights[trial] - 2 + draw.gauss(0, 1)
                ledger.record_evaluations([searched.measure(cell.identity, "builtin/test", score)])
        searched.importance(ledger)
    return folder


def search_one(ledger: Ledger, trial: int, height: float, draw: random.Random) -> None:
    """One trial, to the rung that stops it."""
    cell = proposed(trial, 0, "search", draw)
    last = next((t for t in RUNGS if height < 58 + t / 30 and trial), LAST_STEP)
    ledger.plan([cell])
    for t in RUNGS:
        if t <= last:
            verdict = "stop" if t == last else "continue"
            ledger.record_rung(RungRow(cell=cell.identity, t=t, value=height - 20 / t, verdict=verdict))
    points = tuple(
        Point(t=t, metrics={"dev": height - 200 / t + draw.gauss(0, 0.3), "loss": 3 / t})
        for t in range(15, last + 1, 15)
    )
    searched.run(ledger, cell, "complete" if last == LAST_STEP else "stopped_early", points)


def proposed(trial: int, seed: int, stage: str, draw: random.Random):
    """A cell with values drawn for all eight axes."""
    values = searched.placed([draw.random() for _ in searched.AXES]) if trial else dict(searched.BASE)
    return searched.cell(trial, seed, stage).model_copy(update={"proposal": values})


def in_a_browser(path: Path, sorts: bool = True) -> dict[str, float]:
    """How long a page takes until it can be used (its table sorted, if it `sorts`), and until all figures are drawn."""
    if shutil.which("chromium") is None:
        return {}
    browser = Browser()
    try:
        tab = browser.open("about:blank")
        tab.send("Performance.enable", timeDomain="threadTicks")
        began = time.perf_counter()
        tab.go(path)
        tab.wait("document.querySelector('.plot .main-svg')")
        if sorts:
            tab.say(SORT)
            tab.wait(SORTED)
        usable = time.perf_counter() - began
        metrics = {one["name"]: one["value"] for one in tab.send("Performance.getMetrics")["metrics"]}
        tab.wait("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))")
        drawn = time.perf_counter() - began
    finally:
        browser.close()
    return {"usable_s": usable, "usable_cpu_s": metrics["TaskDuration"], "drawn_s": drawn}


def measure(num_trials: int, folder: Path) -> Found:
    """Make the ledger, then build the report and open it."""
    study_dir = make(folder / "joint", num_trials)
    began, cpu = time.perf_counter(), time.process_time()
    path = write_report(study_dir)
    seconds = time.perf_counter() - began, time.process_time() - cpu
    size, load = path.stat().st_size / 1e6, os.getloadavg()[0]
    return Found(num_trials, *seconds, size, load, **in_a_browser(path))


def main() -> int:
    """Print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="a folder for ledger and report")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = measure(given.trials, given.keep or Path(temporary))
    print(json.dumps(asdict(found), indent=2))
    is_slow = found.usable_s is not None and found.usable_s > MOST_USABLE_S
    return int(found.build_s > MOST_BUILD_S or found.megabytes > MOST_MB or is_slow)


if __name__ == "__main__":
    sys.exit(main())
