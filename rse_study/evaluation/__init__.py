"""EVALUATIONS of frozen vectors by name, imported only when they are read."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from rse_study.data import SUBSETS
from rse_study.data.labelled_sets import TRANSFER_TASKS
from rse_study.errors import InputError, first_line
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.registry import Registry, import_class, is_class_path, require_members
from rse_study.results.records import PLANE


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


MTEB = "mteb/"
"""beginning of the names of MTEB's tasks, mteb/TASK or mteb/TASK/eng, which its package knows"""


def mteb_class(name: str, what: str) -> Any:
    """Import the class of MTEB's tasks; InputError without it, or for an unfit task."""
    if find_spec("mteb") is None:
        rule = "tasks of MTEB are computed by its package"
        raise InputError(what, rule=rule, remedy="Run: pip install 'rse-study[mteb]'")
    try:
        cls = resolve_name("rse_study.evaluation.mteb_tasks:MtebTask")
    except ImportError as error:
        remedy = "Run: pip install --upgrade 'rse-study[mteb]'"
        raise InputError(what, rule=f"mteb cannot be used ({first_line(error)})", remedy=remedy) from None
    cls.find(name, what)
    return cls


BUILTIN = "builtin/test"
TRANSFER_PRESETS = ("fast", "full")
GEOMETRY, INVARIANCE, IN_THE_PLANE = "STS-B/geometry", "STS-B/invariance", f"STS-B/{PLANE}"


@dataclass(frozen=True)
class EvaluationFamily:
    """Evaluations of one class, with names of the form task/split or task/preset."""

    path: str
    """`module:Class`, imported when an evaluation is read."""
    names: tuple[str, ...]

    def load(self) -> Any:
        return resolve_name(self.path)


def transfer_names(preset: str) -> tuple[str, ...]:
    """Return the names of the seven transfer tasks with a preset."""
    return tuple(f"{task}/{preset}" for task in TRANSFER_TASKS)


EVALUATIONS: Registry[EvaluationFamily] = Registry(
    "kind of evaluation",
    # Similarity has test splits only: dev splits select the model.
    {
        "Similarity": EvaluationFamily(
            "rse_study.evaluation.sts:Similarity",
            (BUILTIN, *(f"{task}/test" for task in (*SUBSETS, "STS-B", "SICK-R"))),
        ),
        "Transfer": EvaluationFamily(
            "rse_study.evaluation.transfer:Transfer",
            tuple(name for preset in TRANSFER_PRESETS for name in transfer_names(preset)),
        ),
        "Sphere": EvaluationFamily("rse_study.evaluation.invariance:AlignmentUniformity", (GEOMETRY,)),
        "Steadiness": EvaluationFamily("rse_study.evaluation.invariance:Invariance", (INVARIANCE,)),
        "Plane": EvaluationFamily("rse_study.evaluation.invariance:SentencePlane", (IN_THE_PLANE,)),
    },
)


def families(entries: Registry[EvaluationFamily]) -> Registry[EvaluationFamily]:
    """Return the family of each evaluation name, in the registry's order."""
    by_name: Registry[EvaluationFamily] = Registry("evaluation")
    for key in entries:
        family = entries.get(key)
        for name in family.names:
            by_name.add(name, family)
    return by_name


def known_evaluations() -> tuple[str, ...]:
    """Return the names of all evaluations of frozen encoders."""
    return tuple(families(EVALUATIONS))


def beyond_similarity(suite: str) -> tuple[str, ...]:
    """Return the evaluations of a suite (sts, fast or full) besides the STS sets."""
    if suite == "sts":
        return ()
    return (*transfer_names(suite), GEOMETRY, *([INVARIANCE] if suite == "full" else []))


def read_evaluation(name: str, data_dir: Path) -> FrozenEvaluation:
    """Read an evaluation with its data; InputError if unknown or malformed."""
    if class_in(name):
        return read_own_evaluation(name, data_dir)
    cls = mteb_class(name, name) if name.startswith(MTEB) else families(EVALUATIONS).get(name).load()
    evaluation: FrozenEvaluation = cls.read(name, data_dir)
    return evaluation
