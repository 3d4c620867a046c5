"""Folders of data, caches and studies, set by environment variables."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return `RSE_STUDY_CACHE`, else `~/.cache/rse_study`."""
    return Path(os.environ.get("RSE_STUDY_CACHE") or Path.home() / ".cache" / "rse_study")


def data_dir() -> Path:
    """Return `RSE_STUDY_DATA`, else `data` in the cache folder."""
    return Path(os.environ.get("RSE_STUDY_DATA") or cache_dir() / "data")


def store_dir() -> Path:
    """Return `RSE_STUDY_STORE`, else `studies` in the working folder."""
    return Path(os.path.expanduser(os.environ.get("RSE_STUDY_STORE") or "studies"))


def study_folders(beside: Path, data_dir: Path) -> tuple[Path, ...]:
    """Return the folders in which a study's relative paths are searched, in order.

    They are that of the study's file, the working folder and the data folder. Which of them has a corpus or a model
    does not enter a cell's identity; the fingerprint of its content does.
    """
    return beside.absolute(), Path.cwd(), data_dir.absolute()
