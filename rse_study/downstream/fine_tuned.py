"""What evaluations after fine-tuning have in common.

One classifier of the encoder is scored on texts it never saw.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Int

from rse_study.assets.victim import VictimClassifier, victim
from rse_study.data.labelled import Text
from rse_study.downstream.registry import FINE_TUNED
from rse_study.downstream.scored_model import ModelFiles
from rse_study.downstream.settings import Settings
from rse_study.evaluation.classification import ClassifierScore
from rse_study.evaluation.vectors import Embed
from rse_study.models.text_classifier import TextClassifier
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.streams import Streams
from rse_study.training.classifier.data import Supervised, examples_of


@dataclass(frozen=True)
class FineTunedTask(ABC):
    """A task's held-out splits, scored by a classifier that is fine-tuned.

    The epoch whose weights are kept is chosen on a share of the training texts: no scored text selects.
    """

    task: str
    training: Supervised
    held_out: tuple[Supervised, ...]
    settings: Settings
    lacking: tuple[str, ...] = ()
    """Its files that are absent, below the data folder."""

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
        """Texts that are read at least.

        Every training text is read three times a pass, a pass an epoch, and every scored one once.
        """
        num_held_out = sum(len(given) for given in self.held_out)
        return 3 * self.settings.fine_tuning.epochs * len(self.training) + num_held_out

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a figure, x100.

        Parameters
        ----------
        weights
            Where the encoder lies.
        embed
            Sentences to its vectors.
        subject
            What is scored, as the rows call it.
        """
        return self.rows(self.classifier(weights), weights, subject)

    def classifier(
        self, weights: ModelFiles, on_progress: Callable[[Any], None] = lambda progress: None
    ) -> VictimClassifier:
        """The classifier, fine-tuned unless it is there, without the scored texts.

        Two tasks with the same training share it.
        """
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
        """What that classifier scores.

        Parameters
        ----------
        made
            The classifier.
        weights
            The encoder it was made of, and the device.
        subject
            What is scored, as the rows call it.
        """
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
    """Places of the training texts that are taken, in order.

    Parameters
    ----------
    num_given
        How many texts there are.
    num_wanted
        How many are drawn (stream `order`); 0: all.
    seed
        Of the draw.
    """
    if not num_wanted or num_wanted >= num_given:
        return np.arange(num_given)
    return np.sort(Streams(seed).numpy("order").choice(num_given, num_wanted, replace=False))
