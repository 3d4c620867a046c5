"""What of a study has run already, as far as a plan asks."""

from dataclasses import dataclass

from rse_study.results.records import Stage, Status
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class LedgerCell:
    """A cell of the ledger.

    `status`: as the next run finds it. `t`: steps done where it was stopped early. `scored`: its evaluations,
    task/split.
    """

    trial: Trial
    number: int
    seed: int
    stage: Stage
    status: Status
    retired: bool = False
    t: int = 0
    has_model: bool = True
    scored: frozenset[str] = frozenset()


@dataclass(frozen=True)
class LedgerState:
    """What a study's ledger holds: its cells, and the seconds that were spent on them, by workers and by threads."""

    cells: tuple[LedgerCell, ...] = ()
    worker_seconds: float = 0.0
    thread_seconds: float = 0.0
