"""Scores of classifiers, and their accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.data.questions import Questions
from rse_study.errors import InputError
from rse_study.evaluation.attacks.victim import Victim
from rse_study.results.item_scores import ItemScores
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
    seed: int
    degenerate: bool
    fingerprint: str
    items: ItemScores | None = None


def probabilities(predict: Victim, labelled: Labelled) -> Float[np.ndarray, "n c"]:
    """Return a split's class probabilities, or raise InputError for malformed ones."""
    found = np.asarray(predict(labelled.texts), np.float64)
    wanted = len(labelled), len(labelled.classes)
    if found.shape != wanted or not np.isfinite(found).all():
        what = f"shape {found.shape}, {'finite' if np.isfinite(found).all() else 'not finite'}"
        rule = f"{wanted[0]} texts of {wanted[1]} classes need as many rows of finite numbers"
        where, remedy = f"{labelled.name} {labelled.split}", "Use a classifier trained for these classes"
        raise InputError(what, where=where, rule=rule, remedy=remedy)
    return found


def score_of(
    task: Labelled | StsPairs | Questions, metric: str, value: float, *, seed: int, degenerate: bool
) -> ClassifierScore:
    """Return one figure of a classifier on all of a split."""
    num_unlabelled = task.num_unlabelled if isinstance(task, Labelled) else 0
    return ClassifierScore(
        task=task.name, split=task.split, metric=metric, value=value, num_examples=len(task),
        num_unlabelled=num_unlabelled, seed=seed, degenerate=degenerate, fingerprint=task.fingerprint,
    )  # fmt: skip


def evaluate_accuracy(predict: Victim, task: Labelled, *, seed: int) -> ClassifierScore:
    """Return a classifier's accuracy x100 on all of a split."""
    predicted = probabilities(predict, task).argmax(axis=1)
    value = 100 * accuracy(task.labels, predicted)
    score = score_of(task, "accuracy", value, seed=seed, degenerate=says_one_thing(predicted))
    return replace(score, items=ItemScores.of(100.0 * (task.labels == predicted)))


def accuracy(labels: Int[np.ndarray, " n"], predicted: Int[np.ndarray, " n"]) -> float:
    """Return the share of correct predictions, 0..1."""
    return float((labels == predicted).mean())


def says_one_thing(predicted: Sequence[int] | np.ndarray) -> bool:
    """Whether there are several answers and all are the same."""
    return len(predicted) > 1 and bool(np.ptp(np.asarray(predicted, np.float64)) == 0)
