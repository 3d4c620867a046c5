"""Limits that end a search (device hours, optimiser steps), and what is spent.

A new limit is a field of `SearchBudget` and an entry of `LIMITS`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import NonNegativeFloat, NonNegativeInt, model_validator

from rse_study.results.files.queries import LedgerQueries, now
from rse_study.results.records import AttemptRecord, CellRecord, Record
from rse_study.results.study_record import StudyRecord
from rse_study.search.choice import is_search_over
from rse_study.spec import Spec


class SearchBudget(Spec):
    """What ends a search, whichever comes first; 0 = no limit.

    No cell is begun that would not fit, if it takes as long as the longest complete one. `num_trials` are the most.
    Confirmation and path come after it and are not in it.
    """

    removed: ClassVar = {
        "hours": (
            "is no longer possible: what a search spends is counted in device hours",
            "Use device_hours: the hours times the devices that its cells hold at a time",
        ),
        **dict.fromkeys(
            ("cost", "price_per_hour"),
            (
                "is no longer possible: a search is limited in device hours, not in money",
                "Use device_hours: divide the money by the price of a device hour",
            ),
        ),
    }
    """limits of earlier versions: why they are refused, and what to do"""
    steps: NonNegativeInt = 0
    """optimiser steps of all its cells"""
    device_hours: NonNegativeFloat = 0.0
    """hours times GPUs, or else CPU threads; `--max-hours` sets it"""

    @model_validator(mode="before")
    @classmethod
    def _as_frozen_before(cls, given: Any) -> Any:
        """Leave out removed limits that are 0, as in studies that earlier versions froze."""
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if value != 0 or key not in cls.removed}


class FrozenBudget(SearchBudget, extra="ignore"):
    """The budget of a frozen study, with the limits of earlier versions."""

    hours: NonNegativeFloat = 0.0
    """by the clock"""

    @model_validator(mode="before")
    @classmethod
    def _money_as_device_hours(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Read a limit in money in device hours."""
        if not (given.get("cost") and given.get("price_per_hour")):
            return given
        bought = given["cost"] / given["price_per_hour"]
        return {**given, "device_hours": min(bought, given.get("device_hours") or bought)}


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
At = Mapping[str, Any]  # the time, and whether a run holds the ledger, so that running cells do run


def steps_used(ledger: LedgerQueries, study: StudyRecord, at: At) -> tuple[float, float]:
    """Return the steps taken, and those once begun cells and one more have ended.

    An interrupted cell is the next.
    """
    amount = float(study.settings.of_base("budget.amount"))
    cells = ledger.select(STEPS, {"metric": study.objective.metric, "amount": amount})
    in_the_end = sum(t if has_ended else amount for t, has_ended, _ in cells)
    one_more = 0.0 if any(waits for *_, waits in cells) else amount
    return float(sum(t for t, *_ in cells)), in_the_end + one_more


def device_hours_used(ledger: LedgerQueries, study: StudyRecord, at: At) -> tuple[float, float]:
    """Return the device hours of all attempts, and those with one more cell."""
    ((spent, left, one_more),) = ledger.select(DEVICE_SECONDS, at)
    return spent / 3600, (spent + left + one_more) / 3600


def hours_used(ledger: LedgerQueries, study: StudyRecord, at: At) -> tuple[float, float]:
    """Return the hours in which cells ran, and those with one more cell.

    Hours in which several ran count once.
    """
    covered = reached = with_next = 0.0
    for begun, seconds, longest in ledger.select(CLOCK, at):
        covered += max(0.0, begun + seconds - max(begun, reached))
        reached, with_next = max(reached, begun + seconds), covered + longest
    return covered / 3600, with_next / 3600


LIMITS: dict[str, tuple[str, Callable[[LedgerQueries, StudyRecord, At], tuple[float, float]]]] = {
    "steps": ("optimiser steps", steps_used),
    "device_hours": ("device hours", device_hours_used),
    "hours": ("hours", hours_used),
}
"""The unit of each limit, and a function of the ledger: what is spent, and what will be with one more cell."""


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

    @property
    def unit(self) -> str:
        return LIMITS[self.name][0]


def budget_shares(ledger: LedgerQueries, at: str = "", *, is_held: bool = True) -> tuple[BudgetShare, ...]:
    """Return the use of each limit of a search, now or at a time."""
    study = ledger.study()
    assert study is not None, "nothing was frozen yet"
    budget, shares = FrozenBudget.model_validate(study.settings.search_budget), list[BudgetShare]()
    for name, (_, used) in LIMITS.items():
        if limit := getattr(budget, name):
            spent, with_next = used(ledger, study, {"now": at or now(), "is_held": is_held})
            shares.append(BudgetShare(name=name, limit=limit, spent=spent, with_next=with_next))
    return tuple(shares)


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
        f"{share.spent:.4g} of {share.limit:g} {share.unit} spent, {share.with_next:.4g} with one more cell"
        for share in shares
        if not share.has_room
    ]
    most = study.settings.num_trials or study.num_trials
    return (
        f"the search's budget ended it after {study.num_trials} of at most {most} trials: {'; '.join(limits)}"
    )
