"""Parts of a study that arithmetic alone shows to be inert, before anything runs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import prod

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.results.manipulation import Checks, ManipulationCheck
from rse_study.spec import show_setting
from rse_study.study.definition.space import Space
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
        for values in product(*(axis.domain.edges() for axis in branch.axes)):
            point = parents | dict(zip([axis.name for axis in branch.axes], values, strict=True))
            with suppress(ValidationError, InputError):
                trial = space.apply(point)
                rows.setdefault(EVERY, []).append(trial)
                for axis in space.axes:
                    if axis.name in point and axis.domain.scale == "none":
                        name = f"{axis.symbol or axis.name} = {show_setting(point[axis.name])}"
                        rows.setdefault(name, []).append(trial)
    return rows
