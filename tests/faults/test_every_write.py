"""Each system call of a small study that may change a file fails: nothing committed is lost, and the same command ends.

`python -m tests.faults.every_write` takes every kind of fault to every call (docs/reliability.md).
"""

import subprocess
import sys

import pytest

from tests.faults.drivers import ROOT
from tests.faults.faulty_disk import is_available

pytestmark = pytest.mark.skipif(
    not is_available(), reason="needs a kernel that hands on system calls (seccomp)"
)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(("storage", "study", "300"), id="some"),
        pytest.param(("storage", "study", "60"), id="many", marks=pytest.mark.slow),
    ],
)
def test_nothing_committed_is_lost_and_the_same_command_ends_as_without_the_fault(asked):
    command = [sys.executable, "-m", "tests.faults.every_write", *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert " faults at " in done.stdout
