"""The race of a search's seeds: which trials run another one.

Another seed costs as much as the first, and helps only for a trial that may still win: one not worse than the
incumbent by more than the noise of seeds explains. In the manner of F-Race and irace (Birattari et al. 2002;
López-Ibáñez et al. 2016), where instances stand in the seeds' place, with one noise for all trials; that a
challenger runs only as long as it may win is SMAC's (Hutter et al. 2011). Each trial is judged by trials of
lower number alone: what comes later changes no verdict.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rse_study.results.files.queries import LedgerQueries
from rse_study.results.records import FINISHED, CellRecord, RungRow
from rse_study.results.study_record import StudyRecord
from rse_study.search.choice import mean_of
from rse_study.search.stopping import rule_of

LEVEL = 0.95
"""One-sided, against a fixed incumbent; the incumbent is itself selected, so that equal trials leave more often."""
NUM_WHOLE = 2
"""Trials that run all seeds whatever they come to, so that the noise is known: the base, and the first proposed."""
RaceVerdict = Literal["running", "next", "waiting", "over"]
"""A cell has not ended; another seed is to run; the noise is not known yet; the trial runs no other seed."""


class RacingTrial(NamedTuple):
    """The seeds of one trial so far."""

    number: int
    values: tuple[float, ...]
    """objectives of its complete seeds, in the order of the study's file"""
    is_running: bool = False
    is_out: bool = False
    """whether it runs no other seed: it was stopped early, or a seed of it failed"""


@dataclass
class _Field:
    num_seeds: int
    sign: int
    best: tuple[float, ...] = ()
    """values of the incumbent, the best trial with all seeds"""
    num_whole: int = 0
    num_to_be_whole: int = 0
    """trials that have all seeds, or are to run them whatever they come to"""
    squares: float = 0.0
    freedom: int = 0
    _quantiles: dict[int, float] = field(default_factory=dict)

    def add(self, values: tuple[float, ...], *, runs_all: bool) -> None:
        is_whole = len(values) == self.num_seeds
        self.num_whole += is_whole
        self.num_to_be_whole += is_whole or runs_all
        if len(values) > 1:
            centre = mean_of(values)
            self.squares += math.fsum((value - centre) ** 2 for value in values)
            self.freedom += len(values) - 1
        if is_whole and (not self.best or self.sign * (mean_of(values) - mean_of(self.best)) > 0):
            self.best = values

    def may_win(self, values: tuple[float, ...]) -> bool:
        n = len(values)
        behind = self.sign * (mean_of(self.best[:n]) - mean_of(values))
        return behind <= self.quantile() * math.sqrt(self.squares / self.freedom) * math.sqrt(2 / n)

    def quantile(self) -> float:
        if self.freedom not in self._quantiles:
            self._quantiles[self.freedom] = _t_quantile(self.freedom)
        return self._quantiles[self.freedom]


def race(trials: Iterable[RacingTrial], num_seeds: int, *, less_is_better: bool) -> dict[int, RaceVerdict]:
    """Return the next action for each trial, by its number.

    The first `NUM_WHOLE` trials that neither fail nor are stopped run all seeds. Trial k with n of them complete runs
    another one if, over the same n seeds, its mean lies at most q * s * sqrt(2 / n) behind the incumbent's, the best
    trial of lower number with all seeds. s is the standard deviation of seeds within trials, pooled over the trials of
    lower number with at least two, and q Student's one-sided quantile for its degrees of freedom.
    """
    lower, verdicts = _Field(num_seeds, -1 if less_is_better else 1), {}
    for trial in trials:
        runs_all = not trial.is_out and lower.num_to_be_whole < NUM_WHOLE
        verdicts[trial.number] = _verdict(trial, lower, runs_all=runs_all)
        lower.add(trial.values, runs_all=runs_all)
    return verdicts


def _verdict(trial: RacingTrial, lower: _Field, *, runs_all: bool) -> RaceVerdict:
    if trial.is_running:
        return "running"
    if trial.is_out or len(trial.values) >= lower.num_seeds:
        return "over"
    if runs_all:
        return "next"
    if lower.num_whole < NUM_WHOLE:
        return "waiting"
    return "next" if lower.may_win(trial.values) else "over"


def _t_quantile(freedom: int) -> float:
    from scipy.special import stdtrit  # most searches run one seed, and `status` needs none of it

    return float(stdtrit(freedom, LEVEL))


