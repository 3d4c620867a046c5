"""TextBugger: misspellings and near words (Li et al. 2019)."""

from pydantic import Field, PositiveInt

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.constraints.input_column import Sides
from rse_study.evaluation.attacks.constraints.sentence_similarity import SentenceSimilarity
from rse_study.evaluation.attacks.goals import UNTARGETED, Goal
from rse_study.evaluation.attacks.lexicons.lookalikes import homoglyphs, keyboard
from rse_study.evaluation.attacks.recipes.constraint_sets import label, position_rules
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.evaluation.attacks.search.greedy import Greedy
from rse_study.evaluation.attacks.search.leave_one_out import Deleted
from rse_study.evaluation.attacks.transformations.bugs import Bugs
from rse_study.evaluation.attacks.transformations.composite import CompositeTransformation
from rse_study.evaluation.attacks.transformations.neighbours import NeighbourSwap
from rse_study.spec import Spec


class TextBugger(Spec):
    """The black-box attack; as in TextAttack, sentences of a document are not ranked before their words."""

    num_neighbours: PositiveInt = 5
    min_similarity: float = Field(0.8, ge=-1, le=1)  # cosine, whole sentence, with the original
    sides: Sides = "both"

    def __call__(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Recipe:
        encoder, synonyms = resources.need_encoder("textbugger"), resources.synonyms()
        bugs = Bugs(homoglyphs(resources.data_dir), keyboard(resources.data_dir))
        notes = [f"synonyms from {synonyms.name}", f"similarity from {encoder.name}"]
        return Recipe(
            label=label("textbugger", notes),
            goal=goal,
            transformation=CompositeTransformation(
                (bugs, NeighbourSwap(synonyms.model, self.num_neighbours))
            ),
            search=Greedy(ranking=Deleted()),
            position_rules=position_rules(resources, self.sides),
            candidate_rules=(
                SentenceSimilarity(encoder.model, self.min_similarity, "cosine", "original", None),
            ),
        )
