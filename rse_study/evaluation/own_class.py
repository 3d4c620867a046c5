"""Evaluations that a study names by class: `module:Class/preset`."""

from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.named_class import import_class, is_class_path, require_members


def class_in(name: str) -> str:
    """Return the class that an evaluation's name begins with, or nothing.

    >>> class_in("my_scores:Overlap/builtin"), class_in("STS-B/test")
    ('my_scores:Overlap', '')
    """
    path, _, preset = name.partition("/")
    return path if is_class_path(path) and preset and "/" not in preset else ""


def evaluation_class(name: str, *, what: str, folder: Path = Path()) -> type:
    """Import the class of an evaluation, which must be able to read itself."""
    cls = import_class(class_in(name), what=what, folder=folder)
    if not callable(getattr(cls, "read", None)):
        rule = "lacks read(name, data_dir)"
        remedy = "docs/tutorials/an_evaluation_beside_your_study.md shows one"
        raise InputError(what, rule=rule, remedy=remedy)
    return cls


def read_own_evaluation(name: str, data_dir: Path) -> FrozenEvaluation:
    """Read an evaluation by class, imported before when the study was checked."""
    what = f"evaluation {name!r}"
    cls: Any = evaluation_class(name, what=what)
    evaluation: FrozenEvaluation = cls.read(name, data_dir)
    require_members(evaluation, FrozenEvaluation, what=what)
    if evaluation.name != name:
        rule = f"calls itself {evaluation.name!r}, under which its scores would be filed"
        raise InputError(what, rule=rule, remedy="Return the name that `read` is given")
    return evaluation
