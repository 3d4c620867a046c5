"""Cells of a search: each proposal depends on earlier results."""

from collections.abc import Mapping
from typing import Any

from rse_study.errors import InputError
from rse_study.on_ray.queue.cell import Cell, Identify
from rse_study.results.records import BASE, CellRecord
from rse_study.sampling.proposer import Proposer
from rse_study.search.choice import Observation
from rse_study.study.checking.validation import CheckedStudy

MAX_DRAWS = 32


class ProposedCells:
    """The base if the space holds it, then proposals; each identity runs once."""

    def __init__(self, checked: CheckedStudy, proposer: Proposer, identify: Identify) -> None:
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
        self._proposer.add(record.trial, record.proposal, seen.outcome, seen.values)
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
        self._proposer.tell(cell.number, seen.outcome, seen.values)

    def _propose(self, number: int) -> Cell:
        base = self._space.base_point
        if number == 0 and base is not None:
            self._proposer.add(number, base)
            return self._cell(number, base)
        for draw in range(MAX_DRAWS):
            cell = self._cell(number, self._proposer.ask(number, draw, self._fixed(number)))
            if cell.identity not in self._known:
                return cell
            self._proposer.discard(number)  # the same identity never runs twice: draw again
        what = f"trial {number}: {MAX_DRAWS} draws gave known trials only"
        rule, remedy = "the same identity never runs twice", "Lower num_trials, or widen the space"
        raise InputError(what, where=self._study.name, rule=rule, remedy=remedy)

    def _fixed(self, number: int) -> dict[str, Any]:
        """Return the value whose turn it is, where each gets as many trials; the base has its own's first."""
        values, axis = self._study.tuned, self._study.tune_each
        if not values:
            return {}
        base = self._space.base_point
        first = values.index(base[axis]) if base is not None else 0
        return {axis: values[(first + number) % len(values)]}

    def _cell(self, number: int, proposal: Mapping[str, Any]) -> Cell:
        trial, (seed,) = self._space.apply(proposal), self._study.all_seeds
        label = BASE if dict(proposal) == self._space.base_point else ""
        identity, resources = self._identify(trial, seed), self._study.resources
        return Cell(number, seed, identity, trial, dict(proposal), label=label, resources=resources)
