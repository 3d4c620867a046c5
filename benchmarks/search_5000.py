"""Seconds to fill and take up a search of 5,000 trials, and of one proposal more.

python -m benchmarks.search_5000 [TRIALS]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rse_study.on_ray.queue.cell import Cell
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.proposed_cells import ProposedCells
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.sampling.proposer import Proposer
from rse_study.sampling.samplers import quasi_random_point
from rse_study.spec import fingerprint_of
from rse_study.study.checking.validation import CheckedStudy, read_study
from rse_study.training.trial import Trial

STUDY = Path(__file__).parents[1] / "search_spaces" / "joint.yaml"


def _main(num_trials: int = 5000) -> None:
    checked = read_study(STUDY, [f"num_trials={num_trials + 1}"])
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder)) as ledger:
        ledger.freeze(StudyRecord(name="large", objective=ObjectiveRecord(metric="dev")))
        _, seconds = _timed(lambda: fill(ledger, checked, num_trials))
        num_rows = sum(len(ledger.history(cell.identity)) for cell in ledger.cells())
        print(f"fill: {num_trials} cells, {num_rows} metric rows in {seconds:.2f} s")
        queue, seconds = _timed(lambda: _take_up(ledger, checked))
        print(f"reconcile: {seconds:.2f} s, {queue.num_left} left")
        _, seconds = _timed(queue.next_cell)
        print(f"one more proposal, entered: {seconds:.3f} s")
    proposer = _filled_proposer(checked, num_trials)
    for number in range(num_trials, num_trials + 5):
        _, seconds = _timed(partial(proposer.ask, number))
        print(f"ask: {seconds:.3f} s")


def fill(ledger: Ledger, checked: CheckedStudy, num_trials: int) -> None:
    """Every trial complete, with a history of seven points of eight metrics."""
    domains = {axis.name: axis.domain for axis in checked.space.axes}
    cells = []
    for number in range(num_trials):
        proposal = quasi_random_point(domains, 0, number)
        trial = checked.space.apply(proposal)
        cells.append(Cell(number, 0, _identify(trial, 0), trial, proposal))
    ledger.plan([cell.record() for cell in cells])
    for cell in cells:
        ledger.start(cell.identity, executor="inline", workers=1, threads=1)
        metrics = {"dev": float(cell.number % 97), **{f"metric{i}": float(i) for i in range(7)}}
        history = tuple(Point(t=t, metrics=metrics) for t in range(0, 70, 10))
        ledger.record_result(
            Result(identity=cell.identity, seed=0, config={}, history=history, final=metrics, duration_s=1.0)
        )


def _take_up(ledger: Ledger, checked: CheckedStudy) -> CellQueue:
    study, files = checked.study, StudyFiles(ledger.study_dir)
    return CellQueue(
        study,
        "search",
        ProposedCells(checked, _proposer_of(checked), _identify),
        ledger,
        files,
        checked.rungs,
    )


def _filled_proposer(checked: CheckedStudy, num_trials: int) -> Proposer:
    domains = {axis.name: axis.domain for axis in checked.space.axes}
    proposer = _proposer_of(checked)
    for number in range(num_trials):
        proposer.add(number, quasi_random_point(domains, 0, number), "complete", [float(number % 97)])
    return proposer


def _proposer_of(checked: CheckedStudy) -> Proposer:
    study, domains = checked.study, {axis.name: axis.domain for axis in checked.space.axes}
    return Proposer(domains, study.sampler, study.search_seed, [study.objective.direction])


def _identify(trial: Trial, seed: int) -> str:
    return fingerprint_of([trial.identity(), seed])


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    return call(), time.perf_counter() - begun


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
