"""The criterion of a study: which interval decides, why, and on which seeds."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import pandas as pd
from numpy.typing import ArrayLike

from rse_study.results.records import LARGEST, POINTS
from rse_study.results.statistics import Interval, confidence_sequence, t_interval
from rse_study.results.study_record import StudyRecord, margin_of, unit_of

LEVEL = 0.95
SO_FAR = " So far, rows with cells still to run follow the 95% confidence sequence, which allows any number of looks."
Look = tuple[int, dict[str, Any], dict[str, Any]]


RowVerdict = Literal["better", "worse", "same", "undecided"]
UNDEFINED, COLLAPSED = "undefined", "collapsed"  # complete without a finite score; of a collapsed model
WORDS = {"failed": "failed", UNDEFINED: "has no finite score", COLLAPSED: COLLAPSED}
FEWEST, FAR_SDS, FAR_MARGINS = 4, 5, 10
"""Seeds of which one can be far from the others, and how far; none of the project's own studies is."""


def row_verdict(interval: Interval, margin: float, *, less_is_better: bool) -> RowVerdict:
    """Return the verdict that the interval of row minus baseline gives.

    Same: the interval lies within `margin` on either side of 0, even if it excludes 0, because so small a difference
    does not matter. Better, worse: it excludes 0. Without a margin (0), only a row that equals its baseline with every
    seed is the same.
    """
    if -margin <= interval.low and interval.high <= margin:
        return "same"
    if not interval.excludes(0.0):
        return "undecided"
    return "better" if (interval.high < 0) == less_is_better else "worse"


