"""The course of an attack on one input: the clean text is asked, then the search runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from rse_study.data.labelled import Text
from rse_study.evaluation.attacks.attack import Asking, Candidate, Recipe, SearchResult
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.goals import Gold, VictimOutput
from rse_study.evaluation.attacks.outcome import AttackOutcome, AttackVerdict
from rse_study.streams import Streams


@dataclass(frozen=True)
class Target:
    """One input to attack; `gold` is its class, or its score on the gold scale. `index` names it and its draws."""

    index: int
    text: Text
    gold: Gold


@dataclass(frozen=True, eq=False)
class SingleInput:
    """A target whose clean answer is known: the `Problem` of a search."""

    recipe: Recipe
    target: Target
    streams: Streams
    original: AttackedText
    clean: VictimOutput

    def positions(self) -> list[int]:
        return [position for position in range(len(self.original)) if self._may(self.original, position)]

    def candidates(self, current: AttackedText, position: int) -> Sequence[Candidate]:
        """Draws depend on seed, input and position alone: a word is given the same bugs whenever it is visited."""
        if not self._may(current, position):
            return []
        draw = self.streams.numpy("attack", self.target.index, position)
        words = self.recipe.transformation.replacements(current, position, draw)
        kept: Sequence[Candidate] = [Candidate(current.replaced(position, word), position) for word in words]
        for rule in self.recipe.candidate_rules:
            kept = rule.keep(kept, current, self.original) if kept else kept
        return kept

    def score(self, row: VictimOutput) -> float:
        return self.recipe.goal.score(row, self.clean, self.target.gold)

    def stops(self, row: VictimOutput) -> bool:
        return self.recipe.goal.stops(row, self.clean, self.target.gold)

    def _may(self, worded: AttackedText, position: int) -> bool:
        return all(rule.allows(worded, position) for rule in self.recipe.position_rules)


def attack_one(recipe: Recipe, target: Target, streams: Streams) -> Asking[AttackOutcome]:
    """The outcome, but for the number of queries: whoever sends the answers counts them."""
    original = AttackedText.of(target.text)
    (clean,) = yield [original]
    if recipe.goal.skips(clean, target.gold):
        return _outcome(target, clean, SearchResult(original, clean), "skipped")
    found = yield from recipe.search.find(SingleInput(recipe, target, streams, original, clean))
    is_success = recipe.goal.succeeds(found.row, clean, target.gold)
    return _outcome(target, clean, found, "succeeded" if is_success else "failed")


def _outcome(
    target: Target, clean: VictimOutput, found: SearchResult, verdict: AttackVerdict
) -> AttackOutcome:
    return AttackOutcome(
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
