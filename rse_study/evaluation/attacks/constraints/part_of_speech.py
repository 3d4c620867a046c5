"""A constraint that keeps a word's part of speech."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rse_study.evaluation.attacks.attack import Candidate
from rse_study.evaluation.attacks.attacked_text import AttackedText

Tagger = Callable[[list[list[str]]], list[list[str]]]
"""Tokenised sentences to universal tags (NOUN, VERB, ...), one per word."""

_BEFORE, _BEHIND = 4, 3  # words of context, as TextAttack cuts them


@dataclass(frozen=True)
class PartOfSpeech:
    """Keeps candidates whose new word has the old one's part of speech in context."""

    tagger: Tagger
    verb_is_noun: bool = True
    """whether verbs and nouns may replace each other (TextFooler)"""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        position = candidates[0].position
        side, words = original.neighbours(position), original.words
        before = words[max(side.start, position - _BEFORE) : position]
        behind = words[position + 1 : min(side.stop, position + 1 + _BEHIND)]
        new = [candidate.text.word(position) for candidate in candidates]
        tags = self.tagger([[*before, word, *behind] for word in (words[position], *new)])
        own, *others = (self._kind(each[len(before)]) for each in tags)
        return [candidate for candidate, tag in zip(candidates, others, strict=True) if tag == own]

    def _kind(self, tag: str) -> str:
        return "NOUN" if self.verb_is_noun and tag == "VERB" else tag
