"""Importance of a word: how near the goal is without it."""

from collections.abc import Sequence

import numpy as np

from rse_study.evaluation.attacks.attack import QueryGenerator, SearchProblem
from rse_study.spec import Spec


class Unknown(Spec):
    """`unk`: something the victim does not know stands in the word's place."""

    token: str = "[UNK]"  # literally, in the text: BERT's tokenizers make their unknown token of it

    def order(self, problem: SearchProblem) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, self.token) for position in positions]
        return by_importance(positions, [problem.score(row) for row in rows])


class Deleted(Spec):
    """`delete`: the word is taken out."""

    def order(self, problem: SearchProblem) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, "") for position in positions]
        return by_importance(positions, [problem.score(row) for row in rows])


def by_importance(positions: list[int], importance: Sequence[float]) -> list[int]:
    """Highest first, equal ones from left to right; none where some were not answered."""
    if len(importance) < len(positions):
        return []
    return [positions[i] for i in np.argsort(-np.asarray(importance), kind="stable")]
