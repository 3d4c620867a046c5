"""Word vectors from text files in word2vec's format, one word per line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.data.text_files import find_file, read_lines
from rse_study.errors import InputError
from rse_study.tensors import Float32


@dataclass(frozen=True, eq=False)
class Vectors:
    """Word vectors of length 1; words with equal cosines keep the order of the file."""

    words: list[str]
    unit: Float32[np.ndarray, "n d"]
    place: dict[str, int]

    @classmethod
    def open(cls, path: Path) -> "Vectors":
        """Read a file, ignoring repeated words; InputError names a malformed line."""
        rows: dict[str, np.ndarray] = {}
        for word, row in _rows(find_file(path, Path())):
            rows.setdefault(word, row)
        if not rows:
            raise InputError("holds no vectors", where=str(path), rule="a word and its numbers a line")
        matrix = np.stack(list(rows.values()))
        norm = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit = np.divide(matrix, norm, out=np.zeros_like(matrix), where=norm > 0)
        return cls(list(rows), unit, {word: i for i, word in enumerate(rows)})

    def nearest(self, word: str, num: int) -> list[str]:
        """Return up to `num` other words, nearest first; none for a word without a vector."""
        if word not in self.place:
            return []
        own = self.place[word]
        order = np.argsort(-(self.unit @ self.unit[own]), kind="stable")
        return [self.words[i] for i in order[: num + 1] if i != own][:num]

    def cosine(self, first: str, second: str) -> float | None:
        """Return the cosine, or None if either word has no vector."""
        if first not in self.place or second not in self.place:
            return None
        return float(self.unit[self.place[first]] @ self.unit[self.place[second]])


def _rows(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    width = 0
    for number, line in enumerate(read_lines(path), start=1):
        word, *values = line.split() or [""]
        if number == 1 and len(values) == 1 and word.isdigit():
            continue  # word2vec's header: number of words, dimension
        width = width or len(values)
        try:
            row = np.array(values, np.float32)
        except ValueError:
            row = np.array([np.nan])
        if not len(row) == width > 0 or not np.isfinite(row).all():
            rule = f"a word and {width} finite numbers" if width else "a word and its numbers"
            raise InputError(
                "is no vector", where=f"{path}:{number}", rule=rule, remedy="Spaces stand between"
            )
        yield word, row
