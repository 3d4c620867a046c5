"""A changed text must mean what it meant, as a sentence encoder sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rse_study.evaluation.attacks.attack import Candidate
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.tensors import Float

Encode = Callable[[list[str]], np.ndarray]
"""A sentence encoder: sentences to their vectors [n d]."""


@dataclass(frozen=True)
class SentenceSimilarity:
    """A candidate has at least this similarity with the reference text.

    Of a pair only the changed side is compared: TextAttack compares both as one text, of which the unchanged half
    makes everything similar.
    """

    encode: Encode
    threshold: float
    metric: Literal["cosine", "angular"]
    """angular: 1 - angle / pi"""
    reference: Literal["original", "current"]
    """the text before every change, or before this one"""
    window: int | None
    """words around the change that are compared, and in shorter texts everything passes (TextFooler); None: all"""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        position = candidates[0].position
        if self.window is not None and len(current.neighbours(position)) < self.window:
            return [replace(candidate, similarity=1.0) for candidate in candidates]
        reference = original if self.reference == "original" else current
        texts = [self._read(each, position) for each in (reference, *(one.text for one in candidates))]
        measured = zip(candidates, self._similarities(texts).tolist(), strict=True)
        return [replace(one, similarity=value) for one, value in measured if value >= self.threshold]

    def _read(self, text: AttackedText, position: int) -> str:
        return text.side_of(position) if self.window is None else text.window(position, self.window)

    def _similarities(self, texts: list[str]) -> Float[np.ndarray, " n"]:
        """Of the first with each other one; NaN, which passes no threshold, where an embedding is zero."""
        rows = np.asarray(self.encode(texts), np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosines = np.clip((unit[1:] * unit[0]).sum(axis=1), -1, 1)
        return cosines if self.metric == "cosine" else 1 - np.arccos(cosines) / np.pi