OVER: RaceVerdict = "over"


@dataclass(frozen=True)
class RaceState:
    """Each trial's seeds so far, and what comes next for it."""

    num_seeds: int
    num_trials: int
    """trials of the search, also those that nobody has proposed yet"""
    num_cells: Mapping[int, int]
    """planned cells of each trial"""
    trials: tuple[RacingTrial, ...]
    verdicts: Mapping[int, RaceVerdict]

    @property
    def most_cells(self) -> int:
        """Most cells of the search: all seeds of trials that still race, or are to come."""
        num_open = max(0, self.num_trials - len(self.trials))
        num_open += sum(not self.has_ended(trial) for trial in self.trials)
        return num_open * self.num_seeds + sum(
            self.num_cells[trial.number] for trial in self.trials if self.has_ended(trial)
        )

    @property
    def num_saved(self) -> int:
        """The number of cells saved against all seeds of all trials."""
        return max(self.num_trials, len(self.trials)) * self.num_seeds - self.most_cells

    @property
    def is_over(self) -> bool:
        are_all = len(self.trials) >= self.num_trials
        return are_all and all(verdict == "over" for verdict in self.verdicts.values())

    @property
    def num_seeds_left(self) -> int:
        """Most seeds that known trials may still run."""
        return sum(
            self.num_seeds - self.num_cells[one.number] for one in self.trials if not self.has_ended(one)
        )

    def has_ended(self, trial: RacingTrial) -> bool:
        return trial.is_out or self.verdicts[trial.number] == "over"

    def num_with(self, num_seeds: int) -> int:
        return sum(number >= num_seeds for number in self.num_cells.values())


def race_of(ledger: LedgerQueries, study: StudyRecord, cells: Iterable[CellRecord]) -> RaceState | None:
    """Return the state of a search's race; None where trials run one seed."""
    if not study.search_seeds:
        return None
    deciding = {one.metric for one in study.all_objectives} | {one.metric for one in study.constraints}
    finals = {metric: ledger.final_values(metric) for metric in deciding}
    return race_state(study, cells, finals, ledger.rungs())


def race_state(
    study: StudyRecord,
    cells: Iterable[CellRecord],
    finals: Mapping[str, Mapping[str, float]],
    rungs: Iterable[RungRow] = (),
) -> RaceState:
    """Return the state of a search's race."""
    place = {seed: index for index, seed in enumerate(study.search_seeds)}
    by_trial: dict[int, list[CellRecord]] = defaultdict(list)
    for cell in cells:
        nobody_runs_it = study.is_cut_short and cell.is_left_behind
        if cell.stage == "search" and not cell.retired and not nobody_runs_it:
            by_trial[cell.trial].append(cell)
    stopped = _stopped(study, rungs, {cell.identity: n for n, of in by_trial.items() for cell in of})
    trials = []
    for number, of_trial in sorted(by_trial.items()):
        ended = [cell for cell in of_trial if cell.status in FINISHED]
        complete = [cell for cell in ended if cell.status == "complete" and _is_measured(cell, finals)]
        complete.sort(key=lambda cell: place.get(cell.seed, len(place)))
        trials.append(
            RacingTrial(
                number,
                tuple(finals[study.objective.metric][cell.identity] for cell in complete),
                is_running=len(ended) < len(of_trial),
                is_out=len(complete) < len(ended) or any(cell.identity in stopped for cell in of_trial),
            )
        )
    is_less_better = study.objective.direction == "minimize"
    return RaceState(
        num_seeds=len(place),
        num_trials=study.num_trials,
        num_cells={number: len(of_trial) for number, of_trial in by_trial.items()},
        trials=tuple(trials),
        verdicts=dict.fromkeys(by_trial, OVER)
        if study.is_cut_short
        else race(trials, len(place), less_is_better=is_less_better),
    )


def _is_measured(cell: CellRecord, finals: Mapping[str, Mapping[str, float]]) -> bool:
    return all(math.isfinite(values.get(cell.identity, math.nan)) for values in finals.values())


def _stopped(study: StudyRecord, rungs: Iterable[RungRow], trials: Mapping[str, int]) -> set[str]:
    rule, seed = rule_of(study), study.search_seed
    stops = [row for row in rungs if row.verdict == "stop" and row.cell in trials]
    return {
        row.cell
        for row in stops
        if rule is None or rule.effective(seed, trials[row.cell], row.value, row.verdict) == "stop"
    }
