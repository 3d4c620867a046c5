"""Anytime curves: the true value of the best trial so far by optimiser steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.search_arms.simulation import EndedTrial
from rse_study.results.statistics import Interval, t_interval

Curve = NDArray[np.float64]
CLOSE = 1e-9
"""Means that differ by less are equal: their last bits depend on the CPU."""
NUM_RESAMPLES = 2000


@dataclass(frozen=True)
class AnytimeResult:
    """The result of an arm on a surface over its repetitions."""

    surface: str
    arm: str
    steps: list[int]
    mean: list[float]
    """at each of the steps; NaN as long as a repetition has no complete trial"""
    low: list[float]
    """95% interval of the mean, by Student's t"""
    high: list[float]
    num_trials: float
    """mean number of trials that ended"""
    curves: list[list[float]]
    """one per repetition, in the order of the seeds"""

    def reaches(self, value: float) -> int | None:
        """Return the step from which the mean stays at a value or above, else None."""
        first = _first_kept(np.array(self.mean), value)
        return self.steps[first] if first < len(self.steps) else None

    def saving(self, random: "AnytimeResult") -> Interval:
        """Return the 95% interval of the share of all steps saved.

        That is the share left when the mean reaches the final mean of `random` and stays there; 0 where it never does.
        The bootstrap draws seeds, the same ones for both arms: percentiles of 2,000 resamples.
        """
        own, others = np.array(self.curves), np.array(random.curves)[:, -1]
        draws = np.random.default_rng(0).integers(0, len(own), (NUM_RESAMPLES, len(own)))
        kept = [_first_kept(own[drawn].mean(axis=0), float(others[drawn].mean())) for drawn in draws]
        saved = [1 - self.steps[first] / self.steps[-1] if first < len(self.steps) else 0.0 for first in kept]
        low, high = np.quantile(saved, [0.025, 0.975])
        return Interval(float(low), float(high))


def _first_kept(mean: Curve, value: float) -> int:
    """The index from which a mean stays at a value; its length if it ends below."""
    below = np.flatnonzero(~(mean >= value - CLOSE))
    return int(below[-1]) + 1 if below.size else 0


def best_so_far(ended: Iterable[EndedTrial], steps: Sequence[int]) -> Curve:
    """Return the true value of the best trial so far at each number of steps.

    The best trial has the best measured end; NaN before the first. Only trials of the full budget count, as in a
    study's own ranking.
    """
    curve, best = np.full(len(steps), np.nan), -np.inf
    for trial in ended:
        if trial.is_complete and trial.value > best:
            best = trial.value
            curve[np.searchsorted(steps, trial.steps_spent) :] = trial.truth
    return curve


def summary(
    surface: str, arm: str, steps: Sequence[int], curves: Sequence[Curve], num_trials: float
) -> AnytimeResult:
    """Return the mean of the repetitions' curves with its interval."""
    values = np.array(curves)
    intervals = [_interval(column) for column in values.T]
    return AnytimeResult(
        surface=surface,
        arm=arm,
        steps=list(steps),
        mean=[float(column.mean()) for column in values.T],
        low=[interval.low for interval in intervals],
        high=[interval.high for interval in intervals],
        num_trials=num_trials,
        curves=values.tolist(),
    )


def _interval(column: Curve) -> Interval:
    if len(column) < 2 or not np.isfinite(column).all():
        return Interval(np.nan, np.nan)
    return t_interval(column)
