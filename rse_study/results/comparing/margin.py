"""The margin of a study: differences that are too small to matter."""

from rse_study.results.records import POINTS, unit_by_name
from rse_study.results.study_record import MINUS, StudyRecord

DEFAULT_MARGIN = 0.5
"""Points of a score x 100, such as a correlation or an accuracy."""


def margin_of(study: StudyRecord, metric: str = "") -> float:
    """Return the margin of a metric in its unit, by default of the objective.

    0 means none. A study's own `margin` is in the unit of its objective, and holds for all metrics in that unit whose
    measure has no margin of its own.
    """
    objective, given = study.objective, study.settings.margin
    if given is not None and metric in ("", objective.metric, objective.evaluation):
        return given
    metric = metric or objective.metric
    own = next((one.margin for one in study.shown_measures if one.metric == metric), None)
    if own is not None or not is_in_points(study, metric):
        return own or 0.0
    return given if given is not None and is_in_points(study, objective.metric) else DEFAULT_MARGIN


def is_in_points(study: StudyRecord, metric: str) -> bool:
    """Whether a metric is a score x 100: its measure says so, or else its name."""
    units = {one.metric: one.unit for one in study.shown_measures}
    return all(units.get(part, unit_by_name(part)) == POINTS for part in metric.split(MINUS))
