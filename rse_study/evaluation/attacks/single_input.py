"""The attack on one input: query the clean text, then search."""

from collections.abc import Sequence
from dataclasses import dataclass

from rse_study.data.labelled import Text
from rse_study.evaluation.attacks.attack import Attack, Candidate, QueryGenerator, SearchResult
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.goals import Gold, VictimOutput
from rse_study.evaluation.attacks.outcome import AttackOutcome, AttackVerdict
from rse_study.streams import Streams


@dataclass(frozen=True)
class Target:
    """One input to attack."""

    index: int
    """identifies the input, and seeds its draws"""
    text: Text
    gold: Gold


@dataclass(frozen=True, eq=False)
class SingleInput:
    """A target and the victim's output for its clean text: a `SearchProblem`."""

    attack: Attack
    target: Target
    streams: Streams
    original: AttackedText
    clean: VictimOutput

    def positions(self) -> list[int]:
        return [position for position in range(len(self.original)) if self._may(self.original, position)]

    def candidates(self, current: AttackedText, position: int) -> Sequence[Candidate]:
        """Transform the word; its draws depend on seed, input and position alone."""
        if not self._may(current, position):
            return []
        generator = self.streams.numpy("attack", self.target.index, position)
        words = self.attack.transformation.replacements(current, position, generator)
        passed: Sequence[Candidate] = [
            Candidate(current.replaced(position, word), position) for word in words
        ]
        for constraint in self.attack.constraints:
            passed = constraint.keep(passed, current, self.original) if passed else passed
        return passed

    def score(self, row: VictimOutput) -> float:
        return self.attack.goal.score(row, self.clean, self.target.gold)

    def stops(self, row: VictimOutput) -> bool:
        return self.attack.goal.stops(row, self.clean, self.target.gold)

    def _may(self, text: AttackedText, position: int) -> bool:
        rules = self.attack.pre_transformation_constraints
        return all(constraint.allows(text, position) for constraint in rules)


def attack_one(attack: Attack, target: Target, streams: Streams) -> QueryGenerator[AttackOutcome]:
    """Attack one input; the caller sends the victim's outputs and counts queries."""
    original = AttackedText.of(target.text)
    (clean,) = yield [original]
    if attack.goal.skips(clean, target.gold):
        return _outcome(target, clean, SearchResult(original, clean), "skipped")
    best = yield from attack.search.find(SingleInput(attack, target, streams, original, clean))
    is_success = attack.goal.succeeds(best.row, clean, target.gold)
    return _outcome(target, clean, best, "succeeded" if is_success else "failed")


def _outcome(
    target: Target, clean: VictimOutput, best: SearchResult, verdict: AttackVerdict
) -> AttackOutcome:
    return AttackOutcome(
        index=target.index,
        original=target.text,
        adversarial=best.text.text,
        outcome=verdict,
        label=target.gold,
        original_scores=tuple(clean.tolist()),
        adversarial_scores=tuple(best.row.tolist()),
        num_queries=0,
        num_words=len(best.text),
        changed=best.text.changed,
    )
