"""Rows of a grid: combinations of its axes in file order, then named rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from rse_study.errors import InputError, InputErrors
from rse_study.spec import show_setting
from rse_study.study.definition.config import Grid
from rse_study.study.definition.factorial import combinations_of, factorial_problems
from rse_study.study.definition.settings import FieldSetting, lay, settings_of
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

MAX_ROWS = 100_000
TOGETHER = "Every combination must be a trial: choose values that go together"


@dataclass(frozen=True)
class Row:
    """A trial of a grid."""

    label: str
    """name; empty for a combination of axes"""
    proposal: dict[str, Any]
    """values by axis name, where the axis' fields agree"""
    trial: Trial

    def __str__(self) -> str:
        return repr(self.label) if self.label else _coordinates(self.proposal)


def rows_of(grid: Grid, space: Space[Trial], *, where: str) -> tuple[tuple[Row, ...], list[InputError]]:
    """Return every valid row, the first axis slowest, and every problem."""
    if problems := factorial_problems(grid, where=where):
        return (), problems
    if not grid.domains and not grid.rows:
        remedy = "Name an axis: `axes: {rho: [0, 0.5, 1]}`"
        return (), [InputError("grid", where=where, rule="must have axes or rows", remedy=remedy)]
    num_combinations = prod(len(axis.domain.values()) for axis in space.axes) if space.axes else 0
    if num_combinations + len(grid.rows) > MAX_ROWS:
        rule = f"at most {MAX_ROWS} rows"
        what = f"grid: {num_combinations + len(grid.rows)} rows"
        return (), [InputError(what, where=where, rule=rule, remedy="Use fewer values")]
    layout = _Layout(space, where)
    rows = (*layout.combinations(grid), *layout.named(grid.rows))
    return rows, [*layout.problems.values(), *_repeated(rows, where)]


@dataclass
class _Layout:
    """Builder of a grid's rows, which notes each problem once."""

    space: Space[Trial]
    where: str
    problems: dict[str, InputError] = field(default_factory=dict)

    def combinations(self, grid: Grid) -> Iterator[Row]:
        axes = {axis.name: axis for axis in self.space.axes}
        for proposal in combinations_of(grid, {name: axis.domain for name, axis in axes.items()}):
            settings = [
                FieldSetting(f"{grid.at}.{name}", value, (path,))
                for name, level in proposal.items()
                for path, value in axes[name].writes(level).items()
            ]
            trial = self._trial(settings, f"grid: {_coordinates(proposal)}")
            if trial is not None:
                yield Row("", proposal, trial)

    def named(self, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
        fields = {axis.name: axis.paths for axis in self.space.axes}
        for label, values in rows.items():
            at = f"grid.rows.{label}"
            try:
                settings = settings_of(self.space.base, values, fields, where=self.where, at=at)
            except InputErrors as error:
                self._note(error.problems)
                continue
            trial = self._trial(settings, at)
            if trial is not None:
                yield Row(label, self.space.coordinates(trial), trial)

    def _trial(self, settings: Sequence[FieldSetting], at: str) -> Trial | None:
        try:
            return lay(self.space.base, settings, where=self.where, at=at)
        except InputErrors as error:
            self._note(error.problems)
        return None

    def _note(self, problems: Iterable[InputError]) -> None:
        for problem in problems:
            # A problem of one combination recurs in many: report the first only.
            is_combination = problem.what.startswith("grid: ")
            if is_combination and not problem.remedy:
                problem = InputError(problem.what, where=self.where, rule=problem.rule, remedy=TOGETHER)
            self.problems.setdefault(
                problem.rule if is_combination else f"{problem.what} {problem.rule}", problem
            )


def _repeated(rows: Sequence[Row], where: str) -> list[InputError]:
    first: dict[str, Row] = {}
    problems = []
    for row in rows:
        other = first.setdefault(row.trial.model_dump_json(), row)
        if other is not row:
            at = f"grid.rows.{row.label}" if row.label else f"grid: {row}"
            rule = f"the same configuration as row {other}"
            problems.append(InputError(at, where=where, rule=rule, remedy="Remove one of them"))
    return problems


def _coordinates(proposal: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {show_setting(value)}" for name, value in proposal.items())
