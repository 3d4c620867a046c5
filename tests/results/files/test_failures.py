"""What an error says of a disk, whoever raises it."""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.errors import Unavailable
from rse_study.results.files.schema import failure_of, failure_of_disk, naming_failures_of_disk
from tests.cases import cases

RUST = "Error while serializing: I/O error: No space left on device (os error 28)"


@cases(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "full", "/store/cells/x.json"), "no room left in /store/cells. Make room"),
        (OSError(errno.EDQUOT, "full"), "no room left in /here. Make room"),
        (ValueError(RUST), "no room left in /here. Make room"),
        (
            OSError(errno.EIO, "broken", b"/store/x"),
            "/store cannot be used any more: Input/output error. Look",
        ),
        (
            PermissionError(errno.EACCES, "denied", "/store/x"),
            "/store cannot be used any more: Permission denied. Look",
        ),
        (OSError(errno.EROFS, "read-only"), "/here cannot be used any more: Read-only file system. Look"),
    ],
)
def test_a_disk_that_is_full_broken_or_read_only_is_named_with_its_remedy(error, said):
    assert str(failure_of_disk(error, Path("/here"))).startswith(said)
    with pytest.raises(Unavailable, match=r"the same command (resumes|again)"), naming_failures_of_disk():
        raise error


@cases(
    "error", [OSError(errno.ENOENT, "none"), ValueError("of no disk"), OSError("(os error x)"), KeyError(28)]
)
def test_other_errors_are_left_as_they_are(error):
    assert failure_of_disk(error) is None
    with pytest.raises(type(error)), naming_failures_of_disk():
        raise error


def test_a_ledger_that_cannot_be_written_says_what_sqlite_says(tmp_path):
    path = tmp_path / "ledger.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE one (x)")
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db,
        pytest.raises(sqlite3.OperationalError) as raised,
    ):
        db.execute("INSERT INTO one VALUES (1)")
    said = f"{path} cannot be used any more: attempt to write a readonly database. Look at its disk"
    assert str(failure_of(raised.value, path)).startswith(said)


def test_without_a_place_the_working_folder_is_named():
    assert str(Path.cwd()) in str(failure_of_disk(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
