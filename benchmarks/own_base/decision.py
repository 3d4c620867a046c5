"""Whether a base of our own is accepted: a rule, and the scores it goes by."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from benchmarks.own_base.plan import OwnBasePlan, ScoreRun
from benchmarks.own_base.rows import OwnBaseRows, ScoreRow

NUM_SEEDS = 3
"""masked-LM seeds that a base must convince with: two of one recipe differ by points"""
State = Literal["accepted", "not accepted", "undecided"]


@dataclass(frozen=True)
class SeedScores:
    """Dev of one masked-LM seed after SimCSE, and of what it must lie above."""

    seed: int
    own: float
    """mean over the seeds of SimCSE; NaN where one of them lost its loss"""
    rivals: Mapping[str, float]
    """by what readers call them"""

    def lost_to(self) -> list[str]:
        """Rivals that it does not lie above."""
        return [name for name, value in self.rivals.items() if not self.own > value]


@dataclass(frozen=True)
class Decision:
    """What the rule says, and why."""

    state: State
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.state}: {'; '.join(self.reasons)}"


def decide(seeds: Sequence[SeedScores], num_missing: int) -> Decision:
    """Accept if with each of at least three masked-LM seeds own lies above all rivals.

    One seed that fails decides. Else missing rows, or too few seeds, leave it open.
    """
    losses = [_loss(one) for one in seeds if one.lost_to()]
    if losses:
        return Decision("not accepted", tuple(losses))
    if num_missing:
        return Decision("undecided", (f"rows that are missing: {num_missing}; the same command goes on",))
    if len(seeds) < NUM_SEEDS:
        return Decision("undecided", (f"{len(seeds)} masked-LM seeds of {NUM_SEEDS}",))
    least = min(one.own - value for one in seeds for value in one.rivals.values())
    reason = f"{len(seeds)} masked-LM seeds, each above every rival by {least:.2f} or more"
    return Decision("accepted", (reason,))


def seed_scores(plan: OwnBasePlan, rows: OwnBaseRows) -> Iterator[SeedScores]:
    """Yield the scores of each seed at the largest amount that has all its rows.

    An untrained encoder is compared with the base that began as it.
    """
    for seed in plan.seeds:
        runs = {kind: plan.scores(kind, plan.largest.num_sentences, seed) for kind in ("own", "untrained")}
        if all(map(rows.has, (*runs["own"], *runs["untrained"]))):
            untrained = _rows(runs["untrained"], rows)
            rivals = {
                "token overlap": plan.token_overlap,
                "the untrained encoder": untrained[0].dev_before,
                "the untrained encoder after SimCSE": mean_after(untrained),
            }
            yield SeedScores(seed, mean_after(_rows(runs["own"], rows)), rivals)


def mean_after(rows: Sequence[ScoreRow]) -> float:
    """Mean dev after SimCSE; NaN where a loss was lost."""
    return mean(math.nan if row.dev_after is None else row.dev_after for row in rows)


def _rows(runs: Sequence[ScoreRun], rows: OwnBaseRows) -> list[ScoreRow]:
    return [rows.scores[run] for run in runs]


def _loss(one: SeedScores) -> str:
    rivals = ", ".join(f"{name} ({one.rivals[name]:.2f})" for name in one.lost_to())
    return f"seed {one.seed} has {one.own:.2f}, not above {rivals}"
