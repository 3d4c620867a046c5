"""Several objectives, from the worker's result to the sampler and to what is confirmed."""

import math

import pytest

from rse_study.on_ray.queue import Cell
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells
from rse_study.on_ray.queue.stages import confirm_cells
from rse_study.on_ray.stored import StudyFiles
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search.choice import Observation, judged
from tests.on_ray.queue.world import identify
from tests.on_ray.world import checked_of

WORK = ObjectiveRecord(metric="cost/work", direction="minimize")
RECORD = StudyRecord(name="x", objective=ObjectiveRecord(metric="dev"), other_objectives=(WORK,))
ENDS = [(50.0, 9.0), (60.0, 9.0), (58.0, 3.0), (45.0, 2.0)]  # dev, work: the third is the knee


class Listening(FixedCells):
    """The base at five rates; it remembers what it is told."""

    def __init__(self, checked, ledger):
        self.told, proposals = {}, [{"alpha": 1e-5, "rho": number / 4} for number in range(4)]
        trials = [checked.space.apply(proposal) for proposal in proposals]
        cells = zip(range(4), trials, proposals, strict=True)
        super().__init__([Cell(n, 0, identify(trial, 0), trial, point) for n, trial, point in cells], ledger)

    def restore(self, record, seen):
        self.told[record.trial] = seen
        return super().restore(record, seen)

    def observe(self, cell, seen):
        self.told[cell.number] = seen


@pytest.fixture
def checked(study_content):
    content = study_content | {
        "objectives": [{"metric": "dev"}, {"metric": "cost/work", "direction": "minimize"}],
        "confirm": {"num_best": 2, "baseline": "none", "seeds": [1]},
        "num_trials": 4,
    }
    return checked_of(content)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path) as opened:
        opened.freeze(RECORD)
        yield opened


def queue_of(checked, ledger):
    source, files = Listening(checked, ledger), StudyFiles(ledger.study_dir)
    return CellQueue(checked.study, "search", source, ledger, files), source


def run_all(queue, ledger):
    while (cell := queue.next_cell()) is not None:
        dev, work = ENDS[cell.number]
        came = {"history": (Point(t=3, metrics={"dev": dev}),), "final": {"dev": dev}}
        result = Result(identity=cell.identity, seed=0, config={}, provenance={"work": work}, **came)
        write_result(cell_folder(ledger.study_dir, cell.identity), result)
        queue.finish(cell)


def test_a_sampler_is_told_all_objectives_also_after_a_restart(checked, ledger):
    queue, source = queue_of(checked, ledger)
    run_all(queue, ledger)
    assert source.told[2] == Observation("complete", (58.0, 3.0))
    _, again = queue_of(checked, ledger)
    assert again.told == source.told


def test_the_knee_is_confirmed_and_then_what_adds_most_to_it(checked, ledger):
    """Trial 0 is beaten; of the ends, 3 adds 0.1 x 0.143 and 1 adds 0.133 x 0.1."""
    queue, _ = queue_of(checked, ledger)
    run_all(queue, ledger)
    assert [cell.number for cell in confirm_cells(checked, ledger, identify)] == [2, 3]


def test_a_trial_without_one_of_its_objectives_has_failed():
    assert judged("complete", (50.0, math.nan)) == Observation("failed")
    assert judged("stopped_early", (50.0, 1.0)) == Observation("pruned")
