"""An attack that stores every outcome and resumes where it was interrupted."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rse_study.activity import ProgressCallback
from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks.attack import Attack, Target
from rse_study.evaluation.attacks.engine import attack_all
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.outcome_store import OutcomeStore
from rse_study.evaluation.attacks.victim import Victim


@dataclass(frozen=True)
class AttackRun:
    """All inputs' outcomes, by index, and what this run added."""

    outcomes: list[AttackOutcome]
    num_now: int
    seconds_now: float


def attack_and_store(
    attack: Attack,
    victim: Victim,
    examples: Labelled | Sequence[Target],
    store: OutcomeStore,
    *,
    max_queries: int,
    seed: int,
    on_progress: ProgressCallback = lambda done, total: None,
) -> AttackRun:
    """Attack every input whose outcome is not stored yet, and store it."""
    wanted = range(len(examples)) if isinstance(examples, Labelled) else [one.index for one in examples]
    begun, num_before = time.monotonic(), sum(index in store.done for index in wanted)
    outcomes = attack_all(attack, victim, examples, max_queries=max_queries, seed=seed, done=dict(store.done))
    num_now = 0
    for outcome in outcomes:
        store.add(outcome)
        num_now += 1
        on_progress(num_before + num_now, len(wanted))
    return AttackRun([store.done[index] for index in sorted(wanted)], num_now, time.monotonic() - begun)
