"""Greedy search: words by importance, each changed once to its best candidate."""

from typing import Protocol, runtime_checkable

from pydantic import ConfigDict

from rse_study.evaluation.attacks.attack import Candidate, QueryGenerator, SearchResult, SingleInput
from rse_study.evaluation.attacks.goals import VictimOutput
from rse_study.spec import Spec


@runtime_checkable
class Ranking(Protocol):
    """An order of words by importance."""

    def order(self, problem: SingleInput) -> QueryGenerator[list[int]]:
        """Return positions, most important first; none if the query budget ran out."""
        ...


class Greedy(Spec):
    """Greedy search visits words by importance and keeps the best candidate of each.

    A candidate must be strictly better. If several reach the goal, the most similar one is taken among those
    ranked above the first that does not (TextAttack's rule; TextFooler's paper considers all that reach it).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    ranking: Ranking

    def find(self, problem: SingleInput) -> QueryGenerator[SearchResult]:
        best = SearchResult(problem.original, problem.clean)
        for position in (yield from self.ranking.order(problem)):
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


def _choice(problem: SingleInput, tried: list[tuple[Candidate, VictimOutput]]) -> SearchResult:
    """Return the best candidate, or the most similar of the top ones at the goal."""
    chosen, row = tried[0]
    for candidate, answer in tried:
        if not problem.stops(answer):
            break
        if candidate.similarity > chosen.similarity:
            chosen, row = candidate, answer
    return SearchResult(chosen.text, row)
