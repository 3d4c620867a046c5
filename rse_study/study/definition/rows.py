"""Rows of a grid: combinations of its axes or of a design, then named rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from rse_study.errors import InputError
from rse_study.results.comparing.factors import describe_design, effects_among
from rse_study.results.row_names import row_name
from rse_study.study.definition.config import Grid
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.paths import FieldSetting, lay, settings_of
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

MAX_ROWS = 100_000
TOGETHER = "Every combination must be a trial: choose values that go together"
GENERATORS: dict[int, dict[int, str]] = {
    3: {3: "ab"},
    4: {4: "abc"},
    5: {3: "ab ac", 5: "abcd"},
    6: {3: "ab ac bc", 4: "abc abd", 5: "abcde"},
    7: {3: "ab ac bc abc", 4: "abc abd acd", 5: "abcdef"},
    8: {4: "abc abd acd bcd", 5: "abcd abef"},
    9: {3: "ab ac ad bcd abcd", 4: "abc abd abe acde", 5: "abcde abcfg"},
    10: {3: "ab ac bc ad bcd abcd", 4: "abc abd abe acde bcde", 5: "abcd abef aceg"},
    11: {3: "ab ac bc ad bd acd bcd", 4: "abc abd acd abe ace ade", 5: "abcd abef aceg bdfg"},
}
"""By number of factors and least resolution: of the smallest fraction, the products that the last factors are set to.

Minimum aberration (Fries and Hunter 1980). Where a resolution is absent, the next higher one costs no more rows."""


@dataclass(frozen=True)
class Row:
    """A trial of a grid."""

    label: str
    """name; empty for a combination of axes"""
    proposal: dict[str, Any]
    """values by axis name, where the axis' fields agree"""
    trial: Trial

    def __str__(self) -> str:
        return repr(self.label) if self.label else row_name("", self.proposal)


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
            trial = self._trial(settings, f"grid: {row_name('', proposal)}")
            if trial is not None:
                yield Row("", proposal, trial)

    def named(self, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
        fields = {axis.name: axis.paths for axis in self.space.axes}
        for label, values in rows.items():
            at = f"grid.rows.{label}"
            settings, problems = settings_of(self.space.base, values, fields, where=self.where, at=at)
            self._note(problems)
            trial = None if problems else self._trial(settings, at)
            if trial is not None:
                yield Row(label, self.space.coordinates(trial), trial)

    def _trial(self, settings: Sequence[FieldSetting], at: str) -> Trial | None:
        trial, problems = lay(self.space.base, settings, where=self.where, at=at)
        self._note(problems)
        return trial

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


def combinations_of(grid: Grid, domains: Mapping[str, Domain]) -> Iterator[dict[str, Any]]:
    """Yield the values of each combination: all of the axes', or a design's corners.

    `domains` are those of the grid that can be read; a design that lacks one has no corners.
    """
    values = [domain.values() for domain in domains.values()]
    points: Iterable[tuple[Any, ...]] = product(*values) if values else ()
    if grid.factorial:
        levels = corners(len(values), grid.resolution) if len(values) == len(grid.factorial) else ()
        points = (tuple(two[level] for two, level in zip(values, corner, strict=True)) for corner in levels)
    for point in points:
        yield dict(zip(domains, point, strict=True))


def corners(num_factors: int, resolution: int | str) -> Iterator[tuple[int, ...]]:
    """Yield the level, 0 or 1, of each factor, the first factor slowest.

    A fraction has the corner at which all factors are at level 1. The resolution must be one that can be had.
    """
    words = () if resolution == "full" else _generators(num_factors, int(resolution))
    for levels in product((0, 1), repeat=num_factors - len(words)):
        # A product of signs is positive where an even number of them is negative.
        yield *levels, *(1 - sum(levels["abcdefgh".index(one)] == 0 for one in word) % 2 for word in words)


def design_text(grid: Grid) -> str:
    """Say which effects the design of a grid tells apart."""
    rows = {str(levels): levels for levels in corners(len(grid.factorial), grid.resolution)}
    return describe_design(effects_among(rows, list(grid.factorial)), len(grid.factorial))


def factorial_problems(grid: Grid, *, where: str) -> list[InputError]:
    """Return why a design cannot be had, if it cannot."""
    k, what, rule, remedy = len(grid.factorial), f"grid.resolution = {grid.resolution!r}", "", ""
    having = [one for one in (3, 4, 5) if _generators(k, one)]
    if not k and "resolution" in grid.model_fields_set:
        rule, remedy = "belongs to `factorial`, and the grid has none", "Remove it, or name factors"
    elif k and grid.axes:
        what, rule = "grid.axes", "a grid crosses its axes or has a factorial design, never both"
        remedy = "Make each axis a factor of two levels"
    elif k == 1:
        what, rule = "grid.factorial: 1 factor", "must have at least 2 factors"
        remedy = "Name another one, or use `axes`"
    elif k and grid.resolution not in ("full", *having):
        rule = f"no fraction of 2^{k} has it" + (f", only {' and '.join(map(str, having))}" if having else "")
        remedy = "Use `resolution: full`" + (f", or {having[-1]}" if having else "")
    return [InputError(what, where=where, rule=rule, remedy=remedy)] if rule else []


def _generators(num_factors: int, resolution: int) -> tuple[str, ...]:
    """Return the generators of the smallest fraction of at least this resolution, if any."""
    known = GENERATORS.get(num_factors, {})
    least = min((one for one in known if one >= resolution), default=0)
    return tuple(known.get(least, "").split())
