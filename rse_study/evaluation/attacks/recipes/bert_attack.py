"""BERT-Attack: words are replaced by what a language model that sees them would say there (Li et al. 2020)."""

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.constraints.input_column import Sides
from rse_study.evaluation.attacks.constraints.max_words_perturbed import MaxWordsPerturbed
from rse_study.evaluation.attacks.constraints.sentence_similarity import SentenceSimilarity
from rse_study.evaluation.attacks.goals import UNTARGETED, Goal
from rse_study.evaluation.attacks.recipes.constraint_sets import label, position_rules
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.leave_one_out import Unknown
from rse_study.evaluation.attacks.transformations.masked_lm import MaskedLMSwap
from rse_study.spec import Spec


class BERTAttack(Spec):
    """With TextAttack's numbers. For the ranking the paper masks a word; as TextAttack does, ours is unknown.

    The paper and TextAttack replace a word of several pieces by combinations of each piece's predictions; here such a
    word gets what the model says of it as a whole. The paper also drops antonyms, TextAttack does not.
    """

    num_candidates: PositiveInt = 48
    max_share: float = Field(0.4, gt=0, le=1)  # of the words
    min_similarity: float = Field(0.2, ge=-1, le=1)  # cosine, whole sentence, with the original
    sides: Sides = "both"

    def __call__(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Recipe:
        model, encoder = resources.need_masked_lm("bert_attack"), resources.need_encoder("bert_attack")
        notes = [f"words from {model.name}", f"similarity from {encoder.name}"]
        return Recipe(
            label=label("bert_attack", notes),
            goal=goal,
            transformation=MaskedLMSwap(model.model, self.num_candidates, is_masked=False),
            search=Greedy(ranking=Unknown()),
            position_rules=(*position_rules(resources, self.sides), MaxWordsPerturbed(self.max_share)),
            candidate_rules=(
                SentenceSimilarity(encoder.model, self.min_similarity, "cosine", "original", None),
            ),
        )
