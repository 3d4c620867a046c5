"""Rows on which the objective and an evaluation disagree.

If their differences from the baseline have opposite signs, on dev pairs and a test split, neither is an answer alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.contents import label_of
from analysis.formats import decimals_of, show_signed
from analysis.phrases import counted
from rse_study.results.comparing.comparisons import differences, scores_by_metric
from rse_study.results.comparing.contrasts import measures_of
from rse_study.results.reader import Reader

FEW = 3  # rows that are described; the others are counted


@dataclass(frozen=True)
class OpposedRow:
    """A row that is better on the objective and worse elsewhere, or the reverse."""

    row: str
    baseline: str
    objective: str
    gain: float
    """Mean difference from the baseline on the objective, in points."""
    others: tuple[tuple[str, float], ...]
    """Evaluations with the opposite sign, each with its difference."""
    decimals: int = 2


def opposed_rows(reader: Reader, baseline: str) -> tuple[OpposedRow, ...]:
    """Return the rows of a grid on which objective and evaluations disagree."""
    study = reader.study()
    names = measures_of(study)
    found = scores_by_metric(reader, names)
    own = found.pop("")
    if baseline not in own.table.index:
        return ()
    rows = []
    for row in own.table.index.drop(baseline):
        gains = {metric: _gain(found[metric].table, row, baseline) for metric in found}
        gain = _gain(own.table, row, baseline)
        side = _side(gain, own.less_is_better)
        others = [
            (names[metric], value)
            for metric, value in gains.items()
            if side * _side(value, found[metric].less_is_better) < 0
        ]
        if others:
            rows.append(
                OpposedRow(
                    row,
                    baseline,
                    label_of(study.objective),
                    gain,
                    tuple(others),
                    decimals_of(study.objective.evaluation, fine=4) if study.objective.evaluation else 4,
                )
            )
    return tuple(rows)


def opposed_text(rows: Sequence[OpposedRow]) -> str:
    """Describe the rows in one sentence; "" without rows."""
    if not rows:
        return ""
    told = "; ".join(_opposed_row_text(one) for one in rows[:FEW])
    more = f"; and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return (
        f"The objective and the evaluations point different ways for {counted(len(rows), 'row')}, as mean differences "
        f"from {rows[0].baseline}: {told}{more}."
    )


def _opposed_row_text(one: OpposedRow) -> str:
    (name, value), *others = one.others
    more = f" ({len(others)} more)" if others else ""
    here, there = show_signed(one.gain, one.decimals), show_signed(value, decimals_of(name, fine=4))
    return f"{one.row} {here} on {one.objective} and {there} on {name}{more}"


def _gain(table: pd.DataFrame, row: str, baseline: str) -> float:
    sample = differences(table, {row: 1.0, baseline: -1.0})
    return float(sample.mean()) if len(sample) else 0.0


def _side(gain: float, less_is_better: bool) -> float:
    return -gain if less_is_better else gain
