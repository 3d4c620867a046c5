"""The state of a study, as `status` shows it and, with --json, prints it."""

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from rse_study.cli.terminal.progress import pace_of
from rse_study.results.bit_equality import describe_machines
from rse_study.results.device_time import gpus_per_worker, seconds_of
from rse_study.results.files.connect import holder
from rse_study.results.reader import Reader, as_next_run_finds, is_lost
from rse_study.results.records import FINISHED, AttemptRecord, CellRecord, Record, Stage
from rse_study.results.row_checks import inert_sentences, row_checks
from rse_study.results.row_names import in_order_of_file, names_by_identity, names_of_records
from rse_study.search.budget import BudgetShare
from rse_study.search.choice import chosen_first, front_of
from rse_study.search.state import search_state

NUM_EVENTS = 5
SHOWN_SETTINGS = ("method", "budget")  # of cells: to read whole configurations takes long
NUM_STANDINGS = 20  # of confirmed trials, more than anybody confirms


class RankedTrial(Record):
    """A trial and its objective: the mean over its complete seeds."""

    trial: int
    label: str
    value: float
    num_seeds: int
    proposal: dict[str, Any]
    other_values: tuple[float, ...]
    """means on the objectives after the first one; empty if one is missing"""


class RowProgress(Record):
    """A row, or confirmed trial, that gets seeds until it is decided."""

    name: str
    verdict: str
    """`better`, `worse`, `same` (within the margin) or `undecided`"""
    num_seeds: int
    """seeds, from the first on, that it and the baseline have ended"""
    most_seeds: int
    """seeds that it may still come to; `num_seeds` if it gets no more"""


class Running(Record):
    """A cell that runs, or ran when its process died, and its last report."""

    name: str
    identity: str
    attempt: int
    started: str
    t: int
    """optimiser steps done; 0 before the first report"""
    num_steps: int | None
    """optimiser steps in all; null where the budget is in epochs"""
    metrics: dict[str, float | None]

    @property
    def share(self) -> float:
        return min(1.0, self.t / self.num_steps) if self.num_steps else 0.0


class EndedCell(Record):
    """A cell that failed for good, or an attempt that was lost, and why."""

    name: str
    identity: str
    attempt: int
    """from 1; 0 where a result was adopted that no attempt of this ledger made"""
    at: str
    reason: str


class StudyStatus(Record):
    """State of a study; its fields are the keys of `status --json` (docs/status.md)."""

    name: str
    question: str
    kind: str
    """`grid` or `search`"""
    revision: int
    """the study's edition, counted from 1"""
    objective: str
    direction: str
    """`maximize` or `minimize`"""
    counts: dict[str, int]
    """cells planned, complete, stopped_early, failed, running, missing (still to be started)"""
    is_complete: bool
    """nothing is missing and nothing runs"""
    holder: dict[str, Any] | None
    """the live process that runs it (pid, host, since), or null"""
    best: RankedTrial | None
    """the best complete trial; in a search, of those it selected among"""
    other_objectives: tuple[str, ...]
    """objectives after the first one, with their directions"""
    num_on_front: int
    """complete trials on the Pareto front; 0 with one objective"""
    confirmed: tuple[RankedTrial, ...]
    """trials of a search with seeds that selected nothing; best first"""
    rows: tuple[RowProgress, ...]
    """rows of a grid, or confirmed trials, that get seeds until they are decided, without the baseline; else empty"""
    running: tuple[Running, ...]
    """interrupted, if there is no holder: the next run continues them"""
    failed: tuple[EndedCell, ...]
    lost: tuple[EndedCell, ...]
    """attempts that ended without a result; their cells are tried again"""
    num_attempts: int
    num_retries: int
    """attempts at cells that had been tried before"""
    num_found: int
    """cells with results but no attempt, such as those another study of the store ran"""
    device_s: float
    """device time of all attempts: `device_time.INCLUDED`"""
    median_s: float | None
    """seconds of a cell that ended with a result"""
    cells_at_a_time: int
    eta_s: float | None
    """seconds of running that are left; null before the first cell has ended"""
    is_ended_by_budget: bool
    """the search's budget has no room for another cell, and none runs"""
    search_budget: tuple[BudgetShare, ...]
    """use of each limit of a search's budget"""
    inert: tuple[str, ...]
    """sentences about parts of rows that did nothing, and about rows that do not tell"""
    machines: str
    """a sentence where cells ran on unlike machines, between which no bits are promised"""
    events: tuple[dict[str, str], ...]
    """the newest, NUM_EVENTS at most"""


