"""Cells that have still to run, counted in real ledgers."""

from dataclasses import replace

import pytest

from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.files.ledger import Ledger
from rse_study.results.records import CellRecord, EvaluationRow
from rse_study.results.settings import UntilDecided
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search.state import SearchState
from rse_study.study.planning.remaining import read_ledger, remaining, rows_left
from tests.cases import cases
from tests.evaluation.contract import by_letters
from tests.study.planning.priced import enter, grid_of, rows, search_of

RHOS = {"axes": {"rho": [0, 0.5, 1]}}
TWO_SEEDS = {"seeds": [0, 1]}
STATES = ("complete", "failed", "running", "planned", "stopped_early", "complete")


def sixty(trial):
    return 60


def seeds_left(checked, store, elsewhere=None):
    """Seeds to run by row."""
    return {one.row: one.seeds for one in rest_of(checked, store, elsewhere).left}


def rest_of(checked, store, elsewhere=None):
    return remaining(checked, store / checked.study.name, elsewhere or {}, sixty)


@pytest.fixture
def grid(content):
    return grid_of(content, RHOS, **TWO_SEEDS)


def test_a_new_grid_runs_every_seed_of_every_row(grid, tmp_path):
    assert seeds_left(grid, tmp_path) == dict.fromkeys(("rho = 0", "rho = 0.5", "rho = 1"), (0, 1))


def test_cells_that_have_ended_are_not_asked_for_again(grid, tmp_path):
    cells = [(*cell[:4], state) for cell, state in zip(rows(grid), STATES, strict=True)]
    enter(grid, tmp_path, cells)
    assert seeds_left(grid, tmp_path) == {"rho = 0": (), "rho = 0.5": (0, 1), "rho = 1": ()}


def test_an_added_row_or_seed_runs_and_nothing_else(content, grid, tmp_path):
    enter(grid, tmp_path, rows(grid))
    larger = grid_of(content, {"axes": {"rho": [0, 0.5, 0.75, 1]}}, seeds=[0, 1, 2])
    wanted = {"rho = 0": (2,), "rho = 0.5": (2,), "rho = 0.75": (0, 1, 2), "rho = 1": (2,)}
    assert seeds_left(larger, tmp_path) == wanted


def test_cells_of_other_studies_are_copied_and_not_run(grid, tmp_path):
    elsewhere = {(grid.rows[0].trial, 0): "other", (grid.rows[0].trial, 1): "other"}
    first = rest_of(grid, tmp_path, elsewhere).left[0]
    assert (first.num_cells, first.copied_from) == (0, ("other", "other"))
    enter(grid, tmp_path, rows(grid)[:1])
    first = rest_of(grid, tmp_path, elsewhere).left[0]
    assert (first.num_cells, first.copied_from) == (0, ("other",))


def test_a_row_that_comes_back_has_its_results_unless_another_cell_took_its_place(grid, tmp_path):
    folder = enter(grid, tmp_path, rows(grid))
    with Ledger.open(folder) as ledger:
        ledger.retire_others((), "grid")
    assert set(seeds_left(grid, tmp_path).values()) == {()}
    config = grid.rows[0].trial.model_dump(mode="json")
    with Ledger.open(folder) as ledger:
        ledger.plan([CellRecord(identity="f" * 64, trial=0, seed=1, stage="grid", config=config)])
    assert seeds_left(grid, tmp_path) == {"rho = 0": (1,), "rho = 0.5": (), "rho = 1": ()}
    assert len(rest_of(grid, tmp_path).cells) == 5


def test_a_decided_row_spares_its_other_seeds_and_the_bounds_are_those_of_the_file(content, tmp_path):
    """rho = 0.5 was decided with six seeds, rho = 1 has ended six and is not."""
    until = {"until": "decided", "at_least": 3, "at_most": 9}
    grid = grid_of(content, {**RHOS, "baseline": "rho = 0"}, seeds=until)
    assert set(seeds_left(grid, tmp_path).values()) == {tuple(range(9))}
    enter(grid, tmp_path, rows(grid, range(6)))
    ledger, pairs = read_ledger(tmp_path / grid.study.name, grid, None), ((0, 0), (2, 0.1), (0, 9))
    values = {
        trial: {seed: 50 + mean + sd * (-1) ** seed for seed in range(6)}
        for trial, (mean, sd) in enumerate(pairs)
    }
    frozen = StudyRecord(name="some", objective=ObjectiveRecord(metric="dev"), kind="grid")
    for bounds, wanted in ((until, [3, 0, 3]), (until | {"at_most": 20}, [3, 3, 3])):
        given = RowSeeds(UntilDecided.model_validate(bounds), 3, 0, values)
        left = rows_left(grid, replace(ledger, state=SearchState(frozen, rows=given)), {}, sixty)
        assert [one.num_cells for one in left] == wanted


