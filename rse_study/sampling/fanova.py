"""fANOVA (Hutter et al. 2014): the variance of a forest that single axes explain.

A tree's leaves are boxes of the space. The mean of its predictions over all axes but one is a step function of that
one; the variance of that function, divided by the variance of all predictions, is the axis' fraction. Optuna's
evaluator measures logarithms linearly, choices as corners of a cube, and is slower (decision 0043).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from rse_study.study.definition.domains import Domain

MAX_DEPTH = 64  # Optuna's
Array = np.ndarray


def fanova_shares(
    domains: Mapping[str, Domain],
    points: Sequence[Mapping[str, Any]],
    values: Sequence[float],
    *,
    num_trees: int,
    seed: int,
) -> dict[str, float]:
    """Return each axis' share of the variance that single axes explain, in sum 1.

    Interactions are left out, as in Optuna. If no tree has a split, all shares are equal.
    """
    columns = np.hstack(
        [encoded(domain, [point[name] for point in points]) for name, domain in domains.items()]
    )
    forest = RandomForestRegressor(n_estimators=num_trees, max_depth=MAX_DEPTH, random_state=seed)
    forest.fit(columns, np.asarray(values))
    by_tree = [fractions_of(one.tree_, list(domains.values())) for one in forest.estimators_]
    found = [fractions for fractions in by_tree if fractions is not None]
    means = np.mean(found, axis=0) if found else np.zeros(len(domains))
    total = float(means.sum())
    shares = means / total if total > 0 else np.full(len(domains), 1 / len(domains))
    return dict(zip(domains, shares.tolist(), strict=True))


def encoded(domain: Domain, values: Sequence[Any]) -> Array:
    """Return an axis' columns: a number on its own scale, or 0 and 1 for each choice."""
    if domain.scale == "none":
        return np.array([[float(value == option) for option in domain.values()] for value in values])
    numbers = np.array(values, dtype=float)[:, None]
    return np.log(numbers) if domain.scale == "log" else numbers


def fractions_of(tree: Any, domains: Sequence[Domain]) -> Array | None:
    """Return the fraction of a tree's variance by axis; None without a split."""
    predictions, lows, highs = leaves_of(tree)
    members, weights, first = [], [], 0
    for domain in domains:
        width = len(domain.values()) if domain.scale == "none" else 1
        own = slice(first, first + width)
        inside, weight = atoms_of(domain, lows[:, own], highs[:, own])
        members.append(inside)
        weights.append(weight)
        first += width
    extents = [inside @ weight for inside, weight in zip(members, weights, strict=True)]
    volumes = np.prod(extents, axis=0)
    mean = volumes @ predictions
    variance = volumes @ (predictions - mean) ** 2
    if not variance > 0:
        return None
    marginals = [
        (predictions * volumes / extent) @ inside for inside, extent in zip(members, extents, strict=True)
    ]
    return np.array(
        [weight @ (marginal - mean) ** 2 for weight, marginal in zip(weights, marginals, strict=True)]
    ) / float(variance)


def leaves_of(tree: Any) -> tuple[Array, Array, Array]:
    """Return each leaf's prediction and its box: above `lows`, up to `highs`."""
    predictions, lows, highs = [], [], []
    edge = np.full(tree.n_features, math.inf)
    below, above = tree.children_left.tolist(), tree.children_right.tolist()
    features, thresholds = tree.feature.tolist(), tree.threshold.tolist()
    waiting = [(0, -edge, edge)]
    while waiting:
        node, low, high = waiting.pop()
        if features[node] < 0:
            predictions.append(tree.value[node, 0, 0])
            lows.append(low)
            highs.append(high)
            continue
        middle_low, middle_high = low.copy(), high.copy()
        middle_low[features[node]] = middle_high[features[node]] = thresholds[node]
        waiting += [(below[node], low, middle_high), (above[node], middle_low, high)]
    return np.array(predictions), np.array(lows), np.array(highs)


def atoms_of(domain: Domain, lows: Array, highs: Array) -> tuple[Array, Array]:
    """Cut an axis at the ends of leaves; return who holds each part, and its size."""
    if domain.scale == "none":
        options = np.eye(len(domain.values()))
        inside = np.all((lows[:, None] < options) & (options <= highs[:, None]), axis=2)
        return inside.astype(float), np.full(len(options), 1 / len(options))
    low, high = (math.log(end) if domain.scale == "log" else float(end) for end in domain.edges())
    edges = np.unique(np.clip(np.concatenate([[low, high], lows[:, 0], highs[:, 0]]), low, high))
    inside = (lows <= edges[:-1]) & (edges[1:] <= highs)
    return inside.astype(float), np.diff(edges) / (high - low)
