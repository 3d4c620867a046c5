"""A search with a cell of every kind, made as a run makes it: results on disk first, then in the ledger."""

import math
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from rse_study.results import records, study_record
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_evaluations, write_result
from rse_study.results.files.schema import cell_folder

HERE = {"executor": "inline", "workers": 1, "threads": 1}
RUNGS = (10, 30)
RHO = study_record.AxisRecord(
    name="rho", symbol="rho", paths=("method.blend.rho",), kind="float", low=0, high=1
)
STUDY = study_record.StudyRecord(
    name="halving",
    objective=study_record.ObjectiveRecord(metric="dev", evaluation="pairs/dev/all"),
    axes=(RHO,),
    num_trials=5,
    num_cells=7,
    rungs=RUNGS,
    evaluations=("pairs/test",),
    resolved={"name": "halving"},
)


def cell_of(trial, seed=0, stage="search", label=""):
    """A cell whose identity begins with its trial and seed."""
    identity = f"{trial:02x}{seed:02x}" + "c" * 60
    proposal = {"rho": trial / 10}
    config = {"blend": proposal}
    return records.CellRecord(
        identity=identity, trial=trial, seed=seed, stage=stage, label=label, config=config, proposal=proposal
    )


def score_of(subject, value, split="test"):
    return records.EvaluationRow(
        subject=subject, task="pairs", split=split, value=value, num_examples=9, fingerprint="f"
    )


def result_of(cell, values, **changes):
    """A result with the objective at steps 10, 20, ...; a final one with a loss besides."""
    history = tuple(
        Point(t=10 * i, metrics={"dev": value, "loss": math.nan if i == 1 else 1.0 / i})
        for i, value in enumerate(values, 1)
    )
    return Result(
        identity=cell.identity, seed=cell.seed, config=cell.config, history=history, final=history[-1].metrics,
        provenance={"threads": 1, "torch": "2.13.0"}, duration_s=2.5, **changes,
    )  # fmt: skip


def run_cell(ledger, cell, values, **changes):
    """What a run does with a cell: start, points, verdicts, result."""
    result = result_of(cell, values, **changes)
    ledger.start(cell.identity, **HERE)
    for point in result.history:
        ledger.record_progress(cell.identity, point.t, point.metrics)
        if point.t in RUNGS and cell.stage == "search":
            stops = result.status == "stopped_early" and point == result.history[-1]
            verdict, value = "stop" if stops else "continue", point.metrics["dev"]
            ledger.record_rung(records.RungRow(cell=cell.identity, t=point.t, value=value, verdict=verdict))
    write_result(cell_folder(ledger.study_dir, cell.identity), result)
    ledger.record_result(result)


def begin(ledger, cell):
    """The next attempt at a cell, planned if it was not."""
    ledger.plan([cell])
    ledger.start(cell.identity, **HERE)
    return cell


def end(ledger, cell, **content):
    """The cell's result, on the disk and in the ledger."""
    result = Result(identity=cell.identity, seed=cell.seed, config=cell.config, **content)
    write_result(cell_folder(ledger.study_dir, cell.identity), result)
    ledger.record_result(result)


def make_study(folder):
    """Trial 0 complete, 1 failed with its result, 2 stopped early, 3 and 4 planned; trial 0 confirmed, one retired."""
    confirmed, retired = cell_of(0, 7, "confirm"), cell_of(1, 7, "confirm")
    with Ledger.open(folder) as ledger:
        ledger.freeze(STUDY.model_copy(update={"num_trials": 3, "num_cells": 5}))
        ledger.freeze(STUDY, "num_trials: 3 -> 5")
        ledger.add_provenance({"threads": 1})
        cells = [cell_of(trial, label="base" if trial == 0 else "") for trial in range(5)]
        ledger.plan(cells)
        run_cell(ledger, cells[0], [50.0, 55.0, 60.0, 59.0])
        run_cell(ledger, cells[1], [49.0, 48.0], status="failed", reason="step 21: the loss is not finite")
        run_cell(ledger, cells[2], [40.0], status="stopped_early", reason="stopped at step 10 of 40")
        ledger.start(cells[3].identity, **HERE)
        ledger.record_progress(cells[3].identity, 10, {"dev": 1.0})
        ledger.plan([confirmed, retired])
        ledger.retire_others({confirmed.identity}, "confirm")
        run_cell(ledger, confirmed, [51.0, 56.0, 61.0, 60.0])
        write_evaluations(cell_folder(folder, confirmed.identity), [score_of(confirmed.identity, 61.5)])
        ledger.record_evaluations([score_of(confirmed.identity, 61.5), score_of("untrained", 30.0, "dev")])
        ledger.record_importance(
            [
                records.ImportanceRow(
                    axis="rho", evaluator="fanova", value=1.0, low=0.9, high=1.0, num_trials=2
                )
            ]
        )
    return folder


@contextmanager
def read_only(study_dir, but=()):
    """A copy of the study as somebody sees it who may only read, `but` some of it ("." is the folder).

    Root may write anywhere: it becomes nobody.
    """
    with tempfile.TemporaryDirectory() as public:
        copy = Path(shutil.copytree(study_dir, Path(public) / study_dir.name))
        os.chmod(public, 0o755)
        for path in (copy, *copy.rglob("*")):
            is_writable = str(path.relative_to(copy)) in but
            path.chmod(0o777 if is_writable else 0o555 if path.is_dir() else 0o444)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield copy
        finally:
            if is_root:
                os.seteuid(0)
            for path in (copy, *copy.rglob("*")):
                path.chmod(0o755)
