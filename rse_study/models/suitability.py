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
    causal = family in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = family in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if getattr(config, "is_decoder", False) or (causal and not masked):
        raise _unsuitable(name, f"{family} is decoder-only: its tokens see only what stands before them")
    for argument in ("inputs_embeds", "attention_mask"):
        if argument not in taken:
            raise _unsuitable(name, f"{family} takes no `{argument}`")


def model_class_of(config: Any) -> Any:
    """Return the bare model class of a configuration, if transformers has one."""
    return AutoModel._model_mapping.get(type(config), None)


def _unsuitable(name: str, reason: str) -> InputError:
    return InputError(
        reason,
        where=name,
        rule="the study needs a bidirectional encoder that accepts word embeddings and padding",
        remedy="Use an encoder such as bert-base-uncased, roberta-base or a sentence-transformers model.",
    )
