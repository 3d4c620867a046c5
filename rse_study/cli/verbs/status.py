"""What `status` does: read the ledger and show it, once or again and again."""

import time
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from rse_study.cli.arguments import study_folder
from rse_study.cli.json_output import json_of
from rse_study.cli.screen import LINE_SECONDS, announce
from rse_study.cli.verbs.status_content import StudyStatus, state_of
from rse_study.cli.verbs.status_text import lines_of, summary_of
from rse_study.errors import InputError

LOOK_SECONDS = 2.0


def show_status(study: str, store: Path, as_json: bool, watch: bool) -> None:
    """Show where a study stands, once or until it is complete.

    Parameters
    ----------
    study
        What the user wrote: its name, folder or YAML file.
    store
        Folder that holds the studies' folders.
    as_json
        Print JSON.
    watch
        Look again until nothing is left to run.
    """
    if watch and as_json:
        remedy = "Call `status --json` as often as you like"
        raise InputError("--json", where="--watch", rule="is for people", remedy=remedy)
    study_dir = study_folder(study, store)
    if watch:
        watch_status(study_dir)
        return
    state = state_of(study_dir)
    announce(json_of(state.model_dump(mode="json")) if as_json else _text(state))


def watch_status(study_dir: Path, console: Console | None = None) -> None:
    """Show where a study stands until nothing is left to run, or Ctrl-C."""
    screen = console or Console()
    if screen.is_terminal:
        _watch_on_terminal(study_dir, screen)
    else:
        _watch_in_lines(study_dir)


def _watch_on_terminal(study_dir: Path, console: Console) -> None:
    state = state_of(study_dir)
    with Live(Text(_text(state)), console=console, auto_refresh=False) as live:
        while not state.is_complete:
            time.sleep(LOOK_SECONDS)
            state = state_of(study_dir)
            live.update(Text(_text(state)), refresh=True)


def _watch_in_lines(study_dir: Path) -> None:
    """A line where cells began or ended, or after a while; at the end all of it."""
    said, said_at, counts = "", 0.0, None
    while True:
        state = state_of(study_dir)
        if state.is_complete:
            announce(_text(state))
            return
        line, waited = summary_of(state), time.monotonic() - said_at
        if state.counts != counts or (line != said and waited >= LINE_SECONDS):
            announce(line)
            said, said_at, counts = line, time.monotonic(), state.counts
        time.sleep(LOOK_SECONDS)


def _text(state: StudyStatus) -> str:
    return "\n".join(lines_of(state))
