"""An attack whose every outcome is kept as it comes, so that it goes on where it was interrupted."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks.course import Target
from rse_study.evaluation.attacks.engine import attack
from rse_study.evaluation.attacks.kept import KeptOutcomes
from rse_study.evaluation.attacks.outcome import Outcome
from rse_study.evaluation.attacks.recipe import Recipe
from rse_study.evaluation.attacks.victim import Victim

Told = Callable[[int, int], None]  # inputs done, of how many


def attack_and_keep(
    recipe: Recipe,
    victim: Victim,
    examples: Labelled | Sequence[Target],
    path: Path,
    asked: Mapping[str, Any],
    *,
    max_queries: int,
    seed: int,
    told: Told = lambda done, total: None,
) -> list[Outcome]:
    """The outcome of every example, in the order of their indices; those that are in the file are not sought again.

    `asked`: what was attacked and how, the head of the file. Raises InputError where the file is of another attack.
    """
    kept = KeptOutcomes(path, dict(asked))
    wanted = range(len(examples)) if isinstance(examples, Labelled) else [one.index for one in examples]
    found = [index for index in wanted if index in kept.done]
    for num_new, outcome in enumerate(
        attack(recipe, victim, examples, max_queries=max_queries, seed=seed, done=dict(kept.done)), start=1
    ):
        kept.add(outcome)
        told(len(found) + num_new, len(wanted))
    return [kept.done[index] for index in sorted(wanted)]
