"""Scores of what a study measures beside its objective, rows and baselines together."""

from collections.abc import Iterable

import pandas as pd

from rse_study.results.comparisons import MINUS, by_subject, scores_by_metric
from rse_study.results.directions import is_less_better
from rse_study.results.reader import Reader
from rse_study.results.records import BASELINES


def measured_scores(reader: Reader, metrics: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Scores [baselines and rows, seeds] of those metrics that the study asks for (`comparisons.row_scores`).

    A baseline was measured once: it has one value under every seed, and `attrs["fixed"]` names it.
    `attrs["less_is_better"]`: which way the metric is better.
    """
    study, evaluations = reader.study(), reader.evaluations()
    asked = [metric for metric in dict.fromkeys(metrics) if _is_asked(metric, study.evaluations, evaluations)]
    found = {}
    for metric, scores in scores_by_metric(reader, asked).items():
        found[metric] = _with_baselines(scores, evaluations, metric)
        found[metric].attrs["less_is_better"] = is_less_better(study, metric)
    return found


def _is_asked(metric: str, asked: Iterable[str], evaluations: pd.DataFrame) -> bool:
    """Not where its evaluation was measured and has no such figure: ANLI has none of splits that are not there."""
    known, measured = set(evaluations["metric"]), set(evaluations["evaluation"])
    whole = {part: part.rpartition("/")[0] for part in metric.split(MINUS)}
    return all(name in asked and (part in known or name not in measured) for part, name in whole.items())


def _with_baselines(scores: pd.DataFrame, evaluations: pd.DataFrame, metric: str) -> pd.DataFrame:
    values = by_subject(evaluations, metric)
    fixed = {
        label: values[name] for name, label in BASELINES.items() if pd.notna(values.get(name, float("nan")))
    }
    worthless = evaluations[evaluations["degenerate"] & evaluations["metric"].isin(metric.split(MINUS))]
    constant = {label: [value] * scores.shape[1] for label, value in fixed.items()}
    above = pd.DataFrame.from_dict(constant, orient="index", columns=scores.columns)
    found = pd.concat([above, scores]) if fixed else scores.copy()
    degenerate = [BASELINES[name] for name in dict.fromkeys(worthless["subject"]) if name in BASELINES]
    found.attrs = {**scores.attrs, "fixed": tuple(fixed)}
    found.attrs["degenerate"] = (*degenerate, *scores.attrs["degenerate"])
    return found