@dataclass(frozen=True)
class Criterion:
    """The rule by which rows that are compared together get their verdicts."""

    is_anytime: bool = False
    """Whether confidence sequences decide, which hold however often one looks, and not t intervals."""
    why: str = ""
    margin: float = 0.0
    """A difference of no more than this counts as none; 0 where no margin is set."""
    unit: str = ""
    """Of the margin, POINTS or another one; empty if unknown."""
    less_is_better: bool = False
    margins_seen: tuple[float, ...] = ()
    """The objective's margins, oldest first, if it was changed after there were results."""
    waiting: frozenset[str] = frozenset()
    """Rows with cells still to run or to be scored: until then, confidence sequences decide about them."""
    lost: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """By row that ended without a score at some seeds, these seeds."""
    seeds: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """By row, all its seeds."""
    troubles: Mapping[str, str] = field(default_factory=dict)
    """By row, the seeds at which it failed or collapsed, in words."""
    is_lost: bool = False
    """Whether a row that is compared is lost: its other seeds alone decide nothing."""
    so_far: str = ""
    """The words that follow a verdict that may still change, because a row that is compared waits."""

    @property
    def name(self) -> str:
        return "anytime" if self.is_anytime else "fixed"

    def on(self, rows: Collection[str]) -> "Criterion":
        """Return the criterion for a difference of these rows."""
        waits = not self.waiting.isdisjoint(rows)
        shared = [self.seeds[row] for row in rows if row in self.seeds]
        is_lost = any(one.intersection(*shared) for row, one in self.lost.items() if row in rows)
        why = self.why if self.is_anytime or not waits else "some cells are still to run or to be scored"
        so_far, is_anytime = self.so_far or " so far" * waits, self.is_anytime or waits
        return replace(self, is_anytime=is_anytime, why=why, so_far=so_far, is_lost=self.is_lost or is_lost)

    def interval(self, differences: ArrayLike, num_together: int = 1, level: float = LEVEL) -> Interval:
        """Return the deciding interval, one of `num_together` (Bonferroni)."""
        shared = 1 - (1 - level) / num_together
        return (confidence_sequence if self.is_anytime else t_interval)(differences, shared)

    def verdict(self, interval: Interval) -> RowVerdict:
        """Return the verdict that an interval gives."""
        found = row_verdict(interval, self.margin, less_is_better=self.less_is_better)
        return "undecided" if self.is_lost else found

    def disagrees(self, interval: Interval, p: float, least_p: float) -> bool:
        """Whether an adjusted exact p contradicts the deciding interval.

        `least_p` is the smallest possible one. Never beside a confidence sequence: that p holds for a number of seeds
        that was fixed before.
        """
        if self.is_anytime or self.is_lost or self.verdict(interval) == "same" or not least_p <= 1 - LEVEL:
            return False
        return interval.excludes(0.0) != (p <= 1 - LEVEL)

    def title(self, num_together: int = 1, noun: str = "row") -> str:
        """Return the name of the interval for readers."""
        over = f" over all {num_together} {noun}s" if num_together > 1 else ""
        if self.is_anytime:
            return f"95% confidence sequence{over}"
        return f"simultaneous 95% interval{over}" if over else "95% interval"

    @property
    def within(self) -> str:
        """The margin as words that follow "the same"; "" without one."""
        unit = f" {self.unit}" if self.unit not in ("", POINTS) else ""
        return f" within \N{PLUS-MINUS SIGN}{self.margin:g}{unit}" if self.margin else ""

    def sentence(self, num_together: int = 1, noun: str = "row") -> str:
        """Say what decides, and why."""
        holds = ", which stays valid however often you look" if self.is_anytime else " (Student's t)"
        why = f": {self.why}" if self.why else ""
        margin = f" Differences{self.within} count as the same." if self.margin else ""
        so_far = SO_FAR if self.waiting and not self.is_anytime else ""
        follow = f"Verdicts follow the {self.title(num_together, noun)}{holds}{why}."
        return f"{follow}{margin}{self._margin_changed}{so_far}"

    @property
    def assumption(self) -> str:
        """Name the seeds that no verdict allows for; "" without any."""
        lost = " and ".join(row for row in self.troubles if row in self.lost)
        alone = f" Of {lost} nothing is decided by the other seeds alone." if lost else ""
        said = f"Verdicts assume that no seed fails or collapses, but {'; '.join(self.troubles.values())}.{alone}"
        return said if self.troubles else ""

    @property
    def _margin_changed(self) -> str:
        """Say that this margin was changed; "" of a metric that has another one than the objective."""
        if self.margins_seen[-1:] != (self.margin,):
            return ""
        changes = [f"from {before:g} to {now:g}" for before, now in pairwise(self.margins_seen)]
        return f" The margin was changed {' and '.join(changes)} after there were results."


def criterion_of(study: StudyRecord, revisions: pd.DataFrame, cells: pd.DataFrame) -> Criterion:
    """Return the criterion of a study, with the margin of its objective.

    It is about a grid's rows, or a search's confirmed trials. The interval for a fixed number of seeds decides if they
    were chosen before the first result and never changed. `cells` are those of `Reader.cells`, with retired ones.
    """
    looked = list(after_a_look(study, revisions, cells))
    rule = Criterion(
        margin=margin_of(study), unit=unit_of(study, ""), margins_seen=_margins_seen(study, looked)
    )
    if isinstance(_seeds(study, study.resolved), Mapping):
        return replace(rule, is_anytime=True, why="seeds are added until a row is decided")
    changed = _changed_after_a_look(study, looked)
    if changed:
        return replace(rule, is_anytime=True, why=changed)
    return replace(rule, why="the seeds were chosen before the first result")


def after_a_look(study: StudyRecord, revisions: pd.DataFrame, cells: pd.DataFrame) -> Iterator[Look]:
    """Yield revisions made when results were there: number, settings before, after."""
    stage = "grid" if study.kind == "grid" else "confirm"
    cells = cells[(cells["stage"] == stage) & (cells["status"] == "complete")]
    for (_, before), (_, now) in pairwise(revisions.iterrows()):
        ended = cells[(cells["revision"] < now["number"]) & (cells["ended"] <= now["at"])]
        if len(ended):
            old, new = (one["study"].get("resolved", {}) for one in (before, now))
            yield now["number"], old, new


