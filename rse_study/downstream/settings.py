"""A study's settings for evaluations that attack or fine-tune."""

import dataclasses
from typing import Literal

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from rse_study.data.tasks import HUB_NAME
from rse_study.spec import Spec, field
from rse_study.training.classifier.config import FineTuning


class Attacks(Spec):
    """How attacks are run; an evaluation's name says what is attacked, and how."""

    num_inputs: NonNegativeInt = 0
    """the first so many of a set; 0: all of it"""
    num_training: NonNegativeInt = 0
    """texts drawn to train a victim on; 0: all there are"""
    max_queries: PositiveInt = 5000
    """answers a victim gives for one input"""
    classifier: Literal["fine_tuned", "probe"] = field("fine_tuned", neutral="fine_tuned")
    """the victim of texts: fine-tuned from the encoder, or a logistic regression on its frozen vectors"""
    seed: NonNegativeInt = 0
    """of what a recipe draws, and of the victim's fine-tuning"""
    masked_lm: str = ""
    """bae and bert_attack need one: a folder, a hub name, or minilm-mlm"""
    goal: Literal["deviation", "drift", "maximise"] = "deviation"
    """of an attack on similarity: away from gold, away from the clean score, as far as it goes"""
    tau: PositiveFloat = 1.0
    """how far that must be, on the gold scale"""
    scores: Literal["affine", "isotonic"] = "affine"
    """the map from cosines to the gold scale, fitted on dev pairs"""
    sides: Literal["first", "second", "both"] = "both"
    """sentences of a pair under an attack on similarity that may be changed"""


class Tasks(Spec):
    """What NLI and GLUE are fine-tuned on; `fine_tuning` says how."""

    num_training: NonNegativeInt = 0
    """texts drawn of a task's training set; 0: all there are"""
    seed: NonNegativeInt = 0
    """of what is drawn, and of the fine-tuning"""
    glue: str = field(HUB_NAME, min_length=1)
    """GLUE in the hub's layout: a folder (absolute or in the data folder), else a name on the hub"""


@dataclasses.dataclass(frozen=True)
class Settings:
    """A study's settings of all such evaluations."""

    attacks: Attacks
    fine_tuning: FineTuning
    tasks: Tasks = dataclasses.field(default_factory=Tasks)
