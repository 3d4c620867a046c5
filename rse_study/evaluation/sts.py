"""Semantic textual similarity: Spearman of cosines, also under attack."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Literal

import numpy as np
import scipy  # submodules load lazily

from rse_study.data import builtin
from rse_study.data.labelled import StsPairs, Text
from rse_study.data.readers import read_sts
from rse_study.evaluation import BUILTIN
from rse_study.evaluation.attacks.attack import AttackOutcome, Summary, Target, summarise
from rse_study.evaluation.evaluations import Embed, PairsEvaluation, is_one_vector, vectors_of
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.streams import Streams
from rse_study.tensors import Float, Int

DIGITS = 12
"""Decimals that count: later ones are rounding, which would rank equal cosines."""


def spearman(similarities: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"]) -> float:
    """Return Spearman's rho, -1..1, or NaN where it is not defined.

    It needs two values or more, all finite, and no constant side. Values that differ by rounding tie: a
    sentence paired with itself has cosine 1 only up to the last bit.

    >>> spearman(np.array([1.0, 1.0 - 1e-16, 0.5]), np.array([5.0, 4.0, 1.0]))
    0.8660254037844387
    """
    ranked = np.round(np.asarray(similarities, np.float64), DIGITS)
    if len(ranked) < 2 or not np.isfinite(ranked).all() or np.ptp(ranked) == 0 or np.ptp(gold) == 0:
        return float("nan")
    return float(scipy.stats.spearmanr(ranked, gold).statistic)


_TOKEN = re.compile(r"\w+")


def overlaps(pairs: StsPairs) -> Float[np.ndarray, " n"]:
    """Return each pair's cosine of lower-cased word counts; 0 without words."""
    return np.array([_cosine(*pair) for pair in zip(pairs.first, pairs.second, strict=True)], np.float64)


def _cosine(first: str, second: str) -> float:
    one, other = (Counter(_TOKEN.findall(text.lower())) for text in (first, second))
    lengths = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return float(sum(n * other[token] for token, n in one.items()) / lengths**0.5) if lengths else 0.0


Aggregation = Literal["all", "mean", "wmean"]
AGGREGATIONS: tuple[Aggregation, ...] = ("all", "mean", "wmean")
SEVEN = ("STS12", "STS13", "STS14", "STS15", "STS16", "STS-B", "SICK-R")
"""The tasks of the papers' "Avg."."""


@dataclass(frozen=True)
class Similarity(PairsEvaluation):
    """Spearman x100 of cosines on a task's pairs, by three aggregations."""

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "Similarity":
        task, split = name.split("/")
        return cls(builtin.graded_pairs("test") if name == BUILTIN else read_sts(task, split, data_dir))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{self.pairs.split}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(name=self.name, metric=f"{self.name}/all"),)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return one row per aggregation.

        Collapsed embeddings score 0 and are marked as degenerate.
        """
        return evaluate_sts(embed, [self.pairs], subject)

    def score_overlap(self, subject: str) -> list[EvaluationRow]:
        """Score the cosine of word counts instead, which needs no encoder."""
        return score_pairs(self.pairs, overlaps(self.pairs), subject)


def evaluate_sts(embed: Embed, tasks: Sequence[StsPairs], subject: str = "") -> list[EvaluationRow]:
    """Return three rows per task; each distinct sentence is embedded once."""
    sides = vectors_of(embed, *(side for pairs in tasks for side in (pairs.first, pairs.second)), zero=0.0)
    rows: list[EvaluationRow] = []
    for pairs, first, second in zip(tasks, sides[::2], sides[1::2], strict=True):
        rows.extend(score_pairs(pairs, _cosines(first, second), subject))
    return rows


def aggregation_of(dev: StsPairs) -> Aggregation:
    """Return how dev pairs select: by the mean over sets, or by all pairs of one."""
    return "mean" if dev.subsets else "all"


def title_of(dev: StsPairs) -> str:
    """Return the name of dev pairs for readers: STS-B dev, or a mean over sets."""
    return f"mean of {' and '.join(dev.subsets)} {dev.split}" if dev.subsets else f"{dev.name} {dev.split}"


def score_pairs(pairs: StsPairs, similarities: np.ndarray, subject: str = "") -> list[EvaluationRow]:
    """Return the three rows of similarities [n]; NaN marks a collapse and counts as 0.

    `all` is one correlation over the concatenated subsets, `mean` and `wmean` are the plain and size-weighted
    means of the subsets' correlations.
    """
    parts = list(pairs.parts().values())
    whole = spearman(similarities, pairs.gold)
    each = np.array([spearman(similarities[part], pairs.gold[part]) for part in parts])
    sizes = [part.stop - part.start for part in parts]
    zeroed = np.nan_to_num(each)
    is_lost = bool(np.isnan(each).any())
    items: dict[Aggregation, ItemScores | None] = {"all": ItemScores.of(similarities, pairs.gold)}
    if pairs.subsets and pairs.split != "test":  # several dev sets, whose mean selects
        items["mean"] = ItemScores.of(similarities, pairs.gold, np.repeat(np.arange(len(sizes)), sizes))
    values: dict[Aggregation, tuple[float, bool]] = {
        "all": (float(np.nan_to_num(whole)), bool(np.isnan(whole))),
        "mean": (float(zeroed.mean()), is_lost),
        "wmean": (float(np.average(zeroed, weights=sizes)), is_lost),
    }
    return [
        EvaluationRow(
            subject=subject,
            task=pairs.name,
            split=pairs.split,
            aggregation=name,
            value=100 * values[name][0],
            num_examples=len(pairs),
            degenerate=values[name][1],
            fingerprint=pairs.fingerprint,
            items=items.get(name),
        )
        for name in AGGREGATIONS
    ]


def average(rows: Iterable[EvaluationRow], aggregation: Aggregation) -> float:
    """Return the mean of the seven tasks' test scores; KeyError if one is missing."""
    values = {row.task: row.value for row in rows if row.aggregation == aggregation and row.split == "test"}
    return sum(values[task] for task in SEVEN) / len(SEVEN)


