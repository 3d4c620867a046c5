"""The interface of text changes, and the tables they may use."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rse_study.data.typos import LetterTable, lookalikes, neighbouring_keys
from rse_study.data.wordnet import synonyms_of
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords


@dataclass(frozen=True)
class ChangeResources:
    """Tables that changes use, each read on first use (InputError if malformed)."""

    data_dir: Path
    share: float = 0.1
    """Share of a text's words that are edited; at least one is."""

    def __post_init__(self) -> None:
        assert 0 < self.share <= 1, self.share

    @cached_property
    def neighbouring_keys(self) -> LetterTable:
        return neighbouring_keys(self.data_dir)

    @cached_property
    def lookalikes(self) -> LetterTable:
        return lookalikes(self.data_dir)

    @cached_property
    def stopwords(self) -> frozenset[str]:
        return english_stopwords(self.data_dir)

    def synonyms(self, word: str) -> tuple[str, ...]:
        return synonyms_of(word, self.data_dir)


TextChange = Callable[[str, np.random.Generator, ChangeResources], str]
"""Returns the changed text, or the same one if there is nothing to change."""
WordEdit = Callable[[str, np.random.Generator, ChangeResources], str]
"""Returns the edited word, or the same one if it cannot be edited."""
