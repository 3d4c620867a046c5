"""Two ledgers of one study, compared row by row: what was decided and measured, without when and by whom."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from rse_study.results.reader import Reader

TIMES = ("started", "ended", "duration_s", "provenance")
TABLES: dict[str, tuple[Callable[[Reader], pd.DataFrame], tuple[str, ...]]] = {
    "cells": (Reader.cells, ("identity",)),
    "metrics": (Reader.metrics, ("cell", "t", "name")),
    "rungs": (Reader.rungs, ("cell", "t")),
    "evaluations": (Reader.evaluations, ("subject", "metric")),
}
"""What is read, and what names a row of it."""
Rows = dict[tuple[str, tuple], dict[str, Any]]


def rows_of(folder: Path, only_complete: bool = False) -> Rows:
    """Every row of a study's ledger by table and key.

    `only_complete`: cells that ended with a result, and their numbers; nobody may change these any more.
    """
    rows: Rows = {}
    with Reader(folder) as reader:
        cells = reader.cells()
        complete = set(cells[cells["status"] == "complete"]["identity"])
        for table, (read, names) in TABLES.items():
            for row in read(reader).drop(columns=list(TIMES), errors="ignore").to_dict("records"):
                key = (table, tuple(row[name] for name in names))
                if not only_complete or (table in ("cells", "metrics") and key[1][0] in complete):
                    rows[key] = row
    return rows


def differences(one: Rows, other: Rows, tolerance: float = 0.0) -> list[str]:
    """What differs, a line for each: rows that one of the two lacks, and values further apart than allowed."""
    found = [f"{key}: only in the {'first' if key in one else 'second'}" for key in one.keys() ^ other.keys()]
    for key in one.keys() & other.keys():
        for name, value in one[key].items():
            if not _is_equal(value, other[key][name], tolerance):
                found.append(f"{key}: {name} is {value!r} and {other[key][name]!r}")
    return sorted(found)


def changed(before: Rows, after: Rows) -> list[str]:
    """Rows of `before` that are gone, or have other values now."""
    return differences(before, {key: row for key, row in after.items() if key in before})


def _is_equal(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or one == other or abs(one - other) <= tolerance * max(1.0, abs(one))
    return bool(one == other)
