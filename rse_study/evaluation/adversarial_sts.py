"""AdvSTS (RobustSentEmbed, section 4.2): attacks on similarity scores."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from rse_study.data.labelled import Text
from rse_study.data.pairs import StsPairs
from rse_study.evaluation.attacks.attack import Target
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.summary import Summary, summarise
from rse_study.evaluation.rank_correlation import spearman
from rse_study.evaluation.score_map import MapKind, ScoreMap
from rse_study.evaluation.vectors import Embed, unit_rows
from rse_study.streams import Streams
from rse_study.tensors import Float, Int

VictimScores = Callable[[Sequence[Text]], Float[np.ndarray, "n 1"]]
"""Maps pairs of sentences to their cosines on the gold scale (score_map.py)."""


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
