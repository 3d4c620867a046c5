"""Ray's temporary folder, which no other user may enter, and its output in a file."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from rse_study.errors import GOES_ON, Unavailable

SOCKET = "/rse-xxxxxxxx/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
LONGEST = 107 - len(SOCKET)  # bytes of the folder's parent: 107 is the kernel's limit for a socket's path
SHORT = Path("/tmp")
ROOM_BYTES = 16 * 2**20  # free at the start: a short run leaves 2.3 MB there, mostly logs
# For some seconds after the driver's death, what is left of its Ray may make the folder again.
REMOVE = '[ -e "$0" ] || exit; for _ in 1 2 3 4 5 6; do rm -rf "$0"; sleep 3; done'
WATCH = f"cd /; exec 3<&0 > /dev/null 2>&1; (read _ <&3; {REMOVE}) &"  # `read` ends with the driver's pipe


@contextmanager
def ray_folder() -> Iterator[Path]:
    """Make a folder for one Ray, which is removed when its driver has left or is dead.

    It lies in RAY_TMPDIR, in TMPDIR or in /tmp. Where that has too long a path for sockets, or no ASCII one, Ray gets a
    link to it in /tmp.
    """
    temporary = os.environ.get("TMPDIR") or str(SHORT)
    place = parent = Path(os.environ.get("RAY_TMPDIR") or temporary).absolute()
    with ExitStack() as stack:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, f"less than {ROOM_BYTES >> 20} MiB are free")
            folder = _new_folder(parent, stack)
            (folder / "r").mkdir()  # one below it: Ray gives its own folder the mode 0777
            if not _is_fit(parent):
                place, kept = SHORT, folder
                folder = _new_folder(SHORT, stack)
                (folder / "r").symlink_to(kept / "r")
            if not _is_fit(Path(temporary).absolute()):  # Python has sockets there, too
                (folder / "t").symlink_to(Path(temporary).absolute())
                stack.callback(os.environ.__setitem__, "TMPDIR", temporary)
                stack.callback(setattr, tempfile, "tempdir", tempfile.tempdir)
                os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "t")
        except OSError as error:
            cause = "it is no folder" if isinstance(error, FileExistsError) else error.strerror
            what, remedy = f"Ray cannot keep its files in {place}: {cause}", "Mend that, or name"
            raise Unavailable(what, f"{remedy} another folder with RAY_TMPDIR; {GOES_ON}") from None
        yield folder / "r"


def _is_fit(place: Path) -> bool:
    return str(place).isascii() and len(str(place)) <= LONGEST


def _new_folder(parent: Path, stack: ExitStack) -> Path:
    """Make a folder of mode 0700, which a process without a parent removes if the driver dies."""
    folder = Path(tempfile.mkdtemp(prefix="rse-", dir=parent))
    end, held = os.pipe()
    stack.callback(os.close, held)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["sh", "-c", WATCH, str(folder)], stdin=end, start_new_session=True, check=True)
    os.close(end)
    return folder


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
