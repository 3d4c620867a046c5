"""The margin of a study: differences that are too small to matter."""

from rse_study.results.records import COSTS
from rse_study.results.study_record import MINUS, StudyRecord

DEFAULT_MARGIN = 0.5
"""Points of a score x 100, such as a correlation or an accuracy."""
NOT_IN_POINTS = ("loss", "drift", "alignment", "uniformity", "queries", *COSTS)
"""Endings of metrics that are no shares or correlations x 100; those of a class that a study names may be anything."""


def margin_of(study: StudyRecord, metric: str = "") -> float:
    """Return the margin of a metric in its unit, by default of the objective.

    0 means none. A study's own `margin` is in the unit of its objective, and holds for all metrics in that unit.
    """
    objective, given = study.objective, study.settings.margin
    if metric in ("", objective.metric, objective.evaluation):
        return given if given is not None else DEFAULT_MARGIN * is_in_points(objective.metric)
    if not is_in_points(metric):
        return 0.0
    return given if given is not None and is_in_points(objective.metric) else DEFAULT_MARGIN


def is_in_points(metric: str) -> bool:
    """Whether a metric is a score x 100."""
    return all(not part.endswith(NOT_IN_POINTS) and ":" not in part for part in metric.split(MINUS))
