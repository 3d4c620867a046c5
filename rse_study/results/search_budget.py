"""What ends a search beside its trials: hours, steps, device hours, money.

What is spent, and what one more cell would bring it to, follows from the ledger and the time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rse_study.results.device_time import devices_of, gpus_per_worker, seconds_between
from rse_study.results.queries import LedgerQueries
from rse_study.results.race_state import RaceState
from rse_study.results.records import FINISHED, AttemptRecord, CellRecord, Record, StudyRecord

LIMITS = {"hours": "hours", "steps": "optimiser steps", "device_hours": "device hours", "cost": "money"}
"""What a search may be limited by, and what readers call it."""
HOUR = 3600.0


class BudgetShare(Record):
    """How far one limit of a search is used up."""

    name: str
    """One of `LIMITS`."""
    limit: float
    spent: float
    """By the search's cells so far."""
    with_next: float
    """When those that run have ended, and one more: each takes as long as the longest complete one."""

    @property
    def has_room(self) -> bool:
        """Whether one more cell fits."""
        return self.with_next <= self.limit


class Use(NamedTuple):
    """Of one limit: so far, and with one more cell."""

    spent: float
    with_next: float


class AttemptSpan(NamedTuple):
    """When an attempt ran, in seconds after now: what was is below 0."""

    begun: float
    ended: float
    """now where it runs"""
    will_end: float
    devices: float


def settings_of_budget(study: StudyRecord) -> Mapping[str, Any]:
    """What the study says about its search's end; empty where it says nothing."""
    return study.resolved.get("search_budget") or {}


def budget_shares(ledger: LedgerQueries, now: str) -> tuple[BudgetShare, ...]:
    """Return how far each limit of a search is used up; empty without one.

    Parameters
    ----------
    ledger
        Of a study that was frozen.
    now
        The time, as the ledger writes times.
    """
    study = ledger.study()
    assert study is not None, "nothing was frozen yet"
    settings = settings_of_budget(study)
    limits = {name: float(settings.get(name) or 0) for name in LIMITS}
    if not any(limits.values()):
        return ()
    cells = ledger.cells()
    searched = _searched(cells)
    names, gpus = (
        {one.identity for one in searched},
        gpus_per_worker([cell.provenance for cell in cells], ledger.provenance()),
    )
    attempts = [one for one in ledger.attempts() if one.cell in names]
    spans, longest = spans_of(attempts, now, gpus), longest_seconds(attempts)
    last_steps = {name: t for name, (t, _) in ledger.last_points(study.objective.metric).items()}
    device_hours = device_hours_of(spans, longest)
    price = float(settings.get("price_per_hour") or 0)
    uses = {
        "hours": hours_of(spans, longest),
        "steps": steps_of(searched, last_steps, float(study.resolved["base"]["budget"]["amount"])),
        "device_hours": device_hours,
        "cost": Use(price * device_hours.spent, price * device_hours.with_next),
    }
    return tuple(
        BudgetShare(name=name, limit=limit, **uses[name]._asdict()) for name, limit in limits.items() if limit
    )


def steps_of(cells: Sequence[CellRecord], last_steps: Mapping[str, int], amount: float) -> Use:
    """Return optimiser steps, each cell's up to where it was last measured.

    Parameters
    ----------
    cells
        Of the search.
    last_steps
        Where each was last measured.
    amount
        Steps of the base's full budget; a trial that had more may be followed by another such.
    """
    spent = {cell.identity: float(last_steps.get(cell.identity, 0)) for cell in cells}
    full = {cell.identity: float(cell.config.get("budget", {}).get("amount", amount)) for cell in cells}
    running = {cell.identity: full[cell.identity] for cell in cells if cell.status == "running"}
    return Use(sum(spent.values()), sum((spent | running).values()) + max([amount, *full.values()]))


def hours_of(spans: Sequence[AttemptSpan], longest: float) -> Use:
    """Return hours in which cells ran; what ran at the same time counts once.

    Parameters
    ----------
    spans
        Of the search's attempts.
    longest
        Seconds that the next cell may take.
    """
    spent = _covered((one.begun, one.ended) for one in spans)
    with_next = _covered([(0.0, longest), *((one.begun, one.will_end) for one in spans)])
    return Use(spent / HOUR, with_next / HOUR)


def device_hours_of(spans: Sequence[AttemptSpan], longest: float) -> Use:
    """Return hours times devices.

    Parameters
    ----------
    spans
        Of the search's attempts.
    longest
        Seconds that the next cell may take, on as many devices as the newest one.
    """
    devices = max(spans, key=lambda one: one.begun).devices if spans else 0.0
    spent = sum(one.devices * (one.ended - one.begun) for one in spans)
    with_next = sum(one.devices * (one.will_end - one.begun) for one in spans) + devices * longest
    return Use(spent / HOUR, with_next / HOUR)


