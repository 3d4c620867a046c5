"""Ray's temporary folder: one of our own, which no other user may enter."""

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rse_study.errors import GOES_ON, InputError, Unavailable

SOCKET = "/rse-xxxxxxxx/r/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
LONGEST = 107 - len(SOCKET)  # bytes of the folder's parent: 107 is the kernel's limit for a socket's path
ROOM_BYTES = 16 * 2**20  # free at the start: a short run leaves 2.3 MB there, mostly logs
# For some seconds after the driver's death, what is left of its Ray may make the folder again.
REMOVE = '[ -e "$0" ] || exit; for _ in 1 2 3 4 5 6; do rm -rf "$0"; sleep 3; done'
WATCH = f"cd /; exec 3<&0 > /dev/null 2>&1; (read _ <&3; {REMOVE}) &"  # `read` ends with the driver's pipe


def _is_fit(place: str) -> bool:
    return place.isascii() and len(place) <= LONGEST


@contextmanager
def ray_folder() -> Iterator[Path]:
    """Make a folder for one Ray, which is removed when its driver has left or is dead.

    It lies in RAY_TMPDIR, in TMPDIR if that is short and ASCII, or else in /tmp.
    """
    temporary = os.environ.get("TMPDIR", "")
    other = temporary if temporary and _is_fit(temporary) else "/tmp"
    parent = Path(os.environ.get("RAY_TMPDIR") or other).absolute()
    if not _is_fit(str(parent)):
        rule = f"Ray takes {LONGEST} ASCII characters at most: paths of sockets, which lie below, have 107 at most"
        remedy = "Name a shorter folder, or unset RAY_TMPDIR: Ray's files lie in /tmp then"
        raise InputError(str(parent), where="RAY_TMPDIR", rule=rule, remedy=remedy)
    with ExitStack() as stack:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(parent).free < ROOM_BYTES:
                raise OSError(errno.ENOSPC, f"less than {ROOM_BYTES >> 20} MiB are free")
            folder = Path(tempfile.mkdtemp(prefix="rse-", dir=parent))  # of mode 0700
        except OSError as error:
            what, remedy = f"Ray cannot keep its files in {parent}: {error.strerror}", "Mend that, or name"
            raise Unavailable(what, f"{remedy} another folder with RAY_TMPDIR; {GOES_ON}") from None
        _remove_with_driver(folder, stack)
        if not _is_fit(temporary):
            (folder / "t").symlink_to(temporary)  # for Ray's processes: Python has sockets there, too
            stack.callback(os.environ.__setitem__, "TMPDIR", temporary)
            os.environ["TMPDIR"] = str(folder / "t")
        yield folder / "r"  # one below it: Ray gives its own folder the mode 0777


def _remove_with_driver(folder: Path, stack: ExitStack) -> None:
    """Remove the folder at the driver's end, or by a process without a parent if it dies."""
    end, held = os.pipe()
    stack.callback(os.close, held)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(["sh", "-c", WATCH, str(folder)], stdin=end, start_new_session=True, check=True)
    os.close(end)
