"""Scores of the single items of an evaluation: pairs of texts, or labelled inputs."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from zlib import compress, decompress

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float32s = NDArray[np.float32]


def _are_equal(one: Float32s | None, other: Float32s | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


@dataclass(frozen=True, eq=False)
class ItemScores:
    """One score per item, in the order of the evaluation's data.

    With `gold` the evaluation's value is Spearman x100 of both, otherwise the mean of the scores that are not NaN
    (skipped inputs have none). With `parts` it is the plain mean over the parts of that.
    """

    scores: Float32s
    """[n], cosines of pairs; for means in the unit of the value, so that a correct input has 100"""
    gold: Float32s | None = None
    """[n], judgements of pairs"""
    parts: Float32s | None = None
    """[n], number of each item's subset or fold"""

    @classmethod
    def of(
        cls, scores: ArrayLike, gold: ArrayLike | None = None, parts: ArrayLike | None = None
    ) -> "ItemScores | None":
        """Return the scores; None for cosines that rank nothing: not finite, or all equal."""
        ours, *columns = (
            None if one is None else np.asarray(one, np.float32) for one in (scores, gold, parts)
        )
        assert ours is not None
        is_lost = gold is not None and (not np.isfinite(ours).all() or not np.ptp(ours))
        return None if is_lost else cls(ours, *columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemScores) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def is_beside(self, other: "ItemScores") -> bool:
        """Whether both are of the same items, with the same gold and parts."""
        columns = ((self.gold, other.gold), (self.parts, other.parts))
        return len(self.scores) == len(other.scores) and all(_are_equal(*pair) for pair in columns)

    def to_json(self) -> dict[str, str]:
        """Return the columns as text, some five bytes per score."""
        columns = {"scores": self.scores, "gold": self.gold, "parts": self.parts}
        packed = {
            name: compress(one.astype("<f4").tobytes()) for name, one in columns.items() if one is not None
        }
        return {name: b64encode(one).decode() for name, one in packed.items()}

    @classmethod
    def from_json(cls, content: dict[str, str]) -> "ItemScores":
        return cls(
            **{name: np.frombuffer(decompress(b64decode(text)), "<f4") for name, text in content.items()}
        )
