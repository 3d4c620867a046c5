"""`evaluations.json`: scores of a cell or of baselines, beside other files."""

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.results.files.item_file import with_items, write_items
from rse_study.results.records import EvaluationRow

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
    with suppress(InputError):  # what is missing is measured again
        return read_sealed(directory / EVALUATIONS_FILE, "evaluations", _rows, missing="", remedy="")
    return []


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
