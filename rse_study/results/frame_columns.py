"""Columns of a study's public frames, from the table frame_columns.csv."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd


class FrameColumn(NamedTuple):
    """A column of a public frame."""

    name: str
    dtype: str
    meaning: str
    """Includes the unit."""


def _columns() -> dict[str, tuple[FrameColumn, ...]]:
    found: dict[str, tuple[FrameColumn, ...]] = {}
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            column = FrameColumn(row["column"], row["dtype"], row["meaning"])
            for name in row["frame"].split():
                found[name] = (*found.get(name, ()), column)
    return found


COLUMNS = _columns()


def with_columns(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Select, order and type a frame's public columns."""
    dtypes = {one.name: one.dtype for one in COLUMNS[name]}
    return frame[[*dtypes]].astype(dtypes).reset_index(drop=True)


def frame_of(rows: Iterable[Mapping[str, Any]], name: str) -> pd.DataFrame:
    """Return rows, each by column, as the public frame of this name."""
    return with_columns(pd.DataFrame(list(rows), columns=[one.name for one in COLUMNS[name]]), name)


def describe_columns(name: str) -> pd.DataFrame:
    """Return a row per column of a frame: column, dtype, meaning."""
    return pd.DataFrame(COLUMNS[name], columns=["column", "dtype", "meaning"])
