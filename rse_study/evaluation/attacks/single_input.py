"""The course of an attack on one input: the clean text is asked, then the search runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from rse_study.data.labelled import Text
from rse_study.evaluation.attacks.attacked_text import Worded
from rse_study.evaluation.attacks.goals import Gold, Row
from rse_study.evaluation.attacks.outcome import Outcome, Verdict
from rse_study.evaluation.attacks.recipe import Asking, Candidate, Found, Recipe
from rse_study.streams import Streams


@dataclass(frozen=True)
class Target:
    """One input to attack; `gold` is its class, or its score on the gold scale. `index` names it and its draws."""

    index: int
    text: Text
    gold: Gold


@dataclass(frozen=True, eq=False)
class OneInput:
    """A target whose clean answer is known: the `Problem` of a search."""

    recipe: Recipe
    target: Target
    streams: Streams
    original: Worded
    clean: Row

    def positions(self) -> list[int]:
        return [position for position in range(len(self.original)) if self._may(self.original, position)]

    def candidates(self, current: Worded, position: int) -> Sequence[Candidate]:
        """Draws depend on seed, input and position alone: a word is given the same bugs whenever it is visited."""
        if not self._may(current, position):
            return []
        draw = self.streams.numpy("attack", self.target.index, position)
        words = self.recipe.transformation.replacements(current, position, draw)
        kept: Sequence[Candidate] = [Candidate(current.replaced(position, word), position) for word in words]
        for rule in self.recipe.candidate_rules:
            kept = rule.keep(kept, current, self.original) if kept else kept
        return kept

    def score(self, row: Row) -> float:
        return self.recipe.goal.score(row, self.clean, self.target.gold)

    def stops(self, row: Row) -> bool:
        return self.recipe.goal.stops(row, self.clean, self.target.gold)

    def _may(self, worded: Worded, position: int) -> bool:
        return all(rule.allows(worded, position) for rule in self.recipe.position_rules)


def course(recipe: Recipe, target: Target, streams: Streams) -> Asking[Outcome]:
    """The outcome, but for the number of queries: whoever sends the answers counts them."""
    original = Worded.of(target.text)
    (clean,) = yield [original]
    if recipe.goal.skips(clean, target.gold):
        return _outcome(target, clean, Found(original, clean), "skipped")
    found = yield from recipe.search.find(OneInput(recipe, target, streams, original, clean))
    is_success = recipe.goal.succeeds(found.row, clean, target.gold)
    return _outcome(target, clean, found, "succeeded" if is_success else "failed")


def _outcome(target: Target, clean: Row, found: Found, verdict: Verdict) -> Outcome:
    return Outcome(
        index=target.index,
        original=target.text,
        adversarial=found.worded.text,
        outcome=verdict,
        label=target.gold,
        original_scores=tuple(clean.tolist()),
        adversarial_scores=tuple(found.row.tolist()),
        num_queries=0,
        num_words=len(found.worded),
        changed=found.worded.changed,
    )
