"""The methods whose step is measured; RobustSentEmbed with several N."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.plain import PlainSettings
from rse_study.methods import METHODS

NUM_STEPS = (0, 1, 5, 12)


@dataclass(frozen=True)
class Case:
    """A method with its settings and its alternatives."""

    method: Mapping[str, Any]
    """settings as in a study's file"""
    plain: PlainSettings | None = None
    """settings of the plain transcription, if it has this method"""
    in_library: bool = False
    """whether sentence-transformers can train this, too"""


def robust_sent_embed(num_steps: int, *, detects: bool) -> Case:
    """Return RobustSentEmbed with N inner steps, and perhaps replaced-token detection."""
    lambda1 = PlainSettings.lambda1 if num_steps else 0.0
    lambda2 = PlainSettings.lambda2 if detects else 0.0
    inner = {"num_steps": num_steps}
    method = {"blend": {"pgd": inner, "fgsm": inner}, "lambda1": lambda1, "lambda2": lambda2}
    plain = PlainSettings(num_steps=num_steps, lambda1=lambda1, lambda2=lambda2)
    return Case(method, plain, in_library=num_steps == 0 and not detects)


CASES: dict[str, Case] = {
    **{f"N={n}": robust_sent_embed(n, detects=False) for n in NUM_STEPS},
    **{f"N={n}+rtd": robust_sent_embed(n, detects=True) for n in NUM_STEPS},
    **{name: Case({"name": name}) for name in METHODS if name != "robust_sent_embed"},
}
"""every case by its name; N=0 is SimCSE"""
