"""Similarity to texts changed without changing meaning (INV, Ribeiro et al. 2020)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from pathlib import Path

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.data.readers import read_sts
from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.evaluations import evaluation_row
from rse_study.evaluation.vectors import Embed, is_one_vector, unit_rows
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

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

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        distinct = sorted({*self.texts, *(text for new in self.changed.values() for text in new)})
        row_of = {text: row for row, text in enumerate(distinct)}
        vectors = unit_rows(embed(distinct)) if distinct else np.zeros((0, 1))
        # A single distinct text says nothing about a collapse.
        clean = [row_of[text] for text in dict.fromkeys(self.texts)]
        is_one = len(clean) > 1 and is_one_vector(vectors[clean])
        rows = []
        for change, new in self.changed.items():
            moved = [(row_of[a], row_of[b]) for a, b in zip(self.texts, new, strict=True) if a != b]
            cosine = nan if is_one else _mean_cosine(vectors, moved)
            rows.append(self._row(subject, change, cosine, len(moved), len(self.texts) - len(moved)))
        defined = [row.value / 100 for row in rows if row.num_examples]
        mean = fsum(defined) / len(defined) if defined else nan
        return [*rows, self._row(subject, "mean", mean, len(self.texts), 0)]

    def _row(self, subject: str, change: str, cosine: float, num: int, num_skipped: int) -> EvaluationRow:
        return evaluation_row(
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


def _mean_cosine(vectors: np.ndarray, moved: list[tuple[int, int]]) -> float:
    before, after = np.array(moved, np.int64).reshape(-1, 2).T
    return float((vectors[before] * vectors[after]).sum(axis=1).mean()) if moved else nan
