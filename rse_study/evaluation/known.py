"""Evaluations by name, as studies and the command line write them: task/split, or task/preset."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rse_study.data import builtin
from rse_study.data.readers import SUBSETS, read_sts
from rse_study.data.transfer_sets import read_transfer_task, transfer_tasks
from rse_study.evaluation.evaluations import Evaluation, Similarity, Transfer
from rse_study.evaluation.probe import PRESETS
from rse_study.registry import Registry

Read = Callable[[Path], Evaluation]


def known_evaluations() -> tuple[str, ...]:
    """Every evaluation a study may ask for. Of similarity only test splits: a dev split has selected the model."""
    return tuple(_KNOWN)


def read_evaluation(name: str, data_dir: Path) -> Evaluation:
    """The evaluation with its data. Raises InputError where it is unknown, or its files are missing or malformed."""
    return _KNOWN.get(name)(data_dir)


def _builtin(data_dir: Path) -> Evaluation:
    return Similarity(builtin.graded_pairs("test"))


def _similarity(task: str, data_dir: Path) -> Evaluation:
    return Similarity(read_sts(task, "test", data_dir))


def _transfer(task: str, preset: str, data_dir: Path) -> Evaluation:
    return Transfer(read_transfer_task(task, data_dir), preset)


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
    },
)
