"""TextFooler, TextBugger, PWWS, BERT-Attack and BAE; RECIPES is their registry."""

from typing import ClassVar

from pydantic import Field, PositiveInt

from rse_study.data.lexicons import SynonymList, keyboard, lookalikes
from rse_study.evaluation.attacks.attack import PreTransformationConstraint
from rse_study.evaluation.attacks.attack_recipe import (
    UNKNOWN,
    AttackRecipe,
    AttackResources,
    LeaveOneOut,
    Resource,
    WeightedSaliency,
)
from rse_study.evaluation.attacks.transformations import (
    Bugs,
    CompositeTransformation,
    MaskedLMSwap,
    NeighbourSwap,
    SentenceSimilarity,
    Sides,
    WordNetSwap,
    max_words_perturbed,
)
from rse_study.registry import Registry


class TextFooler(AttackRecipe):
    """TextFooler replaces words by synonyms, with TextAttack's numbers.

    The paper ranks words differently where deleting one already flips the class. Its thresholds were tuned for
    counter-fitted vectors and the Universal Sentence Encoder. Synonyms come from lists, which have no cosines, and no
    part of speech is compared.
    """

    name: ClassVar = "textfooler"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SYNONYM_LISTS, Resource.SENTENCE_SIMILARITY)
    notes: ClassVar = ("no part of speech",)

    num_candidates: PositiveInt = 50
    """synonyms of a word, at most"""
    min_similarity: float = Field(0.840845057, ge=0, le=1)
    """angular; the code compares 0.5 with 1 - angle, the angle not divided by pi; with it divided that is
    1 - 0.5 / pi (TextAttack 0.3.10; older ones have 1 - 0.3 / pi)"""
    window: PositiveInt = 15
    """words around the change that are compared"""
    sides: Sides = "second"
    """sentences of a pair that may be changed; TextAttack leaves the premise alone"""

    def transformation(self, resources: AttackResources) -> NeighbourSwap:
        return NeighbourSwap(SynonymList.open(resources.data_dir), self.num_candidates)

    def constraints(self, resources: AttackResources) -> tuple[SentenceSimilarity]:
        encode = resources.need_encoder(self.name)
        return (SentenceSimilarity(encode, self.min_similarity, "angular", "current", self.window),)


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

    def transformation(self, resources: AttackResources) -> CompositeTransformation:
        bugs = Bugs(lookalikes(resources.data_dir), keyboard(resources.data_dir))
        synonyms = NeighbourSwap(SynonymList.open(resources.data_dir), self.num_neighbours)
        return CompositeTransformation((bugs, synonyms))

    def constraints(self, resources: AttackResources) -> tuple[SentenceSimilarity]:
        encode = resources.need_encoder(self.name)
        return (SentenceSimilarity(encode, self.min_similarity, "cosine", "original", None),)


class PWWS(AttackRecipe):
    """PWWS replaces words by synonyms from WordNet, as TextAttack does it.

    The paper also swaps named entities; TextAttack and we do not. The paper weighs saliency by how much a word's best
    candidate raises the score, here by the score itself. The paper applies each word's best replacement for the clean
    text whether or not it helps; here candidates are tried again in the current text, and only a strictly better one is
    kept.
    """

    name: ClassVar = "pwws"
    needs: ClassVar = (Resource.WORDNET, Resource.STOP_WORDS)
    ranking: ClassVar = WeightedSaliency()

    def transformation(self, resources: AttackResources) -> WordNetSwap:
        return WordNetSwap(resources.data_dir)


class BERTAttack(AttackRecipe):
    """BERT-Attack replaces words by predictions of a language model that sees them.

    It uses TextAttack's numbers. To rank words the paper masks them; we use [UNK], as TextAttack does. The
    paper and TextAttack replace a word of several pieces by combinations of each piece's predictions; here
    the model predicts the word as a whole. The paper also drops antonyms, TextAttack does not.
    """

    name: ClassVar = "bert_attack"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SENTENCE_SIMILARITY, Resource.MASKED_LM)
    ranking: ClassVar = LeaveOneOut(token=UNKNOWN)

    num_candidates: PositiveInt = 48
    """predictions for a word, at most"""
    max_share: float = Field(0.4, gt=0, le=1)
    """of the words that may change"""
    min_similarity: float = Field(0.2, ge=-1, le=1)
    """cosine of the whole sentence with the original"""

    def transformation(self, resources: AttackResources) -> MaskedLMSwap:
        return MaskedLMSwap(resources.need_masked_lm(self.name), self.num_candidates, is_masked=False)

    def constraints(self, resources: AttackResources) -> tuple[SentenceSimilarity]:
        encode = resources.need_encoder(self.name)
        return (SentenceSimilarity(encode, self.min_similarity, "cosine", "original", None),)

    def word_constraints(self, resources: AttackResources) -> tuple[PreTransformationConstraint, ...]:
        return *super().word_constraints(resources), max_words_perturbed(self.max_share)


class BAE(AttackRecipe):
    """BAE-R, the paper's replacement mode alone, with TextAttack's numbers."""

    name: ClassVar = "bae"
    needs: ClassVar = (Resource.STOP_WORDS, Resource.SENTENCE_SIMILARITY, Resource.MASKED_LM)
    notes: ClassVar = ("no part of speech",)

    num_candidates: PositiveInt = 50
    """predictions for a word, at most"""
    min_probability: float = Field(5e-4, ge=0, le=1)
    """of a prediction"""
    min_similarity: float = Field(0.936338023, ge=-1, le=1)
    """the paper's 0.8, as TextAttack corrects it for an angle that was not divided by pi: 1 - 0.2 / pi; TextAttack
    then compares it with a cosine, and so do we"""
    window: PositiveInt = 15
    """words around the change that are compared"""

    def transformation(self, resources: AttackResources) -> MaskedLMSwap:
        model = resources.need_masked_lm(self.name)
        return MaskedLMSwap(model, self.num_candidates, True, self.min_probability)

    def constraints(self, resources: AttackResources) -> tuple[SentenceSimilarity]:
        encode = resources.need_encoder(self.name)
        return (SentenceSimilarity(encode, self.min_similarity, "cosine", "original", self.window),)


RECIPES: Registry[type[AttackRecipe]] = Registry(
    "attack",
    {
        TextFooler.name: TextFooler,
        TextBugger.name: TextBugger,
        PWWS.name: PWWS,
        BAE.name: BAE,
        BERTAttack.name: BERTAttack,
    },
)


def recipes_with(resource: Resource) -> tuple[str, ...]:
    """Return the names of the recipes that need this resource."""
    return tuple(name for name in RECIPES if resource in RECIPES.get(name).needs)


REPLAYABLE: tuple[str, ...] = tuple(sorted({*RECIPES} - {*recipes_with(Resource.MASKED_LM)}))
"""Recipes whose texts a trial may replay: a trial names no masked LM."""
