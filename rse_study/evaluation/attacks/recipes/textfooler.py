"""TextFooler: near words in the order of what their loss costs (Jin et al. 2020)."""

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.constraints.input_column import Sides
from rse_study.evaluation.attacks.constraints.sentence_similarity import SentenceSimilarity
from rse_study.evaluation.attacks.constraints.word_embedding_distance import WordEmbeddingDistance
from rse_study.evaluation.attacks.goals import UNTARGETED, Goal
from rse_study.evaluation.attacks.lexicons.vectors import Vectors
from rse_study.evaluation.attacks.recipes.constraint_sets import label, position_rules, tag_note, tag_rules
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.leave_one_out import Deleted
from rse_study.evaluation.attacks.transformations.neighbours import NeighbourSwap
from rse_study.spec import Spec


class TextFooler(Spec):
    """With TextAttack's numbers. The paper ranks by another formula where deleting a word already flips the class.

    `min_cosine`: the paper says 0.7, its code does 0.5. `min_similarity`: the code compares 0.5 with 1 - angle, the
    angle not divided by pi; with it divided that is 1 - 0.5 / pi (TextAttack 0.3.10; older ones have 1 - 0.3 / pi).
    Both were set for counter-fitted vectors and the Universal Sentence Encoder. From synonym lists, which have no
    cosine, all candidates are taken.
    """

    num_candidates: PositiveInt = 50
    min_cosine: float = Field(0.5, ge=-1, le=1)
    min_similarity: float = Field(0.840845057, ge=0, le=1)  # angular
    window: PositiveInt = 15  # words
    sides: Sides = "second"  # of a pair; TextAttack leaves the premise alone

    def __call__(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Recipe:
        encoder, synonyms = resources.need_encoder("textfooler"), resources.synonyms()
        near = (
            WordEmbeddingDistance(synonyms.model, self.min_cosine)
            if isinstance(synonyms.model, Vectors)
            else None
        )
        similar = SentenceSimilarity(encoder.model, self.min_similarity, "angular", "current", self.window)
        notes = [f"synonyms from {synonyms.name}", f"similarity from {encoder.name}", tag_note(resources)]
        return Recipe(
            label=label("textfooler", notes),
            goal=goal,
            transformation=NeighbourSwap(synonyms.model, self.num_candidates),
            search=Greedy(ranking=Deleted()),
            position_rules=position_rules(resources, self.sides),
            candidate_rules=(*filter(None, [near]), *tag_rules(resources), similar),
        )
