"""Maps from cosines to gold scores; RobustSentEmbed (section 4.2) gives none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rse_study.tensors import Float

MapKind = Literal["affine", "isotonic"]


@dataclass(frozen=True)
class ScoreMap:
    """A piecewise linear map, constant outside its points; an affine map has two."""

    kind: MapKind
    cosines: Float[np.ndarray, " k"]
    scores: Float[np.ndarray, " k"]
    """The points' scores on the gold scale; `cosines` ascend."""

    @classmethod
    def fitted(
        cls, cosines: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"], kind: MapKind = "affine"
    ) -> "ScoreMap":
        """Fit by least squares; an affine map that would fall is constant at the mean."""
        low, high = float(gold.min()), float(gold.max())
        if kind == "isotonic":
            from sklearn.isotonic import IsotonicRegression  # a second at every start, for a map few ask for

            steps = IsotonicRegression().fit(cosines, gold)
            return cls(kind, np.asarray(steps.X_thresholds_), np.asarray(steps.y_thresholds_))
        spread = (
            float(np.var(cosines)) if np.ptp(cosines) else 0.0
        )  # rounding would give equal cosines a variance
        slope = float(np.mean((cosines - cosines.mean()) * (gold - gold.mean()))) / spread if spread else 0.0
        if slope <= 0:
            return cls(kind, np.array([-1.0, 1.0]), np.full(2, float(gold.mean())))
        at = np.array([low, high])
        return cls(kind, (at - gold.mean()) / slope + cosines.mean(), at)

    def __call__(self, cosines: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return np.interp(cosines, self.cosines, self.scores)
