"""What Ray prints on stderr, from Python and from C++, goes to a file instead."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

STDERR = 2  # the descriptor: C++ does not know Python's sys.stderr


@contextmanager
def stderr_in_file(folder: Path) -> Iterator[Path]:
    """Lead this process' stderr to a new file in `folder`; stdout stays what it is.

    The file is removed where nothing was printed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"ray-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    sys.stderr.flush()
    before = os.dup(STDERR)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, STDERR)
    os.close(log)
    try:
        yield path
    finally:
        sys.stderr.flush()
        os.dup2(before, STDERR)
        os.close(before)
        if path.stat().st_size == 0:
            path.unlink()
