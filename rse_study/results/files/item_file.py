"""`items.json`: the score of every item, beside a folder's evaluations.json."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.results.files.atomic import Content, read_sealed, write_sealed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow

ITEMS_FILE = "items.json"
KEY = ("subject", "metric", "fingerprint")
"""of an entry; the metric of dev pairs at the kept checkpoint ends in /kept"""


def write_items(directory: Path, rows: Iterable[EvaluationRow]) -> None:
    """Add the items that rows carry, replacing those of their subject and metric."""
    own = [
        {key: getattr(row, key) for key in KEY} | row.items.to_json() for row in rows if row.items is not None
    ]
    known = _read(directory, list) or []
    merged = {(entry["subject"], entry["metric"]): entry for entry in (*known, *own)}
    ordered = [merged[key] for key in sorted(merged)]
    if ordered != known:
        write_sealed(directory / ITEMS_FILE, "items", ordered)


def read_items(directory: Path) -> dict[tuple[str, ...], ItemScores]:
    """Return a folder's item scores by KEY; none without a file, or if it is damaged."""
    return _read(directory, lambda entries: dict(map(_decoded, entries))) or {}


def with_items(directory: Path, rows: Iterable[EvaluationRow]) -> list[EvaluationRow]:
    """Return rows with the item scores in a folder that are of the same data."""
    known = read_items(directory)
    found = [(row, known.get((row.subject, row.metric, row.fingerprint))) for row in rows]
    return [row.model_copy(update={"items": items}) for row, items in found]


def _decoded(entry: dict[str, str]) -> tuple[tuple[str, ...], ItemScores]:
    return tuple(entry.pop(key) for key in KEY), ItemScores.from_json(entry)


def _read(directory: Path, parse: Callable[[Any], Content]) -> Content | None:
    with suppress(InputError):  # a file that is lost or damaged takes no score with it
        return read_sealed(directory / ITEMS_FILE, "items", parse, missing="", remedy="")
    return None
