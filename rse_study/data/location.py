"""Folders of data and caches on this machine, set by two environment variables."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return `RSE_STUDY_CACHE`, else `~/.cache/rse_study`."""
    return Path(os.environ.get("RSE_STUDY_CACHE") or Path.home() / ".cache" / "rse_study")


def data_dir() -> Path:
    """Return `RSE_STUDY_DATA`, else `data` in the cache folder."""
    return Path(os.environ.get("RSE_STUDY_DATA") or cache_dir() / "data")


def corpus_folders(beside: Path, data_dir: Path) -> tuple[Path, ...]:
    """Return the folders in which a corpus' relative path is searched, in order.

    Which of them has it does not enter a cell's identity; the sentences' fingerprint does.
    """
    return beside.absolute(), Path.cwd(), data_dir.absolute()
