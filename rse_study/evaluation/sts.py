"""Semantic textual similarity: Spearman of the cosine of frozen embeddings with human judgement."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.rank_correlation import spearman
from rse_study.evaluation.vectors import is_one_vector, unit_rows

Embed = Callable[[list[str]], np.ndarray]  # sentences -> [n d]
Aggregation = Literal["all", "mean", "wmean"]
AGGREGATIONS: tuple[Aggregation, ...] = ("all", "mean", "wmean")
SEVEN = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R")  # the papers' "Avg."


@dataclass(frozen=True)
class StsScore:
    """One result. `degenerate`: embeddings were constant or not finite somewhere, which counts as 0."""

    task: str
    split: str
    aggregation: Aggregation
    spearman: float  # x100
    num_examples: int
    degenerate: bool
    fingerprint: str  # of the pairs


def evaluate_sts(embed: Embed, tasks: Sequence[StsPairs]) -> list[StsScore]:
    """Three scores a task, by aggregation. Each distinct sentence is embedded once, over all tasks."""
    sentences = list(dict.fromkeys(text for pairs in tasks for text in (*pairs.first, *pairs.second)))
    unit = unit_rows(embed(sentences), zero=0.0) if sentences else np.zeros((0, 1))
    place = {sentence: row for row, sentence in enumerate(sentences)}
    scores: list[StsScore] = []
    for pairs in tasks:
        first, second = (unit[[place[text] for text in side]] for side in (pairs.first, pairs.second))
        scores.extend(score_pairs(pairs, _cosines(first, second)))
    return scores


def score_pairs(pairs: StsPairs, similarities: np.ndarray) -> list[StsScore]:
    """The three scores of similarities [n] however they were computed; NaN marks a collapse.

    `all` is one correlation over the concatenated subsets, `mean` and `wmean` the plain and the size-weighted
    mean of the subsets' correlations. For a task without subsets they agree.
    """
    parts = list(pairs.parts().values())
    whole = spearman(similarities, pairs.gold)
    each = np.array([spearman(similarities[part], pairs.gold[part]) for part in parts])
    sizes = [part.stop - part.start for part in parts]
    zeroed = np.nan_to_num(each)
    values = {
        "all": float(np.nan_to_num(whole)),
        "mean": zeroed.mean(),
        "wmean": np.average(zeroed, weights=sizes),
    }
    degenerate = {
        "all": bool(np.isnan(whole)),
        "mean": bool(np.isnan(each).any()),
        "wmean": bool(np.isnan(each).any()),
    }
    return [
        StsScore(
            pairs.name,
            pairs.split,
            name,
            100 * float(values[name]),
            len(pairs),
            degenerate[name],
            pairs.fingerprint,
        )
        for name in AGGREGATIONS
    ]


def average(scores: Iterable[StsScore], aggregation: Aggregation) -> float:
    """Plain mean of the seven tasks' test scores. Raises KeyError where one is missing."""
    found = {
        row.task: row.spearman for row in scores if row.aggregation == aggregation and row.split == "test"
    }
    return sum(found[task] for task in SEVEN) / len(SEVEN)


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cosines of unit rows [n]; all NaN where one is NaN, or the embeddings have collapsed to one vector."""
    both = np.concatenate([first, second])
    if not np.isfinite(both).all() or is_one_vector(both):
        return np.full(len(first), np.nan)
    return (first * second).sum(axis=1)
