"""The tables of a search, as frames: numbers for figures, text for people."""

from pathlib import Path
from typing import Any

import pandas as pd

from rse_study.results.reader import Reader
from rse_study.results.records import BASELINES, StudyRecord

NOT_MEASURED = "not measured"


def trials(reader: Reader) -> pd.DataFrame:
    """`Reader.trials_table` with a column `best`: the best objective among complete cells (the first on a tie)."""
    table, direction = reader.trials_table(), reader.study().objective.direction
    candidates = table["objective"].where(table["status"] == "complete").dropna()
    table["best"] = False
    if not candidates.empty:
        table.loc[candidates.idxmax() if direction == "maximize" else candidates.idxmin(), "best"] = True
    return table


def baselines(reader: Reader) -> pd.DataFrame:
    """The baselines on the objective's own pairs: subject, label, value (NaN where nobody measured it)."""
    objective, scores = reader.study().objective, reader.evaluations()
    matching = scores[scores["metric"] == (objective.evaluation or objective.metric)].set_index("subject")[
        "value"
    ]
    rows = [(subject, label, matching.get(subject, float("nan"))) for subject, label in BASELINES.items()]
    return pd.DataFrame(rows, columns=["subject", "label", "value"])


def beaten(table: pd.DataFrame, scores: pd.DataFrame, direction: str) -> list[str]:
    """For every measured baseline, how many complete trials are better than it, in words."""
    complete = table.loc[table["status"] == "complete", "objective"].dropna()
    sign = 1 if direction == "maximize" else -1
    rows = list(scores.dropna(subset="value").itertuples())
    counts = [int((sign * (complete - row.value) > 0).sum()) for row in rows]
    return [
        f"{count} of {len(complete)} complete trials are better than {row.label}"
        for count, row in zip(counts, rows, strict=True)
    ]


def failures(reader: Reader) -> pd.DataFrame:
    """Cells that failed, with the reason on record."""
    cells = reader.cells()
    return cells.loc[cells["status"] == "failed", ["trial", "seed", "reason"]].reset_index(drop=True)


def costs(reader: Reader) -> dict[str, str]:
    """What the study took so far, in words and numbers."""
    cells = reader.cells()
    durations = cells.loc[cells["duration_s"] > 0, "duration_s"]
    cost = {
        "cells": ", ".join(f"{count} {status}" for status, count in cells["status"].value_counts().items())
    }
    if not durations.empty:
        cost["time in cells"] = show_duration(durations.sum())
        cost["median cell"] = show_duration(durations.median())
    started, ended = (
        pd.to_datetime(cells[name].replace("", None), utc=True) for name in ("started", "ended")
    )
    if started.notna().any() and ended.notna().any():
        cost["first start to last end"] = show_duration((ended.max() - started.min()).total_seconds())
    return cost


def as_text(study_dir: Path) -> pd.DataFrame:
    """The whole search as strings, baselines first: a terminal prints it as it is. The best trial has a star."""
    with Reader(study_dir) as reader:
        return show_trials(reader.study(), trials(reader), baselines(reader))


def show_trials(study: StudyRecord, table: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Baselines and trials under the headings of the study, every value as text."""
    axes, label = study.headings, study.objective.label or study.objective.metric
    above = [
        {"trial": row.label, label: NOT_MEASURED if pd.isna(row.value) else show_number(row.value, 2)}
        for row in scores.itertuples()
    ]
    below = [
        {"trial": f"{row['trial']} *" if row["best"] else str(row["trial"])}
        | {label: show_number(row["objective"], 2), "status": row["status"]}
        | {axis: show_value(row[axis]) for axis in axes}
        | {"step": show_value(row["t"]), "time": show_duration(row["duration_s"])}
        for row in table.to_dict("records")
    ]
    headings = ["trial", label, "status", *axes, "step", "time"]
    return pd.DataFrame(above + below, columns=headings, dtype=object).fillna("")


def show_number(value: float, decimals: int) -> str:
    """Fixed decimals; nothing where there is no number."""
    return "" if pd.isna(value) else f"{value:.{decimals}f}"


def show_value(value: Any) -> str:
    """A configured value: three digits are enough to recognise it."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def show_duration(seconds: float) -> str:
    """3.2 s, 4 min 05 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds else ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
