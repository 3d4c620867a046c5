"""The body of `report --watch`: a study's page kept fresh while it runs."""

import time
from collections.abc import Iterator
from pathlib import Path

from analysis.index import changed_at
from analysis.report import write_report
from rse_study.cli.arguments.importance import enter_missing_importance
from rse_study.cli.arguments.study import study_folder
from rse_study.cli.arguments.writable import require_file
from rse_study.cli.terminal.screen import announce
from rse_study.cli.verbs.status.content import state_of
from rse_study.cli.verbs.status.text import summary_of
from rse_study.results.files.lock import holder

LOOK_SECONDS = 2.0
RELOAD_SECONDS = 10
REST = 4  # the page is written for at most one part in so many of the time


def watch_page(study: str, store: Path, out: Path | None) -> None:
    """Write the page again when the ledger has changed, until the run ends or Ctrl-C."""
    if out:
        require_file(out, where="--out")
    study_dir = study_folder(study, store)
    try:
        for _ in changes(study_dir):
            path = write_report(study_dir, out, reload_s=RELOAD_SECONDS)
            announce(f"{time.strftime('%H:%M:%S')} {summary_of(state_of(study_dir))}: {path}")
    finally:
        enter_missing_importance(study_dir)
        announce(f"{write_report(study_dir, out)}: final; it no longer reloads itself")


def changes(study_dir: Path) -> Iterator[None]:
    """Yield at once and after each change of a study's ledger, while somebody runs it."""
    while holder(study_dir) is not None:
        began, state = time.monotonic(), changed_at(study_dir)
        yield
        took = time.monotonic() - began
        time.sleep(max(LOOK_SECONDS, (REST - 1) * took))
        while holder(study_dir) is not None and changed_at(study_dir) == state:
            time.sleep(LOOK_SECONDS)
