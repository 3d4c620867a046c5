"""Ray's temporary folder: one of our own, which no other user may enter."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from rse_study.errors import GOES_ON, InputError, Unavailable
from rse_study.results.files.failures import NO_ROOM
from rse_study.results.files.lock import read_holder, take_lock

LOCK = "driver.lock"
SOCKET = "/rse-xxxxxxxx/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
LONGEST = 107 - len(SOCKET)
"""bytes of the folder's parent: 107 is the kernel's limit for a socket's path"""
ROOM_BYTES = 16 * 2**20
"""free bytes that a start needs: a short run leaves 2.3 MB there, mostly logs"""


@contextmanager
def ray_folder() -> Iterator[Path]:
    """Make a folder for one Ray, removed when its driver is dead.

    The driver removes it at its end. Until then it holds a lock, which the kernel releases even after kill -9: the
    next run removes what nobody holds.
    """
    parent = _parent()
    with ExitStack() as stack:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            _remove_left(parent)
            if shutil.disk_usage(parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            folder = Path(tempfile.mkdtemp(prefix="rse-", dir=parent))  # of mode 0700
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            stack.enter_context(take_lock(folder / LOCK))
            _shorten_tmpdir(folder / "t", stack)
        except OSError as error:
            what, remedy = (
                f"Ray cannot keep its files there: {error.strerror}",
                "Name another with RAY_TMPDIR",
            )
            if error.errno in NO_ROOM:
                more = (
                    f"Make room ({ROOM_BYTES >> 20} MiB), or name another folder with RAY_TMPDIR; {GOES_ON}"
                )
                raise Unavailable(f"{parent}: {what}", more) from None
            raise InputError(what, where=str(parent), remedy=remedy) from None
        yield folder / "r"  # one below it: Ray gives its own folder the mode 0777


def _parent() -> Path:
    """Return the folder that RAY_TMPDIR names, or TMPDIR if it is short, else /tmp."""
    named = next((name for name in ("RAY_TMPDIR", "TMPDIR") if os.environ.get(name)), "")
    folder = Path(os.environ.get(named) or "/tmp").absolute()
    length = len(os.fsencode(folder))
    if length <= LONGEST:
        return folder
    if named == "TMPDIR":
        return Path("/tmp")
    rule = f"the paths of Ray's sockets, which lie below it, have 107 bytes at most: {LONGEST} of them for it"
    remedy = "Name a shorter folder, or unset RAY_TMPDIR: Ray's files lie in /tmp then"
    raise InputError(f"{folder} has {length} bytes", where="RAY_TMPDIR", rule=rule, remedy=remedy)


def _shorten_tmpdir(link: Path, stack: ExitStack) -> None:
    """Lead Ray's processes to a long TMPDIR by a short link: Python has sockets there, too."""
    given = os.environ.get("TMPDIR", "")
    if len(os.fsencode(given)) > LONGEST:
        link.symlink_to(given)
        os.environ["TMPDIR"] = str(link)
        stack.callback(os.environ.__setitem__, "TMPDIR", given)


def _remove_left(parent: Path) -> None:
    """Remove what killed drivers of this user have left."""
    for path in parent.glob(f"rse-*/{LOCK}"):
        with suppress(OSError, InputError):  # it ends just now, or its driver lives and holds the lock
            folder = path.parent.lstat()
            if stat.S_ISDIR(folder.st_mode) and folder.st_uid == os.geteuid() and read_holder(path):
                with take_lock(path):
                    shutil.rmtree(path.parent, ignore_errors=True)
