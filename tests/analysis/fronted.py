"""A search of 6 trials with two objectives and a bound, in a real ledger; its numbers are made up."""

from pathlib import Path

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.study_record import ConstraintRecord, ObjectiveRecord
from tests.analysis import searched

ROBUST = "builtin dev under pwws, Spearman x100"
OTHERS = (
    ObjectiveRecord(metric="robust/spearman", label=ROBUST, evaluation="builtin/replayed/spearman"),
    ObjectiveRecord(metric="cost/work", direction="minimize", label="work of a cell, P*T"),
)
BOUND = ConstraintRecord(metric="dev", at_least=50.0, label=searched.DEV.label)
RESOLVED = {"name": "bargain", "confirm": {"num_best": 2, "baseline": "base", "seeds": [1, 2]}}
COUNTS = {"name": "bargain", "rungs": (), "num_trials": 6, "num_cells": 12, "resolved": RESOLVED}
STUDY = searched.STUDY.model_copy(update=COUNTS | {"other_objectives": OTHERS, "constraints": (BOUND,)})
ENDS = (  # dev, robust, work
    (60.0, 40.0, 100),  # the base: beaten by 2
    (62.0, 30.0, 90),
    (61.0, 45.0, 90),  # the knee
    (52.0, 50.0, 100),
    (49.0, 60.0, 50),  # out of bounds
    (51.0, 20.0, 120),  # beaten
)


def run(
    ledger: Ledger, trial: int, seed: int = 0, stage: str = "search", ends: tuple[float, float] | None = None
) -> None:
    """A cell that ends with the trial's values, a tenth better for each seed; or with these, dev and robust."""
    dev, robust, work = ENDS[trial]
    dev, robust = ends or (dev + seed / 10, robust + seed / 10)
    record = searched.cell(trial, seed, stage)
    point = Point(t=60, metrics={"dev": dev, "robust/spearman": robust, "loss": 1.0})
    searched.run(ledger, record, "complete", (point,), provenance={"work": work})


def make(folder: Path) -> Path:
    """The search, and what confirms it: the base, the knee and what adds most to it."""
    with Ledger.open(folder) as ledger:
        ledger.freeze(STUDY)
        for trial in range(6):
            run(ledger, trial)
        for trial in (0, 2, 1):
            for seed in (1, 2):
                run(ledger, trial, seed, "confirm")
    return folder


BASE, KNEE = 0, 2
ONE = RESOLVED | {"confirm": {"num_best": 1, "baseline": "base", "seeds": [1, 2, 3, 4, 5]}}
CHANGES = {"other_objectives": OTHERS[:1], "constraints": (), "num_cells": 16, "resolved": ONE}
TWO = STUDY.model_copy(update=CHANGES)
"""With two objectives, and five seeds that confirm the knee."""


def make_two(folder: Path, dev: float, robust: float, test: float = 1.0) -> Path:
    """The knee, confirmed: what it gains over the base on average, on each objective and on the test pairs.

    The gains differ from seed to seed by up to half a point.
    """
    with Ledger.open(folder) as ledger:
        ledger.freeze(TWO)
        for trial in (BASE, KNEE):
            run(ledger, trial)
        for seed, shift in enumerate((0.5, -0.25, 0.0, 0.25, -0.5), start=1):
            for trial, part in ((BASE, 0), (KNEE, 1)):
                run(ledger, trial, seed, "confirm", (60 + part * (dev + shift), 40 + part * (robust - shift)))
                subject = searched.cell(trial, seed, "confirm").identity
                ledger.record_evaluations(
                    [searched.measure(subject, "builtin/test", 50 + part * (test + shift))]
                )
    return folder
