"""Small mistakes, planted one at a time: do the figures on file refuse each of them?"""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

FACTOR = 1 + 1e-6

FUNCTIONS = {
    # What is scaled, where callers look it up, and an entry whose figures must move. What is only compared by its
    # direction afterwards (a vector by its cosine, a gradient by its norm) may be scaled without any effect.
    "L_con of RobustSentEmbed": ("rse_study.methods.robust_sent_embed:info_nce", "stronger"),
    "L_con of the relatives": ("rse_study.methods.base:info_nce", "L2P-CSR"),
    "L_RTD": ("rse_study.methods.replaced_tokens:replaced_token_detection", "RTD"),
    "F": ("rse_study.methods.v_adv_cse:divergence", "V-advCSE"),
    "Kullback-Leibler": ("rse_study.losses.divergence:_kl", "V-advCSE, raw KL"),
    "align": ("rse_study.methods.dcl:align", "DCL, no norm"),
    "g / ||g||": ("rse_study.perturbations.geometry:unit", "stronger"),
    "Proj": ("rse_study.perturbations.geometry:project", "stronger"),
    "radial Proj": ("rse_study.perturbations.geometry:rescale", "l1, separate"),
    "matched length": ("rse_study.perturbations.geometry:matched", "stronger"),
    "start of delta": ("rse_study.perturbations.sentence_level:start_delta", "stronger"),
    "start of V": ("rse_study.perturbations.token_level:TokenLevel.table", "eta"),
    "n_i": ("rse_study.perturbations.token_level:TokenLevel._scale", "eta"),
    "mix of PGD and FGSM": ("rse_study.perturbations.blend:Blend.mix", "stronger"),
    "start of r": ("rse_study.perturbations.virtual_adversarial:normal_rows", "V-advCSE"),
    "weights of masks": ("rse_study.perturbations.ascent:SiteMask.weights", "L2P-CSR"),
    "batch norm": ("rse_study.models.batch_norm:BatchNorm.forward", "batch norm"),
    "power norm": ("rse_study.models.power_norm:PowerNorm.forward", "DCL"),
    "backward of power norm": ("rse_study.models.power_norm:_Normalise.backward", "DCL"),
    "projection": ("rse_study.models.dcl_networks:Projection.forward", "DCL, no norm"),
    "scores of D": ("rse_study.models.rtd:Discriminator.forward", "RTD"),
    "scores of the masked LM": ("rse_study.models.dcl_networks:MaskedLMHead.forward", "DCL"),
}


def scaled(outcome: Any) -> Any:
    """The tensor, or the first tensor of what is returned, a millionth larger."""
    if isinstance(outcome, torch.Tensor):
        return outcome * FACTOR
    first, *rest = outcome
    rest = [scaled([part])[0] if isinstance(part, torch.Tensor) else part for part in rest]
    made = [first * FACTOR if isinstance(first, torch.Tensor) else first, *rest]
    return type(outcome)(*made) if hasattr(outcome, "_fields") else type(outcome)(made)


@contextlib.contextmanager
def planted(where: str) -> Iterator[None]:
    """While it lasts, what the function or method returns is a millionth larger."""
    module, _, path = where.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    right = owner.__dict__[name]
    call: Callable[..., Any] = right.__func__ if isinstance(right, staticmethod) else right

    def wrong(*args: Any, **kwargs: Any) -> Any:
        return scaled(call(*args, **kwargs))

    setattr(owner, name, staticmethod(wrong) if isinstance(right, staticmethod) else wrong)
    try:
        yield
    finally:
        setattr(owner, name, right)
