"""A search of 18 trials over three variants, two of which have axes of their own; its numbers are made up."""

from pathlib import Path

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.records import CellRecord, ImportanceRow
from rse_study.results.study_record import AxisRecord, StudyRecord
from tests.analysis import searched

METHODS = ("paper", "l2p", "dcl")
AXES = (
    AxisRecord(name="method", paths=("method",), kind="choice", choices=METHODS),
    AxisRecord(
        name="alpha", symbol="alpha", paths=("pgd.step_size",), kind="float", low=1e-6, high=1e-3, log=True,
        when={"method": ("paper",)},
    ),
    AxisRecord(name="norm", paths=("norm",), kind="choice", choices=("l1", "l2"), when={"method": ("paper", "l2p")}),
    AxisRecord(name="width", paths=("method.width",), kind="int", low=1, high=9, when={"method": ("dcl",)}),
    AxisRecord(name="lr", symbol="xi", paths=("optimizer.lr",), kind="float", low=1e-5, high=1e-3, log=True),
)  # fmt: skip
STUDY = StudyRecord(
    name="methods",
    question="Which method, with which of its settings?",
    objective=searched.DEV,
    axes=AXES,
    num_trials=18,
    num_cells=20,
    resolved={
        "name": "methods",
        "base": {"method": {"name": "robust_sent_embed"}, "optimizer": {"lr": 1e-4}},
        "search": {"method": {"variants": {name: {} for name in METHODS}}},
        "confirm": searched.CONFIRM | {"seeds": [1]},
    },
)
BEST = 14


def proposal(trial: int) -> dict[str, object]:
    """A point of the space, its active axes alone; the base is trial 0."""
    values = {
        "method": METHODS[trial % 3],
        "alpha": 10.0 ** -(3 + trial % 4),
        "norm": ("l1", "l2")[trial // 3 % 2],
        "width": 1 + trial % 9,
        "lr": 1e-4 if trial == 0 else 1e-5 * (1 + trial),
    }
    return {axis.name: values[axis.name] for axis in AXES if axis.is_active(values)}


def cell(trial: int, seed: int = 0, stage: str = "search") -> CellRecord:
    """A cell as it is planned."""
    return searched.planned(trial, seed, stage, "" if trial else "base", proposal(trial))


def make(folder: Path) -> Path:
    """The ledger of the search, confirmed."""
    cells = [cell(trial) for trial in range(18)] + [cell(trial, 1, "confirm") for trial in (0, BEST)]
    with Ledger.open(folder) as ledger:
        ledger.freeze(STUDY)
        for record in cells:
            score = 60.0 + record.trial % 5 + (10 if record.trial == BEST else 0)
            points = tuple(Point(t=t, metrics={"dev": score - 30 / t}) for t in (10, 20))
            searched.run(ledger, record, "complete", points, duration_s=2.0)
        ledger.record_importance(IMPORTANCE)
    return folder


IMPORTANCE = [
    ImportanceRow(
        axis=axis, evaluator="fANOVA", value=value, low=0.8 * value, high=1.2 * value, num_trials=num
    )
    for axis, value, num in (("method", 0.7, 18), ("lr", 0.3, 18), ("norm", 0.6, 12))
]
