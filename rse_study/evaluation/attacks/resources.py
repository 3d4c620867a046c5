"""What recipes are given from outside: words, models. Each recipe asks for what it needs, and for no more."""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from rse_study.errors import InputError
from rse_study.evaluation.attacks.constraints.part_of_speech import Tagger
from rse_study.evaluation.attacks.lexicons.ppdb import SynonymList
from rse_study.evaluation.attacks.lexicons.vectors import Vectors
from rse_study.evaluation.attacks.transformations.masked_lm import MaskedLM
from rse_study.evaluation.attacks.transformations.neighbours import Neighbours
from rse_study.evaluation.vectors import Embed

T = TypeVar("T")


@dataclass(frozen=True)
class NamedModel(Generic[T]):
    """A model and the name it goes by in labels."""

    name: str
    model: T


@dataclass(frozen=True)
class AttackResources:
    """None: there is none. `data_dir` holds WordNet, stop words, synonym lists, look-alikes and the keyboard.

    `vectors`: a file of word vectors (a word and its numbers a line); without one, synonyms come from the lists of
    counter-fitting.
    """

    data_dir: Path
    vectors: Path | None = None
    encoder: NamedModel[Embed] | None = None
    masked_lm: NamedModel[MaskedLM] | None = None
    tagger: NamedModel[Tagger] | None = None

    def synonyms(self) -> NamedModel[Neighbours]:
        """Where synonyms come from. Raises MissingFile, InputError where that cannot be read."""
        if self.vectors is not None:
            return NamedModel(self.vectors.name, Vectors.open(self.vectors))
        return NamedModel("the lists of counter-fitting", SynonymList.open(self.data_dir))

    def need_encoder(self, recipe: str) -> NamedModel[Embed]:
        """Raises InputError where there is none."""
        rule = "it filters candidates by the similarity of sentences"
        return _needed(
            self.encoder, "sentence encoder", recipe, rule, "any local encoder serves, such as minilm"
        )

    def need_masked_lm(self, recipe: str) -> NamedModel[MaskedLM]:
        """Raises InputError where there is none."""
        rule = "its candidates are what a masked language model predicts"
        return _needed(self.masked_lm, "masked language model", recipe, rule, "any local one serves")


def _needed(given: NamedModel[T] | None, noun: str, recipe: str, rule: str, remedy: str) -> NamedModel[T]:
    if given is None:
        raise InputError(f"no {noun}", where=f"recipe {recipe}", rule=rule, remedy=f"Name one: {remedy}")
    return given
