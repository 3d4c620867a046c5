"""The word lists and models that recipes use."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from rse_study.errors import InputError
from rse_study.evaluation.attacks.lexicons import SynonymList
from rse_study.evaluation.attacks.transformations import Encode, MaskedLM

T = TypeVar("T")


class Resource(StrEnum):
    """A resource of recipes; values are part of asset keys on disk and never change."""

    WORDNET = "WordNet"
    STOP_WORDS = "stop words"
    SYNONYM_LISTS = "synonym lists"
    LOOK_ALIKES = "look-alikes"
    KEYBOARD = "keyboard"
    SENTENCE_SIMILARITY = "sentence similarity"
    MASKED_LM = "masked language model"


@dataclass(frozen=True)
class NamedModel(Generic[T]):
    """A model and its name in labels."""

    name: str
    model: T


@dataclass(frozen=True)
class AttackResources:
    """The resources that are available to a recipe; None where there is none."""

    data_dir: Path
    """folder of WordNet, stop words, synonym lists, look-alikes and the keyboard"""
    encoder: NamedModel[Encode] | None = None
    masked_lm: NamedModel[MaskedLM] | None = None

    def synonyms(self) -> NamedModel[SynonymList]:
        """Open the source of synonyms."""
        return NamedModel("the lists of counter-fitting", SynonymList.open(self.data_dir))

    def need_encoder(self, recipe: str) -> NamedModel[Encode]:
        rule = "it filters candidates by the similarity of sentences"
        return _needed(
            self.encoder, "sentence encoder", recipe, rule, "any local encoder serves, such as minilm"
        )

    def need_masked_lm(self, recipe: str) -> NamedModel[MaskedLM]:
        rule = "its candidates are what a masked language model predicts"
        return _needed(self.masked_lm, "masked language model", recipe, rule, "any local one serves")


def _needed(given: NamedModel[T] | None, noun: str, recipe: str, rule: str, remedy: str) -> NamedModel[T]:
    if given is None:
        raise InputError(f"no {noun}", where=f"recipe {recipe}", rule=rule, remedy=f"Name one: {remedy}")
    return given
