"""Encoders of a user's own as baselines, as a study writes them."""

from pathlib import Path
from typing import Any

from pydantic import model_validator

from rse_study.data.hub_models import OUR_OWN
from rse_study.errors import InputError
from rse_study.registry import ClassPath, class_of, source_of_class
from rse_study.results.records import BASELINES
from rse_study.spec import Spec, field


class OwnBaseline(Spec):
    """An encoder of a user's own, which is measured as shipped baselines of vectors are."""

    encoder: str = ""
    """folder or hub name that sentence-transformers loads whole, with all its modules and its own max length"""
    revision: str = "main"
    """of the encoder on the hub"""
    prompt: str | None = None
    """text before every sentence, of an encoder; by default the one that it was saved with"""
    class_: ClassPath | None = field(None, alias="class")
    """instead, `module:Class`, made without arguments: called with a list of n texts, it returns an array [n d]"""
    vectors: str = ""
    """instead, a text file of GloVe or word2vec, perhaps .gz: a text has the mean of its words' vectors, lower-cased"""

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "OwnBaseline":
        if [self.encoder, self.class_, self.vectors].count("") + (self.class_ is None) != 2:
            raise ValueError("must have one of `encoder`, `class` and `vectors`. Keep one of them")
        if not self.encoder and (self.prompt is not None or self.revision != "main"):
            raise ValueError("`prompt` and `revision` are an encoder's alone. Remove them")
        if self.encoder in OUR_OWN:
            rule = f"{self.encoder!r} is no model of sentence-transformers, but an asset that `base` may name"
            raise ValueError(f"{rule}. Name a folder or a model on the hub")
        return self

    def class_named(self, name: str) -> str:
        """Name its class as the study does."""
        return f"baselines.{name}.class = {self.class_!r}"

    def source(self, name: str, folder: Path) -> str:
        """Return the source of a class in a file beside the study, else nothing; InputError if none can call it."""
        if self.class_ is None:
            return ""
        what = self.class_named(name)
        source = source_of_class(self.class_, what=what, folder=folder)
        if not any("__call__" in vars(one) for one in class_of("", self.class_, what=what).__mro__):
            raise InputError(
                what, rule="lacks __call__(texts)", remedy="It returns an array [n d] for n texts"
            )
        return source


def as_list(given: Any, by_default: tuple[str, ...]) -> Any:
    """Return baselines as a list, in which a shipped one is its name.

    A mapping adds its own to those that a study has by default.
    """
    if isinstance(given, dict):
        given = [*by_default, *({name: own} for name, own in given.items() if own or name not in by_default)]
    if not isinstance(given, list | tuple):
        return given
    return [next((name for name in BASELINES if one in ({name: None}, {name: {}})), one) for one in given]
