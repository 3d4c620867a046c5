"""Resolution of a study's axes to the fields they write, and of their conditions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError, refuse
from rse_study.registry import did_you_mean
from rse_study.spec import Spec
from rse_study.study.definition.domains import Choice, Domain, Variants
from rse_study.study.definition.paths import (
    laid_values,
    lay,
    look_up,
    overlap,
    resolve,
    resolve_fields,
    settings_of,
    symbols,
)
from rse_study.study.definition.space import Axis, Space, VariantSettings

T = TypeVar("T", bound=Spec)


def resolve_space(
    base: T, domains: Mapping[str, Domain], *, where: str, at: str = "search"
) -> tuple[Space[T], list[InputError]]:
    """Return the space of all valid axes, and every problem of the others."""
    problems = condition_problems(domains, where=where, at=at)
    known: dict[str, Axis] = {}
    found: list[InputError] = []
    # Parents first: what they write decides which fields the others find.
    for name in sorted(domains, key=lambda name: bool(domains[name].when)):
        domain = domains[name]
        if name in problems or any(parent not in known for parent in domain.when):
            continue
        try:
            if isinstance(domain, Variants):
                known[name] = _resolve_variants(base, name, domain, where, f"{at}.{name}")
            elif domain.when:
                known[name] = _resolve_child(base, name, domain, known, where, f"{at}.{name}")
            else:
                known[name] = _resolve_axis(base, name, domain, where, f"{at}.{name}")
        except InputError as error:
            found += error.problems
    axes = [known[name] for name in domains if name in known]
    missing = dict(_missing_in_variants(Space(base, tuple(axes), at), where))
    space = Space(base, tuple(axis for axis in axes if axis.name not in missing), at)
    twice = _written_twice(space.axes, where, at)
    return space, [*problems.values(), *found, *missing.values(), *twice]


def _resolve_axis(base: Spec, name: str, domain: Domain, where: str, at: str) -> Axis:
    if domain.into:
        paths = tuple(resolve(base, path, where=where, at=f"{at}.into: {path}") for path in domain.into)
        if len(set(paths)) < len(paths):
            raise InputError(f"{at}.into", where=where, rule="lists a field twice", remedy="Keep one of them")
    else:
        paths = resolve_fields(base, name, where=where, at=at)
    return Axis(name, domain, paths, _symbol_of(base, name, paths))


def _resolve_child(
    base: T, name: str, domain: Domain, known: Mapping[str, Axis], where: str, at: str
) -> Axis:
    """Resolve an axis at its parent's first value; the parent's other values must have the same fields."""
    ((parent, values),) = domain.when.items()
    space = Space(base, (known[parent], Axis(name, domain, ())))  # only to tell which axis is a parent
    bases = {}
    for value in values:
        with suppress(ValidationError, InputError):  # an invalid value of the parent is reported there
            bases[value] = space.apply({parent: value})
    axis = None
    for value, under in bases.items():
        axis = axis or _resolve_axis(under, name, domain, where, at)
        missing = [path for path in axis.paths if not _has(under, path)]
        if missing:
            rule = f"with {parent} = {value} there is no field {missing[0]}"
            remedy = f"Take {value} out of `when`, or give it an axis of its own"
            raise InputError(at, where=where, rule=rule, remedy=remedy)
    return axis or Axis(name, domain, (), name)


def _resolve_variants(base: Spec, name: str, domain: Variants, where: str, at: str) -> Axis:
    """Lay each variant over the base alone; no two may give the same trial."""
    fields: dict[str, tuple[str, ...]] = {}
    variants: dict[str, VariantSettings] = {}
    trials: dict[str, Spec] = {}
    problems: list[InputError] = []
    for label, values in domain.variants.items():
        here = f"{at}.variants.{label}"
        settings, found = settings_of(base, values, fields, where=where, at=here)
        trial, wrong = lay(base, settings, where=where, at=here)
        problems += found or wrong
        if found or trial is None:
            continue
        same = next((other for other, one in trials.items() if one == trial), None)
        if same is not None:
            rule = f"gives the same trial as {same!r}"
            problems.append(InputError(here, where=where, rule=rule, remedy="Remove one of them"))
        leaves = tuple(leaf for setting in settings for leaf in setting.leaves)
        trials[label], variants[label] = trial, VariantSettings(laid_values(base, settings), leaves)
    refuse(problems)
    paths = dict.fromkeys(path for variant in variants.values() for path in variant.values)
    return Axis(name, domain, tuple(paths), name, variants)


def _symbol_of(base: Spec, name: str, paths: tuple[str, ...]) -> str:
    """Return the field's symbol; an axis over several fields goes by its own name."""
    declared = dict(symbols(base))
    shared = {declared.get(path, "") for path in paths}
    return shared.pop() if len(shared) == 1 and len(paths) == 1 else name


