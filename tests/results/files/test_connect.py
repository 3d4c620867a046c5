import errno
import fcntl
import os
import sqlite3
from contextlib import closing

import pytest

from rse_study.errors import InputError
from rse_study.results.files.connect import (
    has_ledger,
    is_lost,
    open_to_read,
    open_to_write,
)
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.lock import holder
from rse_study.results.reader import Reader
from rse_study.search.state import SearchState
from tests.cases import cases
from tests.results.world import make_study, read_only


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
    connection = open_to_read(searched_dir / "ledger.sqlite")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM event")
    connection.close()
    with read_only(searched_dir) as folder:
        connection = open_to_read(folder / "ledger.sqlite")
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
