"""Constraints: which words may be changed, and which changes are good enough."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from rse_study.evaluation.attacks.attack import Candidate
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.tensors import Float


@dataclass(frozen=True)
class RepeatModification:
    """Allows a change only of words that were not changed before."""

    def allows(self, text: AttackedText, position: int) -> bool:
        return position not in dict(text.changes)


@dataclass(frozen=True)
class StopwordModification:
    """Protects stop words; case matters as in TextAttack, so "The" is none."""

    stopwords: frozenset[str]
    """in lower case"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return text.word(position) not in self.stopwords


Sides = Literal["both", "first", "second"]


@dataclass(frozen=True)
class InputColumnModification:
    """Allows changes on one side of a pair; a single sentence may always be changed."""

    sides: Sides

    def allows(self, text: AttackedText, position: int) -> bool:
        if self.sides == "both" or len(text.original) == 1:
            return True
        return text.spans[position].side == ("first", "second").index(self.sides)


@dataclass(frozen=True)
class MaxWordsPerturbed:
    """Allows changes to at most a share of the text's words."""

    share: float
    """0..1; the number of words is rounded up"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return len({position, *text.changed}) <= math.ceil(self.share * len(text))


Encode = Callable[[list[str]], np.ndarray]

MOST_KEPT = 4096  # vectors of unchanged texts; the oldest are dropped first


@dataclass(frozen=True)
class SentenceSimilarity:
    """Keeps candidates whose similarity to the reference text reaches a threshold.

    For a pair only the changed side is compared. TextAttack compares both as one text, where the unchanged
    half makes everything similar.
    """

    encode: Encode
    threshold: float
    metric: Literal["cosine", "angular"]
    """angular is 1 - angle / pi"""
    reference: Literal["original", "current"]
    """the text before every change, or just before this one"""
    window: int | None
    """words around the change to compare; shorter texts pass (TextFooler). None: all"""
    _originals: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)
    """vectors of unchanged texts, encoded one by one to be the same in any order"""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        position = candidates[0].position
        if self.window is not None and len(current.neighbours(position)) < self.window:
            return [replace(candidate, similarity=1.0) for candidate in candidates]
        reference = original if self.reference == "original" else current
        texts = [self._read(one.text, position) for one in candidates]
        measured = zip(
            candidates, self._similarities(self._read(reference, position), texts).tolist(), strict=True
        )
        return [replace(one, similarity=value) for one, value in measured if value >= self.threshold]

    def _read(self, text: AttackedText, position: int) -> str:
        return text.side_of(position) if self.window is None else text.window(position, self.window)

    def _similarities(self, reference: str, texts: list[str]) -> Float[np.ndarray, " n"]:
        rows = self._encoded(reference, texts)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosines = np.clip((unit[1:] * unit[0]).sum(axis=1), -1, 1)
        return cosines if self.metric == "cosine" else 1 - np.arccos(cosines) / np.pi

    def _encoded(self, reference: str, texts: list[str]) -> Float[np.ndarray, "m d"]:
        if self.reference == "current":
            return np.asarray(self.encode([reference, *texts]), np.float64)
        if reference not in self._originals:
            while len(self._originals) >= MOST_KEPT:
                del self._originals[next(iter(self._originals))]
            self._originals[reference] = np.asarray(self.encode([reference]), np.float64)
        return np.concatenate([self._originals[reference], np.asarray(self.encode(texts), np.float64)])
