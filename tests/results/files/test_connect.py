import errno
import fcntl
import math
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.errors import InputError
from rse_study.results.files import connect
from rse_study.results.files.backup import is_lost
from rse_study.results.files.connect import has_ledger, holder, open_study, open_to_write
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import SCHEMA_VERSION, TABLES
from rse_study.results.reader import Reader
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search.state import SearchState
from tests.cases import cases
from tests.results.world import RHO, make_study, read_only


def test_a_ledger_is_read_where_nobody_can_write(searched_dir):
    with Reader(searched_dir) as reader:
        expected = reader.trials_table()
    with read_only(searched_dir) as folder:
        before = sorted(path.name for path in folder.iterdir())
        with Reader(folder) as reader:
            assert reader.trials_table().equals(expected)
            assert SearchState.read(reader).counts["complete"] == 2
        assert sorted(path.name for path in folder.iterdir()) == before
        with pytest.raises(OSError, match="denied"):
            (folder / "new").touch()  # else this test shows nothing


def test_changes_that_cannot_be_read_there_are_told(searched_dir):
    with Ledger.open(searched_dir) as ledger:
        ledger.log("note", "still in the log")
        assert (searched_dir / "ledger.sqlite-wal").stat().st_size
        (searched_dir / "ledger.sqlite-shm").rename(searched_dir / "elsewhere")
        with (
            read_only(searched_dir) as folder,
            pytest.raises(InputError, match=r"ledger\.sqlite-wal holds changes"),
        ):
            Reader(folder)
        (searched_dir / "elsewhere").rename(searched_dir / "ledger.sqlite-shm")


def test_an_immutable_ledger_takes_no_writes_and_a_reader_none_anywhere(searched_dir):
    connection = open_study(searched_dir)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM event")
    connection.close()
    with read_only(searched_dir) as folder:
        connection = open_study(folder)
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("DELETE FROM event")
        connection.close()


@pytest.mark.parametrize(
    "but", [(), ("ledger.lock",), (".", "ledger.lock")], ids=["no file", "lock", "folder"]
)
def test_who_may_not_write_is_told_so(searched_dir, but):
    with read_only(searched_dir, but) as folder, pytest.raises(InputError, match="writable"):
        Ledger.open(folder)


@pytest.mark.parametrize("content", [b"", b"this is no database, whatever its name says" * 50])
def test_what_is_no_ledger_is_told_so(tmp_path, content):
    (tmp_path / "ledger.sqlite").write_bytes(content)
    for refuse in (Reader, Ledger.open) if content else (Reader,):
        with pytest.raises(InputError, match=r"is empty|no ledger"):
            refuse(tmp_path)


DAMAGES = {
    "the study": ("UPDATE revision SET study = replace(study, '\"objective\"', '\"objectivf\"')", "damaged"),
    "a cell": ("UPDATE cell SET proposal = replace(proposal, '{', 'z')", "damaged"),
    "a time": ("UPDATE cell SET started = '2026-13-01'", "damaged"),
    "half a letter": ("UPDATE cell SET config = CAST(x'7b22c3227d' AS TEXT)", "damaged"),
    "a status": ("PRAGMA ignore_check_constraints = 1; UPDATE cell SET status = 'complett'", "damaged"),
    "a column": ("ALTER TABLE evaluation RENAME COLUMN value TO valud", "a table or a column is missing"),
}


def _read_everything(folder):
    with Reader(folder) as reader:
        return SearchState.read(reader), reader.trials_table(), reader.evaluations()


def _go_on(folder):
    with Ledger.open(folder) as ledger:
        return ledger.study(), ledger.cells()


@cases("what", DAMAGES)
def test_a_ledger_with_flipped_bits_is_refused_with_the_way_out(tmp_path, what):
    study_dir, (script, said) = make_study(tmp_path / "halving"), DAMAGES[what]
    with closing(sqlite3.connect(study_dir / "ledger.sqlite")) as db:
        db.executescript(script)
        db.commit()
    for refuse in (_read_everything, _go_on):
        with pytest.raises(InputError, match=said) as caught:
            refuse(study_dir)
        assert "goes on from its backup" in caught.value.remedy
        assert str(study_dir / "ledger.sqlite") in caught.value.where


