"""Encoders loaded by name or folder, and the reasons to refuse one."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging as hf_logging

from rse_study.errors import InputError, first_line
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.encoder_settings import stored_max_length, stored_pooling
from rse_study.models.pooling import KINDS, PoolingKind
from rse_study.models.suitability import check_family, model_class_of
from rse_study.registry import did_you_mean
from rse_study.streams import Streams

BROKEN = (OSError, ValueError, RuntimeError, SafetensorError, UnpicklingError, EOFError)
"""Errors of transformers for weights it cannot read: *.safetensors, and *.bin, which torch pickles."""


def load_encoder(
    path_or_name: str | Path, pooling: PoolingKind | str = "stored", revision: str = "main"
) -> tuple[SentenceEncoder, Any]:
    """Load (encoder, tokenizer) in float32 from a folder or the hub; else InputError.

    Pooling `stored` is what the folder itself records (ours or sentence-transformers'). Folders ignore `revision`.
    """
    name = str(path_or_name)
    config = load_config(name, revision)
    check_family(name, config)
    kind = _pooling_kind(name, pooling, revision)
    tokenizer = load_tokenizer(name, revision)
    backbone = _pretrained(name, config, revision)
    return _assemble(name, backbone, tokenizer, kind), tokenizer


def untrained(
    path_or_name: str | Path, pooling: PoolingKind | str = "stored", seed: int = 0, revision: str = "main"
) -> tuple[SentenceEncoder, Any]:
    """Load an encoder with random weights instead, the floor of every report."""
    name = str(path_or_name)
    config = load_config(name, revision)
    check_family(name, config)
    kind, tokenizer = _pooling_kind(name, pooling, revision), load_tokenizer(name, revision)
    return _assemble(name, random_backbone(config, seed), tokenizer, kind), tokenizer


def random_backbone(config: Any, seed: int) -> nn.Module:
    """Build a backbone with random weights, drawn from the stream `init` of `seed`."""
    with seeded_init(seed):
        return AutoModel.from_config(config, dtype=torch.float32, **_without_pooler(config))


@contextmanager
def seeded_init(seed: int) -> Iterator[None]:
    """Seed torch's global generator inside; Hugging Face draws weights from it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Streams(seed).generator("init").initial_seed())
        yield


def load_config(name: str, revision: str = "main") -> Any:
    """Load the Hugging Face configuration of a folder or hub name."""
    looks_local = Path(name).exists() or name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks_local and not (Path(name) / "config.json").is_file():
        what = "no config.json in this folder" if Path(name).is_dir() else "no such folder"
        raise InputError(
            what,
            where=name,
            rule="an encoder is a folder in Hugging Face's layout, or a hub name",
            remedy="Give the folder that save_pretrained wrote.",
        )
    try:
        return AutoConfig.from_pretrained(name, revision=revision)
    except (OSError, ValueError) as error:
        raise unreachable(name, error) from error


def load_tokenizer(name: str, revision: str = "main") -> Any:
    """Load a tokenizer with its stored length limit; it must have a padding token."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
    except (OSError, ValueError) as error:
        raise unreachable(name, error) from error
    if tokenizer.pad_token_id is None:
        raise InputError(
            "its tokenizer has no padding token",
            where=name,
            rule="sentences of a batch are padded to one length",
            remedy="Add one to the tokenizer (and an embedding row for it) and save both.",
        )
    stored = stored_max_length(name, revision)
    if stored is not None:
        tokenizer.model_max_length = min(tokenizer.model_max_length, stored)
    return tokenizer


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep Hugging Face's notes and progress bars off the screen inside."""
    level, bars = hf_logging.get_verbosity(), hf_logging.is_progress_bar_enabled()
    hf_logging.set_verbosity_error()
    hf_logging.disable_progress_bar()
    try:
        yield
    finally:
        hf_logging.set_verbosity(level)
        if bars:
            hf_logging.enable_progress_bar()


def _pretrained(name: str, config: Any, revision: str) -> nn.Module:
    try:
        with quiet_loading():
            backbone, report = AutoModel.from_pretrained(
                name,
                config=config,
                revision=revision,
                dtype=torch.float32,
                output_loading_info=True,
                **_without_pooler(config),
            )
    except BROKEN as error:
        raise unreachable(name, error) from error
    missing = [key for key in sorted(report["missing_keys"]) if not key.startswith("pooler.")]
    if missing:
        raise InputError(
            f"{len(missing)} weights are missing, the first is {missing[0]!r}",
            where=name,
            rule="a pretrained encoder brings all its weights",
            remedy="Is this the right folder?",
        )
    return backbone


def _assemble(name: str, backbone: nn.Module, tokenizer: Any, kind: PoolingKind) -> SentenceEncoder:
    encoder = SentenceEncoder(backbone, kind, tokenizer.mask_token_id)
    num_rows = encoder.backbone.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > num_rows:
        raise InputError(
            f"its tokenizer has {len(tokenizer)} tokens, its embedding {num_rows} rows",
            where=name,
            rule="every token needs a word embedding",
            remedy="Tokenizer and weights are of different models.",
        )
    if kind == "prompt" and tokenizer.mask_token_id is None:
        raise InputError(
            "its tokenizer has no [MASK]",
            where=name,
            rule="prompt pooling reads the vector there",
            remedy="Use cls, mean or first_last pooling.",
        )
    return encoder


def _pooling_kind(name: str, pooling: str, revision: str) -> PoolingKind:
    kind = stored_pooling(name, revision).pooling if pooling == "stored" else pooling
    if kind not in KINDS:
        rule = f"must be one of {', '.join(KINDS)}, or stored"
        raise InputError(f"pooling {kind!r}", where=name, rule=rule, remedy=did_you_mean(str(kind), KINDS))
    return kind  # type: ignore[return-value]


def _without_pooler(config: Any) -> dict[str, bool]:
    has_switch = "add_pooling_layer" in inspect.signature(model_class_of(config)).parameters
    return {"add_pooling_layer": False} if has_switch else {}


def unreachable(name: str, error: Exception) -> InputError:
    """Build the error for a model that transformers could not load."""
    return InputError(
        f"cannot be loaded ({first_line(error)})",
        where=name,
        remedy="Check the name; without a network give a local folder, or fill the hub's cache first (HF_HOME).",
    )
