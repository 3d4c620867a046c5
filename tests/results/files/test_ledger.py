import json
import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rse_study.errors import InputError, Unavailable
from rse_study.results import records, study_record
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result
from rse_study.results.files.schema import cell_folder
from tests.results.world import HERE, make_study, result_of, score_of


def test_a_ledger_gives_back_what_it_was_given(study_dir, study, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.start(cells[0].identity, **HERE)
        ledger.record_result(result_of(cells[0], [1.0, 2.0]))
        ledger.fail(cells[1].identity, "step 7: loss is nan")
        assert ledger.study() == study
        first, second = ledger.cells()
    assert (first.status, first.duration_s, first.proposal, first.config) == (
        "complete", 2.5, cells[0].proposal, cells[0].config,
    )  # fmt: skip
    assert first.provenance == {"threads": 1, "torch": "2.13.0"}
    assert (second.status, second.reason) == ("failed", "step 7: loss is nan")


def test_cells_can_be_read_with_some_of_their_settings_alone(study_dir, cells):
    config = {"method": {"name": "dcl", "hidden": 9}, "budget": {"unit": "steps", "amount": 4}, "seed": 3}
    with Ledger.open(study_dir) as ledger:
        ledger.plan([cells[0].model_copy(update={"identity": "e" * 64, "trial": 7, "config": config})])
        whole, some = ledger.cells(), ledger.cells(settings=("method", "budget"))
    assert [one.model_copy(update={"config": {}}) for one in some] == [
        one.model_copy(update={"config": {}}) for one in whole
    ]
    for one, other in zip(whole, some, strict=True):
        assert other.config == {name: one.config.get(name) for name in ("method", "budget")}


def test_planning_again_keeps_what_is_known(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.record_result(result_of(cells[0], [1.0]))
        ledger.plan(cells)
        assert [cell.status for cell in ledger.cells()] == ["complete", "planned"]


def test_two_cells_cannot_share_a_trial_and_a_seed(study_dir, cells):
    twin = cells[0].model_copy(update={"identity": "c" * 64})
    with Ledger.open(study_dir) as ledger:
        with pytest.raises(
            InputError, match=r"trial 0, seed 0 is another cell already, not cccc.*another name"
        ):
            ledger.plan([cells[1].model_copy(update={"identity": "d" * 64, "trial": 9}), twin])
        assert ledger.cells() == [cell.model_copy(update={"revision": 1}) for cell in cells]
    assert not cell_folder(study_dir, "d" * 64).exists()


def test_planning_brings_a_retired_cell_back_as_it_was(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.record_result(result_of(cells[0], [1.0]))
        before = ledger.cells()
        ledger.retire_others(set(), "search")
        assert [cell.retired for cell in ledger.cells()] == [True, True]
        ledger.plan(cells)
        assert ledger.cells() == before


def test_a_cell_notes_the_revision_that_planned_it(study_dir, study, cells):
    grown = study.model_copy(update={"num_trials": 3})
    third = cells[0].model_copy(update={"identity": "c" * 64, "trial": 2, "revision": 77})
    with Ledger.open(study_dir) as ledger:
        assert ledger.freeze(study) == 1
        assert ledger.freeze(grown, "num_trials: 2 -> 3") == 2
        assert ledger.freeze(grown, "not told: nothing has changed") == 2
        ledger.plan([*cells, third])
        assert [cell.revision for cell in ledger.cells()] == [1, 1, 2]
        assert ledger.study() == grown
        revisions = ledger.select("SELECT number, change, study FROM revision ORDER BY number", {})
    expected = [(1, "created", study), (2, "num_trials: 2 -> 3", grown)]
    assert [
        (number, said, study_record.StudyRecord.model_validate_json(text)) for number, said, text in revisions
    ] == expected


def test_a_result_replaces_the_history_before_it_and_may_come_twice(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.record_result(result_of(cells[0], [99.0, 98.0, 97.0]))
        for _ in range(2):
            ledger.record_result(result_of(cells[0], [1.0, 2.0]))
        history = [(row.t, row.value) for row in ledger.history(cells[0].identity) if row.name == "dev"]
        assert history == [(10, 1.0), (20, 2.0)]


@given(values=st.lists(st.floats(), min_size=1, max_size=20))
@settings(max_examples=25)
def test_every_float_survives(values, tmp_path_factory):
    cell = records.CellRecord(identity="a", trial=0, seed=0, config={})
    study = study_record.StudyRecord(name="s", objective=study_record.ObjectiveRecord(metric="dev"))
    history = tuple(Point(t=t, metrics={"loss": value}) for t, value in enumerate(values))
    with Ledger.open(tmp_path_factory.mktemp("floats")) as ledger:
        ledger.freeze(study)
        ledger.plan([cell])
        for t, value in enumerate(values):
            ledger.record_rung(records.RungRow(cell="a", t=t, value=value, verdict="stop"))
        ledger.record_evaluations([score_of(str(t), value) for t, value in enumerate(values)])
        ledger.record_result(Result(identity="a", seed=0, config={}, history=history))
        scores = {int(row.subject): row.value for row in ledger.evaluations()}
        for rows in (ledger.history("a"), ledger.rungs()):
            assert [repr(row.value) for row in rows] == [repr(float(value)) for value in values]
        assert [repr(scores[t]) for t in range(len(values))] == [repr(float(value)) for value in values]


def test_who_holds_it_is_named_until_it_is_closed(study_dir):
    with Ledger.open(study_dir), pytest.raises(InputError, match=f"process {os.getpid()} on .*one writer"):
        Ledger.open(study_dir)
    Ledger.open(study_dir).close()


def test_nothing_in_it_is_pickled_and_writing_does_not_wait_for_the_disk_at_every_commit(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.add_provenance({"torch": "2.13.0"})
        ledger.log("note", "hello", cell=cells[0].identity)
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in db.execute(f"SELECT * FROM {table}")]
        assert not [value for row in rows for value in row if isinstance(value, bytes)]
        assert json.loads(db.execute("SELECT content FROM provenance").fetchone()[0]) == {"torch": "2.13.0"}
    with Ledger.open(study_dir) as ledger:
        assert ledger._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ledger._db.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_folder_is_made_where_there_is_none_and_cells_are_planned_after_their_study(tmp_path: Path, cells):
    with Ledger.open(tmp_path / "a/b") as ledger:
        assert ledger.study() is None
        assert ledger.cells() == []
    with Ledger.open(tmp_path / "new") as ledger:
        ledger.log("note", "refused")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["ledger.lock"]
    (tmp_path / "study").write_text("")
    with pytest.raises(InputError, match="no place for a ledger"):
        Ledger.open(tmp_path / "study")
    with Ledger.open(tmp_path) as ledger, pytest.raises(AssertionError, match="frozen"):
        ledger.plan(cells)


def test_progress_is_kept_while_a_cell_runs_and_until_its_result(study_dir, cells):
    name = cells[0].identity
    with Ledger.open(study_dir) as ledger:
        ledger.start(name, **HERE)
        ledger.record_progress(name, 1, {"dev": 1.0, "loss": 2.0})
        ledger.record_progress(name, 1, {"dev": 3.0})
        ledger.lose(name, "killed")
        expected = [(1, "dev", 3.0), (1, "loss", 2.0)]
        assert [(row.t, row.name, row.value) for row in ledger.history(name)] == expected
        ledger.record_progress(name, 2, {"dev": 4.0})  # of a process that did not know it was lost
        ledger.start(name, **HERE)
        ledger.record_result(result_of(cells[0], [5.0]))
        ledger.record_progress(name, 99, {"dev": 4.0})
        assert {row.t for row in ledger.history(name)} == {10}
        with pytest.raises(AssertionError, match="never planned"):
            ledger.record_progress("f" * 64, 1, {"dev": 1.0})


def test_the_first_verdict_stands(study_dir, cells):
    first = records.RungRow(cell=cells[0].identity, t=10, value=50.0, verdict="continue")
    with Ledger.open(study_dir) as ledger:
        ledger.record_rung(first)
        ledger.record_rung(first.model_copy(update={"value": 1.0, "verdict": "stop"}))
        assert ledger.rungs() == [first]


def test_an_evaluators_importance_is_replaced_as_a_whole(study_dir):
    def rows(evaluator, **values):
        return [
            records.ImportanceRow(axis=axis, evaluator=evaluator, value=value, num_trials=9)
            for axis, value in values.items()
        ]

    with Ledger.open(study_dir) as ledger:
        ledger.record_importance(rows("fanova", alpha=0.7, norm=0.3) + rows("shapley", alpha=0.5))
        ledger.record_importance(rows("fanova", norm=1.0))
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        found = db.execute("SELECT axis, evaluator, value FROM importance ORDER BY evaluator").fetchall()
    assert found == [("norm", "fanova", 1.0), ("alpha", "shapley", 0.5)]


def test_a_full_disk_and_a_removed_folder_end_a_run_with_their_remedy(tmp_path):
    study_dir = make_study(tmp_path / "halving")
    with Ledger.open(study_dir) as ledger:
        ledger.require_file()
        (pages,) = ledger._db.execute("PRAGMA page_count").fetchone()
        ledger._db.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then says what it says of a full disk
        with pytest.raises(
            Unavailable, match=r"no room left in .*halving\. Make room; the same command resumes the run"
        ):
            ledger.log("note", "x" * 1_000_000)
        (study_dir / "ledger.sqlite").rename(study_dir / "moved.sqlite")
        with pytest.raises(Unavailable, match="was removed or replaced while the study ran"):
            ledger.require_file()
        (study_dir / "moved.sqlite").rename(study_dir / "ledger.sqlite")
