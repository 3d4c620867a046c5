"""Retrieval: the rank of a sentence's paraphrase among the other sentences."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rse_study.data import builtin
from rse_study.data.readers import read_sts
from rse_study.evaluation.evaluations import PairsEvaluation, evaluation_row
from rse_study.evaluation.vectors import Embed, is_one_vector, unit_rows
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.tensors import Float

PRESET = "retrieval"
LEAST_GOLD = 4.0
"""Similarity, of 5, from which a pair counts as paraphrases."""
MARGIN = 1.0
"""Places within which two mean ranks count as the same."""


@dataclass(frozen=True)
class Retrieval(PairsEvaluation):
    """Mean rank, and mean reciprocal rank x100, of paraphrases by cosine.

    Each first sentence of a pair of paraphrases asks for its second one among the second sentences of all pairs. Rank 1
    is best. A tie counts as half a place.
    """

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "Retrieval":
        """Read the test pairs of a task (task/retrieval).

        Raises InputError where they are missing.
        """
        task = name.partition("/")[0]
        return cls(builtin.graded_pairs("test") if task == "builtin" else read_sts(task, "test", data_dir))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{PRESET}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The mean rank, of which less is better, then the reciprocal one."""
        rank, reciprocal = (f"{self.name}/{kind}" for kind in ("rank", "mrr"))
        return (
            Measure(
                name=f"{self.name} rank", metric=rank, direction="minimize", unit="places", margin=MARGIN
            ),
            Measure(name=f"{self.name} MRR", metric=reciprocal, unit="points"),
        )

    @cached_property
    def queries(self) -> list[tuple[str, str]]:
        """Distinct pairs of paraphrases."""
        texts = zip(self.pairs.first, self.pairs.second, self.pairs.gold, strict=True)
        return list(dict.fromkeys((one, other) for one, other, gold in texts if gold >= LEAST_GOLD))

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return both means, with the scores of each query.

        Degenerate where vectors are all one, or not finite.
        """
        candidates = list(dict.fromkeys(self.pairs.second))
        texts = list(dict.fromkeys([*candidates, *(query for query, _ in self.queries)]))
        rows = unit_rows(embed(texts))
        place = {text: index for index, text in enumerate(texts)}
        asked = rows[[place[query] for query, _ in self.queries]]
        ranks = ranks_of(asked, rows[: len(candidates)], [place[answer] for _, answer in self.queries])
        is_worthless = not np.isfinite(rows).all() or is_one_vector(rows)
        return [
            evaluation_row(
                self, subject, "test", kind, float(np.mean(values)), len(ranks),
                degenerate=is_worthless, items=ItemScores.of(values),
            )
            for kind, values in (("rank", ranks), ("mrr", 100 / ranks))
        ]  # fmt: skip


def ranks_of(
    asked: Float[np.ndarray, "q d"], candidates: Float[np.ndarray, "n d"], answers: list[int]
) -> Float[np.ndarray, " q"]:
    """Return each answer's rank by cosine, from 1; a tie counts as half a place."""
    cosines = asked @ candidates.T
    own = cosines[np.arange(len(answers)), answers][:, None]
    is_tied = np.isclose(cosines, own, rtol=0, atol=1e-12)
    num_closer = ((cosines > own) & ~is_tied).sum(axis=1)
    return 1 + num_closer + (is_tied.sum(axis=1) - 1) / 2
