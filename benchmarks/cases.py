"""Whose step is measured: every method's.

RobustSentEmbed's at several N, with and without replaced-token detection.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.plain import PlainSettings

NUM_STEPS = (0, 1, 5, 12)


@dataclass(frozen=True)
class Case:
    """A method with its settings, and what it is compared with."""

    method: Mapping[str, Any]
    """as a study's file has it"""
    plain: PlainSettings | None = None
    """the same in the plain transcription, where there is one"""
    in_library: bool = False
    """whether sentence-transformers trains this too"""


def robust_sent_embed(num_steps: int, *, detects: bool) -> Case:
    """RobustSentEmbed after N inner steps, with or without replaced-token detection."""
    lambda1, lambda2 = (
        (PlainSettings.lambda1 if num_steps else 0.0),
        (PlainSettings.lambda2 if detects else 0.0),
    )
    inner = {"num_steps": num_steps}
    method = {"blend": {"pgd": inner, "fgsm": inner}, "lambda1": lambda1, "lambda2": lambda2}
    plain = PlainSettings(num_steps=num_steps, lambda1=lambda1, lambda2=lambda2)
    return Case(method, plain, in_library=num_steps == 0 and not detects)


CASES: dict[str, Case] = {
    **{f"N={n}": robust_sent_embed(n, detects=False) for n in NUM_STEPS},
    **{f"N={n}+rtd": robust_sent_embed(n, detects=True) for n in NUM_STEPS},
    **{name: Case({"name": name}) for name in ("l2p_csr", "v_adv_cse", "consert", "dcl")},
}
"""Every case by its name; N=0 is SimCSE"""
