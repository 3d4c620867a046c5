"""Display of a job's output from a file that another process writes."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from rse_study.errors import MissingFile

LOOK_SECONDS = 1.0
ASK_SECONDS = 5.0
"""interval of asking the cluster whether the job has ended"""


def print_log(path: Path, is_over: Callable[[], bool]) -> None:
    """Print a growing file until its job has ended, including the last lines."""
    wait_for(path, is_over)
    with path.open("rb") as stream:
        over, asked = False, 0.0
        while not over:
            if time.monotonic() - asked >= ASK_SECONDS:
                over, asked = is_over(), time.monotonic()
            _copy(stream)
            if not over:
                time.sleep(LOOK_SECONDS)


def wait_for(path: Path, is_over: Callable[[], bool]) -> None:
    """Wait until a file exists; raise MissingFile if its job ends without one."""
    asked = 0.0
    while not path.is_file():
        if time.monotonic() - asked >= ASK_SECONDS:
            asked = time.monotonic()
            if is_over() and not path.is_file():
                rule, remedy = "the job has written nothing yet", "Is this a folder that this machine sees?"
                raise MissingFile("no log", where=str(path), rule=rule, remedy=remedy)
        time.sleep(LOOK_SECONDS)


def _copy(stream: BinaryIO) -> None:
    for block in iter(lambda: stream.read(65536), b""):
        sys.stdout.write(block.decode(errors="replace"))
    sys.stdout.flush()
