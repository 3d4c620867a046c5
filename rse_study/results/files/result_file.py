"""Files that a worker hands over: results, scores of a subject, and its items."""

import json
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from rse_study.errors import InputError
from rse_study.results.files.atomic import Content, read_sealed, write_sealed
from rse_study.results.records import EvaluationRow, Record

if TYPE_CHECKING:
    from rse_study.results.item_scores import ItemScores

FILE_NAME = "result.json"
WORK = "work"
"""Provenance key: floating-point operations of the training in P*T, by `methods.cost`."""

PARAMETERS = "parameters"
"""Provenance key: number of trained parameters."""


class Point(Record):
    """Metrics at step `t`."""

    t: int
    metrics: dict[str, float]


class Result(Record):
    """Result of a cell: history, last metrics and provenance."""

    identity: str
    seed: int
    config: dict[str, Any]
    status: Literal["complete", "failed", "stopped_early"] = "complete"
    reason: str = ""
    history: tuple[Point, ...] = ()
    final: dict[str, float] = Field(default_factory=dict)
    provenance: dict[str, Any] = Field(default_factory=dict)
    duration_s: float = 0.0

    def final_value(self, metric: str) -> float:
        """Return the last value of a metric, or the cell's cost; NaN where it has none."""
        if metric == "cost/seconds":
            return self.duration_s
        if metric == "cost/work":
            return float(self.provenance.get(WORK, math.nan))
        return self.final.get(metric, math.nan)


def write_result(directory: Path, result: Result) -> Path:
    """Write `result.json` atomically, safe against a power cut."""
    return write_sealed(directory / FILE_NAME, "result", json.loads(result.model_dump_json()))


def read_result(directory: Path) -> Result:
    """Read the result in a folder; InputError if missing, damaged or edited."""
    return read_sealed(
        directory / FILE_NAME,
        "result",
        Result.model_validate,
        missing="Has the cell finished?",
        remedy="Remove it and run the cell again",
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


def read_items(directory: Path) -> "dict[tuple[str, ...], ItemScores]":
    """Return a folder's item scores by KEY; none without a file, or if it is damaged."""
    return _read(directory / ITEMS_FILE, "items", lambda entries: dict(map(_decoded, entries))) or {}


def with_items(directory: Path, rows: Iterable[EvaluationRow]) -> list[EvaluationRow]:
    """Return rows with the item scores in a folder that are of the same data."""
    known = read_items(directory)
    found = [(row, known.get((row.subject, row.metric, row.fingerprint))) for row in rows]
    return [row.model_copy(update={"items": items}) for row, items in found]


def _decoded(entry: dict[str, str]) -> "tuple[tuple[str, ...], ItemScores]":
    from rse_study.results.item_scores import ItemScores  # imports numpy, which `status` does without

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
