"""Rows minus a baseline for new seeds and new items, and the items that moved."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy  # submodules load lazily

from rse_study.results.comparing import comparisons
from rse_study.results.comparing.contrasts import measures_of, with_baseline
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.comparing.crossed import crossed_interval, resampled_values
from rse_study.results.files.evaluation_file import read_items
from rse_study.results.files.schema import baselines_folder, cell_folder
from rse_study.results.frame_columns import frame_of
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from rse_study.results.records import BASELINES
from rse_study.results.row_names import names_of_cells, own_baseline
from rse_study.results.study_record import AT_CHECKPOINT

NOT_KEPT = "item scores were not kept"
TOO_FEW = "fewer than 3 seeds"
RowAndSeed = tuple[str, int]


class MeasuredItems(NamedTuple):
    """Scores of one measure, and those of its items as far as they were kept."""

    measure: str
    metric: str
    minus: str
    table: pd.DataFrame
    """[rows, seeds], `minus` among the rows"""
    by_cell: Mapping[RowAndSeed, ItemScores]
    """all of the same items"""
    criterion: Criterion = Criterion()

    def cells(self, row: str, seeds: Iterable[int]) -> list[RowAndSeed]:
        """Return the cells of a row; none if one of them or of the baseline has no items."""
        pairs = [((row, seed), (self.minus, seed)) for seed in seeds]
        return [one for one, _ in pairs] if all(one in self.by_cell for two in pairs for one in two) else []


def measured_items(reader: Reader, minus: str = "") -> list[MeasuredItems]:
    """Read each measure's item scores, of rows and of the row `minus` beside them."""
    study, cells = reader.study(), reader.cells()
    names, minus, files = measures_of(study), minus or own_baseline(study, cells), _ItemFiles(reader)
    cells = cells[cells["stage"] == ("grid" if study.kind == "grid" else "confirm")]
    rows, found = names_of_cells(study, cells), []
    for metric, scores in comparisons.scores_by_metric(reader, names).items():
        measured = metric or study.objective.evaluation
        scores = with_baseline(scores, minus, comparisons.by_subject(reader, measured))
        if minus in scores.table.index:
            ending = "" if metric or not study.objective.metric.endswith(AT_CHECKPOINT) else AT_CHECKPOINT
            subjects = zip(rows, cells["seed"], cells["identity"], strict=True)
            items = {(row, seed): files.items(name, measured, ending) for row, seed, name in subjects}
            fixed = [name for name, label in BASELINES.items() if label in scores.fixed_rows]
            items |= {(minus, seed): files.items(name, measured) for name in fixed for seed in scores.table}
            kept = {key: one for key, one in items.items() if one is not None}
            same = {key: one for key, one in kept.items() if one.is_beside(next(iter(kept.values())))}
            found.append(MeasuredItems(names[metric], metric, minus, scores.table, same, scores.criterion))
    return found


class _ItemFiles:
    """Item scores of a study on its present data, each file read once."""

    def __init__(self, reader: Reader) -> None:
        self._folder, self._fingerprints = reader.study_dir, reader.study().fingerprints
        self._read = cache(read_items)

    def items(self, subject: str, metric: str, ending: str = "") -> ItemScores | None:
        wanted = self._fingerprints.get(metric.rpartition("/")[0], "")
        is_cell = subject not in BASELINES
        folder = cell_folder(self._folder, subject) if is_cell else baselines_folder(self._folder)
        return self._read(folder).get((subject, metric + ending, wanted))


def crossed_frame(measured: Iterable[MeasuredItems]) -> pd.DataFrame:
    """Return both intervals of every difference, a row per measure and row."""
    return frame_of((line for one in measured for line in _intervals(one)), "crossed")


def _intervals(one: MeasuredItems) -> Iterator[dict[str, Any]]:
    contrasts = comparisons.against(one.table, one.minus)
    compared = comparisons.compare(one.table, list(contrasts.values()), criterion=one.criterion)
    level = 1 - (1 - comparisons.LEVEL) / max(1, sum(contrast is not None for contrast in compared))
    place = {cell: number for number, cell in enumerate(one.by_cell)}
    resampled = resampled_values(list(one.by_cell.values())) if place else np.zeros((0, 0))
    for row, contrast in zip(contrasts, compared, strict=True):
        line = one._asdict() | {"row": row, "num_seeds": 0, "num_items": 0, "note": TOO_FEW}
        if contrast is not None:
            cells, seeds = one.cells(row, contrast.by_seed), contrast.deciding
            line |= {"num_seeds": contrast.n, "mean": contrast.mean, "note": "" if cells else NOT_KEPT}
            line |= {"seeds_low": seeds.low, "seeds_high": seeds.high}
            if cells:
                here, there = [place[cell] for cell in cells], [place[one.minus, seed] for _, seed in cells]
                by_seed, size = np.array([*contrast.by_seed.values()]), len(one.by_cell[cells[0]].scores)
                both = crossed_interval(by_seed, seeds, resampled[:, here] - resampled[:, there], size, level)
                line |= {"num_items": size, "crossed_low": both.low, "crossed_high": both.high}
        yield line


def items_that_moved(one: MeasuredItems, row: str, number: int = 10) -> pd.Series:
    """Return the largest mean changes over seeds, by the items' place, from 0.

    A pair changes by the share of the other pairs, in per cent, that its cosine rises above.
    """
    cells = one.cells(row, comparisons.differences_by_seed(one.table, {row: 1.0, one.minus: -1.0}))
    changes = [_shown(one.by_cell[cell]) - _shown(one.by_cell[one.minus, cell[1]]) for cell in cells]
    change = pd.Series(np.mean(changes, axis=0) if changes else [], dtype=float).dropna()
    return change[change != 0].sort_values(key=lambda column: -column.abs(), kind="stable").head(number)


def _shown(items: ItemScores) -> np.ndarray:
    if items.gold is None:
        return items.scores.astype(float)
    return 100 * (scipy.stats.rankdata(items.scores) - 1) / (len(items.scores) - 1)
