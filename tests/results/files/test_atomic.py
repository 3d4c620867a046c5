import json
import resource
import signal
import subprocess
import sys

import pytest

from rse_study.errors import InputError, MissingFile
from rse_study.results.files.atomic import read_sealed, write_sealed
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
