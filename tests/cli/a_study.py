"""A study of one axis in a real ledger, written as a run would write it."""

from rse_study.results.files.result_file import Point
from rse_study.results.records import CellRecord
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from tests.results.world import begin as start
from tests.results.world import end

__all__ = ["end", "start"]
SEARCH = StudyRecord(
    name="little",
    question="Does rho matter?",
    objective=ObjectiveRecord(metric="dev", label="pairs dev, Spearman x100"),
    axes=(AxisRecord(name="rho", paths=("blend.rho",), kind="float", low=0.0, high=1.0),),
    num_trials=4,
    num_cells=6,
    evaluations=("pairs/test",),
    resolved={"confirm": {"num_best": 2, "baseline": "none", "seeds": [1]}},
)


def cell_of(trial, seed=0, **changes):
    """The cell of a trial whose rho is a quarter of its number, with a budget of 60 steps."""
    config = {"budget": {"unit": "steps", "amount": 60}}
    content = {"config": config, "proposal": {"rho": trial / 4}, **changes}
    return CellRecord(identity=f"{trial + 2:08x}{seed:08x}".ljust(64, "0"), trial=trial, seed=seed, **content)


def finish(ledger, cell, dev, duration_s=30.0, **changes):
    """The cell's result, after 0 and 60 steps."""
    history = (Point(t=0, metrics={"dev": 10.0}), Point(t=60, metrics={"dev": dev, "loss": 1.0}))
    end(ledger, cell, history=history, duration_s=duration_s, **changes)


def fail(ledger, cell, reason):
    """Start, and end as a loss that is not finite does."""
    end(ledger, start(ledger, cell), status="failed", reason=reason)


def run(ledger, cell, dev, **changes):
    """Start and finish."""
    finish(ledger, start(ledger, cell), dev, **changes)
