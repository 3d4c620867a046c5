"""Dotted paths into a configuration: full ones, unique suffixes, symbols."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.spec import Spec, joint_symbols, symbols


def resolve(spec: Spec, path: str, *, where: str = "", at: str = "") -> str:
    """Return the full dotted path of the one field that `path` names.

    `path` is full or a unique suffix; `at` is where it stands in the file `where`. Raises InputError if none
    or several match.

    >>> from rse_study.training.trial import Trial
    >>> resolve(Trial(), "pgd.num_steps")
    'method.blend.pgd.num_steps'
    """
    every = dict(walk(spec))
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
