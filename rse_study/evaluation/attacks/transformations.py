"""Transformations: the words that may replace a word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rse_study.data.wordnet import LetterTable, lemmas_of
from rse_study.evaluation.attacks.attack import Transformation
from rse_study.evaluation.attacks.attacked_text import AttackedText, is_one_word
from rse_study.evaluation.attacks.lexicons import SynonymList


@dataclass(frozen=True)
class WordNetSwap:
    """Lemmas of all synsets of a word but phrases and itself, sorted as in TextAttack."""

    data_dir: Path

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        lemmas = lemmas_of(word, self.data_dir)
        return [name for name in lemmas if name != word and "_" not in name and is_one_word(name)]


@dataclass(frozen=True)
class NeighbourSwap:
    """Offers the first synonyms of a list, in the case of the word they replace."""

    synonyms: SynonymList
    num_candidates: int

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        near = self.synonyms.nearest(word.lower(), self.num_candidates)
        cased = dict.fromkeys(cased_like(word, other) for other in near if is_one_word(other))
        return [other for other in cased if other != word]


def cased_like(model: str, word: str) -> str:
    """Return `word` in lower case, upper case or capitalised, as `model` is."""
    if model.islower():
        return word.lower()
    if model.isupper() and len(model) > 1:
        return word.upper()
    if model[:1].isupper() and model[1:].islower():
        return word[:1].upper() + word[1:].lower()
    return word


class Blank(NamedTuple):
    """One position of a sentence for a language model to fill."""

    words: list[str]
    position: int
    is_masked: bool


MaskedLM = Callable[[Sequence[Blank]], list[list[tuple[str, float]]]]
"""Maps each blank to whole words and probabilities, likeliest first, at least as many as a recipe takes."""


@dataclass(frozen=True)
class MaskedLMSwap:
    """Offers the likeliest words at a position, but punctuation and the word itself."""

    model: MaskedLM
    num_candidates: int
    is_masked: bool
    min_probability: float = 0.0

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        words, place = text.pieces(position)
        (predicted,) = self.model([Blank(words, place, self.is_masked)])
        likely = [word for word, probability in predicted if probability >= self.min_probability]
        fit = dict.fromkeys(word for word in likely if is_one_word(word) and not any(map(str.isspace, word)))
        # As in TextAttack, the word itself counts as one of the best and is dropped afterwards.
        return [word for word in list(fit)[: self.num_candidates] if word != text.word(position)]


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


@dataclass(frozen=True)
class CompositeTransformation:
    """Offers the words of all its transformations, each word once."""

    transformations: tuple[Transformation, ...]

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        offers = (each.replacements(text, position, generator) for each in self.transformations)
        return list(dict.fromkeys(word for offer in offers for word in offer))
