"""Whose models stay, by keep_models: read from the ledger. Nothing here runs."""

import math

import pytest

from rse_study.on_ray.scoring import Scoring
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.on_ray.stored.folders import StudyFolders
from rse_study.on_ray.workers.materials_cache import MaterialsCache
from rse_study.results.ledger import Ledger
from rse_study.results.records import CellRecord
from rse_study.results.result_file import Point, Result
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.study.record import study_record
from tests.on_ray.test_added_evaluation import Listener

OBJECTIVES = {"dev": {}, "loss": {"metric": "loss", "direction": "minimize"}}
GRID = {"axes": {"rho": [0, 0.5, 1]}}


@pytest.fixture
def gone(study_content, checked, materials, tmp_path):
    """Which rows' models go, of a grid whose rows ended with these dev scores; `retired`: rows no longer in it."""

    def gone(keep_models: str, scores, retired=(), metric="dev") -> set[int]:
        only_grid = {name: study_content[name] for name in ("name", "question", "base")}
        changed = {"grid": GRID, "seeds": [0], "keep_models": keep_models}
        study = build(Study, only_grid | changed | {"objective": OBJECTIVES[metric]}, where="x")
        with Ledger.open(tmp_path) as ledger:
            ledger.freeze(study_record(checked, materials.dev))
            cells = [_cell(number) for number in range(len(scores))]
            ledger.plan(cells)
            for cell, score in zip(cells, scores, strict=True):
                _complete(ledger, cell, {metric: score} if score is not None else {})
            ledger.retire_others({_cell(n).identity for n in range(len(scores)) if n not in retired}, "grid")
            cache = MaterialsCache(lambda trial: materials)
            scoring = Scoring(study, StudyFiles(StudyFolders(tmp_path)), ledger, cache, Listener(), [], [])
            left = scoring.models_not_kept([])
        return {number for number in range(len(scores)) if _cell(number).identity in left}

    return gone


def _cell(number: int) -> CellRecord:
    return CellRecord(identity=f"{number:064x}", trial=number, seed=0, stage="grid", config={})


def _complete(ledger: Ledger, cell: CellRecord, metrics: dict[str, float]) -> None:
    ledger.start(cell.identity, executor="inline", workers=1, threads=1)
    point = Point(t=3, metrics=metrics)
    ledger.record_result(Result(identity=cell.identity, seed=cell.seed, config={}, history=(point,)))


def test_every_model_stays_or_none(gone):
    assert gone("final", [50.0, 90.0]) == set()


def test_none_stays(gone):
    assert gone("none", [50.0, 90.0], retired={1}) == {0, 1}


@pytest.mark.parametrize(("metric", "best"), [("dev", 1), ("loss", 0)])
def test_the_best_stays(gone, metric, best):
    assert gone("best", [50.0, 90.0, 70.0], metric=metric) == {0, 1, 2} - {best}


def test_the_best_is_one_of_the_study_as_it_is_now(gone):
    assert gone("best", [50.0, 90.0, 70.0], retired={1}) == {0, 1}


def test_what_has_no_value_is_not_the_best(gone):
    assert gone("best", [math.nan, 50.0, None]) == {0, 2}


def test_where_nothing_has_a_value_nothing_stays(gone):
    assert gone("best", [math.nan]) == {0}
