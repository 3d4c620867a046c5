"""State of a study's ledger, as far as a plan needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rse_study.results.records import Stage, Status
from rse_study.search.state import SearchState
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class LedgerCell:
    """A cell of the ledger."""

    trial: Trial
    number: int
    seed: int
    stage: Stage
    status: Status
    """as the next run finds it"""
    retired: bool = False
    runs_again: bool = False
    """whether it has ended, and would be another cell today"""
    t: int = 0
    """steps done if stopped early"""
    has_model: bool = True
    scored: frozenset[str] = frozenset()
    """evaluations it has, task/split"""
    taken_from: str = ""
    """another study of the store that has run it; empty for a cell of this ledger"""


@dataclass(frozen=True)
class LedgerState:
    """Contents of a study's ledger that a plan needs."""

    cells: tuple[LedgerCell, ...] = ()
    device_seconds: float = 0.0
    """over all attempts: `device_time.INCLUDED`"""
    search: SearchState | None = None
    """progress of the search, as the study was frozen; None before it was"""
    elsewhere: Mapping[tuple[Trial, int], LedgerCell] = field(default_factory=dict)
    """complete cells of other studies, by trial and seed, which a run takes instead of running them again"""

    def current(self, stage: Stage) -> list[LedgerCell]:
        """Return the cells of one stage that are not retired."""
        return [cell for cell in self.cells if cell.stage == stage and not cell.retired]

    def cell_for(self, own: LedgerCell | None, trial: Trial, seed: int) -> LedgerCell | None:
        """Return a cell of this ledger, or one to take for it if it has not begun."""
        return self.elsewhere.get((trial, seed), own) if own is None or own.status == "planned" else own
