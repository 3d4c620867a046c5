"""The ablation path of a search, axis by axis from its base to its best trial.

Its points are a pure function of the ledger (Fawcett & Hoos 2016; Biedenkapp et al. 2017); each is named by
the axes that have the best trial's value there.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from rse_study.results.reader import HAS_RESULT
from rse_study.results.records import BASE, FINISHED, CellRecord, ImportanceRow
from rse_study.results.settings import ConfirmSettings, PathSettings
from rse_study.results.study_record import StudyRecord
from rse_study.search.choice import best_first, by_trial, over_seeds

FlipOrder = Literal["greedy", "importance"]
PathPoint = frozenset[str]
"""The axes that have the best trial's value."""
SeedValues = tuple[float, ...]
"""The objective of each seed, in the order of the study's file; NaN of one that failed."""
ValuesOf = Callable[[PathPoint], SeedValues | None]
"""Gives a point's values; None while one of its cells has not ended."""


class Round(NamedTuple):
    """The flips that are tried on top of those accepted so far."""

    before: PathPoint
    flips: tuple[str, ...]
    accepted: str
    """the flip that was kept; empty while cells of the round have not ended"""


class PathEnd(NamedTuple):
    """A trial at one end of the path."""

    trial: int
    label: str
    proposal: Mapping[str, Any]


@dataclass(frozen=True)
class PathState:
    """The state of an ablation path."""

    order: FlipOrder
    seeds: tuple[int, ...]
    base: PathEnd
    best: PathEnd
    axes: tuple[str, ...]
    """those on which both ends differ; in the order of importance, or of the study's file"""
    rounds: tuple[Round, ...]
    values: Mapping[PathPoint, SeedValues]
    """values of points whose cells have all ended"""

    @property
    def points(self) -> tuple[PathPoint, ...]:
        """The base, then every point of the rounds, each once."""
        tried = [one.before | {flip} for one in self.rounds for flip in one.flips]
        return tuple(dict.fromkeys([PathPoint(), *tried]))

    @property
    def is_over(self) -> bool:
        return len(self.values) == num_points(len(self.axes), self.order)

    def proposal_of(self, point: PathPoint) -> dict[str, Any]:
        return {
            name: self.best.proposal[name] if name in point else value
            for name, value in self.base.proposal.items()
        }

    def label_of(self, point: PathPoint) -> str:
        if len(point) in (0, len(self.axes)):
            return (self.best if point else self.base).label
        return f"{BASE} with {', '.join(name for name in self.base.proposal if name in point)}"


