"""A small study in a real ledger."""

from pathlib import Path

import pytest

from rse_study.results.ledger import Ledger
from rse_study.results.records import AxisRecord, CellRecord, ObjectiveRecord, StudyRecord
from tests.results.world import make_study


@pytest.fixture
def study() -> StudyRecord:
    return StudyRecord(
        name="small",
        objective=ObjectiveRecord(metric="dev", evaluation="pairs/dev/all"),
        axes=(
            AxisRecord(
                name="step_size",
                symbol="alpha",
                paths=("pgd.step_size",),
                kind="float",
                low=1e-6,
                high=1e-3,
                log=True,
            ),
            AxisRecord(name="norm", paths=("pgd.ball.norm",), kind="choice", choices=("l2", "linf")),
        ),
        num_trials=2,
        num_cells=2,
        resolved={"name": "small"},
    )


@pytest.fixture
def cells() -> list[CellRecord]:
    return [
        CellRecord(
            identity=name,
            trial=trial,
            seed=0,
            config={"pgd": {"step_size": size}},
            proposal={"step_size": size, "norm": "l2"},
        )
        for trial, (name, size) in enumerate([("a" * 64, 1e-5), ("b" * 64, 1e-4)])
    ]


@pytest.fixture
def study_dir(tmp_path: Path, study: StudyRecord, cells: list[CellRecord]) -> Path:
    with Ledger.open(tmp_path / "small") as ledger:
        ledger.freeze(study)
        ledger.plan(cells)
    return tmp_path / "small"


@pytest.fixture
def searched_dir(tmp_path: Path) -> Path:
    return make_study(tmp_path / "halving")
