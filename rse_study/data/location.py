"""Where data and caches lie on this machine: two environment variables.

A user's own texts may lie elsewhere.
"""

import os
from pathlib import Path


def cache_dir() -> Path:
    """`RSE_STUDY_CACHE`, else `~/.cache/rse_study`."""
    return Path(os.environ.get("RSE_STUDY_CACHE") or Path.home() / ".cache" / "rse_study")


def data_dir() -> Path:
    """`RSE_STUDY_DATA`, else `data` in the cache folder."""
    return Path(os.environ.get("RSE_STUDY_DATA") or cache_dir() / "data")


def corpus_folders(beside: Path, data_dir: Path) -> tuple[Path, ...]:
    """Where a corpus with a relative path is looked for, in this order.

    Beside the file that names it, in the working folder, in the data folder. Which of them has it is no part of a
    cell's identity: that is the sentences' fingerprint.
    """
    return beside.absolute(), Path.cwd(), data_dir.absolute()
