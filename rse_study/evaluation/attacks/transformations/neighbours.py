"""Synonyms from a list."""

from dataclasses import dataclass

import numpy as np

from rse_study.evaluation.attacks.attacked_text import AttackedText, is_one_word
from rse_study.evaluation.attacks.lexicons.ppdb import SynonymList


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
