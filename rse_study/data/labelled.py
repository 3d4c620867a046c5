"""Labelled texts, and pairs of sentences with a gold similarity."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

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


Variant = Literal["orig", "senteval"]
"""A copy of a task's texts: as published, or tokenised and lower-cased by SentEval."""


@dataclass(frozen=True, eq=False)
class StsPairs:
    """One split of a semantic textual similarity task; subsets are consecutive."""

    name: str
    split: str
    first: list[str]
    second: list[str]
    gold: np.ndarray
    """[n] float64"""
    subsets: dict[str, slice] = field(default_factory=dict)
    """empty: all pairs are one subset"""
    variant: Variant = "orig"

    def __post_init__(self) -> None:
        assert len(self.first) == len(self.second) == len(self.gold), self.name

    def __len__(self) -> int:
        return len(self.first)

    @property
    def texts(self) -> list[Text]:
        """The pairs as a classifier reads them."""
        return list(zip(self.first, self.second, strict=True))

    @property
    def num_sentences(self) -> int:
        """The number of distinct sentences: an encoder embeds each once."""
        return len({*self.first, *self.second})

    def parts(self) -> dict[str, slice]:
        """Return each subset's slice; a task without subsets is one part."""
        return self.subsets or {self.name: slice(0, len(self))}

    def tasks(self) -> tuple["StsPairs", ...]:
        """Return each of several joined tasks; none where this is a single one."""
        return tuple(
            StsPairs(name, self.split, self.first[part], self.second[part], self.gold[part])
            for name, part in self.subsets.items()
        )

    def take(self, places: Int[np.ndarray, " m"]) -> "StsPairs":
        """Select pairs by index, in this order; they lose their subsets."""
        first, second = ([side[place] for place in places] for side in (self.first, self.second))
        return StsPairs(self.name, self.split, first, second, self.gold[places])

    def to_json(self) -> dict[str, Any]:
        """Return the fields for JSON, without the variant `orig` like in older files."""
        bounds = {name: [part.start, part.stop] for name, part in self.subsets.items()}
        content = {**self.__dict__, "gold": self.gold.tolist(), "subsets": bounds}
        return {name: value for name, value in content.items() if (name, value) != ("variant", "orig")}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "StsPairs":
        subsets = {name: slice(start, stop) for name, (start, stop) in content["subsets"].items()}
        return cls(**content | {"gold": np.array(content["gold"], np.float64), "subsets": subsets})

    @property
    def fingerprint(self) -> str:
        bounds = [[name, part.start, part.stop] for name, part in self.parts().items()]
        return fingerprint_of([self.name, self.split, self.first, self.second, self.gold.tolist(), bounds])


def joined(tasks: Sequence[StsPairs], split: str) -> StsPairs:
    """Join tasks as the subsets of one, `STS-B+SICK-R`; a single task stays as it is."""
    if len(tasks) == 1:
        return tasks[0]
    subsets, start = dict[str, slice](), 0
    for task in tasks:
        subsets[task.name] = slice(start, start + len(task))
        start += len(task)
    return StsPairs(
        "+".join(subsets),
        split,
        [text for task in tasks for text in task.first],
        [text for task in tasks for text in task.second],
        np.concatenate([task.gold for task in tasks]),
        subsets,
        "senteval" if any(task.variant == "senteval" for task in tasks) else "orig",
    )
