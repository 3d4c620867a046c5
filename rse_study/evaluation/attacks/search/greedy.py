"""Greedy search: words by importance, each changed once to the best it may become."""

from typing import Protocol, runtime_checkable

from pydantic import ConfigDict

from rse_study.evaluation.attacks.attack import Candidate, QueryGenerator, SearchProblem, SearchResult
from rse_study.evaluation.attacks.goals import VictimOutput
from rse_study.spec import Spec


@runtime_checkable
class Ranking(Protocol):
    """Which words matter most."""

    def order(self, problem: SearchProblem) -> QueryGenerator[list[int]]:
        """Positions, the most important first; equal ones from left to right.

        There are none where the budget of queries ran out.
        """
        ...


class Greedy(Spec):
    """Greedy search visits words by importance and keeps the best candidate of each.

    A candidate is kept if it is strictly better; the search ends where the goal is reached. Of several candidates that
    reach the goal the most similar one is taken, among those ahead of the first that does not (TextAttack's rule;
    TextFooler's paper: of all that reach it).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    ranking: Ranking

    def find(self, problem: SearchProblem) -> QueryGenerator[SearchResult]:
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


def _choice(problem: SearchProblem, tried: list[tuple[Candidate, VictimOutput]]) -> SearchResult:
    """The best; if it reaches the goal the most similar of those directly behind it that do, too."""
    chosen, row = tried[0]
    for candidate, answer in tried:
        if not problem.stops(answer):
            break
        if candidate.similarity > chosen.similarity:
            chosen, row = candidate, answer
    return SearchResult(chosen.text, row)
