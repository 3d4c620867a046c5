"""Parts and axes that arithmetic alone shows to be inert, flat, or invalid."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations, islice, product
from math import prod
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.perturbations import PERTURBATIONS
from rse_study.perturbations.ascent import Reach
from rse_study.results.manipulation import Checks, ManipulationCheck
from rse_study.results.row_names import row_name
from rse_study.spec import Spec, show_setting
from rse_study.study.definition.domains import Choice
from rse_study.study.definition.paths import tried, walk
from rse_study.study.definition.rows import Row
from rse_study.study.definition.space import Axis, Space
from rse_study.training.trial import Trial

MOST_CORNERS = 1024  # take a tenth of a second
THE_BASE, EVERY = "the base", "every trial of the search"


def checks_of(trials: Iterable[Trial]) -> Checks:
    """Return the manipulation checks of the trials' methods, one per metric."""
    methods = dict.fromkeys(type(trial.method) for trial in trials)
    return tuple({one.metric: one for method in methods for one in method.checks}.values())


def inert_parts(rows: Mapping[str, Sequence[Trial]]) -> list[str]:
    """Return a warning per part that must be inert in some of these rows.

    It is inert in a row if it is so in each of the row's trials that switch it on.
    """
    found: dict[ManipulationCheck, dict[str, float]] = {}
    for name, trials in rows.items():
        for check, values in _foreseen(trials).items():
            on = [value for value in values if value or not check.zero_is_off]
            if len(values) == len(trials) and on and all(check.is_inert(value) for value in on):
                shown = name if name in (THE_BASE, EVERY) else f'"{name}"'
                found.setdefault(check, {})[shown] = max(on)
    return [
        check.sentence({EVERY: of[EVERY]} if EVERY in of else of, len(rows), "at most ")
        for check, of in found.items()
    ]


def _foreseen(trials: Iterable[Trial]) -> dict[ManipulationCheck, list[float]]:
    """Return the most that a check can be, by check, in trials that foresee it."""
    most = defaultdict[ManipulationCheck, list[float]](list)
    for trial in trials:
        known = trial.method.foreseen(trial.batch_size)
        for check in trial.method.checks:
            if check.metric in known:
                most[check].append(known[check.metric])
    return most


def rows_of_search(space: Space[Trial]) -> dict[str, list[Trial]]:
    """Return the base, all corners of the space, and those with each choice.

    What moves grows with every number it depends on, so that a part that is inert at all corners is so between them.
    """
    rows = {THE_BASE: [space.base]}
    branches = list(space.branches())
    if sum(prod(len(axis.domain.edges()) for axis in one.axes) for _, one in branches) > MOST_CORNERS:
        return rows
    for parents, branch in branches:
        for corner in _corners_of(branch.axes):
            point = parents | corner
            with suppress(ValidationError, InputError):
                trial = space.apply(point)
                rows.setdefault(EVERY, []).append(trial)
                for axis in space.axes:
                    if axis.name in point and axis.domain.scale == "none":
                        name = f"{axis.symbol or axis.name} = {show_setting(point[axis.name])}"
                        rows.setdefault(name, []).append(trial)
    return rows


T = TypeVar("T", bound=Spec)
MAX_PAIRS = 5_000  # take half a second
MAX_CORNERS = 64
PLAYERS = tuple(PERTURBATIONS.get(name) for name in PERTURBATIONS)
STEPS = ("num_steps", "step_size", "ball.radius")  # fields that decide how far a player's steps lead
START = "sigma"  # field that decides how far from 0 it starts


def check_edges(space: Space[T], *, where: str) -> list[InputError]:
    """Return each problem at the edges of the space once, at the axes it comes from."""
    problems = {
        f"{problem.what} {problem.rule}": problem
        for axis in space.parents
        for value in axis.domain.edges()
        for problem in problems_at(space, {axis.name: value}, where)
    }
    if problems:
        return list(problems.values())
    said: dict[str, InputError] = {}
    try:
        for point, branch in space.branches():
            for key, problem in _problems_of_branch(space, point, branch, where).items():
                said.setdefault(key, problem)  # once, at the first values of the parents
    except (ValidationError, InputError):  # two parents' values that exclude each other
        return _problems_of_parents(space, where)
    return list(said.values())


