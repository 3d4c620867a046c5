"""Invariance: what becomes of predictions and embeddings under changes that should not matter (CheckList's INV tests).

Ribeiro et al. 2020 change a text at random and count predictions that flip; here the similarity kept counts, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.sts import Embed
from rse_study.evaluation.vectors import is_one_vector, unit_rows
from rse_study.spec import fingerprint_of

PredictLabels = Callable[[list[str]], np.ndarray]  # texts -> [n] labels


@dataclass(frozen=True)
class InvarianceScore:
    """What one change did. A text it leaves as it is (nothing to expand, no letter) is skipped and counts nowhere.

    `degenerate`: no text was changed, an embedding was zero or not finite, or all are one vector.
    """

    change: str
    similarity: float  # mean cosine of a text and its changed self, -1..1; NaN where it is not defined
    predictions_changed: float | None  # share, 0..1; NaN without a changed text, None without `predict`
    num_texts: int
    num_changed: int
    num_skipped: int
    seed: int
    degenerate: bool
    fingerprint: str  # of the texts and what they were changed to


def evaluate_invariance(
    embed: Embed,
    texts: Sequence[str],
    changes: Sequence[str],
    resources: ChangeResources,
    seed: int,
    predict: PredictLabels | None = None,
) -> list[InvarianceScore]:
    """A score for each change, by the names of CHANGES. Each distinct text is embedded, and predicted, once.

    Raises InputError for an unknown change, and where a table it needs is missing or malformed.
    """
    return score_changes(embed, texts, changed_texts(texts, changes, resources, seed), seed, predict)


def changed_texts(
    texts: Sequence[str], changes: Sequence[str], resources: ChangeResources, seed: int
) -> dict[str, list[str]]:
    """Every text after each change, by its name. Raises InputError as above."""
    return {name: [changed_text(text, name, resources, seed) for text in texts] for name in changes}


def score_changes(
    embed: Embed,
    texts: Sequence[str],
    changed: Mapping[str, list[str]],
    seed: int,
    predict: PredictLabels | None = None,
) -> list[InvarianceScore]:
    """A score for each change, of texts that are changed already."""
    distinct = sorted({*texts, *(text for new in changed.values() for text in new)})
    place = {text: row for row, text in enumerate(distinct)}
    vectors = unit_rows(embed(distinct)) if distinct else np.zeros((0, 1))
    labels = np.asarray(predict(distinct)) if predict and distinct else None
    return [_score(name, list(texts), new, place, vectors, labels, seed) for name, new in changed.items()]


def changed_text(text: str, name: str, resources: ChangeResources, seed: int) -> str:
    """The text after a change. Its draws hang on (seed, change, text) alone. Raises InputError as above."""
    key = int(fingerprint_of([seed, name, text])[:16], 16)
    return CHANGES.get(name)(text, np.random.default_rng(key), resources)


def _score(
    name: str,
    texts: list[str],
    new: list[str],
    place: dict[str, int],
    vectors: np.ndarray,
    labels: np.ndarray | None,
    seed: int,
) -> InvarianceScore:
    moved = [(place[a], place[b]) for a, b in zip(texts, new, strict=True) if a != b]
    before, after = np.array(moved, np.int64).reshape(-1, 2).T
    cosines = (vectors[before] * vectors[after]).sum(axis=1)
    flipped = None if labels is None else labels[before] != labels[after]
    # One text alone, or copies of it, tell nothing about a collapse.
    clean = [place[text] for text in dict.fromkeys(texts)]
    is_one = len(clean) > 1 and is_one_vector(vectors[clean])
    similarity = float(cosines.mean()) if moved else float("nan")
    return InvarianceScore(
        change=name,
        similarity=similarity,
        predictions_changed=None if flipped is None else float(flipped.mean()) if moved else float("nan"),
        num_texts=len(texts),
        num_changed=len(moved),
        num_skipped=len(texts) - len(moved),
        seed=seed,
        degenerate=is_one or bool(np.isnan(similarity)),
        fingerprint=fingerprint_of([texts, new]),
    )
