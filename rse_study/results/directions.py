"""Which way a metric is better: as its evaluation said, and a rule for what it did not name."""

from rse_study.results.comparisons import MINUS
from rse_study.results.records import StudyRecord

LESS_IS_BETTER = ("success_rate", "alignment", "uniformity", "drift", "drop")
"""Aggregations of which an encoder should have little. More queries and more words changed: a harder attack."""


def is_less_better(study: StudyRecord, metric: str = "") -> bool:
    """Of `row_scores`' metric; of the objective without one. What an attack takes away should be little."""
    if not metric:
        return study.objective.direction == "minimize"
    if MINUS in metric:
        return True
    told = {measure.metric: measure.direction for measure in study.shown_measures}
    if metric in told:
        return told[metric] == "minimize"
    return metric.rpartition("/")[2] in LESS_IS_BETTER
