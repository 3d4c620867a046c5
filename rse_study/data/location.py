"""Where data and caches lie on this machine: two environment variables."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """`RSE_STUDY_CACHE`, else `~/.cache/rse_study`."""
    return Path(os.environ.get("RSE_STUDY_CACHE") or Path.home() / ".cache" / "rse_study")


def data_dir() -> Path:
    """`RSE_STUDY_DATA`, else `data` in the cache folder."""
    return Path(os.environ.get("RSE_STUDY_DATA") or cache_dir() / "data")
