import os
import subprocess
import sys

import pytest

from rse_study.errors import InputError
from rse_study.results.files.connect import LOCK_NAME, holder, take_lock

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
