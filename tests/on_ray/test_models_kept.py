"""Whose models stay, by keep_models: read from the ledger. Nothing here runs."""

import math
from dataclasses import replace
from itertools import count

import pytest

from rse_study.errors import InputError
from rse_study.on_ray.queue import Cell
from rse_study.on_ray.scoring import Scoring
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.study_run import StudyRun
from rse_study.results.files.backup import rebuild
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result
from rse_study.results.files.schema import cell_folder
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord
from rse_study.study.record import study_record
from tests.cases import cases
from tests.on_ray.listener import Listener
from tests.on_ray.world import checked_of, few, grid_of
from tests.results.world import begin, end

OBJECTIVES = {"dev": {}, "loss": {"metric": "loss", "direction": "minimize"}}
GRID = {"axes": {"rho": [0, 0.5, 1]}}


@pytest.fixture
def gone(study_content, checked, materials, tmp_path):
    """Which rows' models go, of a grid whose rows ended with these dev scores; `retired`: rows no longer in it."""

    folders = count()

    def gone(keep_models: str, scores, retired=(), metric="dev") -> set[int]:
        content = grid_of(study_content, grid=GRID, keep_models=keep_models, objective=OBJECTIVES[metric])
        study = checked_of(content).study
        with Ledger.open(tmp_path / str(next(folders))) as ledger:
            ledger.freeze(study_record(checked, materials.dev))
            cells = [_cell(number) for number in range(len(scores))]
            for cell, score in zip(cells, scores, strict=True):
                point = Point(t=3, metrics={metric: score} if score is not None else {})
                end(ledger, begin(ledger, cell), history=(point,))
            ledger.retire_others({_cell(n).identity for n in range(len(scores)) if n not in retired}, "grid")
            cache = MaterialsCache(lambda trial: materials)
            files = StudyFiles(ledger.study_dir)
            scoring = Scoring(study, study.base, files, ledger, cache, Listener(), [], [])
            left = scoring.models_not_kept([])
        return {number for number in range(len(scores)) if _cell(number).identity in left}

    return gone


def _cell(number: int) -> CellRecord:
    return CellRecord(identity=f"{number:016x}" * 4, trial=number, seed=0, stage="grid", config={})


@cases(
    ("keep_models", "scores", "options", "gone_rows"),
    [
        ("final", [50.0, 90.0], {}, set()),
        ("none", [50.0, 90.0], {"retired": {1}}, {0, 1}),
        ("best", [50.0, 90.0, 70.0], {}, {0, 2}),
        ("best", [50.0, 90.0, 70.0], {"metric": "loss"}, {1, 2}),
        ("best", [50.0, 90.0, 70.0], {"retired": {1}}, {0, 1}),  # the study's best as it is now
        ("best", [math.nan, 50.0, None], {}, {0, 2}),
        ("best", [math.nan], {}, {0}),
    ],
)
def test_models_stay_by_what_the_study_keeps(gone, keep_models, scores, options, gone_rows):
    assert gone(keep_models, scores, **options) == gone_rows


@cases(
    ("keep_models", "evaluations", "stage", "left"),
    [
        ("final", [], "grid", [{0}, {0, 1}, {0, 1, 2}]),
        ("none", [], "grid", [set(), set(), set()]),
        ("best", [], "grid", [{0}, {1}, {1}]),
        (
            "none",
            ["attack-mr/pwws"],
            "grid",
            [{0}, {0, 1}, {0, 1, 2}],
        ),  # they are attacked after the last stage
        ("none", ["attack-mr/pwws"], "search", [set(), set(), set()]),
        ("best", [], "confirm", [{0}, {0, 1}, {0, 1, 2}]),
    ],
)
def test_a_model_that_nobody_will_ask_for_goes_when_its_cell_has_ended(
    study_content, materials, tmp_path, keep_models, evaluations, stage, left
):
    content = study_content if stage == "confirm" else grid_of(study_content, grid=GRID)
    study = checked_of(content | {"keep_models": keep_models}).study
    asked = [Attacked()] * len(evaluations)
    folder = tmp_path / f"{keep_models}{stage}{len(evaluations)}"
    with Ledger.open(folder) as ledger:
        files = StudyFiles(folder)
        scoring = Scoring(
            study, study.base, files, ledger, MaterialsCache(lambda trial: materials), Listener(), asked, []
        )
        for number, dev in enumerate((50.0, 90.0, 70.0)):
            record = _cell(number).model_copy(update={"stage": stage})
            point = Point(t=3, metrics={"dev": dev})
            (cell_folder(folder, record.identity) / "model").mkdir(parents=True)
            result = Result(
                identity=record.identity, seed=0, config={}, history=(point,), final=point.metrics
            )
            scoring.drop_settled(record, result)
            kept = {n for n in range(3) if (cell_folder(folder, _cell(n).identity) / "model").exists()}
            assert kept == left[number], number


