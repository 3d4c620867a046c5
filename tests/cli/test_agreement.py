"""What several commands say of one thing: which cells are still to run, and what a row is called."""

import json
import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest
from optuna.trial import TrialState

from rse_study.cli.terminal import errors
from rse_study.cli.verbs.run import conclude
from rse_study.results.files.schema import cell_folder, ledger_path
from rse_study.results.reader import Reader
from rse_study.sampling.optuna_study import LedgerCopy

EARLIER = Path(__file__).parents[1] / "fixtures" / "earlier_study"


@pytest.fixture
def grid_dir(tmp_path):
    """A grid of three rows and two seeds, complete: two values of `optimizer.lr`, and the row SimCSE."""
    shutil.copytree(EARLIER, tmp_path, dirs_exist_ok=True)
    return tmp_path / "studies" / "old_grid"


@pytest.fixture
def lost(grid_dir):
    """Its cell of trial 1 and seed 1 was lost three times: failed, and no result on the disk."""
    failed = "'failed', reason = 'worker killed by signal 9'"
    with sqlite3.connect(ledger_path(grid_dir)) as db:
        (identity,) = db.execute("SELECT identity FROM cell WHERE trial = 1 AND seed = 1").fetchone()
        db.execute(f"UPDATE cell SET status = {failed} WHERE identity = ?", (identity,))
        db.execute(f"UPDATE attempt SET outcome = {failed} WHERE cell = ?", (identity,))
        db.execute("DELETE FROM metric WHERE cell = ?", (identity,))
    (cell_folder(grid_dir, identity) / "result.json").unlink()
    return identity


def status_of(rse):
    return json.loads(rse("status", "old_grid", "--json").out)


def test_a_cell_that_was_lost_is_still_to_run_for_status_and_for_plan(rse, lost):
    state = status_of(rse)
    counts = {"planned": 6, "complete": 5, "stopped_early": 0, "failed": 0, "running": 0, "missing": 1}
    assert (state["counts"], state["is_complete"], state["failed"]) == (counts, False, [])
    assert [one["reason"] for one in state["lost"]] == ["worker killed by signal 9"]
    assert state["eta_s"] > 0
    assert json.loads(rse("plan", "old_grid.yaml", "--json").out)["num_to_run"] == 1


def test_run_ends_with_what_the_next_run_takes_up_again(lost, grid_dir, capsys):
    assert conclude(Reader(grid_dir)) == errors.INCOMPLETE
    said = capsys.readouterr().err
    assert said == (
        "1 of 6 cells are not complete, 1 of them still to run. "
        "row optimizer.lr = 0.01 seed 1: worker killed by signal 9\n"
    )


def test_the_dashboard_shows_a_cell_that_was_lost_as_one_to_come(lost, grid_dir):
    shown = LedgerCopy(grid_dir).storage().get_all_trials(0)
    states = {trial.user_attrs["identity"]: trial.state for trial in shown}
    assert states.pop(lost) == TrialState.WAITING
    assert set(states.values()) == {TrialState.COMPLETE}


def test_no_claim_is_judged_while_a_lost_cell_is_to_run_again(rse, lost):
    assert "cells of 1 row are still to run" in rse("check", "old_grid").out


ROW = "optimizer.lr = 0.001"


def test_a_row_has_one_name_on_every_screen(rse, lost):
    """As the study's file calls its axis, which has the symbol xi."""
    (name,) = [one["name"] for one in status_of(rse)["lost"]]
    assert name == "row optimizer.lr = 0.01 seed 1"
    assert list(json.loads(rse("plan", "old_grid.yaml", "--json").out)["new"]) == ["optimizer.lr = 0.01"]
    assert "\n    optimizer.lr = 0.01: seeds 1" in rse("plan", "old_grid.yaml").out
    assert f"\n{ROW} " in rse("check", "old_grid").out


def test_a_run_and_its_report_call_a_cell_what_status_calls_it(rse, lost, grid_dir, monkeypatch):
    row = "optimizer.lr = 0.01"
    cell = SimpleNamespace(identity=lost, stage="grid", number=1, seed=1, label="", row=row, proposal={})

    def pretend(checked, folder, prepare, read, callback, **settings):
        callback.lost(cell, "worker killed")

    monkeypatch.setattr("rse_study.on_ray.driver.run_study", pretend)
    said = rse("run", "old_grid.yaml").out
    assert "row optimizer.lr = 0.01 seed 1: lost: worker killed; tried again" in said
    report = (grid_dir / "report.html").read_text(encoding="utf-8")
    assert ROW in report
    assert "xi = " not in report
    # Its opening, all its tables and its failures say that no cell failed; the reason stands with the attempt.
    assert "5 of 6 cells complete, 1 to run." in report
    assert "<td>failed</td>" not in report
    assert "No cell failed." in report
    lost_ones = report.partition("<h3>Lost attempts</h3>")[2].partition("</table>")[0]
    assert "optimizer.lr = 0.01, seed 1" in lost_ones
    assert "worker killed by signal 9" in lost_ones


def test_compare_takes_a_row_in_another_spelling_and_refuses_what_means_none(rse, grid_dir):
    ended = rse("compare", "old_grid:SimCSE", "old_grid:xi = 1/1000")
    assert ended.err.startswith(f"SimCSE minus {ROW}: cannot be paired: pairs need 3 seeds")
    ended = rse("compare", "old_grid:SimCSE", "old_grid:lr = 0.001")
    assert ended.code == 2
    assert ended.err.startswith("old_grid: no row 'lr = 0.001' with a score. ")
