"""Encoders loaded by name or folder, and the reasons to refuse one."""

import inspect
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.models.auto import modeling_auto
from transformers.utils import logging as hf_logging

from rse_study.data.hub_models import hub_arguments
from rse_study.data.tokenised import num_ids
from rse_study.errors import InputError
from rse_study.models import model_files
from rse_study.models.embedder import check_vectors
from rse_study.models.encoder import SentenceEncoder, first_position
from rse_study.models.pooling import KINDS, PoolingKind
from rse_study.registry import did_you_mean
from rse_study.streams import Streams


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


HUB = "Without a network, give a local folder or fill the hub's cache first (HF_HOME): rse-study data fetch"
WEIGHTS, CONVOLUTIONS = ("model.safetensors", "pytorch_model.bin"), "convolutions.safetensors"


def load_encoder(
    path_or_name: str | Path, pooling: PoolingKind | str = "stored", revision: str = "main", prompt: str = ""
) -> tuple[SentenceEncoder, Any]:
    """Load (encoder, tokenizer) in float32 from a folder or the hub; else InputError.

    Pooling `stored` is what the folder itself records (ours or sentence-transformers'), and so is an empty `prompt`.
    Folders ignore `revision`. Convolutions that are not stored are those of seed 0.
    """
    name = str(path_or_name)
    config, tokenizer, kind = _described(name, pooling, revision)
    backbone, unread = _pretrained(name, config, revision, kind)
    encoder = _assemble(name, backbone, tokenizer, kind, revision)
    ours, path = model_files.Recorded(name, revision).ours, Path(name) / CONVOLUTIONS
    if ours and kind == ours.pooling == "convolved":
        encoder.has_stored_convolutions = True
        with model_files.reading(str(path)):
            encoder.convolutions.load_state_dict(load_file(path))
    encoder.prompt = prompt or encoder.prompt
    encoder.has_unread_pooler = any("pooler." in key for key in unread)
    remedy = "Is its config.json whole? If so, this family cannot be used: take another encoder"
    with model_files.reading(name, remedy, f"a short forward of {config.model_type} fails"):
        check_vectors(name, encoder, tokenizer)
    return encoder, tokenizer


def untrained(
    path_or_name: str | Path, pooling: PoolingKind | str = "stored", seed: int = 0, revision: str = "main"
) -> tuple[SentenceEncoder, Any]:
    """Load an encoder with random weights by the stream `init`, every report's floor."""
    name = str(path_or_name)
    config, tokenizer, kind = _described(name, pooling, revision)
    with seeded_init(seed):
        backbone = AutoModel.from_config(config, dtype=torch.float32, **_pooler(config, kind))
    return _assemble(name, backbone, tokenizer, kind, revision), tokenizer


@contextmanager
def seeded_init(seed: int) -> Iterator[None]:
    """Seed torch's global generator inside; Hugging Face draws weights from it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Streams(seed).generator("init").initial_seed())
        yield


def load_config(name: str, revision: str = "main") -> Any:
    """Load the Hugging Face configuration of a folder or hub name."""
    _require_place(name, "config.json")
    if Path(name).is_dir():
        model_files.check_files(Path(name))
    with opening(name, "config.json"):
        return AutoConfig.from_pretrained(name, **hub_arguments(name, revision), trust_remote_code=False)


def _lowers(tokenizer: Any) -> bool:
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    return normalizer is not None and not any(map(str.isupper, normalizer.normalize_str("AB")))


def _require_place(name: str, *files: str) -> None:
    """Raise InputError for a path that is no folder with one of the files."""
    looks_local = Path(name).exists() or name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks_local and not any((Path(name) / file).is_file() for file in files):
        what = f"no {files[0]} in this folder" if Path(name).is_dir() else "no such folder"
        rule = "an encoder is a folder in Hugging Face's layout, or a hub name"
        remedy = "Give the folder that save_pretrained wrote."
        raise InputError(what, where=name, rule=rule, remedy=remedy)


def load_tokenizer(name: str, revision: str = "main") -> Any:
    """Load a tokenizer with its stored length limit; it must have a padding token."""
    if Path(name).is_dir():
        model_files.require_tokenizer_files(Path(name))
    with opening(name, "tokenizer.json", "tokenizer_config.json"):
        tokenizer = AutoTokenizer.from_pretrained(
            name, **hub_arguments(name, revision), trust_remote_code=False
        )
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        rule, remedy = "to a tokenizer without words every word is unknown", f"Get all its files. {HUB}"
        raise InputError("cannot be loaded (its vocabulary is missing)", where=name, rule=rule, remedy=remedy)
    if tokenizer.pad_token_id is None:
        rule = "sentences of a batch are padded to one length"
        remedy = "Add one to the tokenizer (and an embedding row for it) and save both."
        raise InputError("its tokenizer has no padding token", where=name, rule=rule, remedy=remedy)
    recorded = model_files.Recorded(name, revision)
    with opening(name, "tokenizer_config.json"):
        tokenizer.model_max_length = min(tokenizer.model_max_length, recorded.max_length or math.inf)
    if recorded.transformer.get("do_lower_case") and not _lowers(tokenizer):
        what = "its texts are to be lowered (do_lower_case), and its tokenizer does not"
        rule = "our encoder reads a text as its tokenizer does"
        remedy = "`rse-study evaluate` can score it as it is; save it again with a tokenizer that lowers"
        raise InputError(what, where=name, rule=rule, remedy=remedy)
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


def _described(name: str, pooling: str, revision: str) -> tuple[Any, Any, PoolingKind]:
    """Load all but the weights, and refuse what no encoder of ours can be."""
    _require_place(name, "config.json", model_files.MODULES)
    model_files.Recorded(name, revision).check_expressible()
    config = load_config(name, revision)
    check_family(name, config)
    kind = _pooling_kind(name, pooling, revision)
    return config, load_tokenizer(name, revision), kind


def _pretrained(name: str, config: Any, revision: str, kind: PoolingKind) -> tuple[nn.Module, set[str]]:
    """Load a backbone; return it with the names of weights that it does not use."""
    with opening(name, *WEIGHTS):
        backbone, report = pretrained(AutoModel, name, config, revision, **_pooler(config, kind))
    needs_pooler = kind == "pooler"
    missing = [key for key in sorted(report["missing_keys"]) if needs_pooler or not key.startswith("pooler.")]
    if missing:
        what = f"{len(missing)} weights are missing, the first is {missing[0]!r}"
        rule, remedy = "a pretrained encoder brings all its weights", "Is this the right folder?"
        raise InputError(what, where=name, rule=rule, remedy=remedy)
    return backbone, set(report["unexpected_keys"])


def pretrained(
    kind: Any, name: str, config: Any, revision: str, **settings: Any
) -> tuple[nn.Module, dict[str, Any]]:
    """Load weights in float32 by one of transformers' classes; return its report, too."""
    model, report = kind.from_pretrained(
        name, config=config, dtype=torch.float32, output_loading_info=True, trust_remote_code=False,
        **hub_arguments(name, revision), **settings,
    )  # fmt: skip
    return model, report


