"""Rows minus a baseline for new seeds and new items, and the items that moved."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy  # submodules load lazily

from rse_study.errors import InputError
from rse_study.results.attack_items import attack_items, attacks_in
from rse_study.results.comparisons import (
    LEVEL,
    Scores,
    against,
    by_subject,
    compare,
    differences_by_seed,
    scores_by_metric,
)
from rse_study.results.contrasts import measures_of, own_baseline, with_baseline
from rse_study.results.crossed import crossed_interval, resampled_values
from rse_study.results.frame_columns import COLUMNS, with_columns
from rse_study.results.item_file import SubjectItems, read_items
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from rse_study.results.records import AT_CHECKPOINT, BASELINES, MINUS
from rse_study.results.row_names import names_of_cells
from rse_study.results.schema import baselines_folder, cell_folder

NOT_KEPT = "item scores were not kept"
NUM_MOVED = 10
"""Items that are listed per row and measure."""
ATTACKS = "attacks"


@dataclass(frozen=True)
class MeasuredItems:
    """Scores of one measure, and those of its items as far as they were kept."""

    measure: str
    metric: str
    scores: Scores
    minus: str
    by_cell: Mapping[tuple[str, int], ItemScores]
    """by row and seed, all of the same items"""

    @property
    def rows(self) -> list[str]:
        return [row for row in self.scores.table.index if row != self.minus]

    def pairs(self, row: str) -> list[tuple[tuple[str, int], tuple[str, int]]] | None:
        """Return the cells of a row and of the baseline, seed by seed; None if one has no items."""
        seeds = differences_by_seed(self.scores.table, {row: 1.0, self.minus: -1.0})
        pairs = [((row, seed), (self.minus, seed)) for seed in seeds]
        return pairs if pairs and all(one in self.by_cell for pair in pairs for one in pair) else None


def crossed_frame(measured: list[MeasuredItems]) -> pd.DataFrame:
    """Return one row per measure and row: its intervals for new seeds, and for new seeds and new items."""
    return _frame("crossed", (line for one in measured for line in _intervals(one)))


def moved_frame(measured: list[MeasuredItems]) -> pd.DataFrame:
    """Return the items with the largest mean change, per measure and row."""
    return _frame("moved", (line for one in measured for row in one.rows for line in _moved(one, row)))


def measured_items(reader: Reader, minus: str = "") -> list[MeasuredItems]:
    """Read the scores of each measure's items, of rows and of the row `minus` they are compared with."""
    study, names = reader.study(), measures_of(reader.study())
    minus, evaluations = minus or own_baseline(study, reader.cells()), reader.evaluations()
    files, found = _ItemFiles(reader), []
    for metric, scores in scores_by_metric(reader, names).items():
        scores = with_baseline(scores, minus, by_subject(evaluations, metric or study.objective.evaluation))
        if minus in scores.table.index:
            kept = files.of_measure(metric, scores.fixed_rows, scores.table.columns)
            found.append(MeasuredItems(names[metric], metric, scores, minus, kept))
    return found


class _ItemFiles:
    """Item scores of a study's cells and baselines, each file read once."""

    def __init__(self, reader: Reader) -> None:
        self._study, self._folder = reader.study(), reader.study_dir
        cells = reader.cells()
        cells = cells[cells["stage"] == ("grid" if self._study.kind == "grid" else "confirm")]
        named = zip(names_of_cells(self._study, cells), cells["seed"], strict=True)
        self._cells = dict(zip(named, cells["identity"], strict=True))
        self._read, self._attacks = cache(_readable_items), cache(attacks_in)

    def of_measure(
        self, metric: str, fixed_rows: Iterable[str], seeds: Iterable[int]
    ) -> dict[tuple[str, int], ItemScores]:
        """Return item scores by row and seed, those of the first cell's items alone."""
        objective = self._study.objective
        ending = AT_CHECKPOINT if not metric and objective.metric.endswith(AT_CHECKPOINT) else ""
        measured = metric or objective.evaluation
        found = {key: self._of(name, measured, ending) for key, name in self._cells.items()}
        subjects = {label: name for name, label in BASELINES.items()}
        fixed = {row: self._of(subjects[row], measured) for row in fixed_rows}
        found |= {(row, seed): items for row, items in fixed.items() for seed in seeds}
        kept = {key: items for key, items in found.items() if items is not None}
        first = next(iter(kept.values()), None)
        return {key: items for key, items in kept.items() if first and items.is_of_the_same_items(first)}

    def _of(self, subject: str, metric: str, ending: str = "") -> ItemScores | None:
        """Return a subject's item scores on the study's present data; None where there are none."""
        if metric.count("/") != 2 or MINUS in metric:
            return None
        is_baseline = subject in BASELINES
        folder = baselines_folder(self._folder) if is_baseline else cell_folder(self._folder, subject)
        one = self._read(folder).get((subject, metric + ending))
        found = (one.fingerprint, one.items) if one else None
        attacks = None if found else self._attacks(folder / (ATTACKS + f"-{subject}" * is_baseline))
        if attacks is not None:
            found = attack_items(attacks, *metric.split("/"))
        fingerprint = self._study.fingerprints.get(metric.rpartition("/")[0], "")
        return found[1] if found and fingerprint in ("", found[0]) else None


