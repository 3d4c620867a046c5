"""Stop words stay."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import Worded


@dataclass(frozen=True)
class NoStopword:
    """A word in `stopwords` may not be changed. Case is kept, as in TextAttack: "The" is no stop word."""

    stopwords: frozenset[str]

    def allows(self, worded: Worded, position: int) -> bool:
        return worded.word(position) not in self.stopwords
