"""What a trained model can be scored on: `task/split`, test splits only, because a dev split has selected it."""

from pathlib import Path

from rse_study.data import builtin
from rse_study.data.pairs import StsPairs
from rse_study.data.readers import SUBSETS, read_sts
from rse_study.errors import InputError
from rse_study.registry import did_you_mean

BUILTIN = "builtin/test"


def known_evaluations() -> tuple[str, ...]:
    """Every evaluation a study may ask for."""
    return (BUILTIN, *(f"{task}/test" for task in (*SUBSETS, "STS-B", "SICK-R")))


def read_pairs(evaluation: str, data_dir: Path) -> StsPairs:
    """The pairs of an evaluation. Raises InputError where it is unknown, or its files are missing or malformed."""
    if evaluation not in known_evaluations():
        remedy = did_you_mean(evaluation, known_evaluations())
        raise InputError(f"no such evaluation {evaluation!r}", rule="task/split", remedy=remedy)
    task, split = evaluation.split("/")
    return builtin.graded_pairs("test") if evaluation == BUILTIN else read_sts(task, split, data_dir)