def _margins_seen(study: StudyRecord, looked: Iterable[Look]) -> tuple[float, ...]:
    """Return the margin before its first change and after each; none if it was not changed."""
    seen: list[float] = []
    for _, *both in looked:
        old, new = (margin_of(study.model_copy(update={"resolved": one})) for one in both)
        if old != new:
            seen += [new] if seen else [old, new]
    return tuple(seen)


def _changed_after_a_look(study: StudyRecord, looked: Iterable[Look]) -> str:
    """Name the revisions that added or removed seeds when results were there; "" without any."""
    found = []
    for number, *both in looked:
        old, new = (_seeds(study, one) for one in both)
        if old and old != new:
            found += [f"revision {number} {what}" for what in _changes(old, new)]
    if not found:
        return ""
    *first, last = found
    return f"{', '.join(first)}{' and ' if first else ''}{last} after there were results"


def _changes(old: Any, new: Any) -> list[str]:
    if isinstance(old, Mapping) or isinstance(new, Mapping):
        return ["changed how seeds are chosen"]
    numbers = {"added": len(set(new) - set(old)), "removed": len(set(old) - set(new))}
    return [f"{word} {number} seed{'s' * (number > 1)}" for word, number in numbers.items() if number]


def _seeds(study: StudyRecord, resolved: Mapping[str, Any]) -> Any:
    """Return a frozen study's seeds that are results: a list, or the rule by which they are added."""
    section = resolved if study.kind == "grid" else resolved.get("confirm") or {}
    return section.get("seeds") or ()


def is_finite(values: pd.Series) -> pd.Series:
    """Return which values can be compared.

    No NaN can, no infinity, and nothing whose square overflows.
    """
    return values.abs() < LARGEST


def with_outcomes(rule: Criterion, cells: pd.DataFrame, minus: str) -> Criterion:
    """Return a criterion that knows these cells.

    Differences are from the row `minus`. Columns: row, seed, status (UNDEFINED of a complete cell without a finite
    score), value, degenerate.
    """
    troubles: dict[str, list[str]] = {}
    how = cells["status"].mask(cells["degenerate"], COLLAPSED)
    for (row, what), seeds in cells.groupby(["row", how], sort=False)["seed"]:
        if what in WORDS and (what != COLLAPSED or len(seeds) < (cells["row"] == row).sum()):
            troubles.setdefault(row, []).append(f"{WORDS[what]} with {_named(seeds)}")
    table = cells.pivot(index="row", columns="seed", values="value")
    for row in table.index if minus in table.index and rule.margin else ():
        if far := _far_away((table.loc[row] - table.loc[minus]).dropna().sort_values(), rule.margin):
            troubles.setdefault(row, []).append(far)
    is_lost, is_complete = cells["status"].isin(["failed", UNDEFINED]), cells["status"] == "complete"
    waiting = frozenset(cells.loc[~is_lost & ~is_complete, "row"])
    lost, seeds = (dict(some.groupby("row")["seed"].agg(frozenset)) for some in (cells[is_lost], cells))
    told = {row: f"{row} {' and '.join(texts)}" for row, texts in troubles.items()}
    return replace(rule, waiting=waiting, lost=lost, seeds=seeds, troubles=told)


def _far_away(ordered: pd.Series, margin: float) -> str:
    """Say which few seeds lie far from all others, as after a collapse that nothing marked."""
    gaps = [0.0, *ordered.diff().iloc[1:]]
    at = gaps.index(max(gaps))
    few, others = sorted((ordered[:at], ordered[at:]), key=len)
    is_far = len(ordered) >= FEWEST and gaps[at] > max(FAR_SDS * others.std(), FAR_MARGINS * margin)
    return f"lies {gaps[at]:.3g} away from its other seeds with {_named(few.index)}" if is_far else ""


def _named(seeds: Iterable[int]) -> str:
    *first, last = map(str, seeds)
    return f"seeds {', '.join(first)} and {last}" if first else f"seed {last}"
