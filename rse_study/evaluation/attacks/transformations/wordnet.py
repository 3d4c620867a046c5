"""Synonyms from WordNet, selected as TextAttack's PWWS does."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.data.wordnet import lemmas_of
from rse_study.evaluation.attacks.attacked_text import AttackedText, is_one_word


@dataclass(frozen=True)
class WordNetSwap:
    """Lemmas of all synsets of a word but phrases and itself, sorted as in TextAttack."""

    data_dir: Path

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        word = text.word(position)
        lemmas = lemmas_of(word, self.data_dir)
        return [name for name in lemmas if name != word and "_" not in name and is_one_word(name)]
