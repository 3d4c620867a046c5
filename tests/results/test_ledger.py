import json
import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.errors import InputError
from rse_study.results.ledger import Ledger
from rse_study.results.lock import read_holder
from rse_study.results.records import EvaluationRow
from rse_study.results.result_file import Point, Result

HOLD = """
import sys, time
from pathlib import Path
from rse_study.results.ledger import Ledger
ledger = Ledger.open(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def result_of(cell, values, **changes):
    history = tuple(Point(t=10 * (i + 1), metrics={"dev": value}) for i, value in enumerate(values))
    return Result(
        identity=cell.identity, seed=cell.seed, config=cell.config, history=history, duration_s=2.5, **changes
    )


def test_a_ledger_gives_back_what_it_was_given(study_dir, study, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.start(cells[0].identity)
        ledger.record_result(result_of(cells[0], [1.0, 2.0]))
        ledger.fail(cells[1].identity, "step 7: loss is nan")
        assert ledger.study() == study
        first, second = ledger.cells()
    assert (first.status, first.duration_s, first.proposal, first.config) == (
        "complete", 2.5, cells[0].proposal, cells[0].config,
    )  # fmt: skip
    assert (second.status, second.reason) == ("failed", "step 7: loss is nan")


def test_planning_again_keeps_what_is_known(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.record_result(result_of(cells[0], [1.0]))
        ledger.plan(cells)
        assert [cell.status for cell in ledger.cells()] == ["complete", "planned"]


def test_two_cells_cannot_share_a_trial_and_a_seed(study_dir, cells):
    twin = cells[0].model_copy(update={"identity": "c" * 64})
    with Ledger.open(study_dir) as ledger, pytest.raises(sqlite3.IntegrityError):
        ledger.plan([twin])


def test_a_finished_cell_is_not_started_again(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.record_result(result_of(cells[0], [1.0]))
        ledger.start(cells[0].identity)
        assert ledger.cells()[0].status == "complete"


def test_a_result_replaces_the_history_before_it_and_may_come_twice(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.record_result(result_of(cells[0], [99.0, 98.0, 97.0]))
        for _ in range(2):
            ledger.record_result(result_of(cells[0], [1.0, 2.0]))
        assert [(row.t, row.name, row.value) for row in ledger.history(cells[0].identity)] == [
            (10, "dev", 1.0),
            (20, "dev", 2.0),
        ]


def test_a_result_of_an_unknown_cell_leaves_no_trace(study_dir, cells):
    stranger = result_of(cells[0].model_copy(update={"identity": "f" * 64}), [1.0])
    with Ledger.open(study_dir) as ledger:
        with pytest.raises((AssertionError, sqlite3.IntegrityError)):
            ledger.record_result(stranger)
        assert ledger.history("f" * 64) == []


def test_another_study_in_the_same_folder_is_refused(study_dir, study):
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(study)
        with pytest.raises(InputError, match="another name"):
            ledger.freeze(study.model_copy(update={"search_seed": 1}))
        with pytest.raises(InputError, match="another name"):
            ledger.freeze(study.model_copy(update={"name": "other"}))


def test_evaluations_are_kept_by_subject_and_replaced(study_dir):
    row = EvaluationRow(subject="untrained", task="pairs", split="dev", value=50.0, num_examples=10)
    with Ledger.open(study_dir) as ledger:
        ledger.record_evaluations([row])
        ledger.record_evaluations([row.model_copy(update={"value": 51.0})])
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        assert db.execute("SELECT subject, value FROM evaluation").fetchall() == [("untrained", 51.0)]


@given(value=st.floats())
def test_every_float_survives(value, tmp_path_factory):
    from rse_study.results.records import CellRecord

    cell = CellRecord(identity="a", trial=0, seed=0, config={})
    with Ledger.open(tmp_path_factory.mktemp("floats")) as ledger:
        ledger.plan([cell])
        ledger.record_result(
            Result(identity="a", seed=0, config={}, history=(Point(t=1, metrics={"loss": value}),))
        )
        (row,) = ledger.history("a")
    assert row.value == value or (math.isnan(value) and math.isnan(row.value))


def test_a_live_holder_is_named_and_a_killed_one_forgotten(study_dir):
    command = [sys.executable, "-c", HOLD, str(study_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=f"process {holder.pid} on ") as refusal:
            Ledger.open(study_dir)
        assert "one writer" in str(refusal.value)
        assert read_holder(study_dir / "ledger.lock")["pid"] == holder.pid
        holder.kill()
    Ledger.open(study_dir).close()


def test_one_process_cannot_open_it_twice(study_dir):
    with Ledger.open(study_dir), pytest.raises(InputError, match="one writer"):
        Ledger.open(study_dir)
    Ledger.open(study_dir).close()


def test_what_was_committed_survives_a_kill(study_dir, cells):
    code = HOLD.replace('print("held"', f'ledger.fail("{cells[0].identity}", "gone")\nprint("held"')
    command = [sys.executable, "-c", code, str(study_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "held\n"
        writer.kill()
    with Ledger.open(study_dir) as ledger:
        assert ledger.cells()[0].reason == "gone"


def test_foreign_and_newer_files_are_refused(tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text/ledger.sqlite").write_text("this is no database, whatever its name says" * 50)
    with pytest.raises(InputError, match="no ledger"):
        Ledger.open(tmp_path / "text")
    (tmp_path / "newer").mkdir()
    with sqlite3.connect(tmp_path / "newer/ledger.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="schema 99"):
        Ledger.open(tmp_path / "newer")


def test_nothing_in_it_is_pickled(study_dir, cells):
    with Ledger.open(study_dir) as ledger:
        ledger.add_provenance({"torch": "2.13.0"})
        ledger.log("note", "hello", cell=cells[0].identity)
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert not [
            v
            for table in tables
            for row in db.execute(f"SELECT * FROM {table}")
            for v in row
            if isinstance(v, bytes)
        ]
        assert json.loads(db.execute("SELECT content FROM provenance").fetchone()[0]) == {"torch": "2.13.0"}


def test_a_folder_is_made_where_there_is_none(tmp_path: Path):
    with Ledger.open(tmp_path / "a/b") as ledger:
        assert ledger.study() is None
        assert ledger.cells() == []


def test_a_file_in_the_folders_place_is_an_input_error(tmp_path):
    (tmp_path / "study").write_text("")
    with pytest.raises(InputError, match="no place for a ledger"):
        Ledger.open(tmp_path / "study")
