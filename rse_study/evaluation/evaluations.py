"""The protocol of evaluations, and the vectors that they score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np

from rse_study.activity import ProgressCallback
from rse_study.data.labelled import StsPairs
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.tensors import Float

Embed = Callable[[list[str]], np.ndarray]
"""Sentences to their vectors, [n d]."""

COLLAPSED = 1e-5
"""Relative difference up to which vectors count as one, given float32's rounding."""


def unit_rows(embeddings: np.ndarray, zero: float = float("nan")) -> Float[np.ndarray, "n d"]:
    """Normalise rows in float64; a non-finite row becomes NaN, a zero row `zero`."""
    exact = np.asarray(embeddings, np.float64)
    norm = np.linalg.norm(exact, axis=1, keepdims=True)
    undirected = np.where(norm == 0, zero, np.nan) * np.ones_like(exact)
    return np.divide(exact, norm, out=undirected, where=np.isfinite(norm) & (norm > 0))


def is_one_vector(rows: Float[np.ndarray, "n d"]) -> bool:
    """Whether unit rows are equal up to rounding; False for no rows, or NaN."""
    return len(rows) > 0 and bool(np.abs(rows - rows[0]).max() <= COLLAPSED)


def is_collapsed(vectors: Float[np.ndarray, "n d"]) -> bool:
    """Whether a value is not finite, or the rows, of any length, are all the same."""
    if not np.isfinite(vectors).all():
        return True
    return float(np.abs(vectors - vectors[0]).max()) <= COLLAPSED * float(np.abs(vectors).max())


def vectors_of(
    embed: Embed, *sides: Sequence[str], zero: float = float("nan")
) -> list[Float[np.ndarray, "n d"]]:
    """Return the unit rows of each side; a distinct sentence is embedded once."""
    sentences = list(dict.fromkeys(sentence for side in sides for sentence in side))
    vectors = unit_rows(embed(sentences), zero) if sentences else np.zeros((0, 1))
    row_of = {sentence: row for row, sentence in enumerate(sentences)}
    return [vectors[np.array([row_of[sentence] for sentence in side], np.int64)] for side in sides]


class CachedEncoder:
    """Embeds each sentence once and keeps all vectors as long as it lives."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self.similarity = getattr(embed, "similarity", "cosine")
        self._place: dict[str, int] = {}
        self._vectors = np.zeros((0, 0))

    def __call__(self, sentences: list[str]) -> np.ndarray:
        new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._place]
        if new:
            vectors = np.asarray(self._embed(new))
            self._place |= {sentence: len(self._place) + i for i, sentence in enumerate(new)}
            self._vectors = np.concatenate([self._vectors, vectors]) if self._vectors.size else vectors
        return self._vectors[[self._place[sentence] for sentence in sentences]]


_NO_SPREAD = 1e-10
"""Share of the largest variance below which a direction is only rounding."""


def whitened(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Centre, rotate and scale the rows until their covariance is the identity.

    Directions without variance become 0. The result is NaN if rows are no more than the directions in which
    they vary: all pairs would have the same cosine, and only its rounding would rank them.
    """
    centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    spread = variances > _NO_SPREAD * variances.max(initial=0.0)
    if spread.sum() >= len(centred) - 1:
        return np.full_like(centred, np.nan)
    scales = np.where(spread, 1 / np.sqrt(np.where(spread, variances, 1.0)), 0.0)
    return centred @ (directions * scales)


@runtime_checkable
class Evaluation(Protocol):
    """Something that an encoder can be scored on, with its data."""

    @property
    def name(self) -> str:
        """The name in a study, and `EvaluationRow.evaluation` of every row."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the data: scores on other data are not comparable."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Figures shown to readers, the main one first, and which direction is better."""

    @property
    def num_sentences(self) -> int:
        """The number of sentences to embed, a measure of its cost."""


@runtime_checkable
class FrozenEvaluation(Evaluation, Protocol):
    """An evaluation of a frozen encoder."""

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return the rows for `embed`; `subject` names what is scored."""


@dataclass(frozen=True)
class PairsEvaluation:
    """The base class of registered evaluations whose data are pairs."""

    pairs: StsPairs

    @property
    def fingerprint(self) -> str:
        return self.pairs.fingerprint

    @property
    def num_sentences(self) -> int:
        return self.pairs.num_sentences


def evaluation_row(
    evaluation: Evaluation,
    subject: str,
    split: str,
    aggregation: str,
    value: float,
    num_examples: int,
    *,
    degenerate: bool,
    num_skipped: int = 0,
    seed: int = 0,
    items: ItemScores | None = None,
) -> EvaluationRow:
    """Return a row of an evaluation whose name is task/preset."""
    task, _, preset = evaluation.name.partition("/")
    return EvaluationRow(
        subject=subject, task=task, split=split, aggregation=aggregation, value=value, num_examples=num_examples,
        degenerate=degenerate, fingerprint=evaluation.fingerprint, preset=preset, num_skipped=num_skipped, seed=seed,
        items=items,
    )  # fmt: skip


def evaluation_rows(
    evaluation: Evaluation,
    subject: str,
    split: str,
    figures: Mapping[str, float],
    num_examples: int,
    *,
    degenerate: bool = False,
    items: Mapping[str, ItemScores | None] = MappingProxyType({}),
    **counts: int,
) -> list[EvaluationRow]:
    """Return a row for each figure by its name; one that is NaN is degenerate."""
    return [
        evaluation_row(
            evaluation, subject, split, name, value, num_examples,
            degenerate=degenerate or value != value, items=items.get(name), **counts,
        )
        for name, value in figures.items()
    ]  # fmt: skip


def score_all(
    embed: Embed,
    evaluations: Sequence[FrozenEvaluation],
    subject: str,
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Return the rows of every evaluation, embedding shared sentences once.

    `on_progress` gets the number of evaluations done and their total, the first time with 0.
    """
    cached, rows = CachedEncoder(embed), list[EvaluationRow]()
    on_progress(0, len(evaluations))
    for number, evaluation in enumerate(evaluations, start=1):
        rows += evaluation.score(cached, subject)
        on_progress(number, len(evaluations))
    return rows
