"""A grid of an axis and four named rows on three seeds, in a real ledger; its numbers are made up."""

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.records import CellRecord
from rse_study.results.study_record import AxisRecord, StudyRecord
from tests.analysis.searched import measure, planned, run
from tests.analysis.tabled import OBJECTIVE

LAMBDA1 = AxisRecord(
    name="lambda1", symbol="lambda1", paths=("lambda1",), kind="choice", choices=(1 / 1024, 1 / 128, 1 / 8)
)
STUDY = StudyRecord(
    name="parts",
    title="Which part of the adversary carries the gain?",
    question="Does leaving out one part cost more than the seeds differ?",
    kind="grid",
    objective=OBJECTIVE,
    axes=(LAMBDA1,),
    num_cells=21,
    evaluations=("STS-B/test", "STS12/test"),
    resolved={"name": "parts", "grid": {"axes": {"lambda1": [1 / 1024, 1 / 128, 1 / 8]}}},
)
# Label, value of the axis, dev by seed. Order of the file: combinations first, then the rows that have a name.
ROWS = (
    ("", 1 / 1024, (70.0, 71.0, 72.0)),
    ("", 1 / 128, (73.0, 74.0, 76.0)),
    ("", 1 / 8, (66.0, 65.0, 61.0)),
    ("base", 1 / 128, (74.5, 75.0, 77.0)),
    ("without weakening masks", 1 / 128, (73.5, 74.5, 76.0)),
    ("without PGD", 1 / 128, (71.0, 72.5, 73.0)),
    ("without the token level", 1 / 128, (72.0, None, None)),
)
FAILED, MISSING, RETIRED = (6, 1), (6, 2), (7, 0)


def cell(trial: int, seed: int) -> CellRecord:
    """A cell as it is planned."""
    label, value, _ = ROWS[trial] if trial < len(ROWS) else ("without the blend", 1 / 128, ())
    return planned(trial, seed, "grid", label, {"lambda1": value})


def end(ledger: Ledger, record: CellRecord, dev: float) -> None:
    """A complete cell: dev as given, half a point less on STS-B test, ten less on STS12."""
    points = tuple(Point(t=t, metrics={"dev": dev - (200 - t) / 20, "loss": 1.0}) for t in (100, 200))
    run(ledger, record, "complete", points, duration_s=40.0)
    scores = {"STS-B/test": dev - 0.5, "STS12/test": dev - 10}
    ledger.record_evaluations([measure(record.identity, task, value) for task, value in scores.items()])


def grid(ledger: Ledger) -> None:
    """A first revision with a row that the second one drops; then everything but one cell, and one failure."""
    ledger.freeze(STUDY.model_copy(update={"num_cells": 1}))
    end(ledger, cell(*RETIRED), 69.0)
    ledger.freeze(STUDY, "rows without the blend: removed; 7 rows: added")
    cells = {(trial, seed): cell(trial, seed) for trial in range(len(ROWS)) for seed in range(3)}
    ledger.retire_others([record.identity for record in cells.values()], "grid")
    ledger.plan(cells.values())
    for (trial, seed), record in cells.items():
        value = ROWS[trial][2][seed]
        if value is not None:
            end(ledger, record, value)
    run(ledger, cell(*FAILED), "failed", (), reason="step 3: the loss is nan")
    found = {"token_overlap": 58.25, "untrained": 52.5}
    ledger.record_evaluations([measure(name, "STS-B/test", value) for name, value in found.items()])
