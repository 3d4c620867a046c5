"""AdvSTS: attacks on similarity scores, their victim, targets and figures.

RobustSentEmbed, section 4.2. The victim's answer to a pair is the cosine of its sentences on the gold scale
(score_map.py). Goals: attacks/goals.py.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from rse_study.data.labelled import Text
from rse_study.data.pairs import StsPairs
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.single_input import Target
from rse_study.evaluation.attacks.summary import Summary, summarise
from rse_study.evaluation.rank_correlation import spearman
from rse_study.evaluation.score_map import MapKind, ScoreMap
from rse_study.evaluation.vectors import Embed, unit_rows
from rse_study.streams import Streams
from rse_study.tensors import Float, Int

VictimScores = Callable[[Sequence[Text]], Float[np.ndarray, "n 1"]]
"""Pairs of sentences to scores on the gold scale."""


def cosines_of(embed: Embed, texts: Sequence[Text]) -> Float[np.ndarray, " n"]:
    """The cosine of the two sentences of each text.

    It is 0 where a vector is zero or not finite.
    """
    sentences = sorted({sentence for text in texts for sentence in text})
    vectors = unit_rows(embed(sentences)) if sentences else np.zeros((0, 1))
    row_of = {sentence: row for row, sentence in enumerate(sentences)}
    first, second = (np.array([row_of[text[side]] for text in texts], np.int64) for side in (0, 1))
    return np.nan_to_num((vectors[first] * vectors[second]).sum(axis=1))


def victim_of(embed: Embed, score: ScoreMap) -> VictimScores:
    """What an attack asks: pairs of sentences to scores on the gold scale."""
    return lambda texts: score(cosines_of(embed, texts))[:, None]


def fit_score(embed: Embed, pairs: StsPairs, kind: MapKind = "affine") -> ScoreMap:
    """The map of this encoder's cosines to the gold scale.

    Parameters
    ----------
    embed
        Sentences to vectors.
    pairs
        What it is fitted on; none of them may be attacked (train or dev).
    kind
        Form of the map.
    """
    texts = list(zip(pairs.first, pairs.second, strict=True))
    return ScoreMap.fitted(cosines_of(embed, texts), pairs.gold, kind)


def sample_of(num_given: int, num_wanted: int = 0, seed: int = 0) -> Int[np.ndarray, " m"]:
    """Places of a random sample of pairs, from the lowest on.

    They are the first `num_wanted` in the seed's order (stream `attack`): a larger sample holds every smaller one of
    its seed, so that it can grow.

    Parameters
    ----------
    num_given
        How many pairs there are.
    num_wanted
        How many are drawn; 0: all.
    seed
        Of the draw.
    """
    return np.sort(Streams(seed).numpy("attack").permutation(num_given)[: num_wanted or None])


def targets_of(pairs: StsPairs, places: Int[np.ndarray, " m"]) -> list[Target]:
    """The pairs at these places, which they keep as their index."""
    return [Target(int(i), (pairs.first[i], pairs.second[i]), float(pairs.gold[i])) for i in places]


@dataclass(frozen=True)
class StsUnderAttack:
    """Figures of an attack on scores.

    Spearman is given x100, over all attacked pairs; NaN where it is not defined.
    """

    counts: Summary
    """Accuracy is meant in the sense of the goal: `deviation` skips what is wrong already."""
    clean_spearman: float
    spearman_under_attack: float
    mean_drift: float
    """|s(x') - s(x)| on the gold scale, over pairs that were not skipped."""


def summarise_scores(outcomes: Iterable[AttackOutcome]) -> StsUnderAttack:
    """Each input once, in any order."""
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
