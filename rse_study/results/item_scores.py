"""Scores of the single items of an evaluation: pairs of texts, or labelled inputs."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from zlib import compress, decompress

import numpy as np
from numpy.typing import ArrayLike, NDArray

Column = NDArray[np.float32]
PER_CENT = 100.0
"""what an input adds to an accuracy"""


@dataclass(frozen=True, eq=False)
class ItemScores:
    """One score per item, in the order of the evaluation's data.

    With `gold` the evaluation's value is Spearman x100 of both, otherwise the mean of the scores that are not NaN
    (skipped inputs have none). With `parts` it is the plain mean over the parts of that.
    """

    scores: Column
    """[n], cosines of pairs; for means in the unit of the value, so that a correct input has 100"""
    gold: Column | None = None
    """[n], judgements of pairs"""
    parts: Column | None = None
    """[n], number of each item's subset or fold"""

    @classmethod
    def of(
        cls, scores: ArrayLike, gold: ArrayLike | None = None, parts: ArrayLike | None = None
    ) -> "ItemScores | None":
        """Return the scores; None for cosines that rank nothing: not finite, or all equal."""
        columns = [None if one is None else np.asarray(one, np.float32) for one in (scores, gold, parts)]
        ours = columns[0]
        assert ours is not None
        is_lost = gold is not None and (not np.isfinite(ours).all() or not np.ptp(ours))
        return None if is_lost else cls(ours, *columns[1:])

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemScores) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.scores.tobytes())

    @property
    def data(self) -> tuple[int, bytes, bytes]:
        """What two cells must share to be compared item by item: number, gold and parts."""
        gold, parts = (b"" if one is None else one.tobytes() for one in (self.gold, self.parts))
        return len(self), gold, parts

    def to_json(self) -> dict[str, str]:
        """Return the columns as text, some four bytes per score."""
        columns = {"scores": self.scores, "gold": self.gold, "parts": self.parts}
        return {name: _packed(one) for name, one in columns.items() if one is not None}

    @classmethod
    def from_json(cls, content: dict[str, str]) -> "ItemScores":
        return cls(**{name: _unpacked(text) for name, text in content.items()})


def _packed(column: Column) -> str:
    """Pack as codes of up to 256 levels; otherwise as byte planes, as exponents are nearly all the same."""
    levels, codes = np.unique(column.astype("<f4"), return_inverse=True)
    if len(levels) > 256:
        levels, codes = levels[:0], column.astype("<f4").view(np.uint8).reshape(-1, 4).T
    parts = (levels.tobytes(), compress(codes.astype(np.uint8).tobytes(), 9))
    return ":".join(b64encode(part).decode() for part in parts)


def _unpacked(text: str) -> Column:
    levels, codes = (b64decode(part) for part in text.split(":"))
    numbers = np.frombuffer(decompress(codes), np.uint8)
    if levels:
        return np.frombuffer(levels, "<f4")[numbers]
    return numbers.reshape(4, -1).T.copy().view("<f4").reshape(-1)
