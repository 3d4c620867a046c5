"""Seed-by-seed comparison of rows, adjusted for all contrasts shown together.

The rule was fixed before any result was seen. A contrast is a weighted sum of rows: "rho = 0.5 minus rho = 0" is {"rho
= 0.5": 1, "rho = 0": -1}. Those shown together share an error of 5%: their intervals hold simultaneously.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rse_study.results import statistics
from rse_study.results.comparing.criterion import (
    LEVEL,
    UNDEFINED,
    Criterion,
    RowVerdict,
    criterion_of,
    is_finite,
    with_outcomes,
)
from rse_study.results.comparing.row_seeds import row_seeds_of
from rse_study.results.reader import Reader
from rse_study.results.row_names import names_of_cells, own_baseline
from rse_study.results.statistics import confidence_sequence, e_value
from rse_study.results.study_record import MINUS, margin_of, unit_of

ContrastWeights = Mapping[str, float]
FIXED = Criterion()
MIN_SEEDS = 3  # fewer show nothing
MIN_SEEDS_BCA = 6  # with fewer, BCa covers too little: see tests/results/test_statistics_simulated.py
NO_INTERVAL = statistics.Interval(float("nan"), float("nan"))


@dataclass(frozen=True)
class ComparedContrast:
    """One contrast over n seeds, in points of the score."""

    weights: ContrastWeights
    n: int
    mean: float
    sd: float
    """Standard deviation over seeds, with n - 1 in the denominator."""
    interval: statistics.Interval
    """Student's t interval of the mean, for this contrast alone."""
    simultaneous: statistics.Interval
    """The same for all contrasts at once (Bonferroni)."""
    anytime: statistics.Interval
    """Confidence sequence for all contrasts at once, which holds after every number of seeds."""
    e_value: float
    """Evidence against a mean of 0, for this contrast alone: 1/0.05 is what one look at it asks for."""
    bootstrap: statistics.Interval
    """BCa interval, alone; NaN below 6 seeds, where its coverage is too low (75% at 3, 92% at 5)."""
    p_exact: float
    """Sign-flip test; NaN with too many seeds to enumerate all sign patterns."""
    p_wilcoxon: float
    """Signed-rank test; NaN in the same case."""
    p_holm: float
    """`p_exact` adjusted for all other contrasts (Holm)."""
    least_p_holm: float
    """Smallest `p_holm` possible with this number of seeds and contrasts."""
    effect: float
    """Hedges' g."""
    resolvable: float
    """True difference that 4 of 5 such studies would find; NaN where all differences are equal."""
    by_seed: Mapping[int, float]
    criterion: Criterion = FIXED
    num_together: int = 1
    """Contrasts for which the deciding intervals hold at once."""

    @property
    def deciding(self) -> statistics.Interval:
        """The interval that decides: `anytime` or `simultaneous`."""
        return self.anytime if self.criterion.is_anytime else self.simultaneous

    @property
    def verdict(self) -> RowVerdict:
        return self.criterion.verdict(self.deciding)

    @property
    def is_suggestive(self) -> bool:
        """Whether Holm's p disagrees with the deciding interval, and could."""
        return self.criterion.disagrees(self.deciding, self.p_holm, self.least_p_holm)

    def better_seeds(self, *, less_is_better: bool) -> list[int]:
        return [seed for seed, value in self.by_seed.items() if (value < 0 if less_is_better else value > 0)]


@dataclass(frozen=True)
class Scores:
    """Scores of rows over seeds, and what is needed to judge them."""

    table: pd.DataFrame
    """[rows, seeds]; NaN where a cell is not complete or not scored."""
    open_rows: tuple[str, ...] = ()
    """Rows with cells still to run or to be scored."""
    degenerate_rows: tuple[str, ...] = ()
    failed_rows: tuple[str, ...] = ()
    num_unplanned: int = 0
    """Cells of a grid that are not in the ledger yet."""
    fixed_rows: tuple[str, ...] = ()
    """Baseline rows: measured once, with the same value under every seed."""
    less_is_better: bool = False
    criterion: Criterion = FIXED

    @property
    def is_complete(self) -> bool:
        return not self.open_rows and not self.num_unplanned


