"""Word importance: how near the goal is without the word."""

from collections.abc import Sequence

import numpy as np

from rse_study.evaluation.attacks.attack import QueryGenerator, SingleInput
from rse_study.spec import Spec

UNKNOWN = "[UNK]"
"""put into the text literally; BERT's tokenizers map it to their unknown token"""


class LeaveOneOut(Spec):
    """Ranks words by the score without them: deleted, or replaced by a token."""

    token: str = ""
    """stands in the word's place; empty: the word is deleted"""

    def order(self, problem: SingleInput) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, self.token) for position in positions]
        return by_importance(positions, [problem.score(row) for row in rows])


def by_importance(positions: list[int], importance: Sequence[float]) -> list[int]:
    """Sort positions by importance, stably; return none if outputs are missing."""
    if len(importance) < len(positions):
        return []
    return [positions[i] for i in np.argsort(-np.asarray(importance), kind="stable")]
