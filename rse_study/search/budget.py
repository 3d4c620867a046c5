"""Limits that end a search (hours, steps, trials without progress), and their use."""

from collections.abc import Iterable, Sequence

from rse_study.results.files.queries import LedgerQueries, now
from rse_study.results.records import AttemptRecord, CellRecord, Record
from rse_study.results.study_record import StudyRecord
from rse_study.results.reader import HAS_RESULT
from rse_study.search.choice import chosen_first, is_search_over, standings_of

SEARCHED = "SELECT identity FROM cell WHERE stage = 'search' AND NOT retired"
SPANS = f"""
WITH span AS (
    SELECT outcome, started, max(0, strftime('%s', CASE ended WHEN '' THEN :now ELSE ended END)
        - strftime('%s', started)) AS seconds, workers * coalesce(nullif((
            SELECT json_extract(content, '$.gpus') FROM provenance WHERE at <= started ORDER BY run DESC LIMIT 1
        ), 0), threads) AS devices
    FROM attempt AS one WHERE cell IN ({SEARCHED}) AND NOT EXISTS (
        SELECT 1 FROM attempt WHERE cell = one.cell AND number < one.number AND outcome = 'stopped_early'
    )
    UNION ALL
    SELECT 'adopted', ended, duration_s, coalesce(json_extract(provenance, '$.workers'), 1)
        * coalesce(json_extract(provenance, '$.threads'), 1)
    FROM cell WHERE identity IN ({SEARCHED}) AND status IN ('complete', 'failed', 'stopped_early')
        AND identity NOT IN (SELECT cell FROM attempt)
), known AS (
    SELECT coalesce(
        max(seconds) FILTER (WHERE outcome = 'complete'), max(seconds) FILTER (WHERE outcome = 'stopped_early'), 0
    ) AS longest FROM span
)
"""
DEVICE_SECONDS = f"""{SPANS}
SELECT coalesce(sum(devices * CASE WHEN outcome = 'lost' OR (outcome = 'running' AND NOT :is_held)
        THEN min(seconds, longest) ELSE seconds END), 0),
    coalesce(sum(devices * max(0, longest - seconds)) FILTER (WHERE outcome = 'running' AND :is_held), 0),
    coalesce((SELECT devices FROM span ORDER BY started DESC, devices DESC LIMIT 1) * longest, 0)
FROM span, known
"""
"""Device seconds of a search's attempts, those that the running ones will still take, and those of one more.

A running attempt takes as long as the longest complete one; a lost one took at most that, for nobody knows when it
died. Confirmation may go on with a cell that the search had stopped: that is no part of the search any more."""
CLOCK = f"""{SPANS}
SELECT strftime('%s', started) - CASE outcome WHEN 'adopted' THEN seconds ELSE 0 END AS begun,
    CASE WHEN outcome IN ('lost', 'running') THEN min(seconds, longest) ELSE seconds END, longest
FROM span, known ORDER BY begun
"""
STEPS = f"""
WITH stop AS (SELECT cell, max(t) AS t FROM rung WHERE verdict = 'stop' GROUP BY cell), searched AS (
    SELECT identity, status, CASE WHEN status = 'stopped_early' OR EXISTS (
        SELECT 1 FROM attempt WHERE cell = identity AND outcome = 'stopped_early'
    ) THEN (SELECT t FROM stop WHERE cell = identity) END AS stopped_at FROM cell WHERE identity IN ({SEARCHED})
)
SELECT coalesce(stopped_at, CASE status WHEN 'complete' THEN :amount ELSE (
        SELECT max(t) FROM metric WHERE cell = identity AND name = :metric) END, 0),
    stopped_at IS NOT NULL OR status IN ('complete', 'failed', 'stopped_early'), status = 'planned' FROM searched
"""
"""Steps of each cell of a search, whether it has ended, and whether it waits to run."""
LIMITS = {
    "steps": "optimiser steps",
    "device_hours": "device hours",
    "patience": "trials without a better one",
    "hours": "hours",
}


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