def _readable_items(folder: Path) -> Mapping[tuple[str, str], SubjectItems]:
    try:
        return read_items(folder)
    except InputError:
        return {}


def _intervals(one: MeasuredItems) -> Iterator[dict[str, Any]]:
    contrasts = against(one.scores.table, one.minus)
    compared = dict(zip(contrasts, compare(one.scores.table, list(contrasts.values())), strict=True))
    num_together = sum(contrast is not None for contrast in compared.values())
    cells = list(one.by_cell)
    resampled = resampled_values(list(one.by_cell.values())) if cells else np.zeros((0, 0))
    for row, contrast in compared.items():
        pairs = one.pairs(row)
        line = {"measure": one.measure, "metric": one.metric, "row": row, "minus": one.minus, "num_items": 0}
        line |= dict.fromkeys(("mean", "seeds_low", "seeds_high", "crossed_low", "crossed_high"), nan)
        by_seed = differences_by_seed(one.scores.table, contrasts[row])
        line |= {"num_seeds": len(by_seed), "note": "" if pairs else NOT_KEPT}
        if contrast is not None:
            line |= {
                "mean": contrast.mean,
                "seeds_low": contrast.simultaneous.low,
                "seeds_high": contrast.simultaneous.high,
            }
        if contrast is not None and pairs:
            here, there = (resampled[:, [cells.index(pair[side]) for pair in pairs]] for side in (0, 1))
            line["num_items"] = len(one.by_cell[cells[0]])
            interval = crossed_interval(
                np.array(list(by_seed.values())),
                here - there,
                line["num_items"],
                1 - (1 - LEVEL) / num_together,
            )
            if interval is not None:
                line |= {"crossed_low": interval.low, "crossed_high": interval.high}
        yield line


def _moved(one: MeasuredItems, row: str) -> Iterator[dict[str, Any]]:
    pairs = one.pairs(row)
    if not pairs:
        return
    here, there = (np.mean([_shown(one.by_cell[pair[side]]) for pair in pairs], axis=0) for side in (0, 1))
    items = one.by_cell[pairs[0][0]]
    gold = np.full(len(items), nan) if items.gold is None else items.gold
    index = np.arange(len(items)) if items.index is None else items.index.astype(int)
    size = np.nan_to_num(np.abs(here - there))
    for item in np.argsort(-size, kind="stable")[:NUM_MOVED]:
        if size[item] > 0:
            yield {
                "measure": one.measure,
                "metric": one.metric,
                "row": row,
                "minus": one.minus,
                "item": index[item],
                "gold": gold[item],
                "before": there[item],
                "after": here[item],
                "change": here[item] - there[item],
            }


def _shown(items: ItemScores) -> np.ndarray:
    """Return scores, or of cosines the share of the others, in per cent, that rank below them."""
    if items.gold is None:
        return items.scores.astype(float)
    ranks = scipy.stats.rankdata(items.scores.astype(float))
    return 100 * (ranks - 1) / max(len(items) - 1, 1)


def _frame(name: str, lines: Iterator[dict[str, Any]]) -> pd.DataFrame:
    return with_columns(pd.DataFrame(list(lines), columns=[one.name for one in COLUMNS[name]]), name)
