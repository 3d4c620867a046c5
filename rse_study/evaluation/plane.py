"""Sentences and their changed versions in the plane, by t-SNE (DCL Figure 2)."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import TSNE

from rse_study.data.readers import read_sts
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.evaluations import evaluation_row
from rse_study.evaluation.invariance import SEED, changed_text
from rse_study.evaluation.vectors import Embed, is_one_vector, unit_rows
from rse_study.results.records import PLANE, EvaluationRow, Measure
from rse_study.spec import fingerprint_of
from rse_study.tensors import Float

NUM_PAIRS, NUM_VERSIONS = 30, 8
PERPLEXITY = 10.0
AXES = ((0, "x"), (1, "y"))
CLOSENESS, SYNONYMS = "closeness", "synonyms"
KINDS = (SYNONYMS, "adversarial")


@dataclass(frozen=True)
class SentencePlane:
    """Places in the plane of 30 sentences and two versions of each, and how close they are.

    One version has words replaced by synonyms; the adversarial one is, of 8 such versions, the furthest from its
    sentence. `closeness` is the mean cosine x100 of sentences and their versions, minus that with others' versions,
    taken of the vectors and not of the plane. Places are rows: "x 7", "y 7", "x 7 synonyms", "x 7 adversarial".
    """

    task: str
    split: str
    texts: list[str]
    versions: list[list[str]]

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "SentencePlane":
        """Take the first distinct sentences of the test pairs in which a word has a synonym."""
        pairs, resources = read_sts(name.split("/")[0], "test", data_dir), ChangeResources(data_dir)
        versions = dict[str, list[str]]()
        for text in dict.fromkeys(pairs.first):
            if len(versions) == NUM_PAIRS:
                break
            made = [changed_text(text, SYNONYMS, resources, SEED + k) for k in range(NUM_VERSIONS)]
            if made[0] != text:
                versions[text] = made
        return cls(pairs.name, pairs.split, list(versions), list(versions.values()))

    @property
    def name(self) -> str:
        return f"{self.task}/{PLANE}"

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of([self.texts, self.versions, PERPLEXITY])

    @property
    def measures(self) -> tuple[Measure, ...]:
        labels = [f"{CLOSENESS} {kind}" for kind in KINDS]
        return tuple(Measure(name=f"{self.task} {label}", metric=f"{self.name}/{label}") for label in labels)

    @property
    def num_sentences(self) -> int:
        return len({*self.texts, *chain.from_iterable(self.versions)})

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return closeness and all places; of collapsed vectors closeness alone, NaN."""
        sentences = list(dict.fromkeys([*self.texts, *chain.from_iterable(self.versions)]))
        row_of = dict(zip(sentences, unit_rows(embed(sentences)), strict=True))
        own = np.stack([row_of[text] for text in self.texts])
        versions = np.stack([[row_of[text] for text in each] for each in self.versions])
        is_one = is_one_vector(own) or not (np.isfinite(own).all() and np.isfinite(versions).all())
        furthest = np.einsum("nd,nkd->nk", own, versions).argmin(axis=1)
        chosen = (versions[:, 0], versions[np.arange(len(own)), furthest])
        named = {
            f"{CLOSENESS} {kind}": float("nan") if is_one else closeness(own, vectors)
            for kind, vectors in zip(KINDS, chosen, strict=True)
        }
        if not is_one:
            ends = [
                f"{pair}{kind}" for kind in ("", *(f" {one}" for one in KINDS)) for pair in range(len(own))
            ]
            places = _plane(np.concatenate([own, *chosen])).tolist()
            named |= {
                f"{axis} {end}": xy[n] for end, xy in zip(ends, places, strict=True) for n, axis in AXES
            }
        return [
            evaluation_row(self, subject, self.split, label, value, len(own), degenerate=is_one, seed=SEED)
            for label, value in named.items()
        ]

    def to_json(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("task", "split", "texts", "versions")}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "SentencePlane":
        return cls(**content)


def closeness(first: Float[np.ndarray, "n d"], second: Float[np.ndarray, "n d"]) -> float:
    """Return the mean cosine x100 of paired unit rows minus that of all other pairs."""
    cosines = first @ second.T
    own, num = float(np.trace(cosines)), len(cosines)
    return 100 * (own / num - (float(cosines.sum()) - own) / (num * (num - 1)))


def _plane(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n 2"]:
    """Project unit rows, whose squared distances are 2 - 2 cos; the same rows have the same places."""
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="pca", random_state=SEED, method="exact").fit_transform(vectors)
    return np.asarray(made, np.float64)
