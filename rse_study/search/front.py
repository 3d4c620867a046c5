"""Pareto fronts of arrays [num_points, num_objectives] in which more is better."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rse_study.results.records import Direction

FrontPoints = NDArray[np.float64]


def oriented(values: ArrayLike, directions: Sequence[Direction]) -> FrontPoints:
    """Return the values as points in which more is better."""
    signs = np.array([-1.0 if direction == "minimize" else 1.0 for direction in directions])
    return np.asarray(values, dtype=np.float64).reshape(-1, len(signs)) * signs


def front(points: FrontPoints) -> NDArray[np.bool_]:
    """Return which points none dominates (Pareto).

    Equal points do not beat each other; one with a value that is not finite is on no front, and beats nobody.
    """
    finite = np.isfinite(points).all(axis=1)
    known = points[finite]
    kept = np.zeros(len(points), dtype=bool)
    kept[finite] = [not np.any((known >= point).all(axis=1) & (known > point).any(axis=1)) for point in known]
    return kept


def hypervolume(points: FrontPoints, reference: ArrayLike) -> float:
    """Return the volume dominated above a reference (Zitzler and Thiele 1998).

    >>> hypervolume(np.array([[2.0, 1.0], [1.0, 2.0]]), [0.0, 0.0])
    3.0
    """
    corner = np.asarray(reference, dtype=np.float64)
    above = points[(points > corner).all(axis=1)]
    return _volume(above[front(above)], corner)


def _volume(points: FrontPoints, corner: FrontPoints) -> float:
    if len(points) == 0:
        return 0.0
    if points.shape[1] == 1:
        return float(points.max() - corner[0])
    highest_first = points[np.argsort(-points[:, -1], kind="stable")]
    lower_ends = np.append(highest_first[1:, -1], corner[-1])
    depths = highest_first[:, -1] - lower_ends
    return sum(
        float(depth) * _volume(highest_first[: number + 1, :-1], corner[:-1])
        for number, depth in enumerate(depths)
        if depth > 0
    )


def nadir(points: FrontPoints) -> FrontPoints:
    """Return the worst finite value of each objective: a point that all reach."""
    return points[np.isfinite(points).all(axis=1)].min(axis=0)


def scaled(points: FrontPoints) -> FrontPoints:
    """Return the points with each objective from 0 (worst) to 1; 0 if it is constant."""
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    return (points - low) / np.where(span > 0, span, 1.0)


def knee(points: FrontPoints) -> int:
    """Return the index of the point where a front bends most (Das 1999).

    It is farthest beyond the plane through the front's ends, each objective scaled to 0..1; the first on a
    tie, an end if the front bends to the other side.
    """
    return int(np.argmax(scaled(points).sum(axis=1)))


def representatives(points: FrontPoints, number: int) -> list[int]:
    """Return the indices of points that stand for a front: knee, then hypervolume.

    The reference is a tenth below the worst values: without that margin the front's ends would add nothing.
    """
    if len(points) == 0 or number == 0:
        return []
    unit, corner = scaled(points), np.full(points.shape[1], -0.1)
    chosen = [knee(points)]
    while len(chosen) < min(number, len(points)):
        left = [index for index in range(len(points)) if index not in chosen]
        chosen.append(max(left, key=lambda index: hypervolume(unit[[*chosen, index]], corner)))
    return chosen
