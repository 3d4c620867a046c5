"""False verdicts, power and seeds of both criteria, over simulated studies.

    python -m benchmarks.verdicts --studies 20000 --seed 0

A study is one row: normal differences from its baseline, in standard deviations, seed after seed. Whoever peeks reads
the verdict after 3, 4, ... 16 seeds and stops at the first that is decided. Differences of other shapes than the normal
have mean 0 and variance 1, too.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rse_study.results.comparing.anytime import PRIOR_VARIANCE
from rse_study.results.comparing.criterion import LEVEL, RowVerdict

FIRST, MOST = 3, 16  # seeds between which verdicts are read
DrawDifferences = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
SHAPES: dict[str, DrawDifferences] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-sqrt(3), sqrt(3), size=shape),
    "t, 5 degrees of freedom": lambda rng, shape: rng.standard_t(5, size=shape) / sqrt(5 / 3),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
}


LOW, LOW_SHARE, LOW_SD = -10.0, 0.05, 0.25  # points by which a seed falls, how often, and the others' SD


@dataclass(frozen=True)
class Decided:
    """How simulated studies ended."""

    shares: dict[RowVerdict, float]
    mean_seeds: float
    """seeds until a verdict, or the most"""


def half_widths(sd: NDArray[np.float64], n: int, *, is_anytime: bool, level: float) -> NDArray[np.float64]:
    """Return half the widths of the intervals of n differences, by sample."""
    error = sd / sqrt(n)
    if not is_anytime:
        return error * stdtrit(n - 1, (1 + level) / 2)
    grown = 1 + n * PRIOR_VARIANCE
    ratio = (sqrt(grown) / (1 - level)) ** (2 / n)
    return error * (sqrt((n - 1) * (ratio - 1) / (1 - ratio / grown)) if ratio < grown else np.inf)


def decide(
    differences: NDArray[np.float64],
    looks: Iterable[int],
    *,
    is_anytime: bool,
    margin: float = 0.0,
    num_rows: int = 1,
) -> Decided:
    """Return how studies [studies, seeds] end that stop at their first verdict."""
    level, num_studies = 1 - (1 - LEVEL) / num_rows, len(differences)
    verdicts, seeds = np.full(num_studies, "undecided", dtype="U9"), np.full(num_studies, 0)
    for n in looks:
        part = differences[:, :n]
        mean = part.mean(axis=1)
        half = half_widths(part.std(axis=1, ddof=1), n, is_anytime=is_anytime, level=level)
        is_open = verdicts == "undecided"
        seeds[is_open] = n
        is_same = (mean - half >= -margin) & (mean + half <= margin) & (margin > 0)
        for verdict, shown in (("same", is_same), ("better", mean > half), ("worse", mean < -half)):
            verdicts[is_open & shown & (verdicts == "undecided")] = verdict
    names: tuple[RowVerdict, ...] = ("better", "worse", "same", "undecided")
    return Decided({name: float((verdicts == name).mean()) for name in names}, float(seeds.mean()))


def tables(num_studies: int, seed: int) -> Iterator[str]:
    """Yield the tables of docs/results/verdicts.md as Markdown."""
    peeks = range(FIRST, MOST + 1)
    for title, made in (
        ("False verdicts where there is no difference", _false_verdicts),
        ("Effects that are found", _power),
        ("The same within the margin", _equivalence),
        ("While a study runs", _running),
        ("Rows that fail or collapse at some seeds", _collapsing),
        ("A unit of its own", _own_unit),
    ):
        yield f"\n## {title}\n"
        yield from made(np.random.default_rng(seed), num_studies, peeks)


def _false_verdicts(rng: np.random.Generator, num_studies: int, peeks: Iterable[int]) -> Iterator[str]:
    yield from _head(
        "differences", "t interval, 8 seeds", "t interval, peeking", "anytime, peeking", "anytime, to 64"
    )
    for name, draw in SHAPES.items():
        drawn = draw(rng, (num_studies, 64))
        found = [
            decide(drawn, [8], is_anytime=False),
            decide(drawn, peeks, is_anytime=False),
            decide(drawn, peeks, is_anytime=True),
            decide(drawn, range(FIRST, 65), is_anytime=True),
        ]
        yield _line(name, *(_share(one.shares["better"] + one.shares["worse"], num_studies) for one in found))
    six = rng.normal(size=(6 * num_studies, MOST))
    found = [
        decide(six, looks, is_anytime=is_anytime, num_rows=6)
        for looks, is_anytime in (([8], False), (peeks, False), (peeks, True))
    ]
    yield _line("normal, any of 6 rows", *(_share(_any_of_six(one), num_studies) for one in found), "")


def _any_of_six(one: Decided) -> float:
    """Return the share of studies of six independent rows with a false verdict."""
    return 1 - (1 - one.shares["better"] - one.shares["worse"]) ** 6


def _power(rng: np.random.Generator, num_studies: int, peeks: Iterable[int]) -> Iterator[str]:
    yield from _head(
        "true difference", "t interval, 8 seeds", "anytime, 8 seeds", "anytime, 16", "anytime, 32", "mean seeds, to 16",
        "wrong side",
    )  # fmt: skip
    for effect in (0.5, 1.0, 1.5, 2.0):
        drawn = rng.normal(effect, size=(num_studies, 32))
        fixed = decide(drawn, [8], is_anytime=False)
        eight, sixteen, long = (
            decide(drawn, range(FIRST, most + 1), is_anytime=True) for most in (8, MOST, 32)
        )
        shares = [_percent(one.shares["better"]) for one in (fixed, eight, sixteen, long)]
        yield _line(
            f"{effect} SD", *shares, f"{sixteen.mean_seeds:.1f}", _share(long.shares["worse"], num_studies)
        )


def _equivalence(rng: np.random.Generator, num_studies: int, peeks: Iterable[int]) -> Iterator[str]:
    yield from _head(
        "margin",
        "true difference",
        "t interval, 8 seeds",
        "t interval, peeking",
        "anytime, peeking",
        "anytime, to 32",
    )
    for margin in (1.0, 2.0):
        for effect in (0.0, margin / 2, margin):
            drawn = rng.normal(effect, size=(num_studies, 32))
            found = [
                decide(drawn, looks, is_anytime=is_anytime, margin=margin)
                for looks, is_anytime in (
                    ([8], False), (peeks, False), (peeks, True), (range(FIRST, 33), True)
                )
            ]  # fmt: skip
            shares = [_share(one.shares["same"], num_studies) for one in found]
            yield _line(f"{margin:g} SD", f"{effect:g} SD", *shares)


def wrong_at(
    differences: NDArray[np.float64], looks: Iterable[int], *, is_anytime: bool
) -> NDArray[np.bool_]:
    """Return which studies call a row better or worse at some look.

    `differences`: [studies, rows, seeds], of a true mean of 0.
    """
    num_studies, num_rows, _ = differences.shape
    level, wrong = 1 - (1 - LEVEL) / num_rows, np.zeros(num_studies, dtype=bool)
    for n in looks:
        part = differences[:, :, :n]
        half = half_widths(part.std(axis=2, ddof=1), n, is_anytime=is_anytime, level=level)
        wrong |= (np.abs(part.mean(axis=2)) > half).any(axis=1)
    return wrong


def _running(rng: np.random.Generator, num_studies: int, peeks: Iterable[int]) -> Iterator[str]:
    yield from _head(
        "rows beside a baseline", "t interval after each of 3 to 8 seeds", "so far, 3 to 8 of more seeds",
        "so far, 3 to 7 of 8 seeds", "and with all 8",
    )  # fmt: skip
    for num_rows in (1, 3, 6):
        scores = rng.normal(size=(num_studies, num_rows + 1, 8))
        drawn = scores[:, 1:] - scores[:, :1]
        so_far = wrong_at(drawn, range(FIRST, 8), is_anytime=True)
        found = (
            wrong_at(drawn, range(FIRST, 9), is_anytime=False),
            wrong_at(drawn, range(FIRST, 9), is_anytime=True),
            so_far,
            so_far | wrong_at(drawn, [8], is_anytime=False),
        )
        yield _line(str(num_rows), *(_share(float(one.mean()), num_studies) for one in found))


def _collapsing(rng: np.random.Generator, num_studies: int, peeks: Iterable[int]) -> Iterator[str]:
    yield from _head(
        "differences of mean 0",
        "t interval, 5 seeds",
        "t interval, 8 seeds",
        "anytime, to 16",
        "anytime, to 256",
    )
    is_low = rng.random((num_studies, 256)) < LOW_SHARE
    low = rng.normal(-LOW * LOW_SHARE, LOW_SD, size=is_low.shape) + LOW * is_low
    lognormal = np.exp(0.5) - rng.lognormal(size=is_low.shape)
    for name, drawn in (("one seed in twenty 10 points lower", low), ("lognormal", lognormal)):
        looks = (([5], False), ([8], False), (peeks, True), (range(FIRST, 257), True))
        found = [decide(drawn, seeds, is_anytime=is_anytime) for seeds, is_anytime in looks]
        yield _line(name, *(_share(one.shares["better"], num_studies) for one in found))
    yield ""
    yield from _head("one seed in twenty 10 points lower, 8 seeds", "studies", "better")
    num_low = is_low[:, :8].sum(axis=1)
    seen = (num_low > 0) & (num_low <= 8 - FIRST)
    survivors = [
        low[num_low == num, :8][~is_low[num_low == num, :8]].reshape(-1, 8 - num) for num in range(1, 6)
    ]
    alone = [decide(some, [some.shape[1]], is_anytime=False).shares["better"] for some in survivors]
    for name, where, better in (
        ("none among them", num_low == 0, decide(low[num_low == 0], [8], is_anytime=False).shares["better"]),
        ("scored, and named", num_low > 0, decide(low[num_low > 0], [8], is_anytime=False).shares["better"]),
        ("failed, by the survivors alone", seen, np.average(alone, weights=[*map(len, survivors)])),
    ):
        yield _line(name, _percent(float(where.mean())), _percent(float(better)))


def _own_unit(rng: np.random.Generator, num_studies: int, peeks: Iterable[int]) -> Iterator[str]:
    yield from _head(
        "true difference in seconds, SD 0.1", "margin 0.5: same", "no margin: same", "worse", "better"
    )
    for effect in (0.0, 0.1, 0.375):
        drawn = -rng.normal(effect, 0.1, size=(num_studies, 8))  # fewer seconds are better
        foreign, own = (decide(drawn, [8], is_anytime=False, margin=margin) for margin in (0.5, 0.0))
        shares = (foreign.shares["same"], *(own.shares[name] for name in ("same", "worse", "better")))
        yield _line(f"{effect:g}", *(_share(one, num_studies) for one in shares))


def _head(*names: str) -> Iterator[str]:
    yield _line(*names)
    yield f"|{'---|' * len(names)}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _share(share: float, num_studies: int) -> str:
    """Show a share with its simulation error, one standard error."""
    return f"{_percent(share)} ± {100 * sqrt(share * (1 - share) / num_studies):.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=20_000, help="simulated studies for each line")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for line in tables(options.studies, options.seed):
        print(line)


if __name__ == "__main__":
    main()
