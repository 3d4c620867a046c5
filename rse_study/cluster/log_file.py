"""Display of a job's output from a file that another process writes."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from rse_study.errors import MissingFile

LOOK_SECONDS = 1.0
ASK_SECONDS = 5.0
"""interval of asking the cluster whether the job has ended"""


def print_log(path: Path, is_over: Callable[[], bool]) -> None:
    """Print a growing file to its last line; MissingFile if its job ends without one."""
    over, asked, printed = False, 0.0, 0
    while not over:
        if time.monotonic() - asked >= ASK_SECONDS:
            over, asked = is_over(), time.monotonic()
        if path.is_file():
            printed = _print_from(path, printed)
        elif over:
            rule, remedy = "the job has written nothing yet", "Is this a folder that this machine sees?"
            raise MissingFile("no log", where=str(path), rule=rule, remedy=remedy)
        if not over:
            time.sleep(LOOK_SECONDS)


def _print_from(path: Path, printed: int) -> int:
    with path.open("rb") as stream:
        stream.seek(printed)
        for block in iter(lambda: stream.read(65536), b""):
            sys.stdout.write(block.decode(errors="replace"))
        sys.stdout.flush()
        return stream.tell()
