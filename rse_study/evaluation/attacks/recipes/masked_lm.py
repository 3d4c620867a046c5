"""Recipes that take words from a masked language model: BERT-Attack, BAE."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import PreTransformationConstraint
from rse_study.evaluation.attacks.attack_recipe import AttackRecipe, AttackResources, Resource
from rse_study.evaluation.attacks.search import UNKNOWN, LeaveOneOut
from rse_study.evaluation.attacks.transformations import MaskedLMSwap, MaxWordsPerturbed, SentenceSimilarity


class BERTAttack(AttackRecipe):
    """BERT-Attack replaces words by predictions of a language model that sees them.

    It uses TextAttack's numbers. To rank words the paper masks them; we use [UNK], as TextAttack does. The
    paper and TextAttack replace a word of several pieces by combinations of each piece's predictions; here
    the model predicts the word as a whole. The paper also drops antonyms, TextAttack does not.
    """

    name: ClassVar = "bert_attack"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SENTENCE_SIMILARITY, Resource.MASKED_LM)
    ranking: ClassVar = LeaveOneOut(token=UNKNOWN)

    num_candidates: PositiveInt = 48
    """predictions for a word, at most"""
    max_share: float = Field(0.4, gt=0, le=1)
    """of the words that may change"""
    min_similarity: float = Field(0.2, ge=-1, le=1)
    """cosine of the whole sentence with the original"""

    def transformation(self, resources: AttackResources) -> MaskedLMSwap:
        return MaskedLMSwap(resources.need_masked_lm(self.name), self.num_candidates, is_masked=False)

    def constraints(self, resources: AttackResources) -> tuple[SentenceSimilarity]:
        encode = resources.need_encoder(self.name)
        return (SentenceSimilarity(encode, self.min_similarity, "cosine", "original", None),)

    def word_constraints(self, resources: AttackResources) -> tuple[PreTransformationConstraint, ...]:
        return *super().word_constraints(resources), MaxWordsPerturbed(self.max_share)


class BAE(AttackRecipe):
    """BAE-R, the paper's replacement mode alone, with TextAttack's numbers."""

    name: ClassVar = "bae"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SENTENCE_SIMILARITY, Resource.MASKED_LM)
    notes: ClassVar = ("no part of speech",)

    num_candidates: PositiveInt = 50
    """predictions for a word, at most"""
    min_probability: float = Field(5e-4, ge=0, le=1)
    """of a prediction"""
    min_similarity: float = Field(0.936338023, ge=-1, le=1)
    """the paper's 0.8, as TextAttack corrects it for an angle that was not divided by pi: 1 - 0.2 / pi; TextAttack
    then compares it with a cosine, and so do we"""
    window: PositiveInt = 15
    """words around the change that are compared"""

    def transformation(self, resources: AttackResources) -> MaskedLMSwap:
        model = resources.need_masked_lm(self.name)
        return MaskedLMSwap(model, self.num_candidates, True, self.min_probability)

    def constraints(self, resources: AttackResources) -> tuple[SentenceSimilarity]:
        encode = resources.need_encoder(self.name)
        return (SentenceSimilarity(encode, self.min_similarity, "cosine", "original", self.window),)
