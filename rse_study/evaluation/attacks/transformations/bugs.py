"""TextBugger's misspellings: each drawn once for a word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rse_study.data.typos import LetterTable
from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class Bugs:
    """A space inside, a letter missing, two letters swapped, one that looks alike, one next to it on the keyboard.

    The first and the last letter stay, but for the last two kinds (Li et al. 2019). The paper has one substitution of
    a letter, from either table: here each table gives one. TextAttack knows no keyboard there, and offers a look-alike
    for each of the letters.
    """

    homoglyphs: LetterTable
    keyboard: LetterTable

    def replacements(self, worded: AttackedText, position: int, draw: np.random.Generator) -> list[str]:
        word = worded.word(position)
        bugs = [
            _space_inside(word, draw),
            _one_missing(word, draw),
            _two_swapped(word, draw),
            _substituted(word, self.homoglyphs, draw),
            _substituted(word, self.keyboard, draw),
        ]
        return [bug for bug in dict.fromkeys(bugs) if bug != word]


def _space_inside(word: str, draw: np.random.Generator) -> str:
    i = _place(range(1, len(word) - 1), draw)
    return f"{word[:i]} {word[i:]}" if i else word


def _one_missing(word: str, draw: np.random.Generator) -> str:
    i = _place(range(1, len(word) - 1), draw)
    return word[:i] + word[i + 1 :] if i else word


def _two_swapped(word: str, draw: np.random.Generator) -> str:
    # A pair of equal letters would be no bug.
    i = _place([i for i in range(1, len(word) - 2) if word[i] != word[i + 1]], draw)
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :] if i else word


def _substituted(word: str, lookalikes: LetterTable, draw: np.random.Generator) -> str:
    places = [i for i, character in enumerate(word) if lookalikes.get(character)]
    if not places:
        return word
    i = _place(places, draw)
    options = lookalikes[word[i]]
    return word[:i] + options[int(draw.integers(len(options)))] + word[i + 1 :]


def _place(places: Sequence[int], draw: np.random.Generator) -> int:
    """One of the places; 0 where there is none."""
    return places[int(draw.integers(len(places)))] if places else 0
