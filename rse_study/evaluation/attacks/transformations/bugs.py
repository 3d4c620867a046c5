"""TextBugger's misspellings."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rse_study.data.typos import LetterTable
from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class Bugs:
    """TextBugger's five bugs of a word, each made once (Li et al. 2019).

    A space inside, a missing letter, two letters swapped, a look-alike letter, a neighbouring key. Only the
    last two may change the first or last letter. The paper substitutes one letter from either table, here
    each table gives one; TextAttack has no keyboard bug, and offers a look-alike for every letter.
    """

    homoglyphs: LetterTable
    keyboard: LetterTable

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        bugs = [
            _space_inside(word, generator),
            _one_missing(word, generator),
            _two_swapped(word, generator),
            _substituted(word, self.homoglyphs, generator),
            _substituted(word, self.keyboard, generator),
        ]
        return [bug for bug in dict.fromkeys(bugs) if bug != word]


def _space_inside(word: str, generator: np.random.Generator) -> str:
    i = _choose(range(1, len(word) - 1), generator)
    return f"{word[:i]} {word[i:]}" if i else word


def _one_missing(word: str, generator: np.random.Generator) -> str:
    i = _choose(range(1, len(word) - 1), generator)
    return word[:i] + word[i + 1 :] if i else word


def _two_swapped(word: str, generator: np.random.Generator) -> str:
    # Swapping equal letters changes nothing.
    i = _choose([i for i in range(1, len(word) - 2) if word[i] != word[i + 1]], generator)
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :] if i else word


def _substituted(word: str, lookalikes: LetterTable, generator: np.random.Generator) -> str:
    places = [i for i, character in enumerate(word) if lookalikes.get(character)]
    if not places:
        return word
    i = _choose(places, generator)
    options = lookalikes[word[i]]
    return word[:i] + options[int(generator.integers(len(options)))] + word[i + 1 :]


def _choose(numbers: Sequence[int], generator: np.random.Generator) -> int:
    return numbers[int(generator.integers(len(numbers)))] if numbers else 0
