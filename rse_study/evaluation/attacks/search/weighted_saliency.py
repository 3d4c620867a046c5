"""Word importance: saliency times the best candidate's effect (PWWS)."""

from typing import Literal

import numpy as np

from rse_study.evaluation.attacks.attack import QueryGenerator, SearchProblem
from rse_study.evaluation.attacks.search.leave_one_out import by_importance
from rse_study.spec import Spec
from rse_study.tensors import Float


class WeightedSaliency(Spec):
    """TextAttack's `weighted-saliency` (Ren et al. 2019).

    The softmax of the scores with [UNK] in each word's place, times the best candidate's effect.
    """

    token: str = "[UNK]"
    """stands for the unknown word"""
    effect: Literal["score", "increase"] = "score"
    """of the best candidate: its score (TextAttack), or by how much it is above the clean text's (the paper's dP)"""

    def order(self, problem: SearchProblem) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, self.token) for position in positions]
        if len(rows) < len(positions):
            return []
        saliency = _softmax(np.array([problem.score(row) for row in rows]))
        effects = yield from self._effects(problem, positions)
        weights = saliency[: len(effects)] * np.array(effects)
        return by_importance(positions, weights.tolist())

    def _effects(self, problem: SearchProblem, positions: list[int]) -> QueryGenerator[list[float]]:
        below = problem.score(problem.clean) if self.effect == "increase" else 0.0
        options = [problem.candidates(problem.original, position) for position in positions]
        rows = yield [candidate.text for each in options for candidate in each]
        if len(rows) < sum(map(len, options)):
            return []
        answers = iter(rows)
        scores = [[problem.score(next(answers)) for _ in each] for each in options]
        return [max(each) - below if each else 0.0 for each in scores]


def _softmax(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    powers = np.exp(values - values.max(initial=-np.inf))
    return powers / powers.sum()
