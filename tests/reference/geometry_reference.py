"""Norms, balls and lengths over a flat list of Python floats (norm P, projection, strength).

A norm is named "l1", "l2" or "linf". Nothing here knows about sentences, tokens or padding.
"""

import math

INVERSE_EXPONENT = {"l1": 1.0, "l2": 0.5, "linf": 0.0}  # 1/P, with 1/inf = 0


def norm(vector: list[float], p: str) -> float:
    """||v||_P."""
    if p == "l1":
        return math.fsum(abs(value) for value in vector)
    if p == "l2":
        return math.sqrt(math.fsum(value * value for value in vector))
    if p == "linf":
        return max((abs(value) for value in vector), default=0.0)
    raise ValueError(p)


def unit(vector: list[float], p: str) -> list[float]:
    """g/||g||_P of eqs 3 and 5; 0 where the norm is 0 (no epsilon in the denominator)."""
    size = norm(vector, p)
    if size == 0.0:
        return [0.0 for _ in vector]
    return [value / size for value in vector]


def sign(value: float) -> float:
    """sign of eq 6, with sign(0) = 0."""
    if value > 0:
        return 1.0
    return -1.0 if value < 0 else 0.0


def length(given: float, *, given_norm: str, used_norm: str, count: int, strength: str = "matched") -> float:
    """`matched`: r given for Q becomes r * n^(1/P - 1/Q) for P; `literal`: it stays r.

    n = `count`, the perturbable coordinates in the norm's scope.
    """
    if strength == "literal":
        return given
    if strength == "matched":
        return given * float(count) ** (INVERSE_EXPONENT[used_norm] - INVERSE_EXPONENT[given_norm])
    raise ValueError(strength)


def project(vector: list[float], radius: float, p: str, *, l1_projection: str = "euclidean") -> list[float]:
    """The point of {||v||_P <= r} nearest to `vector` (eqs 4-6); `rescale` shrinks radially, for l1 only."""
    if p == "linf":
        return [min(max(value, -radius), radius) for value in vector]
    if p == "l2":
        return rescale(vector, radius, "l2")
    if p == "l1" and l1_projection == "rescale":
        return rescale(vector, radius, "l1")
    if p == "l1" and l1_projection == "euclidean":
        return project_l1(vector, radius)
    raise ValueError((p, l1_projection))


def rescale(vector: list[float], radius: float, p: str) -> list[float]:
    """v * min(1, r/||v||_P)."""
    size = norm(vector, p)
    if size <= radius:
        return list(vector)
    return [value * (radius / size) for value in vector]


def shrink(vector: list[float], threshold: float) -> list[float]:
    """sign(v) * max(|v| - threshold, 0): the form of every l1 projection (its optimality condition)."""
    return [sign(value) * max(abs(value) - threshold, 0.0) for value in vector]


def project_l1(vector: list[float], radius: float) -> list[float]:
    """Bisection for the threshold at which sum_i max(|v_i| - threshold, 0) = r; the sum falls as it rises."""
    if norm(vector, "l1") <= radius:
        return list(vector)
    too_small, large_enough = 0.0, norm(vector, "linf")
    for _ in range(200):  # far more halvings than float64 can tell apart
        middle = (too_small + large_enough) / 2
        if norm(shrink(vector, middle), "l1") > radius:
            too_small = middle
        else:
            large_enough = middle
    return shrink(vector, large_enough)
