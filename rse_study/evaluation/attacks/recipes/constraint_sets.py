"""Constraints that recipes share, and labels that name replaced resources."""

from collections.abc import Sequence

from rse_study.evaluation.attacks.attack import PreTransformationConstraint
from rse_study.evaluation.attacks.constraints.input_column import InputColumnModification, Sides
from rse_study.evaluation.attacks.constraints.repeat_modification import RepeatModification
from rse_study.evaluation.attacks.constraints.stopword_modification import StopwordModification
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords
from rse_study.evaluation.attacks.resources import AttackResources


def word_constraints(resources: AttackResources, sides: Sides) -> tuple[PreTransformationConstraint, ...]:
    """Return the constraints on words; the recipe must need Resource.STOP_WORDS."""
    # TextFooler and BAE have longer lists of stop words; here all recipes use nltk's.
    return (
        RepeatModification(),
        StopwordModification(english_stopwords(resources.data_dir)),
        InputColumnModification(sides),
    )


def label(name: str, replaced: Sequence[str]) -> str:
    """Return the label of a recipe that replaces resources of the published attack."""
    return f"{name}-like: {', '.join(replaced)}"
