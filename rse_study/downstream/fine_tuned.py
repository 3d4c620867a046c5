"""The base class of evaluations that score a fine-tuned classifier."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from rse_study.assets.victim import VictimClassifier, victim
from rse_study.data.labelled import StsPairs, Text
from rse_study.data.questions import Questions
from rse_study.downstream.registry import FINE_TUNED, SYNONYMS, Settings
from rse_study.downstream.scored_model import ModelFiles
from rse_study.evaluation.changes import ChangeResources
from rse_study.evaluation.evaluations import Embed, evaluation_row
from rse_study.evaluation.invariance import SEED, changed_text
from rse_study.models.text_classifier import TextClassifier
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.training.classifier.data import Supervised


@dataclass(frozen=True)
class FineTunedTask(ABC):
    """A task that is scored on held-out splits, which never select the epoch."""

    task: str
    training: Supervised
    held_out: tuple[Supervised, ...]
    settings: Settings
    lacking: tuple[str, ...] = ()
    """Missing files of the task, relative to the data folder."""
    changed: tuple[Supervised, ...] = ()
    """The held-out splits with words replaced by synonyms, scored in their place by the same classifier."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Aggregations shown to readers, the main one first."""

    @abstractmethod
    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, EvaluationRow]]:
        """Yield an aggregation and its score for every figure."""

    def is_worthless(self, score: EvaluationRow, made: VictimClassifier) -> bool:
        """Whether a score says nothing about the encoder."""
        return score.degenerate

    @property
    def name(self) -> str:
        return f"{self.task}/{SYNONYMS if self.changed else FINE_TUNED}"

    @property
    def scored(self) -> tuple[Supervised, ...]:
        return self.changed or self.held_out

    @cached_property
    def fingerprint(self) -> str:
        texts = [given.fingerprint for given in (self.training, *self.held_out, *self.changed)]
        return fingerprint_of([*texts, self.settings.fine_tuning.identity(), self.settings.tasks.seed])

    @property
    def measures(self) -> tuple[Measure, ...]:
        how = f", {SYNONYMS}" if self.changed else ""
        return tuple(
            Measure(name=f"{self.task} {label}{how}", metric=f"{self.name}/{label}") for label in self.labels
        )

    @property
    def num_sentences(self) -> int:
        """A lower bound: each epoch costs about three passes over the training texts."""
        num_held_out = sum(len(given) for given in self.held_out)
        return 3 * self.settings.fine_tuning.epochs * len(self.training) + num_held_out

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        return self.rows(self.classifier(weights), weights, subject)

    def classifier(
        self, weights: ModelFiles, on_progress: Callable[[Any], None] = lambda progress: None
    ) -> VictimClassifier:
        """Return the classifier; tasks with the same training share one."""
        scored: list[Text] = [text for given in self.held_out for text in given.texts]
        return classifier_of(
            weights, self.training, scored, self.settings.tasks.seed, self.settings, on_progress
        )

    def rows(self, made: VictimClassifier, weights: ModelFiles, subject: str) -> list[EvaluationRow]:
        classifier = made.load()
        classifier.network.to(weights.device)
        return [
            evaluation_row(
                self, subject, score.split, label, score.value, score.num_examples,
                degenerate=self.is_worthless(score, made), num_skipped=score.num_skipped, seed=score.seed,
                items=score.items,
            )
            for label, score in self.scores(classifier)
        ]  # fmt: skip


def classifier_of(
    weights: ModelFiles,
    training: Supervised,
    scored: Sequence[Text],
    seed: int,
    settings: Settings,
    on_progress: Callable[[Any], None],
    *,
    is_probe: bool = False,
) -> VictimClassifier:
    """Return the classifier or probe made from the encoder on no text of `scored`."""
    tuning = settings.fine_tuning
    if weights.adversarial:
        tuning = tuning.model_copy(update={"adversarial": weights.adversarial})
    return victim(
        weights.made, weights.base, weights.pooling_of_classifiers, training, scored, seed, tuning,
        is_probe=is_probe, revision=weights.revision, device=weights.device, on_progress=on_progress,
    )  # fmt: skip


def with_synonyms(given: Supervised, data_dir: Path) -> Supervised:
    """Replace a tenth of the words by WordNet synonyms; contexts of questions stay."""
    changed = partial(changed_text, name=SYNONYMS, resources=ChangeResources(data_dir), seed=SEED)
    if isinstance(given, StsPairs):
        return replace(given, first=[*map(changed, given.first)], second=[*map(changed, given.second)])
    if isinstance(given, Questions):
        return replace(given, texts=[(changed(question), context) for question, context in given.texts])
    return replace(given, texts=[tuple(map(changed, text)) for text in given.texts])


def drawn(num_given: int, num_wanted: int, seed: int) -> Int[np.ndarray, " m"]:
    """Return sorted indices of randomly chosen training texts; 0 wanted means all."""
    if not num_wanted or num_wanted >= num_given:
        return np.arange(num_given)
    return np.sort(Streams(seed).numpy("order").choice(num_given, num_wanted, replace=False))
