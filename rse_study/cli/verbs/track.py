"""The body of `track`: a study's ledger copied into a tracker."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from rse_study.cli.arguments.study import study_folder
from rse_study.cli.terminal.next_step import suggest
from rse_study.cli.terminal.screen import announce
from rse_study.results.files.lock import holder
from rse_study.trackers import make_tracker
from rse_study.trackers.copier import CopyCounts, StudyCopier
from rse_study.trackers.study_content import read_study, written_at

LOOK_SECONDS = 2.0


def track_study(study: str, to: str, target: str, is_live: bool, store: Path) -> None:
    """Copy what is new of a study; an empty `target` is the tracker's default place."""
    study_dir = study_folder(study, store)
    tracker = make_tracker(to, target)
    copier, counts = StudyCopier(tracker), CopyCounts()
    with closing(tracker):
        for _ in changes_until_end(study_dir) if is_live else (None,):
            added = copier.copy(read_study(study_dir))
            if is_live and added.num_cells:
                announce(f"{time.strftime('%H:%M:%S')} {describe(added)}")
            counts += added
    announce(f"{study_dir.name}: {describe(counts)}")
    suggest(tracker.next_step)


def describe(counts: CopyCounts) -> str:
    """Describe how much was added."""
    if not counts.num_cells:
        return "nothing is new"
    return f"cells new or changed: {counts.num_cells}; numbers added: {counts.num_numbers}"


def changes_until_end(study_dir: Path) -> Iterator[None]:
    """Yield at once, then, while the study runs, after each change and at the end."""
    is_held = True
    while is_held:
        is_held, written = holder(study_dir) is not None, written_at(study_dir)
        yield
        while is_held and holder(study_dir) is not None and written_at(study_dir) == written:
            time.sleep(LOOK_SECONDS)
