"""How long a study will still run, from how long its cells took."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from rse_study.results.cell_state import HAS_RESULT
from rse_study.results.records import StudyRecord


@dataclass(frozen=True)
class Pace:
    """How fast a study goes; None where no cell has ended yet."""

    median_s: float | None
    """Seconds of a cell that ended with a result, the median."""
    cells_at_a_time: int
    eta_s: float | None
    """Seconds of running that are left."""


def pace_of(
    study: StudyRecord, cells: pd.DataFrame, attempts: pd.DataFrame, running: Mapping[str, float]
) -> Pace:
    """Estimate how long a study still runs.

    What is missing at each stage times the median of what has ended there, over the cells at a time.

    Parameters
    ----------
    study
        The study's record.
    cells, attempts
        Frames of the Reader.
    running
        Of each running cell, by identity: the share of its way it has gone.
    """
    at_a_time = len(running) or most_at_a_time(attempts)
    ended = cells[cells["status"].isin(HAS_RESULT) & (cells["duration_s"] > 0)]
    if ended.empty:
        return Pace(None, at_a_time, None)
    median = float(ended["duration_s"].median())
    medians: dict[str, float] = ended.groupby("stage")["duration_s"].median().to_dict()
    left = sum(
        number * medians.get(stage, median) for stage, number in missing_by_stage(study, cells).items()
    )
    stages = cells.set_index("identity")["stage"]
    going = [(1 - share) * medians.get(stages[name], median) for name, share in running.items()]
    return Pace(median, at_a_time, max([(left + sum(going)) / at_a_time, *going]))


def missing_by_stage(study: StudyRecord, cells: pd.DataFrame) -> dict[str, int]:
    """Cells still to be started, by stage."""
    begun = cells.loc[cells["status"] != "planned", "stage"].value_counts()
    if study.kind == "grid":
        return {"grid": max(0, study.num_cells - int(begun.get("grid", 0)))}
    num_confirmed = max(0, study.num_cells - study.num_trials)
    return {
        "search": max(0, study.num_trials - int(begun.get("search", 0))),
        "confirm": max(0, num_confirmed - int(begun.get("confirm", 0))),
    }


def most_at_a_time(attempts: pd.DataFrame) -> int:
    """The most attempts that ever ran at the same time; 1 where none has."""
    ended = attempts[attempts["ended"] != ""]
    changes = [(at, 1) for at in ended["started"]] + [(at, -1) for at in ended["ended"]]
    most = now = 0
    for _, change in sorted(changes):  # at the same second an end comes before a start
        now += change
        most = max(most, now)
    return max(1, most)
