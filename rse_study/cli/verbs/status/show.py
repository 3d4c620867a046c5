"""The body of `status`: the state of a study shown once, or again and again."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from rse_study.cli import parameters
from rse_study.cli.arguments.study import study_folder
from rse_study.cli.terminal.activity_bars import LINE_SECONDS
from rse_study.cli.terminal.fitting import harmless, wrapped
from rse_study.cli.terminal.json_output import json_of
from rse_study.cli.terminal.next_step import command, in_store, run_again, suggest
from rse_study.cli.terminal.screen import announce, stdout
from rse_study.cli.verbs.status.content import StudyStatus, state_of
from rse_study.cli.verbs.status.text import lines_of, summary_of
from rse_study.errors import InputError

LOOK_SECONDS = 2.0


def show_status(
    study: parameters.RanStudyArgument,
    as_json: parameters.AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again until its run has ended.")] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Show a study's progress, also while it runs.

    Shows its cells, the best trial so far, running cells, lost attempts and the time left.
    """
    if watch and as_json:
        remedy = "Call `status --json` as often as you like"
        raise InputError("--json", where="--watch", rule="--watch prints for people", remedy=remedy)
    study_dir = study_folder(study, store)
    state = watch_status(study_dir) if watch else state_of(study_dir)
    if as_json:
        print(json_of(state.model_dump(mode="json")), flush=True)
        return
    if not watch:
        announce(_text(state))
    suggest(_next(state, study, store))


def _next(state: StudyStatus, study: str, store: Path) -> str:
    """Watch what runs, run what is missing, change what failed, read what is complete."""
    if state.holder:
        return command("status", study, *in_store(store), "--watch")
    if not state.is_complete:
        return run_again(state.name, store)
    if state.failed:
        return f"{run_again(state.name, store)} (after changing the rows that failed)"
    return command("check" if state.kind == "grid" else "report", study, *in_store(store))


def watch_status(study_dir: Path, console: Console | None = None) -> StudyStatus:
    """Show a study's state until its run has ended; wait for a run not begun yet."""
    screen = console or stdout()
    if screen.is_terminal and not screen.is_dumb_terminal:
        return _watch_on_terminal(study_dir, screen)
    return _watch_in_lines(study_dir)


def _watch_on_terminal(study_dir: Path, console: Console) -> StudyStatus:
    with Live(console=console, auto_refresh=False) as live:
        for state, _ in _states_until_end(study_dir):
            live.update(Text(wrapped(harmless(_text(state)), console.width), overflow="fold"), refresh=True)
    return state


def _watch_in_lines(study_dir: Path) -> StudyStatus:
    """Print a line where cells began or ended, or after a while; at the end all of it."""
    said, said_at, counts = "", 0.0, None
    for state, is_last in _states_until_end(study_dir):
        line, waited = summary_of(state), time.monotonic() - said_at
        if is_last:
            announce(_text(state))
        elif state.counts != counts or (line != said and waited >= LINE_SECONDS):
            announce(line)
            said, said_at, counts = line, time.monotonic(), state.counts
    return state


def _states_until_end(study_dir: Path) -> Iterator[tuple[StudyStatus, bool]]:
    """Yield the state, and whether it is the last one."""
    was_held, is_last = False, False
    while not is_last:
        state = state_of(study_dir)
        was_held = was_held or state.holder is not None
        has_begun = state.num_attempts > 0 or state.counts["planned"] > state.counts["missing"]
        is_left = state.holder is None and (was_held or has_begun)
        is_last = state.is_complete or is_left
        yield state, is_last
        if not is_last:
            time.sleep(LOOK_SECONDS)


def _text(state: StudyStatus) -> str:
    return "\n".join(lines_of(state))
