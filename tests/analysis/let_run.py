"""A search of 40 trials under ASHA of which a quarter is let run on, in a real ledger; its numbers are made up."""

import random
from pathlib import Path

from rse_study.results.files.ledger import Ledger
from rse_study.results.records import RungRow
from rse_study.results.study_record import StudyRecord
from rse_study.search.stopping.draws import is_let_run
from tests.analysis import searched

RULE = {"name": "asha", "first": 15, "factor": 2, "let_run": 0.25}
STUDY = searched.STUDY.model_copy(
    update={"num_trials": 40, "num_cells": 40, "resolved": {"early_stopping": RULE}}
)
NOISE = {15: 4.0, 30: 0.3, 45: 0.1, 60: 0.0}
"""what hides a trial's height at a step"""


def dev(trial: int, t: int) -> float:
    draw = random.Random(100 * trial)
    height = draw.uniform(50, 65)
    return 20 + height * t / 80 + NOISE[t] * random.Random(100 * trial + t).gauss(0, 1)


def search(ledger: Ledger, study: StudyRecord = STUDY) -> None:
    """Trials one after the other; who is let run on goes on whatever its verdicts."""
    ledger.freeze(study)
    values: dict[int, list[float]] = {t: [] for t in study.rungs}
    rule = study.resolved["early_stopping"]
    for trial in range(study.num_trials):
        record = searched.cell(trial)
        ledger.plan([record])
        last = _last_step(ledger, trial, values, is_let_run(study.search_seed, trial, rule["let_run"]))
        status = "complete" if last == 60 else "stopped_early"
        searched.run(ledger, record, status, searched.history(last, lambda t, n=trial: dev(n, t)))


def _last_step(ledger: Ledger, trial: int, values: dict[int, list[float]], goes_on: bool) -> int:
    for t, others in values.items():
        value = dev(trial, t)
        passes = sum(other > value for other in others) < max(1, (len(others) + 1) // 2)
        others.append(value)
        verdict = "continue" if passes else "stop"
        ledger.record_rung(RungRow(cell=searched.cell(trial).identity, t=t, value=value, verdict=verdict))
        if not passes and not goes_on:
            return t
    return 60


def make(folder: Path) -> Path:
    return searched.make(folder, search, study=STUDY)