def state_of(study_dir: Path) -> StudyStatus:
    """Read the state of a study from its ledger, without disturbing its driver."""
    held_by = holder(study_dir)  # before the ledger is read: what somebody who let go of it wrote is seen
    with Reader(study_dir) as reader:
        return _state(_Snapshot(reader, is_held=held_by is not None), held_by)


class _Snapshot:
    """A study at one moment, without the cells that are no longer part of it."""

    def __init__(self, reader: Reader, *, is_held: bool) -> None:
        self.ledger, objective = reader.ledger, reader.study().objective.metric
        everything, attempts = self.ledger.cells(settings=SHOWN_SETTINGS), self.ledger.attempts()
        current = as_next_run_finds([cell for cell in everything if not cell.retired], reader.study_dir)
        self.search = search_state(self.ledger, current, is_held=is_held)
        self.study, self.cells = self.search.study, self.search.cells
        self.names = names_by_identity(self.study, self.cells)
        self.statuses = {cell.identity: cell.status for cell in self.cells}
        order = {cell.identity: place for place, cell in enumerate(self.cells)}
        self.attempts = sorted(
            (attempt for attempt in attempts if attempt.cell in order),
            key=lambda attempt: (order[attempt.cell], attempt.number),
        )
        self.newest = {attempt.cell: attempt.number for attempt in self.attempts}
        gpus = gpus_per_worker([cell.provenance for cell in everything], self.ledger.provenance())
        self.device_s = math.fsum(seconds_of(attempt, gpus) for attempt in attempts)
        self.last_points = self.ledger.last_points(objective)
        self.other_values = [self.ledger.final_values(one.metric) for one in self.study.other_objectives]


def _state(ledger: _Snapshot, held_by: dict[str, Any] | None) -> StudyStatus:
    study, running = ledger.study, _running(ledger)
    counts = ledger.search.counts
    shares = {cell.identity: cell.share for cell in running}
    return StudyStatus(
        **study.model_dump(include={"name", "question", "kind"}),
        revision=ledger.ledger.revision(),
        objective=study.objective.label or study.objective.metric,
        direction=study.objective.direction,
        counts=counts,
        is_complete=counts["missing"] == 0 and counts["running"] == 0,
        holder=held_by,
        best=_best(ledger),
        other_objectives=tuple(
            f"{one.label or one.metric}, {one.direction}" for one in study.other_objectives
        ),
        num_on_front=_num_on_front(ledger),
        confirmed=tuple(_standings(ledger, ("confirm",))),
        rows=_rows(ledger),
        running=running,
        failed=_failed(ledger),
        lost=_lost(ledger),
        **_attempted(ledger),
        **vars(pace_of(ledger.search, ledger.attempts, shares)),
        is_ended_by_budget=study.is_cut_short,
        search_budget=ledger.search.budget,
        inert=tuple(inert_sentences(row_checks(ledger.ledger, study, ledger.cells))),
        machines=describe_machines(cell.provenance for cell in ledger.cells),
        events=tuple(ledger.ledger.last_events(NUM_EVENTS)),
    )


def _attempted(ledger: _Snapshot) -> dict[str, Any]:
    ended = [cell.identity for cell in ledger.cells if cell.status in FINISHED]
    return {
        "num_attempts": len(ledger.attempts),
        "num_retries": sum(attempt.number > 1 for attempt in ledger.attempts),
        "num_found": sum(identity not in ledger.newest for identity in ended),
        "device_s": ledger.device_s,
    }


def _best(ledger: _Snapshot) -> RankedTrial | None:
    """Return a grid's row with the best mean, or the complete trial a search would choose first."""
    if ledger.study.kind == "grid":
        return next(iter(_standings(ledger, ("grid",))), None)
    complete = {cell.identity: cell.trial for cell in ledger.cells if cell.status == "complete"}
    chosen = chosen_first(ledger.search.standings, ledger.study.directions)
    first = next((complete[identity] for identity in chosen if identity in complete), None)
    return None if first is None else next(iter(_standings(ledger, ("search",), first)), None)


