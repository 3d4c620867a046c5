"""Word vectors in a text file, as GloVe and word2vec write them: means of them as sentence vectors."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rse_study.data.text_files import read_lines
from rse_study.errors import InputError
from rse_study.tensors import Float

LAYOUT = "a line is a word and as many numbers as the first one has, with blanks between; `n d` may stand above them"
MOST_BYTES = 20_000_000_000  # GloVe's largest, 840B, has 5.7 GB
# Words and punctuation apart, and clitics as in the Penn Treebank's tokens, of which GloVe was made: do n't, it 's.
_TOKEN = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b|\w+|[^\w\s]")


class WordVectors:
    """Mean of the vectors of a text's known words: list[str] -> array [n d]; 0 without any.

    Texts are lower-cased. Words may contain blanks; of a word's lines the first counts. Only words that were met are
    kept. Raises InputError with the line of a malformed vector.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._known = path, dict[str, np.ndarray | None]()
        first = next(read_lines(path, MOST_BYTES), "").strip(" ").split(" ")
        self._has_header = len(first) == 2 and all(re.fullmatch("[0-9]+", cell) for cell in first)
        self._size = int(first[1]) if self._has_header else len(first) - 1
        self.num_without = 0
        """texts so far without a known word"""
        number, line = next(self._lines(), (1, ""))
        self._vector(number, line)

    def __call__(self, texts: list[str]) -> Float[np.ndarray, "n d"]:
        """Return one row per text."""
        tokens = [_TOKEN.findall(text.lower()) for text in texts]
        self._look_up({token for own in tokens for token in own} - self._known.keys())
        means = np.zeros((len(texts), self._size), np.float32)
        for mean, own in zip(means, tokens, strict=True):
            known = [vector for token in own if (vector := self._known[token]) is not None]
            self.num_without += not known
            mean[:] = np.mean(known, axis=0) if known else 0
        return means

    def _lines(self) -> Iterator[tuple[int, str]]:
        lines = enumerate(read_lines(self._path, MOST_BYTES), start=1)
        return ((number, line.rstrip(" ")) for number, line in lines if number > self._has_header)

    def _look_up(self, wanted: set[str]) -> None:
        """Read the file for words that were not met before, each line no further than it must."""
        self._known |= dict.fromkeys(wanted)
        for number, line in self._lines() if wanted else ():
            is_plain = line.count(" ") == self._size
            word = line.partition(" ")[0] if is_plain else self._vector(number, line)[0]
            if word in wanted and self._known[word] is None:
                self._known[word] = self._vector(number, line)[1]

    def _vector(self, number: int, line: str) -> tuple[str, np.ndarray]:
        word, *cells = line.rsplit(" ", self._size)
        try:
            vector = np.array(cells, np.float32)
        except ValueError:
            vector = np.array([np.nan])
        if len(cells) != self._size or not (len(cells) and np.isfinite(vector).all()):
            what = f"is no word with {self._size or 'its'} finite numbers"
            remedy = "Mend the line, or fetch the file again"
            raise InputError(what, where=f"{self._path}:{number}", rule=LAYOUT, remedy=remedy)
        return word, vector
