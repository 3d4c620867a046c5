"""Paths of fields in a configuration, and the settings laid over them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from keyword import iskeyword
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.methods.presets import KEY as PRESET
from rse_study.methods.presets import fields_of
from rse_study.registry import did_you_mean
from rse_study.spec import Spec, show_setting
from rse_study.study.definition.problems import joined, problems_of

AXES = (("search",), ("grid", "axes"), ("grid", "factorial"))  # where axes stand
T = TypeVar("T", bound=Spec)


def resolve(spec: Spec, path: str, *, where: str = "", at: str = "") -> str:
    """Return the full dotted path of the one field that `path` names.

    `path` is full or a unique suffix; `at` is where it stands in the file `where`. Raises InputError if none
    or several match.

    >>> from rse_study.training.trial import Trial
    >>> resolve(Trial(), "pgd.num_steps")
    'method.blend.pgd.num_steps'
    """
    every = dict(walk(spec))
    if iskeyword(path.rpartition(".")[2]):
        path += "_"  # optimizer.class, whose name Python has taken
    if path in every:
        return path
    matches = [full for full in every if full.endswith(f".{path}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        rule = f"names {len(matches)} fields: {', '.join(matches)}"
        remedy = "Write more of the path, or list them: `into: [...]`"
        raise InputError(at or path, where=where, rule=rule, remedy=remedy)
    raise _unknown(every, spec, path, where, at)


def symbols(spec: Spec, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted path, symbol) of every field below `spec` with a symbol."""
    for name, info in type(spec).model_fields.items():
        extra, value = info.json_schema_extra, getattr(spec, name)
        if isinstance(extra, dict) and "symbol" in extra:
            yield prefix + name, str(extra["symbol"])
        if isinstance(value, Spec):
            yield from symbols(value, f"{prefix}{name}.")


