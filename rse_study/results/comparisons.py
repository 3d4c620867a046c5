"""Rows of a study compared seed by seed, all of them at once: the rule was fixed before anybody looked.

A contrast is a weighted sum of rows, paired by seed: "rho = 0.5 minus rho = 0" is {"rho = 0.5": 1, "rho = 0": -1}.
Contrasts that are looked at together share one error of 5 %: their intervals hold all at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rse_study.results.reader import Reader
from rse_study.results.row_names import names_of_cells
from rse_study.results.statistics import (
    EXACT_UP_TO,
    Interval,
    bca_interval,
    effect_size,
    holm,
    least_p,
    sign_flip_p,
    simultaneous_intervals,
    smallest_difference,
    t_interval,
    wilcoxon_p,
)

ContrastWeights = Mapping[str, float]
LEVEL = 0.95
MINUS = " - "  # between two metrics


@dataclass(frozen=True)
class ComparedContrast:
    """One contrast over n seeds, in points of the score.

    `interval`: alone; `simultaneous`: together with all others; `bootstrap`: BCa, alone. `p_exact`: sign-flip;
    `p_holm`: the same, adjusted for all others; NaN where there are too many seeds to count. `least_p_holm`: what so
    many seeds and comparisons could give at best. `resolvable`: the true difference that would be found in 4 of 5
    studies like this one.
    """

    weights: ContrastWeights
    n: int
    mean: float
    sd: float
    interval: Interval
    simultaneous: Interval
    bootstrap: Interval
    p_exact: float
    p_wilcoxon: float
    p_holm: float
    least_p_holm: float
    effect: float
    resolvable: float


def row_scores(reader: Reader, metric: str = "") -> pd.DataFrame:
    """Scores [rows, seeds] of a grid's rows, or of a search's confirmed trials; in the order of the ledger.

    NaN where a cell is not complete or not scored. `metric`: task/split/aggregation, or the difference of two, "one -
    other"; without it the objective at the cells' last step. `attrs["open"]` names the rows some of whose cells have
    not ended, or have no score yet; `attrs["unplanned"]` counts a grid's cells that the ledger does not have yet;
    `attrs["degenerate"]` names the rows of which some score says nothing.
    """
    return scores_by_metric(reader, [metric])[metric]


def scores_by_metric(reader: Reader, metrics: Iterable[str]) -> dict[str, pd.DataFrame]:
    """`row_scores` of several metrics, by their names."""
    study, cells, evaluations = reader.study(), reader.cells(), reader.evaluations()
    is_grid = study.kind == "grid"
    cells = cells[cells["stage"] == ("grid" if is_grid else "confirm")]
    statuses = reader.statuses_for_next_run()
    cells = cells.assign(row=names_of_cells(study, cells), status=cells["identity"].map(statuses))
    num_unplanned = max(0, study.num_cells - len(cells)) if is_grid else 0
    found = {}
    for metric in metrics:
        values = by_subject(evaluations, metric) if metric else _objectives(reader)
        degenerate = evaluations[evaluations["metric"].isin(metric.split(MINUS)) & evaluations["degenerate"]]
        found[metric] = _wide(cells, values, degenerate["subject"])
        found[metric].attrs["unplanned"] = num_unplanned
    return found


def by_subject(rows: pd.DataFrame, metric: str) -> dict[str, float]:
    """A metric's values, as `row_scores` names it, by cell and baseline: from `Reader.evaluations`."""
    one, is_difference, other = metric.partition(MINUS)
    if is_difference:
        first, second = by_subject(rows, one), by_subject(rows, other)
        return {subject: value - second[subject] for subject, value in first.items() if subject in second}
    rows = rows[rows["metric"] == metric]
    return dict(zip(rows["subject"], rows["value"], strict=True))


def differences(scores: pd.DataFrame, weights: ContrastWeights) -> np.ndarray:
    """The contrast of every seed that all of its rows have a score of: [n]."""
    rows = scores.loc[list(weights)].dropna(axis="columns")
    return np.asarray(np.array(list(weights.values()), dtype=float) @ rows.to_numpy(), dtype=float)


def compare(
    scores: pd.DataFrame, contrasts: Sequence[ContrastWeights], level: float = LEVEL
) -> list[ComparedContrast | None]:
    """Every contrast of one measure, adjusted for all of them; `compare_all` says what is found."""
    return compare_all([(scores, weights) for weights in contrasts], level)


def compare_all(
    contrasts: Sequence[tuple[pd.DataFrame, ContrastWeights]], level: float = LEVEL
) -> list[ComparedContrast | None]:
    """Contrasts, each of the scores beside it, adjusted for all; None where fewer than 3 seeds show nothing.

    Raises KeyError where a contrast names a row that its scores do not have.
    """
    samples = [differences(scores, weights) for scores, weights in contrasts]
    known = [number for number, sample in enumerate(samples) if len(sample) >= 3]
    together = simultaneous_intervals([samples[number] for number in known], level) if known else []
    exact = [sign_flip_p(s) if 3 <= len(s) <= EXACT_UP_TO else np.nan for s in samples]
    adjusted = _holm_of_known(np.array([exact[number] for number in known]))
    found: list[ComparedContrast | None] = [None] * len(samples)
    for number, simultaneous, p_holm in zip(known, together, adjusted, strict=True):
        sample = samples[number]
        sd = float(sample.std(ddof=1))
        found[number] = ComparedContrast(
            weights=contrasts[number][1],
            n=len(sample),
            mean=float(sample.mean()),
            sd=sd,
            interval=t_interval(sample, level),
            simultaneous=simultaneous,
            bootstrap=bca_interval(sample, level),
            p_exact=exact[number],
            p_wilcoxon=wilcoxon_p(sample) if len(sample) <= EXACT_UP_TO else float("nan"),
            p_holm=float(p_holm),
            least_p_holm=min(1.0, least_p(len(sample)) * len(known)),
            effect=effect_size(sample),
            resolvable=smallest_difference(sd, len(sample), level=level, num_comparisons=len(known)),
        )
    return found


def against(scores: pd.DataFrame, baseline: str) -> dict[str, ContrastWeights]:
    """Every other row minus the baseline, by row."""
    return {row: {row: 1.0, baseline: -1.0} for row in scores.index if row != baseline}


def _holm_of_known(p_values: np.ndarray) -> np.ndarray:
    is_known = p_values.size > 0 and not np.isnan(p_values).any()
    return holm(p_values) if is_known else np.full(p_values.shape, np.nan)


def _wide(cells: pd.DataFrame, values: Mapping[str, float], degenerate: Iterable[str]) -> pd.DataFrame:
    """[rows, seeds]. A cell that has been scored waits for nothing, even if there was no number to be had.

    `degenerate`: subjects whose score says nothing.
    """
    is_scored = cells["identity"].isin(list(values)) & (cells["status"] == "complete")
    scored = cells.assign(value=cells["identity"].map(values).where(is_scored).astype(float))
    waiting = cells.loc[~is_scored & (cells["status"] != "failed"), "row"]
    rows = list(dict.fromkeys(cells["row"]))
    wide = scored.pivot(index="row", columns="seed", values="value").reindex(rows)
    wide.attrs["open"] = tuple(dict.fromkeys(waiting))
    wide.attrs["degenerate"] = tuple(dict.fromkeys(cells.loc[cells["identity"].isin(degenerate), "row"]))
    return wide


def _objectives(reader: Reader) -> dict[str, float]:
    table = reader.trials_table().dropna(subset="objective")
    return dict(zip(table["identity"], table["objective"], strict=True))
