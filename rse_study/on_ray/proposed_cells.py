"""Cells of a search: each proposal depends on what the earlier ones came to."""

from collections.abc import Callable, Mapping
from typing import Any

from rse_study.errors import InputError
from rse_study.on_ray.cell import Cell, Observation
from rse_study.on_ray.proposer import Proposer
from rse_study.results.records import CellRecord
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.trial import Trial

MAX_DRAWS = 32
BASE = "base"  # label of the base trial: the paper's setting


class ProposedCells:
    """The base, then what the sampler proposes, each identity once.

    The base comes first where it is a point of the space.

    Parameters
    ----------
    checked : CheckedStudy
        The study and its space.
    proposer : Proposer
        Asks the sampler.
    identify : callable
        Gives a cell's identity by its trial and seed.
    """

    def __init__(
        self, checked: CheckedStudy, proposer: Proposer, identify: Callable[[Trial, int], str]
    ) -> None:
        self._study, self._space = checked.study, checked.space
        self._proposer, self._identify = proposer, identify
        self._known: set[str] = set()
        self._next_number = 0

    @property
    def num_left(self) -> int:
        return max(0, self._study.num_trials - self._next_number)

    def restore(self, record: CellRecord, seen: Observation) -> Cell | None:
        self._next_number = max(self._next_number, record.trial + 1)
        self._known.add(record.identity)
        self._proposer.add(record.trial, record.proposal, seen.outcome, seen.values, seen.violations)
        if seen.outcome != "running":
            return None
        return self._cell(record.trial, self._space.active_of(record.proposal))

    def next(self) -> Cell | None:
        if self.num_left == 0:
            return None
        cell = self._propose(self._next_number)
        self._next_number += 1
        self._known.add(cell.identity)
        return cell

    def observe(self, cell: Cell, seen: Observation) -> None:
        self._proposer.tell(cell.number, seen.outcome, seen.values, seen.violations)

    def _propose(self, number: int) -> Cell:
        first = self._space.base_point
        if number == 0 and first is not None:
            self._proposer.add(0, first)
            return self._cell(0, first)
        for draw in range(MAX_DRAWS):
            cell = self._cell(number, self._proposer.ask(number, draw))
            if cell.identity not in self._known:
                return cell
            self._proposer.discard(number)  # the same identity never runs twice: draw again
        what = f"trial {number}: {MAX_DRAWS} draws gave known trials only"
        rule, remedy = "the same identity never runs twice", "Lower num_trials, or widen the space"
        raise InputError(what, where=self._study.name, rule=rule, remedy=remedy)

    def _cell(self, number: int, proposal: Mapping[str, Any]) -> Cell:
        trial, seed = self._space.apply(proposal), self._study.seeds[0]
        label = BASE if dict(proposal) == self._space.base_point else ""
        identity, resources = self._identify(trial, seed), self._study.resources
        return Cell(number, seed, identity, trial, dict(proposal), label=label, resources=resources)