def num_points(num_axes: int, order: FlipOrder) -> int:
    """Return the number of points of a path over `num_axes` axes, with the base.

    >>> num_points(8, "greedy"), num_points(8, "importance")
    (37, 9)
    """
    return 1 + (num_axes * (num_axes + 1) // 2 if order == "greedy" else num_axes)


def rounds_of(
    axes: Sequence[str], order: FlipOrder, values_of: ValuesOf, *, less_is_better: bool
) -> tuple[Round, ...]:
    """Return the rounds whose points are known; if not greedy, all at once.

    A greedy round takes the flip with the best mean. A flip that lacks a seed's value comes after all that
    lack none; on a tie the earlier axis is kept.
    """
    rounds: list[Round] = []
    point = PathPoint()
    while len(point) < len(axes):
        left = tuple(name for name in axes if name not in point)
        flips = left if order == "greedy" else left[:1]
        results = [values_of(point | {flip}) for flip in flips]
        if order == "greedy" and None in results:
            return (*rounds, Round(point, flips, ""))
        known = [result or () for result in results]
        accepted = min(zip(flips, known, strict=True), key=lambda one: _rank(one[1], less_is_better))[0]
        rounds.append(Round(point, flips, accepted))
        point |= {accepted}
    return tuple(rounds)


def _rank(values: SeedValues, less_is_better: bool) -> tuple[int, float]:
    finite = [value for value in values if math.isfinite(value)]
    mean = math.fsum(finite) / len(finite) if finite else 0.0
    return len(values) - len(finite), mean if less_is_better else -mean


def path_state(
    study: StudyRecord,
    cells: Iterable[CellRecord],
    last_points: Mapping[str, tuple[int, float]],
    importance: Iterable[ImportanceRow],
    *,
    is_search_over: bool,
) -> PathState | None:
    """Return the state of the path; None without one, and until the search has a best."""
    settings, cells = study.settings.ablation_path, [cell for cell in cells if not cell.retired]
    ends = _ends(study, cells, last_points) if settings.seeds and is_search_over else None
    if ends is None:
        return None
    base, best = ends
    differing = [axis.name for axis in study.axes if base.proposal[axis.name] != best.proposal[axis.name]]
    order, seeds = settings.order, settings.seeds
    axes = differing if order == "greedy" else by_importance(differing, importance)
    state = PathState(order, seeds, base, best, tuple(axes), (), {})
    found = _values_by_proposal(cells, last_points)

    def values_of(point: PathPoint) -> SeedValues | None:
        proposal = _key(state.proposal_of(point))
        values = tuple(found[proposal, seed] for seed in seeds if (proposal, seed) in found)
        return values if len(values) == len(seeds) else None

    rounds = rounds_of(axes, order, values_of, less_is_better=study.is_less_better())
    state = replace(state, rounds=rounds)
    known = {point: values_of(point) for point in state.points}
    return replace(state, values={point: values for point, values in known.items() if values is not None})


def by_importance(axes: Iterable[str], rows: Iterable[ImportanceRow]) -> list[str]:
    """Return axes by their share, the mean over evaluators; those without come last."""
    shares: dict[str, list[float]] = {}
    for row in rows:
        shares.setdefault(row.axis, []).append(row.value)
    return sorted(axes, key=lambda name: -math.fsum(shares.get(name, [0.0])) / len(shares.get(name, [0.0])))


def num_path_cells(
    study: StudyRecord, cells: Iterable[CellRecord], state: PathState | None, *, is_search_over: bool
) -> int:
    """Return the number of the path's cells beside the confirmation's; an upper bound."""
    if state is not None and state.is_over:
        return sum(cell.stage == "path" and not cell.retired for cell in cells)
    if state is None and is_search_over:
        return 0
    num_axes = len(study.axes) if state is None else len(state.axes)
    return most_path_cells(num_axes, study.settings.ablation_path, study.settings.confirm)


def most_path_cells(num_axes: int, path: PathSettings, confirm: ConfirmSettings) -> int:
    """Return the most cells of a path over `num_axes` axes, beside the confirmation's.

    Of seeds until decided, those count that every trial has.
    """
    shared = set(path.seeds) & set(confirm.least_seeds)
    num_ends = 1 + (confirm.baseline == BASE)
    return num_points(num_axes, path.order) * len(path.seeds) - num_ends * len(shared)


def _ends(
    study: StudyRecord, cells: Sequence[CellRecord], last_points: Mapping[str, tuple[int, float]]
) -> tuple[PathEnd, PathEnd] | None:
    trials = by_trial(study, cells)
    searched = {of_trial[0].trial: of_trial[0] for of_trial in trials}
    base = next((cell for cell in searched.values() if cell.label == BASE), None)
    standings = []
    for of_trial in trials:
        known = [one for one in of_trial if one.status in HAS_RESULT and one.identity in last_points]
        if of_trial[0] is not base and of_trial[0] in known:
            points = [last_points[one.identity] for one in known]
            standings.append((of_trial[0].trial, *over_seeds(points)))
    best = best_first(standings, study.objective.direction)[:1]
    if base is None or not best:
        return None
    first, last = (
        PathEnd(cell.trial, cell.label, {axis.name: cell.proposal[axis.name] for axis in study.axes})
        for cell in (base, searched[best[0]])
    )
    return first, last


def _values_by_proposal(
    cells: Iterable[CellRecord], last_points: Mapping[str, tuple[int, float]]
) -> dict[tuple[tuple[Any, ...], int], float]:
    """The objective of each cell, of path or confirmation, that has ended."""
    return {
        (_key(cell.proposal), cell.seed): last_points.get(cell.identity, (0, math.nan))[1]
        if cell.status == "complete"
        else math.nan
        for cell in cells
        if cell.stage in ("confirm", "path") and cell.status in FINISHED
    }


def _key(proposal: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(proposal.items()))