def _problems_of_parents(space: Space[T], where: str) -> list[InputError]:
    found = (problems_at(space, point, where) for point in _corners_of(space.parents))
    return next(problems for problems in found if problems)


def _problems_of_branch(
    space: Space[T], parents: dict[str, Any], branch: Space[T], where: str
) -> dict[str, InputError]:
    """Return problems by text, of the axes in the branch that the values `parents` lead to."""
    found: dict[str, InputError] = {}
    broken: set[str] = set()

    def note(point: dict[str, Any]) -> None:
        for problem in problems_at(space, parents | point, where):
            found.setdefault(
                problem.rule if len(point) > 2 else f"{row_name('', point)} {problem.rule}", problem
            )
            broken.update(point if len(point) == 1 else ())

    for axis in branch.axes:
        for value in axis.domain.edges():
            note({axis.name: value})
    alone = frozenset(broken)
    for point in _beyond_edges(branch):
        # Skip points that would only repeat the problem of one or two of their axes.
        if not (alone & set(point) or (len(point) > 2 and found)):
            note(point)
    return found


def _beyond_edges(space: Space[T]) -> Iterator[dict[str, Any]]:
    """Yield points inside continuous axes, then pairs of edges and corners, which may break only together."""
    yield from _insides(space)
    yield from islice(_pairs(space), MAX_PAIRS)
    if math.prod(len(axis.domain.edges()) for axis in space.axes) <= MAX_CORNERS:
        yield from _corners_of(space.axes)
    else:
        yield from (point for point in space.edges() if len(point) > 1)


def _pairs(space: Space[T]) -> Iterator[dict[str, Any]]:
    for one, other in combinations(space.axes, 2):
        for first, second in product(one.domain.edges(), other.domain.edges()):
            yield {one.name: first, other.name: second}


def _insides(space: Space[T]) -> Iterator[dict[str, Any]]:
    """Yield a point inside each continuous axis: an integer field takes its ends, such as 1.0, only."""
    for axis in space.axes:
        if not axis.domain.is_finite:
            low, high = axis.domain.edges()
            yield {axis.name: low + (high - low) / math.pi}


def problems_at(space: Space[T], point: dict[str, Any], where: str) -> list[InputError]:
    """Return the problems of the trial at a point; the base's values elsewhere."""
    at = f"{space.at}.{row_name('', point)}"
    return tried(partial(space.apply, point), type(space.base), where=where, at=at)[1]


def flat_axes(space: Space[Trial], *, where: str) -> list[InputError]:
    """Return a problem per axis whose values all saturate a player with sign steps.

    From num_steps * step_size >= 2 * radius on, every consistently signed entry sits on the bound, so that
    two such values do not differ. A list of choices is refused as soon as two of them saturate, a range only
    where all of it does. An axis beside several variants must be flat beside each.
    """
    by_branch = [
        ({axis.name for axis in branch.axes}, {problem.what: problem for problem in _flat_in(branch, where)})
        for _, branch in space.branches()
    ]
    return [
        problem
        for axis in space.axes
        for what, problem in next((found for names, found in by_branch if axis.name in names), {}).items()
        if what.startswith(f"{space.at}.{axis.name} = ")
        and all(what in found for names, found in by_branch if axis.name in names)
    ]


def _flat_in(space: Space[Trial], where: str) -> list[InputError]:
    """Return the problems of a space without conditions."""
    problems = []
    for axis in _relevant(space):
        flat = [value for value in axis.domain.edges() if _saturates_everywhere(space, axis, value)]
        if len(flat) >= (2 if isinstance(axis.domain, Choice) else len(axis.domain.edges())):
            problems.append(_flat(space, axis, flat, where))
    return problems


