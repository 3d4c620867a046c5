"""Checks of a trial's numbers against its corpus and encoder, before any build."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel

from rse_study.data.hub_models import weight_names
from rse_study.data.tokenised import TokenisedCorpus, encode
from rse_study.errors import InputError
from rse_study.models.embedder import max_length
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.loading import check_family, check_ids, load_config, load_tokenizer, opening
from rse_study.models.model_files import AGAIN, Recorded, reading
from rse_study.training.trial import Trial


def check_tokens(trial: Trial, corpus: TokenisedCorpus, tokenizer: Any) -> str:
    """Describe sentences that are equal as tokens; raise InputError if too few differ."""
    special, unknown = [*corpus.meta.special_ids], tokenizer.unk_token_id
    num_different = corpus.num_different([*special, -1 if unknown is None else unknown])
    share = (corpus.ids == unknown).sum() / max(1, np.isin(corpus.ids, special, invert=True).sum())
    known = f"{share:.1%} of the tokens are unknown"
    if num_different < trial.batch_size:
        what = f"only {num_different} of {len(corpus)} sentences differ as tokens, {known}"
        rule = f"a batch holds {trial.batch_size} that differ"
        remedy = "Use an encoder that knows the corpus' words, a larger max_length, or a smaller batch_size"
        raise InputError(what, where=trial.encoder.name, rule=rule, remedy=remedy)
    return f"corpus as tokens: {len(corpus) - num_different:,} sentences repeat another, {known}"


def check_described(trial: Trial, folder: str) -> None:
    """Raise InputError for an encoder that its description alone rules out."""
    Recorded(folder).check_expressible()
    weights = Path(folder) / "model.safetensors"
    names = weight_names(weights) if trial.encoder.pooling == "pooler" and weights.is_file() else ["pooler."]
    if not any("pooler." in name for name in names):
        rule, remedy = "this pooling reads the checkpoint's own", "Use cls, mean or first_last pooling"
        raise InputError("has no pooler", where=folder, rule=rule, remedy=remedy)
    check_encoder(trial, folder, load_tokenizer(folder))


def check_encoder(trial: Trial, base: str, tokenizer: Any) -> str:
    """Return the prompt; InputError if room, positions, layers or [MASK] are lacking."""
    encoder = _shape_of(base, trial.encoder.revision)
    check_ids(base, encoder, tokenizer)
    check_length(trial.max_length, max_length(encoder, tokenizer), base)
    prompt = trial.encoder.prompt or Recorded(base, trial.encoder.revision).prompt
    framed = encode([prompt], tokenizer, trial.max_length, trial.encoder.template) if prompt else [[]]
    if len(framed[0]) >= trial.max_length:
        what, rule = f"prompt {prompt!r}", f"leaves no room for a sentence in max_length = {trial.max_length}"
        raise InputError(what, where=base, rule=rule, remedy="Shorten it, or raise max_length")
    _check_sites(trial, encoder, base)
    if trial.graphed and not encoder.skips_padding:
        rule = f"a step of {encoder.config.model_type} cannot be recorded: transformers looks for padding in each pass"
        remedy = "Set graphed: false, or use a BERT, RoBERTa or ELECTRA checkpoint"
        raise InputError("graphed: true", where=base, rule=rule, remedy=remedy)
    if trial.method.needs_mask and tokenizer.mask_token_id is None:
        rule = "the masked-LM term hides tokens behind one"
        remedy = "Set method.masked_lm: 0, or use another encoder"
        raise InputError("its tokenizer has no [MASK]", where=base, rule=rule, remedy=remedy)
    return prompt


def _check_sites(trial: Trial, encoder: SentenceEncoder, base: str) -> None:
    reads_between = trial.method.generator or trial.encoder.pooling == "first_last"
    needed = max(trial.method.num_sites, 2 if reads_between else 0)
    if not needed:
        return
    with reading(base, AGAIN, f"a short forward of {encoder.config.model_type} fails"):
        try:
            encoder.require_sites(needed, where=base)
        except RuntimeError:  # its forward looks at values, so that it needs memory
            encoder.to_empty(device="cpu")
            for buffer in encoder.buffers():
                buffer.zero_()
            encoder.require_sites(needed, where=base)


def check_length(wanted: int, usable: int, name: str) -> None:
    """Raise InputError if training gives the model more tokens than it reads."""
    if wanted > usable:
        rule, remedy = f"this model reads at most {usable} tokens", f"Set max_length to {usable} or less"
        raise InputError(f"max_length = {wanted}", where=name, rule=rule, remedy=remedy)


def usable_length(name: str, revision: str, tokenizer: Any) -> int:
    """Return the number of tokens a model can read, from its configuration alone."""
    return max_length(_shape_of(name, revision), tokenizer)


def _shape_of(name: str, revision: str) -> SentenceEncoder:
    """Build the encoder on the meta device, without weights."""
    config = load_config(name, revision)
    check_family(name, config)
    with opening(name, "config.json"), torch.device("meta"):
        backbone = AutoModel.from_config(config)
    return SentenceEncoder(backbone, "mean")
