"""Axes that cannot matter: where every value drives the perturbation onto its bound (METHODS 1, epsilon)."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.spec import Spec
from rse_study.study.domains import Choice
from rse_study.study.paths import walk
from rse_study.study.space import Axis, Space

PLAYERS = ("pgd", "fgsm")
SMALLEST_WIDTH = (
    64  # d of the word embeddings is not known before the encoder is; a smaller one starts farther out
)


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
    """A warning where a player's start and steps together reach its bound somewhere in the space."""
    fields = ("num_steps", "step_size", "ball.radius", "sigma")
    axes = _axes_of(space, [f"{player}.{name}" for player in PLAYERS for name in fields])
    reached = [
        (way, radius) for trial in _corners(space, axes) for way, radius in _reach(trial) if way > radius
    ]
    if not reached:
        return []
    way, radius = max(reached, key=lambda pair: pair[0] / pair[1])
    return [
        "delta can reach its bound: num_steps * step_size + sigma / sqrt(d) goes up to"
        f" {way:g}, the radius is {radius:g}"
    ]


def _saturates_everywhere(space: Space[Any], axis: Axis, value: Any) -> bool:
    """Whether FGSM saturates at this value of the axis, wherever the other axes are."""
    if not any(axis == relevant for relevant in _relevant(space)):
        return False
    others = [other for other in _relevant(space) if other != axis]
    trials = _corners(space, others, {axis.name: value})
    found = [(n * beta, radius) for trial in trials for n, beta, radius in _fgsm(trial)]
    return bool(found) and all(way >= 2 * radius for way, radius in found)


def _corners(space: Space[Any], axes: list[Axis], point: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """The trials at every combination of the axes' edges, at `point` otherwise; impossible ones left out."""
    for values in product(*(axis.domain.edges() for axis in axes)):
        here = dict(zip([axis.name for axis in axes], values, strict=True))
        try:
            trial = space.apply({**(point or {}), **here})
        except (ValidationError, InputError):
            continue
        yield trial


def _relevant(space: Space[Any]) -> list[Axis]:
    """Axes over numbers that decide how far FGSM can go."""
    return _axes_of(space, ["fgsm.num_steps", "fgsm.step_size", "fgsm.ball.radius"])


def _axes_of(space: Space[Any], fields: list[str]) -> list[Axis]:
    return [axis for axis in space.axes if any(path.endswith(tuple(fields)) for path in axis.paths)]


def _fgsm(trial: Spec) -> list[tuple[int, float, float]]:
    """(num_steps, step size, radius) of every FGSM player in a trial whose ball is given for linf."""
    return [(p.num_steps, p.step_size, p.ball.radius) for p in _players(trial, "fgsm")]


def _reach(trial: Spec) -> Iterator[tuple[float, float]]:
    """How far an entry of delta can get from 0 at most, and the radius, for every PGD and FGSM player that moves."""
    for player in _players(trial, *PLAYERS):
        if player.num_steps > 0:
            way = player.num_steps * player.step_size + player.sigma / SMALLEST_WIDTH**0.5
            yield way, player.ball.radius


def _players(trial: Spec, *names: str) -> list[Any]:
    """The players of these names whose ball is given for linf."""
    found = [player for path, player in walk(trial) if path.split(".")[-1] in names]
    return [player for player in found if player.ball.given_for == "linf"]