def _cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    both = np.concatenate([first, second])
    if not np.isfinite(both).all() or is_one_vector(both):
        return np.full(len(first), np.nan)
    return (first * second).sum(axis=1)


MapKind = Literal["affine", "isotonic"]


@dataclass(frozen=True)
class ScoreMap:
    """A piecewise linear map, constant outside its points; an affine map has two."""

    kind: MapKind
    cosines: Float[np.ndarray, " k"]
    scores: Float[np.ndarray, " k"]
    """The points' scores on the gold scale; `cosines` ascend."""

    @classmethod
    def fitted(
        cls, cosines: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"], kind: MapKind = "affine"
    ) -> "ScoreMap":
        """Fit by least squares; an affine map that would fall is constant at the mean."""
        low, high = float(gold.min()), float(gold.max())
        if kind == "isotonic":
            from sklearn.isotonic import IsotonicRegression  # a second at every start, for a map few ask for

            steps = IsotonicRegression().fit(cosines, gold)
            return cls(kind, np.asarray(steps.X_thresholds_), np.asarray(steps.y_thresholds_))
        # Rounding would give equal cosines a variance.
        spread = float(np.var(cosines)) if np.ptp(cosines) else 0.0
        slope = float(np.mean((cosines - cosines.mean()) * (gold - gold.mean()))) / spread if spread else 0.0
        if slope <= 0:
            return cls(kind, np.array([-1.0, 1.0]), np.full(2, float(gold.mean())))
        at = np.array([low, high])
        return cls(kind, (at - gold.mean()) / slope + cosines.mean(), at)

    def __call__(self, cosines: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return np.interp(cosines, self.cosines, self.scores)


VictimScores = Callable[[Sequence[Text]], Float[np.ndarray, "n 1"]]
"""Maps pairs of sentences to their cosines on the gold scale."""


def cosines_of(embed: Embed, texts: Sequence[Text]) -> Float[np.ndarray, " n"]:
    """Return each text's cosine of its two sentences; 0 for a non-finite vector."""
    first, second = vectors_of(embed, *([text[side] for text in texts] for side in (0, 1)))
    return np.nan_to_num((first * second).sum(axis=1))


def victim_of(embed: Embed, score: ScoreMap) -> VictimScores:
    """Return the function that an attack queries: pairs to gold-scale scores."""
    return lambda texts: score(cosines_of(embed, texts))[:, None]


def fit_score(embed: Embed, pairs: StsPairs, kind: MapKind = "affine") -> ScoreMap:
    """Fit this encoder's map to the gold scale on pairs that are not attacked."""
    texts = list(zip(pairs.first, pairs.second, strict=True))
    return ScoreMap.fitted(cosines_of(embed, texts), pairs.gold, kind)


def sample_of(num_given: int, num_wanted: int = 0, seed: int = 0) -> Int[np.ndarray, " m"]:
    """Return sorted random indices; a larger sample contains the smaller ones."""
    return np.sort(Streams(seed).numpy("attack").permutation(num_given)[: num_wanted or None])


def targets_of(pairs: StsPairs, places: Int[np.ndarray, " m"]) -> list[Target]:
    """Turn the pairs at these indices into targets that keep their index."""
    return [Target(int(i), (pairs.first[i], pairs.second[i]), float(pairs.gold[i])) for i in places]


@dataclass(frozen=True)
class StsUnderAttack:
    """Figures of an attack on scores; Spearman x100 over all attacked pairs, or NaN."""

    counts: Summary
    """Accuracy in the goal's sense: `deviation` skips pairs that are wrong when clean."""
    clean_spearman: float
    spearman_under_attack: float
    mean_drift: float
    """|s(x') - s(x)| on the gold scale, over pairs that were not skipped."""


def summarise_scores(outcomes: Iterable[AttackOutcome]) -> StsUnderAttack:
    """Summarise outcomes, one per pair, in any order."""
    rows = sorted(outcomes, key=lambda row: row.index)
    gold = np.array([row.label for row in rows], np.float64)
    clean, now = (
        np.array([scores[0] for scores in column], np.float64)
        for column in ([r.original_scores for r in rows], [r.adversarial_scores for r in rows])
    )
    attacked = np.array([row.outcome != "skipped" for row in rows], bool)
    drift = np.abs(now - clean)[attacked]
    return StsUnderAttack(
        counts=summarise(rows),
        clean_spearman=100 * spearman(clean, gold),
        spearman_under_attack=100 * spearman(now, gold),
        mean_drift=float(drift.mean()) if len(drift) else nan,
    )
