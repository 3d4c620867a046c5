"""Similarity of sentences: invariance, places in the plane and on the sphere.

Similarity is INV (Ribeiro et al. 2020), the plane is that of t-SNE (DCL Figure 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from pathlib import Path

import numpy as np

from rse_study.data.labelled import StsPairs
from rse_study.data.readers import read_sts
from rse_study.evaluation import evaluations
from rse_study.evaluation.changes import CHANGES, ChangeResources
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import PLANE, EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.tensors import Float

PRESET = "invariance"
NUM_TEXTS = 500
SEED = 0


@dataclass(frozen=True)
class Invariance:
    """Mean cosine x100 of sentences and their changed versions, by change."""

    task: str
    split: str
    texts: list[str]
    changed: dict[str, list[str]]
    """The sentences after each change, made once: later edits of tables have no effect."""

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "Invariance":
        return cls.of(read_sts(name.split("/")[0], "test", data_dir), data_dir)

    @classmethod
    def of(cls, pairs: StsPairs, data_dir: Path) -> "Invariance":
        """Change the first 500 distinct sentences of the pairs' first side."""
        texts = list(dict.fromkeys(pairs.first))[:NUM_TEXTS]
        changed = changed_texts(texts, list(CHANGES), ChangeResources(data_dir), SEED)
        return cls(pairs.name, pairs.split, texts, changed)

    @property
    def name(self) -> str:
        return f"{self.task}/{PRESET}"

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of([self.texts, self.changed])

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(name=self.name, metric=f"{self.name}/mean"),)

    @property
    def num_sentences(self) -> int:
        return len(self.texts) * (1 + len(self.changed))

    def score(self, embed: evaluations.Embed, subject: str) -> list[EvaluationRow]:
        clean, *changed = evaluations.vectors_of(embed, self.texts, *self.changed.values())
        # A single distinct text says nothing about a collapse.
        is_one = len({*self.texts}) > 1 and evaluations.is_one_vector(clean)
        rows = []
        for (change, new), vectors in zip(self.changed.items(), changed, strict=True):
            moved = np.array([a != b for a, b in zip(self.texts, new, strict=True)], bool)
            num, cosines = int(moved.sum()), (clean[moved] * vectors[moved]).sum(axis=1)
            cosine = nan if is_one or not num else float(cosines.mean())
            rows.append(self._row(subject, change, cosine, num, len(self.texts) - num))
        defined = [row.value / 100 for row in rows if row.num_examples]
        mean = fsum(defined) / len(defined) if defined else nan
        return [*rows, self._row(subject, "mean", mean, len(self.texts), 0)]

    def _row(self, subject: str, change: str, cosine: float, num: int, num_skipped: int) -> EvaluationRow:
        return evaluations.evaluation_row(
            self, subject, self.split, change, 100 * cosine, num,
            degenerate=cosine != cosine, num_skipped=num_skipped, seed=SEED,
        )  # fmt: skip


def changed_texts(
    texts: Sequence[str], changes: Sequence[str], resources: ChangeResources, seed: int
) -> dict[str, list[str]]:
    """Apply each named change to every text, and return the texts by change."""
    return {name: [changed_text(text, name, resources, seed) for text in texts] for name in changes}


def changed_text(text: str, name: str, resources: ChangeResources, seed: int) -> str:
    """Apply one change; its draws depend on (seed, change, text) alone."""
    key = int(fingerprint_of([seed, name, text])[:16], 16)
    return CHANGES.get(name)(text, np.random.default_rng(key), resources)


NUM_IN_PLANE, NUM_VERSIONS = 30, 8
PERPLEXITY = 10.0
KINDS = ("synonyms", "adversarial")


class SentencePlane(evaluations.PairsEvaluation):
    """Places in the plane of sentences and two versions of each, and their closeness.

    Its pairs are 30 sentences, each with 8 versions in which words are replaced by synonyms. The first is the version
    "synonyms", the one furthest from its sentence the version "adversarial". `closeness` is the mean cosine x100 of
    sentences and their versions minus that with others' versions, of the vectors and not of the plane. Places are rows:
    "x 7", "y 7", "x 7 synonyms".
    """

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "SentencePlane":
        """Take the first distinct test sentences in which a word has a synonym."""
        pairs, resources = read_sts(name.split("/")[0], "test", data_dir), ChangeResources(data_dir)
        first, second = list[str](), list[str]()
        for text in dict.fromkeys(pairs.first):
            versions = [changed_text(text, KINDS[0], resources, SEED + k) for k in range(NUM_VERSIONS)]
            if versions[0] != text:
                first, second = first + [text] * NUM_VERSIONS, second + versions
            if len(first) == NUM_IN_PLANE * NUM_VERSIONS:
                break
        return cls(StsPairs(pairs.name, pairs.split, first, second, np.zeros(len(first))))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{PLANE}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        labels = [f"closeness {kind}" for kind in KINDS]
        return tuple(Measure(name=f"{self.pairs.name} {one}", metric=f"{self.name}/{one}") for one in labels)

    def score(self, embed: evaluations.Embed, subject: str) -> list[EvaluationRow]:
        """Return closeness and all places; of collapsed vectors closeness alone, NaN."""
        own, versions = evaluations.vectors_of(embed, self.pairs.first[::NUM_VERSIONS], self.pairs.second)
        versions = versions.reshape(len(own), NUM_VERSIONS, -1)
        is_one = evaluations.is_one_vector(own) or not np.isfinite([own.sum(), versions.sum()]).all()
        furthest = np.einsum("nd,nkd->nk", own, versions).argmin(axis=1)
        chosen = dict(zip(KINDS, (versions[:, 0], versions[np.arange(len(own)), furthest]), strict=True))
        named = {f"closeness {k}": np.nan if is_one else closeness(own, v) for k, v in chosen.items()}
        if not is_one:
            places = _plane(np.concatenate([own, *chosen.values()])).reshape(1 + len(KINDS), len(own), 2)
            for end, of_kind in zip(("", *(f" {kind}" for kind in KINDS)), places.tolist(), strict=True):
                for pair, (x, y) in enumerate(of_kind):
                    named |= {f"x {pair}{end}": x, f"y {pair}{end}": y}
        about = self, subject, self.pairs.split, named, len(own)
        return evaluations.evaluation_rows(*about, degenerate=is_one, seed=SEED)