def flat_grid(space: Space[Trial], rows: Sequence[Row], *, where: str) -> list[InputError]:
    """Return a problem per grid axis with two values that saturate in all their rows."""
    combinations = [row for row in rows if not row.label]
    problems = []
    for axis in _relevant(space):
        free = {row.proposal[axis.name] for row in combinations if not _saturates([row.trial])}
        flat = [value for value in axis.domain.values() if value not in free]
        if len(flat) > 1:
            problems.append(_flat(space, axis, flat, where))
    return problems


def risks_of_saturation(space: Space[Trial]) -> list[str]:
    """Return a warning if start and steps can reach the bound somewhere in the space."""
    found = (warning for _, branch in space.branches() for warning in _risks_in(branch))
    return list(dict.fromkeys(found))


def _risks_in(space: Space[Trial]) -> list[str]:
    axes = _axes_of(space, (*STEPS, START), [path for path, _ in _players(space.base)])
    return risks_among(_trials_at(space, _corners_of(axes)))


def risks_among(trials: Iterable[Trial]) -> list[str]:
    """Return a warning if start and steps can reach the bound in one of the trials."""
    reaches = [reach for trial in trials for reach in _reaches(trial)]
    reached = [(r.path + r.start, r.radius) for r in reaches if r.path + r.start > r.radius]
    if not reached:
        return []
    way, radius = max(reached, key=lambda pair: pair[0] / pair[1])
    return [
        "delta can reach its bound: num_steps * step_size + sigma / sqrt(d) goes up to"
        f" {way:g}, the radius is {radius:g}"
    ]


def _flat(space: Space[Trial], axis: Axis, values: Sequence[Any], where: str) -> InputError:
    at = f"{space.at}.{axis.name} = {', '.join(show_setting(value) for value in values)}"
    path, player = next((path, player) for path, player in _sign_players(space.base))
    rule = (
        f"num_steps * step_size of {type(player).__name__} is at least twice the radius: flat by construction"
    )
    remedy = f"Widen {path.rpartition('.')[2]}.ball.radius, or lower the values"
    return InputError(at, where=where, rule=rule, remedy=remedy)


def _saturates_everywhere(space: Space[Trial], axis: Axis, value: Any) -> bool:
    """Whether every player with sign steps saturates at this value, for all values of other axes."""
    others = [other for other in _relevant(space) if other != axis]
    return _saturates(_trials_at(space, ({axis.name: value} | corner for corner in _corners_of(others))))


def _saturates(trials: Iterable[Trial]) -> bool:
    """Whether these trials have players with sign steps, and all of them saturate."""
    reaches = [reach for trial in trials for reach in _reaches(trial) if reach.is_certain]
    return bool(reaches) and all(reach.path >= 2 * reach.radius for reach in reaches)


def _trials_at(space: Space[Trial], points: Iterable[dict[str, Any]]) -> Iterator[Trial]:
    """Yield the trials at those of the points that are valid."""
    for point in points:
        with suppress(ValidationError, InputError):
            yield space.apply(point)


def _corners_of(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Yield all combinations of the axes' edges."""
    for values in product(*(axis.domain.edges() for axis in axes)):
        yield dict(zip([axis.name for axis in axes], values, strict=True))


def _relevant(space: Space[Trial]) -> list[Axis]:
    """Return the axes that decide how far players with sign steps can go."""
    return _axes_of(space, STEPS, [path for path, _ in _sign_players(space.base)])


def _axes_of(space: Space[Trial], fields: Sequence[str], players: Sequence[str]) -> list[Axis]:
    paths = {f"{player}.{field}" for player in players for field in fields}
    return [axis for axis in space.axes if paths & set(axis.paths)]


def _reaches(trial: Trial) -> Iterator[Reach]:
    """Return the reach of each player of a trial whose entries are bounded by a length."""
    reaches = (player.reach() for _, player in _players(trial))
    return (reach for reach in reaches if reach is not None)


def _sign_players(trial: Trial) -> Iterator[tuple[str, Any]]:
    return ((path, player) for path, player in _players(trial) if getattr(player, "has_sign_steps", False))


def _players(trial: Trial) -> Iterator[tuple[str, Any]]:
    return ((path, part) for path, part in walk(trial) if isinstance(part, PLAYERS))
