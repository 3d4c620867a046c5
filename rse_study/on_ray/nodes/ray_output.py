"""Ray's output in a file: from C++, from Python, and from its own threads."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

STDERR = 2  # the descriptor: C++ does not know Python's sys.stderr
THREADS_OF_RAY = "ray_"  # how the names of its threads begin; they print what raylets report, on stdout


class _PartedStdout:
    """A stdout that sends the output of Ray's threads elsewhere."""

    def __init__(self, ours: Any, theirs: TextIO) -> None:  # ours: whatever somebody took for sys.stdout
        self._ours, self._theirs = ours, theirs

    def write(self, text: str) -> int:
        of_ray = threading.current_thread().name.startswith(THREADS_OF_RAY)
        return (self._theirs if of_ray else self._ours).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)


@contextmanager
def ray_output_in_file(folder: Path) -> Iterator[Path]:
    """Redirect stderr and Ray's threads to a new file, removed if nothing was printed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"ray-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    sys.stderr.flush()
    with path.open("a", buffering=1, encoding="utf-8") as log, _led_to(log):
        stdout, parted = sys.stdout, _PartedStdout(sys.stdout, log)
        sys.stdout = parted
        try:
            yield path
        finally:
            if sys.stdout is parted:
                sys.stdout = stdout
            sys.stderr.flush()
    if path.exists() and path.stat().st_size == 0:  # its folder may be gone by now
        path.unlink()


@contextmanager
def _led_to(log: TextIO) -> Iterator[None]:
    """Point the descriptor of stderr at the file."""
    before = os.dup(STDERR)
    os.dup2(log.fileno(), STDERR)
    try:
        yield
    finally:
        os.dup2(before, STDERR)
        os.close(before)
