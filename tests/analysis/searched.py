"""A search of 16 trials with early stopping and confirmation, in a real ledger; its numbers are made up."""

from dataclasses import replace
from functools import partial
from math import exp, nan
from pathlib import Path
from typing import Any

from analysis.contents import Contents
from rse_study.results import records, study_record
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.records import CellRecord, EvaluationRow, ImportanceRow
from rse_study.results.study_record import AxisRecord, StudyRecord
from rse_study.search.ablation_path import path_state
from tests.results.world import begin

LOG, LINEAR = {"kind": "float", "log": True}, {"kind": "float"}
AXES = (
    AxisRecord(name="alpha", symbol="alpha", paths=("pgd.step_size",), low=1e-6, high=1e-3, **LOG),
    AxisRecord(name="beta", symbol="beta", paths=("fgsm.step_size",), low=1e-6, high=1e-3, **LOG),
    AxisRecord(name="N", paths=("pgd.num_steps", "fgsm.num_steps"), kind="int", low=1, high=16),
    AxisRecord(name="norm", paths=("pgd.ball.norm",), kind="choice", choices=("l1", "l2", "linf")),
    AxisRecord(name="rho", symbol="rho", paths=("blend.rho",), low=0, high=1, **LINEAR),
    AxisRecord(name="lambda1", symbol="lambda1", paths=("lambda1",), low=1 / 1024, high=1, **LOG),
    AxisRecord(name="lambda2", symbol="lambda2", paths=("lambda2",), low=5e-4, high=0.5, **LOG),
    AxisRecord(name="phi", symbol="phi", paths=("masks.phi",), low=0, high=0.3, **LINEAR),
)
NAMES = [axis.name for axis in AXES]
BASE = dict(zip(NAMES, (1e-5, 1e-3, 5, "linf", 0.5, 1 / 128, 0.005, 0.0), strict=True))
DEV = study_record.ObjectiveRecord(
    metric="dev", label="builtin dev, Spearman x100", evaluation="builtin/dev/all"
)
CONFIRM = {"num_best": 1, "baseline": "base", "seeds": [1, 2], "resources": None}
STUDY = StudyRecord(
    name="joint",
    title="Which of the eight hyperparameters matter?",
    question="Does any setting of the adversarial step beat the paper's at equal budget?",
    objective=DEV,
    axes=AXES,
    num_trials=16,
    num_cells=20,
    rungs=(15, 30),
    evaluations=("builtin/test",),
    resolved={"name": "joint", "confirm": CONFIRM},
)
# Where each trial would stand after 60 steps. Of those that go that far, trial 12 comes out best.
HEIGHTS = (60.5, 52.0, 61.0, 57.5, 55.0, 62.0, 50.5, 63.2, 58.0, 61.4, 47.0, 53.5, 64.8, 60.0, 56.2, 62.6)
FAILED, LOST = 5, 9
# On dev and on test, by trial and seed.
CONFIRMED = {(0, 1): (59.4, 58.0), (0, 2): (60.6, 60.0), (12, 1): (62.3, 61.5), (12, 2): (61.1, 59.0)}


def placed(shares) -> dict[str, object]:
    """The point at such shares of what the axes are searched in."""
    point: dict[str, object] = {}
    for axis, share in zip(AXES, shares, strict=True):
        if axis.kind == "choice":
            point[axis.name] = axis.choices[round(2 * share)]
        elif axis.log:
            point[axis.name] = axis.low * (axis.high / axis.low) ** share
        else:
            value = axis.low + share * (axis.high - axis.low)
            point[axis.name] = round(value) if axis.kind == "int" else value
    return point


def proposal(trial: int) -> dict[str, object]:
    """A point of the space; the base is trial 0."""
    shares = ((trial * step % 16) / 15 for step in (1, 3, 5, 7, 9, 11, 13, 15))
    return placed(shares) if trial else dict(BASE)


def planned(trial: int, seed: int, stage: str, label: str, proposal: dict[str, object]) -> CellRecord:
    """Any study's cell as it is planned."""
    about = {"stage": stage, "label": label, "config": {"trial": trial}, "proposal": proposal}
    return CellRecord(identity=f"{trial:032x}{seed:032x}", trial=trial, seed=seed, **about)


def cell(trial: int, seed: int = 0, stage: str = "search") -> CellRecord:
    """A cell of this search."""
    return planned(trial, seed, stage, "" if trial else "base", proposal(trial))


