"""Texts with a class each: sentences, or pairs of sentences."""

from dataclasses import dataclass

import numpy as np

from rse_study.spec import fingerprint_of
from rse_study.tensors import Int

Text = tuple[str, ...]
"""One input as a classifier sees it: (sentence,) or (first, second)."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """One split of a classification task; labels index `classes`."""

    name: str
    split: str
    texts: list[Text]
    labels: Int[np.ndarray, " n"]
    classes: tuple[str, ...]
    num_unlabelled: int = 0
    """examples left out because they have no label"""

    def __post_init__(self) -> None:
        assert len(self.texts) == len(self.labels), self.name
        assert len({len(text) for text in self.texts}) <= 1, self.name  # all single, or all pairs

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, places: Int[np.ndarray, " m"]) -> "Labelled":
        """Select examples by index, in this order."""
        texts = [self.texts[place] for place in places]
        return Labelled(self.name, self.split, texts, self.labels[places], self.classes)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of([self.name, self.split, self.texts, self.labels.tolist(), self.classes])
