"""Contrasts of rows, effects of factors, and rows that cannot be told apart."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from string import ascii_letters
from typing import Any, ClassVar

import pandas as pd

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.results.comparing import comparisons
from rse_study.results.comparing.factors import Effect, effects_among
from rse_study.results.frame_columns import COLUMNS, frame_of
from rse_study.results.reader import Reader
from rse_study.results.records import LARGEST
from rse_study.results.row_names import names_of_cells, own_baseline
from rse_study.results.statistics import Interval
from rse_study.results.study_record import StudyRecord


def contrasts_frame(reader: Reader, minus: str = "") -> pd.DataFrame:
    """Return one row per measure and row: that row minus another one.

    `minus` names a row or a baseline (`before training`), by default the study's own; without any the frame is empty.
    """
    study = reader.study()
    found = comparisons.scores_by_metric(reader, measures_of(study))
    if not minus:
        minus = own_baseline(study, reader.cells())
        if minus not in found[""].table.index:
            return frame_of((), "contrasts")
    together = {
        metric: with_baseline(
            scores, minus, comparisons.by_subject(reader, metric or study.objective.evaluation), study
        )
        for metric, scores in found.items()
    }
    if not any(minus in scores.table.index for scores in together.values()):
        known = [*found[""].table.index, *study.baselines.values()]
        remedy = did_you_mean(minus, known)
        raise InputError(f"no row {minus!r} with a score", where=study.name, remedy=remedy)
    names = measures_of(study)
    rows = (
        row
        for metric, scores in together.items()
        if minus in scores.table.index
        for row in _rows(names[metric], metric, scores, minus)
    )
    return frame_of(rows, "contrasts")


def measures_of(study: StudyRecord) -> dict[str, str]:
    """Return the displayed name of each measure by its metric; "" is the objective."""
    objective = study.objective
    others = {
        measure.metric: measure.name
        for measure in study.shown_measures
        if measure.metric != objective.evaluation
    }
    return {"": objective.label or objective.metric, **others}


def contrast_numbers(one: comparisons.ComparedContrast) -> dict[str, float]:
    """Return the statistics of a contrast by column, except its seeds and mean."""
    return {
        "sd": one.sd, **_ends("t", one.interval), **_ends("simultaneous", one.simultaneous),
        **_ends("anytime", one.anytime), "e_value": one.e_value, **_ends("bca", one.bootstrap),
        "p_sign_flip": one.p_exact, "p_wilcoxon": one.p_wilcoxon, "p_holm": one.p_holm,
        "least_p_holm": one.least_p_holm, "hedges_g": one.effect, "resolvable": one.resolvable,
    }  # fmt: skip


def _ends(name: str, interval: Interval) -> dict[str, float]:
    return {f"{name}_low": interval.low, f"{name}_high": interval.high}


def with_baseline(
    scores: comparisons.Scores, minus: str, values: Mapping[str, float], study: StudyRecord
) -> comparisons.Scores:
    """Add a row with the baseline's single value under every seed, if `minus` is one."""
    subject = {label: name for name, label in study.baselines.items()}.get(minus)
    if subject is None or not abs(values.get(subject, nan)) < LARGEST or minus in scores.table.index:
        return scores
    line = pd.DataFrame(values[subject], index=[minus], columns=scores.table.columns)
    return replace(scores, table=pd.concat([line, scores.table]), fixed_rows=(minus, *scores.fixed_rows))


def _rows(measure: str, metric: str, scores: comparisons.Scores, minus: str) -> Iterator[dict[str, Any]]:
    weights, criterion = comparisons.against(scores.table, minus), scores.criterion
    compared = comparisons.compare(scores.table, list(weights.values()), criterion=criterion)
    for (row, sums), one in zip(weights.items(), compared, strict=True):
        yield {
            "measure": measure,
            "metric": metric,
            "row": row,
            "minus": minus,
            "less_is_better": scores.less_is_better,
            **numbers_of(scores, sums, one),
        }


def numbers_of(
    scores: comparisons.Scores, weights: comparisons.ContrastWeights, one: comparisons.ComparedContrast | None
) -> dict[str, Any]:
    """Return what frames say of a contrast; below 3 seeds its mean alone."""
    criterion = scores.criterion.on(weights)
    rule = {"criterion": criterion.name, "margin": criterion.margin, "unit": criterion.unit}
    if one is None:
        few = _too_few(comparisons.differences(scores.table, weights).tolist())
        return few | rule | {"verdict": "undecided"}
    rule["verdict"] = one.verdict
    is_apart = one.deciding.excludes(0.0)
    return {"num_seeds": one.n, "mean": one.mean, **contrast_numbers(one), "excludes_zero": is_apart, **rule}


def _too_few(sample: list[float]) -> dict[str, Any]:
    mean = sum(sample) / len(sample) if sample else nan
    names = [column.name for column in COLUMNS["contrasts"] if column.dtype == "float64"]
    return {**dict.fromkeys(names, nan), "num_seeds": len(sample), "mean": mean, "excludes_zero": False}


