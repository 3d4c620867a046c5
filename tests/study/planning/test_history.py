"""What real ledgers tell a plan."""

import sqlite3

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.records import EvaluationRow
from rse_study.spec import fingerprint_of
from rse_study.study.planning.history import NEWEST, History, history_of
from rse_study.study.planning.measured import Conditions, work_of
from tests.cases import cases
from tests.study.planning.priced import enter, grid_of, rows

RHOS = {"axes": {"rho": [0, 0.5]}}
SCORED = {"evaluations": ["builtin/test"]}


@pytest.fixture
def grid(content):
    return grid_of(content, RHOS, seeds=[0, 1], **SCORED)


@pytest.fixture
def folder(grid, tmp_path):
    """Row 0 is complete with both seeds, the first one scored; row 1 has failed, and runs."""
    cells = [*rows(grid)[:2], ("grid", 1, grid.rows[1].trial, 0, "failed")]
    cells.append(("grid", 1, grid.rows[1].trial, 1, "running"))
    folder = enter(grid, tmp_path, cells, duration_s=300.0)
    with Ledger.open(folder) as ledger:
        subject = fingerprint_of(["grid", 0, 0])
        score = EvaluationRow(subject=subject, task="builtin", split="test", value=1.0, num_examples=4)
        ledger.record_evaluations([score])
    times = "started = '2026-01-01T00:00:00+00:00', ended = '2026-01-01T00:05:20+00:00'"
    edit(folder, f"UPDATE attempt SET {times}")
    edit(folder, f"UPDATE cell SET {times} WHERE status = 'complete'")
    return folder


def edit(folder, statement):
    """Times are the clock's: tests set them afterwards."""
    with sqlite3.connect(ledger_path(folder)) as connection:
        connection.execute(statement)


def history(grid, folder, encoder="tiny") -> History:
    return history_of(grid, folder.parent, {encoder})


def test_times_are_those_of_complete_cells_of_these_encoders(grid, folder):
    found = history(grid, folder)
    assert found.source == f"2 cells of {folder.name}"
    expected = {(300.0, work_of(grid.rows[0].trial, 60), 20.0)}
    assert {(one.seconds, one.work, one.beside) for one in found.timed} == expected
    assert {one.conditions for one in found.timed} == {
        Conditions.wanted(grid.rows[0].trial, grid.study.resources)
    }
    assert {one.scored for one in found.timed} == {frozenset(), frozenset({"builtin/test"})}
    assert history(grid, folder, "minilm") == History()


def test_a_damaged_ledger_and_configurations_of_other_versions_are_left_out(grid, folder):
    (folder.parent / "broken").mkdir()
    ledger_path(folder.parent / "broken").write_text("no database")
    assert history(grid, folder).source == f"2 cells of {folder.name}"
    edit(folder, "UPDATE cell SET config = json_set(config, '$.method.name', 'unheard_of')")
    assert history(grid, folder) == History()


@cases(
    ("provenance", "gpus", "card"),
    [
        ({"device_type": "cpu", "device": "x86"}, 0.0, ""),
        ({"device_type": "cuda", "device": "T4"}, 0.25, "T4"),
    ],
)
def test_cells_of_a_gpu_tell_its_name_and_their_share_of_it(grid, tmp_path, provenance, gpus, card):
    folder = enter(grid, tmp_path, rows(grid)[:1], provenance=provenance)
    with Ledger.open(folder) as ledger:
        ledger.add_provenance({"gpus": 0.25})
    edit(folder, "UPDATE provenance SET at = '2025-12-31T23:59:59+00:00'")
    assert {(one.conditions.gpus, one.card) for one in history(grid, folder).timed} == {(gpus, card)}


def test_cells_that_another_study_has_run_alike_are_taken(content, grid, tmp_path):
    enter(grid, tmp_path, rows(grid), has_model=False)

    def taken(**changes):
        other = grid_of(content, RHOS, name="other", seeds=[0, 1], **changes)
        return history_of(other, tmp_path, {"tiny"}).elsewhere

    alone = {"keep_models": "none", "evaluations": []}
    names = {(trial, seed): grid.study.name for _, _, trial, seed, _ in rows(grid)}
    assert taken(**alone) == names
    for changes in ({"storage": str(tmp_path)}, {"resources": {"gpus": 1}}, SCORED, {"keep_models": "final"}):
        assert taken(**(alone | changes)) == {}, changes


def test_only_the_newest_cells_of_a_ledger_are_read(content, tmp_path):
    grid = grid_of(content, RHOS, seeds=list(range(NEWEST)))
    enter(grid, tmp_path, rows(grid, range(NEWEST // 2 + 1)), has_model=False)
    assert len(history_of(grid, tmp_path, {"tiny"}).timed) == NEWEST
