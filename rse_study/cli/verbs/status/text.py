"""The state of a study, in lines."""

from collections.abc import Iterator

from analysis.formats import counted, show_brief, show_duration
from rse_study.cli.terminal.screen import describe
from rse_study.cli.verbs.status.content import EndedCell, RankedTrial, RowProgress, Running, StudyStatus
from rse_study.search.budget import BudgetShare
from rse_study.search.state import describe_counts

NUM_SHOWN = 5  # of long lists, the newest
WIDTH = 30  # of the bar


def lines_of(state: StudyStatus) -> Iterator[str]:
    """Describe the whole state for people."""
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
    yield from _section(
        "running" if state.holder else "interrupted", [_running(cell) for cell in state.running]
    )
    yield from _section("lost attempts, retried", [_ended(ended) for ended in state.lost])
    yield from _section("failed", [_ended(ended) for ended in state.failed])
    if state.events:
        yield "last events:"
        yield from (f"    {_event(**event)}" for event in state.events)


def summary_of(state: StudyStatus) -> str:
    """Describe the state in one line, for a log."""
    running = "; ".join(f"{cell.name} {_step(cell)}" for cell in state.running)
    return f"{_counts(state)}{f' ({running})' if running else ''}; left: {_left(state)}"


def _who(state: StudyStatus) -> str:
    if state.holder:
        return "run by process {pid} on {host} since {since}".format(**state.holder)
    if not state.is_complete:
        return "not running; `rse-study run` resumes it"
    failed, planned = state.counts["failed"], state.counts["planned"]
    return f"ended: {failed} of {counted(planned, 'cell')} failed" if failed else "complete"


def _counts(state: StudyStatus) -> str:
    return describe_counts(state.counts, state.holder is not None)


def _bar(state: StudyStatus) -> str:
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


def _left(state: StudyStatus) -> str:
    if state.is_complete:
        return "nothing"
    if state.eta_s is None or state.median_s is None:
        return "unknown until a cell has ended"
    pace = f"median cell {show_duration(state.median_s)}, {state.cells_at_a_time} at a time"
    return f"about {show_duration(state.eta_s) or '0 s'} ({pace})"


def _ended_attempts(state: StudyStatus) -> str:
    running = f", without the {len(state.running)} that run" if state.running and state.holder else ""
    return f"{counted(state.num_attempts, 'attempt')}{running}, without evaluations that run as tasks of their own"


def _ranked(ranked: RankedTrial) -> str:
    name = f"trial {ranked.trial}" if ranked.trial >= 0 else ""
    name = " ".join(part for part in (name, ranked.label) if part)
    seeds = f" (mean of {ranked.num_seeds} seeds)" if ranked.num_seeds > 1 else ""
    values = "  ".join(f"{axis} {show_brief(value)}" for axis, value in ranked.proposal.items())
    scores = "; ".join(f"{value:.2f}" for value in (ranked.value, *ranked.other_values))
    return f"{name}: {scores}{seeds}{f'  {values}' if values else ''}"


def _row(one: RowProgress) -> str:
    is_open = one.most_seeds > one.num_seeds
    return f"{one.name}: {one.verdict}, {f'{one.num_seeds} of at most ' * is_open}{counted(one.most_seeds, 'seed')}"


def _running(cell: Running) -> str:
    metrics = {name: value for name, value in cell.metrics.items() if value is not None}
    attempt = f"  attempt {cell.attempt}" if cell.attempt > 1 else ""
    return f"{cell.name}: {_step(cell)}  {describe(metrics)}{attempt}"


def _step(cell: Running) -> str:
    return f"step {cell.t}/{cell.num_steps}" if cell.num_steps else f"step {cell.t}"


def _ended(ended: EndedCell) -> str:
    return f"{ended.name}{f', attempt {ended.attempt}' if ended.attempt else ''}: {ended.reason}"


def _event(at: str, kind: str, cell: str, text: str) -> str:
    return "  ".join(part for part in (at, kind, cell[:16], text) if part)


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        more = f", the newest {NUM_SHOWN}" if len(lines) > NUM_SHOWN else ""
        yield f"{title} ({len(lines)}{more}):"
        yield from (f"    {line.rstrip()}" for line in lines[-NUM_SHOWN:])
