"""The backup of a ledger, and its return in place of a lost or damaged one."""

import gzip
import random
import sqlite3
from contextlib import closing

import pytest

from rse_study.errors import InputError
from rse_study.results.files.backup import FILE_NAME, attach_backup, damage_of, read_backup, rebuild, recover
from rse_study.results.files.backup import FILE_NAME as BACKUP
from rse_study.results.files.ledger import Ledger
from tests.cases import cases
from tests.results.world import STUDY, cell_of, make_study, run_cell


def events_in(study_dir):
    with closing(sqlite3.connect(":memory:")) as db:
        attach_backup(db, read_backup(study_dir))
        return [text for (text,) in db.execute("SELECT text FROM backup.event")]


def test_a_ledger_is_backed_up_when_it_is_closed(tmp_path):
    folder = make_study(tmp_path / "halving")
    with Ledger.open(folder) as ledger:
        ledger.log("note", "one")
        assert events_in(folder) == []
    assert events_in(folder) == ["one"]


def test_a_backup_is_made_as_often_as_asked_and_only_after_a_change(tmp_path):
    folder = make_study(tmp_path / "halving")
    with Ledger.open(folder) as ledger:
        for text, every, expected in (("one", 0.0, ["one"]), ("two", 60.0, ["one"]), ("three", 0.0, [])):
            ledger.log("note", text)
            ledger.back_up(every)
            assert events_in(folder) == (expected or ["one", "two", "three"])
        before = (folder / FILE_NAME).stat().st_mtime_ns
        ledger.back_up()
        assert (folder / FILE_NAME).stat().st_mtime_ns == before


def test_a_ledger_with_a_broken_page_does_not_replace_its_backup(tmp_path):
    folder = make_study(tmp_path / "halving")
    before = (folder / FILE_NAME).read_bytes()
    path = folder / "ledger.sqlite"
    content = bytearray(path.read_bytes())
    content[-4096:] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"), Ledger.open(folder) as ledger:
        ledger.log("note", "one")
    assert (folder / FILE_NAME).read_bytes() == before


DAMAGES = {
    "truncated": lambda content: content[:-9],
    "emptied": lambda content: b"",
    "a flipped bit": lambda content: content[:99] + bytes([content[99] ^ 1]) + content[100:],
    "another file, packed": lambda content: gzip.compress(b"no ledger" * 999),
    "half a ledger, packed": lambda content: gzip.compress(gzip.decompress(content)[:9000]),
    "a header alone, packed": lambda content: gzip.compress(gzip.decompress(content)[:100]),
}


@cases("damage", DAMAGES)
def test_a_damaged_backup_is_none(tmp_path_factory, damage):
    folder = tmp_path_factory.mktemp("study")
    assert read_backup(folder) is None
    path = make_study(folder) / FILE_NAME
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert read_backup(folder) is None


SAME = ("revision", "cell", "metric", "rung", "evaluation", "provenance", "event")
DAMAGES_OF_A_LEDGER = {
    "truncated": (lambda content: content[: len(content) // 2], "damaged"),
    "emptied": (lambda content: b"", "missing or empty"),
    "another file": (lambda content: b"no ledger" * 999, "no ledger"),
    "one bit of a score": (
        lambda content: content.replace(b"\x40\x4e\xc0", b"\x40\x4e\xc1"),
        "not what its backup",
    ),
    "one letter of a study": (lambda content: content.replace(b'"objective"', b'"objectivf"'), "StudyRecord"),
    "a deleted file": (lambda content: None, "missing or empty"),
}


def rows_of(study_dir, tables=SAME):
    with closing(sqlite3.connect(study_dir / "ledger.sqlite")) as db:
        return {table: db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall() for table in tables}


@cases("damage", DAMAGES_OF_A_LEDGER)
def test_a_ledger_that_is_lost_or_damaged_comes_back_row_for_row(tmp_path_factory, damage):
    folder, (change, said) = (
        make_study(tmp_path_factory.mktemp("store") / "halving"),
        DAMAGES_OF_A_LEDGER[damage],
    )
    before, path = rows_of(folder), folder / "ledger.sqlite"
    assert recover(folder) == ""
    content = change(path.read_bytes())
    path.unlink() if content is None else path.write_bytes(content)
    assert said in recover(folder)
    assert rows_of(folder) == before
    assert recover(folder) == ""
    if content:
        (aside,) = folder.glob("ledger.sqlite.*Z")
        assert aside.read_bytes() == content


def test_a_flipped_bit_is_noticed_or_changes_no_row_that_stays(tmp_path):
    folder, draw = make_study(tmp_path / "halving"), random.Random(0)
    with Ledger.open(folder) as ledger:
        ledger.close_attempts("the driver ended")
        ledger._db.execute("VACUUM")  # so that most bits say something
        ledger._db.execute("DELETE FROM metric WHERE cell = ?", (cell_of(3).identity,))
        ledger._db.commit()
    path = folder / "ledger.sqlite"
    before, content, num_noticed = rows_of(folder), path.read_bytes(), 0
    for _ in range(300):
        at, flipped = draw.randrange(len(content)), bytearray(content)
        flipped[at] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        if damage_of(folder):
            num_noticed += 1
        else:
            assert rows_of(folder) == before, at
    assert num_noticed > 30


def test_what_has_ended_since_the_backup_is_compared_with_its_result(tmp_path):
    folder = make_study(tmp_path / "halving")
    backup = (folder / BACKUP).read_bytes()
    with Ledger.open(folder) as ledger:
        run_cell(ledger, cell_of(4), [-0.0, 51.0, 52.0, 53.0])
    (folder / BACKUP).write_bytes(backup)
    assert damage_of(folder) == ""
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as db:
        db.execute("UPDATE metric SET value = 53.5 WHERE value = 53")
        db.commit()
    assert "is not what its result says" in damage_of(folder)


def test_a_damaged_ledger_without_a_backup_begins_anew(tmp_path):
    folder = make_study(tmp_path / "halving")
    (folder / BACKUP).unlink()
    assert recover(folder) == ""
    (folder / "ledger.sqlite").write_text("no ledger")
    said = recover(folder)
    assert "no ledger" in said
    assert "from its backup" not in said
    with Ledger.open(folder) as ledger:
        assert ledger.freeze(STUDY) == 1
    assert not recover(tmp_path / "nowhere")


def test_a_damaged_backup_takes_no_ledger_s_place_and_is_set_aside_if_the_ledger_is_lost(tmp_path):
    folder = make_study(tmp_path / "halving")
    (folder / BACKUP).write_bytes(gzip.compress(b"no ledger" * 999))
    assert recover(folder) == ""
    (folder / "ledger.sqlite").unlink()
    assert "without a backup that can be read" in recover(folder)
    assert recover(folder) == ""
    assert len(list(folder.glob(f"{BACKUP}.*Z"))) == 1


def test_a_ledger_that_somebody_holds_is_left_alone(tmp_path):
    folder = make_study(tmp_path / "halving")
    with Ledger.open(folder), pytest.raises(InputError, match="one writer"):
        rebuild(folder)


def test_a_ledger_of_another_study_is_no_study_of_this_folder(tmp_path):
    folder, other = make_study(tmp_path / "halving"), tmp_path / "other"
    with Ledger.open(other) as ledger:
        ledger.freeze(STUDY.model_copy(update={"name": "other"}))
    (other / "ledger.sqlite").replace(folder / "ledger.sqlite")
    assert "not what its backup says" in recover(folder)
    with Ledger.open(folder) as ledger:
        assert ledger.study().name == "halving"
