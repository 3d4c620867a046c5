"""Rows minus a baseline for new seeds and new items, and the items that moved."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy  # submodules load lazily

from rse_study.errors import InputError
from rse_study.results.attack_file import AttackFolder, is_attack_folder, read_attacks
from rse_study.results.attack_items import attack_items
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
from rse_study.results.item_file import read_items
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from rse_study.results.records import AT_CHECKPOINT, BASELINES
from rse_study.results.row_names import names_of_cells
from rse_study.results.schema import baselines_folder, cell_folder

NOT_KEPT = "item scores were not kept"
NUM_MOVED = 10
"""items that are listed per measure and row"""
RowAndSeed = tuple[str, int]


@dataclass(frozen=True)
class MeasuredItems:
    """Scores of one measure, and those of its items as far as they were kept."""

    heading: Mapping[str, str]
    """measure, metric and minus: the first columns of both frames"""
    scores: Scores
    by_cell: Mapping[RowAndSeed, ItemScores]
    """all of the same items"""

    @property
    def minus(self) -> str:
        return self.heading["minus"]

    def pairs(self, row: str, seeds: Iterable[int]) -> list[tuple[RowAndSeed, RowAndSeed]]:
        """Return the cells of a row and of the baseline, seed by seed; none if one has no items."""
        pairs = [((row, seed), (self.minus, seed)) for seed in seeds]
        return pairs if all(cell in self.by_cell for pair in pairs for cell in pair) else []


def crossed_frame(measured: Iterable[MeasuredItems]) -> pd.DataFrame:
    """Return one row per measure and row: its intervals for new seeds, and for new seeds and new items."""
    return _frame("crossed", (line for one in measured for line in _intervals(one)))


def moved_frame(measured: Iterable[MeasuredItems]) -> pd.DataFrame:
    """Return the items with the largest mean change, per measure and row."""
    return _frame("moved", (line for one in measured for line in _moved(one)))


def measured_items(reader: Reader, minus: str = "") -> list[MeasuredItems]:
    """Read the scores of each measure's items, of rows and of the row `minus` they are compared with."""
    study, names = reader.study(), measures_of(reader.study())
    minus, evaluations = minus or own_baseline(study, reader.cells()), reader.evaluations()
    items_of, found = _item_reader(reader), []
    cells = reader.cells()
    cells = cells[cells["stage"] == ("grid" if study.kind == "grid" else "confirm")]
    keys = list(zip(names_of_cells(study, cells), cells["seed"], strict=True))
    subjects = {label: name for name, label in BASELINES.items()}
    for metric, scores in scores_by_metric(reader, names).items():
        measured = metric or study.objective.evaluation
        scores = with_baseline(scores, minus, by_subject(evaluations, measured))
        if minus not in scores.table.index:
            continue
        is_kept = not metric and study.objective.metric.endswith(AT_CHECKPOINT)
        items = {
            key: items_of(name, measured + AT_CHECKPOINT * is_kept)
            for key, name in zip(keys, cells["identity"], strict=True)
        }
        for row in scores.fixed_rows:
            items |= dict.fromkeys(
                ((row, seed) for seed in scores.table.columns), items_of(subjects[row], measured)
            )
        kept = {key: one for key, one in items.items() if one is not None}
        same = {key: one for key, one in kept.items() if one.data == next(iter(kept.values())).data}
        heading = {"measure": names[metric], "metric": metric, "minus": minus}
        found.append(MeasuredItems(heading, scores, same))
    return found


def _item_reader(reader: Reader) -> Callable[[str, str], ItemScores | None]:
    """Return what finds a subject's item scores on the study's present data, reading each file once."""
    study_dir, fingerprints = reader.study_dir, reader.study().fingerprints
    attacks_of, of_folder = cache(_attacks_in), cache(partial(read_items, is_strict=False))

    def items_of(subject: str, metric: str) -> ItemScores | None:
        evaluation, _, figure = metric.removesuffix(AT_CHECKPOINT).rpartition("/")
        is_baseline, wanted = subject in BASELINES, fingerprints.get(evaluation, "")
        folder = baselines_folder(study_dir) if is_baseline else cell_folder(study_dir, subject)
        found = of_folder(folder).get((subject, metric, wanted))
        attacks = None if found else attacks_of(folder / (f"attacks-{subject}" if is_baseline else "attacks"))
        if attacks is not None and evaluation.count("/") == 1:
            fingerprint, items = attack_items(attacks, *evaluation.split("/"), figure)
            found = items if fingerprint == wanted else None
        return found

    return items_of


def _attacks_in(folder: Path) -> AttackFolder | None:
    with suppress(InputError):
        return read_attacks(folder) if is_attack_folder(folder) else None
    return None


def _intervals(one: MeasuredItems) -> Iterator[dict[str, Any]]:
    table, contrasts = one.scores.table, against(one.scores.table, one.minus)
    compared = dict(zip(contrasts, compare(table, list(contrasts.values())), strict=True))
    level = 1 - (1 - LEVEL) / max(1, sum(contrast is not None for contrast in compared.values()))
    place = {cell: number for number, cell in enumerate(one.by_cell)}
    resampled = resampled_values(list(one.by_cell.values())) if place else np.zeros((0, 0))
    for row, contrast in compared.items():
        line = {**one.heading, "row": row, "num_seeds": 0, "num_items": 0, "note": "fewer than 3 seeds"}
        if contrast is not None:
            pairs, simultaneous = one.pairs(row, contrast.by_seed), contrast.simultaneous
            line |= {"num_seeds": contrast.n, "mean": contrast.mean, "note": "" if pairs else NOT_KEPT}
            line |= {"seeds_low": simultaneous.low, "seeds_high": simultaneous.high}
            if pairs:
                here, there = (
                    resampled[:, [place[cell] for cell in side]] for side in zip(*pairs, strict=True)
                )
                line["num_items"] = len(one.by_cell[pairs[0][0]])
                by_seed = np.array(list(contrast.by_seed.values()))
                interval = crossed_interval(by_seed, here - there, line["num_items"], level)
                line |= {"crossed_low": interval.low, "crossed_high": interval.high} if interval else {}
        yield line


def _moved(one: MeasuredItems) -> Iterator[dict[str, Any]]:
    for row, weights in against(one.scores.table, one.minus).items():
        pairs = one.pairs(row, differences_by_seed(one.scores.table, weights))
        if pairs:
            sides = zip(*pairs, strict=True)
            after, before = (np.mean([_shown(one.by_cell[cell]) for cell in side], axis=0) for side in sides)
            change = np.nan_to_num(after - before)
            for item in np.argsort(-np.abs(change), kind="stable")[:NUM_MOVED]:
                if change[item]:
                    values = {"before": before[item], "after": after[item], "change": change[item]}
                    yield {**one.heading, "row": row, "item": item, **values}


def _shown(items: ItemScores) -> np.ndarray:
    """Return scores, or of cosines the share of the others, in per cent, that rank below."""
    if items.gold is None:
        return items.scores.astype(float)
    return 100 * (scipy.stats.rankdata(items.scores) - 1) / (len(items) - 1)


def _frame(name: str, lines: Iterable[dict[str, Any]]) -> pd.DataFrame:
    return with_columns(pd.DataFrame(list(lines), columns=[one.name for one in COLUMNS[name]]), name)
