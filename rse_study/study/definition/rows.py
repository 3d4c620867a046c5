"""How a grid becomes rows.

Every combination of its axes in the order of the file, then the rows that have a name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.methods.presets import KEY as PRESET
from rse_study.methods.presets import fields_of
from rse_study.spec import Spec, show_setting
from rse_study.study.definition.config import Grid
from rse_study.study.definition.paths import laid_over, look_up, overlap
from rse_study.study.definition.problems import problems_of
from rse_study.study.definition.reading import overlay
from rse_study.study.definition.space import Space, joined, resolve_field
from rse_study.training.trial import Trial

MAX_ROWS = 100_000
GRID = "grid.axes"  # where the axes of a grid stand


@dataclass(frozen=True)
class Row:
    """A trial of a grid."""

    label: str
    """its name; empty for a combination of axes"""
    proposal: dict[str, Any]
    """its values by axis name, where an axis' fields agree"""
    trial: Trial
    """the configuration"""

    def __str__(self) -> str:
        return repr(self.label) if self.label else _coordinates(self.proposal)


@dataclass(frozen=True)
class _Setting:
    """A value laid over the base: where it is written, and the fields it writes."""

    at: str
    """where it is written"""
    value: Any
    """what is written"""
    paths: tuple[str, ...]
    """the fields it writes"""


def rows_of(grid: Grid, space: Space[Trial], *, where: str) -> tuple[tuple[Row, ...], list[InputError]]:
    """Return every row, validated, and every problem.

    The first axis is the slowest. Rows with a problem are left out.

    Parameters
    ----------
    grid
        Its axes and named rows.
    space
        The axes, resolved around the base.
    where
        The file, named in problems.
    """
    if not grid.axes and not grid.rows:
        remedy = "Name an axis: `axes: {rho: [0, 0.5, 1]}`"
        return (), [InputError("grid", where=where, rule="must have axes or rows", remedy=remedy)]
    num_combinations = space.num_points() if space.axes else 0
    if num_combinations + len(grid.rows) > MAX_ROWS:
        rule = f"at most {MAX_ROWS} rows"
        what = f"grid: {num_combinations + len(grid.rows):.0f} rows"
        return (), [InputError(what, where=where, rule=rule, remedy="Ask a smaller question")]
    layout = _Layout(space, where)
    rows = (*layout.combinations(), *layout.named(grid.rows))
    return rows, [*layout.problems.values(), *_repeated(rows, where)]


@dataclass
class _Layout:
    """The rows of one grid, and what was found wrong with them, said once each."""

    space: Space[Trial]
    where: str
    problems: dict[str, InputError] = field(default_factory=dict)

    def combinations(self) -> Iterator[Row]:
        axes = self.space.axes
        for values in product(*(axis.domain.values() for axis in axes)) if axes else ():
            proposal = {axis.name: value for axis, value in zip(axes, values, strict=True)}
            settings = [_Setting(f"{GRID}.{a.name}", proposal[a.name], a.paths) for a in axes]
            trial = self._trial(settings, f"grid: {_coordinates(proposal)}")
            if trial is not None:
                yield Row("", proposal, trial)

    def named(self, rows: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
        fields = {axis.name: axis.paths for axis in self.space.axes}
        for label, values in rows.items():
            at = f"grid.rows.{label}"
            settings = self._settings(at, values, fields)
            trial = None if settings is None else self._trial(settings, at)
            if trial is not None:
                yield Row(label, self.space.coordinates(trial), trial)

    def _settings(
        self, at: str, values: Mapping[str, Any], fields: dict[str, tuple[str, ...]]
    ) -> list[_Setting] | None:
        """What a named row writes; None where a key names nothing. `fields`: paths by key, as far as known."""
        settings: list[_Setting] = []
        is_sound = True
        for key, value in values.items():
            try:
                for paths, written in self._written(f"{at}.{key}", key, value, fields):
                    settings.append(self._setting(settings, f"{at}.{key}", written, paths))
            except InputError as problem:
                self._note(problem)
                is_sound = False
        return settings if is_sound else None

    def _written(
        self, at: str, key: str, value: Any, fields: dict[str, tuple[str, ...]]
    ) -> Iterator[tuple[tuple[str, ...], Any]]:
        """The fields a key writes, and what: one, those of an axis, or all of a preset."""
        if key == PRESET:
            named = fields_of(str(value), self.space.base.method.name, where=f"{self.where}: {at}")
            yield from (((path,), setting) for path, setting in named.items())
            return
        if key not in fields:
            fields[key] = (resolve_field(self.space.base, key, where=self.where, at=at),)
        yield fields[key], value

    def _setting(self, others: Sequence[_Setting], at: str, value: Any, paths: tuple[str, ...]) -> _Setting:
        for other in others:
            if any(overlap(mine, theirs) for mine in paths for theirs in other.paths):
                rule = f"writes a field that {other.at} writes too"
                raise InputError(at, where=self.where, rule=rule, remedy="Keep one of them")
        return _Setting(at, value, paths)

    def _trial(self, settings: Sequence[_Setting], at: str) -> Trial | None:
        values = {path: self._value(path, setting.value) for setting in settings for path in setting.paths}
        try:
            return Trial.model_validate(laid_over(self.space.base, values))
        except ValidationError as error:
            for problem in problems_of(error, Trial, where=self.where):
                self._note(self._blamed(problem, settings, at))
        except InputError as error:
            self._note(InputError(at, where=self.where, rule=joined(error), remedy=error.remedy))
        return None

    def _value(self, path: str, value: Any) -> Any:
        """A mapping changes what it names of a sub-configuration; one that names another kind of it replaces it."""
        if not isinstance(value, dict):
            return value
        *parents, name = path.split(".")
        owner = look_up(self.space.base, ".".join(parents)) if parents else self.space.base
        below = getattr(owner, name)
        if not isinstance(below, Spec):
            return value
        is_of_kinds = type(owner).model_fields[name].discriminator is not None
        is_another = value.get("name", "") != getattr(below, "name", "") and "name" in value
        return value if is_of_kinds or is_another else overlay(below.model_dump(), value)

    def _blamed(self, problem: InputError, settings: Sequence[_Setting], at: str) -> InputError:
        """The problem at the setting that wrote the field, or else at the row."""
        path = problem.what.split(" = ")[0]
        writers = [s for s in settings if any(path == p or path.startswith(f"{p}.") for p in s.paths)]
        at = f"{writers[0].at} = {show_setting(writers[0].value)}" if writers else at
        return InputError(at, where=self.where, rule=joined(problem), remedy=problem.remedy)

    def _note(self, problem: InputError) -> None:
        # What fails for a combination of axes fails for many: the first one stands for all.
        is_combination = problem.what.startswith("grid: ")
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
