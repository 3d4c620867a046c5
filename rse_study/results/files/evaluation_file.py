"""Scores of a subject and its items: `evaluations.json` and `items.json`."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import compress, decompress

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rse_study.errors import InputError
from rse_study.results.files.atomic import Content, read_sealed, write_sealed
from rse_study.results.records import EvaluationRow

Float32s = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ItemScores:
    """One score per item, in the order of the evaluation's data.

    With `gold` the evaluation's value is Spearman x100 of both, otherwise the mean of the scores that are not NaN
    (skipped inputs have none). With `parts` it is the plain mean over the parts of that.
    """

    scores: Float32s
    """[n], cosines of pairs; for means in the unit of the value, so that a correct input has 100"""
    gold: Float32s | None = None
    """[n], judgements of pairs"""
    parts: Float32s | None = None
    """[n], number of each item's subset or fold"""

    @classmethod
    def of(
        cls, scores: ArrayLike, gold: ArrayLike | None = None, parts: ArrayLike | None = None
    ) -> "ItemScores | None":
        """Return the scores; None for cosines that rank nothing: not finite, or all equal."""
        ours, *columns = (
            None if one is None else np.asarray(one, np.float32) for one in (scores, gold, parts)
        )
        assert ours is not None
        is_lost = gold is not None and (not np.isfinite(ours).all() or not np.ptp(ours))
        return None if is_lost else cls(ours, *columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemScores) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def is_beside(self, other: "ItemScores") -> bool:
        """Whether both are of the same items, with the same gold and parts."""
        ours, theirs = (
            [
                len(one.scores),
                *(None if column is None else column.tobytes() for column in (one.gold, one.parts)),
            ]
            for one in (self, other)
        )
        return ours == theirs

    def to_json(self) -> dict[str, str]:
        """Return the columns as text, some five bytes per score."""
        columns = {"scores": self.scores, "gold": self.gold, "parts": self.parts}
        packed = {
            name: compress(one.astype("<f4").tobytes()) for name, one in columns.items() if one is not None
        }
        return {name: b64encode(one).decode() for name, one in packed.items()}

    @classmethod
    def from_json(cls, content: dict[str, str]) -> "ItemScores":
        return cls(
            **{name: np.frombuffer(decompress(b64decode(text)), "<f4") for name, text in content.items()}
        )


ITEMS_FILE = "items.json"
KEY = ("subject", "metric", "fingerprint")
"""of an entry; the metric of dev pairs at the kept checkpoint ends in /kept"""


def write_items(directory: Path, rows: Iterable[EvaluationRow]) -> None:
    """Add the items that rows carry, replacing those of their subject and metric."""
    own = [
        {key: getattr(row, key) for key in KEY} | row.items.to_json() for row in rows if row.items is not None
    ]
    known = _read(directory / ITEMS_FILE, "items", list) or []
    merged = {(entry["subject"], entry["metric"]): entry for entry in (*known, *own)}
    ordered = [merged[key] for key in sorted(merged)]
    if ordered != known:
        write_sealed(directory / ITEMS_FILE, "items", ordered)


def read_items(directory: Path) -> dict[tuple[str, ...], ItemScores]:
    """Return a folder's item scores by KEY; none without a file, or if it is damaged."""
    return _read(directory / ITEMS_FILE, "items", lambda entries: dict(map(_decoded, entries))) or {}


def with_items(directory: Path, rows: Iterable[EvaluationRow]) -> list[EvaluationRow]:
    """Return rows with the item scores in a folder that are of the same data."""
    known = read_items(directory)
    found = [(row, known.get((row.subject, row.metric, row.fingerprint))) for row in rows]
    return [row.model_copy(update={"items": items}) for row, items in found]


def _decoded(entry: dict[str, str]) -> tuple[tuple[str, ...], ItemScores]:
    return tuple(entry.pop(key) for key in KEY), ItemScores.from_json(entry)


def _read(path: Path, kind: str, parse: Callable[[Any], Content]) -> Content | None:
    with suppress(InputError):  # a file that is lost or damaged takes no score with it: it is measured again
        return read_sealed(path, kind, parse, missing="", remedy="")
    return None


EVALUATIONS_FILE = "evaluations.json"


def write_evaluations(directory: Path, rows: Sequence[EvaluationRow]) -> Path:
    """Add rows to a folder's file, replacing those of their subject and metric.

    Rows on other data or settings are dropped, and a damaged file is replaced. Items that rows carry go into a file of
    their own, first: no row is there before them.
    """
    path = directory / EVALUATIONS_FILE
    write_items(directory, rows)
    known = read_evaluations(directory)
    now = {(row.subject, row.evaluation): row.fingerprint for row in rows}
    valid = [
        row for row in known if now.get((row.subject, row.evaluation), row.fingerprint) == row.fingerprint
    ]
    merged = {(row.subject, row.metric): row for row in (*valid, *rows)}
    ordered = [merged[key].model_copy(update={"items": None}) for key in sorted(merged)]
    if ordered != known:
        write_sealed(path, "evaluations", [json.loads(row.model_dump_json()) for row in ordered])
    return path


def read_evaluations(directory: Path) -> list[EvaluationRow]:
    """Return the rows in a folder by subject and metric; none if lost or damaged."""
    return _read(directory / EVALUATIONS_FILE, "evaluations", _rows) or []


def written_rows(directory: Path, subject: str, wanted: Collection[tuple[str, str]]) -> list[EvaluationRow]:
    """Return a subject's wanted rows (evaluation, fingerprint), with their items."""
    asked = [
        row
        for row in read_evaluations(directory)
        if row.subject == subject and (row.evaluation, row.fingerprint) in wanted
    ]
    return with_items(directory, asked)


def _rows(content: list[Any]) -> list[EvaluationRow]:
    return [EvaluationRow.model_validate(row) for row in content]
