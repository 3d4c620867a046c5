"""Searches on a surface through points at which a real encoder was trained.

python -m benchmarks.surface STUDY.tar.xz ... [--out FOLDER]

Reads archives of `search_spaces/mini/joint_sobol_mini.yaml`, of the same points with other seeds, and trains nothing.
A forest learns the value of a point from the points, drawn anew with replacement for each of many surfaces, so that a
surface holds what single points decide. On each surface TPE and random search look for the best point, with the noise
of a seed on what they see; what they found is judged by the surface itself. Prints how far the forest can be trusted,
what each found, and how many trials TPE saved; and, of each archive, the axes' importance. 95% intervals are for
other surfaces. `--out` writes all tables as CSV.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestRegressor

from benchmarks.archived import write_tables
from benchmarks.output import markdown_table
from rse_study.frames.tables import importance_frame
from rse_study.results.archive import unpack_archive
from rse_study.results.comparing.item_contrasts import Floats
from rse_study.results.reader import Reader
from rse_study.sampling.importance import numbered
from rse_study.sampling.proposer import Proposer
from rse_study.sampling.samplers import Domains
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.search import Sampler

STUDY = Path(__file__).parents[1] / "search_spaces" / "mini" / "joint_sobol_mini.yaml"
ARMS = {"random": Sampler(name="random"), "tpe": Sampler(name="tpe", num_startup=15)}
NUM_TRIALS = 40
NUM_SURFACES, NUM_TREES = 50, 64
SEARCHES = 2
"""of each sampler on each surface"""
SHARED = ARMS["tpe"].num_startup
"""trials that both samplers draw alike"""
DRAWS = 5000


def main(arguments: list[str] | None = None) -> None:
    """Print the tables of the archives."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.surface")
    parser.add_argument("archives", type=Path, nargs="+", metavar="STUDY.tar.xz")
    parser.add_argument("--noise", type=float, help="SD of a seed; without it, from points with two seeds")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write the tables as CSV, too")
    options = parser.parse_args(arguments)
    points = points_of(options.archives)
    noise = noise_of(points) if options.noise is None else options.noise
    domains = {axis.name: axis.domain for axis in read_study(STUDY).space.axes}
    columns = columns_of(domains, points.to_dict("records"))
    values = points.filter(like="seed ").mean(axis=1).to_numpy()
    curves = np.array([searched(domains, columns, values, noise, number) for number in range(NUM_SURFACES)])
    print(f"{len(points)} points; noise of a seed: SD {noise:.2f}")
    print(f"points left out against their forest: rho {fit_of(columns, values):.2f}\n")
    print(table_of(curves))
    importance = frames_of(importance_frame, options.archives)
    print(f"\n{table_of_importance(importance)}")
    write_tables(options.out, points=points, curves=long_of(curves), importance=importance)


def points_of(archives: Sequence[Path]) -> pd.DataFrame:
    """Return a row per trial: its point by axis, its last score by seed."""
    found: dict[int, dict[str, Any]] = {}
    for archive in archives:
        with TemporaryDirectory() as store, Reader(unpack_archive(archive, Path(store))) as reader:
            scores = reader.metrics(name=reader.study().objective.metric).sort_values("t")
            last = scores.groupby("cell")["value"].last()
            for cell in reader.cells().query("stage == 'search' and status == 'complete'").itertuples():
                one = found.setdefault(int(cell.trial), dict(cell.proposal))
                if {**one, **cell.proposal} != one:
                    raise SystemExit(
                        f"Trial {cell.trial} of {archive.name} is not the point of the first archive"
                    )
                one[f"seed {cell.seed}"] = last[cell.identity]
    return pd.DataFrame.from_dict(found, orient="index").sort_index().rename_axis("trial").reset_index()


def frames_of(frame_of: Callable[[Reader], pd.DataFrame], archives: Sequence[Path]) -> pd.DataFrame:
    """Return the frames of all archives, each beside its seed."""
    frames = {}
    for archive in archives:
        with TemporaryDirectory() as store, Reader(unpack_archive(archive, Path(store))) as reader:
            (seed,) = reader.cells()["seed"].unique()
            frames[seed] = frame_of(reader)
    return pd.concat(frames, names=["seed"]).reset_index("seed").reset_index(drop=True)


