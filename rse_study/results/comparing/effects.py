"""The effects of a factorial grid, read from its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rse_study.results.comparing.comparisons import compare, scores_by_metric
from rse_study.results.comparing.contrasts import measures_of, numbers_of
from rse_study.results.comparing.factors import Effect, effects_among
from rse_study.results.frame_columns import frame_of
from rse_study.results.reader import Reader
from rse_study.results.row_names import names_of_cells


@dataclass(frozen=True)
class FactorEffects:
    """Effects of a design on every measure, each measure adjusted for all its effects."""

    factors: Mapping[str, tuple[Any, ...]]
    """Both levels by factor; empty for a grid without a design."""
    effects: tuple[Effect, ...]
    """Empty until every row of the design is in the ledger."""
    frame: pd.DataFrame
    """`open_study(...).effects`: a row per measure and effect, the objective first."""
    num_dropped: int
    """Seeds of the objective that lack a row."""

    @property
    def compared(self) -> pd.DataFrame:
        """The effects on the objective that at least 3 seeds have."""
        return self.frame[(self.frame["metric"] == "") & self.frame["sd"].notna()]


def read_effects(reader: Reader) -> FactorEffects:
    """Return the effects of a factorial grid; none of other studies."""
    study = reader.study()
    factors = {axis.name: axis.choices for axis in study.axes if axis.name in study.settings.grid.factorial}
    effects = effects_among(_levels_by_row(reader, factors), list(factors))
    weights = [effect.weights for effect in effects]
    measures = measures_of(study) if effects else {}
    scores = scores_by_metric(reader, measures)
    lines = [
        {"measure": measure, "metric": metric, "effect": effect.name, "aliases": effect.aliases}
        | {"less_is_better": scores[metric].less_is_better}
        | numbers_of(scores[metric], effect.weights, one)
        for metric, measure in measures.items()
        for effect, one in zip(
            effects, compare(scores[metric].table, weights, criterion=scores[metric].criterion), strict=True
        )
    ]
    num_dropped = int(scores[""].table.loc[list(weights[0])].isna().any().sum()) if effects else 0
    return FactorEffects(factors, effects, frame_of(lines, "effects"), num_dropped)


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
