"""What docs/results/verdicts.md says of factorial designs: `python -m tests.results.factors_simulated`."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from rse_study.results.comparing.comparisons import differences
from rse_study.results.comparing.factors import Effect, effects_among
from rse_study.results.statistics import holm, sign_flip_p, simultaneous_intervals
from rse_study.study.definition.rows import corners

NAMES = "ABCDEFGH"
NUM_STUDIES = 20_000


def rows_of(k: int, resolution: int | str) -> dict[str, tuple[int, ...]]:
    return {"".join(map(str, levels)): levels for levels in corners(k, resolution)}


def coded(rows: Mapping[str, Sequence[int]], terms: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Products of the factors' signs, [rows, terms]."""
    signs = 2 * np.array(list(rows.values())) - 1
    return np.array([[row[list(term)].prod() for term in terms] for row in signs])


def terms_up_to(k: int, size: int) -> list[tuple[int, ...]]:
    return [term for number in range(size + 1) for term in combinations(range(k), number)]


def matrix(effects: Sequence[Effect]) -> np.ndarray:
    """Weights [effects, rows]."""
    return np.array([list(effect.weights.values()) for effect in effects])


def against_regression(k: int, num_seeds: int = 8) -> float:
    """Largest difference between a full design's effects and twice the saturated regression's coefficients."""
    rows, terms, draws = rows_of(k, "full"), terms_up_to(k, k), np.random.default_rng(k)
    design = coded(rows, terms)
    scores = design @ draws.normal(size=(len(terms), 1)) + draws.normal(size=(len(rows), num_seeds))
    coefficients = dict(zip(terms, np.linalg.lstsq(design, scores, rcond=None)[0], strict=True))
    table = pd.DataFrame(scores, index=list(rows))
    return max(
        float(np.abs(differences(table, one.weights) - 2 * coefficients[numbers(one.terms[0])]).max())
        for one in effects_among(rows, NAMES[:k])
    )


def against_aliases(k: int, resolution: int) -> tuple[int, int, float]:
    """Rows, contrasts, and the largest difference between one and the sum of true effects it is said to estimate."""
    rows, terms = rows_of(k, resolution), terms_up_to(k, 2)
    truth = dict(zip(terms, np.random.default_rng(k).normal(size=len(terms)), strict=True))
    table = pd.DataFrame(coded(rows, terms) @ np.array(list(truth.values())) / 2, index=list(rows))
    effects = effects_among(rows, NAMES[:k])
    sums = [sum(truth[numbers(term)] for term in one.terms) for one in effects]
    found = [differences(table, one.weights)[0] for one in effects]
    return len(rows), len(effects), float(np.abs(np.array(found) - sums).max())


def numbers(term: Sequence[str]) -> tuple[int, ...]:
    return tuple(NAMES.index(name) for name in term)


def variance_per_cell(k: int, resolution: int | str) -> tuple[int, float, float]:
    """Rows of a design, and variance of a main effect times cells: one part at a time, and by the design."""
    draws = np.random.default_rng(k)
    singly = draws.normal(size=(NUM_STUDIES, k + 1))
    rows = rows_of(k, resolution)
    scores = draws.normal(size=(NUM_STUDIES, len(rows)))
    by_design = scores @ matrix(effects_among(rows, NAMES[:k]))[0]
    return len(rows), (singly[:, 1] - singly[:, 0]).var() * (k + 1), by_design.var() * len(rows)


def false_effects(num_seeds: int, k: int = 6, resolution: int = 4) -> tuple[float, float]:
    """Share of studies without any effect that are told one: by intervals at once, and by Holm."""
    draws, weights = (
        np.random.default_rng(num_seeds),
        matrix(effects_among(rows_of(k, resolution), NAMES[:k])),
    )
    num_studies = NUM_STUDIES // 10
    by_interval = by_holm = 0
    for _ in range(num_studies):
        samples = weights @ (draws.normal(size=(weights.shape[1], num_seeds)) + draws.normal(size=num_seeds))
        by_interval += any(one.excludes(0.0) for one in simultaneous_intervals(list(samples)))
        by_holm += holm([sign_flip_p(one) for one in samples]).min() <= 0.05
    return by_interval / num_studies, by_holm / num_studies


def biases(num_seeds: int = 8, k: int = 4) -> tuple[float, float]:
    """Bias of a true effect of 2 where a cell failed: its seed left out, and averaged over what is there.

    The seeds differ by an SD of 3, and the cell that failed is of the best one.
    """
    rows, draws = rows_of(k, "full"), np.random.default_rng(0)
    (effect, *_) = effects_among(rows, NAMES[:k])
    signs = coded(rows, [(0,)])
    dropped, naive = [], []
    for _ in range(NUM_STUDIES // 10):
        scores = (
            signs + np.sort(draws.normal(scale=3, size=num_seeds)) + draws.normal(size=(len(rows), num_seeds))
        )
        scores[0, -1] = np.nan
        table = pd.DataFrame(scores, index=list(rows))
        dropped.append(differences(table, effect.weights).mean())
        naive.append(table.mean(axis=1) @ pd.Series(effect.weights))
    return float(np.mean(dropped)) - 2, float(np.mean(naive)) - 2


def main() -> None:
    for k in range(2, 7):
        print(f"2^{k} against regression: {against_regression(k):.1e}")
    for k, resolution in ((3, 3), (4, 4), (5, 3), (5, 5), (6, 4), (6, 5), (7, 4), (8, 4), (8, 5)):
        print(
            f"k = {k}, resolution {resolution}: rows, contrasts, largest difference",
            *against_aliases(k, resolution),
        )
    for k, resolution in ((2, "full"), (3, "full"), (5, "full"), (5, 5), (6, 4), (8, 4)):
        num_rows, singly, by_design = variance_per_cell(k, resolution)
        ratio = f"{singly / by_design:.2f} (expected {(k + 1) / 2:g})"
        print(
            f"k = {k}, {num_rows} rows: variance x cells {singly:.2f} singly, {by_design:.2f} by design, ratio {ratio}"
        )
    for num_seeds in (3, 5, 8):
        print(f"{num_seeds} seeds, no effect is there: told by intervals, by Holm", *false_effects(num_seeds))
    print("bias with a failed cell: seed left out, averaged", *(f"{one:+.3f}" for one in biases()))


if __name__ == "__main__":
    main()
