"""Scores on measures beside the objective, including the baselines'."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from rse_study.results.comparing.comparisons import Scores, by_subject, is_of_history, scores_by_metric
from rse_study.results.comparing.outcomes import LARGEST
from rse_study.results.reader import Reader
from rse_study.results.records import BASELINES
from rse_study.results.study_record import MINUS


def measured_scores(reader: Reader, metrics: Iterable[str]) -> dict[str, Scores]:
    """Return scores of baselines and rows by metric, if the study measures it."""
    study, evaluations = reader.study(), reader.evaluations()
    asked = [
        metric
        for metric in dict.fromkeys(metrics)
        if metric == study.objective.evaluation or _is_asked(metric, study.evaluations, evaluations)
    ]
    by_metric = scores_by_metric(reader, asked).items()
    return {metric: _with_baselines(scores, reader, metric) for metric, scores in by_metric}


def _is_asked(metric: str, asked: Iterable[str], evaluations: pd.DataFrame) -> bool:
    """Whether it is evaluated; an evaluation may lack it (ANLI without some splits)."""
    known, measured = set(evaluations["metric"]), set(evaluations["evaluation"])
    whole = {part: part.rpartition("/")[0] for part in metric.split(MINUS)}
    return all(
        is_of_history(part) or (name in asked and (part in known or name not in measured))
        for part, name in whole.items()
    )


def _with_baselines(scores: Scores, reader: Reader, metric: str) -> Scores:
    values, evaluations = by_subject(reader, metric), reader.evaluations()
    fixed = {
        label: values[name]
        for name, label in BASELINES.items()
        if abs(values.get(name, float("nan"))) < LARGEST
    }
    worthless = evaluations[evaluations["degenerate"] & evaluations["metric"].isin(metric.split(MINUS))]
    constant = {label: [value] * scores.table.shape[1] for label, value in fixed.items()}
    above = pd.DataFrame.from_dict(constant, orient="index", columns=scores.table.columns)
    degenerate = [BASELINES[name] for name in dict.fromkeys(worthless["subject"]) if name in BASELINES]
    return replace(
        scores,
        table=pd.concat([above, scores.table]) if fixed else scores.table,
        degenerate_rows=(*degenerate, *scores.degenerate_rows),
        fixed_rows=tuple(fixed),
    )
