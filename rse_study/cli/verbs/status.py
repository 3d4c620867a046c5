"""The body of `status`: the state of a study in lines, once or again and again."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from analysis.formats import counted, show_brief, show_duration
from rse_study.cli import parameters
from rse_study.cli import status_content as content
from rse_study.cli.arguments import study_folder
from rse_study.cli.terminal import screen
from rse_study.cli.terminal.activity_bars import LINE_SECONDS
from rse_study.errors import InputError
from rse_study.search.budget import BudgetShare
from rse_study.search.state import describe_counts

NUM_SHOWN = 5  # of long lists, the newest
WIDTH = 30  # of the bar


def lines_of(state: content.StudyStatus) -> Iterator[str]:
    """Describe the whole state for people."""
    yield from _results(state)
    yield from _progress(state)
    yield from _section(
        "running" if state.holder else "interrupted", [_running(cell) for cell in state.running]
    )
    yield from _section("lost attempts, retried", [_ended(ended) for ended in state.lost])
    yield from _section("failed", [_ended(ended) for ended in state.failed])
    if state.events:
        yield "last events:"
        yield from (f"    {_event(**event)}" for event in state.events)


def _results(state: content.StudyStatus) -> Iterator[str]:
    yield f"{state.name} ({state.kind}, revision {state.revision}): {state.question}"
    yield _who(state)
    yield f"{_bar(state)}  {_counts(state)}"
    aims = [f"{state.objective}, {state.direction}", *state.other_objectives]
    yield f"objective{'s' * (len(aims) > 1)}: {'; '.join(aims)}"
    if state.best:
        selected = " (the score that selected it)" if state.kind == "search" and not state.confirmed else ""
        yield f"best: {_ranked(state.best)}{selected}"
    if state.num_on_front:
        yield f"Pareto front: {counted(state.num_on_front, 'trial')}, of which the best is the knee"
    yield from (f"confirmed: {_ranked(trial)}" for trial in state.confirmed)
    yield from state.inert


def _progress(state: content.StudyStatus) -> Iterator[str]:
    if state.num_attempts:
        yield f"spent: {show_duration(state.device_s) or '0 s'} of device time (of {_ended_attempts(state)})"
    if state.num_found:
        yield f"results found on disk, not run here: {counted(state.num_found, 'cell')}"
    if state.machines:
        yield state.machines
    yield from (_budget_line(share, is_end=state.is_ended_by_budget) for share in state.search_budget)
    yield f"left: {_left(state)}"
    if state.rows:
        num_decided = sum(one.verdict != "undecided" for one in state.rows)
        noun = "row" if state.kind == "grid" else "confirmed trial"
        yield f"decided: {num_decided} of {counted(len(state.rows), noun)}"
        yield from (f"    {_row(one)}" for one in state.rows)


def summary_of(state: content.StudyStatus) -> str:
    """Describe the state in one line, for a log."""
    running = "; ".join(f"{cell.name} {_step(cell)}" for cell in state.running)
    return f"{_counts(state)}{f' ({running})' if running else ''}; left: {_left(state)}"


def _who(state: content.StudyStatus) -> str:
    if state.holder:
        return "run by process {pid} on {host} since {since}".format(**state.holder)
    if not state.is_complete:
        return "not running; `rse-study run` resumes it"
    failed, planned = state.counts["failed"], state.counts["planned"]
    return f"ended: {failed} of {counted(planned, 'cell')} failed" if failed else "complete"


def _counts(state: content.StudyStatus) -> str:
    return describe_counts(state.counts, state.holder is not None)


def _bar(state: content.StudyStatus) -> str:
    counts = state.counts
    ended = counts["complete"] + counts["stopped_early"] + counts["failed"]
    filled = WIDTH * min(ended, counts["planned"]) // max(counts["planned"], 1)
    return f"[{'#' * filled}{'.' * (WIDTH - filled)}]"


def _budget_line(share: BudgetShare, *, is_end: bool) -> str:
    left = max(0.0, share.limit - share.spent)
    filled = min(WIDTH, int(WIDTH * share.spent / share.limit))
    ends = "; one more cell would not fit: the search ended here" if is_end and not share.has_room else ""
    return (
        f"search budget: [{'#' * filled}{'.' * (WIDTH - filled)}]  {show_brief(share.spent)} of "
        f"{show_brief(share.limit)} {share.unit} spent, {show_brief(left)} left{ends}"
    )


def _left(state: content.StudyStatus) -> str:
    if state.is_complete:
        return "nothing"
    if state.eta_s is None or state.median_s is None:
        return "unknown until a cell has ended"
    pace = f"median cell {show_duration(state.median_s)}, {state.cells_at_a_time} at a time"
    return f"about {show_duration(state.eta_s) or '0 s'} ({pace})"


def _ended_attempts(state: content.StudyStatus) -> str:
    running = f", without the {len(state.running)} that run" if state.running and state.holder else ""
    return f"{counted(state.num_attempts, 'attempt')}{running}, without evaluations that run as tasks of their own"


def _ranked(ranked: content.RankedTrial) -> str:
    name = f"trial {ranked.trial}" if ranked.trial >= 0 else ""
    name = " ".join(part for part in (name, ranked.label) if part)
    seeds = f" (mean of {ranked.num_seeds} seeds)" if ranked.num_seeds > 1 else ""
    values = "  ".join(f"{axis} {show_brief(value)}" for axis, value in ranked.proposal.items())
    scores = "; ".join(f"{value:.2f}" for value in (ranked.value, *ranked.other_values))
    return f"{name}: {scores}{seeds}{f'  {values}' if values else ''}"


def _row(one: content.RowProgress) -> str:
    is_open = one.most_seeds > one.num_seeds
    return f"{one.name}: {one.verdict}, {f'{one.num_seeds} of at most ' * is_open}{counted(one.most_seeds, 'seed')}"


def _running(cell: content.Running) -> str:
    metrics = {name: value for name, value in cell.metrics.items() if value is not None}
    attempt = f"  attempt {cell.attempt}" if cell.attempt > 1 else ""
    return f"{cell.name}: {_step(cell)}  {screen.describe(metrics)}{attempt}"


def _step(cell: content.Running) -> str:
    return f"step {cell.t}/{cell.num_steps}" if cell.num_steps else f"step {cell.t}"


def _ended(ended: content.EndedCell) -> str:
    return f"{ended.name}{f', attempt {ended.attempt}' if ended.attempt else ''}: {ended.reason}"


def _event(at: str, kind: str, cell: str, text: str) -> str:
    return "  ".join(part for part in (at, kind, cell[:16], text) if part)


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        more = f", the newest {NUM_SHOWN}" if len(lines) > NUM_SHOWN else ""
        yield f"{title} ({len(lines)}{more}):"
        yield from (f"    {line.rstrip()}" for line in lines[-NUM_SHOWN:])


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
    state = watch_status(study_dir) if watch else content.state_of(study_dir)
    if as_json:
        print(screen.json_of(state.model_dump(mode="json")), flush=True)
        return
    if not watch:
        screen.announce(_text(state))
    screen.suggest(_next(state, study, store))


def _next(state: content.StudyStatus, study: str, store: Path) -> str:
    """Watch what runs, run what is missing, change what failed, read what is complete."""
    if state.holder:
        return screen.command("status", study, *screen.in_store(store), "--watch")
    if not state.is_complete:
        return screen.run_again(state.name, store)
    if state.failed:
        return f"{screen.run_again(state.name, store)} (after changing the rows that failed)"
    return screen.command("check" if state.kind == "grid" else "report", study, *screen.in_store(store))


def watch_status(study_dir: Path, console: Console | None = None) -> content.StudyStatus:
    """Show a study's state until its run has ended; wait for a run not begun yet."""
    console = console or screen.stdout()
    if console.is_terminal and not console.is_dumb_terminal:
        return _watch_on_terminal(study_dir, console)
    return _watch_in_lines(study_dir)


