"""The probe of transfer tasks: logistic regression on frozen features.

C is chosen as in SentEval, but in another unit: features are centred and divided by one number, their root
mean square where the classifier is fitted. Centring moves only the free intercept, and one divisor for all
features is another C, so the classifiers are SentEval's, while C does not depend on the length of an
encoder's vectors. Dividing each feature by its own spread would change the classifier. Float64 takes about
twice the time of float32 (MR, 384 features), but the optimum does not depend on rounding.

scikit-learn is imported where it is called: it takes a second, at the start of every process that trains cells.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PositiveFloat

from rse_study.registry import Registry
from rse_study.spec import Spec
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
    """Fit an L2 logistic regression with L-BFGS; the intercept has no penalty."""
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
