"""What evaluations after fine-tuning have in common: one classifier of the encoder, scored on texts it never saw."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from rse_study.assets.victim import VictimClassifier, victim
from rse_study.data.labelled import Text
from rse_study.downstream.names import FINE_TUNED
from rse_study.downstream.scored_model import ModelFiles
from rse_study.downstream.settings import Settings
from rse_study.evaluation.classification import ClassifierScore
from rse_study.evaluation.sts import Embed
from rse_study.models.text_classifier import TextClassifier
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.training.classifier.data import Supervised, examples_of


@dataclass(frozen=True)
class FineTunedTask(ABC):
    """A task's `held_out` splits. `lacking`: its files that are not here, below the data folder.

    The epoch whose weights are kept is chosen on a share of the training texts: no scored text selects.
    """

    task: str
    training: Supervised
    held_out: tuple[Supervised, ...]
    settings: Settings
    lacking: tuple[str, ...] = ()

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Aggregations that readers are shown, the first one first."""

    @abstractmethod
    def scores(self, classifier: TextClassifier) -> Iterator[tuple[str, ClassifierScore]]:
        """(aggregation, score) of every figure."""

    def is_worthless(self, score: ClassifierScore, made: VictimClassifier) -> bool:
        """Whether a figure says nothing of the encoder."""
        return score.degenerate

    @property
    def name(self) -> str:
        """Task/fine_tuned."""
        return f"{self.task}/{FINE_TUNED}"

    @cached_property
    def fingerprint(self) -> str:
        """Of all texts, and of how the classifier is trained."""
        texts = [given.fingerprint for given in (self.training, *self.held_out)]
        return fingerprint_of([*texts, self.settings.fine_tuning.identity(), self.settings.tasks.seed])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """A measure a label."""
        return tuple(
            Measure(name=f"{self.task} {label}", metric=f"{self.name}/{label}") for label in self.labels
        )

    @property
    def num_sentences(self) -> int:
        """Read at least: every training text an epoch, each of them three times a pass, and every scored one once."""
        num_held_out = sum(len(given) for given in self.held_out)
        return 3 * self.settings.fine_tuning.epochs * len(self.training) + num_held_out

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure, x100."""
        return self.rows(self.classifier(weights), weights, subject)

    def classifier(
        self, weights: ModelFiles, on_progress: Callable[[Any], None] = lambda progress: None
    ) -> VictimClassifier:
        """Fine-tuned unless it is there, without the scored texts: two tasks with the same training share it."""
        scored: list[Text] = [text for given in self.held_out for text in examples_of(given).texts]
        return victim(
            weights.made,
            weights.base,
            weights.pooling_of_classifiers,
            self.training,
            scored,
            self.settings.tasks.seed,
            self.settings.fine_tuning,
            revision=weights.revision,
            device=weights.device,
            on_progress=on_progress,
        )

    def rows(self, made: VictimClassifier, weights: ModelFiles, subject: str) -> list[EvaluationRow]:
        """What that classifier scores."""
        classifier = made.load()
        classifier.network.to(weights.device)
        return [
            EvaluationRow(
                subject=subject,
                task=self.task,
                split=score.split,
                aggregation=label,
                value=score.value,
                num_examples=score.num_examples,
                num_skipped=score.num_unlabelled,
                degenerate=self.is_worthless(score, made),
                fingerprint=self.fingerprint,
                preset=FINE_TUNED,
                seed=score.seed,
            )
            for label, score in self.scores(classifier)
        ]


def drawn(num_given: int, num_wanted: int, seed: int) -> Int[np.ndarray, " m"]:
    """Places of as many training texts as are asked for (0: all), drawn by the seed (stream `order`), in order."""
    if not num_wanted or num_wanted >= num_given:
        return np.arange(num_given)
    return np.sort(Streams(seed).numpy("order").choice(num_given, num_wanted, replace=False))
