"""A surface fitted to 40 real trials: the joint search on MiniLM.

python -m benchmarks.search_arms.recorded docs/results/minilm/joint-minilm.tar.xz

fits it anew: a Gaussian process over the positions on the axes, with norms as three indicators, to the objective at
the last step. The real trials were measured only at step 0 and at their end, so the surface has no learning curve. Its
file holds the leave-one-out correlation as a measure of trust.
"""

import json
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.search_arms.surface import AxisDomains, joint_domains, unit_point
from rse_study.results.atomic import write_whole
from rse_study.results.row_names import Proposal

FILE = Path(__file__).with_name("joint_minilm.json")
NUM_STEPS = 30
METRIC = "dev"
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RecordedSurface:
    """The mean of a Gaussian process (Matern, nu = 5/2), and the noise of seeds."""

    domains: AxisDomains
    features: FloatArray
    """of the real trials [n d]"""
    weights: FloatArray
    """of their kernels [n]"""
    lengths: FloatArray
    """length scales of the kernel, by feature [d]"""
    mean: float
    sd: float
    """standard deviation of the noise"""
    name: str = "recorded"
    num_steps: int = NUM_STEPS
    rungs: tuple[int, int] | None = None

    def truth(self, point: Proposal) -> float:
        at = feature_row(self.domains, point)
        return self.mean + float(matern(at[None], self.features, self.lengths)[0] @ self.weights)

    def value(self, point: Proposal, t: int) -> float:
        assert t == self.num_steps, "nothing is known before the end"
        return self.truth(point)


def recorded_surface(domains: AxisDomains) -> RecordedSurface:
    """Return the surface in the file."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    features = np.array([feature_row(domains, point) for point in content["points"]])
    weights, lengths = np.array(content["weights"]), np.array(content["lengths"])
    return RecordedSurface(domains, features, weights, lengths, content["mean"], content["noise_sd"])


def feature_row(domains: AxisDomains, point: Proposal) -> FloatArray:
    """Return a point's positions on the axes, with the norm as three indicators."""
    places = unit_point(domains, point)
    own = [place for name, place in places.items() if name != "norm"]
    return np.array([*own, *(float(point["norm"] == norm) for norm in ("l1", "l2", "linf"))])


def matern(first: FloatArray, second: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the Matern kernel (nu = 5/2) [n m] of rows of features [n d] and [m d]."""
    apart = np.sqrt(5) * np.linalg.norm((first[:, None] - second) / lengths, axis=-1)
    kernel: FloatArray = (1 + apart + apart**2 / 3) * np.exp(-apart)
    return kernel


def fit(archive: Path) -> dict[str, Any]:
    """Fit the contents of the file to the archive of a study's cells."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    domains, cells = joint_domains(), read_cells(archive)
    searched = sorted((c for c in cells if c["stage"] == "search"), key=lambda c: c["trial"])
    points, values = [c["proposal"] for c in searched], np.array([c["value"] for c in searched])
    features = np.array([feature_row(domains, point) for point in points])
    mean, kernel = float(values.mean()), Matern(np.ones(features.shape[1]), (0.2, 20.0), nu=2.5)
    whole = ConstantKernel(1.0, (1e-3, 1e3)) * kernel + WhiteKernel(0.1, (1e-4, 1e1))
    process = GaussianProcessRegressor(whole, n_restarts_optimizer=5, random_state=0).fit(
        features, values - mean
    )
    product, white = process.kernel_.k1, process.kernel_.k2
    covariance = process.kernel_(features)
    weights = np.linalg.solve(covariance, values - mean)
    # A Gaussian process's prediction without point i follows from the inverse (Rasmussen and Williams, 5.12).
    left_out = values - weights / np.diag(np.linalg.inv(covariance))
    return {
        "source": archive.name,
        "points": points,
        "values": values.tolist(),
        "mean": mean,
        "weights": (product.k1.constant_value * weights).tolist(),
        "lengths": product.k2.length_scale.tolist(),
        "white_noise_sd": float(np.sqrt(white.noise_level)),
        "noise_sd": sd_of_seeds(cells),
        "leave_one_out_correlation": float(np.corrcoef(values, left_out)[0, 1]),
    }


def read_cells(archive: Path) -> list[dict[str, Any]]:
    """Return stage, trial, proposal and last objective of every cell with a result."""
    found = []
    with tarfile.open(archive) as files:
        texts = {
            name: files.extractfile(name)
            for name in files.getnames()
            if "/cells/" in name and name.endswith(".json")
        }
        read = {name: json.load(stream) for name, stream in texts.items() if stream is not None}
    for name, content in read.items():
        if name.endswith("/cell.json"):
            cell, result = content["cell"], read[name.replace("cell.json", "result.json")]["result"]
            wanted = {key: cell[key] for key in ("stage", "trial", "proposal")}
            found.append(wanted | {"value": result["final"][METRIC]})
    return found


def sd_of_seeds(cells: list[dict[str, Any]]) -> float:
    """Return the pooled standard deviation over seeds within the confirmed trials."""
    values: dict[int, list[float]] = {}
    for cell in cells:
        if cell["stage"] == "confirm":
            values.setdefault(cell["trial"], []).append(cell["value"])
    return float(np.sqrt(np.mean([np.var(seeds, ddof=1) for seeds in values.values()])))


if __name__ == "__main__":
    write_whole(FILE, json.dumps(fit(Path(sys.argv[1])), indent=1) + "\n")
