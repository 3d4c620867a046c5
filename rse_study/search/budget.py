"""Limits that end a search (hours, steps, device hours, money), and what is spent."""

from collections.abc import Iterable, Mapping, Sequence

from rse_study.results.device_time import gpus_per_worker
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.records import FINISHED, AttemptRecord, CellRecord, Record
from rse_study.results.study_record import StudyRecord
from rse_study.search.attempt_spans import (
    Use,
    device_hours_of,
    hours_of,
    longest_seconds,
    spans_of,
    spans_without_attempts,
)
from rse_study.search.race import RaceState, race_of

LIMITS = {"hours": "hours", "steps": "optimiser steps", "device_hours": "device hours", "cost": "money"}


class BudgetShare(Record):
    """The use of one limit of a search."""

    name: str
    limit: float
    spent: float
    with_next: float
    """once the running cells and one more have ended, each after as long as the longest complete one"""

    @property
    def has_room(self) -> bool:
        return self.with_next <= self.limit


def budget_shares(ledger: LedgerQueries, now: str, *, is_held: bool = True) -> tuple[BudgetShare, ...]:
    """Return the use of each limit of a search; empty without limits."""
    study = ledger.study()
    assert study is not None, "nothing was frozen yet"
    settings = study.settings.search_budget
    limits: dict[str, float] = {name: getattr(settings, name) for name in LIMITS}
    if not any(limits.values()):
        return ()
    cells, attempts = ledger.cells(), ledger.attempts()
    searched, attempts = searched_cells(cells, attempts), attempts_of_search(cells, attempts)
    gpus = gpus_per_worker([cell.provenance for cell in cells], ledger.provenance())
    spans, longest = spans_of(attempts, now, gpus, is_held=is_held), longest_seconds(attempts)
    spans += spans_without_attempts(searched, attempts, now, gpus)
    amount = float(study.settings.of_base("budget.amount"))
    device_hours = device_hours_of(spans, longest)
    price = settings.price_per_hour
    uses = {
        "hours": hours_of(spans, longest),
        "steps": steps_of(searched, _steps_in_search(ledger, study, searched), amount),
        "device_hours": device_hours,
        "cost": Use(price * device_hours.spent, price * device_hours.with_next),
    }
    return tuple(
        BudgetShare(name=name, limit=limit, **uses[name]._asdict()) for name, limit in limits.items() if limit
    )


def searched_cells(cells: Iterable[CellRecord], attempts: Sequence[AttemptRecord]) -> list[CellRecord]:
    """Return the search's cells; one it stopped counts as stopped even if confirmed."""
    stopped = {one.cell for one in attempts if one.outcome == "stopped_early"}
    return [
        cell.model_copy(update={"status": "stopped_early"}) if cell.identity in stopped else cell
        for cell in cells
        if cell.stage == "search" and not cell.retired
    ]


def attempts_of_search(cells: Iterable[CellRecord], attempts: Sequence[AttemptRecord]) -> list[AttemptRecord]:
    """Return the search's attempts, without those that resumed what it had stopped."""
    left = {cell.identity for cell in cells if cell.stage == "search" and not cell.retired}
    kept = []
    for one in attempts:
        if one.cell in left:
            kept.append(one)
        if one.outcome == "stopped_early":
            left.discard(one.cell)
    return kept


def _steps_in_search(
    ledger: LedgerQueries, study: StudyRecord, searched: Sequence[CellRecord]
) -> dict[str, int]:
    steps = {name: t for name, (t, _) in ledger.last_points(study.objective.metric).items()}
    stopped = {cell.identity for cell in searched if cell.status == "stopped_early"}
    stops = {row.cell: row.t for row in ledger.rungs() if row.verdict == "stop" and row.cell in stopped}
    return steps | stops


def steps_of(cells: Sequence[CellRecord], last_steps: Mapping[str, int], amount: float) -> Use:
    """Return optimiser steps, each cell's up to its last measurement.

    `with_next` takes running and interrupted cells to their end; an interrupted one is the next.
    """
    spent = {cell.identity: float(last_steps.get(cell.identity, 0)) for cell in cells}
    begun = {cell.identity: amount for cell in cells if cell.status not in FINISHED}
    is_left = any(cell.status == "planned" for cell in cells)
    return Use(sum(spent.values()), sum((spent | begun).values()) + (0.0 if is_left else amount))


def as_far_as_it_went(
    ledger: LedgerQueries, study: StudyRecord, cells: Iterable[CellRecord], shares: Sequence[BudgetShare]
) -> StudyRecord:
    """Return the frozen study, cut to the trials that a budget had room for."""
    if not shares:
        return study
    searched = searched_cells(cells, ledger.attempts())
    return shortened(study, searched, shares, race_of(ledger, study, searched))


def shortened(
    study: StudyRecord,
    searched: Sequence[CellRecord],
    shares: Sequence[BudgetShare],
    race: RaceState | None = None,
) -> StudyRecord:
    """Return the study as far as its search went, if its budget has ended it.

    That is so if trials or seeds are left, no cell runs, and one more would not fit. Interrupted cells
    without room are not waited for; those given up with a reason count.
    """
    num_ended = sum(cell.status in FINISHED for cell in searched)
    is_over = num_ended >= study.num_trials if race is None else race.is_over
    has_room = all(share.has_room for share in shares)
    if is_over or has_room or any(cell.status == "running" for cell in searched):
        return study
    trials = {cell.trial: cell.label for cell in searched if not cell.is_left_behind}
    confirm = study.confirm_settings
    able = len(trials) - (confirm.baseline == "base" and "base" in trials.values())
    num_unconfirmed = max(0, confirm.num_best - able) * len(confirm.seeds)
    num_seeds = max(1, len(study.search_seeds))
    return study.model_copy(
        update={
            "num_trials": len(trials),
            "num_cells": study.num_cells - (study.num_trials - len(trials)) * num_seeds - num_unconfirmed,
            "is_cut_short": True,
            "num_confirmable": able,
        }
    )


def ended_by(study: StudyRecord, shares: Sequence[BudgetShare]) -> str:
    """Say which limits ended a search, and after how many trials."""
    limits = [
        f"{share.spent:.4g} of {share.limit:g} {LIMITS[share.name]} spent, {share.with_next:.4g} with one more cell"
        for share in shares
        if not share.has_room
    ]
    most = study.settings.num_trials or study.num_trials
    return (
        f"the search's budget ended it after {study.num_trials} of at most {most} trials: {'; '.join(limits)}"
    )
