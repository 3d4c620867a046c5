"""TextBugger: misspellings and synonyms (Li et al. 2019)."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from rse_study.data.wordnet import lookalikes
from rse_study.evaluation.attacks.attack import UNTARGETED, Attack, Goal
from rse_study.evaluation.attacks.attack_recipe import (
    AttackRecipe,
    AttackResources,
    Resource,
    label,
    word_constraints,
)
from rse_study.evaluation.attacks.lexicons import keyboard
from rse_study.evaluation.attacks.search import Greedy, LeaveOneOut
from rse_study.evaluation.attacks.transformations import (
    Bugs,
    CompositeTransformation,
    NeighbourSwap,
    SentenceSimilarity,
)


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
        bugs = Bugs(lookalikes(resources.data_dir), keyboard(resources.data_dir))
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
