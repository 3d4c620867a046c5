"""Scores of classifiers: accuracy, NLI averages, GLUE metrics, F1 on SQuAD."""

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from scipy.stats import pearsonr
from sklearn.metrics import f1_score, matthews_corrcoef

from rse_study.data.labelled import Labelled, StsPairs, Text
from rse_study.data.labelled_sets import ANLI_ROUNDS, Questions
from rse_study.errors import InputError
from rse_study.evaluation.attacks.engine import Victim
from rse_study.evaluation.sts import spearman
from rse_study.registry import Registry
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow
from rse_study.spec import fingerprint_of
from rse_study.tensors import Float, Int


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


def scores_of(
    task: Labelled | StsPairs | Questions,
    figures: Mapping[str, float],
    *,
    seed: int,
    degenerate: bool,
    items: Mapping[str, ItemScores | None] = MappingProxyType({}),
) -> list[EvaluationRow]:
    """Return figures x100 of a classifier on all of a split, by their names."""
    num_skipped = task.num_unlabelled if isinstance(task, Labelled) else 0
    return [
        EvaluationRow(
            subject="", task=task.name, split=task.split, aggregation=metric, value=value, num_examples=len(task),
            num_skipped=num_skipped, seed=seed, degenerate=degenerate, fingerprint=task.fingerprint,
            items=items.get(metric),
        )
        for metric, value in figures.items()
    ]  # fmt: skip


def evaluate_accuracy(predict: Victim, task: Labelled, *, seed: int) -> EvaluationRow:
    """Return a classifier's accuracy x100 on all of a split."""
    predicted = probabilities(predict, task).argmax(axis=1)
    figures = {"accuracy": 100 * accuracy(task.labels, predicted)}
    items = {"accuracy": ItemScores.of(100.0 * (task.labels == predicted))}
    (row,) = scores_of(task, figures, seed=seed, degenerate=says_one_thing(predicted), items=items)
    return row


def accuracy(labels: Int[np.ndarray, " n"], predicted: Int[np.ndarray, " n"]) -> float:
    """Return the share of correct predictions, 0..1."""
    return float((labels == predicted).mean())


def says_one_thing(predicted: Sequence[int] | np.ndarray) -> bool:
    """Whether there are several answers and all are the same."""
    return len(predicted) > 1 and bool(np.ptp(np.asarray(predicted, np.float64)) == 0)


ANLI_ALL, ANLI_MEAN = "ANLI-all", "ANLI-mean"
"""Averages over examples, and over rounds."""


def evaluate_nli(predict: Victim, tasks: Sequence[Labelled], *, seed: int) -> list[EvaluationRow]:
    """Return each task's accuracy x100, and both averages over ANLI's rounds."""
    rows = [evaluate_accuracy(predict, task, seed=seed) for task in tasks]
    for split in dict.fromkeys(task.split for task in tasks):
        rounds = [row for row in rows if row.split == split and row.task in ANLI_ROUNDS]
        if {row.task for row in rounds} == set(ANLI_ROUNDS):
            rows += _averages(rounds)
    return rows


def _averages(rounds: list[EvaluationRow]) -> list[EvaluationRow]:
    values, sizes = [row.value for row in rounds], [row.num_examples for row in rounds]
    named = {ANLI_ALL: np.average(values, weights=sizes), ANLI_MEAN: np.mean(values)}
    correct = np.concatenate([row.items.scores for row in rounds if row.items])
    parts = {ANLI_MEAN: np.repeat(np.arange(len(sizes)), sizes)}
    return [
        rounds[0].model_copy(
            update={
                "task": name,
                "value": float(value),
                "num_examples": sum(sizes),
                "num_skipped": sum(row.num_skipped for row in rounds),
                "degenerate": any(row.degenerate for row in rounds),
                "fingerprint": fingerprint_of([row.fingerprint for row in rounds]),
                "items": ItemScores.of(correct, parts=parts.get(name)),
            }
        )
        for name, value in named.items()
    ]


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


def evaluate_glue(predict: Victim, task: Labelled, *, seed: int) -> list[EvaluationRow]:
    """Return a task's metrics x100; InputError if `predict` has other classes."""
    predicted, metrics = probabilities(predict, task).argmax(axis=1), GLUE_METRICS.get(task.name)
    figures = {metric: 100 * _METRICS[metric](task.labels, predicted) for metric in metrics}
    items = {"accuracy": ItemScores.of(100.0 * (task.labels == predicted))}
    return scores_of(task, figures, seed=seed, degenerate=says_one_thing(predicted), items=items)


def evaluate_glue_pairs(scores: PredictScores, task: StsPairs, *, seed: int) -> list[EvaluationRow]:
    """Return STS-B's Pearson and Spearman x100; 0, degenerate for constant values."""
    found = np.asarray(scores(list(zip(task.first, task.second, strict=True))), np.float64)
    if found.shape != (len(task),) or not np.isfinite(found).all():
        rule, where = f"{len(task)} pairs need as many finite numbers", f"the regression on {task.name}"
        raise InputError(f"shape {found.shape}", where=where, rule=rule, remedy="Fine-tune it for STS-B")
    is_flat = says_one_thing(found)
    named = {"pearson": lambda a, b: float(pearsonr(a, b).statistic), "spearman": spearman}
    metrics, items = GLUE_METRICS.get(task.name), {"spearman": ItemScores.of(found, task.gold)}
    figures = {metric: 0.0 if is_flat else 100 * named[metric](found, task.gold) for metric in metrics}
    return scores_of(task, figures, seed=seed, degenerate=is_flat, items=items)


Answering = Callable[[Sequence[Text]], list[str]]  # (question, context) -> answer
SQUAD_METRICS = ("f1", "exact_match")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Lower-case an answer; drop ASCII punctuation, articles and extra blanks.

    >>> normalised("The  Eiffel-Tower!")
    'eiffeltower'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer is one of the accepted ones, normalised; else 0."""
    return float(normalised(answer) in map(normalised, accepted))


def f1(answer: str, accepted: Sequence[str]) -> float:
    """Return the highest F1 of the words shared with an accepted answer."""
    return max(_shared(normalised(answer).split(), normalised(one).split()) for one in accepted)


def evaluate_squad(answering: Answering, task: Questions, *, seed: int) -> list[EvaluationRow]:
    """Return the means of F1 and exact match over all questions, x100."""
    found = answering(task.texts)
    is_flat, pairs = len(found) > 1 and len(set(found)) == 1, list(zip(found, task.answers, strict=True))
    figures = {
        one.__name__: float(100 * np.mean([one(*pair) for pair in pairs])) for one in (f1, exact_match)
    }
    return scores_of(task, figures, seed=seed, degenerate=is_flat)


def _shared(words: list[str], others: list[str]) -> float:
    num = (Counter(words) & Counter(others)).total()
    return 2 * num / (len(words) + len(others)) if num else 0.0
