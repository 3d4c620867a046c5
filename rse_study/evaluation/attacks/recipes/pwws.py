"""PWWS: WordNet synonyms, ordered by weighted word saliency (Ren et al. 2019)."""

from typing import ClassVar

from rse_study.evaluation.attacks.attack import UNTARGETED, Attack, Goal
from rse_study.evaluation.attacks.attack_recipe import (
    AttackRecipe,
    AttackResources,
    Resource,
    word_constraints,
)
from rse_study.evaluation.attacks.search import Greedy, WeightedSaliency
from rse_study.evaluation.attacks.transformations import WordNetSwap


class PWWS(AttackRecipe):
    """PWWS replaces words by synonyms from WordNet, as TextAttack does it.

    The paper also swaps named entities; TextAttack and we do not. The paper weighs saliency by how much a word's best
    candidate raises the score, here by the score itself. The paper applies each word's best replacement for the clean
    text whether or not it helps; here candidates are tried again in the current text, and only a strictly better one is
    kept.
    """

    name: ClassVar = "pwws"
    needs: ClassVar = (Resource.WORDNET, Resource.STOP_WORDS)

    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        return Attack(
            label=self.name,
            goal=goal,
            transformation=WordNetSwap(resources.data_dir),
            search=Greedy(ranking=WeightedSaliency()),
            pre_transformation_constraints=word_constraints(resources, self.sides),
        )
