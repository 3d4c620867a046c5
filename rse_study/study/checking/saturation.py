"""Axes that cannot matter: where every value drives the perturbation onto its bound (METHODS 1, epsilon)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.spec import Spec
from rse_study.study.definition.domains import Choice
from rse_study.study.definition.rows import Row
from rse_study.study.definition.space import Axis, Space, show
from rse_study.training.trial import Trial

PLAYERS = ("pgd", "fgsm")
SMALLEST_WIDTH = (
    64  # d of the word embeddings is not known before the encoder is; a smaller one starts farther out
)


def flat_axes(space: Space[Trial], *, where: str) -> list[InputError]:
    """Axes of N, beta or epsilon whose values all saturate FGSM's bound: num_steps * beta >= 2 * radius.

    Every consistently signed entry then sits on the bound at two values or more, so that they differ in nothing.
    A list of choices is refused as soon as two of them do; a range, only where all of it does.
    """
    problems = []
    for axis in _relevant(space):
        flat = [value for value in axis.domain.edges() if _saturates_everywhere(space, axis, value)]
        if len(flat) >= (2 if isinstance(axis.domain, Choice) else len(axis.domain.edges())):
            problems.append(_flat(space, axis, flat, where))
    return problems


def flat_grid(space: Space[Trial], rows: Sequence[Row], *, where: str) -> list[InputError]:
    """The same of a grid: two values of an axis that saturate FGSM in every row that has them."""
    combinations = [row for row in rows if not row.label]
    problems = []
    for axis in _relevant(space):
        free = {row.proposal[axis.name] for row in combinations if not _saturates([row.trial])}
        flat = [value for value in axis.domain.values() if value not in free]
        if len(flat) > 1:
            problems.append(_flat(space, axis, flat, where))
    return problems


def risks_of_saturation(space: Space[Trial]) -> list[str]:
    """A warning where a player's start and steps together reach its bound somewhere in the space."""
    fields = ("num_steps", "step_size", "ball.radius", "sigma")
    axes = _axes_of(space, [f"{player}.{name}" for player in PLAYERS for name in fields])
    return risks_among(_corners(space, axes))


def risks_among(trials: Iterable[Trial]) -> list[str]:
    """The same of trials that are listed."""
    reached = [(way, radius) for trial in trials for way, radius in _reach(trial) if way > radius]
    if not reached:
        return []
    way, radius = max(reached, key=lambda pair: pair[0] / pair[1])
    return [
        "delta can reach its bound: num_steps * step_size + sigma / sqrt(d) goes up to"
        f" {way:g}, the radius is {radius:g}"
    ]


def _flat(space: Space[Trial], axis: Axis, values: Sequence[Any], where: str) -> InputError:
    at = f"{space.at}.{axis.name} = {', '.join(show(value) for value in values)}"
    rule = "num_steps * step_size of FGSM is at least twice the radius: flat by construction"
    return InputError(at, where=where, rule=rule, remedy="Widen fgsm.ball.radius, or lower the values")


def _saturates_everywhere(space: Space[Trial], axis: Axis, value: Any) -> bool:
    """Whether FGSM saturates at this value of the axis, wherever the other axes are."""
    others = [other for other in _relevant(space) if other != axis]
    return _saturates(_corners(space, others, {axis.name: value}))


def _saturates(trials: Iterable[Trial]) -> bool:
    """Whether every FGSM player of all these trials does, and there is one."""
    found = [(n * beta, radius) for trial in trials for n, beta, radius in _fgsm(trial)]
    return bool(found) and all(way >= 2 * radius for way, radius in found)


def _corners(
    space: Space[Trial], axes: list[Axis], point: Mapping[str, Any] | None = None
) -> Iterator[Trial]:
    """The trials at every combination of the axes' edges, at `point` otherwise; impossible ones left out."""
    for values in product(*(axis.domain.edges() for axis in axes)):
        here = dict(zip([axis.name for axis in axes], values, strict=True))
        try:
            trial = space.apply({**(point or {}), **here})
        except (ValidationError, InputError):
            continue
        yield trial


def _relevant(space: Space[Trial]) -> list[Axis]:
    """Axes over numbers that decide how far FGSM can go."""
    return _axes_of(space, ["fgsm.num_steps", "fgsm.step_size", "fgsm.ball.radius"])


def _axes_of(space: Space[Trial], fields: list[str]) -> list[Axis]:
    return [axis for axis in space.axes if any(path.endswith(tuple(fields)) for path in axis.paths)]


def _fgsm(trial: Trial) -> list[tuple[int, float, float]]:
    """(num_steps, step size, radius) of every FGSM player in a trial whose ball is given for linf."""
    return [(p.num_steps, p.step_size, p.ball.radius) for p in _players(trial, "fgsm")]


def _reach(trial: Trial) -> Iterator[tuple[float, float]]:
    """How far an entry of delta can get from 0 at most, and the radius, for every PGD and FGSM player that moves."""
    for player in _players(trial, *PLAYERS):
        if player.num_steps > 0:
            way = player.num_steps * player.step_size + player.sigma / SMALLEST_WIDTH**0.5
            yield way, player.ball.radius


def _players(trial: Trial, *names: str) -> list[Any]:
    """The players of these names whose ball is given for linf."""
    return [
        player for name, player in _parts(trial.method) if name in names and player.ball.given_for == "linf"
    ]


def _parts(spec: Spec) -> Iterator[tuple[str, Any]]:
    """(name, value) of every sub-configuration."""
    for name, value in vars(spec).items():
        if isinstance(value, Spec):
            yield name, value
            yield from _parts(value)
