"""Limits that end a search (hours, steps, device hours, money), and what is spent."""

from collections.abc import Iterable, Mapping, Sequence

from rse_study.results.device_time import gpus_per_worker, seconds_between
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.queries import now as current_time
from rse_study.results.records import FINISHED, AttemptRecord, CellRecord, Record
from rse_study.results.study_record import StudyRecord
from rse_study.search.attempt_spans import (
    AttemptSpan,
    EndedSpans,
    Use,
    device_hours_of,
    hours_of,
    longest_seconds,
    spans_of,
    spans_without_attempts,
)
from rse_study.search.choice import is_search_over

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
    return RunningBudget(ledger).shares(now, is_held=is_held)


class RunningBudget:
    """The use of each limit of a search, from sums over the cells that have ended.

    A call reads those cells alone that are new, or had not ended at the call before. A cell that failed is read again
    each time, for it may run again.
    """

    def __init__(self, ledger: LedgerQueries) -> None:
        study = ledger.study()
        assert study is not None, "nothing was frozen yet"
        self._ledger, self._study, self._settings = ledger, study, study.settings.search_budget
        found = {name: float(getattr(self._settings, name)) for name in LIMITS}
        self._limits = {name: limit for name, limit in found.items() if limit}
        self._runs, self._devices = ledger.provenance(), set[str]()
        self._row, self._open, self._begun = 0, set[str](), ""
        self._ended, self._steps = EndedSpans(), 0.0
        self._lost: list[AttemptRecord] = []  # they last as long as the longest one at most
        self._longest: dict[str, AttemptRecord] = {}  # by outcome

    def has_room(self) -> bool:
        """Whether each limit has room for another cell."""
        return all(share.has_room for share in self.shares(current_time()))

    def shares(self, now: str, *, is_held: bool = True) -> tuple[BudgetShare, ...]:
        """Return the use of each limit; empty without limits."""
        if not self._limits:
            return ()
        new, self._begun = self._ledger.entered_after(self._row), self._begun or now
        among = self._open | new.keys() if self._row else None
        cells, attempts = self._ledger.cells(among), self._ledger.attempts(among)
        self._row, metric = max([self._row, *new.values()]), self._study.objective.metric
        searched, attempts = searched_cells(cells, attempts), attempts_of_search(cells, attempts)
        steps = {name: t for name, (t, _) in self._ledger.last_points(metric, among).items()}
        stopped = {cell.identity for cell in searched if cell.status == "stopped_early"}
        rungs = self._ledger.rungs(among)
        steps |= {row.cell: row.t for row in rungs if row.verdict == "stop" and row.cell in stopped}
        self._devices |= {cell.provenance.get("device_type", "") for cell in cells}
        gpus = gpus_per_worker([{"device_type": name} for name in self._devices], self._runs)
        since = seconds_between(self._begun, now)

        settled = [cell for cell in searched if cell.status in ("complete", "stopped_early")]
        names = {cell.identity for cell in settled}
        self._open = {cell.identity for cell in cells if cell.stage == "search"} - names
        ended = self._add_longest(one for one in attempts if one.cell in names)
        spans = spans_of(ended, now, gpus) + spans_without_attempts(settled, attempts, now, gpus)
        for span in spans:
            self._ended.add(span.after(since))
        self._steps += steps_of(settled, steps, 0.0).spent

        left = [cell for cell in searched if cell.identity not in names]
        attempts = [one for one in attempts if one.cell not in names]
        attempts += [*self._lost, *self._longest.values()]
        longest, spans = longest_seconds(attempts), spans_of(attempts, now, gpus, is_held=is_held)
        spans += spans_without_attempts(left, attempts, now, gpus)
        return self._with([one.after(since) for one in spans], longest, since, left, steps)

    def _add_longest(self, attempts: Iterable[AttemptRecord]) -> list[AttemptRecord]:
        """Keep those attempts of ended cells that are lost or the longest; return the others."""
        others = []
        for one in attempts:
            if one.outcome == "lost":
                self._lost.append(one)
                continue
            both = [one, *filter(None, [self._longest.get(one.outcome)])]
            self._longest[one.outcome] = max(both, key=lambda each: seconds_between(each.started, each.ended))
            others += [each for each in both if each is not self._longest[one.outcome]]
        return others

    def _with(
        self,
        spans: Sequence[AttemptSpan],
        longest: float,
        since: float,
        left: Sequence[CellRecord],
        steps: Mapping[str, int],
    ) -> tuple[BudgetShare, ...]:
        """Return the use of each limit, with the spans and cells that are not in the sums."""
        device_hours, price = device_hours_of(spans, longest, self._ended), self._settings.price_per_hour
        of_left = steps_of(left, steps, float(self._study.settings.of_base("budget.amount")))
        uses = {
            "hours": hours_of(spans, longest, self._ended, since),
            "steps": Use(*(self._steps + number for number in of_left)),
            "device_hours": device_hours,
            "cost": Use(price * device_hours.spent, price * device_hours.with_next),
        }
        return tuple(
            BudgetShare(name=name, limit=limit, **uses[name]._asdict())
            for name, limit in self._limits.items()
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
    return shortened(study, searched_cells(cells, ledger.attempts()), shares)


def shortened(
    study: StudyRecord, searched: Sequence[CellRecord], shares: Sequence[BudgetShare]
) -> StudyRecord:
    """Return the study as far as its search went, if its budget has ended it.

    That is so if trials are left, no cell runs, and one more would not fit. Interrupted cells without room are not
    waited for; those given up with a reason count.
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
