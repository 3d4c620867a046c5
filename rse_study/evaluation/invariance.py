"""Invariance of vectors to changes of the text that should not matter.

CheckList's INV tests (Ribeiro et al. 2020) change a text at random and count predictions that flip; here the similarity
that is kept is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.data.readers import read_sts
from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.vectors import Embed, is_one_vector, unit_rows
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

PRESET = "invariance"
NUM_TEXTS = 500
SEED = 0
"""Of the changes, the same for every model."""


@dataclass(frozen=True)
class Invariance:
    """Mean cosine x100 of a sentence and its changed self.

    There is a row for each change, and one for their mean.
    """

    task: str
    split: str
    texts: list[str]
    changed: dict[str, list[str]]
    """The sentences after each change, by its name. They are made once, where the tables lie."""

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "Invariance":
        """Of the test pairs of a task (task/invariance).

        Raises InputError where the pairs or a table of the changes are missing.
        """
        return cls.of(read_sts(name.split("/")[0], "test", data_dir), data_dir)

    @classmethod
    def of(cls, pairs: StsPairs, data_dir: Path) -> "Invariance":
        """The first 500 distinct sentences of the pairs' first side.

        Raises InputError where a table of the changes is missing.
        """
        texts = list(dict.fromkeys(pairs.first))[:NUM_TEXTS]
        changed = changed_texts(texts, list(CHANGES), ChangeResources(data_dir), SEED)
        return cls(pairs.name, pairs.split, texts, changed)

    @property
    def name(self) -> str:
        """Task/invariance."""
        return f"{self.task}/{PRESET}"

    @cached_property
    def fingerprint(self) -> str:
        """Of the sentences, and of what they are changed to."""
        return fingerprint_of([self.texts, self.changed])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The mean over changes."""
        return (Measure(name=self.name, metric=f"{self.name}/mean"),)

    @property
    def num_sentences(self) -> int:
        """Every sentence, and once more for each change."""
        return len(self.texts) * (1 + len(self.changed))

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a change, and the mean of those that change anything.

        `num_skipped` counts the texts a change leaves as they are; one that leaves every text alone has no part in the
        mean. Where vectors are zero, not finite, or one and the same for all, nothing is said of invariance: NaN, and
        degenerate.
        """
        distinct = sorted({*self.texts, *(text for new in self.changed.values() for text in new)})
        row_of = {text: row for row, text in enumerate(distinct)}
        vectors = unit_rows(embed(distinct)) if distinct else np.zeros((0, 1))
        # One text alone, or copies of it, tell nothing about a collapse.
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

    def to_json(self) -> dict[str, Any]:
        """The texts, and what they were changed to.

        Tables that are edited later change nothing here.
        """
        return {"task": self.task, "split": self.split, "texts": self.texts, "changed": self.changed}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Invariance":
        """What `to_json` gave."""
        return cls(**content)

    def _row(
        self, subject: str, change: str, cosine: float, num_examples: int, num_skipped: int
    ) -> EvaluationRow:
        return EvaluationRow(
            subject=subject,
            task=self.task,
            split=self.split,
            aggregation=change,
            value=100 * cosine,
            num_examples=num_examples,
            degenerate=cosine != cosine,
            fingerprint=self.fingerprint,
            preset=PRESET,
            num_skipped=num_skipped,
            seed=SEED,
        )


def changed_texts(
    texts: Sequence[str], changes: Sequence[str], resources: ChangeResources, seed: int
) -> dict[str, list[str]]:
    """Every text after each change, by its name.

    Parameters
    ----------
    texts
        Sentences.
    changes
        Names in CHANGES.
    resources
        Tables the changes draw on.
    seed
        Of all draws.

    Raises
    ------
    InputError
        For an unknown change, and where a table it needs is missing or malformed.
    """
    return {name: [changed_text(text, name, resources, seed) for text in texts] for name in changes}


def changed_text(text: str, name: str, resources: ChangeResources, seed: int) -> str:
    """The text after one change. Its draws hang on (seed, change, text) alone.

    Parameters
    ----------
    text
        A sentence.
    name
        One of CHANGES.
    resources
        Tables the change draws on.
    seed
        Of its draws.

    Raises
    ------
    InputError
        For an unknown change, and where a table it needs is missing or malformed.
    """
    key = int(fingerprint_of([seed, name, text])[:16], 16)
    return CHANGES.get(name)(text, np.random.default_rng(key), resources)


def _mean_cosine(vectors: np.ndarray, moved: list[tuple[int, int]]) -> float:
    """Of pairs of rows; NaN without any."""
    before, after = np.array(moved, np.int64).reshape(-1, 2).T
    return float((vectors[before] * vectors[after]).sum(axis=1).mean()) if moved else nan
