"""Studies to be priced, cells that their ledgers might hold, and a rate of one second for a unit of work."""

import copy

from rse_study.study.checking.validation import CheckedStudy, check_study
from rse_study.study.definition.config import Study
from rse_study.study.planning.ledger_state import LedgerCell
from rse_study.study.planning.throughput import Setting, Throughput, TimedWork
from rse_study.study.planning.workload import shape_of
from rse_study.training.trial import Trial
from tests.study.no_search import ONLY_SEARCH

SEARCHES = (*ONLY_SEARCH, "evaluations")


def search_of(content, **changes) -> CheckedStudy:
    """The study of a mapping, with some of its keys changed."""
    return check_study(Study.model_validate({**copy.deepcopy(content), **changes}), where="a.yaml")


def grid_of(content, grid, **changes) -> CheckedStudy:
    """A grid around the mapping's base."""
    kept = {key: value for key, value in content.items() if key not in SEARCHES}
    return search_of(kept, grid=grid, **changes)


def known(trial: Trial, number: int = 0, seed: int = 0, **changes) -> LedgerCell:
    """A complete cell of a grid, its model kept, without scores."""
    settings = {"stage": "grid", "status": "complete", **changes}
    return LedgerCell(trial=trial, number=number, seed=seed, **settings)


def one_second(*trials: Trial, workers: int = 1) -> Throughput:
    """A unit of work takes a second in trials of these shapes; 1 and 20 s beside, as assumed."""
    settings = {Setting(shape_of(trial), 0, workers, 1) for trial in trials}
    return Throughput(tuple(TimedWork(setting, 100.0, 100.0) for setting in settings), (), "a test")
