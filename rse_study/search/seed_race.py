"""Which trials of a search run another seed: a race against the best one so far.

All trials run the first seed. Another one costs as much, and tells something only of a trial that may still win: that
is not worse than the incumbent by more than the noise of seeds explains. In the manner of F-Race and irace (Birattari
et al. 2002; López-Ibáñez et al. 2016), where instances stand in the seeds' place, with one noise for all trials; that
a challenger runs only as long as it may beat the incumbent is SMAC's (Hutter et al. 2011). Which trials go on is a pure
function of values, and each trial is judged by trials of lower number alone: what comes later changes no verdict.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

LEVEL = 0.95
"""One-sided: a trial as good as the incumbent leaves the race in at most one case of twenty a seed."""
NUM_WHOLE = 2
"""Trials that run all seeds whatever they come to, so that the noise is known: the base, and the first proposed."""
RaceVerdict = Literal["running", "next", "waiting", "over"]
"""A cell has not ended; another seed is to run; the noise is not known yet; the trial runs no other seed."""


class RacingTrial(NamedTuple):
    """What a verdict rests on: one trial's seeds so far."""

    number: int
    values: tuple[float, ...]
    """the objective of its complete seeds, in the order of the study's file"""
    is_running: bool = False
    """whether one of its cells has not ended"""
    is_out: bool = False
    """whether it runs no other seed: it was stopped early, or a seed of it failed"""


@dataclass
class _Field:
    """The trials of lower number, as far as they decide."""

    num_seeds: int
    sign: int
    best: tuple[float, ...] = ()
    """values of the incumbent: of those with all seeds, the best"""
    num_whole: int = 0
    """how many have all seeds"""
    num_to_be_whole: int = 0
    """how many have all seeds, or are to run them whatever they come to"""
    squares: float = 0.0
    """squared deviations from each trial's own mean"""
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
    """Return what comes next for each trial, by its number.

    The first `NUM_WHOLE` trials that neither fail nor are stopped run all seeds. Trial k with n of them complete runs
    another one if, over the same n seeds, its mean lies at most q * s * sqrt(2 / n) behind the incumbent's. That is the
    best trial of lower number with all seeds; s is the standard deviation of seeds within trials, pooled over the
    trials of lower number with at least two, and q Student's one-sided quantile for its degrees of freedom.

    Parameters
    ----------
    trials
        Of the search, in the order of their numbers.
    num_seeds
        How many there are.
    less_is_better
        Of the objective.
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


def mean_of(values: Iterable[float]) -> float:
    """Return the mean of a trial's seeds; NaN of none. Of one it is the value itself."""
    known = tuple(values)
    return math.fsum(known) / len(known) if known else math.nan


def _t_quantile(freedom: int) -> float:
    """Student's, one-sided."""
    from scipy.special import stdtrit  # most searches run one seed, and `status` needs none of it

    return float(stdtrit(freedom, LEVEL))
