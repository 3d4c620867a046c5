"""A constraint on the distance between the vectors of a word and its replacement."""

from collections.abc import Sequence
from dataclasses import dataclass

from rse_study.evaluation.attacks.attack import Candidate
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.lexicons.vectors import Vectors


@dataclass(frozen=True)
class WordEmbeddingDistance:
    """Keeps candidates whose word vectors are near or, as in TextAttack, missing."""

    vectors: Vectors
    min_cosine: float

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        return [candidate for candidate in candidates if self._is_near(candidate, original)]

    def _is_near(self, candidate: Candidate, original: AttackedText) -> bool:
        old, new = (text.word(candidate.position).lower() for text in (original, candidate.text))
        cosine = self.vectors.cosine(old, new)
        return cosine is None or cosine >= self.min_cosine
