"""The body of `report --all`: an index of a store's studies, and their reports."""

from pathlib import Path

from analysis.index import study_folders, write_index
from rse_study.cli.arguments.importance import enter_missing_importance
from rse_study.cli.arguments.writable import require_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.next_step import suggest
from rse_study.cli.terminal.screen import stderr
from rse_study.errors import InputError


def write_index_page(store: Path, out: Path | None) -> None:
    """Write the index and reports that are missing or old."""
    if out:
        require_file(out, where="--out")
    if not study_folders(store):
        raise InputError("no study has run here", where=str(store), remedy="Run one: rse-study run STUDY")
    with ActivityBars(stderr()) as bars, bars.waiting("writing reports and their index"):
        for folder in study_folders(store):
            enter_missing_importance(folder)
        path = write_index(store, out)
    print(path)
    suggest(f"open {path} in a browser")