class Attacked:
    """An evaluation of weights: its name says enough."""

    name = fingerprint = "attack-mr/pwws"
    measures, num_sentences = (), 0

    def score_weights(self, weights, embed, subject): ...


# What becomes of scores and trials where a base was changed in place. Nothing here runs.


@pytest.fixture
def prepared(checked, materials, tmp_path):
    """Prepares the study with a base called so; when each baseline's score was last written."""

    def on(base: str) -> MaterialsCache:
        made = replace(materials, fingerprints=materials.fingerprints | {"base": base})
        return MaterialsCache(lambda trial: made)

    def prepare(base: str) -> dict[str, float]:
        files = StudyFiles(tmp_path)
        with Ledger.open(tmp_path) as ledger:
            run = StudyRun(checked, files, ledger, on(base), few, Listener())
            run.prepare()
            for scores in run.baselines():
                ledger.record_evaluations(scores)
            rows = {(row.subject, row.metric): row.value for row in ledger.evaluations()}
            wrong = [row.model_copy(update={"value": -1.0}) for row in ledger.evaluations()]
            ledger.record_evaluations(wrong)  # whoever measures again puts it right
            return rows

    def cell_of(base: str) -> CellRecord:
        point = {"alpha": 1e-5, "rho": 0.5}
        trial = checked.space.apply(point)
        return Cell(0, 0, on(base).identify(trial, 0), trial, point).record()

    prepare.cell_of = cell_of
    return prepare


def test_they_are_measured_again_when_the_weights_are_others_or_nobody_knows_them(prepared, tmp_path):
    first = prepared("one")
    assert first
    assert set(prepared("one").values()) == {-1.0}
    assert prepared("another") == first
    assert set(prepared("another").values()) == {-1.0}
    for part in tmp_path.glob("ledger.sqlite*"):
        part.unlink()
    rebuild(tmp_path)
    assert set(prepared("another").values()) == {-1.0}


def test_a_search_goes_on_with_what_it_was_begun_with(prepared, tmp_path):
    """One finished trial; then the base's weights are others: neither a trial nor a baseline of them joins it."""
    prepared("one")
    with Ledger.open(tmp_path) as ledger:
        cell = begin(ledger, prepared.cell_of("one"))
        end(ledger, cell, status="failed", reason="step 3: the loss is not finite")
    prepared("one")
    with pytest.raises(InputError) as refused:
        prepared("another")
    assert "trial 0 was another cell when it ran" in str(refused.value)
    assert refused.value.rule.endswith("base was one and is another")
    assert "Give the study another name" in refused.value.remedy
    with Reader(tmp_path) as reader:
        assert set(reader.evaluations()["value"]) == {-1.0}  # as they were


def test_a_trial_that_was_only_lost_holds_a_search_to_nothing(prepared, tmp_path):
    """It has no result, and runs again with what there is now."""
    prepared("one")
    with Ledger.open(tmp_path) as ledger:
        ledger.plan([prepared.cell_of("one")])
        ledger.fail(prepared.cell_of("one").identity, "worker killed by signal 9")
    assert prepared("another")
