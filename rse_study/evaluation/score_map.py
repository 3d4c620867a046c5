"""From a cosine to the gold scale of an STS task.

A threshold on scores needs one, and RobustSentEmbed (section 4.2) gives none.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.isotonic import IsotonicRegression

from rse_study.tensors import Float

MapKind = Literal["affine", "isotonic"]


@dataclass(frozen=True)
class ScoreMap:
    """A map that is piecewise linear, and constant outside its points.

    An affine map has two of them.
    """

    kind: MapKind
    cosines: Float[np.ndarray, " k"]
    """Of its points, rising."""
    scores: Float[np.ndarray, " k"]
    """Of its points, on the gold scale."""

    @classmethod
    def fitted(
        cls, cosines: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"], kind: MapKind = "affine"
    ) -> "ScoreMap":
        """Least squares on pairs no attack is judged on.

        Scores stay within the range of `gold`. Both kinds never fall: an affine map that would is flat at the mean of
        `gold`.

        Parameters
        ----------
        cosines
            Of the pairs.
        gold
            Their gold similarities.
        kind
            `affine`, or `isotonic`.
        """
        low, high = float(gold.min()), float(gold.max())
        if kind == "isotonic":
            steps = IsotonicRegression().fit(cosines, gold)
            return cls(kind, np.asarray(steps.X_thresholds_), np.asarray(steps.y_thresholds_))
        spread = float(np.var(cosines)) if np.ptp(cosines) else 0.0  # rounding gives equal cosines a variance
        slope = float(np.mean((cosines - cosines.mean()) * (gold - gold.mean()))) / spread if spread else 0.0
        if slope <= 0:
            return cls(kind, np.array([-1.0, 1.0]), np.full(2, float(gold.mean())))
        at = np.array([low, high])
        return cls(kind, (at - gold.mean()) / slope + cosines.mean(), at)

    def __call__(self, cosines: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """Scores of cosines."""
        return np.interp(cosines, self.cosines, self.scores)
