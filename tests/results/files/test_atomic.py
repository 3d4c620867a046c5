import errno
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.errors import InputError, MissingFile, Unavailable
from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.results.files.connect import LOCK_NAME, holder, take_lock
from rse_study.results.files.schema import failure_of, failure_of_disk, naming_failures_of_disk
from tests.cases import cases

WRITE = """
import sys
from itertools import count
from pathlib import Path
from rse_study.results.files.atomic import write_sealed
for number in count():
    write_sealed(Path(sys.argv[1]), "numbers", [number] * 20_000)
    print(number, flush=True)
"""


def read(path, parse=list):
    return read_sealed(path, "numbers", parse, missing="Write it first", remedy="Remove it")


def test_what_is_written_is_read_and_what_is_missing_has_its_remedy(tmp_path):
    with pytest.raises(MissingFile, match=r"x\.json: no such file\. Write it first"):
        read(tmp_path / "x.json")
    path = write_sealed(tmp_path / "new/folder/x.json", "numbers", [1, 2])
    assert read(path) == [1, 2]
    assert [file.name for file in path.parent.iterdir()] == ["x.json"]
    assert set(json.loads(path.read_text())) == {"checksum", "numbers"}


@cases("content", ["", "{", "[]", "1", '{"numbers": [1]}', '{"checksum": "0"}', "\x00"])
def test_damage_is_an_input_error(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match=r"x\.json: damaged: .*Remove it"):
        read(tmp_path / "x.json")


def test_what_is_no_sealed_content_of_this_kind_is_an_input_error(tmp_path):
    path = write_sealed(tmp_path / "x.json", "numbers", {"a": 1})
    with pytest.raises(InputError, match="damaged"):
        read(path, lambda content: content["b"])
    with pytest.raises(InputError, match="damaged"):
        read(write_sealed(tmp_path / "y.json", "words", [1]))
    path = write_sealed(tmp_path / "x.json", "numbers", [1, 2])
    path.write_text(path.read_text().replace("2\n", "3\n"))
    with pytest.raises(InputError, match="content and checksum differ"):
        read(path)


def test_a_folder_in_its_place_is_an_input_error(tmp_path):
    (tmp_path / "x.json").mkdir()
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read(tmp_path / "x.json")


def test_who_reads_while_it_is_written_sees_what_was_there(tmp_path):
    path = write_sealed(tmp_path / "x.json", "numbers", [1])
    before = path.read_text()
    with path.open() as stream:
        write_sealed(path, "numbers", [2])
        assert stream.read() == before
    assert read(path) == [2]


@pytest.mark.parametrize("num_lines", [1, 2, 5])
def test_a_kill_leaves_the_old_or_the_new_content(tmp_path, num_lines):
    path = tmp_path / "x.json"
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        seen = [int(writer.stdout.readline()) for _ in range(num_lines)]
        writer.kill()
    content = read(path)
    assert len(content) == 20_000
    assert len(set(content)) == 1
    assert content[0] >= seen[-1]


def test_a_write_that_fails_leaves_the_old_file_and_no_draft(tmp_path):
    path = write_sealed(tmp_path / "x.json", "numbers", [1])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_sealed(path, "numbers", [2] * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert read(path) == [1]
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]


# What an error says of a disk, whoever raises it.


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


HOLD = """
import sys
from pathlib import Path
from rse_study.results.files.connect import take_lock
stream = take_lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""

LOOK = """
import sys
from pathlib import Path
from rse_study.results.files.connect import holder
print("looking", flush=True)
while True:
    holder(Path(sys.argv[1]))
"""


def test_the_holder_is_named_until_it_dies_and_nobody_holds_what_never_ran(tmp_path):
    assert holder(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    command = [sys.executable, "-c", HOLD, str(tmp_path / LOCK_NAME)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        found = holder(tmp_path)
        assert found is not None
        assert found["pid"] == process.pid
        with pytest.raises(InputError, match=f"held by process {process.pid}") as refused:
            take_lock(tmp_path / LOCK_NAME)
        assert refused.value.where == str(tmp_path / LOCK_NAME)
        assert refused.value.remedy == "Wait for it, or stop that process"
        process.kill()
    assert holder(tmp_path) is None


def test_looking_changes_nothing_and_keeps_nobody_from_taking_it(tmp_path):
    with take_lock(tmp_path / LOCK_NAME):
        before = (tmp_path / LOCK_NAME).read_bytes()
        assert holder(tmp_path)["pid"] == os.getpid()
        assert (tmp_path / LOCK_NAME).read_bytes() == before
        assert holder(tmp_path) is not None
    assert holder(tmp_path) is None
    take_lock(tmp_path / LOCK_NAME).close()
    command = [sys.executable, "-c", LOOK, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looker:
        assert looker.stdout.readline() == "looking\n"
        try:
            for _ in range(300):
                take_lock(tmp_path / LOCK_NAME).close()
        finally:
            looker.kill()
