"""Check of batches: the workers must share every one equally, and record none."""

from collections.abc import Sequence

from rse_study.errors import InputError
from rse_study.study.definition.config import Study
from rse_study.study.definition.domains import Int
from rse_study.study.definition.rows import Row
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

FIELD = "batch_size"


def check_batch_sizes(
    study: Study, space: Space[Trial], rows: Sequence[Row], *, where: str
) -> list[InputError]:
    """Return a problem per resources whose workers cannot share every batch equally."""
    are_recorded = any(row.trial.graphed for row in rows) or (not rows and study.base.graphed)
    sizes = {row.trial.batch_size for row in rows} or {
        size for _, branch in space.branches() for size in _sizes(branch)
    }
    problems = []
    for at, resources in study.located_resources():
        uneven = sorted(size for size in sizes if size % resources.workers)
        if uneven:
            rule = f"must be a multiple of {at}.workers = {resources.workers}: each takes an equal share"
            remedy = f"Change batch_size (an axis: `choice`) or {at}.workers"
            problems.append(InputError(f"batch_size = {uneven[0]}", where=where, rule=rule, remedy=remedy))
        if are_recorded and resources.workers > 1:
            what = f"{at}.workers = {resources.workers}"
            rule = "graphed: true records the steps of one worker"
            remedy = "Use one worker a cell, or graphed: false"
            problems.append(InputError(what, where=where, rule=rule, remedy=remedy))
    return problems


def _sizes(space: Space[Trial]) -> set[int]:
    """Return every batch size that a search can propose in a branch; for an integer axis, its whole range."""
    sizes: set[int] = set()
    for axis in space.axes:
        if FIELD in axis.paths and isinstance(axis.domain, Int):
            sizes.update(axis.domain.values())
        elif FIELD in axis.paths:
            sizes.update(space.apply({axis.name: value}).batch_size for value in axis.domain.edges())
    return sizes or {space.base.batch_size}
