"""What of a study has run already, as far as a plan asks."""

from dataclasses import dataclass

from rse_study.results.records import Stage, Status
from rse_study.results.settings import BudgetSettings
from rse_study.search.ablation_path import PathState
from rse_study.search.race import RaceState
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
    t: int = 0
    """steps done where it was stopped early"""
    has_model: bool = True
    scored: frozenset[str] = frozenset()
    """its evaluations, task/split"""


@dataclass(frozen=True)
class LedgerState:
    """What a study's ledger holds, as far as a plan needs it."""

    cells: tuple[LedgerCell, ...] = ()
    path: PathState | None = None
    """how far its ablation path is, as the study was frozen"""
    worker_seconds: float = 0.0
    """spent on all attempts, times their workers"""
    thread_seconds: float = 0.0
    """times their threads, too"""
    spent_budget: BudgetSettings | None = None
    """the search's budget, as the study was frozen, that has ended it"""
    race: RaceState | None = None
    """how far the race of a search's seeds is"""
