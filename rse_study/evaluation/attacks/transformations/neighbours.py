"""Synonyms from a lexicon: word vectors or a list."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rse_study.evaluation.attacks.attacked_text import AttackedText, is_one_word


@runtime_checkable
class Neighbours(Protocol):
    """A source of words that are near a word."""

    def nearest(self, word: str, num: int) -> list[str]:
        """Return at most `num` other words, the nearest first."""
        ...


@dataclass(frozen=True)
class NeighbourSwap:
    """Offers the nearest words in a lexicon, in the case of the word they replace."""

    neighbours: Neighbours
    num_candidates: int

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        near = self.neighbours.nearest(word.lower(), self.num_candidates)
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