def _watch_on_terminal(study_dir: Path, console: Console) -> content.StudyStatus:
    with Live(console=console, auto_refresh=False) as live:
        for state, _ in _states_until_end(study_dir):
            shown = screen.wrapped(screen.harmless(_text(state)), console.width)
            live.update(Text(shown, overflow="fold"), refresh=True)
    return state


def _watch_in_lines(study_dir: Path) -> content.StudyStatus:
    """Print a line where cells began or ended, or after a while; at the end all of it."""
    said, said_at, counts = "", 0.0, None
    for state, is_last in _states_until_end(study_dir):
        line, waited = summary_of(state), time.monotonic() - said_at
        if is_last:
            screen.announce(_text(state))
        elif state.counts != counts or (line != said and waited >= LINE_SECONDS):
            screen.announce(line)
            said, said_at, counts = line, time.monotonic(), state.counts
    return state


def _states_until_end(study_dir: Path) -> Iterator[tuple[content.StudyStatus, bool]]:
    """Yield the state, and whether it is the last one."""
    was_held, is_last = False, False
    while not is_last:
        state = content.state_of(study_dir)
        was_held = was_held or state.holder is not None
        has_begun = state.num_attempts > 0 or state.counts["planned"] > state.counts["missing"]
        is_left = state.holder is None and (was_held or has_begun)
        is_last = state.is_complete or is_left
        yield state, is_last
        if not is_last:
            time.sleep(LOOK_SECONDS)


def _text(state: content.StudyStatus) -> str:
    return "\n".join(lines_of(state))
