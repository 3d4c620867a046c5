"""Sentences and their versions in the plane, by t-SNE (DCL Figure 2)."""

from pathlib import Path

import numpy as np
from sklearn.manifold import TSNE

from rse_study.data.pairs import StsPairs
from rse_study.data.readers import read_sts
from rse_study.evaluation.changes import ChangeResources
from rse_study.evaluation.evaluations import PairsEvaluation, evaluation_row
from rse_study.evaluation.invariance import SEED, changed_text
from rse_study.evaluation.vectors import Embed, is_one_vector, unit_rows
from rse_study.results.records import PLANE, EvaluationRow, Measure
from rse_study.tensors import Float

NUM_TEXTS, NUM_VERSIONS = 30, 8
PERPLEXITY = 10.0
KINDS = ("synonyms", "adversarial")


class SentencePlane(PairsEvaluation):
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
            if len(first) == NUM_TEXTS * NUM_VERSIONS:
                break
        return cls(StsPairs(pairs.name, pairs.split, first, second, np.zeros(len(first))))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{PLANE}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        labels = [f"closeness {kind}" for kind in KINDS]
        return tuple(Measure(name=f"{self.pairs.name} {one}", metric=f"{self.name}/{one}") for one in labels)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return closeness and all places; of collapsed vectors closeness alone, NaN."""
        sentences = list(dict.fromkeys([*self.pairs.first, *self.pairs.second]))
        row_of = dict(zip(sentences, unit_rows(embed(sentences)), strict=True))
        own = np.stack([row_of[text] for text in self.pairs.first[::NUM_VERSIONS]])
        versions = np.stack([row_of[text] for text in self.pairs.second]).reshape(len(own), NUM_VERSIONS, -1)
        is_one = is_one_vector(own) or not np.isfinite([own.sum(), versions.sum()]).all()
        furthest = np.einsum("nd,nkd->nk", own, versions).argmin(axis=1)
        chosen = dict(zip(KINDS, (versions[:, 0], versions[np.arange(len(own)), furthest]), strict=True))
        named = {f"closeness {k}": np.nan if is_one else closeness(own, v) for k, v in chosen.items()}
        if not is_one:
            places = _plane(np.concatenate([own, *chosen.values()])).reshape(1 + len(KINDS), len(own), 2)
            for end, of_kind in zip(("", *(f" {kind}" for kind in KINDS)), places.tolist(), strict=True):
                for pair, (x, y) in enumerate(of_kind):
                    named |= {f"x {pair}{end}": x, f"y {pair}{end}": y}
        return [
            evaluation_row(
                self, subject, self.pairs.split, label, value, len(own), degenerate=is_one, seed=SEED
            )
            for label, value in named.items()
        ]


def closeness(first: Float[np.ndarray, "n d"], second: Float[np.ndarray, "n d"]) -> float:
    """Return the mean cosine x100 of paired unit rows minus that of all other pairs."""
    cosines, num = first @ second.T, len(first)
    own = float(np.trace(cosines))
    return 100 * (own / num - (float(cosines.sum()) - own) / (num * (num - 1)))


def _plane(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    """Project unit rows; the same rows get the same places."""
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="pca", random_state=SEED, method="exact").fit_transform(vectors)
    return np.asarray(made, np.float64)
