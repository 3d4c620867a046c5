"""The time a study will still run, estimated from its cells."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rse_study.results.reader import HAS_RESULT
from rse_study.results.records import AttemptRecord
from rse_study.search.state import SearchState


@dataclass(frozen=True)
class Pace:
    """Speed of a study; None where no cell has ended yet."""

    median_s: float | None
    """seconds of a cell that ended with a result"""
    cells_at_a_time: int
    eta_s: float | None
    """seconds of running that are left"""


def pace_of(search: SearchState, attempts: Sequence[AttemptRecord], running: Mapping[str, float]) -> Pace:
    """Estimate how much longer a study will run.

    The missing cells of each stage are multiplied by the median time of the cells that ended there, or, before any
    has, of all that were not stopped early; the sum is divided by the number of cells that run at a time. `running`
    maps each running cell to the share of it that is done.
    """
    at_a_time = len(running) or most_at_a_time(attempts)
    durations = defaultdict(list)
    for cell in search.cells:
        if cell.status in HAS_RESULT and cell.duration_s > 0:
            durations[cell.stage].append(cell.duration_s)
    if not durations:
        return Pace(None, at_a_time, None)
    of_all = median(seconds for of_stage in durations.values() for seconds in of_stage)
    whole = [cell.duration_s for cell in search.cells if cell.status == "complete" and cell.duration_s > 0]
    elsewhere = median(whole) if whole else of_all
    medians: dict[str, float] = {stage: median(of_stage) for stage, of_stage in durations.items()}
    missing = missing_by_stage(search).items()
    left = sum(number * medians.get(stage, elsewhere) for stage, number in missing)
    stages = {cell.identity: cell.stage for cell in search.cells}
    going = [(1 - share) * medians.get(stages[name], elsewhere) for name, share in running.items()]
    return Pace(of_all, at_a_time, max([(left + sum(going)) / at_a_time, *going]))


def missing_by_stage(search: SearchState) -> dict[str, int]:
    """Count cells still to be started, by stage: the most possible."""
    begun = Counter(cell.stage for cell in search.cells if cell.status != "planned")
    return {stage: max(0, most - begun[stage]) for stage, most in search.most_cells.items()}


def most_at_a_time(attempts: Sequence[AttemptRecord]) -> int:
    """Return the most attempts that ever ran at the same time; 1 where none has."""
    ended = [attempt for attempt in attempts if attempt.ended]
    changes = [(one.started, 1) for one in ended] + [(one.ended, -1) for one in ended]
    most = now = 0
    for _, change in sorted(changes):  # at the same second an end comes before a start
        now += change
        most = max(most, now)
    return max(1, most)
