"""Sentence vectors for evaluation, and checks of a model's vectors."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rse_study.activity import ProgressCallback
from rse_study.data.tokenised import encode
from rse_study.errors import InputError
from rse_study.models.backbone import Padded
from rse_study.models.encoder import SentenceEncoder, first_position
from rse_study.models.pooling import in_mode
from rse_study.models.text_classifier import padded_ids


class Embedder:
    """An encoder in evaluation: no dropout, no head, its own maximum length.

    Distinct sentences are encoded once; no vector depends on their order. `on_progress` gets (encoded, total).
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        tokenizer: Any,
        template: str = "",
        batch_size: int = 64,
        on_progress: ProgressCallback = lambda done, total: None,
    ) -> None:
        self.encoder, self.tokenizer, self.template = encoder, tokenizer, template
        self.batch_size = batch_size
        self.max_length = max_length(encoder, tokenizer)
        self._on_progress = on_progress

    @property
    def pooling(self) -> str:
        return self.encoder.pooling

    @property
    def leaves_pooler_out(self) -> bool:
        """Whether [CLS] is read without the pooler that the checkpoint has."""
        return self.pooling == "cls" and self.encoder.has_unread_pooler

    @torch.no_grad()
    def __call__(self, sentences: list[str]) -> Float[np.ndarray, "n d"]:
        """Return one row per sentence; the encoder gets its modes back afterwards."""
        distinct = sorted(set(sentences))
        texts = [self.encoder.prompt + sentence for sentence in distinct]
        rows = encode(texts, self.tokenizer, self.max_length, self.template) if texts else []
        order = sorted(range(len(rows)), key=lambda i: (len(rows[i]), i))
        vectors = np.zeros((len(rows), self.encoder.hidden_size), np.float32)
        with in_mode(self.encoder, training=False):
            for start in range(0, len(order), self.batch_size):
                places = order[start : start + self.batch_size]
                vectors[places] = self._encode([rows[i] for i in places]).float().cpu().numpy()
                self._on_progress(start + len(places), len(order))
        where = {sentence: i for i, sentence in enumerate(distinct)}
        return vectors[[where[sentence] for sentence in sentences]]

    def _encode(self, rows: list[list[int]]) -> Tensor:
        device = next(self.encoder.parameters()).device
        ids, mask = (part.to(device) for part in padded_ids(rows, self.tokenizer.pad_token_id))
        # Sorted by length, batches have little padding; computing it lets equal rows tie. Decision 0025.
        return self.encoder(self.encoder.word_embeddings(ids), mask, ids, keeps_padding=True)


def max_length(encoder: SentenceEncoder, tokenizer: Any) -> int:
    """Return the most tokens the encoder can read, by its tokenizer and positions."""
    positions = (
        getattr(encoder.config, "max_position_embeddings", None) or 0
    )  # XLNet, which has no limit, says -1
    usable = positions - first_position(encoder.backbone) if positions > 0 else tokenizer.model_max_length
    return int(min(tokenizer.model_max_length, usable))


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
