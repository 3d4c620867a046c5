"""What a change of text is, and what it may draw on."""

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
    """The tables of the data folder that changes draw on.

    Each is read when it is first asked for; one that is missing or malformed raises InputError then.
    """

    data_dir: Path
    share: float = 0.1
    """Of a text's words, rounded, at least one, that changes of single words edit."""

    def __post_init__(self) -> None:
        assert 0 < self.share <= 1, self.share

    @cached_property
    def neighbouring_keys(self) -> LetterTable:
        """Letters and digits beside a letter's key."""
        return neighbouring_keys(self.data_dir)

    @cached_property
    def lookalikes(self) -> LetterTable:
        """Characters that look like a letter."""
        return lookalikes(self.data_dir)

    @cached_property
    def stopwords(self) -> frozenset[str]:
        """Words too common to have a synonym."""
        return english_stopwords(self.data_dir)

    def synonyms(self, word: str) -> tuple[str, ...]:
        """Other words for it, lower case."""
        return synonyms_of(word, self.data_dir)


TextChange = Callable[[str, np.random.Generator, ChangeResources], str]
"""(text, generator, resources) -> text; the same text where there is nothing to change."""
WordEdit = Callable[[str, np.random.Generator, ChangeResources], str]
"""(word, generator, resources) -> word; the same word where it cannot be edited."""
