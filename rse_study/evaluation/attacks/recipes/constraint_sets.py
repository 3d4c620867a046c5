"""Constraints that the recipes share, and labels that say what they replace."""

from collections.abc import Sequence

from rse_study.evaluation.attacks.attack import Constraint, PreTransformationConstraint
from rse_study.evaluation.attacks.constraints.input_column import InputColumnModification, Sides
from rse_study.evaluation.attacks.constraints.part_of_speech import PartOfSpeech
from rse_study.evaluation.attacks.constraints.repeat_modification import RepeatModification
from rse_study.evaluation.attacks.constraints.stopword_modification import StopwordModification
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords
from rse_study.evaluation.attacks.resources import AttackResources


def word_constraints(resources: AttackResources, sides: Sides) -> tuple[PreTransformationConstraint, ...]:
    """Each word changes once, no stop word does, and only the sides that may.

    A recipe that uses it needs Resource.STOP_WORDS.
    """
    # TextFooler and BAE bring longer lists of stop words; here all leave nltk's alone.
    return (
        RepeatModification(),
        StopwordModification(english_stopwords(resources.data_dir)),
        InputColumnModification(sides),
    )


def tag_constraints(resources: AttackResources) -> tuple[Constraint, ...]:
    """The same part of speech, where there is a tagger."""
    return () if resources.tagger is None else (PartOfSpeech(resources.tagger.model),)


def tag_note(resources: AttackResources) -> str:
    """What a label says of the part of speech."""
    return "no part of speech" if resources.tagger is None else f"tags from {resources.tagger.name}"


def label(name: str, replaced: Sequence[str]) -> str:
    """The label of a recipe whose resources are not those of the published one."""
    return f"{name}-like: {', '.join(replaced)}"
