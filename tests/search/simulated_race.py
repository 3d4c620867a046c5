"""Searches whose trials have a true height, and seeds that hide it: what a race finds, loses and saves.

`python -m tests.search.simulated_race` prints the table of decision 0038, `... equal` that of docs/results/verdicts.md.
"""

import random
import sys
from dataclasses import dataclass
from statistics import fmean, stdev

from rse_study.search.race import RacingTrial, race

SURFACES = {
    # Random search: heights are draws. A search that learns: they come ever nearer to the best there is.
    "random": lambda draw, trial, num_trials: draw.gauss(0, 1),
    "learning": lambda draw, trial, num_trials: -2 * draw.expovariate(1) * (1 - 0.8 * trial / num_trials),
}


@dataclass
class Found:
    """Means over searches."""

    raced_out: float
    """how often the truly best trial did not run all seeds"""
    num_cells: float
    raced: float
    """by how much the chosen trial is truly worse than the best: after the race,"""
    one_seed: float
    """by the first seeds alone,"""
    all_seeds: float
    """by all seeds of all trials"""


def raced_search(heights, noise, num_seeds, draw):
    """Every value, trial by trial; how many of them each trial ran."""
    values = [tuple(draw.gauss(height, noise) for _ in range(num_seeds)) for height in heights]
    trials: list[RacingTrial] = []
    for number, own in enumerate(values):
        trials.append(RacingTrial(number, own[:1]))
        while race(trials, num_seeds, less_is_better=False)[number] == "next":
            trials[-1] = RacingTrial(number, own[: len(trials[-1].values) + 1])
    return values, [len(trial.values) for trial in trials]


def simulate(surface="random", num_trials=16, num_seeds=3, noise=0.5, num_searches=100) -> Found:
    """Play so many searches; noise: standard deviation of seeds, where heights have one of about 1."""
    draw, rows = random.Random(0), []
    for _ in range(num_searches):
        heights = [SURFACES[surface](draw, trial, num_trials) for trial in range(num_trials)]
        values, ran = raced_search(heights, noise, num_seeds, draw)
        top = max(heights)
        best = max(range(num_trials), key=lambda n: (ran[n], fmean(values[n][: ran[n]])))
        first = max(range(num_trials), key=lambda n: values[n][0])
        whole = max(range(num_trials), key=lambda n: fmean(values[n]))
        is_out = ran[heights.index(top)] < num_seeds
        rows.append((is_out, sum(ran), *(top - heights[n] for n in (best, first, whole))))
    return Found(*(fmean(column) for column in zip(*rows, strict=True)))


def dropped_equals(num_trials=16, num_seeds=3, num_searches=100) -> tuple[float, float]:
    """How many equal trials after the first two do not run all seeds: share and standard error."""
    draw, shares = random.Random(0), []
    for _ in range(num_searches):
        _, ran = raced_search([0.0] * num_trials, 1.0, num_seeds, draw)
        shares.append(fmean(number < num_seeds for number in ran[2:]))
    return fmean(shares), stdev(shares) / num_searches**0.5


def equal_trials() -> None:
    """How often a trial that is as good as all others is dropped."""
    for num_trials, num_searches in ((16, 1000), (40, 400)):
        found = (dropped_equals(num_trials, num_seeds, num_searches) for num_seeds in (2, 3, 5))
        cells = " | ".join(f"{100 * share:.1f} % ± {100 * error:.1f}" for share, error in found)
        print(f"| {num_trials} | {num_searches} | {cells} |")


def main() -> None:
    """The table."""
    for surface in SURFACES:
        for num_trials in (16, 40):
            for num_seeds in (2, 3):
                for noise in (0.25, 0.5, 1.0):
                    found = simulate(surface, num_trials, num_seeds, noise, num_searches=400)
                    print(
                        f"| {surface} | {num_trials} | {num_seeds} | {noise:g} | {found.raced_out:.1%} | "
                        f"{found.num_cells:.0f} of {num_trials * num_seeds} | {found.one_seed:.2f} | "
                        f"{found.raced:.2f} | {found.all_seeds:.2f} |"
                    )


if __name__ == "__main__":
    equal_trials() if sys.argv[1:] == ["equal"] else main()
