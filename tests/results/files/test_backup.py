import gzip
import sqlite3
from contextlib import closing

import pytest

from rse_study.errors import InputError
from rse_study.results.files.backup import FILE_NAME, attach_backup, read_backup
from rse_study.results.files.ledger import Ledger
from tests.cases import cases
from tests.results.world import make_study


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
