"""`items.json`: the score of every item, beside a folder's evaluations.json."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.results.atomic import read_sealed, write_sealed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow

FILE_NAME = "items.json"
REMEDY = "Remove it: pages say then that item scores were not kept"
KEY = ("subject", "metric", "fingerprint")
ItemKey = tuple[str, str, str]
"""subject, metric (it ends in /kept on dev pairs at the kept checkpoint), fingerprint of data and settings"""


def write_items(directory: Path, rows: Iterable[EvaluationRow]) -> None:
    """Add the items that rows carry to a folder's file, replacing those of their subject and metric.

    A damaged file is replaced.
    """
    own = [
        {key: getattr(row, key) for key in KEY} | row.items.to_json() for row in rows if row.items is not None
    ]
    known = _entries(directory, is_strict=False)
    merged = {(entry["subject"], entry["metric"]): entry for entry in (*known, *own)}
    ordered = [merged[key] for key in sorted(merged)]
    if ordered != known:
        write_sealed(directory / FILE_NAME, "items", ordered)


def read_items(directory: Path, *, is_strict: bool = True) -> Mapping[ItemKey, ItemScores]:
    """Return a folder's item scores, none without a file; InputError if damaged and `is_strict`."""
    return {
        (entry.pop("subject"), entry.pop("metric"), entry.pop("fingerprint")): ItemScores.from_json(entry)
        for entry in _entries(directory, is_strict)
    }


def with_items(directory: Path, rows: Iterable[EvaluationRow]) -> list[EvaluationRow]:
    """Return rows with the item scores in a folder that are of the same data."""
    known = read_items(directory, is_strict=False)
    items = {(row.subject, row.metric, row.fingerprint): row for row in rows}
    return [row.model_copy(update={"items": known.get(key)}) for key, row in items.items()]


def _entries(directory: Path, is_strict: bool) -> list[dict[str, Any]]:
    path = directory / FILE_NAME
    try:
        return read_sealed(path, "items", list, missing=REMEDY, remedy=REMEDY) if path.exists() else []
    except InputError:
        if is_strict:
            raise
        return []
