"""`result.json`: a cell's result, written by its worker before it is reported."""

import json
import math
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rse_study.results.files.atomic import read_sealed, write_sealed
from rse_study.results.records import Record

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
