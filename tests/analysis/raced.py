"""A search of six trials that raced three seeds in an earlier version, in a real ledger; its numbers are made up."""

from math import nan
from pathlib import Path

from rse_study.results.files.ledger import Ledger
from rse_study.results.study_record import StudyRecord
from tests.analysis import searched

SEEDS = (0, 6, 7)
COUNTS = {"num_trials": 6, "num_cells": 18, "rungs": (), "evaluations": ()}
RESOLVED = {"name": "joint", "seeds": list(SEEDS)}
STUDY: StudyRecord = searched.STUDY.model_copy(update=COUNTS | {"resolved": RESOLVED})
VALUES = {
    0: (60.0, 60.2, 60.4),
    1: (52.0, 52.2, 52.4),
    2: (61.0, 61.4, 61.8),
    3: (64.0, nan),  # the best single seed of all; its second has no value
    4: (55.0,),
    5: (61.2, 61.1, 61.3),
}
"""By trial. Over all its seeds trial 2 is the best."""
MEANS = {0: 60.2, 1: 52.2, 2: 61.4, 3: 64.0, 4: 55.0, 5: 61.2}


def search(ledger: Ledger, values: dict[int, tuple[float, ...]] = VALUES) -> None:
    """Every cell of the search, by trial."""
    ledger.freeze(STUDY)
    for trial, of_trial in values.items():
        for seed, value in zip(SEEDS, of_trial, strict=False):
            record = searched.cell(trial, seed)
            points = searched.history(60, lambda t, value=value: value - (60 - t) / 10)
            searched.run(ledger, record, "complete", points)


def make(folder: Path) -> Path:
    return searched.make(folder, search, study=STUDY)
