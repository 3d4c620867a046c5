"""GLUE's metrics (Wang et al. 2018), in the order in which papers report them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import pearsonr
from sklearn.metrics import f1_score, matthews_corrcoef

from rse_study.data.labelled import Labelled, Text
from rse_study.data.pairs import StsPairs
from rse_study.errors import InputError
from rse_study.evaluation.attacks.victim import Victim
from rse_study.evaluation.classification import (
    ClassifierScore,
    accuracy,
    probabilities,
    says_one_thing,
    score_of,
)
from rse_study.evaluation.rank_correlation import spearman
from rse_study.registry import Registry
from rse_study.results.item_scores import ItemScores
from rse_study.tensors import Float, Int

GlueMetric = Callable[[Int[np.ndarray, " n"], Int[np.ndarray, " n"]], float]
PredictScores = Callable[[Sequence[Text]], Float[np.ndarray, " n"]]

_METRICS: dict[str, GlueMetric] = {
    "accuracy": accuracy,
    "f1": lambda labels, predicted: float(f1_score(labels, predicted, zero_division=0.0)),  # F1 of class 1
    "matthews": lambda labels, predicted: float(matthews_corrcoef(labels, predicted)),
}
GLUE_METRICS: Registry[tuple[str, ...]] = Registry(
    "GLUE task",
    {
        "GLUE-CoLA": ("matthews",),
        "GLUE-SST-2": ("accuracy",),
        "GLUE-MRPC": ("f1", "accuracy"),
        "GLUE-STS-B": ("pearson", "spearman"),
        "GLUE-QQP": ("f1", "accuracy"),
        "GLUE-MNLI": ("accuracy",),
        "GLUE-QNLI": ("accuracy",),
        "GLUE-RTE": ("accuracy",),
        "GLUE-WNLI": ("accuracy",),
    },
)


def evaluate_glue(predict: Victim, task: Labelled, *, seed: int) -> list[ClassifierScore]:
    """Return a task's metrics x100; InputError if `predict` has other classes."""
    predicted = probabilities(predict, task).argmax(axis=1)
    values = {
        metric: 100 * _METRICS[metric](task.labels, predicted) for metric in GLUE_METRICS.get(task.name)
    }
    is_flat = says_one_thing(predicted)
    rows = [score_of(task, metric, value, seed=seed, degenerate=is_flat) for metric, value in values.items()]
    items = ItemScores.of(100.0 * (task.labels == predicted))
    return [replace(row, items=items) if row.metric == "accuracy" else row for row in rows]


def evaluate_glue_pairs(scores: PredictScores, task: StsPairs, *, seed: int) -> list[ClassifierScore]:
    """Return STS-B's Pearson and Spearman x100; 0, degenerate for constant values."""
    found = np.asarray(scores(list(zip(task.first, task.second, strict=True))), np.float64)
    if found.shape != (len(task),) or not np.isfinite(found).all():
        rule, where = f"{len(task)} pairs need as many finite numbers", f"the regression on {task.name}"
        raise InputError(f"shape {found.shape}", where=where, rule=rule, remedy="Fine-tune it for STS-B")
    is_flat = says_one_thing(found)
    named = {"pearson": lambda a, b: float(pearsonr(a, b).statistic), "spearman": spearman}
    rows = [
        score_of(
            task,
            metric,
            0.0 if is_flat else 100 * named[metric](found, task.gold),
            seed=seed,
            degenerate=is_flat,
        )
        for metric in GLUE_METRICS.get(task.name)
    ]
    items = ItemScores.of(found, task.gold)
    return [replace(row, items=items) if row.metric == "spearman" else row for row in rows]
