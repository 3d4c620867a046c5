"""The seeds of rows that get further ones until they are decided.

In the confirmation of a search, a confirmed trial stands in a row's place, the base in the baseline's. What a row gets
next depends on what its ledger holds alone (decision 0058): not on how many cells ran at a time, nor on when a run was
killed.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from rse_study.results.files.queries import LedgerQueries
from rse_study.results.records import BASE, FINISHED, LARGEST, CellRecord
from rse_study.results.row_names import find_row, names_of_records
from rse_study.results.settings import UntilDecided
from rse_study.results.study_record import StudyRecord, margin_of

if TYPE_CHECKING:
    from rse_study.results.comparing.criterion import RowVerdict  # and pandas, which `status` does without


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
    values: Mapping[int, dict[int, float]]
    """objective of each cell that has ended, by trial and seed; NaN where it has none"""
    margin: float = 0.0
    less_is_better: bool = False
    first_seed: int = 0

    @cached_property
    def courses(self) -> dict[int, RowCourse]:
        """The course of every known row but the baseline, by trial."""
        return {trial: self._course(trial) for trial in self.values if trial != self.baseline}

    def enter(self, trial: int, seed: int, value: float) -> set[int]:
        """Enter a cell that has ended; return the rows whose seeds may be others now."""
        self.values[trial][seed] = value
        changed = {trial} if trial != self.baseline else set(self.values)
        for one in changed - {self.baseline}:
            self.courses[one] = self._course(one)
        return changed | ({self.baseline} if self.baseline is not None else set())

    def seeds_of(self, trial: int) -> tuple[int, ...]:
        """Return the seeds that a row has or is to run now."""
        return self._with_ended(trial, self._numbers_of(trial)[0])

    def most_seeds_of(self, trial: int) -> tuple[int, ...]:
        """Return the seeds that a row has or may still come to."""
        return self._with_ended(trial, self._numbers_of(trial)[1])

    @property
    def all_seeds(self) -> range:
        """The seeds that a row may have, in the order in which it gets them."""
        return range(self.first_seed, self.first_seed + self.bounds.at_most)

    @property
    def num_wanted(self) -> int:
        """The number of cells that are there or to be run now."""
        return sum(len(self.seeds_of(one)) for one in self.values) + self._num_new * self.bounds.at_least

    @property
    def most_cells(self) -> int:
        """The largest number of cells that the rows may still come to."""
        return sum(len(self.most_seeds_of(one)) for one in self.values) + self._num_new * self.bounds.at_most

    @property
    def _num_new(self) -> int:
        return self.num_rows - len(self.values)

    def _with_ended(self, trial: int, number: int) -> tuple[int, ...]:
        ended = self.values.get(trial, {}).keys() & self.all_seeds
        return tuple(sorted({*self.all_seeds[:number], *ended}))

    def _numbers_of(self, trial: int) -> tuple[int, int]:
        """Return how many seeds a row is to have now, and at most; the baseline as many as any other."""
        least, most = self.bounds.at_least, self.bounds.at_most
        if trial != self.baseline:
            course = self.courses.get(trial)
            return (course.num_seeds, course.most_seeds) if course else (least, most)
        numbers = [(least, most if self._num_new else least)]
        numbers += [(one.num_seeds, one.most_seeds) for one in self.courses.values()]
        return max(now for now, _ in numbers), max(last for _, last in numbers)

    def _course(self, trial: int) -> RowCourse:
        base = {} if self.baseline is None else self.values[self.baseline]
        mine, most = self.values[trial], self.bounds.at_most
        paired = list(takewhile(lambda seed: seed in mine and seed in base, self.all_seeds))
        n, least = len(paired), self.bounds.at_least
        differences = [mine[seed] - base[seed] for seed in paired]
        if not all(abs(one) < LARGEST for one in differences):
            most = max(n, least)  # no further seed decides it while one has no score
            return RowCourse("undecided", n, most, most)
        if n < least:
            return RowCourse("undecided", n, least, most)
        verdict = self._verdict(differences)
        is_over = verdict != "undecided" or n == most
        return RowCourse(verdict, n, *((n, n) if is_over else (n + 1, most)))

    def _verdict(self, pairs: list[float]) -> "RowVerdict":
        from rse_study.results.comparing.criterion import Criterion, row_verdict

        interval = Criterion(is_anytime=True).interval(pairs, max(1, self.num_rows - 1))
        return row_verdict(interval, self.margin, less_is_better=self.less_is_better)


def row_seeds_of(ledger: LedgerQueries, study: StudyRecord, cells: Iterable[CellRecord]) -> RowSeeds | None:
    """Return the seeds of rows or confirmed trials; None if the file lists them.

    `cells` have their status for the next run. A cell that failed counts as one without a value: the next run tries it
    again, and gives its row no further seeds before it has one.
    """
    is_grid, confirm = study.kind == "grid", study.confirm_settings
    settings = study.settings if is_grid else confirm
    if settings.until_decided is None:
        return None
    finals = ledger.final_values(study.objective.metric)
    stage = "grid" if is_grid else "confirm"
    current = [cell for cell in cells if cell.stage == stage and not cell.retired]
    failed = {cell.identity for cell in ledger.cells() if cell.status == "failed"}
    values: dict[int, dict[int, float]] = defaultdict(dict)
    for cell in current:
        of_row = values[cell.trial]
        if cell.status in FINISHED or cell.identity in failed:
            of_row[cell.seed] = finals.get(cell.identity, nan) if cell.status == "complete" else nan
    return RowSeeds(
        bounds=settings.until_decided,
        num_rows=study.num_trials if is_grid else confirm.num_trials,
        baseline=_baseline_trial(study, current),
        values=values,
        margin=margin_of(study),
        less_is_better=study.objective.direction == "minimize",
        first_seed=settings.seeds[0],
    )


def _baseline_trial(study: StudyRecord, cells: list[CellRecord]) -> int | None:
    names = names_of_records(study, cells)
    rows = {name: {} if one.label else one.proposal for name, one in zip(names, cells, strict=True)}
    numbers = {name: one.trial for name, one in zip(names, cells, strict=True)}
    wanted = study.settings.grid.baseline if study.kind == "grid" else BASE
    found = find_row(study, wanted, rows, numbers)
    return None if found is None else numbers[found]