PLAIN = {"early_stopping": None, "evaluations": []}


def left_by_stage(checked, store):
    return {one.stage: one.num_cells for one in rest_of(checked, store).left}


@cases(
    ("changes", "wanted"),
    [
        ({"num_trials": 12, "confirm": None}, (12, 0, 0)),
        ({"num_trials": 12, "confirm": {"seeds": [1, 2], "baseline": "base"}}, (12, 4, 0)),
        ({"confirm": {"seeds": [1, 2]}, "ablation_path": {"seeds": [1, 2, 3]}}, (16, 4, 37 * 3 - 4)),
        ({"confirm": {"seeds": [1, 2]}, "ablation_path": {"seeds": [3], "order": "importance"}}, (16, 4, 9)),
    ],
)
def test_a_new_search_is_counted_at_most(content, tmp_path, changes, wanted):
    checked = search_of(content, **PLAIN | changes)
    left = left_by_stage(checked, tmp_path)
    assert (left["search"], left["confirm"], left["path"]) == wanted
    assert sum(left.values()) == checked.num_cells


def test_a_search_that_its_budget_ended_is_over_until_the_file_has_more(content, tmp_path):
    plain = PLAIN | {"confirm": None, "num_trials": 6}
    checked = search_of(content, search_budget={"steps": 150}, **plain)
    enter(checked, tmp_path, [("search", number, checked.study.base, 0, "complete") for number in (0, 1)])
    assert left_by_stage(checked, tmp_path)["search"] == 0
    more = search_of(content, search_budget={"steps": 500}, **plain)
    assert left_by_stage(more, tmp_path)["search"] == 4


def test_scores_are_missing_of_models_to_come_and_of_complete_cells(content, tmp_path):
    grid = grid_of(content, RHOS, evaluations=["builtin/test"], **TWO_SEEDS)
    folder = enter(grid, tmp_path, rows(grid)[:4])
    found = rest_of(grid, tmp_path).scores
    assert (found.missing, found.num_only, found.num_retrained) == ({"builtin/test": 6}, 4, 0)
    with Ledger.open(folder) as ledger:
        about = {"task": "builtin", "split": "test", "value": 1.0, "num_examples": 4}
        ledger.record_evaluations([EvaluationRow(subject=one.identity, **about) for one in ledger.cells()])
    assert rest_of(grid, tmp_path).scores.missing == {"builtin/test": 2}


def test_scores_on_an_own_file_are_missing_once_its_content_has_changed(content, tmp_path):
    own, evaluations = tmp_path / "own.csv", [{"pairs": "own.csv"}]
    own.write_text("a,b,1\nc,d,2\n")
    grid = replace(
        grid_of(content, RHOS, evaluations=evaluations, **TWO_SEEDS), where=str(tmp_path / "a.yaml")
    )
    folder, name = enter(grid, tmp_path, rows(grid)), "own/test"
    row = grid.read_evaluation(name, tmp_path).score(by_letters, "")[0]
    with Ledger.open(folder) as ledger:
        subjects = [one.identity for one in ledger.cells()]
        ledger.record_evaluations([row.model_copy(update={"subject": one}) for one in subjects])
    assert rest_of(grid, tmp_path).scores.missing == {}
    own.write_text("a,b,1\nc,d,3\n")
    assert rest_of(grid, tmp_path).scores.missing == {name: 6}
    own.unlink()
    assert rest_of(grid, tmp_path).scores.missing == {}, "without the file, nothing is known of a change"


def test_a_model_that_was_not_kept_is_trained_again_for_its_scores(content, tmp_path):
    grid = grid_of(content, RHOS, evaluations=["builtin/test"], **TWO_SEEDS)
    enter(grid, tmp_path, rows(grid), has_model=False)
    found = rest_of(grid, tmp_path).scores
    assert (found.num_only, found.num_retrained) == (6, 6)
    assert {(one.trial, one.num_cells) for one in found.retrained} == {(row.trial, 2) for row in grid.rows}
