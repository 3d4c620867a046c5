import os
import sqlite3

import pytest

from rse_study.errors import InputError
from rse_study.results.files.cell_file import write_cell
from rse_study.results.files.evaluation_file import write_evaluations
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import write_result
from rse_study.results.files.schema import SCHEMA_VERSION, cell_folder
from rse_study.results.reader import Reader
from rse_study.results.study_record import KnownTrial
from rse_study.search.rebuild import Rebuilt, rebuild, rungs_of
from rse_study.search.state import SearchState
from tests.results.world import HERE, STUDY, cell_of, result_of, run_cell, score_of

SAME = ("revision", "cell", "metric", "rung", "evaluation")


@pytest.fixture
def ended_dir(searched_dir):
    """The study after its run: nothing runs any more."""
    with Ledger.open(searched_dir) as ledger:
        ledger.close_attempts("the driver ended")
        ledger._db.execute(
            "DELETE FROM metric WHERE cell = ?", (cell_of(3).identity,)
        )  # as it never was reported
        ledger._db.commit()
    for path in searched_dir.glob("cells/*/result.json"):
        os.utime(path, (0, 0))  # a copy of a study may have lost its files' times
    return searched_dir


def rows_of(study_dir):
    with sqlite3.connect(study_dir / "ledger.sqlite") as db:
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall() for table in SAME}


def lose_ledger(study_dir):
    for path in study_dir.glob("ledger.sqlite*"):
        path.unlink()


def spoil(path):
    path.write_text(path.read_text().replace('"trial": 0', '"trial": 8').replace("59.0", "99.0"))


def test_a_rebuilt_ledger_equals_the_lost_one_row_for_row_however_often(ended_dir):
    before = rows_of(ended_dir)
    assert {row[7] for row in before["cell"]} == {"complete", "failed", "stopped_early", "planned"}
    assert all(before.values())
    lose_ledger(ended_dir)
    assert rebuild(ended_dir) == Rebuilt(num_cells=7, num_results=4, num_evaluations=2, damaged=[])
    assert rows_of(ended_dir) == before
    with sqlite3.connect(ended_dir / "ledger.sqlite") as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT kind FROM event").fetchall() == [("rebuilt",)]
    for _ in range(2):
        rebuild(ended_dir)
        assert rows_of(ended_dir) == before
    (ended_dir / ".ledger.sqlite.rebuilt").write_text("half a file")
    lose_ledger(ended_dir)
    rebuild(ended_dir)
    assert rows_of(ended_dir) == before
    assert not (ended_dir / ".ledger.sqlite.rebuilt").exists()


def test_the_old_ledger_is_moved_aside_with_its_log(searched_dir):
    before = rows_of(searched_dir)
    with Ledger.open(searched_dir) as ledger:
        ledger.log("note", "in the log only")
        log = (searched_dir / "ledger.sqlite-wal").read_bytes()
        main = (searched_dir / "ledger.sqlite").read_bytes()
    (searched_dir / "ledger.sqlite").write_bytes(main)  # as if it had been killed
    (searched_dir / "ledger.sqlite-wal").write_bytes(log)
    rebuild(searched_dir)
    (aside,) = [path for path in searched_dir.glob("ledger.sqlite.*") if path.name.endswith("Z")]
    with sqlite3.connect(aside) as db:
        assert db.execute("SELECT text FROM event WHERE kind = 'note'").fetchall() == [("in the log only",)]
        assert len(db.execute("SELECT * FROM metric").fetchall()) == len(before["metric"])


def test_a_cell_that_was_running_is_planned(searched_dir):
    lose_ledger(searched_dir)
    rebuild(searched_dir)
    with Reader(searched_dir) as reader:
        cells = reader.cells().set_index("trial")
        assert cells.loc[3, ["status", "started"]].tolist() == ["planned", ""]
        assert SearchState.read(reader).counts["running"] == 0


def test_a_result_nobody_was_told_of_counts(ended_dir):
    """The worker wrote it; the driver was killed before it could commit."""
    result = result_of(cell_of(4), [52.0, 53.0, 54.0, 55.0])
    path = write_result(cell_folder(ended_dir, cell_of(4).identity), result)
    os.utime(path, (1_800_000_000, 1_800_000_000))
    lose_ledger(ended_dir)
    assert rebuild(ended_dir).num_results == 5
    with Reader(ended_dir) as reader:
        row = reader.cells().set_index("trial").loc[4]
        expected = ["complete", "2027-01-15T08:00:00+00:00", 2.5]
        assert row[["status", "ended", "duration_s"]].tolist() == expected
        rungs = reader.rungs()
        expected = [[10, 52.0, "continue"], [30, 54.0, "continue"]]
        assert rungs[rungs["trial"] == 4][["t", "value", "verdict"]].values.tolist() == expected