def spans_of(attempts: Sequence[AttemptRecord], now: str, gpus: float) -> list[AttemptSpan]:
    """Return when each attempt ran.

    One that runs will take as long as the longest complete one. One that was lost took no longer than that: nobody
    knows when it died.

    Parameters
    ----------
    attempts
        Of the search.
    now
        The time.
    gpus
        Of each worker.
    """
    longest = longest_seconds(attempts)
    spans = []
    for one in attempts:
        begun, devices = -seconds_between(one.started, now), float(devices_of(one.workers, one.threads, gpus))
        lasted = seconds_between(one.started, one.ended)
        if one.outcome == "lost" and longest:
            lasted = min(lasted, longest)
        ended = 0.0 if one.outcome == "running" else begun + lasted
        will_end = max(0.0, begun + longest) if one.outcome == "running" else ended
        spans.append(AttemptSpan(begun, ended, will_end, devices))
    return spans


def longest_seconds(attempts: Iterable[AttemptRecord]) -> float:
    """Return what the longest complete attempt took.

    Of those stopped early where none is complete; 0 where none has a result.
    """
    lasted: dict[str, float] = {}
    for one in attempts:
        lasted[one.outcome] = max(lasted.get(one.outcome, 0.0), seconds_between(one.started, one.ended))
    return lasted.get("complete") or lasted.get("stopped_early", 0.0)


def is_spent(
    study: StudyRecord,
    cells: Iterable[CellRecord],
    shares: Sequence[BudgetShare],
    race: RaceState | None = None,
) -> bool:
    """Whether a search has ended by its budget.

    Trials or seeds are left, none runs, and one more would not fit.

    Parameters
    ----------
    study
        As it was frozen.
    cells
        Its cells.
    shares
        By `budget_shares`.
    race
        Of its seeds; None where it runs one.
    """
    searched = _searched(cells)
    if all(share.has_room for share in shares) or any(cell.status == "running" for cell in searched):
        return False
    if race is not None:
        return not race.is_over
    return sum(cell.status in FINISHED for cell in searched) < study.num_trials


def as_far_as_it_went(
    study: StudyRecord,
    cells: Iterable[CellRecord],
    shares: Sequence[BudgetShare],
    race: RaceState | None = None,
) -> StudyRecord:
    """Return the study with as many trials as its budget had room for.

    The study itself where its search goes on, or ran all of them. `resolved` keeps what its file says.

    Parameters
    ----------
    study
        As it was frozen.
    cells
        Its cells.
    shares
        By `budget_shares`.
    race
        Of its seeds; None where it runs one.
    """
    searched = _searched(cells)
    if not is_spent(study, searched, shares, race):
        return study
    trials = {cell.trial: cell.label for cell in searched if cell.status in FINISHED}
    confirm = study.resolved.get("confirm") or {}
    able = len(trials) - (confirm.get("baseline") == "base" and "base" in trials.values())
    num_unconfirmed = max(0, confirm.get("num_best", 0) - able) * len(confirm.get("seeds", ()))
    num_seeds = max(1, len(study.raced_seeds))
    num_cells = study.num_cells - (study.num_trials - len(trials)) * num_seeds - num_unconfirmed
    ended = {"num_trials": len(trials), "num_cells": num_cells, "is_ended_by_budget": True}
    return study.model_copy(update=ended)


def ended_by(study: StudyRecord, shares: Sequence[BudgetShare]) -> str:
    """Say which limits ended a search, and after how many trials.

    Parameters
    ----------
    study
        By `as_far_as_it_went`.
    shares
        By `budget_shares`.
    """
    limits = [
        f"{share.spent:.4g} of {share.limit:g} {LIMITS[share.name]} spent, {share.with_next:.4g} with one more cell"
        for share in shares
        if not share.has_room
    ]
    most = study.resolved.get("num_trials", study.num_trials)
    return (
        f"the search's budget ended it after {study.num_trials} of at most {most} trials: {'; '.join(limits)}"
    )


def _searched(cells: Iterable[CellRecord]) -> list[CellRecord]:
    return [cell for cell in cells if cell.stage == "search" and not cell.retired]


def _covered(intervals: Iterable[tuple[float, float]]) -> float:
    """How much of the line they cover together."""
    covered, reached = 0.0, float("-inf")
    for begun, ended in sorted(intervals):
        covered += max(0.0, ended - max(begun, reached))
        reached = max(reached, ended)
    return covered
