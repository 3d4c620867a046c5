"""What every evaluation of frozen vectors promises, whichever it is."""

from collections.abc import Iterable

import numpy as np
import pytest

from rse_study.evaluation.evaluations import Embed, FrozenEvaluation, score_all
from rse_study.evaluation.sts import spearman
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow


def by_letters(sentences: list[str]) -> np.ndarray:
    """One, and how often each letter occurs."""
    return np.array([[1.0, *(text.lower().count(chr(97 + i)) for i in range(26))] for text in sentences])


def all_one(sentences: list[str]) -> np.ndarray:
    """A collapsed encoder."""
    return np.ones((len(sentences), 4))


def rows_of(evaluation: FrozenEvaluation, embed: Embed) -> dict[str, EvaluationRow]:
    """Its rows by aggregation, named after the evaluation, its measures among them."""
    rows = score_all(embed, [evaluation], "me")
    assert {row.evaluation for row in rows} == {evaluation.name}
    assert {row.fingerprint for row in rows} == {evaluation.fingerprint}
    assert {row.subject for row in rows} == {"me"}
    assert {measure.metric for measure in evaluation.measures} <= {row.metric for row in rows}
    return {row.aggregation: row for row in rows}


def asked_once(evaluation: FrozenEvaluation, embed: Embed) -> set[str]:
    """The sentences it asks for: in one call, which fills its batches, and each once."""
    calls: list[list[str]] = []
    evaluation.score(lambda sentences: calls.append(sentences) or embed(sentences), "me")
    (sentences,) = calls
    assert len(sentences) == len(set(sentences))
    return set(sentences)


def check_registered(evaluation: FrozenEvaluation) -> None:
    """It says what it measured, calls a collapse degenerate, and asks for a sentence once."""
    rows_of(evaluation, by_letters)
    shown = {measure.metric for measure in evaluation.measures}
    assert all(row.degenerate for row in rows_of(evaluation, all_one).values() if row.metric in shown)
    assert len(asked_once(evaluation, by_letters)) <= evaluation.num_sentences


def value_of(items: ItemScores) -> float:
    """What the scores of single items say the row's value is."""
    parts = np.zeros(len(items.scores)) if items.parts is None else items.parts
    every_part = [parts == part for part in np.unique(parts)]
    if items.gold is None:
        return float(np.mean([np.nanmean(items.scores[part], dtype=float) for part in every_part]))
    ranked = [
        spearman(items.scores[part].astype(float), items.gold[part].astype(float)) for part in every_part
    ]
    return 100 * float(np.mean(ranked))


def check_items(rows: Iterable[EvaluationRow], *without: str) -> None:
    """Rows carry the score of every item, from which their value follows; those `without` are no mean of items."""
    for row in rows:
        if row.aggregation in without:
            assert row.items is None, row.metric
        else:
            assert value_of(row.items) == pytest.approx(row.value, abs=1e-3), row.metric
