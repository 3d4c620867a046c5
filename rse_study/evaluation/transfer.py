"""Transfer: linear classification of frozen embeddings, on SentEval's tasks.

The classifier is a logistic regression. scikit-learn is imported where it is called: it takes a second, at the
start of every process that trains cells. The protocol depends on the splits (Conneau and Kiela 2018):

    all                nested stratified k-fold: in every outer fold, k-fold inside its training part chooses C
    train, dev, test   dev chooses C; the classifier fitted on train is tested once
    train, test        k-fold on train chooses C; a classifier fitted on all of train is tested once

The features of a sentence are its embedding u; those of a pair are [|u - v|, u * v].
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PositiveFloat

from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import read_labelled, splits_of
from rse_study.errors import InputError
from rse_study.evaluation.evaluations import CachedEncoder, Embed, evaluation_rows, is_collapsed
from rse_study.registry import Registry
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import Spec, fingerprint_of
from rse_study.tensors import Float, Int

_MAX_ITERATIONS = 1000


class ProbePreset(Spec):
    """How thorough a probe is.

    Scores of different presets are not comparable: every row carries its name.
    """

    name: str
    num_folds: Annotated[int, Field(ge=2)]
    """Outer and inner ones."""
    regularisations: tuple[PositiveFloat, ...] = Field((1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0), min_length=1)
    """The grid of C, which weighs the sum of losses against |w|^2 / 2. MiniLM on CR is best at 1e-3."""


PRESETS = Registry(
    "transfer preset",
    {"fast": ProbePreset(name="fast", num_folds=5), "full": ProbePreset(name="full", num_folds=10)},
)


@dataclass(frozen=True)
class Fit:
    """A classifier with the shift and scale of the features it was fitted on."""

    model: Any
    """sklearn.linear_model.LogisticRegression"""
    shift: Float[np.ndarray, " d"]
    scale: float

    def predict(self, features: Float[np.ndarray, "n d"]) -> Int[np.ndarray, " n"]:
        return self.model.predict((features - self.shift) / self.scale)

    def probabilities(self, features: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        return self.model.predict_proba((features - self.shift) / self.scale)

    def accuracy(self, features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"]) -> float:
        return float(np.mean(self.predict(features) == labels))


def fit_probe(features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], C: float) -> Fit:
    """Fit an L2 logistic regression with L-BFGS; the intercept has no penalty.

    C is in another unit than SentEval's: features are centred and divided by one number, their root mean square.
    Centring moves only the free intercept, and one divisor for all features is another C, so the classifiers are
    SentEval's, while C does not depend on the length of an encoder's vectors. Dividing each feature by its own spread
    would change the classifier. Float64 takes about twice the time of float32 (MR, 384 features), but the optimum does
    not depend on rounding.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    shift = features.mean(axis=0)
    scaled = features - shift
    scale = float(np.sqrt(np.mean(scaled**2))) or 1.0  # constant features stay at zero
    scaled /= scale
    with warnings.catch_warnings():
        # A hard fit stops at the limit, as SentEval's classifier stops after its epochs.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=C, max_iter=_MAX_ITERATIONS).fit(scaled, labels)
    return Fit(model, shift, scale)


def choose_by_folds(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], preset: ProbePreset, seed: int
) -> float:
    """Return the C with the best mean accuracy over folds; of equals the smallest."""
    places = list(folds(labels, preset.num_folds, seed))

    def mean_accuracy(C: float) -> float:
        accuracies = [
            fit_probe(features[train], labels[train], C).accuracy(features[test], labels[test])
            for train, test in places
        ]
        return float(np.mean(accuracies))

    return max(sorted(preset.regularisations), key=mean_accuracy)


def choose_by_dev(
    train: tuple[Float[np.ndarray, "n d"], Int[np.ndarray, " n"]],
    dev: tuple[Float[np.ndarray, "m d"], Int[np.ndarray, " m"]],
    preset: ProbePreset,
) -> float:
    """Return the C whose fit on `train` is best on `dev`; of equals the smallest."""
    return max(sorted(preset.regularisations), key=lambda C: fit_probe(*train, C).accuracy(*dev))


def nested_predictions(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], preset: ProbePreset, seed: int
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Return each example's predicted class and its fold; others choose a fold's C."""
    predicted, fold_of = np.empty_like(labels), np.empty_like(labels)
    for number, (train, test) in enumerate(folds(labels, preset.num_folds, seed)):
        best = choose_by_folds(features[train], labels[train], preset, seed)
        predicted[test] = fit_probe(features[train], labels[train], best).predict(features[test])
        fold_of[test] = number
    return predicted, fold_of


def folds(
    labels: Int[np.ndarray, " n"], num_folds: int, seed: int
) -> Iterator[tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]]:
    """Yield (training, test) indices of stratified, shuffled folds."""
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(labels, labels)


def fewest_for(num_folds: int, is_nested: bool) -> int:
    """Return how many examples a class needs to be in each fold of each training part."""
    return -(-(num_folds**2) // (num_folds - 1)) if is_nested else num_folds


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
    check_classes(task, preset)
    cached = CachedEncoder(embed)
    vectors = cached(sorted({text for split in task for parts in split.texts for text in parts}))
    features = [_features(cached, split) for split in task]
    values, items = ({}, None) if is_collapsed(vectors) else _values(task, features, preset, seed)
    metrics = ("accuracy", "f1") if _is_paired(task) else ("accuracy",)
    figures = {metric: 100 * values.get(metric, 0.0) for metric in metrics}
    about = Transfer(task, preset.name), subject, task[-1].split, figures, len(task[-1])
    return evaluation_rows(*about, degenerate=not values, seed=seed, items={"accuracy": items})


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
    values = {"accuracy": float(np.mean(predicted == gold))}
    if _is_paired(task):
        from sklearn.metrics import f1_score

        values["f1"] = float(f1_score(gold, predicted, zero_division=0.0))
    return values, ItemScores.of(100.0 * (predicted == gold))


def _is_paired(task: Task) -> bool:
    return len(task[-1].texts[0]) == 2


def _features(embed: Embed, split: Labelled) -> Float[np.ndarray, "n f"]:
    sides = [embed(list(side)).astype(np.float64) for side in zip(*split.texts, strict=True)]
    return sides[0] if len(sides) == 1 else pair_features(*sides)


def check_classes(task: Task, preset: ProbePreset) -> None:
    """Raise InputError unless each class has examples for all folds."""
    fitted, splits = task[0], tuple(split.split for split in task)
    assert splits in {("all",), ("train", "dev", "test"), ("train", "test")}, splits
    fewest = 1 if len(task) == 3 else fewest_for(preset.num_folds, is_nested=len(task) == 1)
    counts = Counter(fitted.labels.tolist())
    for label, name in enumerate(fitted.classes):
        if counts[label] < fewest:
            what = f"{counts[label]} example(s) of class {name!r}"
            rule = f"at least {fewest} for {preset.num_folds} folds"
            remedy = "Fetch the set again, add examples, or use a preset of fewer folds"
            raise InputError(what, where=f"{fitted.name} {fitted.split}", rule=rule, remedy=remedy)