def budget_shares(ledger: LedgerQueries, at: str = "", *, is_held: bool = True) -> tuple[BudgetShare, ...]:
    """Return the use of each limit of a search, now or at a time."""
    study = ledger.study()
    assert study is not None, "nothing was frozen yet"
    limits, uses = study.settings.search_budget, dict[str, tuple[float, float]]()
    if limits.steps:
        uses["steps"] = steps_of(
            ledger, study.objective.metric, float(study.settings.of_base("budget.amount"))
        )
    if limits.device_hours:
        values = {"now": at or now(), "is_held": is_held}
        ((spent, left, one_more),) = ledger.select(DEVICE_SECONDS, values)
        uses["device_hours"] = spent / 3600, (spent + left + one_more) / 3600
    if limits.patience:
        waited = float(trials_since_best(ledger))
        uses["patience"] = waited, waited + 1
    if limits.hours:
        uses["hours"] = hours_of(ledger, at or now())
    return tuple(
        BudgetShare(name=name, limit=getattr(limits, name), spent=spent, with_next=with_next)
        for name, (spent, with_next) in uses.items()
    )


def steps_of(ledger: LedgerQueries, metric: str, amount: float) -> tuple[float, float]:
    """Return the steps taken, and those once begun cells and one more have ended.

    An interrupted cell is the next.
    """
    cells = ledger.select(STEPS, {"metric": metric, "amount": amount})
    in_the_end = sum(t if has_ended else amount for t, has_ended, _ in cells)
    one_more = 0.0 if any(waits for *_, waits in cells) else amount
    return float(sum(t for t, *_ in cells)), in_the_end + one_more


def trials_since_best(ledger: LedgerQueries) -> int:
    """Return how many trials with a result have a higher number than the best one.

    A tie is no progress. A failed trial says nothing of the space, so it does not count.
    """
    study, cells = ledger.study(), ledger.cells()
    assert study is not None, "nothing was frozen yet"
    best = chosen_first(standings_of(ledger, cells), [one.direction for one in study.all_objectives])
    numbers = {cell.identity: cell.trial for cell in cells}
    return sum(
        cell.trial > numbers[best[0]]
        for cell in cells
        if best and cell.stage == "search" and not cell.retired and cell.status in HAS_RESULT
    )


def hours_of(ledger: LedgerQueries, at: str) -> tuple[float, float]:
    """Return the hours in which cells ran, and those with one more cell.

    Hours in which several ran count once.
    """
    covered = reached = with_next = 0.0
    for begun, seconds, longest in ledger.select(CLOCK, {"now": at}):
        covered += max(0.0, begun + seconds - max(begun, reached))
        reached, with_next = max(reached, begun + seconds), covered + longest
    return covered / 3600, with_next / 3600


def has_room(ledger: LedgerQueries) -> bool:
    """Whether each limit of a search has room for another cell."""
    return all(share.has_room for share in budget_shares(ledger))


def searched_cells(cells: Iterable[CellRecord], attempts: Sequence[AttemptRecord]) -> list[CellRecord]:
    """Return the search's cells; one it stopped counts as stopped even if confirmed."""
    stopped = {one.cell for one in attempts if one.outcome == "stopped_early"}
    return [
        cell.model_copy(update={"status": "stopped_early"}) if cell.identity in stopped else cell
        for cell in cells
        if cell.stage == "search" and not cell.retired
    ]


def as_far_as_it_went(
    study: StudyRecord, searched: Sequence[CellRecord], shares: Sequence[BudgetShare]
) -> StudyRecord:
    """Return the frozen study, cut to the trials that a budget had room for.

    A budget has ended the search if trials are left, no cell runs, and one more would not fit. Interrupted cells
    without room are not waited for; those given up with a reason count.
    """
    has_room = all(share.has_room for share in shares)
    if is_search_over(study, searched) or has_room or any(cell.status == "running" for cell in searched):
        return study
    trials = {cell.trial: cell.label for cell in searched if not cell.is_left_behind}
    confirm = study.confirm_settings
    able = len(trials) - (confirm.baseline == "base" and "base" in trials.values())
    num_unconfirmed = max(0, confirm.num_best - able) * len(confirm.seeds)
    return study.model_copy(
        update={
            "num_trials": len(trials),
            "num_cells": study.num_cells - (study.num_trials - len(trials)) - num_unconfirmed,
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
