"""Model families that can serve as an encoder, and why others are refused."""

import inspect
from typing import Any

from transformers import AutoModel
from transformers.models.auto import modeling_auto

from rse_study.errors import InputError


def check_family(name: str, config: Any) -> None:
    """Raise InputError for a family that cannot be perturbed, padded or pooled."""
    family = config.model_type
    model_class = model_class_of(config)
    taken = inspect.signature(model_class.forward).parameters if model_class else {}
    # T5's encoder, saved alone, claims to be no encoder-decoder; the family still is one.
    if getattr(config, "is_encoder_decoder", False) or "decoder_input_ids" in taken:
        raise _unsuitable(name, f"{family} is an encoder-decoder")
    is_encoder = model_class is not None and model_class.__name__.endswith("Encoder")
    if getattr(config, "is_decoder", False) or (_is_causal(config) and not is_encoder):
        raise _unsuitable(name, f"{family} is decoder-only: its tokens see only what stands before them")
    for argument in ("inputs_embeds", "attention_mask"):
        if argument not in taken:
            raise _unsuitable(name, f"{family} takes no `{argument}`")
    if getattr(config, "attention_type", "") == "block_sparse":
        raise _unsuitable(
            name, "attention_type is block_sparse: a vector depends on what was encoded before it",
            "Set attention_type to original_full in its config.json",
        )  # fmt: skip


def _is_causal(config: Any) -> bool:
    """Whether a family is one of decoders that its configuration does not turn into an encoder."""
    reads_both = getattr(config, "use_bidirectional_attention", None) in (True, "all")
    if reads_both or getattr(config, "attn_type", "") == "bi" or not getattr(config, "is_causal", True):
        return False
    is_masked = config.model_type in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return config.model_type in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and not is_masked


def model_class_of(config: Any) -> Any:
    """Return the bare model class of a configuration, if transformers has one.

    Of several, as Funnel has, it is the one that the checkpoint names, else the first.
    """
    known = AutoModel._model_mapping.get(type(config), None)
    if not isinstance(known, tuple):
        return known
    named = config.architectures or ()
    return next((one for one in known if getattr(one, "__name__", "") in named), known[0])


def _unsuitable(name: str, reason: str, remedy: str = "") -> InputError:
    return InputError(
        reason,
        where=name,
        rule="the study needs a bidirectional encoder that accepts word embeddings and padding",
        remedy=remedy
        or "Use an encoder such as bert-base-uncased, roberta-base or a sentence-transformers model.",
    )
