"""Evaluations by name, as studies and the command line write them: task/split, or task/preset."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rse_study.data import builtin
from rse_study.data.readers import SUBSETS, read_sts
from rse_study.data.transfer_sets import read_transfer_task, transfer_tasks
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.kinds.probing import Transfer
from rse_study.evaluation.kinds.similarity import Similarity
from rse_study.evaluation.kinds.sphere import Sphere
from rse_study.evaluation.kinds.steadiness import Steadiness
from rse_study.evaluation.probe import PRESETS
from rse_study.registry import Registry

Read = Callable[[Path], Evaluation]


def known_evaluations() -> tuple[str, ...]:
    """Every evaluation a study may ask for. Of similarity only test splits: a dev split has selected the model."""
    return tuple(_KNOWN)


def beyond_similarity(suite: str) -> tuple[str, ...]:
    """The evaluations of a suite besides the STS sets.

    sts: none; fast: transfer with its fast preset, and geometry; full: its full preset, geometry and invariance.
    """
    if suite == "sts":
        return ()
    transfer = tuple(f"{task}/{suite}" for task in transfer_tasks())
    return (*transfer, "STS-B/geometry", *(["STS-B/invariance"] if suite == "full" else []))


def read_evaluation(name: str, data_dir: Path) -> Evaluation:
    """The evaluation with its data. Raises InputError where it is unknown, or its files are missing or malformed."""
    return _KNOWN.get(name)(data_dir)


def _builtin(data_dir: Path) -> Evaluation:
    return Similarity(builtin.graded_pairs("test"))


def _similarity(task: str, data_dir: Path) -> Evaluation:
    return Similarity(read_sts(task, "test", data_dir))


def _transfer(task: str, preset: str, data_dir: Path) -> Evaluation:
    return Transfer(read_transfer_task(task, data_dir), preset)


def _geometry(data_dir: Path) -> Evaluation:
    return Sphere(read_sts("STS-B", "dev", data_dir))


def _invariance(data_dir: Path) -> Evaluation:
    return Steadiness.of(read_sts("STS-B", "test", data_dir), data_dir)


_KNOWN: Registry[Read] = Registry(
    "evaluation",
    {
        "builtin/test": _builtin,
        **{f"{task}/test": partial(_similarity, task) for task in (*SUBSETS, "STS-B", "SICK-R")},
        **{
            f"{task}/{preset}": partial(_transfer, task, preset)
            for preset in PRESETS
            for task in transfer_tasks()
        },
        "STS-B/geometry": _geometry,
        "STS-B/invariance": _invariance,
    },
)
