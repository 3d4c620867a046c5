"""A short forward of a model that has just been loaded, whose vectors are checked."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from rse_study.data.template import encode
from rse_study.errors import InputError
from rse_study.models.embedder import max_length
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.modes import in_mode
from rse_study.models.packed import Padded
from rse_study.models.text_classifier import padded_ids

SHORT = "a short sentence"
LONG = " ".join([SHORT, "stands beside a sentence of many more words"] * 8)
MOST_TOKENS = 32
TOLERANCE = 1e-3  # of the largest entry; float32 alone moves it by 1e-5 even where weights are large


@torch.no_grad()
def check_vectors(name: str, encoder: SentenceEncoder, tokenizer: Any) -> None:
    """Raise InputError unless an encoder reads both ways, and each sentence alone."""
    short, long = encode([SHORT, LONG], tokenizer, min(MOST_TOKENS, max_length(encoder, tokenizer)))
    with in_mode(encoder, training=False):
        (alone,) = _vectors(encoder, tokenizer, short)
        beside, _ = _vectors(encoder, tokenizer, short, long)
        (changed,) = _vectors(encoder, tokenizer, [short[0], short[-1], *short[2:]])
    check_alone(name, alone, beside)
    if len(short) > 2 and torch.equal(changed[0], alone[0]):
        what = "its first token does not see the next one"
        raise _unfit(name, what, "Use an encoder that reads both ways, such as bert-base-uncased")


def check_alone(name: str, alone: Float[Tensor, "*l d"], beside: Float[Tensor, "*l d"]) -> None:
    """Raise InputError unless a sentence's vectors are finite and its own."""
    if not bool(alone.isfinite().all() and beside.isfinite().all()):
        raise _unfit(name, "its vectors are not finite", "Are its weights damaged? Save it again")
    moved = float((beside - alone).abs().max() / alone.abs().max())
    if moved > TOLERANCE:
        what = f"a sentence's vectors change by {moved:.1%} beside a longer one"
        remedy = "Padding reaches its vectors (as in ConvBERT, or by padding_side: left). Use another encoder"
        raise _unfit(name, what, remedy)


def _vectors(encoder: SentenceEncoder, tokenizer: Any, *rows: list[int]) -> Float[Tensor, "b l d"]:
    """Return the vectors of the tokens, as evaluation computes them: padded, cut to the first row."""
    ids, mask = padded_ids(rows, tokenizer.pad_token_id)
    return encoder.hidden_states(Padded(mask), encoder.word_embeddings(ids))[:, : len(rows[0])]


def _unfit(name: str, what: str, remedy: str) -> InputError:
    rule = "a sentence has one vector, whatever is encoded with it, made of all its words"
    return InputError(what, where=name, rule=rule, remedy=remedy)
