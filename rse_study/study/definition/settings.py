"""Named settings laid over the base: a grid's row, or a search's variant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError, InputErrors
from rse_study.methods.presets import KEY as PRESET
from rse_study.methods.presets import fields_of
from rse_study.spec import Spec, show_setting
from rse_study.study.definition.paths import laid_over, look_up, overlap, resolve_fields
from rse_study.study.definition.problems import joined, problems_of
from rse_study.study.definition.reading import overlay

T = TypeVar("T", bound=Spec)


@dataclass(frozen=True)
class FieldSetting:
    """A value laid over the base, where it is written and the fields it sets."""

    at: str
    value: Any
    paths: tuple[str, ...]

    @property
    def leaves(self) -> Iterator[str]:
        """Single fields that it sets, those of a mapping at any depth."""
        for path in self.paths:
            yield from _leaves(path, self.value)


def settings_of(
    base: Spec, values: Mapping[str, Any], fields: dict[str, tuple[str, ...]], *, where: str, at: str
) -> list[FieldSetting]:
    """Return the field settings that values by symbol, path, axis or `preset` write.

    `fields` caches full paths by key, and gets the new ones.
    """
    settings: list[FieldSetting] = []
    problems: list[InputError] = []
    for key, value in values.items():
        here = f"{at}.{key}"
        try:
            for paths, written in _written(base, key, value, fields, where=where, at=here):
                settings.append(_setting(settings, FieldSetting(here, written, paths), where))
        except InputError as problem:
            problems.append(problem)
    if problems:
        raise InputErrors(problems)
    return settings


def laid_values(base: Spec, settings: Sequence[FieldSetting]) -> dict[str, Any]:
    """Return the settings' values by full path, as they are laid over the base.

    A mapping changes what it names of a sub-configuration; one that names another kind replaces it.
    """
    return {path: _value(base, path, setting.value) for setting in settings for path in setting.paths}


def lay(base: T, settings: Sequence[FieldSetting], *, where: str, at: str) -> T:
    """Lay the settings over the base; errors point to the setting at fault."""
    try:
        return type(base).model_validate(laid_over(base, laid_values(base, settings)))
    except ValidationError as error:
        found = problems_of(error, type(base), where=where)
        raise InputErrors([_blamed(problem, settings, where, at) for problem in found]) from None
    except InputError as error:
        raise InputErrors([InputError(at, where=where, rule=joined(error), remedy=error.remedy)]) from None


def _written(
    base: Any, key: str, value: Any, fields: dict[str, tuple[str, ...]], *, where: str, at: str
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what a key writes, and into which fields: one, an axis', or all of a preset."""
    if key == PRESET:
        try:
            named = fields_of(str(value), base.method.name, where=where)
        except InputError as error:
            raise InputError(at, where=where, rule=joined(error), remedy=error.remedy) from None
        yield from (((path,), setting) for path, setting in named.items())
        return
    if key not in fields:
        fields[key] = resolve_fields(base, key, where=where, at=at)
    yield fields[key], value


def _setting(others: Sequence[FieldSetting], setting: FieldSetting, where: str) -> FieldSetting:
    for other in others:
        if any(overlap(mine, theirs) for mine in setting.paths for theirs in other.paths):
            rule = f"writes a field that {other.at} writes too"
            raise InputError(setting.at, where=where, rule=rule, remedy="Keep one of them")
    return setting


def _value(base: Spec, path: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    *parents, name = path.split(".")
    owner = look_up(base, ".".join(parents)) if parents else base
    below = getattr(owner, name)
    if not isinstance(below, Spec):
        return value
    is_of_kinds = type(owner).model_fields[name].discriminator is not None
    is_another = value.get("name", "") != getattr(below, "name", "") and "name" in value
    return value if is_of_kinds or is_another else overlay(below.model_dump(), value)


def _leaves(path: str, value: Any) -> Iterator[str]:
    if not isinstance(value, dict) or not value:
        yield path
        return
    for name, inner in value.items():
        yield from _leaves(f"{path}.{name}", inner)


def _blamed(problem: InputError, settings: Sequence[FieldSetting], where: str, at: str) -> InputError:
    """Attribute the problem to the setting that wrote the field, or else to `at`."""
    path = problem.what.split(" = ")[0]
    writers = [s for s in settings if any(path == p or path.startswith(f"{p}.") for p in s.paths)]
    at = f"{writers[0].at} = {show_setting(writers[0].value)}" if writers else at
    return InputError(at, where=where, rule=joined(problem), remedy=problem.remedy)
