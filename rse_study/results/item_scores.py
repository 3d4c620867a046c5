"""Scores of the single items of an evaluation: pairs of texts, or labelled inputs."""

from base64 import b64decode, b64encode
from dataclasses import dataclass, fields
from typing import Any
from zlib import compress, decompress

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class ItemScores:
    """One score per item, in the order of the evaluation's data.

    With `gold` the evaluation's value is Spearman x100 of both, otherwise the mean of the scores that are not NaN (an
    input that was skipped has no score). With `parts` it is the plain mean over the parts of that.
    """

    scores: NDArray[np.float32]
    """[n], cosines of pairs; for means in the unit of the value, so that a correct input has 100"""
    gold: NDArray[np.float32] | None = None
    """[n], the judgements that cosines are ranked against"""
    parts: NDArray[np.float32] | None = None
    """[n], number of each item's subset or fold"""
    index: NDArray[np.float32] | None = None
    """[n], number of each item in the data, unless it is its place here"""

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        gold: ArrayLike | None = None,
        parts: ArrayLike | None = None,
        index: ArrayLike | None = None,
    ) -> "ItemScores | None":
        """Return the scores as float32; None if a cosine is not finite, or all are equal."""
        ours = np.asarray(scores, np.float32)
        if gold is not None and (not np.isfinite(ours).all() or np.ptp(ours) == 0):
            return None
        beside = [
            None if column is None else np.asarray(column, np.float32) for column in (gold, parts, index)
        ]
        return cls(ours, *beside)

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemScores) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.scores.tobytes())

    def is_of_the_same_items(self, other: "ItemScores") -> bool:
        """Whether both have as many items, with the same gold and parts."""
        columns = ((self.gold, other.gold), (self.parts, other.parts), (self.index, other.index))
        return len(self) == len(other) and all(
            one is two or (one is not None and two is not None and np.array_equal(one, two))
            for one, two in columns
        )

    def to_json(self) -> dict[str, str]:
        """Return the columns as text, some three bytes per score."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _packed(column) for name, column in columns.items() if column is not None}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "ItemScores":
        """Restore scores; ValueError if a column is damaged."""
        return cls(**{name: _unpacked(text) for name, text in content.items()})


def _packed(column: NDArray[np.float32]) -> str:
    """Pack as codes of up to 256 levels; otherwise as byte planes, as exponents are nearly all the same."""
    levels, codes = np.unique(column.astype("<f4"), return_inverse=True)
    if len(levels) > 256:
        levels, codes = levels[:0], column.astype("<f4").view(np.uint8).reshape(-1, 4).T
    parts = (levels.tobytes(), compress(codes.astype(np.uint8).tobytes(), 9))
    return ":".join(b64encode(part).decode() for part in parts)


def _unpacked(text: str) -> NDArray[np.float32]:
    first, second = (b64decode(part) for part in text.split(":"))
    levels, codes = np.frombuffer(first, "<f4"), np.frombuffer(decompress(second), np.uint8)
    if len(levels):
        return levels[codes].astype(np.float32)
    return codes.reshape(4, -1).T.copy().view("<f4").reshape(-1).astype(np.float32)
