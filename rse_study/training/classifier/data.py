"""The data of a fine-tuning: classes, gold scores or answers, and their batches."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from rse_study.data.attack_sets import held_out
from rse_study.data.labelled import Labelled, StsPairs, Text
from rse_study.data.labelled_sets import Questions
from rse_study.errors import InputError
from rse_study.evaluation.classification import f1
from rse_study.evaluation.sts import spearman
from rse_study.models.pooling import PoolingKind
from rse_study.models.text_classifier import SPAN, SpanReader, TextClassifier, Tokens, encode_texts, windows
from rse_study.streams import Streams
from rse_study.tensors import sent
from rse_study.training.classifier import FineTuning

Supervised = Labelled | StsPairs | Questions


@dataclass(frozen=True)
class Start:
    """The encoder a fine-tuning begins with."""

    name: str
    pooling: PoolingKind
    fingerprint: str
    revision: str = "main"
    """branch, tag or commit of a hub name"""


def identity_of_tuning(spec: FineTuning, seed: int, start: Start, training: Supervised) -> dict[str, Any]:
    """Return everything that decides the numbers of a fine-tuning."""
    return {
        "spec": spec.identity(),
        "seed": seed,
        "base": start.fingerprint,
        "pooling": start.pooling,
        "training": training.fingerprint,
        "dev": "",  # there once were tunings with dev data of their own
    }


@dataclass(frozen=True, eq=False)
class Examples:
    """Texts and their targets."""

    texts: list[Text]
    targets: np.ndarray
    """[n]: indices of `classes` (int64), or gold values (float32) for a regression; [n 2] for spans"""
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: np.ndarray) -> "Examples":
        return Examples([self.texts[row] for row in rows], self.targets[rows], self.classes)

    def encoded(self, tokenizer: Any, max_length: int) -> "tuple[list[Tokens], Examples]":
        """Return what the network reads, and an example for each."""
        return encode_texts(self.texts, tokenizer, max_length), self

    def loss(self, outputs: Float[Tensor, "b ..."], rows: list[int]) -> Float[Tensor, ""]:
        """Return the batch's mean cross-entropy, or squared error for a regression."""
        targets = sent(torch.from_numpy(self.targets[rows]), outputs.device)
        if self.classes:
            return F.cross_entropy(outputs, targets)
        return F.mse_loss(outputs[:, 0], targets.to(outputs.dtype))

    def score(self, classifier: TextClassifier) -> float:
        """Return accuracy as a share; for a regression Spearman's rho (0 if constant)."""
        if self.classes:
            return float((classifier.predict(self.texts).argmax(1) == self.targets).mean())
        return float(np.nan_to_num(spearman(classifier.scores(self.texts), self.targets)))


@dataclass(frozen=True, eq=False)
class SpanExamples(Examples):
    """Questions and contexts; targets are the first answer's characters, [n 2]."""

    questions: Questions

    @classmethod
    def of(cls, questions: Questions) -> "SpanExamples":
        lengths = np.array([len(answers[0]) for answers in questions.answers], np.int64)
        ends = np.stack([questions.starts, questions.starts + lengths], axis=1)
        return cls(questions.texts, ends, SPAN, questions)

    def take(self, rows: np.ndarray) -> "SpanExamples":
        return SpanExamples.of(self.questions.take(rows))

    def encoded(self, tokenizer: Any, max_length: int) -> tuple[list[Tokens], Examples]:
        """Return windows, each an example; without the answer its targets are [CLS]."""
        tokens, targets, rows = list[Tokens](), list[tuple[int, int]](), list[int]()
        for one in windows(self.texts, tokenizer, max_length):
            start, end = self.targets[one.row].tolist()
            tokens.append(one.tokens)
            targets.append(one.place_of(start, end))
            rows.append(one.row)
        return tokens, Examples([self.texts[row] for row in rows], np.array(targets, np.int64), SPAN)

    def score(self, classifier: TextClassifier) -> float:
        """Return the mean F1 as a share."""
        assert isinstance(classifier, SpanReader)
        found = zip(classifier.answers(self.texts), self.questions.answers, strict=True)
        return float(np.mean([f1(answer, accepted) for answer, accepted in found]))


def examples_of(given: Supervised) -> Examples:
    """Convert data of either kind to texts and targets."""
    if isinstance(given, Labelled):
        return Examples(given.texts, given.labels.astype(np.int64), given.classes)
    if isinstance(given, Questions):
        return SpanExamples.of(given)
    return Examples(given.texts, given.gold.astype(np.float32), ())


def split_off(given: Supervised, spec: FineTuning) -> tuple[Examples, Examples]:
    """Return (training, dev) examples, of which about `dev_share` are dev.

    The second half of augmented data are copies of the first: that of a training text trains, that of a dev text
    does nothing.
    """
    whole = examples_of(given)
    is_held = held_out(whole.texts[: len(whole) // (1 + (spec.augmented > 0))], spec.dev_share)
    training = whole.take(np.flatnonzero(np.resize(~is_held, len(whole))))
    dev = whole.take(np.flatnonzero(is_held))
    if not len(training) or not len(dev):
        what = f"{len(training)} texts to train on and {len(dev)} to look at"
        rule, remedy = "both must hold at least one", "Use more data, or another dev_share"
        raise InputError(what, where=f"{given.name} {given.split}", rule=rule, remedy=remedy)
    return training, dev


POOL = 16  # batches sorted by length together


class LengthBatches:
    """Every row once an epoch: a fresh permutation, cut into pools sorted by length."""

    def __init__(self, lengths: list[int], batch_size: int, streams: Streams) -> None:
        self.lengths, self.batch_size, self._streams = lengths, batch_size, streams
        self.num_batches = -(-len(lengths) // batch_size)
        self._epoch = lru_cache(maxsize=1)(self._draw_epoch)

    def rows(self, step: int) -> list[int]:
        """Return the rows in the batch of a step; one batch per epoch may be smaller."""
        epoch, position = divmod(step, self.num_batches)
        return self._epoch(epoch)[position]

    def _draw_epoch(self, epoch: int) -> list[list[int]]:
        pool = POOL * self.batch_size
        whole = torch.randperm(len(self.lengths), generator=self._streams.generator("order", epoch)).tolist()
        pools = [
            sorted(whole[i : i + pool], key=self.lengths.__getitem__) for i in range(0, len(whole), pool)
        ]
        batches = [p[i : i + self.batch_size] for p in pools for i in range(0, len(p), self.batch_size)]
        order = torch.randperm(len(batches), generator=self._streams.generator("order", epoch, 1))
        return [batches[i] for i in order.tolist()]