def dev(trial: int, t: int) -> float:
    """The made-up score of a trial after so many steps."""
    start = 30 + trial % 3
    gain = (HEIGHTS[trial] - start) * (1 - exp(-t / 15)) / (1 - exp(-4))
    return start + gain + 0.3 * ((trial * t // 15) % 4)


def history(last: int, score) -> tuple[Point, ...]:
    """A point every 15 steps."""
    return tuple(Point(t=t, metrics={"dev": score(t), "loss": 3 / t}) for t in range(15, last + 1, 15))


def run(ledger: Ledger, record: CellRecord, status: str, points: tuple[Point, ...], **result) -> None:
    """An attempt and its result; that of a failure lies on the disk, too: without it the cell would run again."""
    begin(ledger, record)
    last = points[-1] if points else Point(t=0, metrics={})
    found = {"status": status, "history": points, "final": last.metrics, "duration_s": last.t * 0.4, **result}
    ended = Result(identity=record.identity, seed=record.seed, config=record.config, **found)
    if status == "failed":
        write_result(cell_folder(ledger.study_dir, record.identity), ended)
    ledger.record_result(ended)


def last_step(ledger: Ledger, trial: int) -> int:
    """How far a trial goes: at every rung it must be in the better half of those that got there."""
    for t in STUDY.rungs:
        values = sorted((row.value for row in ledger.rungs() if row.t == t), reverse=True)
        goes_on = sum(value > dev(trial, t) for value in values) < max(1, (len(values) + 1) // 2)
        verdict = "continue" if goes_on else "stop"
        ledger.record_rung(
            records.RungRow(cell=cell(trial).identity, t=t, value=dev(trial, t), verdict=verdict)
        )
        if not goes_on:
            return t
    return 60


def search(ledger: Ledger, study: StudyRecord = STUDY) -> None:
    """All trials of the search; one fails, one loses an attempt first."""
    ledger.freeze(study)
    ledger.add_provenance({"rse_study": "0.1.0", "versions": {"torch": "2.13.0"}, "threads": 1})
    for trial in range(study.num_trials):
        record = cell(trial)
        ledger.plan([record])
        if trial == LOST:
            ledger.lose(begin(ledger, record).identity, "the process that ran it is gone")
        if trial == FAILED:
            points = history(15, partial(dev, trial))
            run(ledger, record, "failed", points, reason="step 23: the loss is nan")
        else:
            last = last_step(ledger, trial)
            status = "complete" if last == 60 else "stopped_early"
            run(ledger, record, status, history(last, partial(dev, trial)))
    ledger.log("note", "the machine was busy", cell(LOST).identity)


def measure(subject: str, task: str, value: float, num_examples: int = 500) -> EvaluationRow:
    """A score; `task` is task/split."""
    name, split = task.split("/")
    return EvaluationRow(subject=subject, task=name, split=split, value=value, num_examples=num_examples)


def baselines(ledger: Ledger) -> None:
    """Everything but the base before training on dev."""
    found = {"token_overlap": (41.25, 40.5), "untrained": (38.1, 37.75), "start": (None, 52.0)}
    for subject, (on_dev, on_test) in found.items():
        rows = [measure(subject, "builtin/test", on_test)]
        rows += [] if on_dev is None else [measure(subject, "builtin/dev", on_dev)]
        ledger.record_evaluations(rows)


def up_to(top: float) -> tuple[Point, ...]:
    """The points of a cell that ends so high."""
    return history(60, lambda t: top - (60 - t) / 4)


def confirm(ledger: Ledger) -> None:
    """The base and trial 12 with seeds 1 and 2."""
    for (trial, seed), (on_dev, on_test) in CONFIRMED.items():
        record = cell(trial, seed, "confirm")
        run(ledger, record, "complete", up_to(on_dev), duration_s=31.0)
        ledger.record_evaluations([measure(record.identity, "builtin/test", on_test)])


def importance(ledger: Ledger) -> None:
    """Two evaluators' opinions; one says how sure it is."""
    for evaluator, shift, width in (("fanova", 0, 0.025), ("mdi", 3, nan)):
        shares = {name: (1 + (n + shift) % 8) / 36 for n, name in enumerate(NAMES)}
        about = {"evaluator": evaluator, "num_trials": 6}
        ledger.record_importance(
            [
                ImportanceRow(axis=name, value=share, low=share - width, high=share + width, **about)
                for name, share in shares.items()
            ]
        )


RESOLVED = STUDY.resolved | {"ablation_path": {"order": "greedy", "seeds": [1, 2, 3]}}
PATH = STUDY.model_copy(update={"resolved": RESOLVED, "num_cells": 127})
"""With a path over seeds 1 and 2, which the confirmation has, and 3."""
GAINS = dict(zip(NAMES, (0.4, -0.6, 0.1, 0.9, -0.2, 0.05, 1.1, 0.2), strict=True))


def path(ledger: Ledger, num_rounds: int = 8) -> None:
    """So many rounds of the path; at a point without `norm` beta does harm, and with it no longer."""
    ledger.freeze(PATH)
    numbers: dict[frozenset[str], int] = {frozenset(): 0, frozenset(GAINS): 12}
    for _ in range(num_rounds):
        last = ledger.last_points(DEV.metric)
        state = path_state(PATH, ledger.cells(), last, ledger.importance(), is_search_over=True)
        assert state is not None
        for point in state.points:
            number = numbers.setdefault(point, -len(numbers))
            for seed in state.seeds:
                known = {(one.trial, one.seed) for one in ledger.cells()}
                if (number, seed) not in known:
                    record = planned(number, seed, "path", state.label_of(point), state.proposal_of(point))
                    record = record.model_copy(update={"identity": f"{number + 100:032x}{seed:032x}"})
                    harm = 0.7 * ({"norm", "beta"} <= point)
                    top = 60 + sum(GAINS[name] for name in point) + harm + 0.3 * seed
                    run(ledger, record, "complete", up_to(top + 0.2 * ((number * seed) % 3)))


def make(folder: Path, *parts, study: StudyRecord = STUDY) -> Path:
    """A ledger with these parts of the study."""
    with Ledger.open(folder) as ledger:
        ledger.freeze(study)
        for part in parts:
            part(ledger)
    return folder


def with_search(contents: Contents, **changes: Any) -> Contents:
    """The contents with another state of the search."""
    return replace(contents, search=replace(contents.search, **changes))
