"""The start of a fine-tuning, and its data: texts with classes, or scored pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from rse_study.data.held_out import held_out
from rse_study.data.labelled import Labelled, Text
from rse_study.data.pairs import StsPairs
from rse_study.errors import InputError
from rse_study.evaluation.rank_correlation import spearman
from rse_study.models.pooling import PoolingKind
from rse_study.models.text_classifier import TextClassifier
from rse_study.tensors import sent
from rse_study.training.classifier.config import FineTuning

Supervised = Labelled | StsPairs


@dataclass(frozen=True)
class Start:
    """The encoder a fine-tuning begins with."""

    name: str
    pooling: PoolingKind
    fingerprint: str
    revision: str = "main"
    """branch, tag or commit of a hub name"""


def identity_of_tuning(
    spec: FineTuning, seed: int, start: Start, training: Supervised, dev: Supervised | None
) -> dict[str, Any]:
    """Return everything that decides the numbers of a fine-tuning."""
    return {
        "spec": spec.identity(),
        "seed": seed,
        "base": start.fingerprint,
        "pooling": start.pooling,
        "training": training.fingerprint,
        "dev": dev.fingerprint if dev is not None else "",
    }


@dataclass(frozen=True, eq=False)
class Examples:
    """Texts and their targets."""

    texts: list[Text]
    targets: np.ndarray
    """[n]: indices of `classes` (int64), or gold values (float32) for a regression"""
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: np.ndarray) -> "Examples":
        return Examples([self.texts[row] for row in rows], self.targets[rows], self.classes)

    def loss(self, outputs: Float[Tensor, "b c"], rows: list[int]) -> Float[Tensor, ""]:
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


def examples_of(given: Supervised) -> Examples:
    """Convert data of either kind to texts and targets."""
    if isinstance(given, Labelled):
        return Examples(given.texts, given.labels.astype(np.int64), given.classes)
    return Examples(list(zip(given.first, given.second, strict=True)), given.gold.astype(np.float32), ())


def split_off(training: Supervised, dev: Supervised | None, share: float) -> tuple[Examples, Examples]:
    """Return (training, dev) examples; without dev data about `share` is split off."""
    whole = examples_of(training)
    if dev is not None:
        left = examples_of(dev)
        _check_alike(training, dev)
    else:
        is_held = held_out(whole.texts, share)
        whole, left = whole.take(np.flatnonzero(~is_held)), whole.take(np.flatnonzero(is_held))
    if not len(whole) or not len(left):
        what = f"{len(whole)} texts to train on and {len(left)} to look at"
        rule, remedy = "both must hold at least one", "Use more data, another dev_share, or name dev data"
        raise InputError(what, where=f"{training.name} {training.split}", rule=rule, remedy=remedy)
    return whole, left


def _check_alike(training: Supervised, dev: Supervised) -> None:
    one, other = examples_of(training), examples_of(dev)
    if one.classes != other.classes or len(one.texts[0]) != len(other.texts[0]):
        rule = f"its classes and number of sentences must be those of {training.name} {training.split}"
        where, remedy = f"{dev.name} {dev.split}", "Name dev data of the same task"
        raise InputError(f"dev data with classes {other.classes}", where=where, rule=rule, remedy=remedy)
