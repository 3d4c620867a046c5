"""The effects of a factorial grid, read from its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rse_study.results.comparisons import ComparedContrast, Scores, compare, scores_by_metric
from rse_study.results.contrasts import measures_of, numbers_of
from rse_study.results.factors import Effect, effects_among
from rse_study.results.frame_columns import COLUMNS, with_columns
from rse_study.results.reader import Reader
from rse_study.results.records import StudyRecord
from rse_study.results.row_names import names_of_cells


@dataclass(frozen=True)
class FactorEffects:
    """Effects of a design on every measure, each measure adjusted for all its effects."""

    factors: Mapping[str, tuple[Any, ...]]
    """Both levels by factor."""
    effects: tuple[Effect, ...]
    """Empty until every row of the design is in the ledger."""
    by_measure: Mapping[str, tuple[ComparedContrast | None, ...]]
    """In the order of `effects`, the objective first; None where fewer than 3 seeds have every row."""
    num_dropped: int = 0
    """Seeds of the objective that lack a row."""

    @property
    def objective(self) -> tuple[ComparedContrast | None, ...]:
        return next(iter(self.by_measure.values()), ())


def read_effects(reader: Reader, scores: Mapping[str, Scores] | None = None) -> FactorEffects | None:
    """Return the effects of a factorial grid; None for other studies."""
    study = reader.study()
    factors = {axis.name: axis.choices for axis in study.axes if axis.name in study.settings.grid.factorial}
    if not factors:
        return None
    rows = _rows_of(study, reader.cells(), factors)
    effects = effects_among(rows, list(factors)) if rows else ()
    measures = measures_of(study)
    found = scores or scores_by_metric(reader, measures)
    weights = [effect.weights for effect in effects]
    compared = {name: tuple(compare(found[one].table, weights)) for one, name in measures.items()}
    table = found[""].table.loc[list(weights[0]) if weights else []]
    num_dropped = int(table.isna().any().sum())
    return FactorEffects(factors, effects, compared, num_dropped)


def _rows_of(
    study: StudyRecord, cells: pd.DataFrame, factors: Mapping[str, tuple[Any, ...]]
) -> dict[str, tuple[int, ...]]:
    """Return the levels of each row by name; none before all rows are there."""
    columns = zip(names_of_cells(study, cells), cells["label"], cells["proposal"], strict=True)
    rows = {
        name: tuple(levels.index(proposal[factor]) for factor, levels in factors.items())
        for name, label, proposal in columns
        if not label
    }
    return rows if len(rows) == study.num_trials - len(study.settings.grid.rows) else {}


def effects_frame(reader: Reader) -> pd.DataFrame:
    """Return one row per measure and effect; empty without a factorial design."""
    measures = measures_of(reader.study())
    scores = scores_by_metric(reader, measures)
    found = read_effects(reader, scores)
    rows = [
        {"measure": measure, "metric": metric, "effect": effect.name, "aliases": effect.aliases}
        | {"less_is_better": scores[metric].less_is_better}
        | numbers_of(scores[metric].table, effect.weights, one)
        for metric, measure in measures.items()
        for effect, one in (zip(found.effects, found.by_measure[measure], strict=True) if found else ())
    ]
    columns = [column.name for column in COLUMNS["effects"]]
    return with_columns(pd.DataFrame(rows, columns=columns), "effects")