def noise_of(points: pd.DataFrame) -> float:
    """Return the standard deviation of a score over seeds.

    What a seed does to all points alike is left out: the trials of a search share theirs.
    """
    by_seed = points.filter(like="seed ")
    if by_seed.shape[1] < 2:
        raise SystemExit("One seed shows no noise. Give a second archive, or --noise")
    centred = by_seed - by_seed.mean()
    left = centred.sub(centred.mean(axis=1), axis=0)
    return float(np.sqrt((left**2).sum(axis=None) / np.prod(np.subtract(left.shape, 1))))


def columns_of(domains: Domains, points: Sequence[dict[str, Any]]) -> Floats:
    """Return points as a forest's columns [points, axes], numbers as fANOVA is given."""
    return np.array([list(numbered(domains, point, 0.0).params.values()) for point in points])


def fit_of(columns: Floats, values: Floats) -> float:
    """Return rho of values with what the trees without a point predict."""
    forest = RandomForestRegressor(500, oob_score=True, random_state=0).fit(columns, values)
    return float(spearmanr(forest.oob_prediction_, values).statistic)


def searched(domains: Domains, columns: Floats, values: Floats, noise: float, number: int) -> Floats:
    """Return what the best trial so far is worth on surface `number`.

    By arm and trial, [arms, trials]: means over the searches.
    """
    drawn = np.random.default_rng(number).integers(0, len(values), len(values))
    forest = RandomForestRegressor(NUM_TREES, random_state=number).fit(columns[drawn], values[drawn])
    found = []
    for sampler in ARMS.values():
        seeds = range(SEARCHES * number, SEARCHES * (number + 1))
        found.append(np.mean([_one_search(domains, sampler, forest, noise, seed) for seed in seeds], axis=0))
    return np.array(found)


def _one_search(
    domains: Domains, sampler: Sampler, forest: RandomForestRegressor, noise: float, seed: int
) -> list[float]:
    errors = np.random.default_rng(seed).normal(0, noise, NUM_TRIALS)
    proposer, best, worth = Proposer(domains, sampler, seed, ["maximize"]), -np.inf, []
    for trial, error in enumerate(errors):
        (value,) = forest.predict(columns_of(domains, [proposer.ask(trial)]))
        proposer.tell(trial, "complete", [value + error])
        if value + error > best:
            best, shown = value + error, float(value)
        worth.append(shown)
    return worth


def long_of(curves: Floats) -> pd.DataFrame:
    """Return a row per surface and trial, with a column for each arm."""
    places = pd.MultiIndex.from_product(map(range, curves.shape[::2]), names=["surface", "trial"])
    by_arm = np.moveaxis(curves, 1, -1).reshape(-1, len(ARMS))
    return pd.DataFrame(by_arm, places, list(ARMS)).reset_index()


def table_of(curves: Floats) -> str:
    """Return the arms at their end as a Markdown table."""
    draws = np.random.default_rng(0).integers(0, len(curves), (DRAWS, len(curves)))
    resampled = curves[draws].mean(axis=1)
    means = curves.mean(axis=0)
    rows = {name: (means[arm, -1], resampled[:, arm, -1]) for arm, name in enumerate(ARMS)}
    rows["tpe minus random"] = (means[1, -1] - means[0, -1], resampled[:, 1, -1] - resampled[:, 0, -1])
    rows["share of trials saved"] = (saved(means), np.array([saved(one) for one in resampled]))
    return markdown_table(
        ["after 40 trials", "mean", "95%"],
        [
            (name, f"{mean:.2f}", "[{:.2f}, {:.2f}]".format(*np.quantile(drawn, [0.025, 0.975])))
            for name, (mean, drawn) in rows.items()
        ],
    )


def table_of_importance(rows: pd.DataFrame) -> str:
    """Return each axis' share by evaluator and seed as a Markdown table."""
    columns = rows["evaluator"] + ", seed " + rows["seed"].astype(str)
    shares = {
        (row.axis, column): f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]"
        for row, column in zip(rows.itertuples(), columns, strict=True)
    }
    shown = sorted(columns.unique())
    return markdown_table(
        ["axis", *shown], [(axis, *(shares[axis, one] for one in shown)) for axis in rows["axis"].unique()]
    )


def saved(means: Floats) -> float:
    """Return the share of trials that TPE saves on the way to random's end, or 0."""
    is_there = means[1, SHARED:] >= means[0, -1]
    return 1 - (SHARED + int(np.argmax(is_there)) + 1) / NUM_TRIALS if is_there.any() else 0.0


if __name__ == "__main__":
    main()
