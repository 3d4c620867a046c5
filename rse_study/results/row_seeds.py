"""The seeds of a grid's rows that get further ones until they are decided.

What a row gets next depends on what its ledger holds alone (decision 0058): not on how many cells ran at a time, nor on
when a run was killed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

from rse_study.results.margin import margin_of
from rse_study.results.queries import LedgerQueries
from rse_study.results.records import FINISHED, CellRecord, StudyRecord
from rse_study.results.row_names import find_row, names_of_labelled
from rse_study.results.settings import UntilDecided

if TYPE_CHECKING:
    from rse_study.results.verdicts import RowVerdict  # and pandas, which `status` does without


class RowCourse(NamedTuple):
    """How far a row is on its way to a decision."""

    verdict: "RowVerdict"
    num_pairs: int
    """seeds from the first on that it and the baseline have ended"""
    num_seeds: int
    """seeds that it has or is to run now"""
    most_seeds: int
    """seeds that it may still come to"""


@dataclass(frozen=True)
class RowSeeds:
    """The seeds of all rows, and the rows that are decided."""

    bounds: UntilDecided
    num_rows: int
    """rows of the study, also those that nobody has planned yet"""
    baseline: int | None
    """trial that the others are compared with; None before the ledger has it"""
    values: Mapping[int, Mapping[int, float]]
    """objective of each cell that has ended, by trial and seed; NaN where it has none"""
    margin: float = 0.0
    less_is_better: bool = False

    @cached_property
    def courses(self) -> dict[int, RowCourse]:
        """The course of every known row but the baseline, by trial."""
        return {trial: self._course(trial) for trial in self.values if trial != self.baseline}

    def seeds_of(self, trial: int) -> tuple[int, ...]:
        """Return the seeds that a row has or is to run now."""
        return self._with_known(trial, self._numbers_of(trial)[0])

    def most_seeds_of(self, trial: int) -> tuple[int, ...]:
        """Return the seeds that a row has or may still come to."""
        return self._with_known(trial, self._numbers_of(trial)[1])

    def _with_known(self, trial: int, number: int) -> tuple[int, ...]:
        return tuple(sorted({*range(number), *self.values.get(trial, ())}))

    @property
    def num_wanted(self) -> int:
        """The number of cells that are there or to be run now."""
        return sum(len(self.seeds_of(one)) for one in self.values) + self._num_new * self.bounds.at_least

    @property
    def most_cells(self) -> int:
        """The largest number of cells that the grid may still come to."""
        return sum(len(self.most_seeds_of(one)) for one in self.values) + self._num_new * self.bounds.at_most

    @property
    def num_ended(self) -> int:
        """The number of cells that have ended."""
        return sum(map(len, self.values.values()))

    @property
    def _num_new(self) -> int:
        return self.num_rows - len(self.values)

    def _numbers_of(self, trial: int) -> tuple[int, int]:
        """Return how many seeds a row is to have now, and at most."""
        if trial != self.baseline:
            course = self.courses.get(trial)
            return (course.num_seeds, course.most_seeds) if course else self._of_new_row
        # The baseline has every seed that another row has.
        least, _ = self._of_new_row
        all_rows = [(least, least), *((one.num_seeds, one.most_seeds) for one in self.courses.values())]
        all_rows += [self._of_new_row] * (self._num_new > 0)
        return max(now for now, _ in all_rows), max(most for _, most in all_rows)

    @property
    def _of_new_row(self) -> tuple[int, int]:
        return self.bounds.at_least, self.bounds.at_most

    def _course(self, trial: int) -> RowCourse:
        base = {} if self.baseline is None else self.values[self.baseline]
        mine, num_pairs = self.values[trial], 0
        while num_pairs in mine and num_pairs in base:
            num_pairs += 1
        if num_pairs < self.bounds.at_least:
            return RowCourse("undecided", num_pairs, *self._of_new_row)
        verdict = self._verdict([mine[seed] - base[seed] for seed in range(num_pairs)])
        if verdict != "undecided" or num_pairs == self.bounds.at_most:
            return RowCourse(verdict, num_pairs, num_pairs, num_pairs)
        return RowCourse(verdict, num_pairs, num_pairs + 1, self.bounds.at_most)

    def _verdict(self, pairs: list[float]) -> "RowVerdict":
        from rse_study.results.criterion import Criterion
        from rse_study.results.verdicts import row_verdict

        known = [one for one in pairs if isfinite(one)]
        if not known:
            return "undecided"
        interval = Criterion(is_anytime=True).interval(known, max(1, self.num_rows - 1))
        return row_verdict(interval, self.margin, less_is_better=self.less_is_better)


def row_seeds_of(ledger: LedgerQueries, study: StudyRecord, cells: Iterable[CellRecord]) -> RowSeeds | None:
    """Return the seeds of a grid's rows by cells as the next run finds them; None where the file lists the seeds."""
    bounds = study.settings.until_decided
    if study.kind != "grid" or bounds is None:
        return None
    finals = ledger.final_values(study.objective.metric)
    current = [cell for cell in cells if cell.stage == "grid" and not cell.retired]
    values: dict[int, dict[int, float]] = defaultdict(dict)
    for cell in current:
        of_row = values[cell.trial]
        if cell.status in FINISHED and cell.seed < bounds.at_most:
            of_row[cell.seed] = finals.get(cell.identity, nan) if cell.status == "complete" else nan
    return RowSeeds(
        bounds=bounds,
        num_rows=study.num_trials,
        baseline=_baseline_trial(study, current),
        values=values,
        margin=margin_of(study),
        less_is_better=study.objective.direction == "minimize",
    )


def _baseline_trial(study: StudyRecord, cells: list[CellRecord]) -> int | None:
    names = names_of_labelled(study, [(one.trial, one.label, one.proposal, False) for one in cells])
    rows = {name: {} if one.label else one.proposal for name, one in zip(names, cells, strict=True)}
    numbers = {name: one.trial for name, one in zip(names, cells, strict=True)}
    found = find_row(study, study.settings.grid.baseline, rows, numbers)
    return None if found is None else numbers[found]
