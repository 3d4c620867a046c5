"""Encoder folders that transformers and sentence-transformers load alike."""

import copy
import json
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModel

from rse_study.errors import InputError
from rse_study.models.embedder import max_length
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.encoder_settings import StoredPooling, store_pooling
from rse_study.models.loading import quiet_loading, seeded_init

# Names from before sentence-transformers 5, which every later version still reads.
_MODULES = [
    ("", "sentence_transformers.models.Transformer"),
    ("1_Pooling", "sentence_transformers.models.Pooling"),
]
_EXPRESSIBLE = ("cls", "mean")


def save_encoder(directory: Path, encoder: SentenceEncoder, tokenizer: Any, template: str = "") -> None:
    """Write weights (float32), tokenizer and pooling, also for sentence-transformers."""
    # Copied to the host: a card that trains has no room for the weights twice.
    weights: dict[int, Any] = {
        id(one): nn.Parameter(one.detach().cpu()) for one in encoder.backbone.parameters()
    }
    with quiet_loading():
        copy.deepcopy(encoder.backbone, weights).float().cpu().save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    store_pooling(directory, StoredPooling(pooling=encoder.pooling, template=template))
    if encoder.pooling in _EXPRESSIBLE:
        _describe_modules(directory, encoder, max_length(encoder, tokenizer))


def export(directory: Path, encoder: SentenceEncoder, tokenizer: Any, template: str = "") -> None:
    """Save into a new folder; InputError if sentence-transformers would differ."""
    if encoder.pooling not in _EXPRESSIBLE:
        raise InputError(
            f"pooling {encoder.pooling!r}",
            where=str(directory),
            rule="sentence-transformers cannot express it: it has neither an average of two layers nor a template",
            remedy="Export a model with cls or mean pooling; this one stays readable for `rse-study evaluate`.",
        )
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError("there is something here already", where=str(directory), remedy="Name a new folder.")
    save_encoder(directory, encoder, tokenizer, template)
    with quiet_loading(), seeded_init(0):
        # Its own loaders expect a pooler's weights and warn where there are none; no vector of ours reads them.
        whole = copy.deepcopy(AutoModel.from_pretrained(directory, dtype=torch.float32))
        whole.save_pretrained(directory)


def _describe_modules(directory: Path, encoder: SentenceEncoder, length: int) -> None:
    modules = [{"idx": i, "name": str(i), "path": p, "type": t} for i, (p, t) in enumerate(_MODULES)]
    is_cls = encoder.pooling == "cls"
    pooling = {
        "word_embedding_dimension": encoder.hidden_size,
        "pooling_mode_cls_token": is_cls,
        "pooling_mode_mean_tokens": not is_cls,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    (directory / "1_Pooling").mkdir(exist_ok=True)
    for path, content in (
        ("modules.json", modules),
        ("sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False}),
        ("1_Pooling/config.json", pooling),
    ):
        (directory / path).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
