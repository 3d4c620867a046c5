"""Checks of a trial's numbers against its corpus and encoder, before any build."""

from typing import Any

import torch
from transformers import AutoModel

from rse_study.errors import InputError
from rse_study.models.embedder import max_length
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import load_config
from rse_study.models.sites import find_sites
from rse_study.models.suitability import check_family
from rse_study.training.trial import Trial


def check_batch(trial: Trial, num_sentences: int) -> None:
    """Raise InputError if an epoch does not hold a whole batch."""
    if num_sentences < trial.batch_size:
        raise InputError(
            f"batch_size = {trial.batch_size}",
            where=f"corpus of {num_sentences} distinct sentences",
            rule="an epoch must hold a whole batch, and these are fewer sentences than one",
            remedy="Use a larger corpus or a smaller batch_size",
        )


def check_encoder(trial: Trial, base: str, tokenizer: Any) -> None:
    """Raise InputError if the encoder lacks positions, layers or [MASK]."""
    encoder = _shape_of(base, trial.encoder.revision)
    check_length(trial.max_length, max_length(encoder, tokenizer), base)
    _check_sites(trial, encoder, base)
    if trial.method.needs_mask and tokenizer.mask_token_id is None:
        rule = "the masked-LM term hides tokens behind one"
        remedy = "Set method.masked_lm: 0, or use another encoder"
        raise InputError("its tokenizer has no [MASK]", where=base, rule=rule, remedy=remedy)


def _check_sites(trial: Trial, encoder: SentenceEncoder, base: str) -> None:
    wanted, num_sites = trial.method.num_sites, len(find_sites(encoder.backbone))
    if wanted > num_sites:
        raise InputError(
            f"method.masks: {wanted} sites are weakened",
            where=base,
            rule=f"this encoder has {num_sites}: the embedding block and its layers",
            remedy="Lower method.masks.num_layers, or set method.masks.phi: 0 (L2P-CSR: perturbs: embeddings)",
        )
    if wanted and encoder.embedding_size != encoder.hidden_size:
        raise InputError(
            f"word embeddings of width {encoder.embedding_size}, layers of {encoder.hidden_size}",
            where=base,
            rule="weakening masks have one width for the embedding block and the layers",
            remedy="Set method.masks.phi: 0 (L2P-CSR: perturbs: embeddings), or use another encoder",
        )


def check_length(wanted: int, usable: int, name: str) -> None:
    """Raise InputError if training gives the model more tokens than it reads."""
    if wanted > usable:
        raise InputError(
            f"max_length = {wanted}",
            where=name,
            rule=f"this model reads at most {usable} tokens",
            remedy=f"Set max_length to {usable} or less",
        )


def usable_length(name: str, revision: str, tokenizer: Any) -> int:
    """Return the number of tokens a model can read, from its configuration alone."""
    return max_length(_shape_of(name, revision), tokenizer)


def _shape_of(name: str, revision: str) -> SentenceEncoder:
    """Build the encoder on the meta device, without weights."""
    config = load_config(name, revision)
    check_family(name, config)
    with torch.device("meta"):
        backbone = AutoModel.from_config(config)
    return SentenceEncoder(backbone, "mean")
