"""Evaluations by name, with their data."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rse_study.data import builtin
from rse_study.data.readers import read_sts
from rse_study.data.transfer_sets import read_transfer_task
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.kinds.probing import Transfer
from rse_study.evaluation.kinds.similarity import Similarity
from rse_study.evaluation.kinds.sphere import AlignmentUniformity
from rse_study.evaluation.kinds.steadiness import Invariance
from rse_study.evaluation.names import (
    BUILTIN,
    GEOMETRY,
    INVARIANCE,
    SIMILARITY,
    TRANSFER_PRESETS,
    transfer_names,
)
from rse_study.registry import Registry

ReadFrozen = Callable[[Path], Evaluation]


def read_evaluation(name: str, data_dir: Path) -> Evaluation:
    """The evaluation with its data. Raises InputError where it is unknown, or its files are missing or malformed."""
    return _KNOWN.get(name)(data_dir)


def _builtin(data_dir: Path) -> Evaluation:
    return Similarity(builtin.graded_pairs("test"))


def _similarity(name: str, data_dir: Path) -> Evaluation:
    task, split = name.split("/")
    return Similarity(read_sts(task, split, data_dir))


def _transfer(name: str, data_dir: Path) -> Evaluation:
    task, preset = name.split("/")
    return Transfer(read_transfer_task(task, data_dir), preset)


def _geometry(data_dir: Path) -> Evaluation:
    return AlignmentUniformity(read_sts("STS-B", "dev", data_dir))


def _invariance(data_dir: Path) -> Evaluation:
    return Invariance.of(read_sts("STS-B", "test", data_dir), data_dir)


_KNOWN: Registry[ReadFrozen] = Registry(
    "evaluation",
    {
        BUILTIN: _builtin,
        **{name: partial(_similarity, name) for name in SIMILARITY},
        **{name: partial(_transfer, name) for preset in TRANSFER_PRESETS for name in transfer_names(preset)},
        GEOMETRY: _geometry,
        INVARIANCE: _invariance,
    },
)
