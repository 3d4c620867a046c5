"""The rule by which confirmation, reports and `--trial best` choose trials."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, Literal, TypeVar

from rse_study.results.files.queries import LedgerQueries
from rse_study.results.reader import HAS_RESULT
from rse_study.results.records import FINISHED, CellRecord, Direction
from rse_study.results.study_record import StudyRecord

Key = TypeVar("Key")
ALL_OF_ONE_KIND: Mapping[int, Any] = {}
ScoredTrial = tuple[Key, int, float]
"""The key, the last step, and the objective there (NaN if it has none)."""
TrialOutcome = Literal["complete", "pruned", "failed", "running"]


def best_first(trials: Iterable[ScoredTrial[Key]], direction: Direction) -> list[Key]:
    """Return those that have an objective: by steps, then by value, then as given.

    A value after fewer steps is another quantity: it never outranks one of the full budget.

    >>> best_first([("a", 60, 55.0), ("b", 15, 90.0), ("c", 60, 56.0)], "maximize")
    ['c', 'a', 'b']
    """
    sign = 1 if direction == "maximize" else -1
    scored = [trial for trial in trials if math.isfinite(trial[2])]
    ordered = sorted(scored, key=lambda trial: (-trial[1], -sign * trial[2]))
    return [key for key, _, _ in ordered]


def over_seeds(points: Sequence[tuple[int, float]]) -> tuple[int, float]:
    """Return the sum of the seeds' steps, and the mean of their finite values.

    Seeds without a finite value add no steps, so that a trial with fewer seeds never outranks one with more.

    >>> over_seeds([(60, 55.0), (60, 57.0)]), over_seeds([(60, 55.0), (60, math.nan)])
    ((120, 56.0), (60, 55.0))
    """
    known = [point for point in points if math.isfinite(point[1])]
    if not known:
        return points[0]
    return sum(t for t, _ in known), math.fsum(value for _, value in known) / len(known)


@dataclass(frozen=True)
class TrialResult(Generic[Key]):
    """Where a trial ended."""

    key: Key
    t: int
    """its last step"""
    values: tuple[float, ...]
    """its objectives there; NaN if missing"""
    is_feasible: bool = True

    @property
    def is_scored(self) -> bool:
        return all(math.isfinite(value) for value in self.values)


def chosen_first(trials: Iterable[TrialResult[Key]], directions: Sequence[Direction]) -> list[Key]:
    """Return all scored and feasible trials, best first.

    Several objectives: front by front (NSGA-II, Deb et al. 2002), in each the knee, then what adds most hypervolume.
    """
    able = [trial for trial in trials if trial.is_feasible and trial.is_scored]
    if len(directions) == 1:
        return best_first(((trial.key, trial.t, trial.values[0]) for trial in able), directions[0])
    # numpy, which a look at a study with one objective does without
    from rse_study.search.front import oriented, representatives

    ordered: list[Key] = []
    while able:
        members = front_of(able, directions)
        points = oriented([trial.values for trial in members], directions)
        ordered += [members[index].key for index in representatives(points, len(members))]
        able = [trial for trial in able if trial not in members]
    return ordered


def front_of(trials: Iterable[TrialResult[Key]], directions: Sequence[Direction]) -> list[TrialResult[Key]]:
    """Return the undominated trials among the feasible ones with the most steps."""
    from rse_study.search.front import front, oriented

    able = [trial for trial in trials if trial.is_feasible and trial.is_scored]
    farthest = max((trial.t for trial in able), default=0)
    able = [trial for trial in able if trial.t == farthest]
    kept = front(oriented([trial.values for trial in able], directions))
    return [trial for trial, stays in zip(able, kept, strict=True) if stays]


def standings_of(ledger: LedgerQueries, cells: Iterable[CellRecord] | None = None) -> list[TrialResult[str]]:
    """Return where each trial of a search ended; keys are identities.

    `cells` are all cells of the ledger, where the caller has read them.
    A cell without a result has no values; one whose constraint was not measured breaks it. A trial of several seeds, in
    searches of earlier versions, stands under its first seed's cell, with the mean over seeds and the sum of their
    steps.
    """
    study = ledger.study()
    assert study is not None, "nothing was frozen yet"
    steps = ledger.last_points(study.objective.metric)
    deciding = {one.metric for one in study.all_objectives} | {one.metric for one in study.constraints}
    finals = {metric: ledger.final_values(metric) for metric in deciding - {study.objective.metric}}
    finals[study.objective.metric] = {cell: value for cell, (_, value) in steps.items()}
    known = ledger.cells() if cells is None else cells
    trials = by_trial(study, (cell for cell in known if not cell.retired))
    return [_standing(study, of_trial, steps, finals) for of_trial in trials]


def _standing(
    study: StudyRecord,
    cells: Sequence[CellRecord],
    steps: Mapping[str, tuple[int, float]],
    finals: Mapping[str, Mapping[str, float]],
) -> TrialResult[str]:
    """Return where the trial of these cells, one per seed, ended."""

    def mean(metric: str, among: Iterable[CellRecord]) -> float:
        return mean_of(finals[metric].get(cell.identity, math.nan) for cell in among)

    first, last = cells[0], finals[study.objective.metric]
    with_result = [cell for cell in cells if first.status in HAS_RESULT and cell.status in HAS_RESULT]
    scored = [cell for cell in with_result if math.isfinite(last.get(cell.identity, math.nan))]
    counted = scored or with_result
    among = counted or [first]
    return TrialResult(
        key=first.identity,
        t=over_seeds([steps.get(cell.identity, (0, math.nan)) for cell in among])[0],
        values=tuple(mean(one.metric, counted) for one in study.all_objectives),
        is_feasible=all(one.violation(mean(one.metric, among)) <= 0 for one in study.constraints),
    )


def mean_of(values: Iterable[float]) -> float:
    """Return the mean of a trial's seeds; NaN of none. Of one it is the value itself."""
    known = tuple(values)
    return math.fsum(known) / len(known) if known else math.nan


