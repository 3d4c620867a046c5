"""Coverage of intervals for new seeds and new items, where the truth is known.

`python -m benchmarks.crossed_coverage [--studies 500] [--seed 0]` prints a table in Markdown; with `--cost` instead
seconds of the crossed bootstrap for 20 rows x 8 seeds x 20,000 pairs, and bytes of a cell's scores of as many pairs.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from rse_study.results.comparing.crossed import crossed_interval, resampled_values
from rse_study.results.item_scores import ItemScores
from rse_study.results.statistics import t_interval

NUM_RESAMPLES = 200
QUADRATURE = norm.ppf((np.arange(20001) + 0.5) / 20001)


@dataclass(frozen=True)
class World:
    """Two rows, with effects of seeds, of items, of row and item, and of all three."""

    name: str
    of_seeds: float
    """how much a seed moves a row"""
    of_row_and_item: float
    """how much of an item's noise is the row's own, whatever the seed"""
    of_each: float
    """how much of it is drawn anew for each row, seed and item"""


WORLDS = (
    World("seeds decide", 0.06, 0.02, 0.02),
    World("both", 0.015, 0.1, 0.1),
    World("items decide", 0.002, 0.3, 0.1),
    World("interaction decides", 0.002, 0.02, 0.6),
)


def noise(rng: np.random.Generator, world: World, n: int, m: int) -> np.ndarray:
    """Unit noise of two rows, n seeds and m items, partly shared."""
    shared = 1 - world.of_row_and_item - world.of_each
    return (
        np.sqrt(shared) * rng.standard_normal(m)
        + np.sqrt(world.of_row_and_item) * rng.standard_normal((2, 1, m))
        + np.sqrt(world.of_each) * rng.standard_normal((2, n, m))
    )


def items(scores: np.ndarray, gold: np.ndarray | None = None) -> ItemScores:
    """Item scores of a cell that has not collapsed."""
    made = ItemScores.of(scores, gold)
    assert made is not None
    return made


def similarity(rng: np.random.Generator, world: World, n: int, m: int) -> tuple[list[ItemScores], float]:
    """Cosines that follow normal gold by 0.80 and 0.78, and the true difference x100."""
    means = np.array([0.80, 0.78])
    gold = rng.standard_normal(m)
    rho = np.clip(means[:, None] + world.of_seeds * rng.standard_normal((2, n)), -0.99, 0.99)[..., None]
    scores = rho * gold + np.sqrt(1 - rho**2) * noise(rng, world, n, m)
    many = np.clip(means[:, None] + world.of_seeds * QUADRATURE, -0.99, 0.99)
    truth = 100 * (6 / np.pi * np.arcsin(many / 2)).mean(axis=1)
    return [items(row, gold) for row in scores.reshape(-1, m)], float(truth[0] - truth[1])


def success(rng: np.random.Generator, world: World, n: int, m: int) -> tuple[list[ItemScores], float]:
    """Inputs of which about 79% and 73% fall, and the true difference x100."""
    strength = norm.ppf([0.79, 0.73])[:, None] + 4 * world.of_seeds * rng.standard_normal((2, n))
    fell = 100.0 * (strength[..., None] > noise(rng, world, n, m))
    truth = 100 * norm.cdf(norm.ppf([0.79, 0.73]) / np.sqrt(1 + (4 * world.of_seeds) ** 2))
    return [items(row) for row in fell.reshape(-1, m)], float(truth[0] - truth[1])


DrawStudy = Callable[[np.random.Generator, World, int, int], tuple[list[ItemScores], float]]


def coverage(draw: DrawStudy, world: World, n: int, m: int, num_studies: int, seed: int) -> tuple[float, ...]:
    """Shares of intervals that hold the truth (seeds, crossed), and mean half widths."""
    held, widths = np.zeros(2), np.zeros(2)
    for study in range(num_studies):
        rng = np.random.default_rng([seed, n, m, study])
        cells, truth = draw(rng, world, n, m)
        drawn = resampled_values(cells, NUM_RESAMPLES, seed=study)
        whole = values(cells)
        by_seed, resampled = whole[:n] - whole[n:], drawn[:, :n] - drawn[:, n:]
        intervals = (t_interval(by_seed), crossed_interval(by_seed, t_interval(by_seed), resampled, m))
        held += [not one.excludes(truth) for one in intervals]
        widths += [(one.high - one.low) / 2 for one in intervals]
    return (*(held / num_studies), *(widths / num_studies))


def values(cells: list[ItemScores]) -> np.ndarray:
    """The value of every cell on its items as they are."""
    if cells[0].gold is None:
        return np.array([cell.scores.mean(dtype=float) for cell in cells])
    ranks = np.array(
        [np.argsort(np.argsort(one)) for one in (*(cell.scores for cell in cells), cells[0].gold)]
    )
    return 100 * np.corrcoef(ranks)[-1, :-1]


def lines(num_studies: int, seed: int) -> Iterator[str]:
    """The table, line by line."""
    yield "| score | world | seeds | items | seeds alone: holds | half width | crossed: holds | half width |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    for name, draw, sizes in (
        ("Spearman", similarity, (100, 500)),
        ("success rate", success, (39, 100, 1000)),
    ):
        for world in WORLDS:
            for m in sizes:
                for n in (3, 8):
                    alone, crossed, narrow, wide = coverage(draw, world, n, m, num_studies, seed)
                    shares = f"{alone:.1%} | {narrow:.2f} | {crossed:.1%} | {wide:.2f}"
                    yield f"| {name} | {world.name} | {n} | {m} | {shares} |"


def cost(num_rows: int = 20, n: int = 8, m: int = 20_000) -> Iterator[str]:
    """Seconds of the crossed bootstrap, and bytes of a cell's items."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 26, m) / 5  # as in STS-B
    shared = gold / 5 + rng.normal(0, 0.3, m)
    cells = [items(np.tanh(shared + rng.normal(0, 0.1, m)), gold) for _ in range(num_rows * n)]
    wall, used = time.perf_counter(), time.process_time()
    resampled_values(cells)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    yield f"{num_rows} rows x {n} seeds x {m:,} pairs: {used:.1f} s of one CPU, {wall:.1f} s on the clock"
    yield f"items of a cell: {len(json.dumps(cells[0].to_json())):,} bytes, {m:,} pairs with their gold"


def main() -> None:
    """Print the table, or what it costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cost", action="store_true")
    asked = parser.parse_args()
    for line in cost() if asked.cost else lines(asked.studies, asked.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
