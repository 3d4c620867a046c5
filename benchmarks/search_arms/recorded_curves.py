"""A surface with learning curves, fitted to real trials of the tiny encoder.

python -m benchmarks.search_arms.recorded_curves STORE/joint-mini

fits it anew: one Gaussian process over the positions on the axes and the step, to all values (STS-B dev) that the
joint search measured at steps 15, 30, 45 and 60. Two of three trials went to the end; of the others the beginning is
known. The noise is that of the confirmed trials' seeds. Its file holds the correlation of measured values with
predictions that leave out the whole trial.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.search_arms.recorded import FloatArray, feature_row, matern
from benchmarks.search_arms.surface import AxisDomains, joint_domains
from rse_study.results.atomic import write_whole
from rse_study.results.reader import Reader
from rse_study.results.row_names import Proposal

FILE = Path(__file__).with_name("joint_mini.json")
NUM_STEPS = 60
METRIC = "dev"


@dataclass(frozen=True)
class RecordedCurves:
    """A Gaussian process (Matern, nu = 5/2) of axes and step, with noise of seeds."""

    domains: AxisDomains
    features: FloatArray
    """of the measurements, the share of the steps last [n d]"""
    weights: FloatArray
    """of their kernels [n]"""
    lengths: FloatArray
    """length scales of the kernel, by feature [d]"""
    mean: float
    sd: float
    """standard deviation of the noise"""
    name: str = "recorded_curves"
    num_steps: int = NUM_STEPS
    rungs: tuple[int, int] | None = (15, 2)

    def truth(self, point: Proposal) -> float:
        return self.value(point, self.num_steps)

    def value(self, point: Proposal, t: int) -> float:
        at = feature_row_at(self.domains, point, t)
        return self.mean + float(matern(at[None], self.features, self.lengths)[0] @ self.weights)


def recorded_curves(domains: AxisDomains) -> RecordedCurves:
    """Return the surface in the file."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    features = np.array([feature_row_at(domains, one["point"], one["t"]) for one in content["measured"]])
    weights, lengths = np.array(content["weights"]), np.array(content["lengths"])
    return RecordedCurves(domains, features, weights, lengths, content["mean"], content["noise_sd"])


def feature_row_at(domains: AxisDomains, point: Proposal, t: int) -> FloatArray:
    """Return a point's positions on the axes, and the share of the steps."""
    return np.array([*feature_row(domains, point), t / NUM_STEPS])


def fit(study_dir: Path) -> dict[str, Any]:
    """Fit the contents of the file to a study's ledger."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    domains = joint_domains()
    measured, noise_sd = read_curves(study_dir)
    values = np.array([one["value"] for one in measured])
    features = np.array([feature_row_at(domains, one["point"], one["t"]) for one in measured])
    mean = float(values.mean())
    kernel = Matern(np.ones(features.shape[1]), (0.2, 20.0), nu=2.5)
    whole = ConstantKernel(1.0, (1e-3, 1e3)) * kernel + WhiteKernel(0.1, (1e-4, 1e1))
    process = GaussianProcessRegressor(whole, n_restarts_optimizer=5, random_state=0)
    process.fit(features, values - mean)
    product, white = process.kernel_.k1, process.kernel_.k2
    inverse = np.linalg.inv(process.kernel_(features))
    weights = inverse @ (values - mean)
    left_out = without_own_trial(inverse, weights, values, [one["trial"] for one in measured])
    ends = np.array([one["t"] == NUM_STEPS for one in measured])
    return {
        "source": f"{study_dir.name}, steps 15 to 60",
        "measured": [{key: one[key] for key in ("point", "t", "value")} for one in measured],
        "mean": mean,
        "weights": (product.k1.constant_value * weights).tolist(),
        "lengths": product.k2.length_scale.tolist(),
        "white_noise_sd": float(np.sqrt(white.noise_level)),
        "noise_sd": noise_sd,
        "left_out_correlation": float(np.corrcoef(values, left_out)[0, 1]),
        "left_out_correlation_at_the_end": float(np.corrcoef(values[ends], left_out[ends])[0, 1]),
    }


def without_own_trial(
    inverse: FloatArray, weights: FloatArray, values: FloatArray, trials: list[int]
) -> FloatArray:
    """Return the prediction of each point without all points of its trial.

    For a block b of points: values_b - (inverse_bb)^-1 weights_b (Rasmussen and Williams, 5.12, for a block), with the
    inverse of the covariance [n n], and weights = inverse times centred values [n].
    """
    left_out = np.empty_like(values)
    for trial in set(trials):
        block = np.flatnonzero([one == trial for one in trials])
        left_out[block] = values[block] - np.linalg.solve(inverse[np.ix_(block, block)], weights[block])
    return left_out


def read_curves(study_dir: Path) -> tuple[list[dict[str, Any]], float]:
    """Return the measurements of the search's trials, and the noise of seeds.

    A measurement has trial, point, t, value. The noise is the pooled standard deviation at the end over the seeds of a
    confirmed trial.
    """
    with Reader(study_dir) as reader:
        cells, metrics = reader.cells(), reader.metrics(name=METRIC)
        ends = reader.trials_table()
    searched = cells[cells["stage"] == "search"].set_index("identity")["proposal"]
    rows = metrics[metrics["cell"].isin(searched.index) & (metrics["t"] > 0)].sort_values(["trial", "t"])
    measured = [
        {"trial": int(row.trial), "point": searched[row.cell], "t": int(row.t), "value": float(row.value)}
        for row in rows.itertuples()
    ]
    seeds = ends[(ends["stage"] == "confirm") & (ends["status"] == "complete")].groupby("trial")["objective"]
    return measured, float(np.sqrt(seeds.var(ddof=1).mean()))


if __name__ == "__main__":
    write_whole(FILE, json.dumps(fit(Path(sys.argv[1])), indent=1) + "\n")
