"""Surfaces of real trials: the joint searches on MiniLM and on the tiny encoder.

python -m benchmarks.search_arms.recorded ARCHIVE ...

collects them anew from docs/results/minilm/joint-minilm.tar.xz and docs/results/joint_mini/joint-mini.tar.xz. Between
real trials a surface is the mean of the nearest ones, weighted by the inverse square of their distance: no sampler is
made of that. MiniLM's trials were measured at their end alone, the tiny encoder's at steps 15, 30, 45 and 60 as far as
each went.
"""

import json
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.search_arms.surface import AxisDomains, unit_point
from rse_study.results.files.atomic import write_whole
from rse_study.results.row_names import Proposal

FILE = Path(__file__).with_name("recorded.json")
METRIC = "dev"
NUM_NEAREST = 3
CLOSE = 1e-6  # squared distance that no two trials have
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RecordedSurface:
    """Values of real trials, and the noise of their seeds."""

    domains: AxisDomains
    measured: dict[int, tuple[FloatArray, FloatArray]]
    """features [n d] and values [n] of the trials that were measured there, by step"""
    sd: float
    name: str
    rungs: tuple[int, int] | None

    @property
    def num_steps(self) -> int:
        return max(self.measured)

    def truth(self, point: Proposal) -> float:
        return self.value(point, self.num_steps)

    def value(self, point: Proposal, t: int) -> float:
        features, values = self.measured[t]
        return nearest_mean(feature_row(self.domains, point), features, values)


def nearest_mean(at: FloatArray, features: FloatArray, values: FloatArray) -> float:
    """Return the mean of the nearest points' values, by their inverse square distance.

    `at` [d], features [n d], values [n].
    """
    squares = ((features - at) ** 2).sum(axis=1)
    nearest = np.argsort(squares, kind="stable")[:NUM_NEAREST]
    weights = 1 / (squares[nearest] + CLOSE)
    return float(weights @ values[nearest] / weights.sum())


def feature_row(domains: AxisDomains, point: Proposal) -> FloatArray:
    """Return a point's positions on the axes, with the norm as three indicators."""
    places = unit_point(domains, point)
    own = [place for name, place in places.items() if name != "norm"]
    return np.array([*own, *(float(point["norm"] == norm) for norm in ("l1", "l2", "linf"))])


def recorded_surface(domains: AxisDomains) -> RecordedSurface:
    """Return the surface of MiniLM's trials, whose beginnings are not known."""
    return _surface(domains, "joint-minilm", "recorded", None)


def recorded_curves(domains: AxisDomains) -> RecordedSurface:
    """Return the surface of the tiny encoder's trials, with their learning curves."""
    return _surface(domains, "joint-mini", "recorded_curves", (15, 2))


def _surface(domains: AxisDomains, study: str, name: str, rungs: tuple[int, int] | None) -> RecordedSurface:
    content = json.loads(FILE.read_text(encoding="utf-8"))[study]
    measured = {}
    for t in sorted({one["t"] for one in content["measured"]}):
        there = [one for one in content["measured"] if one["t"] == t]
        features = np.array([feature_row(domains, one["point"]) for one in there])
        measured[t] = features, np.array([one["value"] for one in there])
    return RecordedSurface(domains, measured, content["noise_sd"], name, rungs)


def collect(archive: Path) -> dict[str, Any]:
    """Return what an archive's search has measured, and the noise of seeds."""
    measured, confirmed = [], dict[int, list[float]]()
    for cell, result in read_cells(archive):
        if cell["stage"] == "search":
            points = (point for point in result["history"] if point["t"] > 0 and METRIC in point["metrics"])
            measured += [
                {
                    "trial": cell["trial"],
                    "point": cell["proposal"],
                    "t": point["t"],
                    "value": point["metrics"][METRIC],
                }
                for point in points
            ]
        elif cell["stage"] == "confirm":
            confirmed.setdefault(cell["trial"], []).append(result["final"][METRIC])
    noise = np.sqrt(np.mean([np.var(seeds, ddof=1) for seeds in confirmed.values()]))
    return {
        "measured": sorted(measured, key=lambda one: (one["trial"], one["t"])),
        "noise_sd": round(float(noise), 6),
    }


def read_cells(archive: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every cell with a result, and the result."""
    with tarfile.open(archive) as files:
        named = {
            Path(member.name): files.extractfile(member) for member in files if member.name.endswith(".json")
        }
        read = {path: json.load(stream) for path, stream in named.items() if stream is not None}
    for path, content in read.items():
        result = read.get(path.with_name("result.json"))
        if path.name == "cell.json" and result is not None:
            yield content["cell"], result["result"]


if __name__ == "__main__":
    archives = {Path(name).name.partition(".")[0]: Path(name) for name in sys.argv[1:]}
    found = {name: collect(archive) for name, archive in archives.items()}
    write_whole(FILE, json.dumps(found, separators=(",", ":"), sort_keys=True) + "\n")
