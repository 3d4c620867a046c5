"""Transfer: linear classification of frozen embeddings, on SentEval's tasks.

The classifier is a logistic regression (probe.py). The protocol depends on the splits (Conneau and Kiela
2018):

    all                nested stratified k-fold: in every outer fold, k-fold inside its training part chooses
    C
    train, dev, test   dev chooses C; the classifier fitted on train is tested once
    train, test        k-fold on train chooses C; a classifier fitted on all of train is tested once

The features of a sentence are its embedding u; those of a pair are [|u - v|, u * v].
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import read_labelled, splits_of
from rse_study.errors import InputError
from rse_study.evaluation.probe import (
    PRESETS,
    ProbePreset,
    choose_by_dev,
    choose_by_folds,
    fewest_for,
    fit_probe,
    nested_predictions,
)
from rse_study.evaluation.vectors import Embed, is_collapsed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.tensors import Float, Int

Task = tuple[Labelled, ...]
"""The splits of a task: (all,), (train, dev, test) or (train, test)."""
AVERAGES: dict[str, tuple[str, ...]] = {
    "avg6_without_trec": ("MR", "CR", "SUBJ", "MPQA", "SST2", "MRPC"),
    "avg7": ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"),
}
"""Tasks of each average: RobustSentEmbed's, and the other papers'."""
FOLDS_SEED = 0


@dataclass(frozen=True)
class Transfer:
    """Accuracy x100 of a logistic regression on one task, and F1 for tasks on pairs."""

    task: Task
    preset: str

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "Transfer":
        task, preset = name.split("/")
        return cls(tuple(read_labelled(task, split, data_dir) for split in splits_of(task)), preset)

    @property
    def name(self) -> str:
        return f"{self.task[-1].name}/{self.preset}"

    @property
    def fingerprint(self) -> str:
        return fingerprint_of([split.fingerprint for split in self.task])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Accuracy alone; the F1 of pairs is a row without a measure."""
        return (Measure(name=self.name, metric=f"{self.name}/accuracy"),)

    @property
    def num_sentences(self) -> int:
        return sum(len(text) for split in self.task for text in split.texts)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return one row per metric; 0, degenerate for collapsed embeddings."""
        return evaluate_transfer(embed, self.task, PRESETS.get(self.preset), FOLDS_SEED, subject)


def evaluate_transfer(
    embed: Embed, task: Task, preset: ProbePreset, seed: int, subject: str = ""
) -> list[EvaluationRow]:
    """Return a task's accuracy x100, and F1 of the second class for pairs.

    Every distinct text is embedded once. A nested k-fold reports the mean over outer folds, which depend on
    `seed` and the labels alone.

    Raises
    ------
    InputError
        A class has too few examples for the folds.
    """
    _check_classes(task, preset)
    texts = sorted({text for split in task for parts in split.texts for text in parts})
    vectors = np.asarray(embed(texts))
    row_of = {text: row for row, text in enumerate(texts)}
    rows = [np.array([[row_of[text] for text in parts] for parts in split.texts]) for split in task]
    features = [_features(vectors, row) for row in rows]
    values, items = ({}, None) if is_collapsed(vectors) else _values(task, features, preset, seed)
    metrics = ("accuracy", "f1") if _is_paired(task) else ("accuracy",)
    tested = task[-1]
    return [
        EvaluationRow(
            subject=subject,
            task=tested.name,
            split=tested.split,
            aggregation=metric,
            value=100 * values[metric] if metric in values else 0.0,
            num_examples=len(tested),
            degenerate=metric not in values,
            fingerprint=fingerprint_of([split.fingerprint for split in task]),
            preset=preset.name,
            seed=seed,
            items=items if metric == "accuracy" else None,
        )
        for metric in metrics
    ]


def averages(accuracies: Mapping[str, float]) -> dict[str, float]:
    """Return those of AVERAGES whose tasks are all there, from one preset's scores."""
    return {
        name: sum(accuracies[task] for task in tasks) / len(tasks)
        for name, tasks in AVERAGES.items()
        if accuracies.keys() >= set(tasks)
    }


def pair_features(u: Float[np.ndarray, "n d"], v: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n two_d"]:
    """Return [|u - v|, u * v] of paired rows."""
    return np.concatenate([np.abs(u - v), u * v], axis=1)


def _values(
    task: Task, features: list[np.ndarray], preset: ProbePreset, seed: int
) -> tuple[dict[str, float], ItemScores | None]:
    examples = [(part, split.labels) for part, split in zip(features, task, strict=True)]
    if len(examples) == 1:
        predicted, fold_of = nested_predictions(*examples[0], preset, seed)
        correct = predicted == examples[0][1]
        by_fold = [float(np.mean(correct[fold_of == fold])) for fold in range(preset.num_folds)]
        return {"accuracy": float(np.mean(by_fold))}, ItemScores.of(100.0 * correct, parts=fold_of)
    train, *dev, (tested, gold) = examples
    best = choose_by_dev(train, dev[0], preset) if dev else choose_by_folds(*train, preset, seed)
    predicted = fit_probe(*train, best).predict(tested)
    values = {"accuracy": float(accuracy_score(gold, predicted))}
    if _is_paired(task):
        values["f1"] = float(f1_score(gold, predicted, zero_division=0.0))
    return values, ItemScores.of(100.0 * (predicted == gold))


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
