"""Transfer: how well a logistic regression tells classes apart by frozen embeddings alone (SentEval's tasks).

The protocol follows from the splits of a task (Conneau and Kiela 2018):

    all                nested stratified k-fold: in every outer fold, k-fold inside its training part chooses C
    train, dev, test   dev chooses C; the classifier fitted on train is tested once
    train, test        k-fold on train chooses C; a classifier fitted on all of train is tested once

Features of a sentence are its embedding u; of a pair [|u - v|, u * v]. The classifier: probe.py.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from sklearn.metrics import accuracy_score, f1_score

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.probe import (
    ProbePreset,
    choose_by_dev,
    choose_by_folds,
    fewest_for,
    fit_probe,
    nested_accuracies,
)
from rse_study.evaluation.sts import Embed
from rse_study.evaluation.vectors import is_collapsed
from rse_study.spec import fingerprint_of

TransferMetric = Literal["accuracy", "f1"]
Task = tuple[Labelled, ...]
"""The splits of a task: (all,), (train, dev, test) or (train, test)."""
AVERAGES: dict[str, tuple[str, ...]] = {
    "avg6_without_trec": ("MR", "CR", "SUBJ", "MPQA", "SST2", "MRPC"),  # RobustSentEmbed's
    "avg7": ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"),  # the other papers'
}


@dataclass(frozen=True)
class TransferScore:
    """One result. `degenerate`: embeddings were constant or not finite somewhere, which counts as 0."""

    task: str
    split: str  # all or test
    metric: TransferMetric
    preset: str
    value: float  # x100
    num_examples: int  # that were tested
    seed: int  # of the folds
    degenerate: bool
    fingerprint: str  # of every split of the task


def evaluate_transfer(
    embed: Embed, tasks: Sequence[Task], preset: ProbePreset, seed: int
) -> list[TransferScore]:
    """Accuracy of each task, and of tasks on pairs F1 of the second class. `seed` decides the folds.

    Every distinct text is embedded once, over all tasks, in one sorted call; folds depend on the seed and the task's
    labels only. So neither other tasks nor their order change a score. Accuracy of a nested k-fold is the mean of
    its outer folds'. Raises InputError where a class has too few examples for the folds.
    """
    for task in tasks:
        _check_classes(task, preset)
    texts = sorted({text for task in tasks for split in task for parts in split.texts for text in parts})
    vectors = np.asarray(embed(texts)) if texts else np.zeros((0, 1))
    place = {text: row for row, text in enumerate(texts)}
    scores: list[TransferScore] = []
    for task in tasks:
        rows = [np.array([[place[text] for text in parts] for parts in split.texts]) for split in task]
        used = vectors[np.unique(np.concatenate(rows))]
        values = (
            {} if is_collapsed(used) else _values(task, [_features(vectors, r) for r in rows], preset, seed)
        )
        scores.extend(_rows(task, values, preset, seed))
    return scores


def averages(accuracies: Mapping[str, float]) -> dict[str, float]:
    """Plain means of tasks' accuracies, by the names of AVERAGES: those all of whose tasks are there, of one preset."""
    return {
        name: sum(accuracies[task] for task in tasks) / len(tasks)
        for name, tasks in AVERAGES.items()
        if accuracies.keys() >= set(tasks)
    }


def pair_features(u: Float[np.ndarray, "n d"], v: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n two_d"]:
    """[|u - v|, u * v] of paired rows."""
    return np.concatenate([np.abs(u - v), u * v], axis=1)


def _values(
    task: Task, features: list[np.ndarray], preset: ProbePreset, seed: int
) -> dict[TransferMetric, float]:
    """The task's metrics, 0..1."""
    known = [(part, split.labels) for part, split in zip(features, task, strict=True)]
    if len(known) == 1:
        return {"accuracy": float(np.mean(nested_accuracies(*known[0], preset, seed)))}
    train, *dev, (tested, gold) = known
    best = choose_by_dev(train, dev[0], preset) if dev else choose_by_folds(*train, preset, seed)
    predicted = fit_probe(*train, best).predict(tested)
    values: dict[TransferMetric, float] = {"accuracy": float(accuracy_score(gold, predicted))}
    return (
        {**values, "f1": float(f1_score(gold, predicted, zero_division=0.0))} if _is_paired(task) else values
    )


def _rows(
    task: Task, values: dict[TransferMetric, float], preset: ProbePreset, seed: int
) -> list[TransferScore]:
    """A row for each metric the task has; one that could not be computed is 0, and degenerate."""
    tested, fingerprint = task[-1], fingerprint_of([split.fingerprint for split in task])
    metrics: tuple[TransferMetric, ...] = ("accuracy", "f1") if _is_paired(task) else ("accuracy",)
    return [
        TransferScore(
            task=tested.name,
            split=tested.split,
            metric=metric,
            preset=preset.name,
            value=100 * values.get(metric, 0.0),
            num_examples=len(tested),
            seed=seed,
            degenerate=metric not in values,
            fingerprint=fingerprint,
        )
        for metric in metrics
    ]


def _is_paired(task: Task) -> bool:
    return len(task[-1].texts[0]) == 2


def _features(vectors: np.ndarray, rows: Int[np.ndarray, "n parts"]) -> Float[np.ndarray, "n f"]:
    parts = [vectors[column].astype(np.float64) for column in rows.T]
    return parts[0] if len(parts) == 1 else pair_features(*parts)


def _check_classes(task: Task, preset: ProbePreset) -> None:
    fitted, splits = task[0], tuple(split.split for split in task)
    assert splits in {("all",), ("train", "dev", "test"), ("train", "test")}, splits
    fewest = 1 if len(task) == 3 else fewest_for(preset.num_folds, is_nested=len(task) == 1)
    counts = Counter(fitted.labels.tolist())
    for label, name in enumerate(fitted.classes):
        if counts[label] < fewest:
            what = f"{counts[label]} example(s) of class {name!r}"
            rule = f"at least {fewest} for {preset.num_folds} folds"
            remedy = "Fetch the set again, or use a preset of fewer folds"
            raise InputError(what, where=f"{fitted.name} {fitted.split}", rule=rule, remedy=remedy)