def joint_symbols(spec: Spec, prefix: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each symbol of several fields with their paths, outer objects first."""
    for symbol, paths in spec.joint.items():
        yield symbol, tuple(prefix + path for path in paths)
    for name in type(spec).model_fields:
        value = getattr(spec, name)
        if isinstance(value, Spec):
            yield from joint_symbols(value, f"{prefix}{name}.")


def resolve_symbol(spec: Spec, symbol: str) -> tuple[str, ...]:
    """Return the full paths that a symbol stands for; none if it is ambiguous."""
    for declared, paths in joint_symbols(spec):
        if declared == symbol:
            return paths
    found = tuple(path for path, declared in symbols(spec) if declared == symbol)
    return found if len(found) == 1 else ()


def resolve_fields(base: Spec, name: str, *, where: str, at: str) -> tuple[str, ...]:
    """Return the full paths that a symbol, a path or a unique suffix names."""
    return resolve_symbol(base, name) or (resolve(base, name, where=where, at=at),)


def walk(spec: Spec, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of every field below `spec`, parents before their fields."""
    for name in type(spec).model_fields:
        value = getattr(spec, name)
        yield prefix + name, value
        if isinstance(value, Spec):
            yield from walk(value, f"{prefix}{name}.")


def look_up(spec: Spec, path: str) -> Any:
    """Return the value at a full path."""
    value: Any = spec
    for name in path.split("."):
        value = getattr(value, name)
    return value


def laid_over(spec: Spec, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `spec` with `values` written at their full paths.

    They are not validated. Untouched parts stay the same valid objects.
    """
    content, below = dict(vars(spec)), dict[str, dict[str, Any]]()
    for path, value in values.items():
        name, _, inner = path.partition(".")
        if inner:
            below.setdefault(name, {})[inner] = value
        else:
            content[name] = value
    return content | {name: laid_over(content[name], inner) for name, inner in below.items()}


def overlap(one: str, other: str) -> bool:
    """Whether two full paths are equal, or one leads to a field below the other."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def put(content: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    """Set the value at `keys` of a nested mapping in place; create missing mappings."""
    *parents, last = keys
    for name in parents:
        below = content.get(name)
        content[name] = below if isinstance(below, dict) else {}
        content = content[name]
    content[last] = value


def take_away(content: dict[str, Any], keys: Sequence[str]) -> bool:
    """Remove `keys` from a nested mapping in place; False if they are not there."""
    *parents, last = keys
    below: Any = content
    for name in parents:
        below = below.get(name) if isinstance(below, dict) else None
    return isinstance(below, dict) and below.pop(last, below) is not below


def _unknown(every: dict[str, Any], spec: Spec, path: str, where: str, at: str) -> InputError:
    """Return an error that names the deepest class the path reaches, and the field probably meant."""
    names = path.split(".")
    if removed := getattr(spec, "removed", {}).get(names[0]):
        rule, remedy = removed
        return InputError(at or path, where=where, rule=rule, remedy=remedy)
    for length in range(len(names) - 1, 0, -1):
        head = ".".join(names[:length])
        owners = [every[full] for full in every if full == head or full.endswith(f".{head}")]
        if len({type(owner) for owner in owners}) == 1:
            return _no_such_field(owners[0], names[length], where, at or path)
    if len(names) > 1:
        remedy = did_you_mean(names[0], sorted({full.split(".")[-1] for full in every}))
        return InputError(
            at or path, where=where, rule=f"the base has no field or symbol {names[0]!r}", remedy=remedy
        )
    declared = {symbol for _, symbol in symbols(spec)} | {symbol for symbol, _ in joint_symbols(spec)}
    hint = did_you_mean(path, sorted({full.split(".")[-1] for full in every} | declared))
    listed = f"Symbols: {', '.join(sorted(declared))}; or a path such as optimizer.lr"
    rule = f"no such field or symbol of {type(spec).__name__}"
    return InputError(at or path, where=where, rule=rule, remedy=hint if hint.startswith("Did") else listed)


def _no_such_field(owner: Any, name: str, where: str, at: str) -> InputError:
    if not isinstance(owner, Spec):
        rule = f"the base holds {owner!r} there, which has no fields"
        return InputError(at, where=where, rule=rule, remedy="Shorten the path")
    remedy = did_you_mean(name, type(owner).model_fields)
    return InputError(at, where=where, rule=f"no such field of {type(owner).__name__}", remedy=remedy)


def overlay(below: dict[str, Any], above: dict[str, Any], at: tuple[str, ...] = ()) -> dict[str, Any]:
    """Lay `above` over `below`: mappings merge, everything else is replaced.

    `key: null` removes a key. An axis is replaced as a whole: `{float: ...}` must not join a `{log: ...}`.

    >>> overlay({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": None})
    {'a': {'b': 1, 'c': 4}}
    """
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if value is None and key in merged:
            del merged[key]
        elif isinstance(value, dict) and isinstance(under, dict) and at not in AXES:
            merged[key] = overlay(under, value, (*at, key))
        else:
            merged[key] = value
    return merged


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
) -> tuple[list[FieldSetting], list[InputError]]:
    """Return the settings that values by symbol, path, axis or `preset` write.

    Every problem is returned, too. `fields` caches full paths by key, and gets the new ones.
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
    return settings, problems


def laid_values(base: Spec, settings: Sequence[FieldSetting]) -> dict[str, Any]:
    """Return the settings' values by full path, as they are laid over the base.

    A mapping changes what it names of a sub-configuration; one that names another kind replaces it.
    """
    return {path: _value(base, path, setting.value) for setting in settings for path in setting.paths}


def lay(
    base: T, settings: Sequence[FieldSetting], *, where: str, at: str
) -> tuple[T | None, list[InputError]]:
    """Lay the settings over the base; problems point to the setting at fault."""
    content = laid_over(base, laid_values(base, settings))
    return tried(partial(type(base).model_validate, content), type(base), settings, where=where, at=at)


def tried(
    make: Callable[[], T], cls: type[T], settings: Sequence[FieldSetting] = (), *, where: str, at: str
) -> tuple[T | None, list[InputError]]:
    """Make a `cls`, or return its problems, at the setting at fault or else at `at`."""
    try:
        return make(), []
    except ValidationError as error:
        found = problems_of(error, cls, where=where)
        return None, [_blamed(problem, settings, where, at) for problem in found]
    except InputError as error:
        return None, [InputError(at, where=where, rule=joined(error), remedy=error.remedy)]


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