def test_an_empty_ledger_beside_its_backup_is_lost_and_one_without_it_new(tmp_path):
    study_dir = make_study(tmp_path / "halving")
    assert not is_lost(study_dir)
    (study_dir / "ledger.sqlite").write_bytes(b"")
    assert is_lost(study_dir)
    with pytest.raises(InputError, match=r"is empty.*Run the study"):
        Reader(study_dir)
    assert not is_lost(tmp_path)


def test_a_newer_ledger_is_neither_read_nor_written(searched_dir):
    with sqlite3.connect(searched_dir / "ledger.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    for refuse in (Reader, Ledger.open):
        with pytest.raises(InputError, match=r"schema 99.*Use the version that wrote it"):
            refuse(searched_dir)


def test_a_ledger_that_nobody_filled_is_none(tmp_path):
    """Emptied by a shell, or begun by a writer that was killed before it had made its tables."""
    path = tmp_path / "ledger.sqlite"
    assert not has_ledger(tmp_path)
    path.write_bytes(b"")
    assert not has_ledger(tmp_path) and not is_lost(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size and not has_ledger(tmp_path)
    open_to_write(path).close()
    assert has_ledger(tmp_path)
    path.write_text("no ledger", encoding="utf-8")
    with pytest.raises(InputError, match="no ledger"):
        has_ledger(tmp_path)


def test_a_file_system_without_locks_is_named_with_the_way_out(tmp_path, monkeypatch):
    def refuse(stream, kind):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    said = "no place for a ledger: its file system has no locks .* Name a folder on another one: --store DIR"
    with pytest.raises(InputError, match=said):
        Ledger.open(tmp_path / "new")
    assert holder(tmp_path / "new") is None


# Each written by its own version's code; a later one is the one before, migrated by that code.
# The third has an importance, too.
DUMPS = {version: Path(__file__).with_name(f"ledger_v{version}.sql") for version in (1, 2, 3)}
AT = "2026-11-21T09:21:12+00:00"
STUDY = StudyRecord(
    name="old",
    question="Does it last?",
    objective=ObjectiveRecord(metric="dev", label="builtin dev, Spearman x100", evaluation="builtin/dev/all"),
    axes=(RHO,),
    kind="search",
    num_trials=3,
    num_cells=3,
    resolved={"name": "old"},
)


@pytest.fixture(params=list(DUMPS))
def version(request):
    return request.param


@pytest.fixture
def old_dir(tmp_path, version):
    folder = tmp_path / "old"
    folder.mkdir()
    connection = sqlite3.connect(folder / "ledger.sqlite")
    connection.executescript(DUMPS[version].read_text())
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return folder


def check_frames(reader, last_ended=""):
    """Everything the dump holds, in today's frames."""
    assert reader.study() == STUDY
    assert reader.revisions()[["number", "at", "change"]].values.tolist() == [[1, AT, "created"]]
    cells = reader.cells()
    assert cells.drop(columns=["identity", "started", "ended"]).to_dict("records") == [
        {
            "trial": trial, "seed": 0, "stage": "search", "label": "", "config": {"a": trial},
            "proposal": {"rho": trial / 2}, "status": status, "reason": reason, "duration_s": duration_s,
            "revision": 1, "retired": False, "provenance": {},
        }
        for trial, (status, reason, duration_s) in enumerate(
            [("complete", "", 2.5), ("failed", "step 2: the loss is not finite", 0.0), ("running", "", 0.0)]
        )
    ]  # fmt: skip
    assert [identity[0] for identity in cells["identity"]] == ["a", "b", "c"]
    assert cells[["started", "ended"]].values.tolist() == [[AT, AT], [AT, AT], [AT, ""]]
    columns = ["trial", "number", "executor", "workers", "threads", "started", "ended", "outcome", "reason"]
    assert reader.attempts()[columns].values.tolist() == [
        [0, 1, "train", 1, 1, AT, AT, "complete", ""],
        [1, 1, "train", 1, 1, AT, AT, "failed", "step 2: the loss is not finite"],
        [2, 1, "train", 1, 1, AT, last_ended, "running", ""],
    ]
    metrics = reader.metrics()
    expected = [[0, 0, "dev", 10.0], [0, 3, "dev", 12.5], [0, 3, "loss", 1.0]]
    assert metrics.loc[:2, ["trial", "t", "name", "value"]].values.tolist() == expected
    assert metrics.loc[3, ["trial", "t", "name"]].tolist() == [1, 0, "dev"]
    assert math.isnan(metrics.loc[3, "value"])
    assert len(metrics) == 4
    scores = reader.evaluations()
    found = scores[["subject", "metric", "num_examples", "degenerate"]].values.tolist()
    assert found == [["untrained", "builtin/dev/all", 100, False]]
    assert scores["value"].tolist() == [32.8]
    assert reader.provenance() == [{"at": AT, "threads": 1}]
    assert reader.events()[["at", "kind", "text"]].values.tolist() == [[AT, "adopted", "x"]]
    assert reader.rungs().empty
    # No results lie beside the dump: the next run tries the failed one again, as it always did.
    assert SearchState.read(reader).counts == {
        "planned": 3, "complete": 1, "stopped_early": 0, "failed": 0, "running": 1, "missing": 1,
    }  # fmt: skip


@pytest.mark.parametrize("version", [3])  # earlier dumps have none
def test_an_importance_from_before_intervals_has_none(old_dir):
    with Reader(old_dir) as reader:
        (row,) = reader.importance().to_dict("records")
    assert (row["axis"], row["evaluator"], row["value"], row["num_trials"]) == ("rho", "PED-ANOVA", 1.0, 8)
    assert math.isnan(row["low"]) and math.isnan(row["high"])


def test_an_old_ledger_is_read_without_a_change(old_dir):
    before = (old_dir / "ledger.sqlite").read_bytes()
    with Reader(old_dir) as reader:
        check_frames(reader)
    assert (old_dir / "ledger.sqlite").read_bytes() == before
    assert [path.name for path in old_dir.iterdir() if "-" not in path.name] == ["ledger.sqlite"]


def test_an_old_ledger_is_written_after_its_migration(old_dir):
    with Ledger.open(old_dir) as ledger:
        assert ledger.study() == STUDY
        assert ledger.freeze(STUDY) == 1
        with Reader(old_dir) as reader:
            check_frames(reader, last_ended=AT)  # its driver is gone
        ledger.close_attempts("the driver ended")
        assert [cell.status for cell in ledger.cells()] == ["complete", "failed", "planned"]
        assert [attempt.outcome for attempt in ledger.attempts()] == ["complete", "failed", "lost"]
        assert ledger.start(ledger.cells()[2].identity, executor="inline", workers=1, threads=1) == 2


def test_the_ledger_as_it_was_is_kept_and_a_migrated_one_has_the_tables_of_a_new_one(old_dir, version):
    with sqlite3.connect(old_dir / "ledger.sqlite") as db:
        before = list(db.iterdump())
    Ledger.open(old_dir).close()
    with sqlite3.connect(old_dir / f"ledger.v{version}.sqlite") as db:
        assert list(db.iterdump()) == before
        assert db.execute("PRAGMA user_version").fetchone() == (version,)
    Ledger.open(old_dir).close()
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    new = sqlite3.connect(":memory:")
    new.executescript(TABLES)
    with sqlite3.connect(old_dir / "ledger.sqlite") as db:
        assert db.execute(schema).fetchall() == new.execute(schema).fetchall()
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_migration_that_fails_changes_nothing(old_dir, monkeypatch):
    monkeypatch.setitem(connect.NEW_COLUMNS, "cell", {"colour": "red"})
    with sqlite3.connect(old_dir / "ledger.sqlite") as db:
        before = list(db.iterdump())
    with pytest.raises(Exception, match="no column named colour"):
        Ledger.open(old_dir)
    with sqlite3.connect(old_dir / "ledger.sqlite") as db:
        assert list(db.iterdump()) == before
    monkeypatch.undo()
    Ledger.open(old_dir).close()


@pytest.mark.parametrize("version", [1])  # later ones keep them with the attempt
def test_threads_and_workers_come_from_the_run_before(old_dir):
    with sqlite3.connect(old_dir / "ledger.sqlite") as db:
        before = ("2026-11-21T09:21:11+00:00", '{"threads":4,"workers":2}')
        rows = [before, ("2027-01-01T00:00:00+00:00", '{"threads":9}')]
        db.executemany("INSERT INTO provenance (at, content) VALUES (?, ?)", rows)
    with Reader(old_dir) as reader:
        assert set(map(tuple, reader.attempts()[["workers", "threads"]].values.tolist())) == {(2, 4)}
