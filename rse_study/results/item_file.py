"""`items.json`: the score of every item, beside a folder's evaluations.json."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.results.atomic import read_sealed, write_sealed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow

FILE_NAME = "items.json"
REMEDY = "Remove it: what is compared says then that item scores were not kept"
OF_AN_ENTRY = ("subject", "metric", "fingerprint")


@dataclass(frozen=True, eq=False)
class SubjectItems:
    """Item scores of one subject on one metric."""

    subject: str
    metric: str
    """as in `EvaluationRow.metric`; ends in /kept for dev pairs at the checkpoint that is kept"""
    fingerprint: str
    """of the data and settings behind them"""
    items: ItemScores


def items_of(rows: Iterable[EvaluationRow]) -> list[SubjectItems]:
    """Return the item scores that rows carry."""
    return [
        SubjectItems(row.subject, row.metric, row.fingerprint, row.items)
        for row in rows
        if row.items is not None
    ]


def write_items(directory: Path, given: Iterable[SubjectItems]) -> None:
    """Add item scores to a folder's file, replacing those of their subject and metric.

    A damaged file is replaced; nothing is written where nothing changes.
    """
    own = [{**{name: getattr(one, name) for name in OF_AN_ENTRY}, **one.items.to_json()} for one in given]
    if not own:
        return
    try:
        known = _entries(directory)
    except InputError:
        known = []
    merged = {(entry["subject"], entry["metric"]): entry for entry in (*known, *own)}
    ordered = [merged[key] for key in sorted(merged)]
    if ordered != known:
        write_sealed(directory / FILE_NAME, "items", ordered)


def read_items(directory: Path) -> dict[tuple[str, str], SubjectItems]:
    """Return a folder's item scores by subject and metric; none without a file."""
    try:
        found = [_subject_items(entry) for entry in _entries(directory)]
    except (ValueError, TypeError, KeyError) as error:
        path = str(directory / FILE_NAME)
        raise InputError(f"damaged: {error}", where=path, remedy=REMEDY) from None
    return {(one.subject, one.metric): one for one in found}


def with_items(directory: Path, rows: Iterable[EvaluationRow]) -> list[EvaluationRow]:
    """Return rows with the item scores in a folder, if they are of the same data."""
    try:
        known = read_items(directory)
    except InputError:
        known = {}
    found = [(row, known.get((row.subject, row.metric))) for row in rows]
    return [
        row.model_copy(update={"items": one.items}) if one and one.fingerprint == row.fingerprint else row
        for row, one in found
    ]


def _entries(directory: Path) -> list[dict[str, Any]]:
    path = directory / FILE_NAME
    return read_sealed(path, "items", list, missing=REMEDY, remedy=REMEDY) if path.exists() else []


def _subject_items(entry: dict[str, Any]) -> SubjectItems:
    columns = {name: text for name, text in entry.items() if name not in OF_AN_ENTRY}
    return SubjectItems(*(entry[name] for name in OF_AN_ENTRY), ItemScores.from_json(columns))
