"""A searched study with every kind of cell, in a real ledger."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rse_study.results.ledger import Ledger
from rse_study.results.records import Axis, CellRecord, EvaluationRow, Objective, StudyRecord
from rse_study.results.result_file import Point, Result

AXES = (
    Axis(name="alpha", symbol="alpha", paths=("pgd.step_size",), kind="float", low=1e-6, high=1e-3, log=True),
    Axis(name="beta", symbol="beta", paths=("fgsm.step_size",), kind="float", low=1e-6, high=1e-3, log=True),
    Axis(name="N", paths=("pgd.num_steps", "fgsm.num_steps"), kind="int", low=1, high=16),
    Axis(name="norm", paths=("ball.norm",), kind="choice", choices=("l1", "l2", "linf")),
    Axis(name="rho", symbol="rho", paths=("blend.rho",), kind="float", low=0, high=1),
    Axis(name="lambda1", symbol="lambda1", paths=("lambda1",), kind="float", low=1 / 1024, high=1, log=True),
    Axis(name="lambda2", symbol="lambda2", paths=("lambda2",), kind="float", low=5e-4, high=0.5, log=True),
    Axis(name="phi", symbol="phi", paths=("masks.phi",), kind="float", low=0, high=0.3),
)
STUDY = StudyRecord(
    name="joint",
    title="Which of the eight hyperparameters matter?",
    question="Does any setting of the adversarial step beat plain contrastive training at equal budget?",
    objective=Objective(metric="dev", label="STS-B dev, Spearman x100", evaluation="STS-B/dev/all"),
    axes=AXES,
    num_trials=8,
    resolved={"name": "joint", "search": {"N": {"int": [1, 16]}}},
)


def propose(rng: np.random.Generator) -> dict[str, object]:
    """A uniform draw of the space."""
    proposal: dict[str, object] = {}
    for axis in AXES:
        if axis.kind == "choice":
            proposal[axis.name] = str(rng.choice(axis.choices))
        elif axis.kind == "int":
            proposal[axis.name] = int(rng.integers(axis.low, axis.high + 1))
        else:
            low, high = (np.log(axis.low), np.log(axis.high)) if axis.log else (axis.low, axis.high)
            drawn = rng.uniform(low, high)
            proposal[axis.name] = float(np.exp(drawn) if axis.log else drawn)
    return proposal


def fill(ledger: Ledger, study: StudyRecord, num_trials: int) -> None:
    """Trial 2 fails, trial 3 is stopped early, the last stays planned, the others complete."""
    rng = np.random.default_rng(0)
    cells = [
        CellRecord(
            identity=f"{trial:064x}", trial=trial, seed=0, config={"trial": trial}, proposal=propose(rng)
        )
        for trial in range(num_trials)
    ]
    ledger.freeze(study)
    ledger.add_provenance({"rse_study": "0.1.0", "versions": {"torch": "2.13.0"}, "threads": 1})
    ledger.plan(cells)
    for cell in cells[:-1]:
        status = {2: "failed", 3: "stopped_early"}.get(cell.trial, "complete")
        score = 50 + 8 * rng.random()
        history = tuple(Point(t=t, metrics={"dev": score - 4 + t / 10, "loss": 1.0 / t}) for t in (20, 40))
        ledger.start(cell.identity)
        ledger.record_result(
            Result(
                identity=cell.identity, seed=0, config=cell.config, status=status, duration_s=21.5,
                reason="step 41: loss is nan" if status == "failed" else "",
                history=history[: 1 if status == "stopped_early" else 2],
            )
        )  # fmt: skip


@pytest.fixture
def study_dir(tmp_path: Path) -> Path:
    with Ledger.open(tmp_path / "joint") as ledger:
        fill(ledger, STUDY, 8)
        score = EvaluationRow(subject="untrained", task="STS-B", split="dev", value=58.1, num_examples=1500)
        ledger.record_evaluations(
            [
                score,
                score.model_copy(update={"subject": "token_overlap", "value": 54.25}),
                score.model_copy(update={"subject": "start", "split": "test", "value": 11.0}),
            ]
        )
    return tmp_path / "joint"


@pytest.fixture
def study() -> StudyRecord:
    return STUDY


@pytest.fixture
def refill(tmp_path: Path) -> Callable[[StudyRecord], Path]:
    """Another study, filled with the same trials."""

    def into_a_new_ledger(study: StudyRecord) -> Path:
        with Ledger.open(tmp_path / "again") as ledger:
            fill(ledger, study, 8)
        return tmp_path / "again"

    return into_a_new_ledger
