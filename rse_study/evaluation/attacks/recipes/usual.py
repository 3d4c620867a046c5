"""What the recipes share."""

from collections.abc import Sequence

from rse_study.evaluation.attacks.constraints.input_column import OnlySide, Sides
from rse_study.evaluation.attacks.constraints.part_of_speech import SamePartOfSpeech
from rse_study.evaluation.attacks.constraints.repeat_modification import NoRepeat
from rse_study.evaluation.attacks.constraints.stopword_modification import NoStopword
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords
from rse_study.evaluation.attacks.recipe import CandidateRule, PositionRule
from rse_study.evaluation.attacks.resources import Resources


def position_rules(resources: Resources, sides: Sides) -> tuple[PositionRule, ...]:
    """Each word once, no stop word, and only the sides that may be changed."""
    # TextFooler and BAE bring longer lists of stop words; here all five leave nltk's alone.
    return NoRepeat(), NoStopword(english_stopwords(resources.data_dir)), OnlySide(sides)


def tag_rules(resources: Resources) -> tuple[CandidateRule, ...]:
    """The same part of speech, where there is a tagger."""
    return () if resources.tagger is None else (SamePartOfSpeech(resources.tagger.model),)


def tag_note(resources: Resources) -> str:
    """What a label says of it."""
    return "no part of speech" if resources.tagger is None else f"tags from {resources.tagger.name}"


def label(name: str, replaced: Sequence[str]) -> str:
    """The name of a recipe whose resources are not those of the published one."""
    return f"{name}-like: {', '.join(replaced)}"