def row_scores(reader: Reader, metric: str = "") -> Scores:
    """Return the scores of a grid's rows, or of a search's confirmed trials.

    `metric` is task/split/aggregation, a metric of training as in the history, whose last value counts, or a difference
    "one - other"; by default the last objective.
    """
    return scores_by_metric(reader, [metric])[metric]


def is_of_history(metric: str) -> bool:
    """Whether a metric is one of training, such as `cosine/positive`."""
    return metric.count("/") == 1


def scores_by_metric(reader: Reader, metrics: Iterable[str]) -> dict[str, Scores]:
    """Return `row_scores` of several metrics, by metric."""
    study, cells, evaluations = reader.study(), reader.cells(), reader.evaluations()
    is_grid = study.kind == "grid"
    cells = cells[cells["stage"] == ("grid" if is_grid else "confirm")]
    statuses = reader.statuses_for_next_run()
    cells = cells.assign(row=names_of_cells(study, cells), status=cells["identity"].map(statuses))
    rows = row_seeds_of(reader.ledger, study, reader.records()) if study.settings.until_decided else None
    num_planned = rows.num_wanted if rows else study.num_cells
    num_unplanned = max(0, num_planned - len(cells)) if is_grid else 0
    minus = own_baseline(study, reader.cells())
    rule = criterion_of(study, reader.revisions(), reader.cells(retired=True))
    found = {}
    for metric in metrics:
        is_objective = metric in ("", study.objective.evaluation)
        values = objectives_of(reader) if is_objective else by_subject(reader, metric)
        degenerate = reader.collapsed() if is_objective else _collapsed(evaluations, metric)
        scored = _scored(cells.assign(degenerate=cells["identity"].isin(degenerate)), values)
        names, less = scored["row"].unique(), study.is_less_better(metric)
        unit = unit_of(study, metric)
        own = replace(rule, margin=margin_of(study, metric), unit=unit, less_is_better=less)
        own = with_outcomes(own, scored, minus)
        found[metric] = Scores(
            table=scored.pivot(index="row", columns="seed", values="value").reindex(names),
            open_rows=tuple(name for name in names if name in own.waiting),
            degenerate_rows=tuple(scored.loc[scored["degenerate"], "row"].unique()),
            failed_rows=tuple(scored.loc[scored["status"] == "failed", "row"].unique()),
            num_unplanned=num_unplanned,
            less_is_better=less,
            criterion=replace(own, waiting=frozenset(names)) if num_unplanned else own,
        )
    return found


def _collapsed(evaluations: pd.DataFrame, metric: str) -> Iterable[str]:
    measured = evaluations[evaluations["metric"].isin(metric.split(MINUS))]
    return frozenset(measured.loc[measured["degenerate"], "subject"])


def by_subject(reader: Reader, metric: str) -> dict[str, float]:
    """Return a metric's value for each cell and baseline; metrics as in `row_scores`."""
    one, is_difference, other = metric.partition(MINUS)
    if is_difference:
        first, second = by_subject(reader, one), by_subject(reader, other)
        return {subject: value - second[subject] for subject, value in first.items() if subject in second}
    if is_of_history(metric):
        return reader.final_values(metric)
    rows = reader.evaluations()
    rows = rows[rows["metric"] == metric]
    return dict(zip(rows["subject"], rows["value"], strict=True))


def differences(table: pd.DataFrame, weights: ContrastWeights) -> np.ndarray:
    """Return the values of `differences_by_seed` as an array [n]."""
    return np.array(list(differences_by_seed(table, weights).values()), dtype=float)


def differences_by_seed(table: pd.DataFrame, weights: ContrastWeights) -> dict[int, float]:
    """Return the contrast by seed, over seeds for which all its rows have a score."""
    rows = table.loc[list(weights)].dropna(axis="columns")
    values = np.array(list(weights.values()), dtype=float) @ rows.to_numpy(dtype=float)
    return dict(zip(rows.columns, values.tolist(), strict=True))


