"""The rest of one stage of a study."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rse_study.results.records import FINISHED, Stage
from rse_study.study.definition.resources import Resources
from rse_study.study.planning.cost_model import Cost
from rse_study.study.planning.estimates import Range
from rse_study.study.planning.ledger_state import LedgerCell
from rse_study.study.planning.throughput import num_devices


@dataclass(frozen=True)
class StagePlan:
    """Cells of a stage by status, and the cost of those left to run."""

    name: Stage
    resources: Resources
    num_trials: int
    num_seeds: int
    num_done: int
    num_stopped: int
    num_failed: int
    num_to_run: int
    cost: Cost
    num_shared: int = 0
    """cells that another stage runs"""
    num_saved: int = 0
    """cells spared so far because rows are decided"""
    num_spared: int = 0
    """cells to run that do not run if all rows are decided as early as can be"""

    @property
    def num_cells(self) -> int:
        """Trials times seeds, less cells that another stage runs or that are saved."""
        return self.num_trials * self.num_seeds - self.num_shared - self.num_saved

    @property
    def device_hours(self) -> Range | None:
        return device_hours(self.cost, self.resources)


def stage_plan(
    name: Stage,
    resources: Resources,
    num_trials: int,
    num_seeds: int,
    ended: Iterable[LedgerCell],
    num_to_run: int,
    cost: Cost,
) -> StagePlan:
    """Count the ended cells of a stage by status."""
    count = Counter(cell.status for cell in ended)
    return StagePlan(
        name=name,
        resources=resources,
        num_trials=num_trials,
        num_seeds=num_seeds,
        num_done=count["complete"],
        num_stopped=count["stopped_early"],
        num_failed=count["failed"],
        num_to_run=num_to_run,
        cost=cost,
    )


def device_hours(cost: Cost, resources: Resources) -> Range | None:
    """Return the hours of GPUs, or of CPU threads without any; None if unknown."""
    return None if cost.seconds is None else cost.seconds.times(num_devices(resources) / 3600)


def has_ended(cell: LedgerCell | None) -> bool:
    """Whether a cell is known and need not be run."""
    return cell is not None and cell.status in FINISHED