def _assemble(
    name: str, backbone: nn.Module, tokenizer: Any, kind: PoolingKind, revision: str
) -> SentenceEncoder:
    encoder = SentenceEncoder(backbone, kind, tokenizer.mask_token_id)
    encoder.prompt = model_files.Recorded(name, revision).prompt
    check_ids(name, encoder, tokenizer)
    if kind == "pooler" and getattr(encoder.backbone, "pooler", None) is None:
        rule = "this pooling is the checkpoint's own, of its [CLS]"
        remedy = "Use cls, mean or first_last pooling."
        raise InputError("it has no pooler", where=name, rule=rule, remedy=remedy)
    if kind == "prompt" and tokenizer.mask_token_id is None:
        rule, remedy = "prompt pooling reads the vector there", "Use cls, mean or first_last pooling."
        raise InputError("its tokenizer has no [MASK]", where=name, rule=rule, remedy=remedy)
    return encoder


def _pooling_kind(name: str, pooling: str, revision: str) -> PoolingKind:
    kind = model_files.stored_pooling(name, revision).pooling if pooling == "stored" else pooling
    if kind not in KINDS:
        rule = f"must be one of {', '.join(KINDS)}, or stored"
        raise InputError(f"pooling {kind!r}", where=name, rule=rule, remedy=did_you_mean(str(kind), KINDS))
    return kind  # type: ignore[return-value]


def _pooler(config: Any, kind: PoolingKind) -> dict[str, bool]:
    """Ask for a pooler where the pooling reads one; a family without it has none to leave out."""
    has_switch = "add_pooling_layer" in inspect.signature(model_class_of(config)).parameters
    return {"add_pooling_layer": kind == "pooler"} if has_switch else {}


def check_ids(name: str, encoder: SentenceEncoder, tokenizer: Any) -> None:
    """Raise InputError unless the tokenizer is that of the embedding."""
    num_rows, num_tokens = encoder.backbone.get_input_embeddings().weight.shape[0], num_ids(tokenizer)
    if not num_rows / 2 <= num_tokens <= num_rows:
        what = f"its tokenizer has {num_tokens} tokens, its embedding {num_rows} rows"
        rule = "every token needs a word embedding, and most word embeddings a token"
        remedy = "Tokenizer and weights are of different models."
        raise InputError(what, where=name, rule=rule, remedy=remedy)
    # MPNet's positions leave out token 1, whatever its config.json says.
    wanted = {encoder.config.pad_token_id, first_position(encoder.backbone) - 1} - {None, -1}
    if wanted - {tokenizer.pad_token_id}:
        theirs = " and ".join(map(str, sorted(wanted)))
        what = f"its tokenizer pads with token {tokenizer.pad_token_id}, its config.json and positions with {theirs}"
        rule = "the model takes the position of a token, or its padding, from that token"
        remedy = "Set pad_token_id in config.json, or pad_token of the tokenizer, to what it was trained with"
        raise InputError(what, where=name, rule=rule, remedy=remedy)


@contextmanager
def opening(name: str, *files: str) -> Iterator[None]:
    """Keep a library's loader quiet; name the file, or the hub's way, if it fails."""
    where = next((f"{name}/{file}" for file in files if (Path(name) / file).exists()), name)
    remedy = model_files.AGAIN if Path(name).is_dir() else f"Check the name. {HUB}"
    with quiet_loading(), model_files.reading(where, remedy):
        yield