@dataclass(frozen=True)
class Family:
    """Contrasts of rows on every measure, of each measure adjusted for all of them."""

    frame: pd.DataFrame
    """a row per measure and contrast, the objective first, named in the column `noun`"""
    noun: ClassVar[str]

    @property
    def compared(self) -> pd.DataFrame:
        """Those on the objective that at least 3 seeds have."""
        return self.frame[(self.frame["metric"] == "") & self.frame["sd"].notna()]

    @property
    def is_anytime(self) -> bool:
        """Whether confidence sequences decide."""
        return len(self.compared) > 0 and bool((self.compared["criterion"] == "anytime").all())

    @property
    def lacking(self) -> list[str]:
        """Those on the objective that fewer seeds have."""
        return self.frame.loc[(self.frame["metric"] == "") & self.frame["sd"].isna(), self.noun].tolist()


@dataclass(frozen=True)
class FactorEffects(Family):
    """Effects of a design."""

    noun = "effect"
    factors: Mapping[str, tuple[Any, ...]]
    """Both levels by factor; empty for a grid without a design."""
    effects: tuple[Effect, ...]
    """Empty until every row of the design is in the ledger."""
    num_dropped: int
    """Seeds of the objective that lack a row."""


def read_effects(reader: Reader) -> FactorEffects:
    """Return the effects of a factorial grid; none of other studies."""
    study = reader.study()
    factors = {axis.name: axis.choices for axis in study.axes if axis.name in study.settings.grid.factorial}
    effects = effects_among(_levels_by_row(reader, factors), list(factors))
    weights = [effect.weights for effect in effects]
    measures = measures_of(study) if effects else {}
    scores = comparisons.scores_by_metric(reader, measures)
    lines = [
        {"measure": measure, "metric": metric, "effect": effect.name, "aliases": effect.aliases}
        | {"less_is_better": scores[metric].less_is_better}
        | numbers_of(scores[metric], effect.weights, one)
        for metric, measure in measures.items()
        for effect, one in zip(
            effects,
            comparisons.compare(scores[metric].table, weights, criterion=scores[metric].criterion),
            strict=True,
        )
    ]
    num_dropped = int(scores[""].table.loc[list(weights[0])].isna().any().sum()) if effects else 0
    return FactorEffects(frame_of(lines, "effects"), factors, effects, num_dropped)


def _levels_by_row(reader: Reader, factors: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the level, 0 or 1, of each factor by row; none before all rows are there."""
    study, cells = reader.study(), reader.cells()
    rows = {
        name: tuple(levels.index(proposal[factor]) for factor, levels in factors.items())
        for name, label, proposal in zip(
            names_of_cells(study, cells), cells["label"], cells["proposal"], strict=True
        )
        if factors and not label
    }
    return rows if len(rows) == study.num_trials - len(study.settings.grid.rows) else {}


MOST_ROWS = 40  # 780 pairs


def letters_of(scores: comparisons.Scores) -> dict[str, str]:
    """Return the letters of each row that has a score.

    Rows share a letter unless the interval of their difference excludes 0 and leaves the margin. It is the compact
    letter display of Piepho (2004).

    The row with the best mean has an "a". Intervals hold for all pairs of rows at once. Rows that share fewer than 3
    seeds are not told apart. Nothing is returned for fewer than 2 rows, for more than 40,
    or where there are more groups than letters.
    """
    means = scores.table.mean(axis=1).dropna().sort_values(ascending=scores.less_is_better, kind="stable")
    rows = list(means.index)
    if not 2 <= len(rows) <= MOST_ROWS:
        return {}
    pairs = list(combinations(rows, 2))
    apart = [pair for pair in pairs if _is_apart(scores, pair, len(pairs))]
    groups = sorted(_groups(rows, apart), key=lambda group: [row not in group for row in rows])
    return {
        row: "".join(letter for letter, group in zip(ascii_letters, groups, strict=False) if row in group)
        for row in rows
        if groups
    }


def _is_apart(scores: comparisons.Scores, pair: tuple[str, str], num_pairs: int) -> bool:
    sample = comparisons.differences(scores.table, dict(zip(pair, (1.0, -1.0), strict=True)))
    if len(sample) < comparisons.MIN_SEEDS:
        return False
    rule = scores.criterion.on(pair)
    return rule.verdict(rule.interval(sample, num_pairs)) in ("better", "worse")


def _groups(rows: Iterable[str], apart: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the largest groups without a pair that is told apart: split at each pair, drop what others hold.

    None are returned once there are more than letters, as their number may double with each pair.
    """
    groups = [frozenset(rows)]
    for one, other in apart:
        split = [
            part
            for group in groups
            for part in ((group - {one}, group - {other}) if {one, other} <= group else (group,))
        ]
        distinct = list(dict.fromkeys(split))
        groups = [group for group in distinct if not any(group < wider for wider in distinct)]
        if len(groups) > len(ascii_letters):
            return []
    return groups