def _num_on_front(ledger: _Snapshot) -> int:
    if not ledger.study.other_objectives:
        return 0
    complete = {cell.identity for cell in ledger.cells if cell.status == "complete"}
    known = [one for one in ledger.search.standings if one.key in complete]
    return len(front_of(known, ledger.study.directions))


def _standings(ledger: _Snapshot, stages: tuple[Stage, ...], only: int | None = None) -> list[RankedTrial]:
    """Rank trials, or `only` one, by the mean of their complete cells; those with fewer seeds come after the others.

    Not the ranking of a search (`search.choice`): a grid's rows and confirmed trials have several seeds. Rows that were
    decided with fewer seeds than others have lack none.
    """
    rows = ledger.search.rows
    seeds = defaultdict(list)
    for cell in ledger.cells:
        if cell.stage not in stages or cell.status != "complete" or only not in (None, cell.trial):
            continue
        _, value = ledger.last_points.get(cell.identity, (0, math.nan))
        if math.isfinite(value):
            seeds[cell.trial].append((cell, value))
    sign = 1 if ledger.study.objective.direction == "minimize" else -1
    means = {trial: math.fsum(value for _, value in of) / len(of) for trial, of in seeds.items()}
    whole = rows.bounds.at_least if rows else math.inf
    ranked = sorted(seeds, key=lambda trial: (-min(whole, len(seeds[trial])), sign * means[trial], trial))
    return [
        RankedTrial(
            trial=trial,
            label=seeds[trial][0][0].label,
            value=means[trial],
            num_seeds=len(seeds[trial]),
            proposal=in_order_of_file(ledger.study, seeds[trial][-1][0].proposal),
            other_values=_other_values(ledger, [cell.identity for cell, _ in seeds[trial]]),
        )
        for trial in ranked[:NUM_STANDINGS]
    ]


def _other_values(ledger: _Snapshot, cells: list[str]) -> tuple[float, ...]:
    means = [math.fsum(of.get(one, math.nan) for one in cells) / len(cells) for of in ledger.other_values]
    return () if any(map(math.isnan, means)) else tuple(means)


def _rows(ledger: _Snapshot) -> tuple[RowProgress, ...]:
    if ledger.search.rows is None:
        return ()
    rows = zip(ledger.cells, names_of_records(ledger.study, ledger.cells), strict=True)
    names = {cell.trial: name for cell, name in rows}
    return tuple(
        RowProgress(
            name=names[trial], verdict=one.verdict, num_seeds=one.num_pairs, most_seeds=one.most_seeds
        )
        for trial, one in ledger.search.rows.courses.items()
    )


def _running(ledger: _Snapshot) -> tuple[Running, ...]:
    found = []
    for cell in ledger.cells:
        if cell.status != "running":
            continue
        history = ledger.ledger.history(cell.identity)
        t = max((row.t for row in history), default=0)
        budget = cell.config.get("budget") or {}
        found.append(
            Running(
                name=ledger.names[cell.identity],
                identity=cell.identity,
                attempt=ledger.newest.get(cell.identity, 1),
                started=cell.started,
                t=t,
                num_steps=budget.get("amount") if budget.get("unit") == "steps" else None,
                metrics={
                    row.name: None if math.isnan(row.value) else row.value for row in history if row.t == t
                },
            )
        )
    return tuple(found)


def _failed(ledger: _Snapshot) -> tuple[EndedCell, ...]:
    failed = [one for one in ledger.cells if one.status == "failed"]
    return tuple(_ended(ledger, one.identity, ledger.newest.get(one.identity, 0), one) for one in failed)


def _lost(ledger: _Snapshot) -> tuple[EndedCell, ...]:
    lost = [one for one in ledger.attempts if is_lost(one.outcome, ledger.statuses[one.cell])]
    return tuple(_ended(ledger, one.cell, one.number, one) for one in sorted(lost, key=lambda one: one.ended))


def _ended(ledger: _Snapshot, identity: str, attempt: int, record: CellRecord | AttemptRecord) -> EndedCell:
    name, reason = ledger.names[identity], record.reason
    return EndedCell(name=name, identity=identity, attempt=attempt, at=record.ended, reason=reason)
