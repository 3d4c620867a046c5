"""Classifiers under attack as an evaluation: fine-tuned from the encoder, then attacked by one recipe."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from rse_study.assets.victim import Victim, victim
from rse_study.data.labelled import Labelled
from rse_study.evaluation.attacks.kept_attack import attack_and_keep
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.resources import Resources
from rse_study.evaluation.attacks.summary import Summary, summarise
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.study.evaluations.settings import Settings
from rse_study.study.evaluations.subject import Weights


@dataclass(frozen=True)
class UnderAttack:
    """One recipe on one attack set. `whole`: the set, all of which is left out of `training`.

    `resources` are asked for where the attack runs: the models among them do not travel. `made_of`: what they are.
    """

    whole: Labelled
    training: Labelled
    recipe: str
    settings: Settings
    resources: Callable[[], Resources]
    made_of: str

    @property
    def name(self) -> str:
        """attack-<set>/<recipe>."""
        return f"{self.whole.name}/{self.recipe}"

    @cached_property
    def inputs(self) -> Labelled:
        """The first so many of the set."""
        wanted = self.settings.attacks.num_inputs or len(self.whole)
        return self.whole.take(np.arange(min(wanted, len(self.whole))))

    @cached_property
    def fingerprint(self) -> str:
        """Of texts and settings: other settings give other figures."""
        attacks, tuning = self.settings.attacks, self.settings.fine_tuning
        asked = [attacks.max_queries, attacks.seed, self.made_of, tuning.identity()]
        return fingerprint_of([self.inputs.fingerprint, self.training.fingerprint, *asked])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The papers' success rate of the attack, where less is better for the encoder; and what is left."""
        return (
            Measure(
                name=f"{self.name} success",
                metric=f"{self.name}/success_rate",
                direction="minimize",
            ),
            Measure(name=f"{self.name} accuracy", metric=f"{self.name}/accuracy_under_attack"),
        )

    @property
    def num_sentences(self) -> int:
        """Read at least: every training text an epoch, each of them three times a pass, and every input once."""
        return 3 * self.settings.fine_tuning.epochs * len(self.training) + len(self.inputs)

    def score_weights(self, weights: Weights, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure; shares x100. A weak victim marks them all as degenerate."""
        attacks = self.settings.attacks
        made = self.victim(weights)
        recipe = RECIPES.get(self.recipe)(self.resources())
        outcomes = attack_and_keep(
            recipe,
            made.load().predicting(self.inputs.classes),
            self.inputs,
            weights.kept / f"{self.whole.name}-{self.recipe}-{self.fingerprint[:8]}.jsonl",
            {"set": self.whole.name, "recipe": self.recipe, "label": recipe.label, "subject": subject}
            | {"fingerprint": self.fingerprint},
            max_queries=attacks.max_queries,
            seed=attacks.seed,
        )
        found = summarise(outcomes)
        figures = figures_of(found) | {"victim_accuracy": 100 * made.dev_accuracy}
        return [
            EvaluationRow(
                subject=subject,
                task=self.whole.name,
                split=self.inputs.split,
                aggregation=name,
                value=value,
                num_examples=found.num_inputs,
                num_skipped=found.num_skipped,
                degenerate=made.is_weak or value != value,
                fingerprint=self.fingerprint,
                preset=self.recipe,
                seed=attacks.seed,
            )
            for name, value in figures.items()
        ]

    def victim(self, weights: Weights, told: Callable[[Any], None] = lambda progress: None) -> Victim:
        """The classifier, fine-tuned unless it is there. It has seen nothing of the whole set, however much is asked.

        Recipes of one subject attack the same one.
        """
        return victim(
            weights.made,
            weights.base,
            weights.pooling_of_classifiers,
            self.training,
            self.whole.texts,
            self.settings.attacks.seed,
            self.settings.fine_tuning,
            revision=weights.revision,
            device=weights.device,
            told=told,
        )


def figures_of(found: Summary) -> dict[str, float]:
    """What the tables of the papers show, by name; shares x100."""
    return {
        "success_rate": 100 * found.success_rate,
        "original_accuracy": 100 * found.original_accuracy,
        "accuracy_under_attack": 100 * found.accuracy_under_attack,
        "queries": found.mean_queries if found.num_inputs else nan,
        "words_changed": 100 * found.share_of_words_changed,
    }
