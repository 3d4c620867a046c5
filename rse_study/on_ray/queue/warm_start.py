"""Trials that a search knows before its first one, and the points it runs first."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.on_ray.queue.cell import Identify
from rse_study.results.files.connect import open_study
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.records import CellRecord, Direction
from rse_study.results.study_record import KnownTrial
from rse_study.search.choice import best_known
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.training.trial import Trial

STEPS = "steps"
STAGES = ("search", "grid")
"""stages whose cells count: a confirmation's trials were chosen for their value"""


def first_points(checked: CheckedStudy, known: Sequence[KnownTrial] = ()) -> list[dict[str, Any]]:
    """Return the distinct points that run before the sampler is asked.

    The base if the space holds it, the listed points, and the best known: only own trials can be chosen.
    """
    base, warm = checked.space.base_point, checked.study.warm_start
    points = [base] if base is not None else []
    points += [checked.space.completed(point) for point in (warm.trials if warm else ())]
    points += [dict(one.proposal) for one in best_known(known, directions_of(checked.study))]
    return [point for index, point in enumerate(points) if point not in points[:index]]


def directions_of(study: Study) -> list[Direction]:
    """Return the direction of each objective."""
    return [one.direction for one in study.all_objectives]


def known_trials(checked: CheckedStudy, store: Path, identify: Identify) -> tuple[KnownTrial, ...]:
    """Return the trials that the study's warm start takes from another study.

    Complete cells that are points of this space and would have the same identity here.
    """
    warm = checked.study.warm_start
    if warm is None or not warm.study:
        return ()
    with closing(open_study(store / warm.study)) as connection:
        connection.execute("BEGIN")  # one snapshot, whoever writes meanwhile
        ledger = LedgerQueries(connection)
        cells = [cell for cell in ledger.cells() if cell.stage in STAGES and cell.status == "complete"]
        study = checked.study
        metrics = [one.metric for one in study.all_objectives]
        finals = {metric: ledger.final_values(metric) for metric in metrics}
        last_points = ledger.last_points(study.objective.metric)
    known: dict[int, KnownTrial] = {}
    for cell in (one for one in cells if not one.retired):
        values = {metric: finals[metric].get(cell.identity, math.nan) for metric in metrics}
        values |= {STEPS: float(last_points.get(cell.identity, (0, math.nan))[0])}
        point = _point_of(checked, cell, identify)
        if point is not None and all(map(math.isfinite, values.values())):
            known[cell.trial] = _known_trial(checked, warm.study, cell.trial, point, values)
    if not known:
        what, remedy = f"warm_start.study = {warm.study!r}", "Name another study, or list trials"
        rule = f"none of its {len(cells)} complete cells would be a cell of this search"
        why = "base, data and code must agree, values lie in the space, and all objectives be measured"
        raise InputError(what, where=checked.study.name, rule=f"{rule}: {why}", remedy=remedy)
    return tuple(known.values())


def _point_of(checked: CheckedStudy, cell: CellRecord, identify: Identify) -> dict[str, Any] | None:
    """Return the cell as a point of the space, None if it would differ here."""
    with suppress(ValidationError, InputError):
        trial = Trial.model_validate(cell.config)
        point = checked.space.coordinates(trial)
        active = [axis for axis in checked.space.axes if axis.is_active(point)]
        is_inside = all(axis.name in point and axis.domain.holds(point[axis.name]) for axis in active)
        is_ours = cell.seed in checked.study.all_seeds
        if is_ours and is_inside and identify(checked.space.apply(point), cell.seed) == cell.identity:
            return point
    return None


def _known_trial(
    checked: CheckedStudy,
    study: str,
    trial: int,
    point: Mapping[str, Any],
    values: Mapping[str, float],
) -> KnownTrial:
    return KnownTrial(
        study=study,
        trial=trial,
        num_steps=int(values[STEPS]),
        proposal=dict(point),
        values=tuple(values[one.metric] for one in checked.study.all_objectives),
    )