def _missing_in_variants(space: Space[Any], where: str) -> Iterator[tuple[str, InputError]]:
    """Yield each axis of every trial whose field some variant lacks."""
    for parent in (axis for axis in space.axes if axis.variants):
        for axis in space.axes:
            if axis.parent or axis.variants:
                continue
            lacking = [
                name
                for name in parent.variants
                if not all(_has(space.apply({parent.name: name}), path) for path in axis.paths)
            ]
            if lacking:
                without = f"with {parent.name} = {lacking[0]} there is no field {axis.paths[0]}"
                rule = f"belongs to every trial, and {without}"
                having = [name for name in parent.variants if name not in lacking]
                remedy = f"Say where it belongs: `when: {{{parent.name}: [{', '.join(having)}]}}`"
                at = f"{space.at}.{axis.name}"
                yield axis.name, InputError(at, where=where, rule=rule, remedy=remedy)


def _has(spec: Spec, path: str) -> bool:
    try:
        look_up(spec, path)
    except AttributeError:
        return False
    return True


def _written_twice(axes: Sequence[Axis], where: str, at: str) -> Iterator[InputError]:
    written: list[tuple[Axis, str]] = []
    for axis in axes:
        for path in axis.paths:
            for other, theirs in written:
                if overlap(path, theirs) and _meet(axis, path, other, theirs):
                    rule = f"{theirs} is written by {other.name!r} too"
                    yield InputError(f"{at}.{axis.name}", where=where, rule=rule, remedy="Keep one of them")
            written.append((axis, path))


def _meet(axis: Axis, path: str, other: Axis, theirs: str) -> bool:
    """Whether two axes whose paths overlap write the same field of one trial."""
    if axis.variants and other.variants:
        return axis is not other
    if axis.variants or other.variants:
        above, below, field = (axis, other, theirs) if axis.variants else (other, axis, path)
        return any(
            overlap(leaf, field)
            for name, variant in above.variants.items()
            for leaf in variant.leaves
            if below.parent != above.name or below.is_active({above.name: name})
        )
    is_apart = axis.parent == other.parent != "" and not set(axis.domain.when[axis.parent]) & set(
        other.domain.when[other.parent]
    )
    return not is_apart


def condition_problems(domains: Mapping[str, Domain], *, where: str, at: str) -> dict[str, InputError]:
    """Return the problems of the axes' conditions, by axis name."""
    problems = {}
    for name, domain in domains.items():
        for parent, values in domain.when.items():
            what, rule, remedy = _problem_with(name, parent, values, domains)
            if rule:
                problems[name] = InputError(f"{at}.{name}.when{what}", where=where, rule=rule, remedy=remedy)
    return problems


def _problem_with(
    name: str, parent: str, values: tuple[object, ...], domains: Mapping[str, Domain]
) -> tuple[str, str, str]:
    """Return location, rule and remedy; the rule is empty if nothing is wrong."""
    if parent not in domains:
        return f".{parent}", "no such axis", did_you_mean(parent, [one for one in domains if one != name])
    above = domains[parent]
    if parent == name:
        return f".{parent}", "an axis cannot depend on itself", "Name another one"
    if not isinstance(above, Variants | Choice):
        rule = f"must name an axis of `variants` or of `choice`, and {parent!r} is of `{above.kind}`"
        return f".{parent}", rule, "Write the axis as choices, or leave out `when`"
    if above.when:
        grandparent = next(iter(above.when))
        rule = f"{parent!r} depends on {grandparent!r} itself, and one level is all there is"
        return f".{parent}", rule, f"Name the values of {grandparent!r}, or make one axis of both"
    unknown = next((value for value in values if not above.holds(value)), None)
    if unknown is not None:
        options = [str(value) for value in above.values()]
        return f".{parent} = {unknown!r}", f"no value of {parent!r}", did_you_mean(str(unknown), options)
    return "", "", ""