def by_trial(study: StudyRecord, cells: Iterable[CellRecord]) -> list[list[CellRecord]]:
    """Return the cells of each trial of a search, first seed first."""
    place = {seed: index for index, seed in enumerate(study.search_seeds)}
    trials: dict[int, list[CellRecord]] = {}
    for cell in sorted(cells, key=lambda cell: place.get(cell.seed, len(place))):
        if cell.stage == "search":
            trials.setdefault(cell.trial, []).append(cell)
    return [trials[number] for number in sorted(trials)]


def is_search_over(study: StudyRecord, cells: Iterable[CellRecord]) -> bool:
    """Whether all trials have ended: before that, another may become the best."""
    ended = (all(cell.status in FINISHED for cell in of_trial) for of_trial in by_trial(study, cells))
    return sum(ended) >= study.num_trials


def trials_to_confirm(
    standings: Sequence[TrialResult[int]],
    baseline: Collection[int],
    num_best: int,
    directions: Sequence[Direction],
    kinds: Mapping[int, Any] = ALL_OF_ONE_KIND,
) -> list[int]:
    """Return the trials to confirm beside the baseline, which is on no front.

    One objective: the best. Several: the knee of the front, then what adds most to it. So many of each kind, where
    `kinds` has kinds by trial.
    """
    others = sorted((one for one in standings if one.key not in baseline), key=lambda one: one.key)
    ranks: dict[Any, Iterator[int]] = defaultdict(count)
    return [key for key in chosen_first(others, directions) if next(ranks[kinds.get(key)]) < num_best]


@dataclass(frozen=True)
class Observation:
    """How a trial ended."""

    outcome: TrialOutcome
    values: tuple[float, ...] = ()
    """objectives at the last step; none unless complete"""


RUNNING = Observation("running")


def judged(status: str, values: Sequence[float]) -> Observation:
    """Return what a sampler learns of a cell: last values, never the best so far."""
    if status == "stopped_early":
        return Observation("pruned")
    if status == "complete" and all(map(math.isfinite, values)):
        return Observation("complete", tuple(values))
    return Observation("failed")
