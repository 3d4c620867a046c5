"""Search: words by importance, each changed once to its best candidate."""

from collections.abc import Sequence

import numpy as np

from rse_study.evaluation.attacks.attack import Candidate, QueryGenerator, SearchResult, SingleInput
from rse_study.spec import Spec
from rse_study.tensors import Float

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


def greedy(problem: SingleInput) -> QueryGenerator[SearchResult]:
    """Visit words by importance, and keep the best candidate of each.

    A candidate must be strictly better. If several reach the goal, the most similar one is taken among those
    ranked above the first that does not (TextAttack's rule; TextFooler's paper considers all that reach it).
    """
    best = SearchResult(problem.original, problem.clean)
    for position in (yield from problem.attack.ranking.order(problem)):
        candidates = problem.candidates(best.text, position)
        rows = yield [candidate.text for candidate in candidates]
        tried = sorted(zip(candidates, rows, strict=False), key=lambda pair: -problem.score(pair[1]))
        if tried and problem.score(tried[0][1]) > problem.score(best.row):
            best = _choice(problem, tried)
            if problem.stops(best.row):
                break
        if len(rows) < len(candidates):
            break
    return best


def _choice(problem: SingleInput, tried: list[tuple[Candidate, Float[np.ndarray, " c"]]]) -> SearchResult:
    """Return the best candidate, or the most similar of the top ones at the goal."""
    chosen, row = tried[0]
    for candidate, answer in tried:
        if not problem.stops(answer):
            break
        if candidate.similarity > chosen.similarity:
            chosen, row = candidate, answer
    return SearchResult(chosen.text, row)
