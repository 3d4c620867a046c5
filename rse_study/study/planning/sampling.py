"""Points spread evenly over a space, to price its trials."""

import random
from collections.abc import Iterator

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

NUM_POINTS = 64


def sample(space: Space[Trial], seed: int, num_points: int = NUM_POINTS) -> list[Trial]:
    """Return reproducible trials at `num_points` points; impossible ones are left out."""
    trials = []
    for point in _points(len(space.axes), seed, num_points):
        values = zip(space.axes, point, strict=True)
        try:
            trials.append(space.apply(space.active_of({axis.name: axis.domain.at(u) for axis, u in values})))
        except (ValidationError, InputError):  # validation checks edges only
            continue
    return trials or [space.base]


def spread(checked: CheckedStudy) -> list[Trial]:
    """Return the trials of a grid, or points spread over a search's space."""
    return [row.trial for row in checked.rows] or sample(checked.space, checked.study.search_seed)


def _points(num_axes: int, seed: int, num_points: int) -> Iterator[tuple[float, ...]]:
    """Yield a Latin hypercube (McKay et al. 1979): each axis has `num_points` parts, each met once."""
    draw = random.Random(seed)
    columns = [draw.sample(range(num_points), num_points) for _ in range(num_axes)]
    for parts in zip(*columns, strict=True):
        yield tuple((part + draw.random()) / num_points for part in parts)
