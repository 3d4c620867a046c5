"""BAE-R: words are masked and replaced by what a language model predicts (Garg and Ramakrishnan 2020)."""

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.constraints.input_column import Sides
from rse_study.evaluation.attacks.constraints.sentence_similarity import SentenceSimilarity
from rse_study.evaluation.attacks.goals import UNTARGETED, Goal
from rse_study.evaluation.attacks.recipes.constraint_sets import label, position_rules, tag_note, tag_rules
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.leave_one_out import Deleted
from rse_study.evaluation.attacks.transformations.masked_lm import MaskedLMSwap
from rse_study.spec import Spec


class BAE(Spec):
    """Replacement only, of the paper's four modes, with TextAttack's numbers.

    `min_similarity`: the paper's 0.8, as TextAttack corrects it for an angle that was not divided by pi, 1 - 0.2 / pi;
    TextAttack then compares it with a cosine, and so do we.
    """

    num_candidates: PositiveInt = 50
    min_probability: float = Field(5e-4, ge=0, le=1)
    min_similarity: float = Field(0.936338023, ge=-1, le=1)
    window: PositiveInt = 15  # words
    sides: Sides = "both"

    def __call__(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Recipe:
        model, encoder = resources.need_masked_lm("bae"), resources.need_encoder("bae")
        similar = SentenceSimilarity(encoder.model, self.min_similarity, "cosine", "original", self.window)
        notes = [f"words from {model.name}", f"similarity from {encoder.name}", tag_note(resources)]
        return Recipe(
            label=label("bae", notes),
            goal=goal,
            transformation=MaskedLMSwap(model.model, self.num_candidates, True, self.min_probability),
            search=Greedy(ranking=Deleted()),
            position_rules=position_rules(resources, self.sides),
            candidate_rules=(*tag_rules(resources), similar),
        )