def closeness(first: Float[np.ndarray, "n d"], second: Float[np.ndarray, "n d"]) -> float:
    """Return the mean cosine x100 of paired unit rows minus that of all other pairs."""
    cosines, num = first @ second.T, len(first)
    own = float(np.trace(cosines))
    return 100 * (own / num - (float(cosines.sum()) - own) / (num * (num - 1)))


def _plane(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    """Project unit rows; the same rows get the same places."""
    from sklearn.manifold import TSNE  # a second at every start, for a figure few ask for

    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="pca", random_state=SEED, method="exact").fit_transform(vectors)
    return np.asarray(made, np.float64)


GEOMETRY_PRESET = "geometry"
METRICS = ("alignment", "uniformity")
POSITIVE_ABOVE = 4.0
"""Gold similarity, 0..5, above which a pair is positive."""
ALPHA, T = 2.0, 2.0
"""Wang and Isola's exponents of alignment and uniformity."""
_BLOCK = 512  # rows of distances held at once: 512 x 3000 float64 are 12 MiB


@dataclass(frozen=True)
class AlignmentUniformity(evaluations.PairsEvaluation):
    """Alignment and uniformity on a task's dev pairs; neither selects a model.

    Defined by Wang and Isola (2020), measured as in SimCSE; lower is better for both:

        alignment   mean over positive pairs of |u - v|^alpha          positives: gold > 4, strictly
        uniformity  log of the mean over i < j of exp(-t |x_i - x_j|^2)    x: all sentences, first then second

    Distances are taken in float64. A sentence in several pairs counts several times, so it also pairs with itself, at
    distance 0.
    """

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "AlignmentUniformity":
        return cls(read_sts(name.split("/")[0], "dev", data_dir))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{GEOMETRY_PRESET}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(
            Measure(name=f"{self.pairs.name} {metric}", metric=f"{self.name}/{metric}", direction="minimize")
            for metric in METRICS
        )

    def score(self, embed: evaluations.Embed, subject: str) -> list[EvaluationRow]:
        """Return alignment, 0..4, of positive pairs and uniformity, -8..0, of all texts.

        Undefined figures are NaN and degenerate. If embeddings have collapsed to one vector, uniformity is 0,
        its worst value, and alignment NaN, because it would be 0, its best.
        """
        first, second = evaluations.vectors_of(embed, self.pairs.first, self.pairs.second)
        positive, both = self.pairs.gold > POSITIVE_ABOVE, np.concatenate([first, second])
        is_one = evaluations.is_one_vector(both)
        aligned = float("nan") if is_one else alignment(first[positive], second[positive])
        distances = np.linalg.norm(first[positive] - second[positive], axis=1) ** ALPHA
        figures = {"alignment": (aligned, int(positive.sum())), "uniformity": (uniformity(both), len(both))}
        return [
            evaluations.evaluation_row(
                self, subject, self.pairs.split, metric, value, num, degenerate=is_one or value != value,
                items=ItemScores.of(distances) if metric == "alignment" and value == value else None,
            )
            for metric, (value, num) in figures.items()
        ]  # fmt: skip


def alignment(u: Float[np.ndarray, "n d"], v: Float[np.ndarray, "n d"], alpha: float = ALPHA) -> float:
    """Return the mean of |u - v|^alpha over paired unit rows; NaN if there are none."""
    return float((np.linalg.norm(u - v, axis=1) ** alpha).mean()) if len(u) else float("nan")


def uniformity(x: Float[np.ndarray, "n d"], t: float = T) -> float:
    """Return the log of the mean of exp(-t |x_i - x_j|^2) over i < j of unit rows.

    NaN for fewer than two rows. Computed in blocks, so memory grows with n, not with its square.
    """
    if len(x) < 2:
        return float("nan")
    total = 0.0
    for start in range(0, len(x), _BLOCK):
        rows = x[start : start + _BLOCK]
        # |a - b|^2 = 2 - 2ab of unit vectors; the exponent lies in [-4t, 0], so nothing over- or underflows.
        kernel = np.exp(-2 * t * np.maximum(1 - rows @ x[start:].T, 0))
        total += float(np.triu(kernel, k=1).sum())
    return float(np.log(total / (len(x) * (len(x) - 1) / 2)))
