"""EVALUATIONS of frozen vectors: every name, and the class behind it.

A new one is a module and a line of the table here. Importing this imports no class: a study is checked without what it
takes to evaluate.
"""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rse_study.data.readers import SUBSETS
from rse_study.data.transfer_sets import transfer_tasks
from rse_study.evaluation.evaluations import RegisteredEvaluation
from rse_study.registry import Registry

BUILTIN = "builtin/test"
TRANSFER_PRESETS = ("fast", "full")
"""Of evaluation/probe.py."""
GEOMETRY, INVARIANCE = "STS-B/geometry", "STS-B/invariance"


@dataclass(frozen=True)
class EvaluationFamily:
    """Evaluations of one class, by the names a study writes.

    A name is task/split or task/preset.
    """

    path: str
    """The class, `module:Class`. It is imported when one of them is read."""
    names: tuple[str, ...]
    is_of_dev: bool = False
    """Whether they read dev pairs alone."""

    def load(self) -> Any:
        """The class."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


def transfer_names(preset: str) -> tuple[str, ...]:
    """The seven transfer tasks under a preset."""
    return tuple(f"{task}/{preset}" for task in transfer_tasks())


EVALUATIONS: Registry[EvaluationFamily] = Registry(
    "kind of evaluation",
    # Keys stand in folders of assets: a class may be renamed, its key stays. Of similarity only test splits are here:
    # a dev split has selected the model.
    {
        "Similarity": EvaluationFamily(
            "rse_study.evaluation.sts:Similarity",
            (BUILTIN, *(f"{task}/test" for task in (*SUBSETS, "STS-B", "SICK-R"))),
        ),
        "Transfer": EvaluationFamily(
            "rse_study.evaluation.transfer:Transfer",
            tuple(name for preset in TRANSFER_PRESETS for name in transfer_names(preset)),
        ),
        "Sphere": EvaluationFamily(
            "rse_study.evaluation.geometry:AlignmentUniformity", (GEOMETRY,), is_of_dev=True
        ),
        "Steadiness": EvaluationFamily("rse_study.evaluation.invariance:Invariance", (INVARIANCE,)),
    },
)


def families(entries: Registry[EvaluationFamily]) -> Registry[EvaluationFamily]:
    """The family of each name, in the registry's order."""
    by_name: Registry[EvaluationFamily] = Registry("evaluation")
    for key in entries:
        family = entries.get(key)
        for name in family.names:
            by_name.add(name, family)
    return by_name


OF_DEV = tuple(
    name for key in EVALUATIONS if EVALUATIONS.get(key).is_of_dev for name in EVALUATIONS.get(key).names
)
"""Evaluations of dev pairs alone: what they say, a search may know while it runs."""


def known_evaluations() -> tuple[str, ...]:
    """Every evaluation of a frozen encoder a study may ask for."""
    return tuple(families(EVALUATIONS))


def beyond_similarity(suite: str) -> tuple[str, ...]:
    """The evaluations of a suite besides the STS sets.

    sts: none; fast: transfer with its fast preset, and geometry; full: its full preset, geometry and invariance.
    """
    if suite == "sts":
        return ()
    return (*transfer_names(suite), GEOMETRY, *([INVARIANCE] if suite == "full" else []))


def read_evaluation(name: str, data_dir: Path) -> RegisteredEvaluation:
    """The evaluation of that name, with its data.

    Raises InputError where it is unknown, or its files are missing or malformed.
    """
    evaluation: RegisteredEvaluation = families(EVALUATIONS).get(name).load().read(name, data_dir)
    return evaluation
