"""Recipes that take words from lists: TextFooler, TextBugger, PWWS."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from rse_study.data.lexicons import keyboard, lookalikes
from rse_study.evaluation.attacks.attack import UNTARGETED, Attack, Goal
from rse_study.evaluation.attacks.attack_recipe import (
    AttackRecipe,
    AttackResources,
    Resource,
    label,
    word_constraints,
)
from rse_study.evaluation.attacks.search import Greedy, LeaveOneOut, WeightedSaliency
from rse_study.evaluation.attacks.transformations import (
    Bugs,
    CompositeTransformation,
    NeighbourSwap,
    SentenceSimilarity,
    Sides,
    WordNetSwap,
)


class TextFooler(AttackRecipe):
    """TextFooler replaces words by synonyms, with TextAttack's numbers.

    The paper ranks words differently where deleting one already flips the class. Its thresholds were tuned for
    counter-fitted vectors and the Universal Sentence Encoder. Synonyms come from lists, which have no cosines, and no
    part of speech is compared.
    """

    name: ClassVar = "textfooler"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SYNONYM_LISTS, Resource.SENTENCE_SIMILARITY)

    num_candidates: PositiveInt = 50
    """synonyms of a word, at most"""
    min_similarity: float = Field(0.840845057, ge=0, le=1)
    """angular; the code compares 0.5 with 1 - angle, the angle not divided by pi; with it divided that is
    1 - 0.5 / pi (TextAttack 0.3.10; older ones have 1 - 0.3 / pi)"""
    window: PositiveInt = 15
    """words around the change that are compared"""
    sides: Sides = "second"
    """sentences of a pair that may be changed; TextAttack leaves the premise alone"""

    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        encoder, synonyms = resources.need_encoder(self.name), resources.synonyms()
        similar = SentenceSimilarity(encoder.model, self.min_similarity, "angular", "current", self.window)
        notes = [
            f"synonyms from {synonyms.name}",
            f"similarity from {encoder.name}",
            "no part of speech",
        ]
        return Attack(
            label=label(self.name, notes),
            goal=goal,
            transformation=NeighbourSwap(synonyms.model, self.num_candidates),
            search=Greedy(ranking=LeaveOneOut()),
            pre_transformation_constraints=word_constraints(resources, self.sides),
            constraints=(similar,),
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
