"""Recipes that take words from a masked language model: BERT-Attack, BAE."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import UNTARGETED, Attack, Goal
from rse_study.evaluation.attacks.attack_recipe import (
    AttackRecipe,
    AttackResources,
    Resource,
    label,
    word_constraints,
)
from rse_study.evaluation.attacks.search import UNKNOWN, Greedy, LeaveOneOut
from rse_study.evaluation.attacks.transformations import MaskedLMSwap, MaxWordsPerturbed, SentenceSimilarity


class BERTAttack(AttackRecipe):
    """BERT-Attack replaces words by predictions of a language model that sees them.

    It uses TextAttack's numbers. To rank words the paper masks them; we use [UNK], as TextAttack does. The
    paper and TextAttack replace a word of several pieces by combinations of each piece's predictions; here
    the model predicts the word as a whole. The paper also drops antonyms, TextAttack does not.
    """

    name: ClassVar = "bert_attack"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SENTENCE_SIMILARITY, Resource.MASKED_LM)

    num_candidates: PositiveInt = 48
    """predictions for a word, at most"""
    max_share: float = Field(0.4, gt=0, le=1)
    """of the words that may change"""
    min_similarity: float = Field(0.2, ge=-1, le=1)
    """cosine of the whole sentence with the original"""

    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        model, encoder = resources.need_masked_lm(self.name), resources.need_encoder(self.name)
        notes = [f"words from {model.name}", f"similarity from {encoder.name}"]
        return Attack(
            label=label(self.name, notes),
            goal=goal,
            transformation=MaskedLMSwap(model.model, self.num_candidates, is_masked=False),
            search=Greedy(ranking=LeaveOneOut(token=UNKNOWN)),
            pre_transformation_constraints=(
                *word_constraints(resources, self.sides),
                MaxWordsPerturbed(self.max_share),
            ),
            constraints=(SentenceSimilarity(encoder.model, self.min_similarity, "cosine", "original", None),),
        )


class BAE(AttackRecipe):
    """BAE-R, the paper's replacement mode alone, with TextAttack's numbers."""

    name: ClassVar = "bae"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SENTENCE_SIMILARITY, Resource.MASKED_LM)

    num_candidates: PositiveInt = 50
    """predictions for a word, at most"""
    min_probability: float = Field(5e-4, ge=0, le=1)
    """of a prediction"""
    min_similarity: float = Field(0.936338023, ge=-1, le=1)
    """the paper's 0.8, as TextAttack corrects it for an angle that was not divided by pi: 1 - 0.2 / pi; TextAttack
    then compares it with a cosine, and so do we"""
    window: PositiveInt = 15
    """words around the change that are compared"""

    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        model, encoder = resources.need_masked_lm(self.name), resources.need_encoder(self.name)
        similar = SentenceSimilarity(encoder.model, self.min_similarity, "cosine", "original", self.window)
        notes = [
            f"words from {model.name}",
            f"similarity from {encoder.name}",
            "no part of speech",
        ]
        return Attack(
            label=label(self.name, notes),
            goal=goal,
            transformation=MaskedLMSwap(model.model, self.num_candidates, True, self.min_probability),
            search=Greedy(ranking=LeaveOneOut()),
            pre_transformation_constraints=word_constraints(resources, self.sides),
            constraints=(similar,),
        )