def compare(
    table: pd.DataFrame,
    contrasts: Sequence[ContrastWeights],
    level: float = LEVEL,
    criterion: Criterion = FIXED,
) -> list[ComparedContrast | None]:
    """Compare contrasts of one table of scores [rows, seeds], jointly adjusted."""
    return compare_all([(table, weights) for weights in contrasts], level, [criterion] * len(contrasts))


def compare_all(
    contrasts: Sequence[tuple[pd.DataFrame, ContrastWeights]],
    level: float = LEVEL,
    criteria: Sequence[Criterion] = (),
) -> list[ComparedContrast | None]:
    """Compare contrasts of several tables, jointly adjusted; None below 3 seeds.

    `criteria` has one per contrast; by default, intervals for a fixed number of seeds decide. Confidence sequences, and
    all intervals while rows wait, are adjusted for all contrasts, also for those with too few seeds, so that they hold
    when these get more.
    """
    criteria = criteria or [FIXED] * len(contrasts)
    by_seed = [differences_by_seed(table, weights) for table, weights in contrasts]
    samples = [np.array(list(values.values()), dtype=float) for values in by_seed]
    known = [number for number, sample in enumerate(samples) if len(sample) >= MIN_SEEDS]
    exact = [_exact_p(statistics.sign_flip_p, sample) for sample in samples]
    adjusted = _holm_of_known(np.array([exact[number] for number in known]))
    found: list[ComparedContrast | None] = [None] * len(samples)
    num_fixed = len(samples if any(one.waiting for one in criteria) else known)
    for number, p_holm in zip(known, adjusted, strict=True):
        sample = samples[number]
        n, sd = len(sample), 0.0 if statistics.are_equal(sample) else float(sample.std(ddof=1))
        resolvable = statistics.smallest_difference(sd, n, level=level, num_comparisons=len(known))
        found[number] = ComparedContrast(
            weights=contrasts[number][1],
            n=n,
            mean=float(sample.mean()),
            sd=sd,
            interval=statistics.t_interval(sample, level),
            simultaneous=statistics.t_interval(sample, 1 - (1 - level) / num_fixed),
            anytime=confidence_sequence(sample, 1 - (1 - level) / len(samples)),
            e_value=e_value(sample),
            bootstrap=statistics.bca_interval(sample, level) if n >= MIN_SEEDS_BCA else NO_INTERVAL,
            p_exact=exact[number],
            p_wilcoxon=_exact_p(statistics.wilcoxon_p, sample),
            p_holm=float(p_holm),
            least_p_holm=min(1.0, statistics.least_p(n) * len(known)),
            effect=statistics.effect_size(sample),
            resolvable=resolvable or np.nan,
            by_seed=by_seed[number],
            criterion=criteria[number].on(contrasts[number][1]),
            num_together=len(samples) if criteria[number].is_anytime else num_fixed,
        )
    return found


def against(table: pd.DataFrame, baseline: str) -> dict[str, ContrastWeights]:
    """Return the contrast of every other row with the baseline, by row."""
    return {row: {row: 1.0, baseline: -1.0} for row in table.index if row != baseline}


def _exact_p(test: Callable[[np.ndarray], float], sample: np.ndarray) -> float:
    return test(sample) if MIN_SEEDS <= len(sample) <= statistics.EXACT_UP_TO else float("nan")


def _holm_of_known(p_values: np.ndarray) -> np.ndarray:
    is_known = p_values.size > 0 and not np.isnan(p_values).any()
    return statistics.holm(p_values) if is_known else np.full(p_values.shape, np.nan)


def _scored(cells: pd.DataFrame, values: Mapping[str, float]) -> pd.DataFrame:
    """Add each cell's `value`, and change the status of complete cells without one: not scored yet, or UNDEFINED."""
    is_complete, is_known = cells["status"] == "complete", cells["identity"].isin(list(values))
    found = cells["identity"].map(values).astype(float)
    value = found.where(is_complete & is_finite(found))
    status = cells["status"].mask(is_complete & ~is_known, "planned")
    return cells.assign(value=value, status=status.mask(is_complete & is_known & value.isna(), UNDEFINED))


def objectives_of(reader: Reader) -> dict[str, float]:
    """Return the objective by cell."""
    table = reader.trials_table()
    return dict(zip(table["identity"], table["objective"], strict=True))
