"""Checks of output paths before a long run begins."""

import os
import re
from pathlib import Path

from rse_study.errors import InputError

LONGEST_NAME = 240
"""Bytes of a file's name: most file systems take 255, and the draft of a file has some more."""


def require_folder(path: Path, *, where: str) -> None:
    """Raise InputError unless the folder can be written, or made; nothing is made."""
    if re.match(r"\w\w+:/", str(path)):  # pathlib makes one / of two
        rule, remedy = "a folder of this machine is needed", "`storage:` in a study's file takes a URL"
        raise InputError("is a URL", where=f"{where} {path}", rule=rule, remedy=remedy)
    full = path.absolute()
    nearest = next(folder for folder in (full, *full.parents) if os.path.lexists(folder))
    rule, remedy = "a folder that can be written is needed", "Name another folder"
    if not os.path.isdir(nearest):
        raise InputError(f"{nearest} is not a folder", where=f"{where} {path}", rule=rule, remedy=remedy)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{nearest} cannot be written", where=f"{where} {path}", rule=rule, remedy=remedy)


def require_new_folder(path: Path, *, where: str) -> None:
    """Raise InputError unless the folder can be made, or is there and empty."""
    require_folder(path, where=where)
    if path.is_dir() and any(path.iterdir()):
        remedy = "Name a new folder"
        raise InputError(
            "is not empty", where=f"{where} {path}", rule="nothing is overwritten", remedy=remedy
        )


def require_file(path: Path, *, where: str) -> None:
    """Raise InputError unless a file can be written at this path."""
    if os.path.isdir(path):
        rule, remedy = "a file is written here", f"Name a file in it: {path / 'report.html'}"
        raise InputError("is a folder", where=f"{where} {path}", rule=rule, remedy=remedy)
    if (size := len(os.fsencode(path.name))) > LONGEST_NAME:
        what, rule = f"a name of {size} bytes", f"a file's name has {LONGEST_NAME} at most"
        raise InputError(what, where=f"{where} {path}", rule=rule, remedy="Name a shorter one")
    require_folder(path.parent, where=where)


def require_cache() -> None:
    """Raise InputError unless the cache folder can be written: assets are built there."""
    from rse_study.data.location import cache_dir

    require_folder(cache_dir(), where="RSE_STUDY_CACHE")
