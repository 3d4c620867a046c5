"""A constraint that leaves stop words alone."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class StopwordModification:
    """Protects stop words; case matters as in TextAttack, so "The" is none."""

    stopwords: frozenset[str]
    """in lower case"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return text.word(position) not in self.stopwords
