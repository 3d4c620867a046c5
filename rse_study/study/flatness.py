"""Axes that cannot matter: where every value drives the perturbation onto its bound (METHODS 1, epsilon)."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from rse_study.errors import InputError
from rse_study.spec import Spec
from rse_study.study.domains import Choice
from rse_study.study.paths import walk
from rse_study.study.space import Axis, Space


def flat_axes(space: Space[Any], *, where: str) -> list[InputError]:
    """Axes of N, beta or epsilon whose values all saturate FGSM's bound: num_steps * beta >= 2 * radius.

    Every consistently signed entry then sits on the bound at two values or more, so that they differ in nothing.
    A list of choices is refused as soon as two of them do; a range, only where all of it does.
    """
    problems = []
    for axis in space.axes:
        flat = [value for value in axis.domain.edges() if _saturates_everywhere(space, axis, value)]
        if len(flat) >= (2 if isinstance(axis.domain, Choice) else len(axis.domain.edges())):
            at = f"search.{axis.name} = {', '.join(f'{value:g}' for value in flat)}"
            rule = "num_steps * step_size of FGSM is at least twice the radius: flat by construction"
            remedy = "Widen fgsm.ball.radius, or lower the values"
            problems.append(InputError(at, where=where, rule=rule, remedy=remedy))
    return problems


def risks_of_saturation(space: Space[Any]) -> list[str]:
    """A warning where the largest N and step size reach the bound somewhere in the space."""
    trials = [space.apply(dict(point)) for point in _corners(space, _relevant(space))]
    reach = [(n * beta, radius) for trial in trials for n, beta, radius in _fgsm(trial)]
    if not any(way > radius for way, radius in reach):
        return []
    way, radius = max(reach)
    return [f"delta can reach its bound: num_steps * step_size goes up to {way:g}, the radius is {radius:g}"]


def _saturates_everywhere(space: Space[Any], axis: Axis, value: Any) -> bool:
    """Whether FGSM saturates at this value of the axis, wherever the other axes are."""
    if not any(axis == relevant for relevant in _relevant(space)):
        return False
    others = [other for other in _relevant(space) if other != axis]
    trials = [space.apply({**point, axis.name: value}) for point in _corners(space, others)]
    found = [(n * beta, radius) for trial in trials for n, beta, radius in _fgsm(trial)]
    return bool(found) and all(way >= 2 * radius for way, radius in found)


def _corners(space: Space[Any], axes: list[Axis]) -> Iterator[dict[str, Any]]:
    for values in product(*(axis.domain.edges() for axis in axes)):
        yield dict(zip([axis.name for axis in axes], values, strict=True))


def _relevant(space: Space[Any]) -> list[Axis]:
    """Axes over numbers that decide how far FGSM can go."""
    fields = ("fgsm.num_steps", "fgsm.step_size", "fgsm.ball.radius")
    return [axis for axis in space.axes if any(path.endswith(fields) for path in axis.paths)]


def _fgsm(trial: Spec) -> list[tuple[int, float, float]]:
    """(num_steps, step size, radius) of every FGSM player in a trial whose ball is given for linf."""
    players = [player for path, player in walk(trial) if path.split(".")[-1] == "fgsm"]
    return [(p.num_steps, p.step_size, p.ball.radius) for p in players if p.ball.given_for == "linf"]