@pytest.mark.parametrize(
    ("name", "told", "status"),
    [("cell.json", "checksum", None), ("result.json", "checksum", "planned")],
    ids=["cell", "result"],
)
@pytest.mark.parametrize("damage", ["edited", "cut", "empty", "not text", "a folder"])
def test_a_damaged_file_is_named_and_left_out(ended_dir, name, told, status, damage):
    path = cell_folder(ended_dir, cell_of(0).identity) / name
    content = path.read_bytes()
    if damage == "edited":
        spoil(path)
        assert path.read_bytes() != content
    elif damage == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {"cut": content[: len(content) // 2], "empty": b"", "not text": b"\xff\xfe\x00"}[damage]
        )
    lose_ledger(ended_dir)
    found = rebuild(ended_dir)
    assert len(found.damaged) == 1
    assert str(path) in found.damaged[0]
    assert (told in found.damaged[0]) == (damage == "edited")
    assert found.num_results == 3
    with Reader(ended_dir) as reader:
        statuses = dict(reader.cells()[["identity", "status"]].values)
        assert statuses.get(cell_of(0).identity) == status
        assert len(statuses) == (5 if status is None else 6)
        assert cell_of(0).identity not in set(reader.metrics()["cell"]) | set(reader.rungs()["cell"])
        assert reader.events()["kind"].tolist() == ["rebuilt", "damaged"]


def test_damaged_scores_are_named_and_left_out(ended_dir):
    folders = cell_folder(ended_dir, cell_of(0, 7, "confirm").identity), ended_dir / "baselines"
    for folder in folders:
        (folder / "evaluations.json").write_text('{"checksum": "0", "evaluations": []}')
    lose_ledger(ended_dir)
    found = rebuild(ended_dir)
    assert found.num_evaluations == 0
    assert found.num_results == 4
    shown = [str(folder) in problem for folder, problem in zip(folders, found.damaged, strict=True)]
    assert shown == [True, True]


def test_files_in_the_wrong_folder_are_not_believed(ended_dir):
    stranger = cell_folder(ended_dir, cell_of(9).identity)
    write_cell(stranger, cell_of(8))
    write_result(cell_folder(ended_dir, cell_of(4).identity), result_of(cell_of(0), [1.0]))
    twin = cell_of(2).model_copy(update={"identity": "f" * 64})
    write_cell(cell_folder(ended_dir, twin.identity), twin)
    lose_ledger(ended_dir)
    found = rebuild(ended_dir)
    assert found.num_cells == 7
    assert sorted(found.damaged) == sorted(
        [
            f"{stranger}: is the cell {cell_of(8).identity[:16]}. Remove its folder and run the study again",
            f"{cell_folder(ended_dir, cell_of(4).identity) / 'result.json'}: the result of another cell."
            " Remove it and run the cell again",
            f"{cell_folder(ended_dir, twin.identity)}: trial 2, seed 0 is cell {cell_of(2).identity[:16]} already."
            " Remove its folder and run the study again",
        ]
    )


def test_a_result_without_its_cell_is_named_and_an_unfinished_folder_is_not(ended_dir):
    result_only = cell_folder(ended_dir, cell_of(9).identity)
    write_result(result_only, result_of(cell_of(9), [1.0]))
    (cell_folder(ended_dir, cell_of(8).identity) / "checkpoint").mkdir(parents=True)
    (ended_dir / "cells/notes.txt").touch()
    found = rebuild(ended_dir)
    assert found.num_cells == 7
    assert len(found.damaged) == 1
    assert found.damaged[0].startswith(f"{result_only / 'cell.json'}: no such file")


@pytest.mark.parametrize("content", [None, "", "[]", '{"checksum": "0", "revisions": []}'])
def test_without_a_study_file_nothing_is_touched(ended_dir, content):
    path, ledger = ended_dir / "study.json", (ended_dir / "ledger.sqlite").read_bytes()
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=r"study\.json"):
        rebuild(ended_dir)
    assert (ended_dir / "ledger.sqlite").read_bytes() == ledger
    assert not list(ended_dir.glob("ledger.sqlite.*Z"))


def test_a_folder_that_is_no_studys_is_left_alone(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match="no such file"):
            rebuild(folder)
    assert list(tmp_path.iterdir()) == []


def test_the_study_goes_on_from_there_unless_somebody_holds_it(ended_dir):
    with Ledger.open(ended_dir), pytest.raises(InputError, match="one writer"):
        rebuild(ended_dir)
    lose_ledger(ended_dir)
    rebuild(ended_dir)
    with Ledger.open(ended_dir) as ledger:
        assert ledger.freeze(STUDY) == 2
        ledger.plan([cell_of(trial) for trial in range(5)])
        assert ledger.start(cell_of(3).identity, **HERE) == 1
        run_cell(ledger, cell_of(4), [50.0, 50.0, 50.0, 51.0])
        assert [cell.status for cell in ledger.cells() if cell.stage == "search"] == [
            "complete", "failed", "stopped_early", "running", "complete",
        ]  # fmt: skip


def test_scores_measured_but_never_committed_are_found(ended_dir):
    write_evaluations(cell_folder(ended_dir, cell_of(0).identity), [score_of(cell_of(0).identity, 44.0)])
    assert rebuild(ended_dir).num_evaluations == 3


def test_under_hyperband_a_cell_has_no_verdict_before_its_bracket_begins():
    rule = {"early_stopping": {"name": "hyperband", "first": 10, "factor": 2}}
    study = STUDY.model_copy(update={"resolved": rule, "rungs": (10, 20)})
    begins = set()
    for trial in range(7):
        cell = cell_of(trial)
        rows = rungs_of(study, cell, result_of(cell, [1.0, 2.0, 3.0]))
        assert {row.verdict for row in rows} <= {"continue"}
        begins.add(tuple(row.t for row in rows))
    assert begins == {(10, 20), (20,), ()}


def test_the_best_that_a_warm_start_knew_was_never_at_a_rung():
    known = [
        KnownTrial(study="s", trial=9, proposal=cell_of(trial).proposal, values=(value,))
        for trial, value in ((1, 50.0), (2, 60.0))
    ]
    study = STUDY.model_copy(update={"known_trials": tuple(known)})
    at_rungs = {
        trial: len(rungs_of(study, cell_of(trial), result_of(cell_of(trial), [1.0, 2.0, 3.0])))
        for trial in (1, 2)
    }
    assert at_rungs == {1: 2, 2: 0}
