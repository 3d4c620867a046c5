"""Words from a masked language model, masked (BAE) or seen (BERT-Attack)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rse_study.evaluation.attacks.attacked_text import AttackedText, is_one_word


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
