"""AdvSTS (RobustSentEmbed, section 4.2): attacks on similarity scores."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np

from rse_study.data.labelled import StsPairs, Text
from rse_study.evaluation.attacks.attack import AttackOutcome, Summary, Target, summarise
from rse_study.evaluation.evaluations import Embed, unit_rows
from rse_study.evaluation.sts import spearman
from rse_study.streams import Streams
from rse_study.tensors import Float, Int

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
        spread = (
            float(np.var(cosines)) if np.ptp(cosines) else 0.0
        )  # rounding would give equal cosines a variance
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
    sentences = sorted({sentence for text in texts for sentence in text})
    vectors = unit_rows(embed(sentences)) if sentences else np.zeros((0, 1))
    row_of = {sentence: row for row, sentence in enumerate(sentences)}
    first, second = (np.array([row_of[text[side]] for text in texts], np.int64) for side in (0, 1))
    return np.nan_to_num((vectors[first] * vectors[second]).sum(axis=1))


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
