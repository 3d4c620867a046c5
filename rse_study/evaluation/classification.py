"""One score of a classifier on one split, and the accuracy every task has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks.victim import Victim
from rse_study.tensors import Float, Int


@dataclass(frozen=True)
class ClassifierScore:
    """One figure of a classifier on one split."""

    task: str
    split: str
    metric: str
    value: float
    """x100."""
    num_examples: int
    num_unlabelled: int
    """Left out: they have no label."""
    seed: int
    """Of the fine-tuning."""
    degenerate: bool
    """The victim said one thing for all inputs, which is no better than silence."""
    fingerprint: str
    """Of the examples."""


def probabilities(predict: Victim, labelled: Labelled) -> Float[np.ndarray, "n c"]:
    """What the victim says of a split.

    Raises InputError where it knows other classes, or says what is not finite.
    """
    found = np.asarray(predict(labelled.texts), np.float64)
    wanted = len(labelled), len(labelled.classes)
    if found.shape != wanted or not np.isfinite(found).all():
        what = f"shape {found.shape}, {'finite' if np.isfinite(found).all() else 'not finite'}"
        rule = f"{wanted[0]} texts of {wanted[1]} classes need as many rows of finite numbers"
        where, remedy = f"{labelled.name} {labelled.split}", "Use a classifier trained for these classes"
        raise InputError(what, where=where, rule=rule, remedy=remedy)
    return found


def accuracy(labels: Int[np.ndarray, " n"], predicted: Int[np.ndarray, " n"]) -> float:
    """Share of right answers."""
    return float((labels == predicted).mean())


def says_one_thing(predicted: Sequence[int] | np.ndarray) -> bool:
    """All answers are one, and there was more than one question."""
    return len(predicted) > 1 and bool(np.ptp(np.asarray(predicted, np.float64)) == 0)
