"""An attack whose every outcome is kept as it comes, so that it goes on where it was interrupted."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.engine import attack
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.evaluation.attacks.single_input import Target
from rse_study.evaluation.attacks.victim import Victim

ProgressCallback = Callable[[int, int], None]  # inputs done, of how many


@dataclass(frozen=True)
class AttackRun:
    """Outcomes of all inputs asked for, by index; `num_now` of them were sought this time, which took `seconds_now`."""

    outcomes: list[AttackOutcome]
    num_now: int
    seconds_now: float


def attack_and_store(
    recipe: Recipe,
    victim: Victim,
    examples: Labelled | Sequence[Target],
    kept: OutcomeStore,
    *,
    max_queries: int,
    seed: int,
    told: ProgressCallback = lambda done, total: None,
) -> AttackRun:
    """The outcome of every example; those that are in the file are not sought again."""
    wanted = range(len(examples)) if isinstance(examples, Labelled) else [one.index for one in examples]
    begun, num_before = time.monotonic(), sum(index in kept.done for index in wanted)
    found = attack(recipe, victim, examples, max_queries=max_queries, seed=seed, done=dict(kept.done))
    num_now = 0
    for outcome in found:
        kept.add(outcome)
        num_now += 1
        told(num_before + num_now, len(wanted))
    outcomes = [kept.done[index] for index in sorted(wanted)]
    return AttackRun(outcomes, num_now, time.monotonic() - begun)
