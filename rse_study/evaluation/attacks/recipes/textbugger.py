"""TextBugger: misspellings and synonyms (Li et al. 2019)."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import Attack
from rse_study.evaluation.attacks.attack_recipe import AttackRecipe
from rse_study.evaluation.attacks.constraints.sentence_similarity import SentenceSimilarity
from rse_study.evaluation.attacks.goals import UNTARGETED, Goal
from rse_study.evaluation.attacks.lexicons.lookalikes import homoglyphs, keyboard
from rse_study.evaluation.attacks.recipes.constraint_sets import label, word_constraints
from rse_study.evaluation.attacks.resources import AttackResources, Resource
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.leave_one_out import LeaveOneOut
from rse_study.evaluation.attacks.transformations.bugs import Bugs
from rse_study.evaluation.attacks.transformations.composite import CompositeTransformation
from rse_study.evaluation.attacks.transformations.neighbours import NeighbourSwap


class TextBugger(AttackRecipe):
    """TextBugger replaces words by misspellings and synonyms (black-box attack).

    As in TextAttack, a document's sentences are not ranked before its words.
    """

    name: ClassVar = "textbugger"
    needs: ClassVar = (
        Resource.STOP_WORDS,
        Resource.SYNONYM_LISTS,
        Resource.LOOK_ALIKES,
        Resource.KEYBOARD,
        Resource.SENTENCE_SIMILARITY,
    )

    num_neighbours: PositiveInt = 5
    """synonyms of a word, at most, besides its misspellings"""
    min_similarity: float = Field(0.8, ge=-1, le=1)
    """cosine of the whole sentence with the original"""

    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        encoder, synonyms = resources.need_encoder(self.name), resources.synonyms()
        bugs = Bugs(homoglyphs(resources.data_dir), keyboard(resources.data_dir))
        notes = [f"synonyms from {synonyms.name}", f"similarity from {encoder.name}"]
        return Attack(
            label=label(self.name, notes),
            goal=goal,
            transformation=CompositeTransformation(
                (bugs, NeighbourSwap(synonyms.model, self.num_neighbours))
            ),
            search=Greedy(ranking=LeaveOneOut()),
            pre_transformation_constraints=word_constraints(resources, self.sides),
            constraints=(SentenceSimilarity(encoder.model, self.min_similarity, "cosine", "original", None),),
        )
