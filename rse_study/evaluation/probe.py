"""The probe of transfer tasks: logistic regression on frozen features.

Its penalty is chosen by cross-validation. It is SentEval's, but for the unit of C: features are centred and divided by
one number, the root mean square over all of them, both measured where the classifier is fitted. Centring moves nothing
but the free intercept, and one number for all features is the same as another C. So the classifiers are those SentEval
could find, and C no longer depends on how long an encoder's vectors happen to be. Dividing each feature by its own
spread would change the classifier. All in float64: about twice the time of float32 (measured on MR, 384 features), and
the optimum does not hang on rounding.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveFloat
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from rse_study.registry import Registry
from rse_study.spec import Spec
from rse_study.tensors import Float, Int

_MAX_ITERATIONS = 1000


class ProbePreset(Spec):
    """How thorough a probe is.

    Scores of one preset are not those of another: every row carries its name.
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
    """A classifier, with shift and scale of the features it was fitted on."""

    model: LogisticRegression
    shift: Float[np.ndarray, " d"]
    scale: float

    def predict(self, features: Float[np.ndarray, "n d"]) -> Int[np.ndarray, " n"]:
        """The label of each row."""
        return self.model.predict((features - self.shift) / self.scale)

    def probabilities(self, features: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        """Of each class that was fitted, in the order of the labels."""
        return self.model.predict_proba((features - self.shift) / self.scale)

    def accuracy(self, features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"]) -> float:
        """Share of rows whose label is predicted, 0..1."""
        return float(np.mean(self.predict(features) == labels))


def fit_probe(features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], C: float) -> Fit:
    """Logistic regression, multinomial for more than two classes.

    Its penalty is L2, with none on the intercept; the optimiser is L-BFGS.

    Parameters
    ----------
    features
        A row an example.
    labels
        Their classes.
    C
        Weight of the losses against the penalty.
    """
    shift = features.mean(axis=0)
    scaled = features - shift
    scale = float(np.sqrt(np.mean(scaled**2))) or 1.0  # features that are all one are left at zero
    scaled /= scale
    with warnings.catch_warnings():
        # What is hard to fit ends here, as SentEval's classifier ends after its epochs.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=C, max_iter=_MAX_ITERATIONS).fit(scaled, labels)
    return Fit(model, shift, scale)


def choose_by_folds(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], preset: ProbePreset, seed: int
) -> float:
    """The C of the best mean accuracy over folds; of equals the smallest.

    Parameters
    ----------
    features
        A row an example.
    labels
        Their classes.
    preset
        Number of folds, and the grid of C.
    seed
        Of the folds.
    """
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
    """The C whose fit on `train` is best on `dev`; of equals the smallest.

    Parameters
    ----------
    train, dev
        Features and labels.
    preset
        The grid of C.
    """
    return max(sorted(preset.regularisations), key=lambda C: fit_probe(*train, C).accuracy(*dev))


def nested_accuracies(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], preset: ProbePreset, seed: int
) -> list[float]:
    """Accuracy of every outer fold, 0..1.

    Its examples have no part in the choice of its C.

    Parameters
    ----------
    features
        A row an example.
    labels
        Their classes.
    preset
        Number of folds, outer and inner ones, and the grid of C.
    seed
        Of the folds.
    """
    found = []
    for train, test in folds(labels, preset.num_folds, seed):
        best = choose_by_folds(features[train], labels[train], preset, seed)
        found.append(fit_probe(features[train], labels[train], best).accuracy(features[test], labels[test]))
    return found


def folds(
    labels: Int[np.ndarray, " n"], num_folds: int, seed: int
) -> Iterator[tuple[Int[np.ndarray, " a"], Int[np.ndarray, " b"]]]:
    """(training places, test places) of stratified, shuffled folds.

    Parameters
    ----------
    labels
        Classes, each in about the same share in every fold.
    num_folds
        How many.
    seed
        Of the shuffling.
    """
    return StratifiedKFold(num_folds, shuffle=True, random_state=seed).split(labels, labels)


def fewest_for(num_folds: int, is_nested: bool) -> int:
    """Examples a class needs, so that each fold of its training part has one of it."""
    return -(-(num_folds**2) // (num_folds - 1)) if is_nested else num_folds
