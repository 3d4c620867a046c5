"""PWWS: synonyms from WordNet in the order of probability-weighted word saliency (Ren et al. 2019)."""

from typing import Literal

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.constraints.input_column import Sides
from rse_study.evaluation.attacks.goals import UNTARGETED, Goal
from rse_study.evaluation.attacks.recipes.constraint_sets import position_rules
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.weighted_saliency import WeightedSaliency
from rse_study.evaluation.attacks.transformations.wordnet import WordNetSwap
from rse_study.spec import Spec


class PWWS(Spec):
    """As TextAttack does it. Neither it nor we swap named entities, as the paper does besides.

    The paper also takes each word's best replacement for the clean text and puts it in whether or not that helps; here
    candidates are tried anew in the current text, and only a strictly better one is kept.
    """

    effect: Literal["score", "increase"] = "score"  # increase: the paper's weight
    sides: Sides = "both"

    def __call__(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Recipe:
        return Recipe(
            label="pwws" if self.effect == "score" else "pwws (weighted by increase)",
            goal=goal,
            transformation=WordNetSwap(resources.data_dir),
            search=Greedy(ranking=WeightedSaliency(effect=self.effect)),
            position_rules=position_rules(resources, self.sides),
        )
