"""Word importance: saliency times the best candidate's score (PWWS)."""

import numpy as np

from rse_study.evaluation.attacks.attack import QueryGenerator, SingleInput
from rse_study.evaluation.attacks.search.leave_one_out import UNKNOWN, by_importance
from rse_study.spec import Spec
from rse_study.tensors import Float


class WeightedSaliency(Spec):
    """TextAttack's `weighted-saliency` (Ren et al. 2019).

    The softmax of the scores with [UNK] in each word's place, times the best candidate's score.
    """

    def order(self, problem: SingleInput) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, UNKNOWN) for position in positions]
        if len(rows) < len(positions):
            return []
        saliency = _softmax(np.array([problem.score(row) for row in rows]))
        best = yield from self._best_scores(problem, positions)
        weights = saliency[: len(best)] * np.array(best)
        return by_importance(positions, weights.tolist())

    def _best_scores(self, problem: SingleInput, positions: list[int]) -> QueryGenerator[list[float]]:
        options = [problem.candidates(problem.original, position) for position in positions]
        rows = yield [candidate.text for each in options for candidate in each]
        if len(rows) < sum(map(len, options)):
            return []
        answers = iter(rows)
        scores = [[problem.score(next(answers)) for _ in each] for each in options]
        return [max(each) if each else 0.0 for each in scores]


def _softmax(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    powers = np.exp(values - values.max(initial=-np.inf))
    return powers / powers.sum()
