"""A small study in a real ledger."""

from pathlib import Path

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.records import CellRecord
from rse_study.results.study_record import AxisRecord, StudyRecord
from tests.results.world import STUDY, make_study


@pytest.fixture
def study() -> StudyRecord:
    size = {"name": "step_size", "symbol": "alpha", "paths": ("pgd.step_size",), "kind": "float", "log": True}
    norm = AxisRecord(name="norm", paths=("pgd.ball.norm",), kind="choice", choices=("l2", "linf"))
    counts = {"num_trials": 2, "num_cells": 2, "resolved": {"name": "small"}}
    axes, dev = (AxisRecord(**size, low=1e-6, high=1e-3), norm), STUDY.objective
    return StudyRecord(name="small", objective=dev, axes=axes, **counts)


@pytest.fixture
def cells() -> list[CellRecord]:
    found = []
    for trial, (name, size) in enumerate([("a" * 64, 1e-5), ("b" * 64, 1e-4)]):
        about = {"config": {"pgd": {"step_size": size}}, "proposal": {"step_size": size, "norm": "l2"}}
        found.append(CellRecord(identity=name, trial=trial, seed=0, **about))
    return found


@pytest.fixture
def study_dir(tmp_path: Path, study: StudyRecord, cells: list[CellRecord]) -> Path:
    with Ledger.open(tmp_path / "small") as ledger:
        ledger.freeze(study)
        ledger.plan(cells)
    return tmp_path / "small"


@pytest.fixture
def searched_dir(tmp_path: Path) -> Path:
    return make_study(tmp_path / "halving")
